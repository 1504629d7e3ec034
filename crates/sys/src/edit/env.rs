//! Files of variables (`.env`): a line each, `KEY=value`, `export` before it or not, quotes of both kinds, comments. A
//! value that goes over several lines is refused: readers differ about it.

use super::model::Model;
use super::{Change, Doubt, Edited, Step, shown};

/// One `KEY=value`.
struct Line<'a> {
    key: &'a str,
    /// The line without its end.
    start: usize,
    end: usize,
    /// The value as it is written, quotes included.
    value: std::ops::Range<usize>,
    means: String,
}

pub(super) fn apply(text: &str, change: &Change) -> Result<Edited, Doubt> {
    let lines = read(text)?;
    match change {
        Change::Set { at, value } => {
            let key = key(at)?;
            let Some(value) = value.as_str() else {
                return Err(Doubt::general(format!("{} can only be a text in a file of variables", shown(at))));
            };
            match find(text, &lines, key)? {
                Some(line) if line.means == value => Ok(Edited { text: text.to_owned(), undo: Vec::new() }),
                found => put(text, found, at, key, &written(value, at)?),
            }
        }
        Change::Write { at, raw } => {
            let key = key(at)?;
            put(text, find(text, &lines, key)?, at, key, raw)
        }
        Change::Remove { at, .. } | Change::Withdraw { at, .. } => {
            let key = key(at)?;
            let Some(line) = find(text, &lines, key)? else {
                return Ok(Edited { text: text.to_owned(), undo: Vec::new() });
            };
            let raw = text[line.value.clone()].to_owned();
            Ok(Edited { text: without(text, line), undo: vec![Change::Write { at: at.clone(), raw }] })
        }
        Change::Append { at, .. } => {
            Err(Doubt::general(format!("{} cannot be a list in a file of variables", shown(at))))
        }
    }
    .and_then(|edited| verified(&lines, change, edited))
}

/// The new text must say what the old one said, but for the one variable.
fn verified(before: &[Line<'_>], change: &Change, edited: Edited) -> Result<Edited, Doubt> {
    let own = key(change.at())?;
    let others = |lines: &[Line<'_>]| -> Vec<(String, String)> {
        lines.iter().filter(|line| line.key != own).map(|line| (line.key.to_owned(), line.means.clone())).collect()
    };
    let after = read(&edited.text)?;
    let wanted = match change {
        Change::Set { value, .. } => value.as_str().map(str::to_owned),
        Change::Write { raw, .. } => meaning(raw).map(|(means, _)| means),
        Change::Remove { .. } | Change::Withdraw { .. } | Change::Append { .. } => None,
    };
    let is = after.iter().find(|line| line.key == own).map(|line| line.means.clone());
    if others(before) != others(&after) || is != wanted {
        return Err(Doubt::general("the edit was given up: something else would have changed"));
    }
    Ok(edited)
}

fn key(at: &[Step]) -> Result<&str, Doubt> {
    match at {
        [Step::Key(key)] if is_name(key) => Ok(key),
        _ => Err(Doubt::general(format!("{} is no name of a variable", shown(at)))),
    }
}

fn is_name(name: &str) -> bool {
    name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn read(text: &str) -> Result<Vec<Line<'_>>, Doubt> {
    let mut lines = Vec::new();
    let mut start = 0;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches('\n').trim_end_matches('\r');
        let end = start + line.len();
        if let Some(found) = read_line(text, start, line)? {
            lines.push(found);
        }
        debug_assert!(end <= text.len());
        start += whole.len();
    }
    Ok(lines)
}

fn read_line<'a>(text: &str, start: usize, line: &'a str) -> Result<Option<Line<'a>>, Doubt> {
    let blanks = line.len() - line.trim_start().len();
    let rest = &line[blanks..];
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(None);
    }
    let no_export = rest.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t'])).unwrap_or(rest);
    let named = no_export.trim_start();
    let from = line.len() - named.len();
    let Some((name, value)) = named.split_once('=') else {
        return Err(Doubt::at(text, start + from, "this is no KEY=value"));
    };
    let name = name.trim_end();
    if !is_name(name) {
        return Err(Doubt::at(text, start + from, "this is no name of a variable"));
    }
    let lead = value.len() - value.trim_start().len();
    let at = line.len() - value.len() + lead;
    let Some((means, length)) = meaning(&line[at..]) else {
        return Err(Doubt::at(text, start + at, "this value does not end on its line"));
    };
    let value = start + at..start + at + length;
    Ok(Some(Line { key: name, start, end: start + line.len(), value, means }))
}

/// What a value means, and how many bytes of the text it is; `None` when its quotes do not end.
fn meaning(text: &str) -> Option<(String, usize)> {
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '"' | '\'')) else {
        // A comment begins with a blank before its sign.
        let end = text.match_indices('#').find(|(at, _)| *at == 0 || text[..*at].ends_with([' ', '\t']));
        let bare = text[..end.map_or(text.len(), |(at, _)| at)].trim_end();
        return Some((bare.to_owned(), bare.len()));
    };
    let mut means = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            _ if c == quote => {
                let rest = text[at + 1..].trim_start();
                return (rest.is_empty() || rest.starts_with('#')).then_some((means, at + 1));
            }
            '\\' if quote == '"' => match chars.next()?.1 {
                'n' => means.push('\n'),
                'r' => means.push('\r'),
                't' => means.push('\t'),
                other @ ('"' | '\\' | '$') => means.push(other),
                other => means.extend(['\\', other]),
            },
            other => means.push(other),
        }
    }
    None
}

fn find<'l, 'a>(text: &str, lines: &'l [Line<'a>], key: &str) -> Result<Option<&'l Line<'a>>, Doubt> {
    let mut found = lines.iter().filter(|line| line.key == key);
    let first = found.next();
    match found.next() {
        Some(second) => Err(Doubt::at(text, second.start, format!("{key} is there twice"))),
        None => Ok(first),
    }
}

/// As it is written so that every reader takes it the same.
fn written(value: &str, at: &[Step]) -> Result<String, Doubt> {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:@%+,-~".contains(&byte);
    if !value.is_empty() && value.bytes().all(bare) {
        return Ok(value.to_owned());
    }
    if value.contains(['\'', '\n', '\r', '\0']) {
        return Err(Doubt::general(format!(
            "{} cannot be written in a file of variables: it has a single quote or a line end",
            shown(at)
        )));
    }
    Ok(format!("'{value}'"))
}

fn put(text: &str, found: Option<&Line<'_>>, at: &[Step], key: &str, raw: &str) -> Result<Edited, Doubt> {
    if raw.contains(['\n', '\r']) || meaning(raw).is_none_or(|(_, length)| length != raw.len()) {
        return Err(Doubt::general(format!("{} cannot be written so", shown(at))));
    }
    let undo = match found {
        Some(line) => Change::Write { at: at.to_vec(), raw: text[line.value.clone()].to_owned() },
        None => Change::Remove { at: at.to_vec(), hollow: None },
    };
    let text = match found {
        Some(line) => format!("{}{raw}{}", &text[..line.value.start], &text[line.value.end..]),
        None => {
            let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
            // A last line without an end stays one: what is added can be taken away without a trace.
            match text.is_empty() || text.ends_with('\n') {
                true => format!("{text}{key}={raw}{newline}"),
                false => format!("{text}{newline}{key}={raw}"),
            }
        }
    };
    Ok(Edited { text, undo: vec![undo] })
}

fn without(text: &str, line: &Line<'_>) -> String {
    let after = &text[line.end..];
    let end = ["\r\n", "\n"].into_iter().find(|end| after.starts_with(end));
    match end {
        Some(end) => format!("{}{}", &text[..line.start], &after[end.len()..]),
        None => {
            let before = &text[..line.start];
            before.strip_suffix('\n').map_or(before, |before| before.strip_suffix('\r').unwrap_or(before)).to_owned()
        }
    }
}

/// What the text means.
pub(super) fn model(text: &str) -> Result<Model, Doubt> {
    let lines = read(text)?;
    Ok(Model::Map(lines.into_iter().map(|line| (line.key.to_owned(), Model::Text(line.means))).collect()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Format, apply};
    use super::*;
    use crate::path;

    fn set(text: &str, key: &str, value: &str) -> Result<Edited, Doubt> {
        apply(Format::Env, text, &[Change::Set { at: path![key], value: value.into() }])
    }

    #[test]
    fn only_the_value_changes() {
        let old = "# mine\nexport A = 'one'  # why\r\nB=\"x # y\"\n\nC=last";
        assert_eq!(set(old, "A", "two").unwrap().text, old.replace("'one'", "two"));
        assert_eq!(set(old, "B", "a b").unwrap().text, old.replace("\"x # y\"", "'a b'"));
        assert_eq!(set(old, "C", "http://h/v1").unwrap().text, old.replace("last", "http://h/v1"));
        assert_eq!(set(old, "B", "x # y").unwrap().text, old, "an equal value stays as it is written");
        let new = set(old, "D", "4").unwrap();
        assert_eq!(new.text, format!("{old}\r\nD=4"));
        assert_eq!(apply(Format::Env, &new.text, &new.undo).unwrap().text, old);
    }

    #[test]
    fn what_readers_differ_about_is_refused_with_its_place() {
        for (text, place) in [("A=1\nA=2\n", (2, 1)), ("A='x\ny'\n", (1, 3)), ("A=1\nwhat\n", (2, 1)), ("1A=2", (1, 1))]
        {
            assert_eq!(set(text, "A", "3").unwrap_err().place, Some(place), "{text:?}");
        }
        assert!(set("", "A", "it's").is_err());
        assert!(set("", "A B", "x").is_err());
    }

    proptest! {
        #[test]
        fn all_else_stays_and_the_way_back_is_exact(
            lines in prop::collection::vec("(export )?[A-D]=([a-z]{0,4}|'[a-z #]{0,4}'|\"[a-z]{0,3}\")( # [a-z]*)?|# [a-z]*|", 0..6),
            crlf: bool, ended: bool, key in "[A-E]", value in "[ -&(-~é]{0,8}",
        ) {
            let newline = if crlf { "\r\n" } else { "\n" };
            let mut old = lines.join(newline);
            if ended && !old.is_empty() {
                old.push_str(newline);
            }
            if let Ok(new) = set(&old, &key, &value) {
                let back = apply(Format::Env, &new.text, &new.undo).unwrap();
                prop_assert_eq!(back.text, old);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            let _ = set(&text, "A", "x");
        }
    }
}
