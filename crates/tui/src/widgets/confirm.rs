//! A question before something is done: the verb, what it is about, and No preselected.
//! It never does what it asks for; it says what was answered.
//! Views of both programs open it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

use crate::paint::{fill, line_width, put, text_width};
use crate::theme::{Role, Theme};
use crate::widgets::layer;
use crate::widgets::scroll_text::{self, ScrollState};
use crate::widgets::wrap::wrap;

/// Columns of text in the widest question.
const WIDTH: usize = 76;

/// An open question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confirm {
    /// The verb and its object, such as `Delete 3 sessions`.
    pub title: String,
    /// The diff or the list of what is meant.
    pub body: Vec<Line<'static>>,
    /// The word for yes, such as `Delete`; empty for `Yes`.
    pub yes: String,
    /// True while the cursor is on yes.
    pub on_yes: bool,
    /// How far the body is scrolled.
    pub scroll: ScrollState,
}

/// What a key or a click did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing was answered yet.
    Pending,
    /// Do it.
    Yes,
    /// Leave it.
    No,
}

/// Where the question's parts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConfirmLayout {
    /// The box with its border.
    pub outer: Rect,
    /// The body.
    pub body: Rect,
    /// The button for no.
    pub no: Rect,
    /// The button for yes.
    pub yes: Rect,
}

impl Confirm {
    /// A question with No preselected.
    pub fn new(title: impl Into<String>, body: Vec<Line<'static>>, yes: impl Into<String>) -> Self {
        Self { title: title.into(), body, yes: yes.into(), ..Self::default() }
    }

    /// Does what a key means: `y`, `n`, arrows and tab between the buttons, enter, esc; up, down and pages scroll the
    /// body. `area` is the area that is drawn into.
    pub fn on_key(&mut self, name: &str, area: Rect) -> Answer {
        match name {
            "y" | "Y" => return Answer::Yes,
            "n" | "N" | "esc" | "q" | "ctrl+c" => return Answer::No,
            "enter" => return if self.on_yes { Answer::Yes } else { Answer::No },
            "left" | "h" => self.on_yes = false,
            "right" | "l" => self.on_yes = true,
            "tab" | "shift+tab" => self.on_yes = !self.on_yes,
            _ => {
                let (total, height) = self.extent(area);
                self.scroll.on_key(name, total, height);
            }
        }
        Answer::Pending
    }

    /// Does what a click at `x`, `y` of the screen means.
    pub fn on_click(&mut self, x: u16, y: u16, area: Rect) -> Answer {
        let layout = self.layout(area);
        if layout.yes.contains((x, y).into()) {
            Answer::Yes
        } else if layout.no.contains((x, y).into()) {
            Answer::No
        } else {
            Answer::Pending
        }
    }

    /// Scrolls the body by `delta` rows (the wheel).
    pub fn wheel(&mut self, delta: isize, area: Rect) {
        let (total, height) = self.extent(area);
        self.scroll.scroll(delta, total, height);
    }

    fn extent(&self, area: Rect) -> (usize, usize) {
        let body = self.layout(area).body;
        (wrap(&self.body, body.width).len(), usize::from(body.height))
    }

    fn yes_word(&self) -> &str {
        if self.yes.is_empty() { "Yes" } else { &self.yes }
    }

    /// Where everything goes: a box as wide as its text needs, in the middle; the buttons are always there, the body
    /// gets the rows that are left.
    pub fn layout(&self, area: Rect) -> ConfirmLayout {
        let no = text_width("No") + 4;
        let yes = text_width(self.yes_word()) + 4;
        let text = self.body.iter().map(line_width).max().unwrap_or(0).max(text_width(&self.title) + 4);
        let width = u16::try_from(text.max(no + yes + 2).min(WIDTH)).unwrap_or(area.width).saturating_add(4);
        let outer = layer::centered(area, width, u16::MAX, 1);
        let text_width = margins(layer::inside(outer)).width;
        // a blank row between body and buttons, and the border
        let rows = u16::try_from(wrap(&self.body, text_width).len()).unwrap_or(u16::MAX);
        let outer = layer::centered(area, width, rows.saturating_add(4), 1);
        let inner = margins(layer::inside(outer));
        let gap = u16::from(inner.height > 2);
        let buttons = Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        let body = Rect { height: inner.height.saturating_sub(1 + gap), ..inner };
        let cut = |x: u16, width: usize| {
            let x = x.min(buttons.right());
            Rect { x, width: u16::try_from(width).unwrap_or(u16::MAX).min(buttons.right() - x), ..buttons }
        };
        let no = cut(buttons.x, no);
        ConfirmLayout { outer, body, no, yes: cut(no.right().saturating_add(2), yes) }
    }

    /// Draws the question on top of what is in `area`.
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let layout = self.layout(area);
        layer::open(buf, layout.outer, &self.title, theme);
        scroll_text::draw(buf, layout.body, &self.body, &self.scroll, "", theme);
        button(buf, layout.no, "No", !self.on_yes, theme);
        button(buf, layout.yes, self.yes_word(), self.on_yes, theme);
    }
}

fn margins(inner: Rect) -> Rect {
    if inner.width < 12 {
        return inner;
    }
    Rect { x: inner.x + 1, width: inner.width - 2, ..inner }
}

/// A button; the one with the cursor has brackets, so that it is seen without colour as well.
fn button(buf: &mut Buffer, area: Rect, word: &str, on: bool, theme: &Theme) {
    if area.is_empty() {
        return;
    }
    let style = if on { theme.selected() } else { theme.style(Role::FgDim) };
    if on {
        fill(buf, area, style);
    }
    let text = if on { format!("[ {word} ]") } else { format!("  {word}  ") };
    put(buf, area.x, area.y, area.width, &text, style);
    // its key
    let first = word.chars().next().map(|c| c.to_ascii_lowercase());
    if matches!(first, Some('y' | 'n')) {
        let key: String = word.chars().take(1).collect();
        let room = area.width.saturating_sub(2);
        put(buf, area.x.saturating_add(2), area.y, room, &key, style.add_modifier(Modifier::UNDERLINED));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::text::Span;

    use super::*;
    use crate::widgets::testing::{areas, check_inside, lines, shot, styled_shot, texts, themes};

    fn question(theme: &Theme) -> Confirm {
        let body = vec![
            Line::from("~/.claude/settings.json"),
            Line::default(),
            Line::from(Span::styled("- \"model\": \"a\"", theme.style(Role::Removed))),
            Line::from(Span::styled("+ \"model\": \"b\"", theme.style(Role::Added))),
            Line::from("A backup is kept, so that it can be undone at any time; the newest twenty are."),
        ];
        Confirm::new("Apply openrouter", body, "Apply")
    }

    const AREA: Rect = Rect { x: 0, y: 0, width: 80, height: 24 };

    #[test]
    fn answers() {
        let question = question(&Theme::default());
        let answer = |keys: &[&str]| {
            let mut question = question.clone();
            keys.iter().map(|key| question.on_key(key, AREA)).last().unwrap()
        };
        assert_eq!(answer(&["enter"]), Answer::No);
        assert_eq!(answer(&["esc"]), Answer::No);
        assert_eq!(answer(&["n"]), Answer::No);
        assert_eq!(answer(&["y"]), Answer::Yes);
        assert_eq!(answer(&["right", "enter"]), Answer::Yes);
        assert_eq!(answer(&["right", "left", "enter"]), Answer::No);
        assert_eq!(answer(&["tab", "enter"]), Answer::Yes);
        assert_eq!(answer(&["tab", "shift+tab", "enter"]), Answer::No);
        assert_eq!(answer(&["space"]), Answer::Pending);
        assert_eq!(answer(&["x"]), Answer::Pending);
    }

    #[test]
    fn clicks() {
        let mut question = question(&Theme::default());
        let layout = question.layout(AREA);
        assert_eq!(question.on_click(layout.no.x, layout.no.y, AREA), Answer::No);
        assert_eq!(question.on_click(layout.yes.x + 1, layout.yes.y, AREA), Answer::Yes);
        assert_eq!(question.on_click(0, 0, AREA), Answer::Pending);
    }

    #[test]
    fn looks() {
        let theme = Theme::default();
        let mut out = String::new();
        for (width, height, keys) in [
            (90, 12, 0),
            (60, 12, 1),
            (40, 12, 0),
            (40, 7, 0),
            (40, 7, 3),
            (20, 5, 0),
            (12, 4, 0),
            (6, 2, 0),
            (2, 1, 0),
        ] {
            out += &format!("{width}x{height}\n");
            let mut question = question(&theme);
            question.on_yes = keys == 1;
            for _ in 0..keys {
                question.on_key("down", Rect::new(0, 0, width, height));
            }
            out += &shot(width, height, &theme, |buf, area| question.draw(buf, area, &theme));
        }
        out += &shot(40, 8, &theme, |buf, area| Confirm::new("Quit", Vec::new(), "").draw(buf, area, &theme));
        insta::assert_snapshot!(out);
    }

    #[test]
    fn looks_in_colour_and_without() {
        let all: Vec<String> = themes()
            .iter()
            .map(|theme| styled_shot(50, 10, theme, |buf, area| question(theme).draw(buf, area, theme)))
            .collect();
        insta::assert_snapshot!(all.join("\n"));
    }

    proptest! {
        #[test]
        fn any_question_stays_inside(
            area in areas(), title in texts(), body in lines(), yes in texts(), offset in any::<usize>(),
            keys in prop::collection::vec(prop::sample::select(vec!["down", "pgdown", "tab", "end", "up"]), 0..5),
        ) {
            let mut question = Confirm::new(title, body, yes);
            question.scroll.offset = offset;
            for key in keys {
                question.on_key(key, area);
            }
            check_inside(area, |buf, area| question.draw(buf, area, &Theme::default()));
        }
    }
}
