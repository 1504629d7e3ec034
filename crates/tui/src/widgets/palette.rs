//! stub
use crate::{edit::LineEdit, fuzzy::Matcher, theme::Theme};
use ratatui::{buffer::Buffer, layout::Rect};
/// x
#[derive(Clone, Debug)]
pub struct PaletteItem {
    /// n
    pub name: String,
    /// d
    pub desc: String,
}
/// x
#[derive(Clone, Debug)]
pub struct Palette {
    items: Vec<PaletteItem>,
    edit: LineEdit,
    sel: usize,
}
impl Palette {
    /// x
    pub fn new(items: Vec<PaletteItem>) -> Self {
        Self { items, edit: LineEdit::default(), sel: 0 }
    }
    /// x
    pub fn set_items(&mut self, items: Vec<PaletteItem>) {
        self.items = items
    }
    /// x
    pub fn paste(&mut self, t: &str) {
        self.edit.paste(t)
    }
    fn matches(&self) -> Vec<&PaletteItem> {
        let q = self.edit.text();
        let mut m = Matcher::new();
        let mut v: Vec<(u32, &PaletteItem)> = self
            .items
            .iter()
            .filter_map(|i| {
                let s = m.score(q, &i.name)?;
                Some((
                    if i.name == q {
                        u32::MAX
                    } else if i.name.starts_with(q) {
                        u32::MAX / 2
                    } else {
                        s
                    },
                    i,
                ))
            })
            .collect();
        v.sort_by_key(|x| std::cmp::Reverse(x.0));
        v.into_iter().map(|x| x.1).collect()
    }
    /// x
    pub fn picked(&self) -> Option<&PaletteItem> {
        self.matches().get(self.sel).copied()
    }
    /// x
    pub fn on_key(&mut self, name: &str, text: Option<&str>) {
        match name {
            "down" => self.sel += 1,
            "up" => self.sel = self.sel.saturating_sub(1),
            _ => {
                self.edit.on_key(name, text);
                self.sel = 0;
            }
        }
    }
    /// x
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme) {
        let inner = crate::widgets::layer::open(buf, area, "Commands", theme);
        crate::paint::put(buf, inner.x, inner.y, inner.width, self.edit.text(), theme.base());
        for (i, m) in self.matches().iter().enumerate().take(inner.height as usize - 1) {
            crate::paint::put(buf, inner.x, inner.y + 1 + i as u16, inner.width, &m.name, theme.base());
        }
    }
}
