//! stub
use crate::theme::Theme;
use ratatui::{buffer::Buffer, layout::Rect};
/// x
#[derive(Clone, Debug)]
pub struct Confirm {
    title: String,
}
/// x
pub enum Outcome {
    /// o
    Open,
    /// n
    No,
    /// y
    Yes,
}
impl Confirm {
    /// x
    pub fn new(title: impl Into<String>, _body: Vec<String>) -> Self {
        Self { title: title.into() }
    }
    /// x
    pub fn on_key(&mut self, k: &str) -> Outcome {
        match k {
            "y" => Outcome::Yes,
            "n" | "esc" | "enter" => Outcome::No,
            _ => Outcome::Open,
        }
    }
    /// x
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme) {
        crate::widgets::layer::open(buf, area, &self.title, theme);
    }
}
