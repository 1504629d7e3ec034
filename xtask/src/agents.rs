//! `cargo xtask agents`: the real agents from npm, and whether `lazyagents agents --json` tells the truth about them. It
//! writes below its work folder only and never into the person's home; it needs npm and minutes, so no CI
//! runs it. Only xtask's main calls it.
//!
//! First three passes: the agents on PATH as npm links them; PATH poor and the agents below `~/.nvm`; PATH poor and the
//! agents below the prefix in `~/.npmrc`. In each the version has to be that of the installed package.json and of
//! the program's own `--version`, and the home has to stay empty but for lazyagents' own folders. Then each agent is run
//! against a model that is none (`xtask/turns.py`): providers and hooks are obeyed, sessions and live signs appear, tokens
//! are what the model said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// One agent that npm can install.
struct Agent {
    /// What `--agents` calls it; its program has the same name.
    program: &'static str,
    id: &'static str,
    package: &'static str,
}

const AGENTS: [Agent; 7] = [
    Agent { program: "claude", id: "claude-code", package: "@anthropic-ai/claude-code" },
    Agent { program: "codex", id: "codex", package: "@openai/codex" },
    Agent { program: "gemini", id: "gemini-cli", package: "@google/gemini-cli" },
    Agent { program: "opencode", id: "opencode", package: "opencode-ai" },
    Agent { program: "pi", id: "pi", package: "@earendil-works/pi-coding-agent" },
    Agent { program: "qwen", id: "qwen-code", package: "@qwen-code/qwen-code" },
    Agent { program: "copilot", id: "copilot", package: "@github/copilot" },
];

const USAGE: &str = "usage: cargo xtask agents [--agents claude,codex,...] [--dir FOLDER] [--bin PROGRAM]
  --agents  claude codex gemini opencode pi qwen copilot, or all (default: claude,codex,pi,qwen)
  --dir     where they are installed and kept (default: target/agents)
  --bin     the program that is checked (default: target/release/lazyagents)";

/// What was asked for.
struct Options {
    agents: Vec<&'static Agent>,
    dir: PathBuf,
    bin: PathBuf,
}

/// What is right about one agent.
struct Truth {
    agent: &'static Agent,
    /// The number in the installed package.json.
    package: String,
    /// The number its `--version` prints.
    program: String,
}

/// Installs, asks, compares, prints a table.
///
/// # Errors
/// On an unknown option, when something cannot be installed or started, and when any answer is wrong.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        say(USAGE);
        return Ok(());
    }
    let options = options(args)?;
    make_dir(&options.dir)?;
    let dir = fs::canonicalize(&options.dir).with_context(|| format!("no folder {}", options.dir.display()))?;
    let bin = fs::canonicalize(&options.bin)
        .with_context(|| format!("no program {}: cargo build --release first, or --bin", options.bin.display()))?;
    let node = install_node(&dir)?;
    let mut truths = Vec::new();
    for agent in &options.agents {
        install(&dir, agent, &node)?;
        truths.push(truth(&dir, agent, &node)?);
    }
    let mut wrong = Vec::new();
    wrong.extend(pass_on_path(&dir, &bin, &node, &truths)?);
    wrong.extend(pass_below(&dir, &bin, &node, &truths, "nvm", ".nvm/versions/node/v22.0.0")?);
    wrong.extend(pass_below(&dir, &bin, &node, &truths, "npm prefix", "prefix")?);
    for truth in &truths {
        wrong.extend(turns(&dir, &bin, &node, truth.agent)?);
    }
    if wrong.is_empty() {
        say("all right");
        return Ok(());
    }
    bail!("{} wrong:\n  {}", wrong.len(), wrong.join("\n  "))
}

fn options(args: &[String]) -> Result<Options> {
    let mut names = "claude,codex,pi,qwen".to_owned();
    let mut dir = PathBuf::from("target/agents");
    let mut bin = PathBuf::from("target/release/lazyagents");
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args.next().with_context(|| format!("{arg} needs a value\n{USAGE}"))?;
        match arg.as_str() {
            "--agents" => names.clone_from(value),
            "--dir" => dir = PathBuf::from(value),
            "--bin" => bin = PathBuf::from(value),
            _ => bail!("unknown option {arg}\n{USAGE}"),
        }
    }
    if names == "all" {
        return Ok(Options { agents: AGENTS.iter().collect(), dir, bin });
    }
    let agents = names.split(',').map(|name| {
        let found = AGENTS.iter().find(|agent| agent.program == name);
        found.with_context(|| format!("unknown agent {name}\n{USAGE}"))
    });
    Ok(Options { agents: agents.collect::<Result<_>>()?, dir, bin })
}

/// Each agent against a model that is none, with lazyagents open beside it: what it shows is said in the script itself.
fn turns(dir: &Path, bin: &Path, node: &Path, agent: &Agent) -> Result<Option<String>> {
    let mut script = command("python3");
    script.arg(crate::step::root().join("xtask/turns.py")).args(["--agent", agent.program]);
    script.arg("--program").arg(linked(dir, agent)).arg("--node").arg(node).arg("--bin").arg(bin).arg("--dir").arg(dir);
    let status = script.status().context("could not start python3")?;
    Ok((!status.success()).then(|| format!("turns of {}", agent.program)))
}

/// Node 22 first: with an older one npm silently picks old versions of several agents (their `engines`). Gives
/// the folder of its program.
fn install_node(dir: &Path) -> Result<PathBuf> {
    let bin = dir.join("node22/node_modules/node/bin");
    if !bin.join("node").exists() {
        npm_install(&dir.join("node22"), "node@22", None)?;
    }
    Ok(bin)
}

fn install(dir: &Path, agent: &Agent, node: &Path) -> Result<()> {
    if linked(dir, agent).exists() {
        return Ok(());
    }
    npm_install(&dir.join(agent.program), agent.package, Some(node))
}

fn npm_install(prefix: &Path, package: &str, node: Option<&Path>) -> Result<()> {
    say(&format!("installing {package} into {}", prefix.display()));
    make_dir(prefix)?;
    let mut npm = command("npm");
    npm.arg("install").arg("--prefix").arg(prefix).args(["--no-audit", "--no-fund", "--loglevel=error", package]);
    if let Some(node) = node {
        npm.env("PATH", path_of(&[node.to_owned()], &persons_path())?);
    }
    let status = npm.status().context("could not start npm")?;
    if !status.success() {
        bail!("npm install {package} failed ({status})");
    }
    Ok(())
}

/// The link that npm makes for an agent's program.
fn linked(dir: &Path, agent: &Agent) -> PathBuf {
    dir.join(agent.program).join("node_modules/.bin").join(agent.program)
}

fn truth(dir: &Path, agent: &'static Agent, node: &Path) -> Result<Truth> {
    let file = dir.join(agent.program).join("node_modules").join(agent.package).join("package.json");
    let text = fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
    let json: Value = serde_json::from_str(&text).with_context(|| format!("{} is no JSON", file.display()))?;
    let package = number(json["version"].as_str().unwrap_or_default()).to_owned();
    // In a home of its own: some write there on --version (agent-formats.md).
    let home = fresh(&dir.join("homes").join(format!("version-{}", agent.program)))?;
    let mut program = command(linked(dir, agent));
    program.arg("--version").env_clear().env("HOME", &home).env("PATH", path_of(&[node.to_owned()], POOR)?);
    let output = program.stdin(Stdio::null()).current_dir(&home).output();
    let output = output.with_context(|| format!("could not start {}", agent.program))?;
    let printed = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let program = number(&String::from_utf8_lossy(&printed)).to_owned();
    remove(&home)?;
    Ok(Truth { agent, package, program })
}

/// What a desktop starter or a bare ssh gives.
const POOR: &str = "/usr/bin:/bin";

fn pass_on_path(dir: &Path, bin: &Path, node: &Path, truths: &[Truth]) -> Result<Vec<String>> {
    let home = fresh(&dir.join("homes/on-path"))?;
    let mut dirs = vec![node.to_owned()];
    dirs.extend(truths.iter().filter_map(|truth| linked(dir, truth.agent).parent().map(Path::to_owned)));
    let rows = ask(bin, &home, &path_of(&dirs, POOR)?)?;
    let binary = |truth: &Truth| linked(dir, truth.agent);
    let mut wrong = compare("on PATH", &rows, truths, binary);
    wrong.extend(left_behind("on PATH", &home)?);
    Ok(wrong)
}

/// PATH poor, the agents in npm's global layout at `root` in the home, through links to the installed packages.
fn pass_below(dir: &Path, bin: &Path, node: &Path, truths: &[Truth], what: &str, root: &str) -> Result<Vec<String>> {
    let home = fresh(&dir.join("homes").join(what.replace(' ', "-")))?;
    if root == "prefix" {
        write(&home.join(".npmrc"), "prefix=${HOME}/prefix\n")?;
    }
    let root = home.join(root);
    make_dir(&root.join("bin"))?;
    link(&node.join("node"), &root.join("bin/node"))?;
    for truth in truths {
        let modules = dir.join(truth.agent.program).join("node_modules");
        let package = root.join("lib/node_modules").join(truth.agent.package);
        make_dir(package.parent().unwrap_or(&root))?;
        link(&modules.join(truth.agent.package), &package)?;
        // npm's own link says where in the package the program is: ../<package>/<file>.
        let target = fs::read_link(linked(dir, truth.agent))?;
        let target = target.strip_prefix("..").unwrap_or(&target);
        link(&Path::new("../lib/node_modules").join(target), &root.join("bin").join(truth.agent.program))?;
    }
    let rows = ask(bin, &home, POOR)?;
    let mut wrong = compare(what, &rows, truths, |truth| root.join("bin").join(truth.agent.program));
    remove(&root)?;
    wrong.extend(left_behind(what, &home)?);
    Ok(wrong)
}

/// `agents --json` in this home.
fn ask(bin: &Path, home: &Path, path: &str) -> Result<Vec<Value>> {
    let mut program = command(bin);
    program.args(["agents", "--json"]).env_clear().env("HOME", home).env("PATH", path).current_dir(home);
    let output = program.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("could not start {}", bin.display()))?;
    if !output.status.success() {
        bail!("{} agents --json: {}\n{}", bin.display(), output.status, String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("agents --json printed no JSON array")
}

/// Prints the table of one pass and gives what is wrong in it.
fn compare(pass: &str, rows: &[Value], truths: &[Truth], binary: impl Fn(&Truth) -> PathBuf) -> Vec<String> {
    say(&format!("{pass:<12} {:<14} {:<12} {:<12} {:<12}", "agent", "package", "--version", "lazyagents"));
    let mut wrong = Vec::new();
    for truth in truths {
        let id = truth.agent.id;
        let row = rows.iter().find(|row| row["id"] == id).unwrap_or(&Value::Null);
        let told = row["version"].as_str().unwrap_or("-");
        say(&format!("{:<12} {id:<14} {:<12} {:<12} {told:<12}", "", truth.package, truth.program));
        let mut check = |ok: bool, words: String| {
            if !ok {
                wrong.push(format!("{pass}, {id}: {words}"));
            }
        };
        let want = binary(truth).display().to_string();
        check(row["installed"] == true, "not installed".to_owned());
        check(
            truth.package == truth.program,
            format!("package.json {} but --version {}", truth.package, truth.program),
        );
        check(told == truth.package, format!("version {told} instead of {}", truth.package));
        check(row["binary"] == want.as_str(), format!("binary {} instead of {want}", row["binary"]));
    }
    wrong
}

/// Detection writes nothing into the home; only folders of lazyagents itself may appear. `.npmrc` is ours.
fn left_behind(pass: &str, home: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut open = vec![home.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).with_context(|| format!("could not list {}", dir.display()))? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_name() == "lazyagents" || entry.file_name() == ".npmrc" {
                continue;
            }
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else {
                wrong.push(format!("{pass}: {} was left behind", path.display()));
            }
        }
    }
    remove(home)?;
    Ok(wrong)
}

/// The first `digits.digits.digits`; written here again so that the check does not trust what it checks.
fn number(text: &str) -> &str {
    let starts = text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at);
    for start in starts {
        let end = text[start..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(text.len(), |len| start + len);
        let candidate = text[start..end].trim_end_matches('.');
        if candidate.split('.').count() == 3 && candidate.split('.').all(|part| !part.is_empty()) {
            return candidate;
        }
    }
    ""
}

/// `dirs` in front of `rest`, as one PATH.
fn path_of(dirs: &[PathBuf], rest: &str) -> Result<String> {
    let all = dirs.iter().cloned().chain(std::env::split_paths(rest));
    std::env::join_paths(all)?.into_string().ok().context("a folder's name is not UTF-8")
}

#[allow(
    clippy::disallowed_methods,
    reason = "a chore for developers: npm is theirs, and so is the PATH that leads to it"
)]
fn persons_path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

#[allow(
    clippy::disallowed_methods,
    reason = "npm and the agents run for minutes under the developer's eyes; ctrl+c ends them"
)]
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

#[allow(clippy::disallowed_methods, reason = "below the work folder only")]
fn make_dir(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("could not make {}", dir.display()))
}

#[allow(clippy::disallowed_methods, reason = "below the work folder only")]
fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("could not write {}", path.display()))
}

/// Removes a folder that this command made.
#[allow(clippy::disallowed_methods, reason = "below the work folder only")]
fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not remove {}", dir.display()))
        }
        _ => Ok(()),
    }
}

/// An empty folder.
fn fresh(dir: &Path) -> Result<PathBuf> {
    remove(dir)?;
    make_dir(dir)?;
    Ok(dir.to_owned())
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> Result<()> {
    std::os::unix::fs::symlink(target, at).with_context(|| format!("could not link {}", at.display()))
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> Result<()> {
    bail!("this check needs symbolic links")
}

#[allow(clippy::print_stdout, reason = "its answer")]
fn say(text: &str) {
    println!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_options() {
        assert_eq!(number("GitHub Copilot CLI 1.0.102.\nRun"), "1.0.102");
        assert_eq!(number("0.171.0-linux-x64"), "0.171.0");
        assert_eq!(number("x 1.2 y"), "");
        let args = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(options(&args("--agents pi,qwen --dir /d")).unwrap().agents.len(), 2);
        assert_eq!(options(&args("--agents all")).unwrap().agents.len(), 7);
        assert!(options(&args("--agents nobody")).is_err());
        assert!(options(&args("--bin")).is_err());
        assert!(options(&args("--what x")).is_err());
    }
}
