//! The index on disk, disposable and safe with several processes. `sessions.bin` has what all sources add up to and a
//! list of them, replaced as a whole; `facts-<n>.bin` has what each single source says, which is only needed when one
//! changed, and grows. Every part bears a checksum: what cannot be read back is as good as none.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sys::Failure;
use sys::files::{self, Lock, Mode};

use super::family::Keys;
use super::news::{Change, News};
use super::{Snapshot, place};
use crate::sessions::source::{AgentId, Print};
use crate::sessions::{Facts, Response, Skip, Source, source};

/// Changed whenever an older file would be read wrongly: a field, an adapter's way of counting.
const VERSION: &[u8] = b"lazyagents index 5\n";

/// What changed since `sessions.bin` was written.
const NEWS: &str = "news.bin";

/// The largest file that is read, bytes.
const LARGEST: usize = 4 << 30;

/// Bytes of facts that may be out of date before they are written anew, beside half of all.
const WASTE: u64 = 4 << 20;

/// One source and what it says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(with = "source::agent")]
    pub(super) agent: AgentId,
    pub(super) source: Source,
    /// Bytes that have been read: the rest is half a line.
    pub(super) offset: u64,
    /// The first bytes and those before `offset`, hashed: a file that has others there is another one.
    pub(super) tail: u64,
    /// What was left out of it.
    pub(super) skipped: Vec<Skip>,
    /// Why nothing could be read.
    pub(super) failed: Option<String>,
    /// Sources that have a session or a response in common are one family.
    pub(super) family: u32,
    /// Where the facts are on disk.
    pub(super) place: Option<Place>,
    /// The facts, while they are only in memory.
    #[serde(skip)]
    pub(super) facts: Option<Facts>,
    /// Its place is counted from where they are being added.
    #[serde(skip)]
    pub(super) fresh: bool,
}

/// Where the facts of a source are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    at: u64,
    length: u64,
    sum: u64,
}

impl Entry {
    /// The same without facts that are only in memory.
    pub(super) fn bare(&self) -> Self {
        let (source, skipped, failed) = (self.source.clone(), self.skipped.clone(), self.failed.clone());
        Self { source, skipped, failed, facts: None, ..*self }
    }

    /// Nothing has changed since.
    pub(super) fn is_of(&self, source: &Source) -> bool {
        self.source == *source && self.failed.is_none()
    }
}

/// What the index knows.
#[derive(Debug)]
pub(super) struct State {
    /// What it all adds up to.
    pub(super) snapshot: std::sync::Arc<Snapshot>,
    /// The family of each session, in the order of the snapshot.
    pub(super) families: Vec<u32>,
    /// What the sources looked like.
    pub(super) print: Print,
    /// Some of them could not be read.
    pub(super) failing: bool,
    /// The sources and keys as they were read, until they are needed: when something changed.
    raw: Option<Vec<u8>>,
    books: Books,
    /// What is not in `sessions.bin`; `None` when that has to be written anew.
    news: Option<News>,
}

/// Every source, and the facts on disk.
#[derive(Debug, Default)]
pub(super) struct Books {
    /// In the order of agents and names.
    pub(super) entries: Vec<Entry>,
    pub(super) keys: Keys,
    pub(super) disk: Option<Disk>,
}

/// The facts on disk. The file stays readable after another process has put a newer one in its place.
#[derive(Debug)]
pub(super) struct Disk {
    number: u64,
    file: Mutex<File>,
    /// Bytes in it.
    length: u64,
}

impl Disk {
    fn open(dir: &Path, number: u64) -> Option<Self> {
        let file = File::open(dir.join(name(number))).ok()?;
        let length = file.metadata().ok()?.len();
        Some(Self { number, file: Mutex::new(file), length })
    }

    fn bytes(&self, place: Place) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(place.length).ok().filter(|length| *length < LARGEST)?];
        let mut file = self.file.lock().ok()?;
        file.seek(SeekFrom::Start(place.at)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        (sum(&bytes) == place.sum).then_some(bytes)
    }
}

impl Books {
    /// What a source says; `None` when it cannot be read back.
    pub(super) fn facts(&self, entry: &Entry) -> Option<Facts> {
        facts(self.disk.as_ref(), entry)
    }
}

/// As [`Books::facts`].
pub(super) fn facts(disk: Option<&Disk>, entry: &Entry) -> Option<Facts> {
    match (&entry.facts, entry.place) {
        (Some(facts), _) => Some(facts.clone()),
        (None, Some(place)) => postcard::from_bytes(&disk?.bytes(place)?).ok(),
        (None, None) => None,
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    print: Print,
    failing: bool,
    /// Of the file with the facts.
    number: u64,
    /// Lengths and sums of what follows: what it adds up to, and the sources with their keys.
    parts: [(u64, u64); 2],
}

impl Head {
    /// Tells this file from others.
    fn id(&self) -> u64 {
        let [(_, told), (_, raw)] = self.parts;
        told.rotate_left(32) ^ raw ^ self.number
    }
}

impl State {
    /// Nothing.
    pub(super) fn empty() -> Self {
        Self::new(Snapshot::default(), Vec::new(), Books::default())
    }

    /// Of what was read just now.
    pub(super) fn new(snapshot: Snapshot, families: Vec<u32>, books: Books) -> Self {
        let print = Print::of(books.entries.iter().map(|entry| (entry.agent, "", &entry.source)));
        let failing = books.entries.iter().any(|entry| entry.failed.is_some());
        Self { snapshot: snapshot.into(), families, print, failing, raw: None, books, news: None }
    }

    /// The sources and the facts.
    pub(super) fn books(&mut self) -> &mut Books {
        if let Some(raw) = self.raw.take() {
            // Its sum was right. If it is no good all the same, everything is read again.
            let (entries, keys) = postcard::from_bytes::<(Vec<Entry>, Keys)>(&raw).unwrap_or_default();
            (self.books.entries, self.books.keys) = (entries, keys);
            if let Some(news) = &self.news {
                let Books { entries, keys, .. } = &mut self.books;
                news.books(entries, keys);
                entries.sort_by(|a, b| place(a.agent, &a.source).cmp(&place(b.agent, &b.source)));
            }
        }
        &mut self.books
    }

    /// Takes what is not in `sessions.bin`, to be given to [`State::note`].
    pub(super) fn take_news(&mut self) -> Option<News> {
        self.news.take()
    }

    /// Notes what changed since `news`; too much of it has everything written.
    pub(super) fn note(&mut self, news: Option<News>, change: Change) {
        let Some(mut news) = news else { return };
        if news.add(change) {
            (news.print, news.failing) = (self.print, self.failing);
            (news.skipped, news.files) = (self.snapshot.skipped.clone(), self.snapshot.files);
            self.news = Some(news);
        }
    }

    /// What was saved; nothing when that is not whole.
    pub(super) fn load(dir: &Path) -> Self {
        // Another process may replace both files between two looks.
        (0..3).find_map(|_| Self::read(dir)).unwrap_or_else(Self::empty)
    }

    fn read(dir: &Path) -> Option<Self> {
        let Ok(Some(bytes)) = files::read_bounded(&file(dir), LARGEST) else { return Some(Self::empty()) };
        let (head, rest) = head(&bytes)?;
        let disk = Some(Disk::open(dir, head.number)?);
        let [(length, sum_of), (more, sum_of_more)] = head.parts;
        let (told, raw) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        if sum(told) != sum_of || raw.len() as u64 != more || sum(raw) != sum_of_more {
            return None;
        }
        let (mut snapshot, mut families) = postcard::from_bytes::<(Snapshot, Vec<u32>)>(told).ok()?;
        let books = Books { disk, ..Books::default() };
        let Head { mut print, mut failing, .. } = head;
        let news = news(dir, head.id()).unwrap_or_else(|| News::none(head.id(), print));
        if !news.is_empty() {
            let mut sessions: Vec<_> = snapshot.sessions.into_iter().zip(families).collect();
            news.sessions(&mut sessions);
            let sessions = sessions.into_iter().unzip();
            (snapshot.sessions, families) = sessions;
            (snapshot.skipped, snapshot.files) = (news.skipped.clone(), news.files);
            (print, failing) = (news.print, news.failing);
        }
        let (snapshot, raw, news) = (snapshot.into(), Some(raw.to_vec()), Some(news));
        Some(Self { snapshot, families, print, failing, raw, books, news })
    }

    /// Saves it. Another process at the same time wins or loses as a whole.
    pub(super) fn save(&mut self, dir: &Path) -> Result<(), Failure> {
        const BRIEFLY: Duration = Duration::from_millis(50);
        files::make_private_dir(dir)?;
        // Without the lock nothing is added to a file of another process, and none is removed.
        let lock = Lock::acquire(&dir.join("sessions.lock"), BRIEFLY, "lazyagents, reading sessions").ok();
        let may_grow = lock.is_some() && self.may_grow(dir);
        if may_grow && self.books.add(dir)? {
            if let Some(news) = &mut self.news {
                // Where the facts are is known now.
                let books = &self.books.entries;
                news.place(|entry| {
                    let at = books.binary_search_by(|known| {
                        place(known.agent, &known.source).cmp(&place(entry.agent, &entry.source))
                    });
                    at.ok().and_then(|at| books.get(at)).and_then(|known| known.place)
                });
                return files::write_disposable(&dir.join(NEWS), &sealed(news)?, Mode::Private).map(drop);
            }
        } else {
            self.books().write(dir)?;
        }
        let number = self.books.disk.as_ref().map_or(0, |disk| disk.number);
        let told = encoded(&(&*self.snapshot, &self.families))?;
        let raw = encoded(&(&self.books.entries, &self.books.keys))?;
        let parts = [&told, &raw].map(|part| (part.len() as u64, sum(part)));
        let head = Head { print: self.print, failing: self.failing, number, parts };
        let mut bytes = sealed(&head)?;
        [told, raw].iter().for_each(|part| bytes.extend_from_slice(part));
        files::write_disposable(&file(dir), &bytes, Mode::Private)?;
        self.news = Some(News::none(head.id(), self.print));
        if lock.is_some() {
            sweep(dir, number);
        }
        Ok(())
    }

    /// True when the files that there are may be added to: they are those that this came from.
    fn may_grow(&mut self, dir: &Path) -> bool {
        let news = self.news.as_ref().map(|news| news.of);
        let Books { entries, disk: Some(disk), .. } = self.books() else { return false };
        let live: u64 = entries.iter().filter_map(|entry| entry.place).map(|place| place.length).sum();
        let wasted = disk.length.saturating_sub(live) > live / 2 + WASTE;
        let now = || Some(head(&crate::read::head(&file(dir), 1 << 10)?)?.0);
        !wasted && now().is_some_and(|now| now.number == disk.number && news.is_none_or(|of| of == now.id()))
    }
}

impl Books {
    /// Adds the facts that are only in memory; false when there is no file to add them to.
    fn add(&mut self, dir: &Path) -> Result<bool, Failure> {
        let Some(disk) = &mut self.disk else { return Ok(false) };
        let mut bytes = Vec::new();
        for entry in &mut self.entries {
            if let Some(facts) = entry.facts.take() {
                entry.place = Some(put(&mut bytes, &encoded(&facts)?));
                entry.fresh = true;
            }
        }
        let start = files::append_disposable(&dir.join(name(disk.number)), &bytes)?;
        disk.length = start + bytes.len() as u64;
        for entry in &mut self.entries {
            if std::mem::take(&mut entry.fresh) {
                entry.place = entry.place.map(|place| Place { at: place.at + start, ..place });
            }
        }
        Ok(true)
    }

    /// Writes all facts into a new file.
    fn write(&mut self, dir: &Path) -> Result<(), Failure> {
        let now = sys::clock::wall().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let number = Response::key(format!("{} {}", now.as_nanos(), std::process::id()).as_bytes());
        let mut bytes = Vec::new();
        for entry in &mut self.entries {
            let facts = match (entry.facts.take(), entry.place) {
                (Some(facts), _) => Some(encoded(&facts)?),
                (None, place) => place.zip(self.disk.as_ref()).and_then(|(place, disk)| disk.bytes(place)),
            };
            entry.place = facts.map(|facts| put(&mut bytes, &facts));
        }
        // What could not be read back is read from its source again, because its place says nothing.
        files::write_disposable(&dir.join(name(number)), &bytes, Mode::Private)?;
        self.disk = Disk::open(dir, number);
        Ok(())
    }
}

fn put(bytes: &mut Vec<u8>, facts: &[u8]) -> Place {
    let place = Place { at: bytes.len() as u64, length: facts.len() as u64, sum: sum(facts) };
    bytes.extend_from_slice(facts);
    place
}

/// The head of the file, and what is behind it.
fn head(bytes: &[u8]) -> Option<(Head, &[u8])> {
    opened(bytes)
}

/// What changed since the file whose head has this id.
fn news(dir: &Path, of: u64) -> Option<News> {
    let bytes = files::read_bounded(&dir.join(NEWS), LARGEST).ok()??;
    opened::<News>(&bytes).map(|(news, _)| news).filter(|news| news.of == of)
}

/// A value with the version, its length and its sum before it.
fn sealed(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let body = encoded(value)?;
    let mut bytes = VERSION.to_vec();
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&sum(&body).to_le_bytes());
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

/// What [`sealed`] made, and what is behind it.
fn opened<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Option<(T, &'b [u8])> {
    let (length, rest) = bytes.strip_prefix(VERSION)?.split_first_chunk::<8>()?;
    let (sum_of, rest) = rest.split_first_chunk::<8>()?;
    let (head, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    (sum(head) == u64::from_le_bytes(*sum_of)).then(|| Some((postcard::from_bytes(head).ok()?, rest)))?
}

fn encoded(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    postcard::to_stdvec(value).map_err(|error| Failure::new("the index has no form on disk").cause(error))
}

/// Removes what no index speaks of any more.
fn sweep(dir: &Path, number: u64) {
    for path in crate::read::all_in(dir) {
        let stale = path
            .file_name()
            .and_then(|found| found.to_str())
            .is_some_and(|found| found.starts_with("facts-") && found.ends_with(".bin") && found != name(number));
        if stale {
            // Disposable: what cannot be removed now is tried again next time.
            let _ = files::remove_file(&path);
        }
    }
}

fn file(dir: &Path) -> PathBuf {
    dir.join("sessions.bin")
}

fn name(number: u64) -> String {
    format!("facts-{number:016x}.bin")
}

/// A checksum against damage, eight bytes at a time: the file may have hundreds of megabytes.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mixed = words.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |sum, word| {
        (sum ^ u64::from_le_bytes(*word)).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29)
    });
    mixed ^ Response::key(rest)
}
