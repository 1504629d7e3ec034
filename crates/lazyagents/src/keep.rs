//! What the interface does with sessions beside the loop: exports, plans of deletions, deletions. The crate `manage` does
//! it; here it is wired to the folders and told in words. The driver calls it.

use std::ops::ControlFlow;

use agents::Surroundings;
use manage::delete::Plan;
use manage::export::{Exporter, Format, Taken, default_path, to_file};
use sys::files::journal::Journal;
use sys::files::trash::{self, Trash};
use sys::proc::Cancel;
use sys::{Failure, clock};

use crate::context::{Context, things};
use crate::history::{History, first_line};

/// Exports a session as Markdown into our folder of exports, secrets masked; what to tell the person.
///
/// # Errors
/// When it cannot be read or written.
pub fn export(context: &Context, key: &str) -> Result<String, Failure> {
    let history = History::load(context)?;
    let session = history.one(key)?;
    let row = history.row(session);
    let path = default_path(&context.paths.data, &row, Format::Markdown);
    let (path, _, written) = to_file(&path, Taken::Rename, |to| {
        let mut exporter = Exporter::begin(to, Format::Markdown, true, &row)?;
        let mut failed = None;
        history.tell_nested(session, &mut |turn| match exporter.turn(turn) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                failed = Some(failure);
                ControlFlow::Break(())
            }
        })?;
        match failed {
            Some(failure) => Err(failure),
            None => exporter.end(jiff::Timestamp::try_from(clock::wall()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)),
        }
    })?;
    let masked = written.masked.map_or(0, |count| count.total());
    let secrets = things(usize::try_from(masked).unwrap_or(usize::MAX), "secret");
    Ok(format!("{} ({secrets} masked)", context.paths.short(&path)))
}

/// What a deletion of these sessions takes: all or none can be planned.
///
/// # Errors
/// When one of them is open now, or its agent has no way to delete it; with the reason.
pub fn plan(context: &Context, keys: &[String]) -> Result<Vec<Plan>, Failure> {
    let history = History::load(context)?;
    let around = Surroundings::of(&context.env).ok_or_else(|| Failure::new("no home folder is known"))?;
    let one = |key: &String| {
        let session = history.one(key)?;
        let row = history.row(session);
        let title = row.alias.or(row.title).unwrap_or_default();
        Plan::of(session, &first_line(&title), &around, &history.dir)
    };
    keys.iter().map(one).collect()
}

/// Puts them into the trash, one after the other; how many went, and why it ended before the last.
///
/// # Errors
/// When no home folder is known.
pub fn delete(context: &Context, plans: &[Plan]) -> Result<(usize, Option<Failure>), Failure> {
    let around = Surroundings::of(&context.env).ok_or_else(|| Failure::new("no home folder is known"))?;
    let trash = Trash::of(&context.paths.data);
    let journal = Journal::of(&context.paths.data);
    for (done, plan) in plans.iter().enumerate() {
        match plan.apply(&around, &trash, &Cancel::never()) {
            // It is in the trash: without a line in the history it can still be restored from there.
            Ok(entry) => drop(manage::delete::remember(&journal, &entry)),
            Err(failure) => return Ok((done, Some(failure))),
        }
    }
    // What cannot be removed of the old is tried again next time.
    let _ = trash.expire(clock::wall(), trash::DAYS);
    Ok((plans.len(), None))
}
