//! Settings of `config.yaml` that the program itself writes: the theme and which tabs are hidden. Everything else
//! in the file stays byte for byte; an edit that would change anything else is refused. The driver calls it.

use std::path::Path;
use std::str::FromStr;

use serde_json::{Map, Value};
use sys::{Failure, files};
use yaml_edit::{Document, Mapping, Sequence};

use crate::config;

/// Remembers the theme.
///
/// # Errors
/// When the file cannot be read, understood or written; it is as before then.
pub fn write_theme(path: &Path, id: &str) -> Result<(), Failure> {
    edit(path, &["theme"], &|root| {
        root.set("theme", id);
    })
}

/// Hides or shows a plugin's tab.
///
/// # Errors
/// When the file cannot be read, understood or written; it is as before then.
pub fn write_hidden(path: &Path, id: &str, hidden: bool) -> Result<(), Failure> {
    edit(path, &["tui", "hidden"], &|root| set_hidden(root, id, hidden))
}

fn set_hidden(root: &Mapping, id: &str, hidden: bool) {
    if root.get_mapping("tui").is_none() {
        root.set("tui", Mapping::new());
    }
    root.modify_mapping("tui", |tui| match tui.get_sequence("hidden") {
        Some(list) => {
            let at = list.values().position(|value| value.as_scalar().is_some_and(|scalar| scalar.as_string() == id));
            match (at, hidden) {
                (None, true) => list.push(id),
                (Some(at), false) => {
                    list.remove(at);
                }
                (Some(_), true) | (None, false) => {}
            }
        }
        None if hidden => {
            let list = Sequence::new_flow();
            list.push(id);
            tui.set("hidden", list);
        }
        None => {}
    });
}

/// A locked read-modify-write of one setting, verified by reading the result again.
fn edit(path: &Path, key: &[&str], change: &dyn Fn(&Mapping)) -> Result<(), Failure> {
    let refuse = |why: String| {
        Failure::new(format!("could not change {} in {}: {why}", key.join("."), path.display()))
            .hint("nothing was written; change it in the file")
    };
    files::update(path, files::Mode::Normal, |old| {
        let old = match old {
            None => "",
            Some(bytes) => std::str::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8".to_owned()))?,
        };
        planned(old, key, change).map(|new| new.map(String::into_bytes)).map_err(refuse)
    })
    .map(drop)
}

/// The new text, or `None` when nothing changes.
fn planned(old: &str, key: &[&str], change: &dyn Fn(&Mapping)) -> Result<Option<String>, String> {
    let before = config::parse_sections(old)?;
    let new = if before.is_empty() {
        // Nothing but words, if anything: ours goes below them.
        let gap = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
        format!("{old}{gap}{}", changed(&Document::new_mapping(), change)?)
    } else {
        changed(&Document::from_str(old).map_err(|error| error.to_string())?, change)?
    };
    let after = config::parse_sections(&new).map_err(|why| format!("the edit would break it ({why})"))?;
    if without(before.clone(), key) != without(after.clone(), key) {
        return Err("the edit would change something else".to_owned());
    }
    Ok((before != after).then_some(new))
}

fn changed(document: &Document, change: &dyn Fn(&Mapping)) -> Result<String, String> {
    change(&document.as_mapping().ok_or("its root is no map")?);
    let mut text = document.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// `sections` without what is at `key`; a map that is empty then is as good as none.
fn without(mut sections: Map<String, Value>, key: &[&str]) -> Map<String, Value> {
    match key {
        [] => {}
        [last] => {
            sections.shift_remove(*last);
        }
        [first, rest @ ..] => {
            if let Some(Value::Object(inner)) = sections.shift_remove(*first) {
                let inner = without(inner, rest);
                if !inner.is_empty() {
                    sections.insert((*first).to_owned(), Value::Object(inner));
                }
            }
        }
    }
    sections.sort_keys();
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(old: &str, id: &str, hidden: bool) -> Result<Option<String>, String> {
        planned(old, &["tui", "hidden"], &|root| set_hidden(root, id, hidden))
    }

    fn theme(old: &str, id: &str) -> Result<Option<String>, String> {
        planned(old, &["theme"], &|root| root.set("theme", id))
    }

    #[test]
    fn every_other_byte_stays() {
        let old = "# mine\ntheme: midnight   # dark\n\ntui:\n    hidden: [ a,  b ] # two\n    splash: false\nhello: {greeting: 'hi'}\n";
        assert_eq!(theme(old, "daylight").unwrap().unwrap(), old.replace("midnight ", "daylight "));
        let new = hide(old, "c", true).unwrap().unwrap();
        let others =
            |text: &str| text.lines().filter(|line| !line.contains("hidden")).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(others(&new), others(old));
        assert_eq!(config::Config::parse(&new).unwrap().tui.hidden, ["a", "b", "c"]);
        let back = hide(&new, "c", false).unwrap().unwrap();
        assert_eq!(config::Config::parse(&back).unwrap(), config::Config::parse(old).unwrap());
        assert_eq!(hide(old, "a", true).unwrap(), None);
    }

    #[test]
    fn an_empty_file_and_a_missing_section_get_one() {
        for old in ["", "hello:\n  a: 1\n", "# only words\n", "tui:\n  mouse: true\n"] {
            let new = hide(old, "x", true).unwrap().unwrap();
            assert_eq!(config::Config::parse(&new).unwrap().tui.hidden, ["x"], "{old:?} -> {new:?}");
            let lines = old.lines().filter(|line| !line.trim().is_empty());
            assert!(lines.clone().all(|line| new.contains(line)), "{old:?} -> {new:?}");
        }
        assert_eq!(
            config::Config::parse(&theme("", "daylight").unwrap().unwrap()).unwrap().theme.as_deref(),
            Some("daylight")
        );
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        assert!(theme("a: [1\n", "x").is_err());
        assert!(theme("- list\n", "x").is_err());
    }
}
