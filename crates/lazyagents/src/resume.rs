//! How a session is opened again: its agent's command as a process here, or by the multiplexer around us in a window or
//! pane of its own. It starts nothing. The command line and the interface call it.

use std::path::Path;

use sys::proc::{self, Spec};
use sys::{Env, Failure};

use crate::config::ResumeIn;

/// What is to be started for `command` in `folder`.
///
/// # Errors
/// When the program is not in PATH, or a window is wanted outside of tmux and zellij.
pub fn spec(command: &[String], folder: &Path, place: ResumeIn, env: &Env) -> Result<Spec, Failure> {
    let Some((name, rest)) = command.split_first() else { return Err(Failure::new("there is no command")) };
    let Some(program) = proc::which(name.as_ref(), env) else {
        return Err(Failure::new(format!("could not start {name}: not found in PATH")));
    };
    let folder_word = folder.as_os_str();
    let own = || std::iter::once(program.clone().into_os_string()).chain(rest.iter().map(Into::into));
    let words = |words: &[&str]| words.iter().map(Into::into).collect::<Vec<std::ffi::OsString>>();
    let (program, args) = match place {
        ResumeIn::Here => (program.clone().into_os_string(), rest.iter().map(Into::into).collect()),
        _ if env.get("TMUX").is_some() => {
            let verb: &[&str] =
                if place == ResumeIn::Pane { &["split-window", "-h", "-c"] } else { &["new-window", "-c"] };
            let mut args = words(verb);
            // `-c` is a format: a folder with `#(...)` in its name would be run.
            args.push(folder_word.to_string_lossy().replace('#', "##").into());
            args.push("--".into());
            // Several words are started as they are, without a shell; a single one would be a shell's line.
            if rest.is_empty() {
                args.push("env".into());
            }
            args.extend(own());
            ("tmux".into(), args)
        }
        _ if env.get("ZELLIJ").is_some() => {
            let mut args = words(if place == ResumeIn::Pane {
                &["run", "--close-on-exit", "--cwd"]
            } else {
                &["run", "--close-on-exit", "--in-place", "--cwd"]
            });
            args.push(folder_word.to_owned());
            args.push("--".into());
            args.extend(own());
            ("zellij".into(), args)
        }
        _ => {
            return Err(Failure::new("a window of its own needs tmux or zellij around lazyagents")
                .hint("sessions.resumeIn: here in config.yaml opens it in this terminal"));
        }
    };
    Ok(Spec { program, args, dir: Some(folder.to_path_buf()), env: env.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_command_and_no_shell_reads_the_words() {
        let env = |more: &[(&str, &str)]| -> Env { [("PATH", "/usr/bin:/bin")].iter().chain(more).copied().collect() };
        let command = ["sh".to_owned(), "a b".to_owned()];
        let shown = |spec: Spec| {
            let words = std::iter::once(&spec.program).chain(&spec.args);
            words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join("|")
        };
        let folder = Path::new("/tmp");
        let at = |place, more: &[(&str, &str)]| {
            spec(&command, folder, place, &env(more)).map(shown).map_err(|f| f.to_string())
        };
        let sh = proc::which("sh".as_ref(), &env(&[])).unwrap().display().to_string();
        assert_eq!(at(ResumeIn::Here, &[]).unwrap(), format!("{sh}|a b"));
        assert_eq!(at(ResumeIn::Window, &[("TMUX", "x")]).unwrap(), format!("tmux|new-window|-c|/tmp|--|{sh}|a b"));
        assert_eq!(at(ResumeIn::Pane, &[("TMUX", "x")]).unwrap(), format!("tmux|split-window|-h|-c|/tmp|--|{sh}|a b"));
        assert!(at(ResumeIn::Pane, &[]).unwrap_err().contains("needs tmux or zellij"));
        let missing = spec(&["no-such-agent".to_owned()], folder, ResumeIn::Here, &env(&[]));
        assert!(missing.unwrap_err().to_string().contains("not found in PATH"));
    }
}
