//! Names that the person gave to sessions: our own file, never the agents'. The commands and the tabs call it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sys::Failure;
use sys::files::{self, Mode};

/// The longest file that is read, bytes.
const MAX: usize = 16 << 20;

/// `agent:id` to the name.
pub type Aliases = BTreeMap<String, String>;

fn file(data: &Path) -> PathBuf {
    data.join("session-aliases.json")
}

/// All names.
///
/// # Errors
/// When the file is there and cannot be read or understood.
pub fn load(data: &Path) -> Result<Aliases, Failure> {
    let path = file(data);
    files::read_bounded(&path, MAX)?.map_or_else(|| Ok(Aliases::new()), |bytes| parse(&path, &bytes))
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Aliases, Failure> {
    serde_json::from_slice(bytes).map_err(|error| {
        Failure::new(format!("could not understand {}", path.display()))
            .cause(error)
            .hint("nothing was written; mend the file or move it away")
    })
}

/// As [`set`], for a name that the person typed.
///
/// # Errors
/// As [`set`]; also when the name has no words or control characters, or another session has it.
pub fn give(data: &Path, key: &str, name: Option<&str>) -> Result<(), Failure> {
    if let Some(name) = name {
        if name.trim().is_empty() || sys::text::clean(name) != name {
            return Err(Failure::usage("a name has words and no control characters"));
        }
        if let Some((other, _)) = load(data)?.iter().find(|(other, known)| *other != key && *known == name) {
            let (name, other) = (sys::text::clean(name), sys::text::clean(other));
            return Err(Failure::new(format!("{name} is the name of {other} already")));
        }
    }
    set(data, key, name)
}

/// Gives `key` (`agent:id`) this name, or takes it away.
///
/// # Errors
/// When the file cannot be read, understood or written; it is as before then.
pub fn set(data: &Path, key: &str, name: Option<&str>) -> Result<(), Failure> {
    let path = file(data);
    files::make_dir(data)?;
    files::update(&path, Mode::Normal, |old| {
        let mut aliases = old.map_or_else(|| Ok(Aliases::new()), |bytes| parse(&path, bytes))?;
        let before = aliases.clone();
        match name {
            Some(name) => drop(aliases.insert(key.to_owned(), name.to_owned())),
            None => drop(aliases.remove(key)),
        }
        let text = serde_json::to_string_pretty(&aliases);
        let text = text.map_err(|error| Failure::new("could not write the names").cause(error))?;
        Ok((aliases != before).then(|| format!("{text}\n").into_bytes()))
    })
    .map(drop)
}
