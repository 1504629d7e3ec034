//! TOML, edited by the places that its parser tells: a key gets a line of its own below its table's last one, a table
//! goes to the end of the file, and taking them away leaves what was there before. A removed line takes its trailing
//! comment along only when there is none; comments always stay.

mod places;
mod written;

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Array, Document, InlineTable, Item, Key, Table, Value as Node};

use self::places::{first_key_start, inline_ends, last_inline_end, last_value_end, own_lines, table_model};
use self::written::{New, inline, key, key_of, nested, word};
use super::model::{Model, same, wrong_kind};
use super::{Change, Doubt, Edited, Step, shown};

pub(super) fn apply(text: &str, change: &Change) -> Result<Edited, Doubt> {
    let before = Text::read(text)?;
    let edited = match change {
        Change::Set { at, value } => match before.model().get(at) {
            Some(old) if same(old, &Model::from(value)) => before.unchanged(),
            _ => before.set(at, value)?,
        },
        Change::Write { at, raw } => before.write(at, raw)?,
        Change::Append { at, value } => before.append(at, value)?,
        Change::Remove { at, hollow } => before.remove(at, hollow.as_deref())?,
        Change::Withdraw { at, .. } => before.remove(at, None)?,
    };
    verify(&before, change, &edited.text)?;
    Ok(edited)
}

fn verify(before: &Text<'_>, change: &Change, text: &str) -> Result<(), Doubt> {
    let lost = |why: &str| Doubt::general(format!("the edit was given up: {why}"));
    let mut wanted = before.model();
    match change {
        Change::Set { at, value } => wanted.set(at, value.into())?,
        Change::Write { at, raw } => wanted.set(at, raw_model(raw)?)?,
        Change::Append { at, value } => wanted.append(at, value.into())?,
        Change::Remove { at, .. } | Change::Withdraw { at, .. } => {
            wanted.remove(at);
        }
    }
    let after = Text::read(text).map_err(|doubt| lost(&doubt.to_string()))?;
    // A table that only its own parts made known goes with the last of them.
    if !same(&after.model().without_hollows(), &wanted.without_hollows()) {
        return Err(lost("something else would have changed"));
    }
    Ok(())
}

/// What the text means.
pub(super) fn model_of(text: &str) -> Result<Model, Doubt> {
    Text::read(text).map(|document| document.model())
}

fn raw_model(raw: &str) -> Result<Model, Doubt> {
    let text = format!("v = {raw}\n");
    let model = Text::read(&text)?.model();
    model.get(&[Step::from("v")]).cloned().ok_or_else(|| Doubt::general("the old value cannot be read any more"))
}

struct Text<'a> {
    text: &'a str,
    document: Document<&'a str>,
}

/// What is at the end of a path.
enum Place<'d> {
    Table(&'d Table),
    Tables(&'d toml_edit::ArrayOfTables),
    Inline(&'d InlineTable),
    Array(&'d Array),
    Value(&'d Node),
}

impl<'d> Place<'d> {
    fn of(item: &'d Item) -> Option<Self> {
        match item {
            Item::None => None,
            Item::Table(table) => Some(Self::Table(table)),
            Item::ArrayOfTables(tables) => Some(Self::Tables(tables)),
            Item::Value(value) => Some(Self::of_value(value)),
        }
    }

    fn of_value(value: &'d Node) -> Self {
        match value {
            Node::InlineTable(table) => Self::Inline(table),
            Node::Array(array) => Self::Array(array),
            other => Self::Value(other),
        }
    }

    fn step(&self, step: &Step) -> Option<Place<'d>> {
        match (step, self) {
            (Step::Key(key), Self::Table(table)) => Place::of(table.get(key)?),
            (Step::Key(key), Self::Inline(table)) => Some(Place::of_value(table.get(key)?)),
            (Step::Index(index), Self::Array(array)) => Some(Place::of_value(array.get(*index)?)),
            (Step::Index(index), Self::Tables(tables)) => Some(Place::Table(tables.get(*index)?)),
            _ => None,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Table(_) | Self::Inline(_) => "a table",
            Self::Tables(_) | Self::Array(_) => "a list",
            Self::Value(_) => "a single value",
        }
    }
}

impl<'a> Text<'a> {
    fn read(text: &'a str) -> Result<Self, Doubt> {
        let document = Document::parse(text).map_err(|error| {
            let why = error.message().lines().next().unwrap_or("it is not TOML").to_owned();
            Doubt::at(text, error.span().map_or(0, |span| span.start), why)
        })?;
        Ok(Self { text, document })
    }

    fn unchanged(&self) -> Edited {
        Edited { text: self.text.to_owned(), undo: Vec::new() }
    }

    fn model(&self) -> Model {
        table_model(self.document.as_table())
    }

    fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// As deep as `path` leads.
    fn descend(&self, path: &[Step]) -> Result<(Place<'_>, usize), Doubt> {
        let mut place = Place::Table(self.document.as_table());
        for (gone, step) in path.iter().enumerate() {
            match place.step(step) {
                Some(next) => place = next,
                None if matches!((step, &place), (Step::Key(_), Place::Table(_) | Place::Inline(_))) => {
                    return Ok((place, gone));
                }
                None if matches!((step, &place), (Step::Index(_), Place::Tables(_) | Place::Array(_))) => {
                    return Ok((place, gone));
                }
                None => {
                    return Err(Doubt::general(format!("{} is {}", shown(&path[..gone]), place.kind())));
                }
            }
        }
        Ok((place, path.len()))
    }

    fn set(&self, path: &[Step], value: &Value) -> Result<Edited, Doubt> {
        let (place, gone) = self.descend(path)?;
        if gone < path.len() {
            return self.put(path, gone, &place, &New::of(value)?);
        }
        match place {
            Place::Table(_) | Place::Tables(_) => {
                let Value::Object(map) = value else {
                    return Err(Doubt::general(format!("{} is {}", shown(path), place.kind())));
                };
                self.set_each(path, map)
            }
            _ => self.write(path, &inline(value)?),
        }
    }

    /// A table that is there becomes `map`, key by key.
    fn set_each(&self, path: &[Step], map: &serde_json::Map<String, Value>) -> Result<Edited, Doubt> {
        let Some(Model::Map(old)) = self.model().get(path).cloned() else { return Err(wrong_kind(path)) };
        let below = |key: &str| {
            let mut at = path.to_vec();
            at.push(Step::from(key));
            at
        };
        let gone = old.iter().filter(|(key, _)| !map.contains_key(key));
        let mut changes: Vec<_> = gone.map(|(key, _)| Change::Remove { at: below(key), hollow: None }).collect();
        changes.extend(map.iter().map(|(key, value)| Change::Set { at: below(key), value: value.clone() }));
        super::apply(super::Format::Toml, self.text, &changes)
    }

    /// The value at `path` is written as `raw`.
    fn write(&self, path: &[Step], raw: &str) -> Result<Edited, Doubt> {
        let (place, gone) = self.descend(path)?;
        if gone < path.len() {
            return self.put(path, gone, &place, &New::Raw(raw.to_owned()));
        }
        let span = match &place {
            Place::Value(value) => value.span(),
            Place::Inline(table) => table.span(),
            Place::Array(array) => array.span(),
            Place::Table(_) | Place::Tables(_) => None,
        };
        let span = span.ok_or_else(|| Doubt::general(format!("{} is {}", shown(path), place.kind())))?;
        let old = self.text[span.clone()].to_owned();
        let undo = vec![Change::Write { at: path.to_vec(), raw: old }];
        Ok(Edited { text: self.replaced(span, raw), undo })
    }

    /// A new value below what is there at `path[..gone]`.
    fn put(&self, path: &[Step], gone: usize, place: &Place<'_>, new: &New) -> Result<Edited, Doubt> {
        let rest: Option<Vec<&str>> = path[gone..].iter().map(key_of).collect();
        let (Some(rest), Some((first, more))) = (rest, path[gone..].split_first()) else {
            return Err(wrong_kind(path));
        };
        let removal = |hollow: Option<String>| match path.len() - gone - 1 {
            0 => vec![Change::Remove { at: path.to_vec(), hollow }],
            made => vec![Change::Withdraw { at: path.to_vec(), made, hollow }],
        };
        match place {
            Place::Inline(table) => {
                let item = format!("{} = {}", key(first), nested(more, &new.inline()));
                let (text, hollow) = self.grow_inline(table, &item)?;
                Ok(Edited { text, undo: removal(hollow) })
            }
            Place::Table(table) if table.is_dotted() || more.is_empty() && !new.is_table() && !table.is_implicit() => {
                let above = self.depth_of_header(&path[..gone]);
                let prefix: String = path[above..gone].iter().map(|step| format!("{}.", key(step))).collect();
                let line = format!("{prefix}{} = {}", key(first), nested(more, &new.inline()));
                Ok(Edited { text: self.add_line(table, path, above, &line), undo: removal(None) })
            }
            Place::Table(_) => {
                let (header, lines) = match new {
                    New::Table(map) => (path.to_vec(), map.iter().map(|(k, v)| format!("{} = {v}", word(k))).collect()),
                    New::Raw(raw) => {
                        let (last, above) = path.split_last().ok_or_else(|| wrong_kind(path))?;
                        (above.to_vec(), vec![format!("{} = {raw}", key(last))])
                    }
                };
                let Some(names) = header.iter().map(key_of).collect::<Option<Vec<_>>>() else {
                    return Err(Doubt::general(format!("{} is in a list of tables", shown(path))));
                };
                drop(rest);
                let names: Vec<_> = names.into_iter().map(word).collect();
                let (text, gap) = self.at_the_end(&format!("[{}]", names.join(".")), &lines);
                Ok(Edited { text, undo: removal(Some(gap)) })
            }
            _ => Err(wrong_kind(path)),
        }
    }

    /// How many steps of `path` the header names that its last table's lines stand below.
    fn depth_of_header(&self, path: &[Step]) -> usize {
        (0..=path.len())
            .rev()
            .find(|depth| match self.descend(&path[..*depth]) {
                Ok((Place::Table(table), gone)) => gone == *depth && !table.is_dotted(),
                _ => true,
            })
            .unwrap_or(0)
    }

    /// One more line in a table, below its last one.
    fn add_line(&self, table: &Table, path: &[Step], above: usize, line: &str) -> String {
        let newline = self.newline();
        let header = match self.descend(&path[..above]) {
            Ok((Place::Table(header), _)) => header,
            _ => table,
        };
        let last = last_value_end(table).or_else(|| last_value_end(header));
        let root = above == 0;
        let place = last.or_else(|| header.span().filter(|_| !root).map(|span| span.end));
        let Some(place) = place else {
            // A root without values: before the first table, or below all comments.
            if header.iter().next().is_some() {
                return format!("{line}{newline}{}", self.text);
            }
            let gap = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { newline };
            let end = if gap.is_empty() { newline } else { "" };
            return format!("{}{gap}{line}{end}", self.text);
        };
        let first = first_key_start(header).filter(|_| last.is_some());
        let indent = first.map_or("", |at| self.line_indent(at));
        let end = self.line_end(place);
        let mut text = self.text.to_owned();
        if self.text[..end].ends_with('\n') {
            text.insert_str(end, &format!("{indent}{line}{newline}"));
        } else {
            text.insert_str(end, &format!("{newline}{indent}{line}"));
        }
        text
    }

    /// A new table below everything, and the gap before it.
    fn at_the_end(&self, header: &str, lines: &[String]) -> (String, String) {
        let newline = self.newline();
        let ended = self.text.is_empty() || self.text.ends_with('\n');
        let gap = match (self.text.trim().is_empty(), ended) {
            (true, true) => String::new(),
            (_, true) => newline.to_owned(),
            (_, false) => newline.repeat(2),
        };
        let mut body = vec![header.to_owned()];
        body.extend_from_slice(lines);
        let end = if ended { newline } else { "" };
        (format!("{}{gap}{}{end}", self.text, body.join(newline)), gap)
    }

    /// One more pair in an inline table; how it was written when it had none.
    fn grow_inline(&self, table: &InlineTable, item: &str) -> Result<(String, Option<String>), Doubt> {
        let span = table.span().ok_or_else(|| Doubt::general("an inline table has no place"))?;
        match last_inline_end(table) {
            Some(end) => {
                let mut text = self.text.to_owned();
                text.insert_str(end, &format!(", {item}"));
                Ok((text, None))
            }
            None => Ok((self.replaced(span.clone(), &format!("{{ {item} }}")), Some(self.text[span].to_owned()))),
        }
    }

    fn append(&self, path: &[Step], value: &Value) -> Result<Edited, Doubt> {
        let (place, gone) = self.descend(path)?;
        if gone < path.len() {
            let mut edited = self.put(path, gone, &place, &New::Raw(format!("[{}]", inline(value)?)))?;
            edited.undo = super::first_of_list(edited.undo);
            return Ok(edited);
        }
        let undo = |index: usize, hollow: Option<String>| {
            let mut at = path.to_vec();
            at.push(Step::Index(index));
            vec![Change::Remove { at, hollow }]
        };
        match place {
            Place::Array(array) => {
                let (text, hollow) = self.grow_array(array, &inline(value)?)?;
                Ok(Edited { text, undo: undo(array.len(), hollow) })
            }
            Place::Tables(tables) => {
                let (New::Table(map), Some(names)) =
                    (New::of(value)?, path.iter().map(key_of).collect::<Option<Vec<_>>>())
                else {
                    return Err(wrong_kind(path));
                };
                let names: Vec<_> = names.into_iter().map(word).collect();
                let lines: Vec<_> = map.iter().map(|(k, v)| format!("{} = {v}", word(k))).collect();
                let (text, gap) = self.at_the_end(&format!("[[{}]]", names.join(".")), &lines);
                Ok(Edited { text, undo: undo(tables.len(), Some(gap)) })
            }
            _ => Err(wrong_kind(path)),
        }
    }

    fn grow_array(&self, array: &Array, item: &str) -> Result<(String, Option<String>), Doubt> {
        let span = array.span().ok_or_else(|| Doubt::general("a list has no place"))?;
        let Some(last) = array.iter().last().and_then(Node::span) else {
            let hollow = self.text[span.clone()].to_owned();
            if hollow.contains('#') {
                return Err(Doubt::at(self.text, span.start, "an empty list with comments in it is not edited"));
            }
            return Ok((self.replaced(span, &format!("[{item}]")), Some(hollow)));
        };
        let newline = self.newline();
        let comma = self.next_comma(last.end, span.end);
        let own_line = self.text[..last.start].rfind('\n').filter(|at| self.text[at + 1..last.start].trim().is_empty());
        let mut text = self.text.to_owned();
        match own_line {
            Some(_) => {
                let line = format!("{newline}{}{item}", self.line_indent(last.start));
                let from = comma.map_or(last.end, |at| at + 1);
                // Behind a comment on the same line, if there is one.
                let (end, _) = self.last_word(from, self.line_end(from).min(span.end - 1));
                let after = if comma.is_some() { "," } else { "" };
                text.insert_str(end, &format!("{line}{after}"));
                if comma.is_none() {
                    text.insert(last.end, ',');
                }
            }
            None if comma.is_some() => {
                let at = comma.unwrap_or(last.end) + 1;
                text.insert_str(at, &format!(" {item},"));
            }
            None => text.insert_str(last.end, &format!(", {item}")),
        }
        Ok((text, None))
    }

    /// The comma behind a value, over blanks and comments.
    fn next_comma(&self, from: usize, limit: usize) -> Option<usize> {
        let mut at = from;
        let bytes = self.text.as_bytes();
        while at < limit {
            match bytes[at] {
                b',' => return Some(at),
                b'#' => at += self.text[at..].find('\n').unwrap_or(limit - at),
                b' ' | b'\t' | b'\r' | b'\n' => at += 1,
                _ => return None,
            }
        }
        None
    }

    fn remove(&self, path: &[Step], hollow: Option<&str>) -> Result<Edited, Doubt> {
        let Some((last, above)) = path.split_last() else { return Err(wrong_kind(path)) };
        let (place, gone) = self.descend(path)?;
        if gone < path.len() {
            return Ok(self.unchanged());
        }
        let (parent, _) = self.descend(above)?;
        match (&parent, last) {
            (Place::Inline(table), Step::Key(name)) => self.out_of_inline(path, table, name, hollow),
            (Place::Array(array), Step::Index(index)) => self.out_of_array(array, *index, hollow),
            (Place::Table(table), Step::Key(name)) => {
                let undo = match &place {
                    Place::Table(_) | Place::Tables(_) => Vec::new(),
                    _ => self.raw_of(&place).map(|raw| Change::Write { at: path.to_vec(), raw }).into_iter().collect(),
                };
                let mut cuts = Vec::new();
                self.lines_of(table, name, &mut cuts);
                // With a gap of its own it came with a header, which goes when nothing else came below it.
                let alone = !matches!(&place, Place::Table(_) | Place::Tables(_)) && own_lines(table) == 1;
                if hollow.is_some() && alone && !table.is_dotted() {
                    cuts.extend(table.span().filter(|_| !above.is_empty()));
                }
                Ok(Edited { text: self.cut(cuts, hollow), undo })
            }
            (Place::Tables(tables), Step::Index(index)) => {
                let mut cuts = Vec::new();
                if let Some(table) = tables.get(*index) {
                    self.lines_of_table(table, &mut cuts);
                }
                Ok(Edited { text: self.cut(cuts, hollow), undo: Vec::new() })
            }
            _ => Err(wrong_kind(path)),
        }
    }

    fn raw_of(&self, place: &Place<'_>) -> Option<String> {
        let span = match place {
            Place::Value(value) => value.span(),
            Place::Inline(table) => table.span(),
            Place::Array(array) => array.span(),
            Place::Table(_) | Place::Tables(_) => None,
        };
        span.map(|span| self.text[span].to_owned())
    }

    /// From the beginning of a line's words to the end of the value, for everything that `name` stands for in `table`.
    fn lines_of(&self, table: &Table, name: &str, cuts: &mut Vec<Range<usize>>) {
        match table.get(name) {
            Some(Item::Value(value)) => {
                let start = table.key(name).and_then(Key::span).map(|span| self.line_words(span.start));
                if let (Some(start), Some(span)) = (start, value.span()) {
                    cuts.push(start..span.end);
                }
            }
            Some(Item::Table(inner)) => self.lines_of_table(inner, cuts),
            Some(Item::ArrayOfTables(tables)) => tables.iter().for_each(|table| self.lines_of_table(table, cuts)),
            Some(Item::None) | None => {}
        }
    }

    fn lines_of_table(&self, table: &Table, cuts: &mut Vec<Range<usize>>) {
        if !table.is_dotted() && !table.is_implicit() {
            cuts.extend(table.span());
        }
        for (name, _) in table {
            self.lines_of(table, name, cuts);
        }
    }

    /// The text without these; lines that are blank then go, comments stay.
    fn cut(&self, mut cuts: Vec<Range<usize>>, gap: Option<&str>) -> String {
        cuts.sort_by_key(|cut| cut.start);
        let mut text = self.text.to_owned();
        let first = cuts.first().map_or(0, |cut| cut.start);
        for cut in cuts.into_iter().rev() {
            let start = self.text[..cut.start].rfind('\n').map_or(0, |at| at + 1);
            let end = self.line_end(cut.end);
            let rest = self.text[cut.end..end].trim();
            if rest.is_empty() {
                text.replace_range(start..end, "");
            } else {
                let blanks = self.text[cut.end..end].len() - self.text[cut.end..end].trim_start().len();
                text.replace_range(cut.start..cut.end + blanks, "");
            }
        }
        let before = self.text[..first].rfind('\n').map_or(0, |at| at + 1);
        match gap.filter(|gap| !gap.is_empty() && text[..before].ends_with(gap)) {
            Some(gap) if text[before..].is_empty() || gap.trim().is_empty() => {
                text.replace_range(before - gap.len()..before, "");
                // The gap of a file without a last line end holds that end, too.
            }
            // The last line went and it had no end: the one before must not have one either.
            _ if !self.text.ends_with('\n') && text.ends_with('\n') && text.len() == before => {
                text.pop();
                if text.ends_with('\r') {
                    text.pop();
                }
            }
            _ => {}
        }
        text
    }

    fn out_of_inline(
        &self,
        path: &[Step],
        table: &InlineTable,
        name: &str,
        hollow: Option<&str>,
    ) -> Result<Edited, Doubt> {
        let span = table.span().ok_or_else(|| wrong_kind(path))?;
        if table.is_dotted() {
            return Err(Doubt::general(format!("{} is written with dots in an inline table", shown(path))));
        }
        let (key, value) = match (table.key(name).and_then(Key::span), table.get(name).and_then(Node::span)) {
            (Some(key), Some(value)) if value.start > key.end => (key, value),
            _ => return Err(Doubt::general(format!("{} is written with dots in an inline table", shown(path)))),
        };
        let undo = vec![Change::Write { at: path.to_vec(), raw: self.text[value.clone()].to_owned() }];
        let text = self.out_of(&span, key.start..value.end, &inline_ends(table), hollow.unwrap_or("{}"));
        Ok(Edited { text, undo })
    }

    fn out_of_array(&self, array: &Array, index: usize, hollow: Option<&str>) -> Result<Edited, Doubt> {
        let spans = (array.span(), array.get(index).and_then(Node::span));
        let (Some(span), Some(item)) = spans else { return Err(Doubt::general("a list has no place")) };
        let ends: Vec<_> = array.iter().filter_map(Node::span).map(|span| span.end).collect();
        let text = self.out_of(&span, item, &ends, hollow.unwrap_or("[]"));
        Ok(Edited { text, undo: Vec::new() })
    }

    /// The text with one of the items of what spans `whole` gone; `ends` says where each of them ends.
    fn out_of(&self, whole: &Range<usize>, item: Range<usize>, ends: &[usize], hollow: &str) -> String {
        if ends.len() == 1
            && !self.text[whole.start..item.start].contains('#')
            && !self.text[item.end..whole.end].contains('#')
        {
            return self.replaced(whole.clone(), hollow);
        }
        let before = ends.iter().copied().filter(|end| *end <= item.start).max();
        let (mut from, in_comment) = self.last_word(before.unwrap_or(whole.start + 1), item.start);
        let mut text = self.text.to_owned();
        let next = self.next_comma(item.end, whole.end);
        let rest = next.map_or(item.end, |comma| if comma == item.end { comma + 1 } else { item.end });
        if in_comment && !self.text[rest..].starts_with(['\n', '\r']) {
            from = self.text[from..].find('\n').map_or(from, |at| from + at + 1);
        }
        if let Some(comma) = next {
            text.replace_range(comma..=comma, "");
            text.replace_range(from..item.end, "");
            return text;
        }
        text.replace_range(from..item.end, "");
        if let Some(comma) = before.and_then(|before| self.next_comma(before, item.start)) {
            text.replace_range(comma..=comma, "");
            if from == comma + 1 {
                return self.replaced(comma..item.end, "");
            }
        }
        text
    }

    /// The end of the last comma or comment between two places where only such stand, and whether it is a comment.
    fn last_word(&self, from: usize, to: usize) -> (usize, bool) {
        let (mut last, mut at) = ((from, false), from);
        let bytes = self.text.as_bytes();
        while at < to {
            match bytes[at] {
                b'#' => {
                    at += self.text[at..to].find('\n').unwrap_or(to - at);
                    last = (self.text[..at].trim_end_matches('\r').len(), true);
                }
                b',' => {
                    at += 1;
                    last = (at, false);
                }
                _ => at += 1,
            }
        }
        last
    }

    fn replaced(&self, range: Range<usize>, with: &str) -> String {
        let mut text = self.text.to_owned();
        text.replace_range(range, with);
        text
    }

    /// The end of the line that `at` is on, its line end included.
    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |length| at + length + 1)
    }

    fn line_indent(&self, at: usize) -> &'a str {
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = &self.text[start..at];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Where the words of the line begin that `at` is on.
    fn line_words(&self, at: usize) -> usize {
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        start + self.line_indent(at).len()
    }
}
