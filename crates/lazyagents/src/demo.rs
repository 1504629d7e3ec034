//! `lazyagents --demo`: an invented home in a temporary folder, with sample agents, skills, config and plugins, on which
//! the interface opens (lazyagents.md, The interface). It never reads or writes anything of the person's: programs
//! find an environment in which only the temporary folder exists. The command line calls it.

mod sessions;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use sys::files::{self, Mode, TempTree};
use sys::{Env, Failure, proc};

use crate::cli::{self, Out};
use crate::context::Context;

/// How the temporary folders begin; what begins so and belongs to no living process is removed.
const PREFIX: &str = "lazyagents-demo-";

/// The invented home, below the tree.
const HOME: &str = "home";

/// Opens the interface on the invented home, which is removed at the end; what killed demos left is removed first.
///
/// # Errors
/// When the temporary folder cannot be written, and those of the interface.
pub fn run(env: &Env, out: &mut Out) -> Result<u8, Failure> {
    let parent = parent(env);
    TempTree::sweep(&parent, PREFIX);
    let (tree, env) = prepare(env, &parent)?;
    let mut context = Context::load(env)?;
    context.system = false;
    let code = cli::open(&context, out);
    // Only now: the plugins have ended, so nobody writes into it any more.
    drop(tree);
    code
}

/// The folder for temporary folders.
fn parent(env: &Env) -> PathBuf {
    if cfg!(windows) {
        let temp = env.absolute("TEMP").or_else(|| env.absolute("TMP"));
        temp.unwrap_or_else(|| PathBuf::from(r"C:\Windows\Temp"))
    } else {
        env.absolute("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"))
    }
}

/// Builds the home and the environment that leads to it. A failure half-way removes what is there.
fn prepare(env: &Env, parent: &Path) -> Result<(TempTree, Env), Failure> {
    let tree = TempTree::create(parent, PREFIX)?;
    for (path, item) in SAMPLE {
        let path = tree.path().join(path);
        match item {
            Item::File(mode, content) => {
                files::write_atomic(&path, content.as_bytes(), *mode)?;
            }
            Item::Folder => files::make_dir(&path)?,
            Item::Link(target) => link(&path, Path::new(target))?,
            Item::LinkInTree(target) => link(&path, &tree.path().join(target))?,
        }
    }
    sessions::write(tree.path(), HOME)?;
    let mut surroundings = surroundings(env, tree.path());
    let system = Env::from_iter([("PATH", SYSTEM_PATH)]);
    for name in TOOLS {
        if let Some(program) = proc::which(OsStr::new(name), &system) {
            link(&tree.path().join("tools").join(name), &program)?;
        }
    }
    for name in ["VISUAL", "EDITOR"] {
        let Some((editor, program)) = editor(env, name) else { continue };
        let path = tree.path().join("tools").join(&editor);
        if std::fs::symlink_metadata(&path).is_err() {
            link(&path, &program)?;
        }
        surroundings.set(name, editor);
    }
    Ok((tree, surroundings))
}

/// Makes a symbolic link and its folder. Windows has none without special rights, and does not need these.
fn link(path: &Path, target: &Path) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        files::make_dir(folder)?;
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, path).map_err(|error| Failure::io("make the link", path, &error))?;
    #[cfg(not(unix))]
    let _ = target;
    Ok(())
}

/// Variables of the person's that tell of the terminal, the language and the time, not of the person.
const KEPT: [&str; 10] =
    ["TERM", "COLORTERM", "TERM_PROGRAM", "LANG", "NO_COLOR", "SHELL", "TZ", "LINES", "COLUMNS", "LC_"];

/// Without these no program starts on Windows.
const KEPT_ON_WINDOWS: [&str; 4] = ["SystemRoot", "windir", "ComSpec", "PATHEXT"];

/// The environment of the demo: folders below `tree` and [`KEPT`]; nothing that names the person's home.
fn surroundings(env: &Env, tree: &Path) -> Env {
    let home = env.home().filter(|home| home.components().count() > 1);
    let home = home.map(|home| home.to_string_lossy().into_owned());
    let kept = |name: &str| {
        KEPT.iter().any(|kept| if kept.ends_with('_') { name.starts_with(kept) } else { name == *kept })
            || cfg!(windows) && KEPT_ON_WINDOWS.iter().any(|kept| name.eq_ignore_ascii_case(kept))
    };
    let mut new: Env = env
        .iter()
        .filter(|(name, _)| name.to_str().is_some_and(kept))
        .filter(|(_, value)| !home.as_ref().is_some_and(|home| value.to_string_lossy().contains(home)))
        .collect();
    for (name, path) in FOLDERS {
        new.set(name, tree.join(path));
    }
    for name in ["USER", "LOGNAME"] {
        new.set(name, "dev");
    }
    if cfg!(windows) {
        for (name, path) in FOLDERS_ON_WINDOWS {
            new.set(name, tree.join(path));
        }
    }
    // The person's own agents may be in /usr/bin, so PATH has no folder of the system: see TOOLS.
    // Only a folder with a separator in its name cannot be joined; then there is one folder.
    let path = std::env::join_paths([tree.join("bin"), tree.join("tools")]);
    new.set("PATH", path.unwrap_or_else(|_| tree.join("bin").into_os_string()));
    new
}

/// Variables that name folders, and the folders, below the tree.
const FOLDERS: [(&str, &str); 6] = [
    ("HOME", HOME),
    ("XDG_CONFIG_HOME", "home/.config"),
    ("XDG_DATA_HOME", "home/.local/share"),
    ("XDG_CACHE_HOME", "home/.cache"),
    ("XDG_STATE_HOME", "home/.local/state"),
    ("TMPDIR", "tmp"),
];

/// The same for Windows; the sample's config is where the variables above say.
const FOLDERS_ON_WINDOWS: [(&str, &str); 5] = [
    ("USERPROFILE", HOME),
    ("APPDATA", "home/.config"),
    ("LOCALAPPDATA", "home/.local/share"),
    ("TEMP", "tmp"),
    ("TMP", "tmp"),
];

/// Where [`TOOLS`] are looked for.
const SYSTEM_PATH: &str = "/usr/bin:/bin:/run/current-system/sw/bin";

/// Programs of the system that plugins and editors may want, linked into the tree one by one.
#[rustfmt::skip]
const TOOLS: [&str; 66] = [
    "awk", "basename", "bash", "cat", "chmod", "clear", "cmp", "cp", "cut", "date", "diff", "dirname", "du", "ed", "env",
    "expr", "false", "find", "git", "grep", "gunzip", "gzip", "head", "hostname", "id", "jq", "less", "ln", "ls", "mkdir",
    "mktemp", "more", "mv", "nano", "od", "perl", "printf", "ps", "pwd", "python3", "readlink", "rm", "rmdir", "sed", "seq",
    "sh", "sleep", "sort", "stat", "stty", "tail", "tar", "tee", "touch", "tput", "tr", "true", "tty", "uname", "uniq", "vi",
    "vim", "wc", "which", "xargs", "yes",
];

/// The person's editor: its name, without folder and arguments, which may name things of theirs, and the program.
fn editor(env: &Env, variable: &str) -> Option<(OsString, PathBuf)> {
    let word = env.text(variable)?.split_whitespace().next()?;
    let program = proc::which(OsStr::new(word), env).filter(|path| path.is_absolute() && proc::is_executable(path))?;
    Some((program.file_name()?.to_owned(), program))
}

/// One thing of the sample.
enum Item {
    /// A file.
    File(Mode, &'static str),
    /// An empty folder.
    Folder,
    /// A link to this text.
    Link(&'static str),
    /// A link to a path below the tree, absolute, as enabling a skill makes it.
    LinkInTree(&'static str),
}

/// A program that stands for an agent: it tells the version as the real one does (agent-formats.md, first table)
/// and does nothing else.
macro_rules! agent {
    ($name:literal, $version:literal) => {
        concat!(
            "#!/bin/sh\n",
            "case ${1-} in\n",
            "    --version) echo '",
            $version,
            "' ;;\n",
            "    *) echo 'This is the demo of lazyagents: ",
            $name,
            " itself is not here, and nothing was done.' ;;\n",
            "esac\n"
        )
    };
}

/// The package.json of an npm package.
macro_rules! package {
    ($name:literal, $version:literal, $bin:literal, $file:literal) => {
        concat!(
            "{\n  \"name\": \"",
            $name,
            "\",\n  \"version\": \"",
            $version,
            "\",\n  \"bin\": {\n    \"",
            $bin,
            "\": \"",
            $file,
            "\"\n  }\n}\n"
        )
    };
}

use Item::{File, Folder, Link, LinkInTree};
use Mode::{Normal, Script};

/// Everything that the tree holds at first: path below it, and what is there. Folders on the way are made.
#[rustfmt::skip]
const SAMPLE: &[(&str, Item)] = &[
    ("tmp", Folder),
    ("home/.cache", Folder),
    ("home/.local/state", Folder),

    // Programs. Claude Code lies as its own installer leaves it, OpenCode on PATH, the others below nvm as npm leaves them.
    ("home/.local/share/claude/versions/2.1.332", File(Script, agent!("Claude Code", "2.1.332 (Claude Code)"))),
    ("home/.local/bin/claude", Link("../share/claude/versions/2.1.332")),
    ("bin/opencode", File(Script, agent!("OpenCode", "1.18.33"))),
    ("home/.nvm/alias/default", File(Normal, "22\n")),
    ("home/.nvm/versions/node/v22.19.0/lib/node_modules/@openai/codex/package.json",
        File(Normal, package!("@openai/codex", "0.171.0", "codex", "bin/codex.js"))),
    ("home/.nvm/versions/node/v22.19.0/lib/node_modules/@openai/codex/bin/codex.js",
        File(Script, agent!("Codex", "codex-cli 0.171.0"))),
    ("home/.nvm/versions/node/v22.19.0/bin/codex", Link("../lib/node_modules/@openai/codex/bin/codex.js")),
    ("home/.nvm/versions/node/v22.19.0/lib/node_modules/@google/gemini-cli/package.json",
        File(Normal, package!("@google/gemini-cli", "0.61.0", "gemini", "bundle/gemini.js"))),
    ("home/.nvm/versions/node/v22.19.0/lib/node_modules/@google/gemini-cli/bundle/gemini.js",
        File(Script, agent!("Gemini CLI", "0.61.0"))),
    ("home/.nvm/versions/node/v22.19.0/bin/gemini", Link("../lib/node_modules/@google/gemini-cli/bundle/gemini.js")),
    ("home/.nvm/versions/node/v22.19.0/lib/node_modules/@earendil-works/pi-coding-agent/package.json",
        File(Normal, package!("@earendil-works/pi-coding-agent", "1.6.0", "pi", "dist/bundle/cli.js"))),
    ("home/.nvm/versions/node/v22.19.0/lib/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js",
        File(Script, agent!("Pi", "1.6.0"))),
    ("home/.nvm/versions/node/v22.19.0/bin/pi",
        Link("../lib/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js")),

    // Their config folders. Of Qwen Code there is nothing else: it was used here once.
    ("home/.claude/settings.json", File(Normal, include_str!("demo/hooks/claude-settings.json"))),
    ("home/.codex/config.toml", File(Normal, "model = \"gpt-5.2-codex\"\n")),
    ("home/.gemini/settings.json", File(Normal, "{}\n")),
    ("home/.config/opencode/opencode.json", File(Normal, "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n")),
    ("home/.pi/agent/settings.json", File(Normal, "{}\n")),
    ("home/.qwen/settings.json", File(Normal, "{}\n")),

    // Skills: the library, what is enabled of it, one that agents share, one of an agent's own.
    ("home/.local/share/lazyagents/skills/pdf/SKILL.md", File(Normal, include_str!("demo/skills/pdf.md"))),
    ("home/.local/share/lazyagents/skills/release-notes/SKILL.md",
        File(Normal, include_str!("demo/skills/release-notes.md"))),
    ("home/.local/share/lazyagents/hooks/done.json", File(Normal, include_str!("demo/hooks/done.json"))),
    ("home/.local/share/lazyagents/hooks/guard.json", File(Normal, include_str!("demo/hooks/guard.json"))),
    ("home/.claude/skills/pdf", LinkInTree("home/.local/share/lazyagents/skills/pdf")),
    ("home/.claude/skills/release-notes", LinkInTree("home/.local/share/lazyagents/skills/release-notes")),
    ("home/.codex/skills/pdf", LinkInTree("home/.local/share/lazyagents/skills/pdf")),
    ("home/.agents/skills/review/SKILL.md", File(Normal, include_str!("demo/skills/review.md"))),
    ("home/.codex/skills/sql-style/SKILL.md", File(Normal, include_str!("demo/skills/sql-style.md"))),

    // lazyagents itself.
    ("home/.config/lazyagents/config.yaml", File(Normal, include_str!("demo/config.yaml"))),
    ("home/.config/lazyagents/providers.json", File(Normal, include_str!("demo/providers.json"))),
    ("home/.config/lazyagents/plugins/README.md", File(Normal, include_str!("demo/plugins.md"))),
    ("home/.config/lazyagents/plugins/broken", File(Script, include_str!("demo/broken"))),
    ("home/.config/lazyagents/plugins/clock", File(Script, include_str!("demo/clock"))),
    ("home/.config/lazyagents/plugins/hello",
        File(Script, include_str!("../../../examples/plugins/lazyagents/hello"))),
];

#[cfg(unix)]
#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::detection;

    /// A folder for temporary folders and a person whose home has one file, side by side.
    struct World {
        dir: tempfile::TempDir,
        env: Env,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let at = |path: &str| fs::canonicalize(dir.path()).unwrap().join(path).display().to_string();
            fs::create_dir_all(at("person/.config/lazyagents/plugins")).unwrap();
            fs::create_dir_all(at("opt/bin")).unwrap();
            fs::write(at("person/.config/lazyagents/config.yaml"), "theme: mine\n").unwrap();
            for (program, text) in [("opt/bin/my-ed", "#!/bin/sh\n"), ("opt/bin/copilot", "#!/bin/sh\necho 9.9.9\n")] {
                fs::write(at(program), text).unwrap();
                fs::set_permissions(at(program), fs::Permissions::from_mode(0o755)).unwrap();
            }
            let env = [
                ("HOME", at("person")),
                ("USER", "person".to_owned()),
                ("PWD", at("person/work")),
                ("XDG_CONFIG_HOME", at("person/.config")),
                ("XDG_RUNTIME_DIR", at("person/run")),
                ("CODEX_HOME", at("person/codex")),
                ("LAZYAGENTS_HOME", at("person")),
                ("TMUX", at("person/tmux,1,0")),
                ("PATH", format!("{}:/usr/bin:/bin", at("opt/bin"))),
                ("SHELL", at("person/.nix-profile/bin/fish")),
                ("VISUAL", format!("{} --config {}", at("opt/bin/my-ed"), at("person/.edrc"))),
                ("EDITOR", "no-such-editor".to_owned()),
                ("TERM", "xterm-256color".to_owned()),
                ("LC_TIME", "pt_PT.UTF-8".to_owned()),
                ("TMPDIR", at("tmp")),
            ];
            Self { env: env.into_iter().collect(), dir }
        }

        fn prepare(&self) -> (TempTree, Env) {
            prepare(&self.env, &parent(&self.env)).unwrap()
        }

        fn at(&self, path: &str) -> PathBuf {
            fs::canonicalize(self.dir.path()).unwrap().join(path)
        }
    }

    /// All below `dir`, links not followed.
    fn all_below(dir: &Path) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if fs::symlink_metadata(&path).unwrap().is_dir() {
                found.extend(all_below(&path));
            }
            found.insert(path);
        }
        found
    }

    #[test]
    fn everything_is_below_the_tree_with_its_mode_and_goes_with_it() {
        let world = World::new();
        let before = all_below(&world.at(""));
        let (tree, _) = world.prepare();
        assert!(tree.path().starts_with(world.at("tmp")));
        for (path, item) in SAMPLE {
            let full = tree.path().join(path);
            let meta = fs::symlink_metadata(&full).unwrap();
            match item {
                File(mode, content) => {
                    assert_eq!(fs::read_to_string(&full).unwrap(), *content, "{path}");
                    // The umask may have taken bits of others, never the owner's.
                    let wanted = if *mode == Script { 0o700 } else { 0o600 };
                    assert_eq!(meta.permissions().mode() & 0o700, wanted, "{path}");
                }
                Folder => assert!(meta.is_dir(), "{path}"),
                Link(_) | LinkInTree(_) => {
                    assert!(meta.is_symlink() && fs::canonicalize(&full).unwrap().starts_with(tree.path()), "{path}");
                }
            }
        }
        let tmp = world.at("tmp");
        let outside: BTreeSet<_> = all_below(&world.at(""))
            .into_iter()
            .filter(|path| !path.starts_with(tree.path()) && *path != tmp)
            .collect();
        assert_eq!(outside, before);
        drop(tree);
        assert_eq!(all_below(&tmp).len(), 0);
    }

    #[test]
    fn no_variable_names_anything_of_the_persons() {
        let world = World::new();
        let (tree, env) = world.prepare();
        let person = world.at("person").display().to_string();
        for (name, value) in env.iter() {
            assert!(!value.to_string_lossy().contains(&person), "{name:?} {value:?}");
        }
        let names: Vec<_> = env.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        let expected = "HOME LC_TIME LOGNAME PATH TERM TMPDIR USER VISUAL XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME \
                        XDG_STATE_HOME";
        assert_eq!(names.join(" "), expected);
        assert_eq!(env.text("VISUAL"), Some("my-ed"));
        assert!(proc::which(OsStr::new("my-ed"), &env).unwrap().starts_with(tree.path()));
        assert!(proc::which(OsStr::new("sh"), &env).is_some());
        assert_eq!(proc::which(OsStr::new("copilot"), &env), None);
        let paths = sys::Paths::of("lazyagents", &env).unwrap();
        for dir in [&paths.home, &paths.config, &paths.data, &paths.cache, &paths.state] {
            assert!(dir.starts_with(tree.path()), "{}", dir.display());
        }
    }

    #[test]
    fn the_sample_is_what_the_product_reads() {
        let world = World::new();
        let (tree, env) = world.prepare();
        let mut context = Context::load(env).unwrap();
        context.system = false;
        assert_eq!(context.warnings().len(), 1, "{:?}", context.warnings());
        assert!(context.warnings()[0].starts_with("plugin README.md ignored"));
        let ids: Vec<_> = context.discovery.plugins.iter().map(|plugin| plugin.id.as_str()).collect();
        assert_eq!(ids, ["broken", "clock", "hello"]);
        assert!(context.config.section("hello").unwrap()["greeting"].as_str().unwrap().contains("demo"));
        assert!(context.library.starts_with(tree.path()) && context.library.join("pdf/SKILL.md").is_file());
        let found = detection::all(&context, &sys::proc::Cancel::never());
        let installed: Vec<_> = found.iter().filter(|agent| agent.installed).collect();
        let versions: Vec<_> = installed.iter().map(|agent| (agent.id, agent.version.as_deref())).collect();
        let expected = [
            ("claude-code", Some("2.1.332")),
            ("codex", Some("0.171.0")),
            ("gemini-cli", Some("0.61.0")),
            ("opencode", Some("1.18.33")),
            ("pi", Some("1.6.0")),
            ("qwen-code", None),
        ];
        assert_eq!(versions, expected);
        assert!(installed.iter().all(|agent| agent.warnings.is_empty() && agent.config_exists));
    }

    #[test]
    fn a_demo_that_was_killed_is_swept_and_a_living_one_is_not() {
        let world = World::new();
        let (living, _) = world.prepare();
        let killed = world.at("tmp/lazyagents-demo-killed");
        fs::create_dir_all(killed.join("home")).unwrap();
        fs::write(killed.join(".lock"), "").unwrap();
        assert_eq!(TempTree::sweep(&parent(&world.env), PREFIX), 1);
        assert!(!killed.exists() && living.path().join(HOME).is_dir());
    }

    #[test]
    fn the_tree_is_in_an_absolute_tmpdir_or_in_tmp() {
        let at = |value: &str| parent(&[("TMPDIR", value)].into_iter().collect());
        assert_eq!(at("/some/where"), Path::new("/some/where"));
        assert_eq!(at("some/where"), Path::new("/tmp"));
        assert_eq!(at(""), Path::new("/tmp"));
    }
}
