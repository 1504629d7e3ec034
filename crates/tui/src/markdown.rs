//! Markdown into styled lines for a terminal: headings, emphasis, code, lists, quotes, links, tables. It neither wraps nor
//! draws; blocks of code keep their lines, everything else is one line a paragraph, to be wrapped by the caller. Views
//! that show what people and models wrote call it. Text is expected to be cleaned.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::paint::text_width;
use crate::theme::{Role, Theme};

/// Columns of a table's cell that are kept; wider ones would make a table no table.
const CELL: usize = 40;

/// The lines of `text`.
pub fn lines(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    let mut options = Options::empty();
    options.insert(Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS);
    let mut page = Page::new(theme);
    for event in Parser::new_ext(text, options) {
        page.take(event);
    }
    page.finish()
}

/// A list that is open: the number of the next item, or none for dots.
type Counter = Option<u64>;

struct Page<'t> {
    theme: &'t Theme,
    done: Vec<Line<'static>>,
    line: Vec<Span<'static>>,
    styles: Vec<Style>,
    lists: Vec<Counter>,
    quotes: usize,
    /// Inside a block of code.
    code: bool,
    /// What stands in front of the next line instead of the indentation: an item's dot.
    mark: Option<String>,
    link: Option<String>,
    table: Option<Table>,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    cell: String,
}

impl<'t> Page<'t> {
    fn new(theme: &'t Theme) -> Self {
        Self {
            theme,
            done: Vec::new(),
            line: Vec::new(),
            styles: vec![theme.style(Role::Fg)],
            lists: Vec::new(),
            quotes: 0,
            code: false,
            mark: None,
            link: None,
            table: None,
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, change: impl FnOnce(Style) -> Style) {
        let style = change(self.style());
        self.styles.push(style);
    }

    fn pop_style(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => match &mut self.table {
                Some(table) => table.cell.push_str(&text),
                None => self.line.push(Span::styled(text.into_string(), self.theme.style(Role::SynString))),
            },
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.gap();
                self.line.push(Span::styled("───", self.theme.muted()));
                self.flush();
            }
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
            // Tags and comments are words like any other here.
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(table) = &mut self.table {
            table.cell.push_str(text);
            return;
        }
        let style = self.style();
        let mut parts = text.split('\n').peekable();
        while let Some(part) = parts.next() {
            if !part.is_empty() {
                self.line.push(Span::styled(part.to_owned(), style));
            }
            if parts.peek().is_some() {
                self.break_line();
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let theme = self.theme;
        match tag {
            Tag::Paragraph | Tag::HtmlBlock if self.mark.is_none() => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                let style = theme.title();
                let strong = matches!(level, HeadingLevel::H1 | HeadingLevel::H2);
                self.push_style(|_| if strong { style } else { style.remove_modifier(Modifier::UNDERLINED) });
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.quotes += 1;
                self.push_style(|_| theme.dim());
            }
            Tag::CodeBlock(_) => {
                self.gap();
                self.code = true;
                self.push_style(|_| theme.style(Role::SynString));
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.gap();
                } else {
                    self.flush();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", number.saturating_sub(1))
                    }
                    _ => "• ".to_owned(),
                };
                self.mark = Some(mark);
            }
            Tag::Emphasis => self.push_style(|style| style.add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.push_style(|style| style.add_modifier(Modifier::BOLD)),
            Tag::Strikethrough => self.push_style(|style| style.add_modifier(Modifier::CROSSED_OUT)),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some(dest_url.into_string());
                self.push_style(|_| theme.style(Role::Link));
            }
            Tag::Table(_) => {
                self.gap();
                self.table = Some(Table::default());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.pop_style();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
                self.pop_style();
            }
            TagEnd::CodeBlock => {
                self.flush();
                self.code = false;
                self.pop_style();
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::Item => {
                // An item without words.
                if self.mark.is_some() {
                    self.break_line();
                }
                self.flush();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.pop_style(),
            TagEnd::Link | TagEnd::Image => {
                self.pop_style();
                let shown: String = self.line.last().map(|span| span.content.to_string()).unwrap_or_default();
                if let Some(link) = self.link.take().filter(|link| *link != shown && self.table.is_none()) {
                    self.line.push(Span::styled(format!(" ({link})"), self.theme.muted()));
                }
            }
            TagEnd::TableCell => {
                if let Some(table) = &mut self.table {
                    let cell = std::mem::take(&mut table.cell);
                    if let Some(row) = table.rows.last_mut() {
                        row.push(crate::paint::fit(cell.trim(), u16::try_from(CELL).unwrap_or(u16::MAX)).into_owned());
                    }
                }
            }
            TagEnd::Table => self.table(),
            _ => {}
        }
    }

    /// A blank line between two blocks.
    fn gap(&mut self) {
        self.flush();
        if !self.done.is_empty() && self.done.last().is_some_and(|line| !line.spans.is_empty()) {
            self.done.push(Line::default());
        }
    }

    /// Ends the line if there is something on it.
    fn flush(&mut self) {
        if !self.line.is_empty() {
            self.break_line();
        }
    }

    /// Ends the line, with what stands in front of it.
    fn break_line(&mut self) {
        let mut spans = Vec::new();
        if self.quotes > 0 {
            spans.push(Span::styled("│ ".repeat(self.quotes), self.theme.muted()));
        }
        let depth = self.lists.len().saturating_sub(1);
        let mark = self.mark.take();
        let indent = match (&mark, self.lists.is_empty()) {
            (_, true) => String::new(),
            (Some(_), false) => "  ".repeat(depth),
            (None, false) => "  ".repeat(depth + 1),
        };
        if !indent.is_empty() {
            spans.push(Span::raw(indent));
        }
        if let Some(mark) = mark {
            spans.push(Span::styled(mark, self.theme.accent()));
        }
        if self.code {
            spans.push(Span::raw("  "));
        }
        spans.append(&mut self.line);
        self.done.push(Line::from(spans));
    }

    fn table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            table.rows.iter().filter_map(|row| row.get(column)).map(|cell| text_width(cell)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (at, row) in table.rows.iter().enumerate() {
            let cells: Vec<String> = widths
                .iter()
                .enumerate()
                .map(|(column, width)| {
                    let cell = row.get(column).map_or("", String::as_str);
                    format!("{cell}{}", " ".repeat(width.saturating_sub(text_width(cell))))
                })
                .collect();
            let style = if at == 0 { self.theme.accent() } else { self.theme.style(Role::Fg) };
            self.done.push(Line::styled(cells.join(" │ ").trim_end().to_owned(), style));
        }
    }

    fn finish(mut self) -> Vec<Line<'static>> {
        self.flush();
        while self.done.last().is_some_and(|line| line.spans.iter().all(|span| span.content.trim().is_empty())) {
            self.done.pop();
        }
        self.done
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str) -> Vec<String> {
        let line = |line: Line<'_>| line.spans.iter().map(|span| span.content.as_ref()).collect::<String>();
        lines(text, &Theme::default()).into_iter().map(line).collect()
    }

    #[test]
    fn what_people_and_models_write() {
        let text = "# Head\nsome *words* and `code`,\nwrapped\n\n- one\n- two\n  1. a\n  2. b\n\n> said\n> twice\n\n\
                    ```sh\nls -l\n\n  x\n```\n[docs](https://x.example) <b>x</b>\n\n| a | bb |\n|---|---|\n| 1 | 2 |\n";
        let expected = [
            "Head",
            "",
            "some words and code, wrapped",
            "",
            "• one",
            "• two",
            "  1. a",
            "  2. b",
            "",
            "│ said twice",
            "",
            "  ls -l",
            "  ",
            "    x",
            "",
            "docs (https://x.example) <b>x</b>",
            "",
            "a │ bb",
            "1 │ 2",
        ];
        assert_eq!(plain(text), expected);
    }

    #[test]
    fn plain_words_stay_as_they_are() {
        assert_eq!(plain("one\n\ntwo"), ["one", "", "two"]);
        assert_eq!(plain(""), Vec::<String>::new());
        assert_eq!(plain("- [x] done\n-"), ["• ☑ done", "• "]);
    }

    proptest! {
        #[test]
        fn any_text_becomes_lines_and_no_letter_is_lost(text in "([a-z]{1,8}|[*_`#>|\\[\\]()~ .-]|\n|1\\. |```\n){0,40}") {
            let shown = plain(&text).concat();
            for word in text.split(|c: char| !c.is_ascii_lowercase()).filter(|word| word.len() > 6) {
                // A word behind ``` names a language, and one in a link's target may be shown in brackets.
                if !text.contains("```") && !text.contains('[') && !text.contains('<') && !text.contains('|') {
                    prop_assert!(shown.contains(word), "{word:?} of {text:?} is not in {shown:?}");
                }
            }
        }
    }
}
