//! The person's own fzf as a picker and as a text prompt. Lines are `value TAB display`; values are numbers of our own,
//! so that nothing a name holds can break a line, a shell or a preview. Every picker calls it.

use sys::proc::{self, Exit, Spec};
use sys::{Failure, text};

use crate::context::Context;
use crate::out::Out;
use crate::shell::{self, Shell};

/// A list to choose from.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The prompt, without its `> `.
    pub prompt: String,
    /// Help above the list.
    pub header: String,
    /// Value and display of each row; values go to the preview.
    pub rows: Vec<(String, String)>,
    /// Keys that end the picker beside Enter.
    pub keys: Vec<String>,
    /// A shell command with fzf's placeholders.
    pub preview: Option<String>,
    /// Text that is typed already.
    pub query: String,
    /// Typed text that matches nothing is an answer too.
    pub free: bool,
}

/// What was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The key; empty for Enter.
    pub key: String,
    /// The row's number.
    pub row: Option<usize>,
    /// What was typed.
    pub query: String,
}

/// Bytes of an answer.
const MAX: u64 = 16 << 20;

/// A row on one line, whatever it holds. The display's own blanks stay.
fn one_line(text: &str) -> String {
    text::clean_lines(text).replace(['\n', '\t'], " ")
}

/// A value on one line: what cannot stand there becomes a blank, since it only feeds previews.
fn value_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// True when fzf can be started.
pub fn there(context: &Context) -> bool {
    context.config.selector.backend != "builtin" && proc::which("fzf".as_ref(), &context.env).is_some()
}

/// Shows the list. `None`: cancelled.
///
/// # Errors
/// When fzf is missing, or fails for another reason than the person.
pub fn pick(context: &Context, list: &List, out: &mut Out) -> Result<Option<Choice>, Failure> {
    let mut args: Vec<String> = vec![
        format!("--prompt={}> ", one_line(&list.prompt)),
        "--delimiter=\t".to_owned(),
        "--with-nth=2..".to_owned(),
        "--layout=reverse".to_owned(),
        "--no-multi".to_owned(),
        "--print-query".to_owned(),
        format!("--height={}", context.config.selector.height),
    ];
    if !list.header.is_empty() {
        args.push(format!("--header={}", list.header));
    }
    if !list.keys.is_empty() {
        args.push(format!("--expect={}", list.keys.join(",")));
    }
    if let Some(preview) = &list.preview {
        args.push(format!("--preview={preview}"));
        // Long lines (the keys) are read whole; a person's own window keeps its place and size.
        args.push("--preview-window=wrap".to_owned());
    }
    if !list.query.is_empty() {
        args.push(format!("--query={}", list.query));
    }
    args.extend(context.config.selector.extra_opts.iter().cloned());
    let lines: Vec<String> =
        list.rows.iter().map(|(value, shown)| format!("{}\t{}", value_line(value), one_line(shown))).collect();
    let Some(answer) = run(context, args, lines.join("\n"), list.free, out)? else { return Ok(None) };
    let mut answer = answer.lines();
    let query = answer.next().unwrap_or_default().to_owned();
    let key = if list.keys.is_empty() { String::new() } else { answer.next().unwrap_or_default().to_owned() };
    let chosen = answer.next();
    let row = chosen.and_then(|chosen| lines.iter().position(|line| line == chosen));
    Ok(Some(Choice { key, row, query }))
}

/// As [`pick`], and the row is told by its number: each value is made unlike every other.
///
/// # Errors
/// As [`pick`].
pub fn pick_row(context: &Context, mut list: List, out: &mut Out) -> Result<Option<Choice>, Failure> {
    let mut seen = std::collections::HashSet::new();
    for (at, (value, shown)) in list.rows.iter_mut().enumerate() {
        // The same line twice cannot be told apart in fzf's answer; a third column that is not shown can.
        if !seen.insert((value_line(value), one_line(shown))) {
            shown.push_str(&"\u{a0}".repeat(1 + at % 400));
            seen.insert((value_line(value), one_line(shown)));
        }
    }
    pick(context, &list, out)
}

/// A list in plain lines, for where fzf is not: the place of the one whose number was typed. `None`: nobody answered.
pub fn pick_number(label: &str, names: &[String], out: &mut Out) -> Option<usize> {
    for (at, name) in names.iter().enumerate() {
        out.note(&format!("{}) {name}", at + 1));
    }
    loop {
        let answer = out.ask(&format!("{label} (1 to {})>", names.len()))?;
        let place = answer.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        if let Some(place) = place.filter(|place| *place < names.len()) {
            return Some(place);
        }
    }
}

/// Asks for a line of text through fzf, else plainly. `None`: cancelled.
///
/// # Errors
/// As [`pick`].
pub fn prompt(
    context: &Context,
    label: &str,
    header: &str,
    start: &str,
    out: &mut Out,
) -> Result<Option<String>, Failure> {
    prompt_keys(context, label, header, start, &[], out).map(|answer| answer.map(|(_, text)| text))
}

/// As [`prompt`], with keys that end it. The key and the text.
///
/// # Errors
/// As [`pick`].
pub fn prompt_keys(
    context: &Context,
    label: &str,
    header: &str,
    start: &str,
    keys: &[&str],
    out: &mut Out,
) -> Result<Option<(String, String)>, Failure> {
    if !there(context) {
        if !header.is_empty() {
            out.note(header);
        }
        // No name is `..`, so it can stand for the key that goes back.
        let Some(back) = keys.first() else {
            return Ok(out.ask(&format!("{label}>")).map(|text| (String::new(), text)));
        };
        let answer = out.ask(&format!("{label} (.. goes back)>"));
        return Ok(answer.map(|text| match text.trim() {
            ".." => ((*back).to_owned(), String::new()),
            _ => (String::new(), text),
        }));
    }
    let mut args = vec![
        format!("--prompt={label}> "),
        "--print-query".to_owned(),
        "--layout=reverse".to_owned(),
        "--info=hidden".to_owned(),
        format!("--height={}", context.config.selector.height),
    ];
    if !header.is_empty() {
        args.push(format!("--header={header}"));
    }
    if !start.is_empty() {
        args.push(format!("--query={start}"));
    }
    if !keys.is_empty() {
        args.push(format!("--expect={}", keys.join(",")));
    }
    let Some(answer) = run(context, args, String::new(), true, out)? else { return Ok(None) };
    let mut lines = answer.lines();
    let text = lines.next().unwrap_or_default().to_owned();
    Ok(Some((lines.next().unwrap_or_default().to_owned(), text)))
}

fn run(
    context: &Context,
    args: Vec<String>,
    input: String,
    free: bool,
    out: &mut Out,
) -> Result<Option<String>, Failure> {
    out.flush();
    if proc::which("fzf".as_ref(), &context.env).is_none() {
        return Err(Failure::usage("this needs fzf, which is not in PATH")
            .hint("`ez repo list` and `ez session list` list without it"));
    }
    let mut env = context.child_env();
    env.set("SHELL", "/bin/sh");
    let args = args.into_iter().map(Into::into).collect();
    let spec = Spec { program: "fzf".into(), args, dir: context.cwd.clone(), env };
    let (exit, answer) = proc::hand_over_fed(&spec, input.into_bytes(), MAX)?;
    match exit {
        Exit::Code(0) => Ok(Some(String::from_utf8_lossy(&answer).into_owned())),
        Exit::Code(1) if free => Ok(Some(String::from_utf8_lossy(&answer).into_owned())),
        // 1: nothing matched and Enter was pressed; 130: Esc or Ctrl-C.
        Exit::Code(1 | 130) => Ok(None),
        other => Err(Failure::usage("fzf could not open the picker")
            .cause(other)
            .hint("`ez repo list` and `ez session list` list without a terminal")),
    }
}

/// Our own preview of a row, as a command: every word quoted, the row's value filled in by fzf.
pub fn preview(context: &Context, what: &str) -> String {
    let program = context.program.to_string_lossy();
    format!("{} preview {what} -- {{1}}", shell::quote(Shell::Bash, &program))
}
