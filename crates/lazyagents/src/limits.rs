//! The limits of the agents' accounts wired to the system: what their files tell, and what their services answered, kept
//! for five minutes and shared by all processes. The network is used only when the caller says so. The crate `agents`
//! makes the questions; `cli` calls this.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agents::adapter::{self, Adapter};
use agents::limits::{Limit, LimitRow, Limits};
use agents::{Places, Surroundings};
use serde::{Deserialize, Serialize};
use sys::files::{self, Lock, Mode};
use sys::text::{clean, human};
use sys::{Failure, clock};

use crate::context::Context;
use crate::net::{self, Trouble};

/// How long an answer is new, milliseconds (lazyagents.md, Usage).
const NEW: i64 = 5 * 60 * 1000;
/// The first pause after a failure, milliseconds; each one more in a row doubles it.
const FIRST_PAUSE: i64 = 60 * 1000;
/// The longest one of ours; a service may ask for a longer one, up to a day.
const LAST_PAUSE: i64 = 60 * 60 * 1000;
const DAY: i64 = 24 * 60 * 60 * 1000;
/// The layout of the file; another one is read as empty.
const LAYOUT: u32 = 1;
const LARGEST: usize = 1 << 20;

/// Whose limits, and whether services may be asked.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only these agents; all when empty. Naming one is asking for it: its service is asked when what is known is old.
    pub agents: Vec<String>,
    /// Ask now, however new the last answer is.
    pub refresh: bool,
}

/// What is known.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    /// The windows of all agents, in the order of the agents.
    pub rows: Vec<LimitRow>,
    /// What went wrong, or is older than it should be: for people, clean.
    pub warnings: Vec<String>,
    /// What could be done to know more: for people, clean.
    pub notes: Vec<String>,
    /// Something that was asked for by name is not known at all.
    pub missing: bool,
}

/// What a service said, and how it went since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    limits: Vec<Limit>,
    /// When it answered last, milliseconds since 1970.
    answered: i64,
    /// Times in a row that it did not answer since.
    failures: u32,
    /// Why, the last time: ours, clean.
    why: String,
    /// It is not asked before, milliseconds since 1970.
    not_before: i64,
}

#[derive(Default, Serialize, Deserialize)]
struct File {
    layout: u32,
    agents: BTreeMap<String, Kept>,
}

/// Looks at the files of the wanted agents, and asks their services as far as `wanted` says.
///
/// # Errors
/// When no home folder is known, or the clock tells no time.
pub fn tell(context: &Context, wanted: &Wanted) -> Result<Told, Failure> {
    let around = Surroundings::of(&context.env).ok_or_else(|| Failure::new("no home folder is known"))?;
    let mut told = Told::default();
    for adapter in adapter::all() {
        let about = adapter.about();
        let named = wanted.agents.iter().any(|id| id == about.id);
        if !named && !wanted.agents.is_empty() {
            continue;
        }
        let Some(limits) = adapter.limits() else {
            if named {
                told.missing = true;
                told.warnings.push(format!("the limits of {} cannot be told", about.name));
            }
            continue;
        };
        let places = adapter.places(&around);
        let before = told.rows.len();
        if limits.asks() {
            let one = One { context, around: &around, adapter: *adapter, limits, places: &places, named };
            one.tell(wanted, &mut told)?;
        } else {
            let now = now()?;
            let recorded = limits.recorded(&around, &places);
            told.rows.extend(recorded.iter().map(|limit| limit.row(about.id, false, now)));
            if named && recorded.is_empty() {
                told.notes.push(format!("{} has not written down any limits yet", about.name));
            }
        }
        told.missing |= named && told.rows.len() == before;
    }
    Ok(told)
}

/// An agent whose service has to be asked.
struct One<'a> {
    context: &'a Context,
    around: &'a Surroundings,
    adapter: &'static dyn Adapter,
    limits: &'a dyn Limits,
    places: &'a Places,
    named: bool,
}

impl One<'_> {
    fn tell(&self, wanted: &Wanted, told: &mut Told) -> Result<(), Failure> {
        let about = self.adapter.about();
        let mut failed = None;
        let kept = if self.named || wanted.refresh {
            // One process asks, the others wait for its answer.
            let lock = file(self.context).with_extension("lock");
            let held = files::make_private_dir(&self.context.paths.data)
                .and_then(|()| Lock::acquire(&lock, net::WITHIN + files::LOCK_WAIT, "lazyagents usage limits"));
            let mut all = load(self.context);
            let kept = all.agents.entry(about.id.to_owned()).or_default();
            let before = kept.clone();
            // Without the lock nobody would know of a pause that a service asks for.
            failed = match &held {
                Ok(_) => self.renew(kept, wanted.refresh, told)?,
                Err(failure) => Some(clean(&failure.to_string())),
            };
            let kept = kept.clone();
            if kept != before {
                let bytes = serde_json::to_vec(&all).unwrap_or_default();
                if let Err(failure) = files::write_atomic(&file(self.context), &bytes, Mode::Private) {
                    told.warnings.push(clean(&format!("{}: the answer could not be kept: {failure}", about.name)));
                }
            }
            kept
        } else {
            load(self.context).agents.remove(about.id).unwrap_or_default()
        };
        let now = now()?;
        let old = failed.is_some() || kept.failures > 0 || !(0..=NEW).contains(&now.saturating_sub(kept.answered));
        told.rows.extend(kept.limits.iter().map(|limit| limit.row(about.id, old, now)));
        let age = human::duration(span(now.saturating_sub(kept.answered)));
        match failed {
            Some(why) if kept.limits.is_empty() => told.warnings.push(format!("{}: {why}", about.name)),
            Some(why) => told.warnings.push(format!("{}: {why}; what is shown is {age} old", about.name)),
            None if self.named || wanted.refresh || !self.places.config_dir.is_dir() => {}
            None if kept.limits.is_empty() => {
                told.notes.push(format!("{} has to be asked: `lazyagents usage limits --refresh`", about.name));
            }
            None if old => told.notes.push(format!("{}: {age} old; `--refresh` asks again", about.name)),
            None => {}
        }
        Ok(())
    }

    /// Asks when that is due. Why there is nothing newer; `None` when all is well, or there is nothing to ask about.
    fn renew(&self, kept: &mut Kept, refresh: bool, told: &mut Told) -> Result<Option<String>, Failure> {
        let now = now()?;
        // A clock that was set back must not make an answer new, or a pause endless.
        let age = now.saturating_sub(kept.answered);
        if !refresh && kept.failures == 0 && (0..NEW).contains(&age) {
            return Ok(None);
        }
        let pause = kept.not_before.saturating_sub(now);
        if (1..=DAY).contains(&pause) {
            return Ok(Some(format!("{}; it is asked again in {}", kept.why, human::duration(span(pause)))));
        }
        let question = match self.limits.question(self.around, self.places, now) {
            Ok(Some(question)) => question,
            Ok(None) => {
                // Figures of an account that is signed out are nobody's.
                *kept = Kept::default();
                if self.named {
                    told.notes.push(format!("{} is not signed in to a subscription here", self.adapter.about().name));
                }
                return Ok(None);
            }
            Err(why) => return Ok(Some(clean(&why))),
        };
        let answer = net::get(&question, &self.context.env, now / 1000);
        let now = crate::limits::now()?;
        let failed = match answer {
            Ok(body) => match self.limits.answer(&body, now) {
                Ok(limits) => {
                    *kept = Kept { limits, answered: now, ..Kept::default() };
                    return Ok(None);
                }
                Err(why) => (why.to_owned(), Some(None)),
            },
            Err(trouble) => (trouble.words(), wants(&trouble)),
        };
        let (why, pause) = failed;
        kept.failures = kept.failures.saturating_add(1);
        kept.why.clone_from(&why);
        kept.not_before = pause.map_or(0, |asked| now.saturating_add(pause_after(kept.failures, asked)));
        Ok(Some(why))
    }
}

/// Whether a failure asks for a pause, and for which one: without a network nobody is bothered by another try.
fn wants(trouble: &Trouble) -> Option<Option<Duration>> {
    match trouble {
        Trouble::Refused | Trouble::Unreachable(_) => None,
        Trouble::Slow | Trouble::Elsewhere | Trouble::Long => Some(None),
        Trouble::Status(_, pause) => Some(*pause),
    }
}

/// Milliseconds until the next try after so many failures: what the service asked for, else doubled each time.
fn pause_after(failures: u32, asked: Option<Duration>) -> i64 {
    match asked {
        Some(pause) => i64::try_from(pause.as_millis()).unwrap_or(DAY).min(DAY),
        None => FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LAST_PAUSE),
    }
}

/// Where answers are kept: disposable (lazyagents.md, Folders).
fn file(context: &Context) -> PathBuf {
    context.paths.data.join("limits.json")
}

/// What was kept; a file that is not understood is as good as none.
fn load(context: &Context) -> File {
    let bytes = files::read_bounded(&file(context), LARGEST).ok().flatten().unwrap_or_default();
    read(&bytes)
}

fn read(bytes: &[u8]) -> File {
    let empty = || File { layout: LAYOUT, ..File::default() };
    serde_json::from_slice::<File>(bytes).ok().filter(|file| file.layout == LAYOUT).unwrap_or_else(empty)
}

fn span(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

fn now() -> Result<i64, Failure> {
    jiff::Timestamp::try_from(clock::wall())
        .map(jiff::Timestamp::as_millisecond)
        .map_err(|_| Failure::new("the clock of this machine tells no time that can be counted with"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour_and_a_service_has_the_last_word() {
        let minutes: Vec<_> = (1..9).map(|failures| pause_after(failures, None) / 60_000).collect();
        assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pause_after(u32::MAX, None), LAST_PAUSE);
        assert_eq!(pause_after(7, Some(Duration::from_secs(5))), 5000);
        assert_eq!(pause_after(1, Some(Duration::MAX)), DAY);
    }

    proptest::proptest! {
        #[test]
        fn any_file_is_a_file(bytes: Vec<u8>) {
            proptest::prop_assert_eq!(read(&bytes).layout, LAYOUT);
        }
    }

    #[test]
    fn a_file_of_another_layout_is_none() {
        assert!(read(br#"{"layout":2,"agents":{"claude-code":{}}}"#).agents.is_empty());
        let mut file = read(b"");
        file.agents.insert("claude-code".into(), Kept { answered: 7, ..Kept::default() });
        assert_eq!(read(&serde_json::to_vec(&file).unwrap()).agents, file.agents);
    }
}
