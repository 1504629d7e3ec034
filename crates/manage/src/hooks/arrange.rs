//! One agent's file: which changes make it hold just what a hook wants there, in the hook's own elements, and what is to be
//! remembered of it. Everything else in the file stays as it is. Pure: texts in, changes out.

use std::path::PathBuf;

use agents::hooks::{fingerprint, list_of};
use serde_json::Value;
use sys::edit::{self, Change, Doubt, Format, Step};
use sys::{Failure, path};

use super::Seat;
use super::library::Want;
use super::planner::{Planned, Step as Told, Verb};
use super::record::Owned;
use crate::plan::Act;

/// The key that Copilot's files begin with.
const VERSION: &str = "version";

/// A file while its changes are gathered.
pub(super) struct Sheet {
    path: PathBuf,
    text: String,
    changes: Vec<Change>,
    was_there: bool,
    trash: bool,
}

impl Sheet {
    /// The file that we write into, as it is.
    pub(super) fn of(seat: &Seat) -> Result<Self, Failure> {
        let path = seat.file.clone();
        if let Some(why) = seat.ours().and_then(|look| look.unreadable.as_deref()) {
            return Err(Failure::new(format!("could not understand {}", path.display()))
                .cause(why)
                .hint("nothing was changed; mend the file first"));
        }
        let bytes = sys::files::read_bounded(&path, edit::LONGEST)?;
        let was_there = bytes.is_some();
        let text = String::from_utf8(bytes.unwrap_or_default())
            .map_err(|_| Failure::new(format!("could not understand {}", path.display())).cause("it is not UTF-8"))?;
        Ok(Self { path, text, changes: Vec::new(), was_there, trash: false })
    }

    /// The step that does it; `None` when nothing changes.
    pub(super) fn act(self) -> Option<Act> {
        if self.trash {
            // Through its links: the person's own stay.
            return Some(Act::Trash { path: sys::files::resolve(&self.path).unwrap_or(self.path) });
        }
        (!self.changes.is_empty()).then_some(Act::Edit {
            path: self.path,
            format: Format::Json,
            changes: self.changes,
            mode: sys::files::Mode::Normal,
        })
    }

    fn change(&mut self, change: Change, at: &[Step], owned: &mut Owned) -> Result<(), Failure> {
        let edited =
            edit::apply(Format::Json, &self.text, std::slice::from_ref(&change)).map_err(|doubt| self.doubt(&doubt))?;
        // What comes after has to be added at the end again.
        self.trash = false;
        if edited.text != self.text {
            owned.learn(at, &edited.undo);
            self.text = edited.text;
            self.changes.push(change);
        }
        Ok(())
    }

    fn doubt(&self, doubt: &Doubt) -> Failure {
        Failure::new(format!("could not change {}", self.path.display()))
            .cause(doubt)
            .hint("nothing was changed; mend the file first")
    }

    fn value(&self) -> Value {
        agents::hooks::parse(&self.text).unwrap_or_default()
    }

    fn list(&self, event: &str) -> Vec<Value> {
        let value = self.value();
        value.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Value::as_array).cloned().unwrap_or_default()
    }

    /// Where elements of `event` with this fingerprint are.
    pub(super) fn places(&self, event: &str, print: &str) -> Vec<usize> {
        let list = self.list(event);
        (0..list.len()).filter(|at| fingerprint(&list[*at]) == print).collect()
    }

    /// It has neither a version nor hooks of anybody.
    fn bare(&self) -> bool {
        let root = self.value();
        let hollow = |list: &Value| list.as_array().is_some_and(Vec::is_empty);
        let hooks = root.get("hooks").and_then(Value::as_object);
        root.get(VERSION).is_none() && hooks.is_none_or(|hooks| hooks.values().all(hollow))
    }

    fn append(&mut self, seat: &Seat, event: &str, value: &Value, owned: &mut Owned) -> Result<(), Failure> {
        if seat.rules.shape == agents::hooks::Shape::Flat && self.bare() {
            let at = path![VERSION];
            self.change(Change::Set { at: at.clone(), value: 1.into() }, &at, owned)?;
        }
        let at = list_of(event);
        self.change(Change::Append { at: at.clone(), value: value.clone() }, &at, owned)
    }

    /// Takes one element away, and what was made for it alone.
    pub(super) fn remove(&mut self, event: &str, index: usize, owned: &mut Owned) -> Result<(), Failure> {
        let list = list_of(event);
        let mut at = list.clone();
        at.push(index.into());
        let last = self.list(event).len() == 1;
        let value = self.value();
        let only = value.get("hooks").and_then(Value::as_object).is_some_and(|hooks| hooks.len() == 1);
        if last && owned.made_key(&list) {
            let hooks = path!["hooks"];
            at = if only && owned.made_key(&hooks) { hooks } else { list };
        }
        let hollow = at.split_last().and_then(|(_, container)| owned.hollow(container));
        self.change(Change::Remove { at: at.clone(), hollow }, &[], owned)?;
        if matches!(at.last(), Some(Step::Key(_))) {
            owned.unlearn(&at);
        }
        // A file that we made goes with the last thing in it, and so does the version that we gave to one.
        let (version, root) = (path![VERSION], self.value());
        let keys: Vec<&String> = root.as_object().map(|map| map.keys().collect()).unwrap_or_default();
        let hollow = |list: &Value| list.as_array().is_some_and(Vec::is_empty);
        let none = |hooks: &Value| hooks.as_object().is_some_and(|hooks| hooks.values().all(hollow));
        let versioned = owned.made_key(&version) && root.get("hooks").is_none_or(none);
        if self.was_there && owned.made_file && keys.iter().all(|key| *key == VERSION && versioned) {
            self.trash = true;
        } else if versioned {
            let hollow = owned.hollow(&[]);
            self.change(Change::Remove { at: version.clone(), hollow }, &[], owned)?;
            owned.unlearn(&version);
        }
        Ok(())
    }
}

/// Makes `sheet` hold `wants` of `hook`, and nothing else of it.
pub(super) fn arrange(
    seat: &Seat,
    sheet: &mut Sheet,
    owned: &mut Owned,
    hook: &str,
    wants: &[Want],
    planned: &mut Planned,
) -> Result<(), Failure> {
    if owned.entries.is_empty() {
        owned.begin(!sheet.was_there);
    }
    let mut tell = |verb: Verb, event: &str, matcher: Option<&str>, command: &str| {
        planned.steps.push(Told {
            agent: seat.agent,
            file: seat.file.clone(),
            verb,
            event: event.to_owned(),
            matcher: matcher.map(str::to_owned),
            command: command.to_owned(),
        });
    };
    let prints: Vec<String> = wants.iter().map(|want| fingerprint(&want.value)).collect();
    let mut pending = Vec::new();
    for (want, print) in wants.iter().zip(&prints) {
        let event = want.landing.event;
        let there = !sheet.places(event, print).is_empty();
        let verb = match (there, owned.has(hook, event, print), owned.shared(hook, event, print).is_some()) {
            (true, true, _) => Verb::Keep,
            (true, false, true) => {
                owned.add(hook, event, print);
                Verb::Share
            }
            (true, false, false) => Verb::Foreign,
            (false, ..) => {
                pending.push((want, print));
                continue;
            }
        };
        tell(verb, event, want.landing.matcher.as_deref(), &want.command);
    }
    // What we wrote for it and is not wanted any more.
    let wanted = |event: &str, print: &str| {
        wants.iter().zip(&prints).any(|(want, known)| want.landing.event == event && known == print)
    };
    let stale: Vec<_> = owned
        .entries
        .iter()
        .filter(|mine| mine.hook == hook && !wanted(&mine.event, &mine.fingerprint))
        .cloned()
        .collect();
    for mine in stale {
        owned.forget(hook, &mine.event, &mine.fingerprint);
        let shared = owned.shared(hook, &mine.event, &mine.fingerprint).map(str::to_owned);
        let Some(index) = sheet.places(&mine.event, &mine.fingerprint).first().copied() else {
            tell(Verb::Gone, &mine.event, None, "");
            continue;
        };
        let element = sheet.list(&mine.event).get(index).cloned().unwrap_or_default();
        let (matcher, command) = words(&element);
        if shared.is_some() {
            tell(Verb::Unshare, &mine.event, matcher.as_deref(), &command);
            continue;
        }
        if let Some(at) = pending.iter().position(|(want, _)| want.landing.event == mine.event) {
            // In its place: what comes behind it keeps its position, which Codex's trust goes by.
            let (want, print) = pending.remove(at);
            let mut place = list_of(&mine.event);
            place.push(index.into());
            sheet.change(Change::Set { at: place.clone(), value: want.value.clone() }, &place, owned)?;
            owned.add(hook, &mine.event, print);
            tell(Verb::Replace, &mine.event, want.landing.matcher.as_deref(), &want.command);
            continue;
        }
        let behind = sheet.list(&mine.event).len() > index + 1;
        sheet.remove(&mine.event, index, owned)?;
        tell(if behind { Verb::RemoveBefore } else { Verb::Remove }, &mine.event, matcher.as_deref(), &command);
    }
    for (want, print) in pending {
        sheet.append(seat, want.landing.event, &want.value, owned)?;
        owned.add(hook, want.landing.event, print);
        tell(Verb::Add, want.landing.event, want.landing.matcher.as_deref(), &want.command);
    }
    Ok(())
}

/// The matcher and the command of an element, for people.
pub(super) fn words(element: &Value) -> (Option<String>, String) {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let inner = element.get("hooks").and_then(|hooks| hooks.get(0)).unwrap_or(element);
    let command = text(inner, "command").or_else(|| text(inner, "bash"));
    let command = command.or_else(|| element.as_str().map(str::to_owned)).unwrap_or_default();
    (text(element, "matcher").filter(|matcher| !matcher.is_empty()), command)
}
