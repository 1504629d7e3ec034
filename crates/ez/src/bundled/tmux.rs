//! tmux: a session's body is a tmux session called `<repository>/<session>`, known by its user option
//! `@ez_session_id` and not by that name, which people change and two sessions may share (ez-behaviour.md 7).
//! What would end or take over the person's terminal is a post command; the rest is done here, in one start of tmux.
//! Without tmux, or without a server, only what needs one fails; a server is started by the first create.

use std::ffi::OsString;
use std::path::Path;

use sys::{Env, Failure};

use super::mux::{self, Listed, base_name, word};
use super::request::{Answer, Request, Session};
use super::tool::{Tool, args, say, words};
use crate::shell::is_key;

/// The variable that names the tmux session to what runs for a session, and the key in plugin_state.
const VARIABLE: &str = "EZ_TMUX_SESSION";
const STATE: &str = "tmux_session";

/// The name of a session's tmux session; tmux itself would turn `.` and `:` to `_`. What tmux gives a meaning
/// in a format (`#`), a target (`$`, which it escapes in some versions, `;`) or an output (control characters, `\`) becomes
/// `_` too.
pub fn session_name(repo: &Path, session: &str) -> String {
    let name = format!("{}/{session}", base_name(repo));
    let special = |char: char| matches!(char, '.' | ':' | '#' | '\\' | ';' | '$') || char.is_control();
    name.chars().map(|char| if special(char) { '_' } else { char }).collect()
}

/// The name when another session has [`session_name`] already: the same for the same id, at any time.
pub fn other_name(name: &str, id: &str) -> String {
    format!("{name}-{}", &crate::model::zellij::md5_hex(id.as_bytes())[..6])
}

/// One running tmux session.
#[derive(Debug, PartialEq, Eq)]
struct Running {
    /// `@ez_session_id`, empty when it is not ours.
    id: String,
    attached: bool,
    name: String,
}

/// What [`Tmux::running`] asks for; the name comes last, it may hold blanks. `-` keeps an empty id a field.
const LIST: &str = "#{session_attached} #{?@ez_session_id,#{@ez_session_id},-} #{session_name}";

/// Reads the lines of [`LIST`].
fn read_list(out: &[u8]) -> Vec<Running> {
    let line = |line: &str| {
        let mut fields = line.splitn(3, ' ');
        let (attached, id, name) = (fields.next()?, fields.next()?, fields.next()?);
        let id = if id == "-" { String::new() } else { id.to_owned() };
        Some(Running { id, attached: attached != "0", name: name.to_owned() })
    };
    String::from_utf8_lossy(out).lines().filter_map(line).collect()
}

/// An argument for tmux, which takes a `;` at the end of one for the end of a command (cmd_parse_from_arguments).
fn literal(text: impl Into<OsString>) -> OsString {
    let text = text.into();
    match text.to_str().and_then(|text| text.strip_suffix(';')) {
        Some(rest) => OsString::from(format!("{rest}\\;")),
        None => text,
    }
}

/// What a tmux session is made for.
#[derive(Debug)]
struct Wanted<'a> {
    repo_id: &'a str,
    session: &'a Session,
    folder: &'a Path,
}

impl Wanted<'_> {
    /// Its variables, ours among them.
    fn variables(&self, name: &str) -> Vec<(String, String)> {
        let own =
            self.session.env.iter().filter(|(key, value)| is_key(key) && !value.contains('\0') && *key != VARIABLE);
        let mut list: Vec<_> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        list.push((VARIABLE.to_owned(), name.to_owned()));
        list
    }

    /// The commands that mark the tmux session `name` as this one's, each behind a `;`.
    fn marks(&self, name: &str, args: &mut Vec<OsString>) {
        let target = format!("={name}");
        let path = self.folder.display().to_string();
        let options = [
            ("@ez_managed", "1"),
            ("@ez_repo_id", self.repo_id),
            ("@ez_session_id", &self.session.id),
            ("@ez_session_name", &self.session.name),
            ("@ez_session_path", &path),
        ];
        for (option, value) in options {
            args.extend([";", "set-option", "-t"].map(OsString::from));
            // A target with `:` is a session for certain; without, set-option looks for a pane first.
            args.extend([OsString::from(format!("{target}:")), option.into(), literal(value)]);
        }
        for (key, value) in self.variables(name) {
            args.extend([";", "set-environment", "-t"].map(OsString::from));
            args.extend([OsString::from(&target), key.into(), literal(value)]);
        }
    }

    /// The whole command line that makes it. `-c` is a format, so that a path with `#(...)` would be run.
    fn create(&self, name: &str, with_env: bool) -> Vec<OsString> {
        let mut args: Vec<OsString> =
            ["-u", "new-session", "-d", "-P", "-F", "#{session_id}", "-s", name, "-c"].map(OsString::from).to_vec();
        args.push(literal(self.folder.display().to_string().replace('#', "##")));
        if with_env {
            for (key, value) in self.variables(name) {
                args.extend(["-e".into(), literal(format!("{key}={value}"))]);
            }
        }
        self.marks(name, &mut args);
        args
    }
}

struct Tmux(Tool);

impl Tmux {
    fn new(env: &Env) -> Self {
        let mut tool = Tool::new("tmux", env);
        *tool.env() = mux::lasting(env);
        Self(tool)
    }

    /// The failure of a hook that cannot do without tmux.
    fn needed(&self) -> Result<(), Failure> {
        if self.0.is_there() {
            return Ok(());
        }
        Err(Failure::new("tmux is not installed").hint("install it, or `ez plugin disable tmux`"))
    }

    /// What runs; nothing when there is no server or no tmux.
    fn running(&self) -> Vec<Running> {
        if !self.0.is_there() {
            return Vec::new();
        }
        // `-u`: a name that is not ASCII is not to be shown as `_`.
        match self.0.call(None, &args!("-u", "list-sessions", "-F", LIST)) {
            Ok(done) if done.exit.ok() => read_list(&done.stdout),
            _ => Vec::new(),
        }
    }

    /// The name of this session's tmux session, when it runs.
    fn find(&self, session: &Session) -> Option<String> {
        self.running().into_iter().find(|one| !session.id.is_empty() && one.id == session.id).map(|one| one.name)
    }

    /// The terminal that ez was started in is inside of this session's tmux session.
    fn is_here(&self, session: &Session) -> bool {
        let here = self.0.call(None, &args!("-u", "display-message", "-p", "#{@ez_session_id}"));
        let id = |here: sys::proc::Finished| String::from_utf8_lossy(&here.stdout).trim_end() == session.id;
        !session.id.is_empty() && here.is_ok_and(|here| here.exit.ok() && id(here))
    }

    fn call(&self, args: &[OsString]) -> Result<Result<(), String>, Failure> {
        let args: Vec<_> = args.iter().map(OsString::as_os_str).collect();
        let done = self.0.call(None, &args)?;
        Ok(if done.exit.ok() { Ok(()) } else { Err(words(&done)) })
    }

    /// As [`Tmux::call`] for a command line that makes a session first: when a later command of it fails, the session,
    /// which nobody could find again, goes.
    fn make(&self, args: &[OsString]) -> Result<Result<(), String>, Failure> {
        let args: Vec<_> = args.iter().map(OsString::as_os_str).collect();
        let done = self.0.call(None, &args)?;
        if done.exit.ok() {
            return Ok(Ok(()));
        }
        let made = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        let number = made.strip_prefix('$').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        if number && let Err(said) = self.call(&["kill-session", "-t", &made].map(OsString::from))? {
            say(&format!("a tmux session is left: {said}"));
        }
        Ok(Err(words(&done)))
    }

    /// Makes it and marks it, in one start; the name it got. A name that is taken by another session, or by one that
    /// is not ours, gives way to [`other_name`]; one that is this session's already is marked afresh and kept.
    fn create(&self, repo: &Path, wanted: &Wanted<'_>) -> Result<String, Failure> {
        self.needed()?;
        let plain = session_name(repo, &wanted.session.name);
        let mut name = plain.clone();
        let mut with_env = true;
        // At most: without -e (tmux before 3.2), and with the other name.
        for _ in 0..3 {
            match self.make(&wanted.create(&name, with_env))? {
                Ok(()) => return Ok(name),
                Err(said) if said.contains("duplicate session") => {
                    if let Some(own) = self.find(wanted.session) {
                        self.mark(&own, wanted)?;
                        return Ok(own);
                    }
                    name = other_name(&plain, &wanted.session.id);
                }
                Err(said) if with_env && (said.contains("usage:") || said.contains("unknown option")) => {
                    with_env = false
                }
                Err(said) => return Err(Failure::new(format!("could not make the tmux session {name}")).cause(said)),
            }
        }
        Err(Failure::new(format!("could not make the tmux session {plain}")).cause("its names are taken"))
    }

    /// Marks a running tmux session afresh: what opens in it from now on has the session's variables as they are now.
    fn mark(&self, name: &str, wanted: &Wanted<'_>) -> Result<(), Failure> {
        let mut args = vec![OsString::from("-u")];
        wanted.marks(name, &mut args);
        // Without the first `;`.
        args.remove(1);
        self.call(&args)?.map_err(|said| Failure::new(format!("could not mark the tmux session {name}")).cause(said))
    }

    /// The running one, or a new one.
    fn ensure(&self, repo: &Path, wanted: &Wanted<'_>) -> Result<String, Failure> {
        self.needed()?;
        let Some(name) = self.find(wanted.session) else { return self.create(repo, wanted) };
        self.mark(&name, wanted)?;
        Ok(name)
    }
}

/// The post command that shows `name` in the person's terminal.
fn show(name: &str, env: &Env) -> String {
    let verb = if env.get("TMUX").is_some() { "switch-client" } else { "attach-session" };
    format!("tmux {verb} -t {}", word(&format!("={name}")))
}

/// Answers one request.
pub(super) fn serve(request: &Request, env: &Env) -> Result<Answer, Failure> {
    let tmux = Tmux::new(env);
    match request.hook.as_str() {
        "on_view" => return view(&tmux, env),
        "on_view_select" => return select(&tmux, request, env),
        "on_session_create" | "on_session_delete" | "on_session_enter" | "on_session_exit" | "on_session_rename"
        | "on_bind" => {}
        _ => return Ok(Answer::ok()),
    }
    let session = request.session()?;
    let repo = &request.repo.path;
    let wanted = Wanted { repo_id: &request.repo.id, session, folder: mux::folder(session, repo) };
    let auto = request.flag("auto_attach", false);
    let noted = |answer: Answer, name: &str| answer.env(VARIABLE, name).state(STATE, name);
    Ok(match request.hook.as_str() {
        "on_session_create" if session.is_default => Answer::ok(),
        "on_session_create" => noted(Answer::ok(), &tmux.create(repo, &wanted)?),
        "on_session_delete" => match tmux.find(session) {
            // Not killed here: the terminal that ez runs in may be inside of it. Who is inside is shown another session
            // first, the last one or any, where there is one: else the client would end.
            Some(name) if env.get("TMUX").is_some() && tmux.is_here(session) => Answer::ok().post(format!(
                "tmux switch-client -l 2>/dev/null || tmux switch-client -n 2>/dev/null; tmux kill-session -t {}",
                word(&format!("={name}"))
            )),
            Some(name) => Answer::ok().post(format!("tmux kill-session -t {}", word(&format!("={name}")))),
            None => Answer::ok(),
        },
        "on_bind" => {
            let name = tmux.ensure(repo, &wanted)?;
            noted(Answer::ok(), &name).post(show(&name, env))
        }
        "on_session_enter" if auto => {
            let name = tmux.ensure(repo, &wanted)?;
            let answer = noted(Answer::ok(), &name).post(show(&name, env));
            // Inside of tmux the client goes there, and this shell stays what it is: it may be another session's.
            match std::env::current_dir() {
                Ok(here) if env.get("TMUX").is_some() && !tmux.is_here(session) => answer.cd(&here),
                _ => answer,
            }
        }
        // Only out of this session's own tmux session; anywhere else there is nothing to leave.
        "on_session_exit" if auto && env.get("TMUX").is_some() => {
            if tmux.is_here(session) {
                Answer::ok().post("tmux detach-client".to_owned())
            } else {
                Answer::ok()
            }
        }
        "on_session_rename" => match rename(&tmux, request, session, repo)? {
            Some(name) => noted(Answer::ok(), &name),
            None => Answer::ok(),
        },
        _ => Answer::ok(),
    })
}

/// Gives the tmux session its new name, if it runs or is noted; the new name.
fn rename(tmux: &Tmux, request: &Request, session: &Session, repo: &Path) -> Result<Option<String>, Failure> {
    let Some(context) = &request.rename else { return Ok(None) };
    let mut new = session_name(repo, &context.new_name);
    let running = tmux.running();
    let own = running.iter().find(|one| !session.id.is_empty() && one.id == session.id);
    if running.iter().any(|one| one.name == new && one.id != session.id) {
        new = other_name(&new, &session.id);
    }
    let Some(own) = own else { return Ok(session.noted(STATE).map(|_| new)) };
    let path = context.new_path.as_ref().filter(|path| path.is_dir()).or(session.path.as_ref());
    let renamed = Session { name: context.new_name.clone(), path: path.cloned(), ..session.clone() };
    let wanted = Wanted { repo_id: &request.repo.id, session: &renamed, folder: mux::folder(&renamed, repo) };
    let mut args: Vec<OsString> = vec!["-u".into()];
    if own.name != new {
        args.extend(["rename-session".into(), "-t".into(), format!("={}", own.name).into(), OsString::from(&new)]);
    }
    wanted.marks(&new, &mut args);
    if own.name == new {
        args.remove(1);
    }
    match tmux.call(&args)? {
        Ok(()) => Ok(Some(new)),
        Err(said) => {
            let failure = Failure::new(format!("could not rename the tmux session {}", own.name)).cause(said);
            let now = tmux.find(session).filter(|now| *now != own.name);
            let back = now.map(|now| ["rename-session".into(), "-t".into(), format!("={now}"), own.name.clone()]);
            Err(match back.map(|back| tmux.call(&back.map(OsString::from))).transpose()? {
                Some(Err(said)) => failure.cause(format!("it keeps its new name: {said}")),
                _ => failure,
            })
        }
    }
}

/// All sessions of all repositories, the running ones marked; and what of ours still runs for a session that is gone.
/// The value is the session's id: names and paths may hold anything.
fn view(tmux: &Tmux, env: &Env) -> Result<Answer, Failure> {
    let running = tmux.running();
    let listed = mux::listed(env)?;
    let mut answer = Answer::ok().view("tmux");
    for Listed { repo, session, .. } in &listed {
        let own = running.iter().find(|one| one.id == session.id);
        let mark = own.map_or("○", |one| if one.attached { "◉" } else { "●" });
        let path = session.path.as_ref().map(|path| format!("  {}", path.display())).unwrap_or_default();
        let text = format!("{mark} {}/{}{path}", base_name(repo), session.name);
        answer = answer.item(&sys::text::clean(&text), &session.id);
    }
    for one in running.iter().filter(|one| !one.id.is_empty()) {
        if !listed.iter().any(|other| other.session.id == one.id) {
            answer = answer.item(&sys::text::clean(&format!("● {}  (no session any more)", one.name)), &one.id);
        }
    }
    Ok(answer)
}

/// Goes to the selected session, making its tmux session when it does not run.
fn select(tmux: &Tmux, request: &Request, env: &Env) -> Result<Answer, Failure> {
    let Some(id) = &request.selected else { return Ok(Answer::ok()) };
    tmux.needed()?;
    if let Some(own) = tmux.running().into_iter().find(|one| one.id == *id) {
        return Ok(Answer::ok().post(show(&own.name, env)));
    }
    let listed = mux::listed(env)?;
    let Some(one) = listed.iter().find(|one| one.session.id == *id) else {
        return Err(Failure::new("the session is gone").hint("open the view again"));
    };
    let wanted = Wanted { repo_id: &one.repo_id, session: &one.session, folder: one.folder() };
    let name = tmux.create(&one.repo, &wanted)?;
    say(&format!("made the tmux session {}", sys::text::clean(&name)));
    Ok(Answer::ok().post(show(&name, env)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let name = |repo: &str, session: &str| session_name(Path::new(repo), session);
        assert_eq!(name("/ws/repo", "feat.b:c d"), "repo/feat_b_c d");
        assert_eq!(name("/ws/$r#(x)", "a\n\\;"), "_r_(x)/a___");
        assert_eq!(name("/ws/repo", "fix$PATH"), "repo/fix_PATH");
        assert_ne!(other_name("r/a_b", "1"), other_name("r/a_b", "2"));
    }

    #[test]
    fn a_list_is_read_whatever_the_names_are() {
        let running = |id: &str, attached, name: &str| Running { id: id.into(), attached, name: name.into() };
        let expected = [running("", false, "a b  c"), running("u-1", true, "repo/x")];
        assert_eq!(read_list(b"0 - a b  c\n2 u-1 repo/x\nnoise\n"), expected);
    }

    #[test]
    fn a_semicolon_at_the_end_is_kept_from_tmux() {
        for (text, expected) in [("a;", "a\\;"), ("a\\;", "a\\\\;"), (";", "\\;"), ("a;b", "a;b")] {
            assert_eq!(literal(text), expected);
        }
    }
}
