//! The smaller commands: list, go, cd-to-session, trash, doctor. Arguments in,
//! lines or JSON out.

use std::path::Path;

use clap::Subcommand;
use sys::{Failure, text};

use super::answers::Place;
use super::repo::More;
use super::{Out, land, pad, session, when};
use crate::browser::fzf::{self, List};
use crate::context::Context;
use crate::landing::Landing;
use crate::locate;
use crate::model::gitdir::GitDir;
use crate::model::name::quoted;
use crate::ops::{accept, doctor as examine, prune, trash as bin};
use crate::store::{Repo, Session};

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    more: More,
}

#[derive(Debug, clap::Args)]
pub(super) struct GoArgs {
    /// Parts of repository, session and branch; `-` alone is the previous one
    words: Vec<String>,
    /// Print the folder, do not enter
    #[arg(long)]
    print: bool,
    /// Print where it would go, as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct TrashArgs {
    #[command(subcommand)]
    command: TrashWhich,
}

#[derive(Debug, Subcommand)]
enum TrashWhich {
    /// What is in the trash
    #[command(visible_alias = "ls")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring a session back
    Restore {
        /// Its name or id
        name: String,
    },
    /// Remove for good
    Empty {
        /// Only what is older, such as 30d
        #[arg(long, value_name = "AGE")]
        older: Option<String>,
        /// Without asking
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Mend what can be mended
    #[arg(long)]
    fix: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn list(args: &ListArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    session::all(args.more, context, out)
}

/// Every session with its repository, for `go`.
fn everything(context: &Context) -> Result<Vec<(Repo, Session)>, Failure> {
    let mut all = Vec::new();
    for repo in context.store.repos()? {
        let sessions = context.store.sessions(&repo.id).unwrap_or_default();
        if !sessions.iter().any(|session| session.is_default || session.name == "main") {
            let path = Some(repo.path.clone());
            let main = Session { name: "main".to_owned(), is_default: true, path, ..Session::default() };
            all.push((repo.clone(), main));
        }
        all.extend(sessions.into_iter().map(|session| (repo.clone(), session)));
    }
    Ok(all)
}

pub(super) fn go(args: &GoArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let found = if args.words.len() == 1 && args.words[0] == "-" {
        Some(previous(context)?)
    } else {
        matching(args, context, out)?
    };
    let Some((repo, session)) = found else { return Err(Failure::cancelled("nothing was chosen")) };
    if args.json {
        let path = accept::folder(&repo, &session);
        out.json(&Place { repo: repo.id, session: session.name, path })?;
        return Ok(0);
    }
    if args.print {
        let path = accept::folder(&repo, &session)
            .ok_or_else(|| Failure::new(format!("the session {} has no folder", quoted(&session.name))))?;
        out.line(&text::clean(&path));
        return Ok(0);
    }
    let landing = accept::enter(context, &repo, &session, out)?;
    land(landing, context, out)
}

fn previous(context: &Context) -> Result<(Repo, Session), Failure> {
    let bytes = sys::files::read_bounded(&context.store.data.join("recent"), 64 * 1024)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let all = everything(context)?;
    text.lines()
        .skip(1)
        .find_map(|line| {
            let (repo, session) = line.split_once('\t')?;
            all.iter().find(|(r, s)| r.id == repo && s.id == session).cloned()
        })
        .ok_or_else(|| Failure::new("there is no previous session yet"))
}

fn matching(args: &GoArgs, context: &Context, out: &mut Out) -> Result<Option<(Repo, Session)>, Failure> {
    let words: Vec<String> = args.words.iter().map(|word| word.to_lowercase()).collect();
    let hay = |repo: &Repo, session: &Session| {
        let branch = session.path.as_deref().and_then(|path| GitDir::at(Path::new(path))).and_then(|git| git.branch());
        format!("{}/{} {}", repo.name, session.name, branch.unwrap_or_default()).to_lowercase()
    };
    let fits: Vec<(Repo, Session)> = everything(context)?
        .into_iter()
        .filter(|(repo, session)| {
            let hay = hay(repo, session);
            words.iter().all(|word| hay.contains(word.as_str()))
        })
        .collect();
    let exact: Vec<_> = fits
        .iter()
        .filter(|(repo, session)| match words.as_slice() {
            [one] => {
                session.name.to_lowercase() == *one
                    || (session.is_default && repo.name.to_lowercase() == *one)
                    || format!("{}/{}", repo.name, session.name).to_lowercase() == *one
            }
            [first, second] => repo.name.to_lowercase() == *first && session.name.to_lowercase() == *second,
            _ => false,
        })
        .collect();
    // A main checkout that no session stands for is no rival to the one session that fits.
    let made: Vec<_> = fits.iter().filter(|(_, session)| !session.id.is_empty()).collect();
    if words.is_empty() && fits.len() > 1 {
        return choose(context, args, &fits, out);
    }
    match (exact.as_slice(), fits.as_slice()) {
        ([one], _) => Ok(Some((*one).clone())),
        _ if made.len() == 1 => Ok(made.first().map(|one| (*one).clone())),
        (_, [one]) => Ok(Some(one.clone())),
        (_, []) => Err(Failure::new(format!("nothing matches {}", quoted(&args.words.join(" "))))
            .hint("`ez list` lists everything")),
        (_, several) => choose(context, args, several, out),
    }
}

/// One of several, by the person.
fn choose(
    context: &Context,
    args: &GoArgs,
    several: &[(Repo, Session)],
    out: &mut Out,
) -> Result<Option<(Repo, Session)>, Failure> {
    let names: Vec<_> = several.iter().map(|(repo, session)| format!("{}/{}", repo.name, session.name)).collect();
    let words = args.words.join(" ");
    let fits = || {
        let words = if words.is_empty() { "that".to_owned() } else { quoted(&words) };
        Failure::new(format!("{words} fits several: {}", names.join(", ")))
    };
    if !fzf::there(context) {
        let place = fzf::pick_number("go", &names, out).ok_or_else(fits)?;
        return Ok(several.get(place).cloned());
    }
    let ids = several.iter().map(|(_, session)| session.id.clone());
    let rows = ids.zip(names.iter().cloned()).collect();
    let list = List { prompt: "go".to_owned(), rows, query: words.clone(), ..List::default() };
    let choice = fzf::pick_row(context, list, out)?;
    Ok(choice.and_then(|choice| choice.row).and_then(|row| several.get(row)).cloned())
}

pub(super) fn cd_to_session(context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let (repo, session) = locate::given_or_current(context, None, None)?;
    let cd = accept::folder(&repo, &session)
        .ok_or_else(|| Failure::new(format!("the session {} has no folder", quoted(&session.name))))?;
    land(Landing { cd: Some(cd), ..Landing::default() }, context, out)
}

pub(super) fn trash(args: TrashArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match args.command {
        TrashWhich::List { json } => {
            let entries = bin::list(context);
            if json {
                out.json(&entries)?;
                return Ok(0);
            }
            if entries.is_empty() {
                out.line("The trash is empty.");
                return Ok(0);
            }
            let wide =
                |of: fn(&bin::Entry) -> &str| entries.iter().map(|e| text::width(of(e))).max().unwrap_or(0).min(40);
            let (names, repos) = (wide(|entry| &entry.name), wide(|entry| &entry.repo));
            for entry in &entries {
                let path = entry.path.as_deref().map(|path| context.paths.short(Path::new(path))).unwrap_or_default();
                let columns =
                    [pad(&entry.name, names), pad(&entry.repo, repos), pad(&when(&entry.deleted_at), 27), path];
                out.line(text::clean(&columns.join("  ")).trim_end());
            }
            out.note(&format!("What is in the trash goes for good after {} days.", bin::DAYS));
            Ok(0)
        }
        TrashWhich::Restore { name } => {
            let entry = bin::find(context, &name)?;
            bin::restore(context, &entry, out)?;
            out.line(&format!("Restored session: {}", text::clean(&entry.name)));
            Ok(0)
        }
        TrashWhich::Empty { older, force } => {
            let days = older.as_deref().map(prune::days).transpose()?;
            let count = bin::list(context).len();
            if count > 0
                && !force
                && out.confirm(&format!("Remove up to {count} deleted sessions for good?")) != Some(true)
            {
                return Err(Failure::cancelled("the trash was not emptied"));
            }
            let count = bin::empty(context, days)?;
            out.line(&format!("Removed for good: {count}"));
            Ok(0)
        }
    }
}

pub(super) fn doctor(args: &DoctorArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let report = examine::examine(context, args.fix, out);
    if args.json {
        out.json(&report)?;
        return Ok(u8::from(!report.ok));
    }
    for section in &report.sections {
        out.line(&out.bold(&section.title));
        for line in &section.report {
            out.line(&format!("  {}", text::clean(line)));
        }
        for problem in &section.problems {
            out.line(&format!("  ! {}", text::clean(problem)));
        }
    }
    if report.ok {
        out.line("No problem found.");
    }
    Ok(u8::from(!report.ok))
}
