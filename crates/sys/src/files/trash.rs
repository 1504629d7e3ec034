//! The trash: deleted files and folders with where they were, until they are restored or 30 days have passed
//! (lazyagents.md, Safety). Things are moved, or copied where their owner removes them itself; a half-filled entry can
//! be emptied back to where it came from. It knows no agent. `delete` fills it, the commands list and restore.
//!
//! `<data>/trash/<time>-<name>/manifest.json` says what is in `files/`; it is written before each move, so that a killed
//! process leaves nothing that no manifest names.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{self as files, LOCK_WAIT, Lock, Mode, exact_path};
use crate::text::clean;
use crate::{Failure, clock};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How long an entry stays, days (lazyagents.md, Safety).
pub const DAYS: u32 = 30;

/// The version of the manifest.
const VERSION: u32 = 1;
const MANIFEST: &str = "manifest.json";
/// The longest manifest that is read.
const MAX: usize = 16 << 20;

/// The trash of one data folder.
#[derive(Clone, Debug)]
pub struct Trash {
    dir: PathBuf,
}

/// One deletion: `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The version of this form.
    pub version: u32,
    /// The entry's own id, the name of its folder.
    pub id: String,
    /// When it was deleted.
    pub at: Timestamp,
    /// What it was.
    pub what: What,
    /// False while it is being filled; a process that was killed leaves it so.
    pub whole: bool,
    /// The files and folders, in the order in which they were put here.
    pub items: Vec<Item>,
}

/// What was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct What {
    /// `session`, and whatever comes later.
    pub kind: String,
    /// What it is called by those who know it, such as `codex:<id>`.
    pub key: String,
    /// What it is about, for people. From outside: cleaned before it is shown.
    pub title: String,
}

/// One file, link or folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Where it was, absolute.
    #[serde(with = "exact_path")]
    pub path: PathBuf,
    /// Where it is, below the entry's folder.
    pub stored: PathBuf,
    /// What it is.
    pub kind: ItemKind,
    /// Permission bits; 0 where there are none.
    pub mode: u32,
    /// When it was last changed.
    pub modified: Timestamp,
    /// How many files it holds, itself included when it is one.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The command that brings it back, its name first, where a file at its place does not; the file's path comes last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<Vec<String>>,
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// A regular file.
    File,
    /// A folder with everything in it.
    Folder,
    /// A symbolic link, not what it points to.
    Link,
    /// A file that the agent wrote for this purpose; `path` is the folder to read it back in.
    Export,
}

impl Item {
    /// True when what is at its place now is what the manifest tells of.
    fn is_at_its_place(&self) -> bool {
        let modified = fs::symlink_metadata(&self.path).and_then(|metadata| metadata.modified()).ok();
        modified.and_then(|at| Timestamp::try_from(at).ok()) == Some(self.modified)
            && size(&self.path) == (self.files, self.bytes)
    }
}

/// What is in the trash, and what in it could not be understood.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The newest first.
    pub entries: Vec<Entry>,
    /// One line for each folder without a readable manifest.
    pub problems: Vec<String>,
}

/// Runs the command of an item that is brought back by one: its words, the folder to start it in, and the file that
/// becomes its last argument.
pub type Import<'a> = dyn FnMut(&[String], &Path, &Path) -> Result<(), Failure> + 'a;

impl Entry {
    /// Files in it.
    pub fn files(&self) -> u64 {
        self.items.iter().map(|item| item.files).sum()
    }

    /// Bytes in it.
    pub fn bytes(&self) -> u64 {
        self.items.iter().map(|item| item.bytes).sum()
    }
}

/// An entry that is being filled. What was moved goes back with [`Filling::undo`]; dropped, it stays as it is.
#[derive(Debug)]
pub struct Filling {
    folder: PathBuf,
    entry: Entry,
    _lock: Lock,
}

impl Trash {
    /// The trash in a data folder of ours; made when the first thing is put there.
    pub fn of(data: &Path) -> Self {
        Self { dir: data.join("trash") }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn lock(&self, what: &str) -> Result<Lock, Failure> {
        files::make_private_dir(&self.dir)?;
        Lock::acquire(&self.dir.join(".lock"), LOCK_WAIT, what)
    }

    /// Begins an entry. `name` becomes part of its id.
    ///
    /// # Errors
    /// When the folder cannot be made or another process holds the trash for too long.
    pub fn begin(&self, what: What, name: &str) -> Result<Filling, Failure> {
        let lock = self.lock("putting something into the trash")?;
        let at =
            Timestamp::try_from(clock::wall()).map_err(|error| Failure::new("could not tell the time").cause(error))?;
        let name: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(*c, '-' | '_')).take(60).collect();
        let stem = format!("{}-{name}", at.strftime("%Y%m%dT%H%M%S.%3fZ"));
        let mut id = stem.trim_end_matches('-').to_owned();
        for number in 2_u64.. {
            if fs::symlink_metadata(self.dir.join(&id)).is_err() {
                break;
            }
            id = format!("{stem}-{number}");
        }
        let folder = self.dir.join(&id);
        files::make_private_dir(&folder.join("files"))?;
        let entry = Entry { version: VERSION, id, at, what, whole: false, items: Vec::new() };
        let filling = Filling { folder, entry, _lock: lock };
        filling.write()?;
        Ok(filling)
    }

    /// Moves all of `paths` into a new entry, or none.
    ///
    /// # Errors
    /// When one of them cannot be moved; the others are back where they were then, or the failure says which is not.
    pub fn put(&self, what: What, name: &str, paths: &[PathBuf]) -> Result<Entry, Failure> {
        let mut filling = self.begin(what, name)?;
        for path in paths {
            if let Err(failure) = filling.take(path) {
                return Err(filling.undo(failure));
            }
        }
        filling.finish()
    }

    /// What is in it.
    pub fn list(&self) -> Listing {
        let mut listing = Listing::default();
        let Ok(entries) = fs::read_dir(&self.dir) else { return listing };
        for folder in entries.flatten().map(|entry| entry.path()) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            match read(&folder) {
                Ok(entry) => listing.entries.push(entry),
                Err(why) => listing.problems.push(format!("{}: {why}", folder.display())),
            }
        }
        listing.entries.sort_by(|a, b| (b.at, &b.id).cmp(&(a.at, &a.id)));
        listing.problems.sort();
        listing
    }

    /// The one entry that `given` means: its id, or its key, of which the newest counts; the beginning of either, or of the key
    /// without what stands before its colon.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn find(&self, given: &str) -> Result<Entry, Failure> {
        let entries = self.list().entries;
        let named = |entry: &&Entry| entry.id == given || entry.what.key == given;
        if let Some(entry) = entries.iter().find(named) {
            return Ok(entry.clone());
        }
        let begins = |entry: &Entry| {
            let own = entry.what.key.split_once(':').map_or("", |(_, own)| own);
            !given.is_empty() && [entry.id.as_str(), &entry.what.key, own].iter().any(|name| name.starts_with(given))
        };
        let found: Vec<_> = entries.into_iter().filter(begins).collect();
        match found.as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(Failure::new(format!("nothing called {} is in the trash", clean(given)))),
            several => {
                let failure = Failure::new(format!("{} may be several things in the trash", clean(given)));
                Err(several.iter().take(10).fold(failure, |failure, entry| failure.hint(clean(&entry.id))))
            }
        }
    }

    /// Puts everything of an entry back where it was, and removes the entry. `import` is called for items that a command
    /// brings back. Gives the entry as it was.
    ///
    /// # Errors
    /// When something is at one of the places already (nothing is changed then), or a step fails: what was put back is
    /// in the trash again then, and the entry stays.
    pub fn restore(&self, id: &str, import: &mut Import<'_>) -> Result<Entry, Failure> {
        let _lock = self.lock("restoring from the trash")?;
        let folder = self.dir.join(plain(id)?);
        let entry = read(&folder).map_err(|why| Failure::new(format!("could not restore {}", clean(id))).cause(why))?;
        let failed = || Failure::new(format!("could not restore {}", clean(&entry.what.key)));
        let there = |path: &Path| fs::symlink_metadata(path).is_ok();
        let (exports, moved): (Vec<&Item>, Vec<&Item>) =
            entry.items.iter().partition(|item| item.kind == ItemKind::Export);
        // An entry that was being filled holds only some of its items; the others are still at their places.
        let moved: Vec<&Item> = moved.into_iter().filter(|item| there(&folder.join(&item.stored))).collect();
        let missing = entry.items.len() - exports.len() - moved.len();
        if entry.whole && missing > 0 {
            return Err(failed()
                .cause("some of its files are not in the trash any more")
                .hint(folder.display().to_string()));
        }
        // What a killed process only began to copy is at its place as it was; anything else there is somebody else's.
        let own = |item: &Item| !entry.whole && item.is_at_its_place();
        let taken: Vec<&&Item> = moved.iter().filter(|item| there(&item.path) && !own(item)).collect();
        if !taken.is_empty() {
            let failure = failed().cause("something is at its place already; nothing was changed");
            return Err(taken.iter().take(10).fold(failure, |f, item| f.hint(item.path.display().to_string())));
        }
        let mut back: Vec<&Item> = Vec::new();
        let done = moved
            .iter()
            .filter(|item| !there(&item.path))
            .try_for_each(|item| {
                files::relocate(&folder.join(&item.stored), &item.path)?;
                back.push(item);
                Ok(())
            })
            .and_then(|()| {
                exports.iter().try_for_each(|item| match &item.import {
                    Some(words) => import(words, &item.path, &folder.join(&item.stored)),
                    None => Ok(()),
                })
            });
        if let Err(failure) = done {
            let mut failure = failure.hint(format!("the trash still has it as {}", entry.id));
            for item in back.iter().rev() {
                if let Err(other) = files::relocate(&item.path, &folder.join(&item.stored)) {
                    failure = failure.hint(other.to_string());
                }
            }
            return Err(failure);
        }
        files::remove_tree(&folder)?;
        Ok(entry)
    }

    /// Removes what has been here for longer than `days`, counted to `now`. Gives how many entries went, and what could
    /// not be removed, a line each.
    ///
    /// # Errors
    /// When another process holds the trash for too long.
    pub fn expire(&self, now: SystemTime, days: u32) -> Result<(u64, Vec<String>), Failure> {
        let limit = now.checked_sub(Duration::from_secs(u64::from(days) * 24 * 60 * 60));
        let Some(limit) = limit.and_then(|limit| Timestamp::try_from(limit).ok()) else { return Ok((0, Vec::new())) };
        if !self.list().entries.iter().any(|entry| entry.at < limit) {
            return Ok((0, Vec::new()));
        }
        let _lock = self.lock("emptying the trash")?;
        let (mut gone, mut problems) = (0, Vec::new());
        for entry in self.list().entries.into_iter().filter(|entry| entry.at < limit) {
            match files::remove_tree(&self.dir.join(&entry.id)) {
                Ok(_) => gone += 1,
                Err(failure) => problems.push(failure.to_string()),
            }
        }
        Ok((gone, problems))
    }
}

impl Filling {
    /// The entry so far.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    fn write(&self) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(&self.entry)
            .map_err(|error| Failure::new("could not write the trash's manifest").cause(error))?;
        files::write_atomic(&self.folder.join(MANIFEST), format!("{text}\n").as_bytes(), Mode::Private).map(drop)
    }

    /// Notes an item, before anything happens to it.
    fn note(&mut self, item: Item) -> Result<(PathBuf, PathBuf), Failure> {
        let places = (item.path.clone(), self.folder.join(&item.stored));
        self.entry.items.push(item);
        self.write().inspect_err(|_| drop(self.entry.items.pop()))?;
        Ok(places)
    }

    fn item(&self, path: &Path) -> Result<Item, Failure> {
        let metadata = fs::symlink_metadata(path).map_err(|error| Failure::io("move", path, &error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stored = Path::new("files").join(format!("{}-{}", self.entry.items.len(), short(&name)));
        let kind = match () {
            () if metadata.is_symlink() => ItemKind::Link,
            () if metadata.is_dir() => ItemKind::Folder,
            () => ItemKind::File,
        };
        let modified = metadata.modified().ok().and_then(|at| Timestamp::try_from(at).ok()).unwrap_or_default();
        let (files, bytes) = size(path);
        Ok(Item { path: path.to_owned(), stored, kind, mode: mode(&metadata), modified, files, bytes, import: None })
    }

    /// Moves `path` here.
    ///
    /// # Errors
    /// When it cannot be moved; it is where it was then.
    pub fn take(&mut self, path: &Path) -> Result<(), Failure> {
        let item = self.item(path)?;
        let (from, to) = self.note(item)?;
        files::relocate(&from, &to).inspect_err(|_| drop(self.entry.items.pop()))
    }

    /// Copies `path` here; its owner is going to remove it.
    ///
    /// # Errors
    /// When it cannot be copied whole.
    pub fn copy(&mut self, path: &Path) -> Result<(), Failure> {
        let item = self.item(path)?;
        let (from, to) = self.note(item)?;
        files::copy_exact(&from, &to).inspect_err(|_| drop(self.entry.items.pop()))
    }

    /// Keeps what an agent wrote out, with the command that reads it back, to be started in `folder`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&mut self, name: &str, bytes: &[u8], import: Vec<String>, folder: &Path) -> Result<(), Failure> {
        let stored = Path::new("files").join(format!("{}-{}", self.entry.items.len(), short(name)));
        files::write_new(&self.folder.join(&stored), bytes, Mode::Private)?;
        let item = Item {
            path: folder.to_owned(),
            stored,
            kind: ItemKind::Export,
            mode: 0o600,
            modified: self.entry.at,
            files: 1,
            bytes: bytes.len() as u64,
            import: Some(import),
        };
        self.note(item).map(drop)
    }

    /// Moves what its owner did not remove here, in place of the copies.
    ///
    /// # Errors
    /// When one cannot be moved; it stays where it is, and the copy stays here.
    pub fn take_rest(&mut self) -> Result<(), Failure> {
        for at in 0..self.entry.items.len() {
            let Some(item) = self.entry.items.get(at) else { continue };
            if item.kind == ItemKind::Export || fs::symlink_metadata(&item.path).is_err() {
                continue;
            }
            let (path, copied) = (item.path.clone(), self.folder.join(&item.stored));
            let aside = self.folder.join(format!("older-{at}"));
            files::relocate(&copied, &aside)?;
            if let Err(failure) = files::relocate(&path, &copied) {
                files::relocate(&aside, &copied)?;
                return Err(failure);
            }
            files::remove_tree(&aside)?;
        }
        Ok(())
    }

    /// Says that everything is here.
    ///
    /// # Errors
    /// When the manifest cannot be written; everything is back where it was then.
    pub fn finish(mut self) -> Result<Entry, Failure> {
        self.entry.whole = true;
        match self.write() {
            Ok(()) => Ok(self.entry),
            Err(failure) => Err(self.undo(failure)),
        }
    }

    /// Puts back what is not at its place, removes the entry, and gives `failure` with what became of it.
    #[must_use]
    pub fn undo(self, mut failure: Failure) -> Failure {
        let mut lost = false;
        for item in self.entry.items.iter().rev().filter(|item| item.kind != ItemKind::Export) {
            if fs::symlink_metadata(&item.path).is_ok() {
                continue;
            }
            if let Err(other) = files::relocate(&self.folder.join(&item.stored), &item.path) {
                lost = true;
                failure = failure.hint(other.to_string());
            }
        }
        if lost {
            return failure.hint(format!("what could not be put back is in the trash as {}", self.entry.id));
        }
        // An empty entry that stays harms nobody.
        let _ = files::remove_tree(&self.folder);
        failure.hint("nothing was deleted")
    }
}

fn read(folder: &Path) -> Result<Entry, String> {
    let bytes = files::read_bounded(&folder.join(MANIFEST), MAX).map_err(|failure| failure.to_string())?;
    let bytes = bytes.ok_or("it has no manifest")?;
    let entry: Entry =
        serde_json::from_slice(&bytes).map_err(|error| format!("its manifest cannot be read ({error})"))?;
    let name = folder.file_name().unwrap_or_default();
    // A manifest is a file that anything may have written to: it moves nothing out of its own folder.
    let inside = |item: &Item| {
        item.stored.parent() == Some(Path::new("files"))
            && matches!(item.stored.components().next_back(), Some(std::path::Component::Normal(_)))
            && item.path.is_absolute()
    };
    if entry.version != VERSION || name != entry.id.as_str() || !entry.items.iter().all(inside) {
        return Err("its manifest is none that this version wrote".to_owned());
    }
    Ok(entry)
}

fn plain(id: &str) -> Result<&str, Failure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !id.is_empty() && !id.starts_with('.') && id.chars().all(plain) {
        return Ok(id);
    }
    Err(Failure::new(format!("nothing called {} is in the trash", clean(id))))
}

/// A name for a file of ours: what a path may hold, not longer than every file system takes.
fn short(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    name.chars().map(kept).take(100).collect()
}

/// How many files `path` holds, and their bytes. Links are not followed.
pub fn size(path: &Path) -> (u64, u64) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return (0, 0) };
    if !metadata.is_dir() {
        return (1, metadata.len());
    }
    let inside = fs::read_dir(path).into_iter().flatten().flatten();
    inside.map(|entry| size(&entry.path())).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> u32 {
    0
}

#[cfg(all(test, unix))]
mod tests;
