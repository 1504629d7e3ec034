//! The person's own fzf as a picker and as a text prompt. Lines are `value TAB display`; values are numbers of our own,
//! so that nothing a name holds can break a line, a shell or a preview. Every picker calls it.

use std::time::Duration;

use sys::proc::{self, Exit, Feed, Limits, Spec};
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
    /// The row that the cursor is on; it counts only while no text is typed.
    pub at: usize,
    /// What went wrong just now, above the help.
    pub said: Option<String>,
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

/// Cells that fzf has for a header at 80 columns: beside a preview, and without one.
pub const BESIDE: usize = 36;
/// As [`BESIDE`], where there is no preview.
pub const ALONE: usize = 76;

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

/// Shows the list. `None`: cancelled. A key or Enter where nothing matches the typed text is a choice without a row.
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
    let width = if list.preview.is_some() { BESIDE } else { ALONE };
    let said = list.said.iter().flat_map(|said| text::wrap(&format!("! {}", one_line(said)), width));
    let header = said.chain(Some(list.header.clone()).filter(|header| !header.is_empty())).collect::<Vec<_>>();
    if !header.is_empty() {
        args.push(format!("--header={}", header.join("\n")));
    }
    if !list.keys.is_empty() {
        args.push(format!("--expect={}", list.keys.join(",")));
    }
    if list.at > 0 && list.query.is_empty() && moves_cursor(context) {
        args.push(format!("--bind=load:pos({})", list.at + 1));
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
    let Some(answer) = run(context, args, lines.join("\n"), out)? else { return Ok(None) };
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
    let Some(answer) = run(context, args, String::new(), out)? else { return Ok(None) };
    let mut lines = answer.lines();
    let text = lines.next().unwrap_or_default().to_owned();
    Ok(Some((lines.next().unwrap_or_default().to_owned(), text)))
}

/// True when this fzf can put the cursor on a row (since 0.36); asked only when it is wanted.
fn moves_cursor(context: &Context) -> bool {
    let Ok(ended) = captured(context, vec!["--version".to_owned()], &[], Some(Duration::from_secs(2))) else {
        return false;
    };
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u32>().ok());
    matches!((numbers.next(), numbers.next()), (Some(major), Some(minor)) if (major, minor) >= (0, 36))
}

/// A terminal to show a picker on.
pub fn terminal() -> bool {
    cfg!(not(unix)) || std::fs::File::options().read(true).write(true).open("/dev/tty").is_ok()
}

fn spec(context: &Context, args: Vec<String>) -> Spec {
    let mut env = context.child_env();
    env.set("SHELL", "/bin/sh");
    let args = args.into_iter().map(Into::into).collect();
    Spec { program: "fzf".into(), args, dir: context.cwd.clone(), env }
}

/// fzf without the terminal: what it says is kept from the screen.
fn captured(
    context: &Context,
    args: Vec<String>,
    input: &[u8],
    deadline: Option<Duration>,
) -> Result<proc::Finished, Failure> {
    let limits = Limits { deadline, output: usize::try_from(MAX).unwrap_or(usize::MAX), merged: false };
    proc::run_fed(&spec(context, args), &limits, Feed { stdin: input, stderr: &mut |_| {} })
}

fn run(context: &Context, args: Vec<String>, input: String, out: &mut Out) -> Result<Option<String>, Failure> {
    out.flush();
    if proc::which("fzf".as_ref(), &context.env).is_none() {
        return Err(Failure::usage("this needs fzf, which is not in PATH")
            .hint("`ez repo list` and `ez session list` list without it"));
    }
    let shown = terminal();
    let (exit, answer, words) = if shown {
        let (exit, answer) = proc::hand_over_fed(&spec(context, args.clone()), input.into_bytes(), MAX)?;
        (exit, answer, Vec::new())
    } else {
        let ended = captured(context, args.clone(), input.as_bytes(), None)?;
        (ended.exit, ended.stdout, ended.stderr)
    };
    match exit {
        Exit::Code(0) => Ok(Some(String::from_utf8_lossy(&answer).into_owned())),
        // Nothing matched, and Enter or a key was pressed: the text and the key are there.
        Exit::Code(1) if !answer.is_empty() => Ok(Some(String::from_utf8_lossy(&answer).into_owned())),
        // 130: Esc or Ctrl-C.
        Exit::Code(1 | 130) => Ok(None),
        other => Err(unopened(context, args, other, &words, shown)),
    }
}

/// Why the picker did not open, in fzf's own words: an option or a key that it does not take is said without a terminal too.
fn unopened(context: &Context, mut args: Vec<String>, exit: Exit, words: &[u8], shown: bool) -> Failure {
    let failed = Failure::usage("fzf could not open the picker");
    args.push("--filter=x".to_owned());
    let probe = captured(context, args, &[], Some(Duration::from_secs(2))).ok();
    let complaint = probe.filter(|ended| !matches!(ended.exit, Exit::Code(0 | 1 | 130))).map(|ended| ended.stderr);
    let cleaned = |bytes: &[u8]| one_line(text::clean_bytes(bytes).trim());
    match complaint {
        Some(complaint) if !complaint.is_empty() => failed
            .cause(format!("fzf says: {}", cleaned(&complaint)))
            .hint("its options come from fzf.extra_opts and keybinds of `ez config show`, and from FZF_DEFAULT_OPTS"),
        _ if !shown => failed
            .cause(if words.is_empty() { exit.to_string() } else { format!("fzf says: {}", cleaned(words)) })
            .hint("there is no terminal; `ez repo list` and `ez session list` list without one"),
        _ => failed.cause(exit).hint("`ez repo list` and `ez session list` list without it"),
    }
}

/// Our own preview of a row in a picker, as a command: every word quoted, the row's value filled in by fzf.
pub fn preview(context: &Context, picker: &str, what: &str) -> String {
    let program = context.program.to_string_lossy();
    format!("{} preview --picker {picker} {what} -- {{1}}", shell::quote(Shell::Bash, &program))
}
