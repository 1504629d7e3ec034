//! zellij: a session's body is a zellij session whose name is the session's, encoded and, where zellij's socket path is
//! too small, cut (ez-behaviour.md 2 and 7). The name is the identity: zellij has nowhere to note another one.
//! Nothing zellij does wrong keeps a session from being made or deleted. Its calls were tried with a recording stand-in
//! only, never with zellij itself.

use std::path::{Path, PathBuf};

use sys::{Env, Failure};

use super::mux::{self, Listed, base_name};
use super::request::{Answer, Request, Session};
use super::tool::{Tool, args, say, words};
use crate::model::zellij::md5_hex;
use crate::shell::is_key;

/// The variable that names the zellij session to what runs for a session, and the key in plugin_state.
const VARIABLE: &str = "EZ_ZELLIJ_SESSION";
const STATE: &str = "zellij_session";

/// Bytes of a socket's path that every system has.
const SOCKET: usize = 103;

/// The folder with the longest name that zellij puts between its socket folder and a session's socket.
const VERSION: &str = "contract_version_1";

/// The name of a session before it is cut: `<repository>__<session>`, with `_` for every byte but letters, digits,
/// `-` and `_`.
pub fn encoded_name(repo: &Path, session: &str) -> String {
    let name = format!("{}__{session}", base_name(repo));
    let plain = |byte: u8| if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) { char::from(byte) } else { '_' };
    name.bytes().map(plain).collect()
}

/// `encoded` within `room` bytes: a beginning of it, `_`, and the first four digits of its MD5.
fn cut(encoded: &str, room: usize) -> String {
    if encoded.len() <= room {
        return encoded.to_owned();
    }
    let hash = &md5_hex(encoded.as_bytes())[..4];
    // A name that no room is left for is still told apart by its hash.
    format!("{}_{hash}", encoded.get(..room.saturating_sub(5)).unwrap_or_default())
}

/// True when the zellij session `name` is the one of the session with this encoded name.
pub fn is_name_of(name: &str, encoded: &str) -> bool {
    let cut = || {
        name.rsplit_once('_')
            .is_some_and(|(start, hash)| encoded.starts_with(start) && hash == &md5_hex(encoded.as_bytes())[..4])
    };
    name == encoded || cut()
}

/// The room that the socket folder leaves for a name.
fn room(env: &Env) -> usize {
    let folder = env.absolute("ZELLIJ_SOCKET_DIR").or_else(|| Some(env.absolute("XDG_RUNTIME_DIR")?.join("zellij")));
    // The number of the user is not known here; ten digits is the longest one.
    let folder = folder
        .unwrap_or_else(|| env.absolute("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp")).join("zellij-4294967295"));
    SOCKET.saturating_sub(folder.as_os_str().len() + 1 + VERSION.len() + 1)
}

/// The name of a session's zellij session here.
pub fn session_name(repo: &Path, session: &str, env: &Env) -> String {
    cut(&encoded_name(repo, session), room(env))
}

struct Zellij(Tool);

impl Zellij {
    fn new(env: &Env) -> Self {
        let mut tool = Tool::new("zellij", env);
        *tool.env() = mux::lasting(env);
        Self(tool)
    }

    fn needed(&self) -> Result<(), Failure> {
        if self.0.is_there() {
            return Ok(());
        }
        Err(Failure::new("zellij is not installed").hint("install it, or `ez plugin disable zellij`"))
    }

    /// The names of all zellij sessions, ended ones that can be brought back included. `-n` leaves colours out; the
    /// name is the first word of a line.
    fn names(&self) -> Vec<String> {
        match self.0.call(None, &args!("list-sessions", "-n")) {
            Ok(done) if done.exit.ok() => String::from_utf8_lossy(&done.stdout)
                .lines()
                .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
                .collect(),
            // It ends with 1 when there is none.
            _ => Vec::new(),
        }
    }

    /// Makes `name` in the background, unless it is there.
    fn ensure(&mut self, name: &str, session: &Session, folder: &Path) -> Result<(), Failure> {
        self.needed()?;
        if self.names().iter().any(|other| other == name) {
            return Ok(());
        }
        for (key, value) in session.env.iter().filter(|(key, value)| is_key(key) && !value.contains('\0')) {
            self.0.env().set(key, value);
        }
        // From inside of a session zellij would think of that one.
        self.0.env().set(VARIABLE, name).remove("ZELLIJ").remove("ZELLIJ_SESSION_NAME");
        let what = format!("make the zellij session {name}");
        self.0.must(&what, Some(folder), &args!("attach", "--create-background", name)).map(drop)
    }
}

/// The post command that shows `name`: its characters mean nothing to any shell.
fn show(name: &str, env: &Env) -> String {
    if env.get("ZELLIJ").is_some() {
        format!("zellij action switch-session {name}")
    } else {
        format!("zellij attach {name}")
    }
}

/// Answers one request.
pub(super) fn serve(request: &Request, env: &Env) -> Result<Answer, Failure> {
    let mut zellij = Zellij::new(env);
    match request.hook.as_str() {
        "on_view" => return view(&zellij, env),
        "on_view_select" => return select(&mut zellij, request, env),
        "on_session_create" | "on_session_delete" | "on_session_enter" | "on_session_exit" | "on_session_rename"
        | "on_bind" => {}
        _ => return Ok(Answer::ok()),
    }
    let session = request.session()?;
    let repo = &request.repo.path;
    let name = session_name(repo, &session.name, env);
    // A recorded name that is one of ours counts: it was cut for another socket folder.
    let name = session.noted(STATE).filter(|noted| safe(noted)).map_or(name, str::to_owned);
    let folder = mux::folder(session, repo);
    let noted = |answer: Answer, name: &str| answer.env(VARIABLE, name).state(STATE, name);
    Ok(match request.hook.as_str() {
        "on_session_create" if session.is_default => Answer::ok(),
        "on_session_create" => {
            if let Err(failure) = zellij.ensure(&name, session, folder) {
                say(&failure.to_string());
            }
            noted(Answer::ok(), &name)
        }
        "on_session_delete" => {
            delete(&zellij, &name, request.flag("force_delete", true));
            Answer::ok()
        }
        "on_bind" => {
            zellij.ensure(&name, session, folder)?;
            noted(Answer::ok(), &name).post(show(&name, env))
        }
        "on_session_enter" if request.flag("auto_attach", false) => {
            zellij.ensure(&name, session, folder)?;
            noted(Answer::ok(), &name).post(show(&name, env))
        }
        "on_session_rename" => match &request.rename {
            Some(context) => {
                let old = session.noted(STATE).filter(|noted| safe(noted)).map(str::to_owned);
                let old = old.unwrap_or_else(|| session_name(repo, &context.old_name, env));
                let new = session_name(repo, &context.new_name, env);
                rename(&zellij, &old, &new)?;
                noted(Answer::ok(), &new)
            }
            None => Answer::ok(),
        },
        _ => Answer::ok(),
    })
}

/// True for a name that [`encoded_name`] could have made: one word for any shell, and no option.
fn safe(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn delete(zellij: &Zellij, name: &str, force: bool) {
    if !zellij.0.is_there() || !zellij.names().iter().any(|other| other == name) {
        return;
    }
    let forced = args!("delete-session", "--force", name);
    let plain = args!("delete-session", name);
    let args: &[_] = if force { &forced } else { &plain };
    match zellij.0.call(None, args) {
        Ok(done) if done.exit.ok() => {}
        Ok(done) => say(&format!("could not delete the zellij session {name}: {}", words(&done))),
        Err(failure) => say(&failure.to_string()),
    }
}

fn rename(zellij: &Zellij, old: &str, new: &str) -> Result<(), Failure> {
    if old == new || !zellij.0.is_there() || !zellij.names().iter().any(|other| other == old) {
        return Ok(());
    }
    let what = format!("rename the zellij session {old} to {new}");
    zellij.0.must(&what, None, &args!("--session", old, "action", "rename-session", new)).map(drop)
}

/// All sessions of all repositories, those with a zellij session marked; the value is the session's id.
fn view(zellij: &Zellij, env: &Env) -> Result<Answer, Failure> {
    let names = if zellij.0.is_there() { zellij.names() } else { Vec::new() };
    let mut answer = Answer::ok().view("zellij");
    for Listed { repo, session, .. } in mux::listed(env)? {
        let encoded = encoded_name(&repo, &session.name);
        let mark = if names.iter().any(|name| is_name_of(name, &encoded)) { "●" } else { "○" };
        let path = session.path.as_ref().map(|path| format!("  {}", path.display())).unwrap_or_default();
        let text = format!("{mark} {}/{}{path}", base_name(&repo), session.name);
        answer = answer.item(&sys::text::clean(&text), &session.id);
    }
    Ok(answer)
}

/// Goes to the selected session, making its zellij session when there is none.
fn select(zellij: &mut Zellij, request: &Request, env: &Env) -> Result<Answer, Failure> {
    let Some(id) = &request.selected else { return Ok(Answer::ok()) };
    let listed = mux::listed(env)?;
    let Some(one) = listed.iter().find(|one| one.session.id == *id) else {
        return Err(Failure::new("the session is gone").hint("open the view again"));
    };
    let name = session_name(&one.repo, &one.session.name, env);
    zellij.ensure(&name, &one.session, one.folder())?;
    Ok(Answer::ok().post(show(&name, env)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_and_cut_to_the_socket() {
        let encoded = encoded_name(Path::new("/ws/my.repo"), "feat/x ü");
        assert_eq!(encoded, "my_repo__feat_x___");
        assert_eq!(cut(&encoded, 18), encoded);
        let short = cut(&encoded, 12);
        assert_eq!(short, format!("my_repo_{}", &md5_hex(encoded.as_bytes())[..4]));
        assert!(is_name_of(&short, &encoded) && is_name_of(&encoded, &encoded));
        assert!(!is_name_of("my_repo_0000", &encoded) && !is_name_of("other", &encoded));
        assert_eq!(cut(&encoded, 0).len(), 5);
        let env: Env = [("ZELLIJ_SOCKET_DIR", "/run/z")].into_iter().collect();
        assert_eq!(room(&env), 103 - 6 - 20);
    }
}
