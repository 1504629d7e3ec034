//! Completions: the script of a shell asks `ez __complete`, which says what may stand at the cursor. It reads the state
//! files and git's own, starts nothing, and has no opinion when something cannot be read. clap's dynamic engine is not
//! used: it is marked unstable, and its script for bash splits and expands what it is given.

mod line;
mod scripts;
mod values;

use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory};
use sys::{Env, Failure};

use super::{Cli, Out};
pub(super) use scripts::script;
use values::Kind;

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The word.
    pub(super) value: String,
    /// What it is; may be empty.
    pub(super) about: String,
}

/// What may stand at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// `files` or `dirs` are the shell's own business; else empty.
    pub(super) paths: &'static str,
    /// Words, in the order in which they are shown.
    pub(super) candidates: Vec<Candidate>,
}

/// `ez __complete bash LINE BREAKS`, `ez __complete zsh|fish CURRENT WORD...`: the first line is `files`, `dirs` or
/// empty, each further one a word, a tab and what it is (for bash: a word, quoted for its place).
pub(super) fn run(args: &[OsString], env: Env, out: &mut Out) -> Result<u8, Failure> {
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let Some((shell, rest)) = args.split_first() else { return Ok(2) };
    if shell == "bash" {
        let (text, breaks) = (rest.first().map_or("", String::as_str), rest.get(1).map_or("", String::as_str));
        let Some(line) = line::Line::read(text) else { return Ok(0) };
        let answer = answer(env, &line.before, &line.current);
        out.line(answer.paths);
        for candidate in answer.candidates.iter().filter(|candidate| candidate.value.starts_with(&line.current)) {
            out.line(&line.quoted(&candidate.value, breaks));
        }
        return Ok(0);
    }
    let Some((current, before)) = rest.split_first() else { return Ok(2) };
    let answer = answer(env, before, current);
    out.line(answer.paths);
    for Candidate { value, about } in answer.candidates {
        out.line(&format!("{value}\t{about}"));
    }
    Ok(0)
}

/// What stands before the cursor, as far as it matters.
struct Walk {
    command: Command,
    path: String,
    /// Values of options and positions, by id.
    given: Vec<(String, String)>,
    /// The option that waits for its value.
    pending: Option<Arg>,
    positions: usize,
    /// Behind `--`.
    only_positions: bool,
}

impl Walk {
    fn new() -> Self {
        let mut command = Cli::command();
        command.build();
        let (path, given) = (String::new(), Vec::new());
        Self { command, path, given, pending: None, positions: 0, only_positions: false }
    }

    fn option(&self, word: &str) -> Option<&Arg> {
        let long = word.strip_prefix("--");
        let short = word.strip_prefix('-').and_then(|rest| rest.chars().next());
        self.command.get_arguments().find(|arg| match long {
            Some(long) => arg.get_long() == Some(long),
            None => short.is_some() && arg.get_short() == short,
        })
    }

    fn position(&self) -> Option<&Arg> {
        let all: Vec<&Arg> = self.command.get_positionals().collect();
        if self.only_positions
            && let Some(last) = all.iter().find(|arg| arg.is_last_set())
        {
            return Some(last);
        }
        let many = |arg: &&Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
        all.get(self.positions).copied().or_else(|| all.last().copied().filter(many))
    }

    fn word(&mut self, word: &str) {
        if let Some(option) = self.pending.take() {
            self.given.push((option.get_id().to_string(), word.to_owned()));
        } else if self.only_positions || !word.starts_with('-') || word == "-" {
            self.plain(word);
        } else if word == "--" {
            self.only_positions = true;
        } else {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) if word.starts_with("--") => (name, Some(value)),
                _ if !word.starts_with("--") => {
                    let (name, value) = word.split_at(word.char_indices().nth(2).map_or(word.len(), |(at, _)| at));
                    (name, (!value.is_empty()).then_some(value))
                }
                _ => (word, None),
            };
            let Some(option) = self.option(name).filter(|option| option.get_action().takes_values()).cloned() else {
                return;
            };
            match value {
                Some(value) => self.given.push((option.get_id().to_string(), value.to_owned())),
                None => self.pending = Some(option),
            }
        }
    }

    fn plain(&mut self, word: &str) {
        if self.positions == 0
            && !self.only_positions
            && let Some(sub) = self.command.find_subcommand(word).cloned()
        {
            self.path = format!("{} {}", self.path, sub.get_name()).trim_start().to_owned();
            self.command = sub;
            return;
        }
        if let Some(arg) = self.position() {
            self.given.push((arg.get_id().to_string(), word.to_owned()));
        }
        self.positions += 1;
    }
}

/// What may stand where `current` stands, behind the words `before` (the program's name first).
fn answer(env: Env, before: &[String], current: &str) -> Answer {
    let mut walk = Walk::new();
    before.iter().skip(1).for_each(|word| walk.word(word));
    let values = |arg: &Arg| values::of(Kind::of(&walk.path, arg), arg, &walk.given, env.clone());
    if let Some(option) = &walk.pending {
        return values(option);
    }
    if !walk.only_positions && current.starts_with('-') {
        // `--repo=` and what stands behind it are one word.
        if let Some((name, _)) = current.split_once('=') {
            let Some(option) = walk.option(name).filter(|option| option.get_action().takes_values()) else {
                return Answer::default();
            };
            let mut answer = values(option);
            for candidate in &mut answer.candidates {
                candidate.value = format!("{name}={}", candidate.value);
            }
            return answer;
        }
        let long = |arg: &Arg| {
            let value = format!("--{}", arg.get_long().filter(|_| !arg.is_hide_set())?);
            Some(Candidate { value, about: arg.get_help().map(ToString::to_string).unwrap_or_default() })
        };
        return Answer { paths: "", candidates: walk.command.get_arguments().filter_map(long).collect() };
    }
    let mut answer = walk.position().map(values).unwrap_or_default();
    if walk.positions == 0 && !walk.only_positions {
        let sub = |sub: &Command| Candidate {
            value: sub.get_name().to_owned(),
            about: sub.get_about().map(ToString::to_string).unwrap_or_default(),
        };
        answer.candidates.extend(walk.command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(sub));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(command: &Command, path: &str, look: &mut impl FnMut(&str, &Arg)) {
        command.get_arguments().filter(|arg| arg.get_action().takes_values()).for_each(|arg| look(path, arg));
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
            every(sub, format!("{path} {}", sub.get_name()).trim_start(), look);
        }
    }

    #[test]
    fn each_argument_has_a_kind() {
        let mut command = Cli::command();
        command.build();
        let mut missing = Vec::new();
        every(&command, "", &mut |path, arg| {
            if Kind::of(path, arg) == Kind::Unknown && arg.get_possible_values().is_empty() {
                missing.push(format!("{path}: {}", arg.get_id()));
            }
        });
        assert_eq!(missing, Vec::<String>::new());
    }
}
