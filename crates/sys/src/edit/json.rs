//! JSON with comments and trailing commas, edited by the places that its parser tells: a new value goes behind the
//! last one in the style of its neighbours, and taking it away again leaves what was there before.

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::model::{Model, same, wrong_kind};
use super::{Change, Doubt, Edited, Step, shown};

/// How a file that says nothing about it is indented.
const INDENT: &str = "  ";

/// What readers of settings agree on; the other liberties of JSON5 they do not.
const READ: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn apply(text: &str, change: &Change) -> Result<Edited, Doubt> {
    let before = Document::read(text)?;
    let edited = match change {
        Change::Set { at, value } => match before.model().get(at) {
            Some(old) if same(old, &Model::from(value)) => unchanged(text),
            _ => before.write(at, &|indent| written(value, indent, before.newline(), before.indent_unit()))?,
        },
        Change::Write { at, raw } => before.write(at, &|_| raw.clone())?,
        Change::Append { at, value } => before.append(at, value)?,
        Change::Remove { at, hollow } => before.remove(at, hollow.as_deref())?,
        Change::Withdraw { at, .. } => before.remove(at, None)?,
    };
    verify(&before, change, &edited.text)?;
    Ok(edited)
}

/// What the text means.
pub(super) fn model_of(text: &str) -> Result<Model, Doubt> {
    Document::read(text).map(|document| document.model())
}

fn unchanged(text: &str) -> Edited {
    Edited { text: text.to_owned(), undo: Vec::new() }
}

/// The new text must say what the old one said, with the one change, and the same comments.
fn verify(before: &Document<'_>, change: &Change, text: &str) -> Result<(), Doubt> {
    let lost = |why: &str| Doubt::general(format!("the edit was given up: {why}"));
    let mut wanted = before.model();
    match change {
        Change::Set { at, value } => wanted.set(at, value.into())?,
        Change::Write { at, raw } => wanted.set(at, Document::read(raw)?.model())?,
        Change::Append { at, value } => wanted.append(at, value.into())?,
        Change::Remove { at, .. } | Change::Withdraw { at, .. } => {
            wanted.remove(at);
        }
    }
    let emptied = text.trim().is_empty() && wanted == Model::Map(Vec::new());
    let after = Document::read(text).map_err(|doubt| lost(&doubt.to_string()))?;
    if !emptied && !same(&after.model(), &wanted) {
        return Err(lost("something else would have changed"));
    }
    // A comment inside a value that is replaced or removed goes with it; none outside ever does.
    let inside = match change {
        Change::Append { .. } => None,
        other => before.range(other.at()),
    };
    let kept = |document: &Document<'_>, skip: Option<Range>| -> Vec<String> {
        let outside = |at: &Range| skip.is_none_or(|skip| at.start < skip.start || at.end > skip.end);
        document.comments().filter(outside).map(|at| document.text[at.start..at.end].to_owned()).collect()
    };
    if kept(before, inside).iter().any(|comment| !text.contains(comment)) {
        return Err(lost("a comment would have been lost"));
    }
    Ok(())
}

/// `value` as it is written at this depth.
fn written(value: &Value, indent: &str, newline: &str, unit: &str) -> String {
    let inner = format!("{indent}{unit}");
    let lines = |open: char, parts: Vec<String>, close: char| {
        let parts = parts.join(&format!(",{newline}{inner}"));
        format!("{open}{newline}{inner}{parts}{newline}{indent}{close}")
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            let part =
                |(key, value): (&String, &Value)| format!("{}: {}", quoted(key), written(value, &inner, newline, unit));
            lines('{', map.iter().map(part).collect(), '}')
        }
        Value::Array(list) if !list.is_empty() => {
            lines('[', list.iter().map(|value| written(value, &inner, newline, unit)).collect(), ']')
        }
        other => other.to_string(),
    }
}

/// `value` on one line.
fn on_one_line(value: &Value) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let parts: Vec<_> =
                map.iter().map(|(key, value)| format!("{}: {}", quoted(key), on_one_line(value))).collect();
            format!("{{ {} }}", parts.join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(on_one_line).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn quoted(key: &str) -> String {
    Value::String(key.to_owned()).to_string()
}

struct Document<'a> {
    text: &'a str,
    root: Option<Node<'a>>,
    tokens: Vec<TokenAndRange<'a>>,
}

/// What a map or a list holds, as places.
struct Inside {
    /// With its brackets.
    range: Range,
    /// Its properties or elements.
    items: Vec<Range>,
}

impl<'a> Document<'a> {
    fn read(text: &'a str) -> Result<Self, Doubt> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &READ)
            .map_err(|error| Doubt::at(text, error.range().start, error.kind().to_string()))?;
        let tokens = parsed.tokens.unwrap_or_default();
        Ok(Self { text, root: parsed.value, tokens })
    }

    /// An empty text means an empty map.
    fn model(&self) -> Model {
        self.root.as_ref().map_or(Model::Map(Vec::new()), model)
    }

    fn comments(&self) -> impl Iterator<Item = Range> + '_ {
        let comment = |token: &Token<'_>| matches!(token, Token::CommentLine(_) | Token::CommentBlock(_));
        self.tokens.iter().filter(move |token| comment(&token.token)).map(|token| token.range)
    }

    fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// What one level is indented by: the blanks before the first thing in the root.
    fn indent_unit(&self) -> &'a str {
        let first = self.root.as_ref().and_then(|root| inside(root)?.items.first().copied());
        match first.map(|item| self.indent_at(item.start)) {
            Some(Some(blanks)) if !blanks.is_empty() => blanks,
            _ => INDENT,
        }
    }

    /// The blanks before `at` when nothing else stands before it on its line.
    fn indent_at(&self, at: usize) -> Option<&'a str> {
        let start = self.text[..at].rfind('\n')? + 1;
        let blanks = &self.text[start..at];
        blanks.chars().all(|c| c == ' ' || c == '\t').then_some(blanks)
    }

    /// The blanks at the beginning of the line that `at` is on.
    fn line_indent(&self, at: usize) -> &'a str {
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = &self.text[start..at];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// As deep as `path` leads: the value there and how many steps were gone.
    fn descend(&self, path: &[Step]) -> Result<Option<(&Node<'a>, usize)>, Doubt> {
        let Some(mut node) = self.root.as_ref() else { return Ok(None) };
        for (gone, step) in path.iter().enumerate() {
            let next = match (step, node) {
                (Step::Key(key), Node::Object(map)) => self.property(map, key, &path[..=gone])?,
                (Step::Index(index), Node::Array(list)) => list.elements.get(*index),
                _ => return Err(self.kind_of(node, &path[..gone])),
            };
            match next {
                Some(next) => node = next,
                None => return Ok(Some((node, gone))),
            }
        }
        Ok(Some((node, path.len())))
    }

    fn property<'n>(&self, map: &'n Object<'a>, key: &str, path: &[Step]) -> Result<Option<&'n Node<'a>>, Doubt> {
        let mut found = map.properties.iter().filter(|property| property.name.as_str() == key);
        let first = found.next();
        if let Some(second) = found.next() {
            return Err(Doubt::at(self.text, second.range.start, format!("{} is there twice", shown(path))));
        }
        Ok(first.map(|property| &property.value))
    }

    fn kind_of(&self, node: &Node<'_>, path: &[Step]) -> Doubt {
        let kind = match node {
            Node::Object(_) => "a map",
            Node::Array(_) => "a list",
            _ => "a single value",
        };
        Doubt::at(self.text, node.start(), format!("{} is {kind}", shown(path)))
    }

    /// Where the value at `path` stands, with its key.
    fn range(&self, path: &[Step]) -> Option<Range> {
        let (last, parent) = path.split_last()?;
        let (node, gone) = self.descend(parent).ok()??;
        if gone < parent.len() {
            return None;
        }
        match (last, node) {
            (Step::Key(key), Node::Object(map)) => {
                map.properties.iter().find(|property| property.name.as_str() == key).map(|property| property.range)
            }
            (Step::Index(index), Node::Array(list)) => list.elements.get(*index).map(Ranged::range),
            _ => None,
        }
    }

    fn write(&self, path: &[Step], value: &dyn Fn(&str) -> String) -> Result<Edited, Doubt> {
        let Some((node, gone)) = self.descend(path)? else { return self.begin(path, value) };
        if gone == path.len() {
            let raw = self.text[node.start()..node.end()].to_owned();
            let text = self.replaced(node.range(), &value(self.line_indent(node.start())));
            return Ok(Edited { text, undo: vec![Change::Write { at: path.to_vec(), raw }] });
        }
        let Some(Step::Key(_)) = path.get(gone) else { return Err(wrong_kind(path)) };
        let inside = inside(node).ok_or_else(|| wrong_kind(path))?;
        let text = self.insert(&inside, &|indent| self.nested(&path[gone..], indent, value))?;
        Ok(Edited { text, undo: vec![self.withdrawal(path, path.len() - gone - 1, &inside)] })
    }

    fn append(&self, path: &[Step], value: &Value) -> Result<Edited, Doubt> {
        let (newline, unit) = (self.newline(), self.indent_unit());
        let element = |indent: &str| written(value, indent, newline, unit);
        match self.descend(path)? {
            Some((node @ Node::Array(list), gone)) if gone == path.len() => {
                let inside = inside(node).ok_or_else(|| wrong_kind(path))?;
                let text = self.insert(&inside, &element)?;
                let mut at = path.to_vec();
                at.push(Step::Index(list.elements.len()));
                Ok(Edited { text, undo: vec![self.removal(&at, &inside)] })
            }
            Some((node, gone)) if gone == path.len() => Err(self.kind_of(node, path)),
            _ => {
                let list = Value::Array(vec![value.clone()]);
                let mut edited = self.write(path, &|indent| written(&list, indent, newline, unit))?;
                edited.undo = super::first_of_list(edited.undo);
                Ok(edited)
            }
        }
    }

    /// What takes back a value for which maps were made.
    fn withdrawal(&self, at: &[Step], made: usize, inside: &Inside) -> Change {
        match self.removal(at, inside) {
            Change::Remove { at, hollow } if made > 0 => Change::Withdraw { at, made, hollow },
            plain => plain,
        }
    }

    fn removal(&self, at: &[Step], inside: &Inside) -> Change {
        let whole = &self.text[inside.range.start..inside.range.end];
        Change::Remove { at: at.to_vec(), hollow: inside.items.is_empty().then(|| whole.to_owned()) }
    }

    /// The first value of a file that has none.
    fn begin(&self, path: &[Step], value: &dyn Fn(&str) -> String) -> Result<Edited, Doubt> {
        if self.tokens.iter().any(|token| !matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))) {
            return Err(Doubt::general("it has no value and is not empty"));
        }
        let Some(Step::Key(_)) = path.first() else { return Err(wrong_kind(path)) };
        let newline = self.newline();
        let gap = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { newline };
        let map = format!("{{{newline}{INDENT}{}{newline}}}", self.nested(path, INDENT, value));
        let hollow = Some(self.text.to_owned()).filter(|_| self.tokens.is_empty());
        let undo = vec![match path.len() - 1 {
            0 => Change::Remove { at: path.to_vec(), hollow },
            made => Change::Withdraw { at: path.to_vec(), made, hollow },
        }];
        Ok(Edited { text: format!("{}{gap}{map}{newline}", self.text), undo })
    }

    /// `"a": { "b": value }` for what is left of a path.
    fn nested(&self, path: &[Step], indent: &str, value: &dyn Fn(&str) -> String) -> String {
        let Some((Step::Key(key), rest)) = path.split_first() else { return value(indent) };
        if rest.is_empty() {
            return format!("{}: {}", quoted(key), value(indent));
        }
        let (newline, inner) = (self.newline(), format!("{indent}{}", self.indent_unit()));
        format!("{}: {{{newline}{inner}{}{newline}{indent}}}", quoted(key), self.nested(rest, &inner, value))
    }

    /// The text with one more item in a map or list, behind its last one and written like it.
    fn insert(&self, inside: &Inside, item: &dyn Fn(&str) -> String) -> Result<String, Doubt> {
        let (newline, start, end) = (self.newline(), inside.range.start, inside.range.end);
        let Some(last) = inside.items.last() else {
            // Comments in an empty map stay where they are, the item comes below them.
            let keep = self.last_before(end - 1);
            let several = self.text.contains('\n') || end - start == self.text.trim().len();
            let outer = self.line_indent(start);
            if !several {
                let item = flat(&item(""));
                return Ok(self.replaced(Range::new(keep, end - 1), &format!(" {item} ")));
            }
            let inner = format!("{outer}{}", self.indent_unit());
            let item = item(&inner);
            return Ok(self.replaced(Range::new(keep, end - 1), &format!("{newline}{inner}{item}{newline}{outer}")));
        };
        let comma = self.tokens.iter().find(|token| token.range.start >= last.end && !is_comment(token));
        let comma = comma.filter(|token| matches!(token.token, Token::Comma)).map(|token| token.range);
        let place = self.end_of_line(comma.map_or(last.end, |comma| comma.end), end - 1);
        let line_comment = self.text[place..].starts_with(['\n', '\r']) && self.comments().any(|at| at.end == place);
        let (gap, item) = match self.indent_at(last.start) {
            Some(indent) => (format!("{newline}{indent}"), item(indent)),
            // What comes behind a line comment needs a line of its own.
            None if line_comment => {
                let indent = self.line_indent(last.start);
                (format!("{newline}{indent}"), item(indent))
            }
            // On the line of what is before it: as far from it as the last one was.
            None if inside.items.len() > 1 => {
                let before = self.last_before(last.start);
                (self.text[before..last.start].to_owned(), flat(&item("")))
            }
            None => (" ".to_owned(), flat(&item(""))),
        };
        let mut text = self.text.to_owned();
        let after = if comma.is_some() { "," } else { "" };
        text.insert_str(place, &format!("{gap}{item}{after}"));
        if comma.is_none() {
            text.insert(last.end, ',');
        }
        Ok(text)
    }

    /// The end of the last comment on the line of `from`, when nothing else follows there; else `from`.
    fn end_of_line(&self, from: usize, limit: usize) -> usize {
        let line = self.text[from..limit].find('\n').map_or(limit, |length| from + length);
        let on_it: Vec<_> =
            self.tokens.iter().filter(|token| token.range.start >= from && token.range.start < line).collect();
        match on_it.last() {
            Some(last) if on_it.iter().all(|token| is_comment(token)) && last.range.end <= limit => last.range.end,
            _ => from,
        }
    }

    /// The end of the last token or comment before `at`.
    fn last_before(&self, at: usize) -> usize {
        self.tokens.iter().take_while(|token| token.range.end <= at).last().map_or(0, |token| token.range.end)
    }

    fn remove(&self, path: &[Step], hollow: Option<&str>) -> Result<Edited, Doubt> {
        let Some((last, parent)) = path.split_last() else { return Err(wrong_kind(path)) };
        let Some((_, gone)) = self.descend(path)? else { return Ok(unchanged(self.text)) };
        let (Some(item), Some((node, _))) = (self.range(path), self.descend(parent)?) else {
            return Ok(unchanged(self.text));
        };
        if gone < path.len() {
            return Ok(unchanged(self.text));
        }
        let raw = &self.text[item.start..item.end];
        let undo = match (last, node) {
            (Step::Key(key), Node::Object(map)) => {
                let value = map.properties.iter().find(|property| property.name.as_str() == key);
                let raw = value.map_or(raw, |property| &self.text[property.value.start()..property.value.end()]);
                vec![Change::Write { at: path.to_vec(), raw: raw.to_owned() }]
            }
            _ => Vec::new(),
        };
        let inside = inside(node).ok_or_else(|| wrong_kind(path))?;
        let text = if inside.items.len() == 1 {
            self.emptied(&inside, item, parent.is_empty(), hollow)
        } else {
            self.without(&inside, item)
        };
        Ok(Edited { text, undo })
    }

    /// The text with the only item of a map or list gone.
    fn emptied(&self, inside: &Inside, item: Range, root: bool, hollow: Option<&str>) -> String {
        let within = |at: &Range| at.start > inside.range.start && at.end < inside.range.end;
        let mut comments = self.comments().filter(|at| within(at) && (at.end <= item.start || at.start >= item.end));
        let own =
            hollow.is_some_and(|hollow| comments.by_ref().all(|at| hollow.contains(&self.text[at.start..at.end])));
        match hollow {
            // The file itself was empty, and nothing else has come into it.
            Some(hollow) if root && own && !hollow.starts_with(['{', '[']) && self.comments().count() == 0 => {
                hollow.to_owned()
            }
            Some(hollow) if own && hollow.starts_with(['{', '[']) => self.replaced(inside.range, hollow),
            _ => {
                let close = inside.range.end - 1;
                if !self.comments().any(|at| within(&at) && (at.end <= item.start || at.start >= item.end)) {
                    return self.replaced(Range::new(inside.range.start + 1, close), "");
                }
                let after = self.tokens.iter().find(|token| token.range.start >= item.end && !is_comment(token));
                let mut text = self.text.to_owned();
                if let Some(comma) = after.filter(|token| matches!(token.token, Token::Comma)) {
                    text.replace_range(comma.range.start..comma.range.end, "");
                }
                text.replace_range(item.start..item.end, "");
                text
            }
        }
    }

    /// The text with one of several items gone, and one comma with it.
    fn without(&self, inside: &Inside, item: Range) -> String {
        let from = self.last_before(item.start);
        let comma = |token: &&TokenAndRange<'_>| matches!(token.token, Token::Comma);
        let next = self.tokens.iter().find(|token| token.range.start >= item.end && !is_comment(token)).filter(comma);
        if let Some(next) = next {
            // A comment between the item and its comma stays.
            let mut text = self.text.to_owned();
            text.replace_range(next.range.start..next.range.end, "");
            let rest = if next.range.start == item.end { next.range.end } else { item.end };
            text.replace_range(self.after_line_comment(from, rest)..item.end, "");
            return text;
        }
        let mut text = self.text.to_owned();
        text.replace_range(self.after_line_comment(from, item.end)..item.end, "");
        let before = self.tokens.iter().rev().find(|token| token.range.end <= item.start && !is_comment(token));
        if let Some(before) = before.filter(comma).filter(|_| inside.items.len() > 1) {
            text.replace_range(before.range.start..before.range.end, "");
        }
        text
    }

    /// From where to cut what stands behind the comment that ends at `from`, when `rest` follows the cut: the end of
    /// its line belongs to a line comment, or the rest would become a part of it.
    fn after_line_comment(&self, from: usize, rest: usize) -> usize {
        let line = |token: &TokenAndRange<'_>| token.range.end == from && matches!(token.token, Token::CommentLine(_));
        if !self.tokens.iter().any(line) || self.text[rest..].starts_with(['\n', '\r']) {
            return from;
        }
        self.text[from..].find('\n').map_or(from, |length| from + length + 1)
    }

    fn replaced(&self, range: Range, with: &str) -> String {
        let mut text = self.text.to_owned();
        text.replace_range(range.start..range.end, with);
        text
    }
}

fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

/// An item that was written over several lines, on one.
fn flat(item: &str) -> String {
    // It is ours, so it is read without doubt: a property or a value.
    match serde_json::from_str::<Value>(item) {
        Ok(value) => on_one_line(&value),
        Err(_) => match serde_json::from_str::<Value>(&format!("{{{item}}}")) {
            Ok(Value::Object(map)) => {
                let parts: Vec<_> =
                    map.iter().map(|(key, value)| format!("{}: {}", quoted(key), on_one_line(value))).collect();
                parts.join(", ")
            }
            _ => item.to_owned(),
        },
    }
}

fn inside(node: &Node<'_>) -> Option<Inside> {
    let (range, items) = match node {
        Node::Object(map) => (map.range, map.properties.iter().map(|property| property.range).collect()),
        Node::Array(list) => (list.range, list.elements.iter().map(Ranged::range).collect()),
        _ => return None,
    };
    Some(Inside { range, items })
}

fn model(node: &Node<'_>) -> Model {
    match node {
        Node::StringLit(text) => Model::Text(text.value.clone().into_owned()),
        Node::NumberLit(number) => Model::Number(number.value.to_owned()),
        Node::BooleanLit(yes) => Model::Bool(yes.value),
        Node::Object(map) => {
            Model::Map(map.properties.iter().map(|p| (p.name.as_str().to_owned(), model(&p.value))).collect())
        }
        Node::Array(list) => Model::List(list.elements.iter().map(model).collect()),
        Node::NullKeyword(_) => Model::Null,
    }
}
