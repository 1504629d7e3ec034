//! A conversation as Markdown. What people and models wrote stays Markdown, but cannot reach beyond its turn: its headings
//! go below ours, its HTML becomes text, and what would still swallow what follows goes into a fence, as what tools said
//! does. Fences are longer than any inside. Texts are cleaned and masked already. `export` calls it.

use std::fmt::Write as _;
use std::io::{self, Write};

use agents::sessions::Speaker;
use agents::sessions::rows::{SessionRow, ToolUse, Turn};
use jiff::Timestamp;
use pulldown_cmark::{Event, Options, Parser, Tag};
use sys::text::{clean, human};

use crate::mask::Count;

/// Longer texts go into a fence unread: what is that long was not written to be read.
const LONGEST: usize = 256 << 10;
/// How often a text is read again after its HTML became text, which may show new HTML.
const ROUNDS: usize = 4;

pub(super) fn head(to: &mut dyn Write, row: &SessionRow) -> io::Result<()> {
    let title = row.alias.as_deref().or(row.title.as_deref()).unwrap_or(&row.id);
    writeln!(to, "# {}\n", inline(title))?;
    writeln!(to, "- Agent: {}", inline(&row.agent))?;
    writeln!(to, "- Session: {}", span(&row.id))?;
    if let Some(cwd) = &row.cwd {
        writeln!(to, "- Folder: {}", span(cwd))?;
    }
    for (what, at) in [("Started", &row.started), ("Last used", &row.updated)] {
        if let Some(at) = at {
            writeln!(to, "- {what}: {}", inline(at))?;
        }
    }
    if !row.models.is_empty() {
        let models: Vec<String> = row.models.iter().map(|model| span(model)).collect();
        writeln!(to, "- Models: {}", models.join(", "))?;
    }
    writeln!(to, "- Tokens: {}", human::count(row.usage.total()))
}

pub(super) fn turn(to: &mut dyn Write, number: u64, turn: &Turn) -> io::Result<()> {
    let who = match turn.role {
        Speaker::User => "Prompt",
        Speaker::Assistant => "Answer",
        Speaker::System => "Note",
    };
    let mut heading = match &turn.subagent {
        Some(id) => format!("### {number}. {who} of sub-agent {}", inline(id)).replace("Prompt of", "Prompt to"),
        None => format!("## {number}. {who}"),
    };
    if let Some(model) = &turn.model {
        let _ = write!(heading, " ({})", inline(model));
    }
    if let Some(at) = &turn.at {
        let _ = write!(heading, ", {}", inline(at));
    }
    writeln!(to, "\n{heading}")?;
    if let Some(reasoning) = turn.reasoning.as_deref().filter(|text| !text.trim().is_empty()) {
        write!(to, "\n<details>\n<summary>Reasoning</summary>\n\n{}\n</details>\n", tame(reasoning))?;
    }
    if !turn.text.trim().is_empty() {
        write!(to, "\n{}", tame(&turn.text))?;
    }
    turn.tools.iter().try_for_each(|used| tool(to, used))
}

fn tool(to: &mut dyn Write, tool: &ToolUse) -> io::Result<()> {
    let mark = if tool.ok == Some(false) { ", failed" } else { "" };
    write!(to, "\n<details>\n<summary>Tool {}{mark}</summary>\n\n", html(&clean(&tool.name)))?;
    if !tool.input.is_empty() {
        let is_json = tool.input.trim_start().starts_with(['{', '[']);
        writeln!(to, "{}", fence(&tool.input, if is_json { "json" } else { "" }))?;
    }
    if let Some(output) = &tool.output {
        writeln!(to, "{}", fence(output, ""))?;
    }
    writeln!(to, "</details>")
}

pub(super) fn end(to: &mut dyn Write, at: Timestamp, masked: Option<&Count>) -> io::Result<()> {
    let masked = match masked {
        None => "Secrets were left in.".to_owned(),
        Some(count) if count.total() == 0 => "No secrets of known shapes were found.".to_owned(),
        Some(count) => {
            let kinds: Vec<String> = count.kinds().iter().map(|(kind, n)| format!("{kind}: {n}")).collect();
            format!("Secrets masked: {} ({}).", count.total(), kinds.join(", "))
        }
    };
    writeln!(to, "\n---\n\nExported {}. {masked}", at.strftime("%Y-%m-%dT%H:%M:%SZ"))
}

/// One line in which nothing is Markdown.
fn inline(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in clean(text).chars() {
        // Never at the beginning of a line, where a few more would mean something.
        if c.is_ascii_punctuation() && !",:;/'\"-.+()?=%@".contains(c) {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

/// One line as code.
fn span(text: &str) -> String {
    let text = clean(text);
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn longest_run(text: &str) -> usize {
    let run = |(longest, run): (usize, usize), c| if c == '`' { (longest.max(run + 1), run + 1) } else { (longest, 0) };
    text.chars().fold((0, 0), run).0
}

/// `text` in a fence that nothing in it closes (CommonMark 4.5), with a line end.
fn fence(text: &str, language: &str) -> String {
    let ticks = "`".repeat(longest_run(text).max(2) + 1);
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{ticks}{language}\n{text}{end}{ticks}\n")
}

/// `text` as Markdown that stays in its place, with a line end.
fn tame(text: &str) -> String {
    if text.len() > LONGEST {
        return fence(text, "");
    }
    let mut tamed = text.trim_end().to_owned();
    for _ in 0..ROUNDS {
        let edits = edits(&tamed);
        if edits.is_empty() {
            return if ends(&tamed) { format!("{tamed}\n") } else { fence(text, "") };
        }
        // Anew rather than in place: there may be as many edits as letters.
        let mut edited = String::with_capacity(tamed.len() + 8 * edits.len());
        let mut from = 0;
        for (at, length, new) in edits {
            edited.push_str(&tamed[from..at]);
            edited.push_str(new);
            from = at + length;
        }
        edited.push_str(&tamed[from..]);
        tamed = edited;
    }
    fence(text, "")
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES
}

/// What has to change: where, how many bytes, into what; in order.
fn edits(text: &str) -> Vec<(usize, usize, &'static str)> {
    let mut edits = Vec::new();
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let opened = text[range.clone()].match_indices('<');
                edits.extend(opened.map(|(at, _)| (range.start + at, 1, "&lt;")));
            }
            Event::Start(Tag::Heading { level, .. }) if (level as usize) < 4 => {
                let source = &text[range.clone()];
                if source.starts_with('#') {
                    edits.push((range.start, 0, "###"));
                } else {
                    // Underlined: the line below the words is made words, too.
                    let line = source.trim_end().rfind('\n').map_or(0, |at| at + 1);
                    let mark = source[line..].find(['=', '-']).map_or(line, |at| line + at);
                    edits.push((range.start + mark, 0, "\\"));
                }
            }
            _ => {}
        }
    }
    edits.sort_unstable();
    edits.dedup();
    edits
}

/// True when a heading that follows `text` is one.
fn ends(text: &str) -> bool {
    let probe = format!("{text}\n\n## x\n");
    let mut depth = 0_usize;
    let mut found = false;
    for (event, range) in Parser::new_ext(&probe, options()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                found |= depth == 0 && matches!(tag, Tag::Heading { .. }) && range.start >= text.len();
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The headings at the top, and whether there is HTML.
    fn read(text: &str) -> (Vec<usize>, bool) {
        let (mut levels, mut html) = (Vec::new(), false);
        for event in Parser::new_ext(text, options()) {
            match event {
                Event::Start(Tag::Heading { level, .. }) => levels.push(level as usize),
                Event::Html(_) | Event::InlineHtml(_) => html = true,
                _ => {}
            }
        }
        (levels, html)
    }

    #[test]
    fn text_stays_markdown_and_in_its_place() {
        for (text, shown) in [
            ("plain *words*", "plain *words*\n"),
            ("```rust\nfn a() {}\n```", "```rust\nfn a() {}\n```\n"),
            ("# One\n\n## Two\n\n#### Four", "#### One\n\n##### Two\n\n#### Four\n"),
            ("One\n===\n\nTwo\n---", "One\n\\===\n\nTwo\n\\---\n"),
            ("a <b>c</b> `<d>` Vec<u8>", "a &lt;b>c&lt;/b> `<d>` Vec&lt;u8>\n"),
            ("</details>\n\nx", "&lt;/details>\n\nx\n"),
            ("<!-- open", "&lt;!-- open\n"),
            ("an open fence:\n```\ncode", "````\nan open fence:\n```\ncode\n````\n"),
        ] {
            assert_eq!(tame(text), shown, "{text}");
        }
    }

    #[test]
    fn fences_are_longer_than_those_inside() {
        assert_eq!(fence("a\n````\nb", "json"), "`````json\na\n````\nb\n`````\n");
        assert_eq!(fence("", ""), "```\n```\n");
        assert_eq!(span("a``b`"), "``` a``b` ```");
        assert_eq!(inline("# a [b](c) <d>\n*e*"), "\\# a \\[b\\](c) \\<d\\> \\*e\\*");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn nothing_reaches_beyond_its_turn(pieces in proptest::collection::vec(prop_oneof![
            Just("```".to_owned()), Just("~~~~".to_owned()), Just("\n".to_owned()), Just("\n\n".to_owned()),
            Just("<details>".to_owned()), Just("</details>".to_owned()), Just("<!--".to_owned()), Just("<script>".to_owned()),
            Just("<![CDATA[".to_owned()), Just("<?".to_owned()), Just("# ".to_owned()), Just("> ".to_owned()), Just("- ".to_owned()),
            Just("---".to_owned()), Just("===".to_owned()), Just("    ".to_owned()), Just("`".to_owned()), Just("[^1]: ".to_owned()),
            Just("|a|b|\n|-|-|\n".to_owned()), Just("\\".to_owned()), Just("&lt;".to_owned()), "\\PC{0,5}",
        ], 0..16)) {
            let text = pieces.concat();
            let (levels, html) = read(&format!("{}\n## after\n", tame(&text)));
            prop_assert_eq!(levels.last(), Some(&2), "{}", tame(&text));
            prop_assert!(levels[..levels.len() - 1].iter().all(|level| *level > 3), "{}", tame(&text));
            prop_assert!(!html, "{}", tame(&text));
        }
    }
}
