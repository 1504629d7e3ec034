//! The name builder: a name typed whole, put together from configured parts, or taken from a pull request or a ticket.
//! Back one step at any time with Ctrl-P, without fzf with `..`; leaving it is no success. `session new` and the pickers call it.

use sys::Failure;
use wire::hook::{Hook, NameResolveContext};

use super::fzf::{self, List};
use crate::context::Context;
use crate::hooks::{Call, fire};
use crate::model::SessionName;
use crate::out::Out;
use crate::store::{Repo, StageKind};

const BACK: &str = "ctrl-p";

fn cancelled() -> Failure {
    Failure::cancelled("no name was chosen, nothing was made")
}

/// Asks for a session's name; `start` stands in the prompt already.
///
/// # Errors
/// Cancelled when the person leaves; those of fzf.
pub fn name(context: &Context, repo: &Repo, start: &str, out: &mut Out) -> Result<SessionName, Failure> {
    match ask(context, repo, start, out) {
        Err(failure) if failure.exit_code() == 2 && fzf::there(context) && !fzf::terminal() => {
            Err(Failure::usage("there is no terminal to ask for a name on")
                .cause(failure)
                .hint("give a name: ez session new NAME"))
        }
        other => other,
    }
}

fn ask(context: &Context, repo: &Repo, start: &str, out: &mut Out) -> Result<SessionName, Failure> {
    let modes: Vec<&str> = context.config.name_builder_modes.iter().map(String::as_str).collect();
    loop {
        let mode = match modes.as_slice() {
            [] => return Err(cancelled()),
            [one] => (*one).to_owned(),
            several => choose_mode(context, several, out)?,
        };
        let found = match mode.as_str() {
            "full_name" => ask_name(context, "session name", "", "", start, out)?,
            "build_from_parts" => parts(context, start, out)?,
            "git_hub_pr" | "github_pr" => pull_request(context, repo, out)?,
            "jira_url" => jira(context, out)?,
            other => {
                return Err(Failure::new(format!(
                    "name_builder_modes in config.toml names '{other}', which is no mode"
                ))
                .hint("modes are full_name, build_from_parts, github_pr and jira_url"));
            }
        };
        match found {
            Step::Done(name) => return Ok(name),
            Step::Back if modes.len() > 1 => {}
            Step::Back => return Err(cancelled()),
        }
    }
}

enum Step {
    Done(SessionName),
    Back,
}

fn choose_mode(context: &Context, modes: &[&str], out: &mut Out) -> Result<String, Failure> {
    let words = |mode: &str| match mode {
        "full_name" => "Full name (type it)".to_owned(),
        "build_from_parts" => "Build from parts (prefix, ticket, words)".to_owned(),
        "git_hub_pr" | "github_pr" => "From GitHub PR (URL or number)".to_owned(),
        "jira_url" => "From Jira URL (ticket key)".to_owned(),
        other => other.to_owned(),
    };
    if !fzf::there(context) {
        let names: Vec<String> = modes.iter().map(|mode| words(mode)).collect();
        let place = fzf::pick_number("naming mode", &names, out).ok_or_else(cancelled)?;
        return modes.get(place).map(|mode| (*mode).to_owned()).ok_or_else(cancelled);
    }
    let rows = modes.iter().map(|mode| ((*mode).to_owned(), words(mode))).collect();
    let list = List { prompt: "naming mode".to_owned(), rows, ..List::default() };
    let choice = fzf::pick(context, &list, out)?.and_then(|choice| choice.row).ok_or_else(cancelled)?;
    modes.get(choice).map(|mode| (*mode).to_owned()).ok_or_else(cancelled)
}

/// A text prompt that repeats until the text is a name.
fn ask_name(
    context: &Context,
    label: &str,
    header: &str,
    prefix: &str,
    start: &str,
    out: &mut Out,
) -> Result<Step, Failure> {
    let (mut header, mut start) = (header.to_owned(), start.to_owned());
    loop {
        let answer = fzf::prompt_keys(context, label, &header, &start, &[BACK], out)?.ok_or_else(cancelled)?;
        if answer.0 == BACK {
            return Ok(Step::Back);
        }
        let text = answer.1.trim();
        if text.is_empty() {
            continue;
        }
        match SessionName::parse(&format!("{prefix}{text}")) {
            Ok(name) => return Ok(Step::Done(name)),
            // What was typed is there to be mended.
            Err(why) => (header, start) = (why.to_string(), text.to_owned()),
        }
    }
}

fn parts(context: &Context, start: &str, out: &mut Out) -> Result<Step, Failure> {
    let stages = &context.config.session_name_stages;
    let mut chosen: Vec<String> = Vec::new();
    loop {
        let so_far = chosen.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("-");
        let header = match so_far.as_str() {
            "" => String::new(),
            // Without fzf the question itself names what goes back.
            _ if !fzf::there(context) => format!("so far: {so_far}"),
            _ => format!("so far: {so_far} · {BACK} back"),
        };
        let Some(stage) = stages.get(chosen.len()) else {
            let prefix = if so_far.is_empty() { String::new() } else { format!("{so_far}-") };
            match ask_name(context, "name", &header, &prefix, start, out)? {
                Step::Done(name) => return Ok(Step::Done(name)),
                Step::Back if chosen.pop().is_some() => continue,
                Step::Back => return Ok(Step::Back),
            }
        };
        let answer = match stage.kind {
            StageKind::Text => fzf::prompt_keys(context, &stage.name, &header, "", &[BACK], out)?,
            StageKind::Choice if fzf::there(context) => {
                let mut rows: Vec<_> = stage.choices.iter().map(|one| (one.clone(), one.clone())).collect();
                rows.push((String::new(), "(none)".to_owned()));
                let list =
                    List { prompt: stage.name.clone(), header, rows, keys: vec![BACK.to_owned()], ..List::default() };
                fzf::pick(context, &list, out)?.map(|choice| {
                    let typed = choice.query.clone();
                    let picked = choice.row.and_then(|row| list.rows.get(row)).map(|(value, _)| value.clone());
                    (choice.key, picked.unwrap_or(typed))
                })
            }
            StageKind::Choice => choose_plainly(context, &stage.name, &stage.choices, &header, out)?,
        };
        let (key, text) = answer.ok_or_else(cancelled)?;
        if key == BACK {
            if chosen.pop().is_none() {
                return Ok(Step::Back);
            }
        } else {
            chosen.push(text.trim().to_owned());
        }
    }
}

/// A stage's list without fzf: a number picks, as in the first question, and other text is taken as it is.
fn choose_plainly(
    context: &Context,
    name: &str,
    choices: &[String],
    header: &str,
    out: &mut Out,
) -> Result<Option<(String, String)>, Failure> {
    if choices.is_empty() {
        return fzf::prompt_keys(context, &format!("{name} (empty for none)"), header, "", &[BACK], out);
    }
    let label = format!("{name} (1 to {}, or other text; empty for none)", choices.len() + 1);
    let mut header = header.to_owned();
    loop {
        for (at, choice) in choices.iter().map(String::as_str).chain(["(none)"]).enumerate() {
            out.note(&format!("{}) {choice}", at + 1));
        }
        let Some((key, text)) = fzf::prompt_keys(context, &label, &header, "", &[BACK], out)? else { return Ok(None) };
        let Ok(number) = text.trim().parse::<usize>() else { return Ok(Some((key, text))) };
        match number.checked_sub(1) {
            Some(at) if at < choices.len() => return Ok(choices.get(at).map(|choice| (key, choice.clone()))),
            Some(at) if at == choices.len() => return Ok(Some((key, String::new()))),
            _ => header = format!("there is no {number}"),
        }
    }
}

fn pull_request(context: &Context, repo: &Repo, out: &mut Out) -> Result<Step, Failure> {
    let mut header = String::new();
    loop {
        let answer = fzf::prompt_keys(context, "GitHub PR URL or number", &header, "", &[BACK], out)?;
        let (key, url) = answer.ok_or_else(cancelled)?;
        if key == BACK {
            return Ok(Step::Back);
        }
        let url = url.trim().to_owned();
        let Some(number) = pr_number(&url) else {
            "a URL such as https://github.com/o/r/pull/42, or a number".clone_into(&mut header);
            continue;
        };
        let candidate = format!("pr{number}");
        let mut call = Call::repo(Hook::OnNameResolve, repo);
        call.name = Some(NameResolveContext { raw_url: url, candidate_name: candidate.clone() });
        let resolved = fire(context, &mut call, out).resolved;
        if let Some(resolved) = resolved {
            match SessionName::parse(resolved.trim()) {
                Ok(name) => return Ok(Step::Done(name)),
                Err(why) => out.warn(&format!("the resolved name cannot be used: {why}")),
            }
        }
        return SessionName::parse(&candidate).map(Step::Done);
    }
}

/// The number in `github.com/<o>/<r>/pull/<n>`, `#n` or `n`.
fn pr_number(text: &str) -> Option<u64> {
    if let Some(at) = text.find("github.com/") {
        let mut parts = text[at + "github.com/".len()..].split('/');
        let (_, _, word, number) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        return if word == "pull" { digits.parse().ok() } else { None };
    }
    text.strip_prefix('#').unwrap_or(text).parse().ok()
}

fn jira(context: &Context, out: &mut Out) -> Result<Step, Failure> {
    let mut header = String::new();
    loop {
        let answer = fzf::prompt_keys(context, "Jira URL", &header, "", &[BACK], out)?;
        let (key, url) = answer.ok_or_else(cancelled)?;
        if key == BACK {
            return Ok(Step::Back);
        }
        let Some(ticket) = ticket(&url) else {
            "a URL such as https://x.atlassian.net/browse/ABC-42".clone_into(&mut header);
            continue;
        };
        let answer = fzf::prompt_keys(context, "suffix (empty for none)", &ticket, "", &[BACK], out)?;
        let (key, suffix) = answer.ok_or_else(cancelled)?;
        if key == BACK {
            continue;
        }
        let suffix = suffix.trim();
        let name = if suffix.is_empty() { ticket } else { format!("{ticket}-{suffix}") };
        match SessionName::parse(&name) {
            Ok(name) => return Ok(Step::Done(name)),
            Err(why) => header = why.to_string(),
        }
    }
}

/// `KEY-42` behind `/browse/`.
fn ticket(url: &str) -> Option<String> {
    let rest = url.split("/browse/").nth(1)?;
    let (key, number) = rest.split_once('-')?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    let key_ok = key.len() >= 2
        && key.starts_with(|c: char| c.is_ascii_uppercase())
        && key.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    (key_ok && !digits.is_empty()).then(|| format!("{key}-{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_tickets() {
        assert_eq!(pr_number("https://github.com/o/r/pull/42/files"), Some(42));
        assert_eq!((pr_number("#7"), pr_number("7"), pr_number("x")), (Some(7), Some(7), None));
        assert_eq!(pr_number("https://github.com/o/r/issues/4"), None);
        assert_eq!(ticket("https://x/browse/AB1-42?x").as_deref(), Some("AB1-42"));
        assert_eq!(ticket("https://x/browse/ab-42"), None);
    }
}
