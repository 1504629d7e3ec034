//! A question that is answered with one line: a name, a tag, a filter.
//! It never judges the answer; the caller does and puts its words into `error`.
//! Views of both programs open it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::edit::LineEdit;
use crate::paint::put_line;
use crate::theme::{Role, Theme};
use crate::widgets::wrap::wrap_text;
use crate::widgets::{input, layer};

/// Columns of the box where there are so many.
const WIDTH: u16 = 64;

/// An open prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// What is asked for, such as `Rename feature-login`.
    pub title: String,
    /// The line being typed.
    pub edit: LineEdit,
    /// Stands in the empty line.
    pub hint: String,
    /// Why the answer is not good, if it is not.
    pub error: Option<String>,
    /// What is typed is a secret: it is shown as dots.
    pub secret: bool,
}

/// What a key did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptOutcome {
    /// Typing goes on.
    Pending,
    /// This is the answer.
    Done(String),
    /// There is none.
    Cancelled,
}

impl Prompt {
    /// A prompt that starts with `text`.
    pub fn new(title: impl Into<String>, text: &str, hint: impl Into<String>) -> Self {
        Self { title: title.into(), edit: LineEdit::new(text), hint: hint.into(), error: None, secret: false }
    }

    /// The same, with dots in place of what is typed.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Does what a key means: enter answers (also when `error` stands; the caller judges anew), esc leaves, everything
    /// else is typing and takes the error away.
    pub fn on_key(&mut self, name: &str, text: Option<&str>) -> PromptOutcome {
        match name {
            "enter" => return PromptOutcome::Done(self.edit.text().to_owned()),
            "esc" | "ctrl+c" => return PromptOutcome::Cancelled,
            _ => {
                let before = self.edit.text().to_owned();
                self.edit.on_key(name, text);
                if before != self.edit.text() {
                    self.error = None;
                }
            }
        }
        PromptOutcome::Pending
    }

    /// Inserts a paste.
    pub fn paste(&mut self, text: &str) {
        self.edit.paste(text);
        self.error = None;
    }

    /// Where the box goes: a third of the way down, with a row for the line and as many as the error needs.
    pub fn layout(&self, area: Rect) -> Rect {
        let rows = u16::try_from(self.error_rows(area)).unwrap_or(u16::MAX);
        layer::centered(area, WIDTH, rows.saturating_add(3), 2)
    }

    fn error_rows(&self, area: Rect) -> usize {
        let width = layer::inside(layer::centered(area, WIDTH, 3, 2)).width;
        self.error.as_ref().map_or(0, |error| wrap_text(error, width, ratatui::style::Style::new()).len())
    }

    /// Draws the prompt on top of what is in `area`.
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let inner = layer::open(buf, self.layout(area), &self.title, theme);
        if self.secret {
            let dots = LineEdit::new(&"•".repeat(self.edit.text().chars().count()));
            input::draw(buf, inner, "▸ ", &dots, &self.hint, theme);
        } else {
            input::draw(buf, inner, "▸ ", &self.edit, &self.hint, theme);
        }
        let Some(error) = &self.error else { return };
        let lines = wrap_text(error, inner.width, theme.style(Role::Error));
        for (y, line) in (inner.top().saturating_add(1)..inner.bottom()).zip(&lines) {
            put_line(buf, inner.x, y, inner.width, line, theme.style(Role::Error));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::widgets::testing::{areas, check_inside, shot, styled_shot, texts, themes};

    #[test]
    fn answers() {
        let mut prompt = Prompt::new("Rename", "old", "a name");
        assert_eq!(prompt.on_key("!", Some("!")), PromptOutcome::Pending);
        prompt.error = Some("not good".to_owned());
        prompt.on_key("left", None);
        assert!(prompt.error.is_some());
        prompt.on_key("backspace", None);
        assert_eq!(prompt.error, None);
        prompt.paste("er\n");
        assert_eq!(prompt.on_key("enter", None), PromptOutcome::Done("oler!".to_owned()));
        assert_eq!(prompt.on_key("esc", None), PromptOutcome::Cancelled);
    }

    #[test]
    fn a_secret_is_never_drawn() {
        let theme = Theme::default();
        let prompt = Prompt::new("Token", "hush-hush", "").secret();
        let shown = shot(60, 9, &theme, |buf, area| prompt.draw(buf, area, &theme));
        assert!(shown.contains("•••••••••") && !shown.contains("hush"), "{shown}");
        assert_eq!(prompt.edit.text(), "hush-hush");
    }

    fn prompts() -> Vec<Prompt> {
        let mut wrong = Prompt::new("Rename feature-login", "feature login", "");
        wrong.error =
            Some("A name may hold letters, digits, dots, dashes and slashes; this one holds a blank.".to_owned());
        let mut inside = Prompt::new("Note", "漢字漢字漢字漢字 and more text than fits into the line of the box", "");
        inside.edit.on_key("alt+left", None);
        vec![Prompt::new("New session", "", "a name, or empty for one made up"), wrong, inside]
    }

    #[test]
    fn looks() {
        let theme = Theme::default();
        let mut out = String::new();
        for (width, height) in [(80, 8), (40, 8), (20, 5), (8, 3), (3, 2), (1, 1)] {
            for prompt in prompts() {
                out += &shot(width, height, &theme, |buf, area| prompt.draw(buf, area, &theme));
                out += "\n";
            }
        }
        insta::assert_snapshot!(out);
    }

    #[test]
    fn looks_in_colour_and_without() {
        let mut out = String::new();
        for theme in themes() {
            for prompt in prompts() {
                out += &styled_shot(44, 5, &theme, |buf, area| prompt.draw(buf, area, &theme));
            }
        }
        insta::assert_snapshot!(out);
    }

    proptest! {
        #[test]
        fn any_prompt_stays_inside(
            area in areas(), title in texts(), text in texts(), hint in texts(), error in prop::option::of(texts()),
            left in 0usize..6,
        ) {
            let mut prompt = Prompt::new(title, &text, hint);
            prompt.error = error;
            for _ in 0..left {
                prompt.edit.on_key("left", None);
            }
            check_inside(area, |buf, area| prompt.draw(buf, area, &Theme::default()));
        }
    }
}
