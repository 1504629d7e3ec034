//! `ez session ...`: arguments in, lines or JSON out. What is done is in `ops`; which session is meant in `locate`.

use std::collections::BTreeMap;
use std::path::Path;

use sys::proc::{self, Exit, HandOver, Spec};
use sys::{Failure, files, text};

use super::answers::{NoteInfo, Place, PruneRow, SessionRow, TreeRow};
use super::repo::More;
pub(super) use super::session_args::Args;
use super::session_args::{
    AboutArgs, DeleteArgs, EnvWhich, ExecArgs, InRepo, InSession, LabelWhich, ListArgs, NewArgs, NoteWhich, OfNote,
    PruneArgs, Target, Which,
};
use super::{Out, land, repo, when};
use crate::browser::builder;
use crate::context::Context;
use crate::locate;
use crate::model::SessionName;
use crate::model::name::{self, env_key_ok, quoted};
use crate::model::tree::{self, Sort};
use crate::ops::create::{self, Wanted};
use crate::ops::{accept, delete, from_dirty, moves, prune};
use crate::store::{Repo, Session};
use crate::worktree::Asked;

pub(super) fn run(args: Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match args.command {
        Which::New(args) => new(args, context, out),
        Which::List(args) => list(&args, context, out),
        Which::Enter(named) => {
            let repo = locate::repo(context, named.repo.repo.as_deref())?;
            let session = locate::session(context, &repo, &named.name)?;
            let landing = accept::enter(context, &repo, &session, out)?;
            land(landing, context, out)
        }
        Which::Exit(target) => exit(&target, context, out),
        Which::Delete(args) => remove(&args, context, out),
        Which::Rename { old, new, repo } => rename(&old, &new, &repo, context, out),
        Which::Register { path, name, parent, repo } => {
            register(path.as_deref(), name.as_deref(), parent.as_deref(), &repo, context, out)
        }
        Which::FromDirty { name, parent, repo } => dirty(&name, parent.as_deref(), &repo, context, out),
        Which::Label { command } => labels(command, context, out),
        Which::Env { command } => env(command, context, out),
        Which::Note { command } => note(command, context, out),
        Which::Path(args) => {
            let (repo, session) = args.target.find(context)?;
            let path = accept::folder(&repo, &session);
            if args.json {
                out.json(&Place { repo: repo.id, session: session.name, path })?;
                return Ok(0);
            }
            let path =
                path.ok_or_else(|| Failure::new(format!("the session {} has no folder", quoted(&session.name))))?;
            out.line(&text::clean(&path));
            Ok(0)
        }
        Which::Info(args) => info(&args, context, out),
        Which::Sync(target) => {
            let (repo, session) = target.find(context)?;
            let landing = moves::sync(context, &repo, &session, out);
            out.line(&format!("Synced session: {}", text::clean(&session.name)));
            land(landing, context, out)
        }
        Which::Exec(args) => exec(&args, context, out),
        Which::Prune(args) => prune_them(&args, context, out),
    }
}

impl Target {
    fn find(&self, context: &Context) -> Result<(Repo, Session), Failure> {
        locate::given_or_current(context, self.repo.repo.as_deref(), self.name.as_deref())
    }
}

fn new(args: NewArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let repo = locate::repo(context, args.repo.repo.as_deref())?;
    let name = match &args.name {
        Some(name) if !args.interactive => SessionName::parse(name)?,
        given => builder::name(context, &repo, given.as_deref().unwrap_or_default(), out)?,
    };
    if let Some(point) = &args.start_point {
        check_start_point(context, &repo, point)?;
    }
    let wanted = Wanted { parent: args.parent, bare: args.bare, start_point: args.start_point, ..Wanted::new(name) };
    let made = create::create(context, &repo, &wanted, out)?;
    let mut landing = accept::after_create(context, &repo, &made.session, out)?;
    let bare = if args.bare { " (bare)" } else { "" };
    out.line(&format!("Created session: {}{bare}", text::clean(&made.session.name)));
    landing.post.splice(0..0, made.post);
    if landing.cd.is_none() || made.cd.is_some() {
        landing.cd = made.cd.or(landing.cd);
    }
    land(landing, context, out)
}

fn check_start_point(context: &Context, repo: &Repo, point: &str) -> Result<(), Failure> {
    if repo.is_git && crate::git::Git::new(context, &repo.path).commit(point).is_none() {
        return Err(Failure::new(format!("{} names no commit in {}", quoted(point), quoted(&repo.name))));
    }
    Ok(())
}

fn list(args: &ListArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    if args.all {
        return all(args.more, context, out);
    }
    let repo = locate::repo(context, args.repo.repo.as_deref())?;
    let sessions = context.store.sessions(&repo.id)?;
    if args.more.json {
        out.json(&SessionRow::all(context, &repo, sessions, args.more.asked()))?;
        return Ok(0);
    }
    for line in lines(context, &repo, &sessions, args.flat, args.more) {
        out.line(&line);
    }
    // For eyes only: a script has no use for it, and git is asked.
    if out.is_seen() {
        for tree in moves::unmanaged(context, &repo, &sessions)? {
            out.note(&format!("not a session yet: {} (ez session register {0})", tree.path));
        }
    }
    Ok(0)
}

fn lines(context: &Context, repo: &Repo, sessions: &[Session], flat: bool, more: More) -> Vec<String> {
    let marks: BTreeMap<String, String> = if more.any() {
        let rows = SessionRow::all(context, repo, sessions.to_vec(), more.asked());
        rows.into_iter().map(|row| (row.id.clone(), row.marks())).collect()
    } else {
        BTreeMap::new()
    };
    let line = |lines: &str, session: &Session| {
        let star = if session.is_default { " *" } else { "" };
        let bare = if flat && session.bare { " [bare]" } else { "" };
        let path = session.path.as_ref().map(|path| format!(" ({})", text::clean(path))).unwrap_or_default();
        let gone = session.path.as_ref().is_some_and(|path| !Path::new(path).exists());
        let path = if gone { path + " [gone]" } else { path };
        let marks = marks.get(&session.id).map_or("", String::as_str);
        format!("{lines}{}{star}{bare}{path}{marks}", text::clean(&session.name))
    };
    if flat {
        sessions.iter().map(|session| line("", session)).collect()
    } else {
        tree::draw(sessions, Sort::File).iter().map(|placed| line(&placed.lines, placed.session)).collect()
    }
}

/// All repositories with their sessions; a damaged file counts as none, and is told.
pub(super) fn all(more: More, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let mut rows = Vec::new();
    for repo in context.store.repos()? {
        let sessions = context.store.sessions(&repo.id).unwrap_or_else(|failure| {
            out.warn(&failure.to_string());
            Vec::new()
        });
        if more.json {
            let sessions = SessionRow::all(context, &repo, sessions, more.asked());
            rows.push(TreeRow { id: repo.id, name: repo.name, path: repo.path, sessions });
        } else {
            out.line(&out.bold(&text::clean(&repo.name)));
            for line in lines(context, &repo, &sessions, false, more) {
                out.line(&format!("  {line}"));
            }
        }
    }
    if more.json {
        out.json(&rows)?;
    }
    Ok(0)
}

fn exit(target: &Target, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let (repo, session) = target.find(context)?;
    let landing = accept::exit(context, &repo, &session, out)?;
    out.line("Exited session.");
    land(landing, context, out)
}

fn remove(args: &DeleteArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let found = locate::given_or_current(context, args.repo.repo.as_deref(), args.name.as_deref())?;
    let (repo, session) = found;
    let how = delete::How {
        force: args.force,
        branch: args.branch,
        no_hooks: args.no_hooks,
        always_ask: args.name.is_none(),
    };
    let landing = delete::delete(context, &repo, &session, how, out)?;
    land(landing, context, out)
}

fn rename(old: &str, new: &str, repo: &InRepo, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let repo = locate::repo(context, repo.repo.as_deref())?;
    let session = locate::session(context, &repo, old)?;
    let name = SessionName::parse(new)?;
    let landing = moves::rename(context, &repo, &session, &name, out)?;
    out.line(&format!("Renamed session: {} -> {name}", text::clean(&session.name)));
    land(landing, context, out)
}

fn register(
    path: Option<&str>,
    name: Option<&str>,
    parent: Option<&str>,
    repo: &InRepo,
    context: &Context,
    out: &mut Out,
) -> Result<u8, Failure> {
    let path = path.map_or_else(|| context.here(), |path| context.typed(path));
    let repo = match &repo.repo {
        Some(given) => locate::named_repo(context, given)?,
        None => {
            let real = path.canonicalize().map_err(|error| Failure::io("find", &path, &error))?;
            locate::around(&context.store.repos()?, &real).ok_or_else(|| {
                Failure::new(format!("{} belongs to no registered repository", real.display()))
                    .hint("register it first: ez add")
            })?
        }
    };
    let session = moves::register(context, &repo, &path, name, parent)?;
    let path = session.path.as_deref().unwrap_or_default();
    out.line(&format!("Registered session: {} -> {}", text::clean(&session.name), text::clean(path)));
    Ok(0)
}

fn dirty(name: &str, parent: Option<&str>, repo: &InRepo, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let name = SessionName::parse(name)?;
    let (repo, from) = match locate::current_session(context, repo.repo.as_deref())? {
        Some(found) => found,
        // In the main checkout without a main session: it is the default one all the same.
        None => {
            let repo = locate::repo(context, repo.repo.as_deref())?;
            let sessions = moves::main_session(context, &repo)?;
            let main = sessions.into_iter().find(|session| session.is_default);
            // Sessions without a main one: the changes are the checkout's, and the new session has no parent.
            let here = || Session { name: repo.name.clone(), path: Some(repo.path.clone()), ..Session::default() };
            let main = main.unwrap_or_else(here);
            (repo, main)
        }
    };
    let made = from_dirty::from_dirty(context, &repo, &from, name, parent, out)?;
    let mut landing = accept::after_create(context, &repo, &made.session, out)?;
    out.line(&format!("Created session from dirty: {}", text::clean(&made.session.name)));
    landing.add(made.post, made.cd);
    land(landing, context, out)
}

fn change(context: &Context, repo: &Repo, session: &Session, edit: impl Fn(&mut Session)) -> Result<Session, Failure> {
    let made = if session.id.is_empty() { Some(moves::make_main(context, repo)?) } else { None };
    let session = made.as_ref().unwrap_or(session);
    let changed = context.store.update_session(&repo.id, &session.id, |stored| {
        edit(stored);
        Ok(stored.clone())
    })?;
    changed.ok_or_else(|| Failure::new(format!("the session {} was deleted meanwhile", quoted(&session.name))))
}

type EditLabels = Box<dyn Fn(&mut Vec<String>)>;

fn labels(command: LabelWhich, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let mut gone = Vec::new();
    let (name, repo, edit): (_, _, EditLabels) = match command {
        LabelWhich::Add { name, labels, repo } => {
            let labels = labels.iter().map(|label| name::label(label)).collect::<Result<Vec<_>, _>>()?;
            (name, repo, Box::new(move |own| own.extend(labels.clone())))
        }
        LabelWhich::Remove { name, labels, repo } => {
            gone.clone_from(&labels);
            (name, repo, Box::new(move |own| own.retain(|label| !labels.contains(label))))
        }
        LabelWhich::List { name: Some(name), json: false, repo } => (name, repo, Box::new(|_| {})),
        LabelWhich::List { name, json, repo } => {
            let repo = locate::repo(context, repo.repo.as_deref())?;
            let sessions = match &name {
                Some(name) => vec![locate::session(context, &repo, name)?],
                None => context.store.sessions(&repo.id)?,
            };
            let labels = sessions.into_iter().map(|session| (session.name, session.labels));
            return repo::list_labels(labels, json, out);
        }
    };
    let repo = locate::repo(context, repo.repo.as_deref())?;
    let session = locate::session(context, &repo, &name)?;
    repo::tell_missing(&gone, &session.labels, out);
    let session = change(context, &repo, &session, |stored| {
        edit(&mut stored.labels);
        stored.labels.sort();
        stored.labels.dedup();
    })?;
    out.line(&format!("Labels on session {} → {}", text::clean(&session.name), repo::shown(&session.labels)));
    Ok(0)
}

fn env(command: EnvWhich, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let find = |at: &InSession| locate::given_or_current(context, at.repo.repo.as_deref(), at.session.as_deref());
    match command {
        EnvWhich::Set { key, value, at } => {
            if !env_key_ok(&key) {
                return Err(Failure::usage(format!("{} is no name of a variable", quoted(&key)))
                    .cause("letters, digits and underscores, and no digit first"));
            }
            let (repo, session) = find(&at)?;
            let session = change(context, &repo, &session, |stored| {
                stored.env.insert(key.clone(), value.clone());
            })?;
            out.line(&format!("Set {key} on session {}", text::clean(&session.name)));
        }
        EnvWhich::List { json, at } => {
            let (_, session) = find(&at)?;
            if json {
                out.json(&session.env)?;
            } else {
                for (key, value) in &session.env {
                    out.line(&format!("{}={}", text::clean(key), text::clean_lines(value)));
                }
            }
        }
        EnvWhich::Unset { key, at } => {
            let (repo, session) = find(&at)?;
            let session = change(context, &repo, &session, |stored| {
                stored.env.remove(&key);
            })?;
            out.line(&format!("Unset {} on session {}", text::clean(&key), text::clean(&session.name)));
        }
    }
    Ok(0)
}

fn note(command: NoteWhich, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let find = |of: &OfNote| locate::given_or_current(context, of.repo.repo.as_deref(), of.name.as_deref());
    match command {
        NoteWhich::Open(of) => {
            let (repo, session) = find(&of)?;
            open_note(context, &repo, &session, out)?;
            Ok(0)
        }
        NoteWhich::Cd(of) => {
            let (repo, session) = find(&of)?;
            let dir = context.store.notes_dir(&repo.id, &session.id);
            files::make_dir(&dir)?;
            land(crate::landing::Landing { cd: Some(crate::context::utf8(&dir)?), ..Default::default() }, context, out)
        }
        NoteWhich::Path { json, of } => {
            let (repo, session) = find(&of)?;
            if json {
                let dir = context.store.notes_dir(&repo.id, &session.id);
                let text = files::read_bounded(&dir.join("README.md"), 16 << 20)?;
                let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                let path = crate::context::utf8(&dir)?;
                out.json(&NoteInfo { session: session.name, path, exists: dir.is_dir(), text })?;
                return Ok(0);
            }
            out.line(&text::clean(&context.store.notes_dir(&repo.id, &session.id).display().to_string()));
            Ok(0)
        }
    }
}

/// Opens a session's note in the person's editor, in the notes' folder.
///
/// # Errors
/// When the folder cannot be made or the editor cannot be started.
pub(crate) fn open_note(context: &Context, repo: &Repo, session: &Session, out: &mut Out) -> Result<(), Failure> {
    let dir = context.store.notes_dir(&repo.id, &session.id);
    files::make_dir(&dir)?;
    let command = match context.config.note_open_command.as_str() {
        "$EDITOR" => super::config::editor(context),
        other => other.to_owned(),
    };
    super::config::edit(context, &command, Path::new("README.md"), Some(&dir), out)
}

fn info(args: &AboutArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let (repo, session) = args.target.find(context)?;
    let asked = Asked { status: true, disk: args.disk };
    if args.json {
        out.json(&SessionRow::all(context, &repo, vec![session], asked).pop())?;
        return Ok(0);
    }
    out.line(&out.bold(&text::clean(&session.name)));
    out.line(&format!("repository  {}", text::clean(&repo.name)));
    out.line(&format!("id          {}", text::clean(&session.id)));
    out.line(&format!("folder      {}", text::clean(session.path.as_deref().unwrap_or("none"))));
    out.line(&format!("labels      {}", repo::shown(&session.labels)));
    out.line(&format!("made        {}", when(&session.created_at)));
    out.line(&format!("used        {}", session.last_accessed.as_deref().map_or_else(|| "never".to_owned(), when)));
    for (key, value) in &session.env {
        out.line(&format!("env         {}={}", text::clean(key), text::clean(value)));
    }
    if let Some(row) = SessionRow::all(context, &repo, vec![session], asked).pop() {
        let (changes, behind) = (if row.dirty == Some(true) { "uncommitted" } else { "none" }, row.behind.unwrap_or(0));
        out.line(&format!("branch      {}", text::clean(row.branch.as_deref().unwrap_or("none"))));
        if row.dirty.is_some() {
            out.line(&format!("changes     {changes}, {} ahead, {behind} behind", row.ahead.unwrap_or(0)));
        }
        if let Some(disk) = row.disk {
            out.line(&format!("disk        {}", text::human::bytes(disk)));
        }
        if let Some(note) = row.note {
            out.line(&format!("note        {note}"));
        }
    }
    Ok(0)
}

fn exec(args: &ExecArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let targets = if args.all {
        let repo = locate::repo(context, args.repo.repo.as_deref())?;
        context.store.sessions(&repo.id)?.into_iter().map(|session| (repo.clone(), session)).collect()
    } else {
        vec![locate::given_or_current(context, args.repo.repo.as_deref(), args.name.as_deref())?]
    };
    let mut code = 0;
    for (repo, session) in targets {
        let Some(dir) = accept::folder(&repo, &session).filter(|dir| Path::new(dir).is_dir()) else {
            if !args.all {
                return Err(Failure::new(format!("the session {} has no folder", quoted(&session.name))));
            }
            continue;
        };
        if args.all {
            out.note(&format!("== {}", session.name));
        }
        out.flush();
        let mut env = context.child_env();
        for (key, value) in session.env.iter().filter(|(key, _)| env_key_ok(key)) {
            env.set(key, value);
        }
        let Some((program, rest)) = args.command.split_first() else { return Ok(2) };
        let spec = Spec { program: program.clone(), args: rest.to_vec(), dir: Some(dir.into()), env };
        let ended = match proc::hand_over(&spec, &proc::never())? {
            HandOver::Ended(Exit::Code(code)) => u8::try_from(code).unwrap_or(1),
            HandOver::Ended(Exit::Signal(signal)) => 128_u8.saturating_add(u8::try_from(signal).unwrap_or(0)),
            HandOver::Terminated => 130,
        };
        if ended != 0 {
            code = ended;
        }
    }
    Ok(code)
}

fn prune_them(args: &PruneArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let repo = locate::repo(context, args.repo.repo.as_deref())?;
    let older = args.older.as_deref().map(prune::days).transpose()?;
    let none = !args.merged && !args.gone && older.is_none();
    let why = prune::Why { merged: args.merged || none, gone: args.gone || none, older };
    let found = prune::find(context, &repo, why)?;
    if args.json {
        let row = |(session, reason): (Session, &str)| PruneRow {
            id: session.id,
            name: session.name,
            reason: reason.to_owned(),
        };
        out.json(&found.into_iter().map(row).collect::<Vec<_>>())?;
        return Ok(0);
    }
    if found.is_empty() {
        out.line("Nothing to prune.");
        return Ok(0);
    }
    if args.dry_run || none {
        for (session, reason) in &found {
            out.line(&format!("{} ({reason})", text::clean(&session.name)));
        }
    }
    if args.dry_run {
        return Ok(0);
    }
    // Reasons that were named are the person's decision; without one, the list is a proposal.
    if none && !context.globals.yes && out.confirm("Delete these sessions? They go to the trash.") != Some(true) {
        return Err(Failure::cancelled("nothing was deleted").hint("--yes agrees, --merged or --gone names the reason"));
    }
    let mut landing = crate::landing::Landing::default();
    let mut failed = 0;
    for (session, _) in found {
        // Children that are not done with keep their parent.
        let sessions = context.store.sessions(&repo.id)?;
        if !tree::below(&sessions, &session.id).is_empty() {
            out.note(&format!("{} is kept: it has children", session.name));
            continue;
        }
        match delete::delete(context, &repo, &session, delete::How::default(), out) {
            Ok(done) => landing.add(done.post, done.cd),
            Err(failure) => {
                out.failure(&failure);
                failed = 1;
            }
        }
    }
    land(landing, context, out)?;
    Ok(failed)
}
