//! A person's machine in a temporary folder: a home, the XDG folders, a folder of programs, a plugins folder, and an
//! environment with nothing else in it. It never reads the environment or the git config of the machine it runs on.
//! Every test that starts one of our programs makes one.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::misfit::{self, Misfit};
use crate::needs::find_program;
use crate::output::{self, Output};

/// A temporary home; the folder goes when it is dropped.
#[derive(Debug)]
pub struct Home {
    // Only held so that the folder lives as long as this value.
    _dir: tempfile::TempDir,
    root: PathBuf,
    env: BTreeMap<String, String>,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// An empty home with all its folders.
    pub fn new() -> Self {
        wake_signals();
        let dir = tempfile::Builder::new().prefix("tk-").tempdir().expect("a temporary folder");
        // The real path: a program that resolves links (macOS keeps its temporary files behind one) prints this one.
        let root = dir.path().canonicalize().expect("the temporary folder");
        let mut home = Self { _dir: dir, root, env: BTreeMap::new() };
        for folder in [home.home(), home.config_dir(), home.data_dir(), home.cache_dir(), home.state_dir()] {
            std::fs::create_dir_all(folder).expect("a folder of the home");
        }
        for folder in [home.plugins(), home.bin(), home.tmp(), home.work(), home.misfit_dir()] {
            std::fs::create_dir_all(folder).expect("a folder of the home");
        }
        home.env = home.fresh_env();
        home
    }

    fn fresh_env(&self) -> BTreeMap<String, String> {
        let path = |folder: &str| self.root.join(folder).display().to_string();
        [
            ("PATH", format!("{}:/usr/bin:/bin", path("bin"))),
            ("HOME", path("home")),
            ("XDG_CONFIG_HOME", path("config")),
            ("XDG_DATA_HOME", path("data")),
            ("XDG_CACHE_HOME", path("cache")),
            ("XDG_STATE_HOME", path("state")),
            ("TERM", "xterm-256color".into()),
            ("COLORTERM", "truecolor".into()),
            ("LANG", "C.UTF-8".into()),
            ("LC_ALL", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
            // Whatever is left in temporary folders goes with the home, and a tmux started here is nobody else's.
            ("TMPDIR", path("tmp")),
            ("TMUX_TMPDIR", path("tmp")),
            // /etc/gitconfig is the machine's; the home has no config of its own.
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("MISFIT_DIR", path("misfit")),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    /// The temporary folder that holds everything; shown as `$ROOT` in an [`Output`].
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `$HOME`.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// `$XDG_CONFIG_HOME/lazyagents`.
    pub fn config_dir(&self) -> PathBuf {
        self.root.join("config").join("lazyagents")
    }

    /// `$XDG_DATA_HOME/lazyagents`.
    pub fn data_dir(&self) -> PathBuf {
        self.root.join("data").join("lazyagents")
    }

    /// `$XDG_CACHE_HOME/lazyagents`.
    pub fn cache_dir(&self) -> PathBuf {
        self.root.join("cache").join("lazyagents")
    }

    /// `$XDG_STATE_HOME/lazyagents`.
    pub fn state_dir(&self) -> PathBuf {
        self.root.join("state").join("lazyagents")
    }

    /// The plugins folder of lazyagents.
    pub fn plugins(&self) -> PathBuf {
        self.config_dir().join("plugins")
    }

    /// The first folder of PATH.
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// `$TMPDIR`.
    pub fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// The folder programs are started in.
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// `$MISFIT_DIR`: what misfit is to do, and what it saw.
    pub fn misfit_dir(&self) -> PathBuf {
        self.root.join("misfit")
    }

    /// The whole environment of programs started in this home.
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// Sets or replaces a variable for programs started from now on.
    pub fn set_env(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.env.insert(name.to_owned(), value.into());
        self
    }

    /// Takes a variable away from programs started from now on.
    pub fn unset_env(&mut self, name: &str) -> &mut Self {
        self.env.remove(name);
        self
    }

    /// Takes the four `XDG_*` variables away, so that the defaults below `$HOME` count. [`Home::config_dir`] and its
    /// like go on naming the old places: use [`Home::home`] with the default path.
    pub fn without_xdg(&mut self) -> &mut Self {
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            self.unset_env(name);
        }
        self
    }

    /// `path` inside this home: a relative one is below `$HOME`, an absolute one must be below [`Home::root`].
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let full = self.home().join(path);
        assert!(full.starts_with(&self.root), "{} is outside of the temporary home", full.display());
        full
    }

    /// Writes a file and the folders it needs; see [`Home::path`] for what `path` may be.
    pub fn write(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a folder of the home");
        }
        std::fs::write(&path, contents).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        path
    }

    /// The text of a file; see [`Home::path`].
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.path(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
    }

    /// Writes `config.yaml` of lazyagents.
    pub fn config(&self, text: &str) -> PathBuf {
        self.write(self.config_dir().join("config.yaml"), text)
    }

    /// Where a test says nothing else, the tabs that stand beside those of plugins are hidden: the first plugin's tab is
    /// the first one.
    fn plugins_first(&self) {
        let file = self.config_dir().join("config.yaml");
        if !file.exists() {
            self.write(file, "tui: { hidden: [sessions, providers, hooks, usage] }\n");
        }
    }

    /// Puts an executable script (with its `#!` line) into the plugins folder under this file name.
    pub fn plugin(&self, name: &str, script: &str) -> PathBuf {
        self.plugins_first();
        self.executable(self.plugins().join(name), script)
    }

    /// Puts an executable script (with its `#!` line) into the first folder of PATH.
    pub fn program(&self, name: &str, script: &str) -> PathBuf {
        self.executable(self.bin().join(name), script)
    }

    /// Writes a file with mode 0755 anywhere in this home; see [`Home::path`].
    ///
    /// A shell writes it, not we: while this process has a file open for writing, a program that another test thread
    /// starts inherits that descriptor for a moment, and whoever executes the file then gets "text file busy".
    pub fn executable(&self, path: impl AsRef<Path>, contents: &str) -> PathBuf {
        let path = self.path(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a folder of the home");
        }
        let mut shell = Command::new("/bin/sh")
            .args(["-c", r#"rm -f -- "$1" && cat >"$1" && chmod 755 "$1""#, "sh"])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .expect("sh starts");
        // Dropping the pipe at the end of the statement is the end of the text.
        shell.stdin.take().expect("a pipe").write_all(contents.as_bytes()).expect("sh reads the text");
        assert!(shell.wait().expect("sh ends").success(), "cannot write {}", path.display());
        path
    }

    /// Installs misfit as plugin `name` with this behaviour; see the text at the top of `misfit.rs` (the program).
    pub fn misfit(&self, name: &str, behaviour: &str) -> Misfit {
        self.plugins_first();
        misfit::install(self, name, behaviour)
    }

    /// Makes a program of the machine visible here when it is not in /usr/bin or /bin: a link in [`Home::bin`].
    /// False when the machine does not have it. Ask [`crate::needs`] first where the test can be skipped.
    pub fn link(&self, program: &str) -> bool {
        let Some(found) = find_program(program) else { return false };
        let link = self.bin().join(program);
        if !found.starts_with("/usr/bin") && !found.starts_with("/bin") && link.symlink_metadata().is_err() {
            std::os::unix::fs::symlink(found, link).expect("a link in the folder of programs");
        }
        true
    }

    /// Runs a program here with no stdin; see [`crate::run`].
    pub fn run(&self, program: impl AsRef<Path>, args: &[&str]) -> Output {
        output::run(program, args, self, b"")
    }
}

/// Whoever starts tests in the background of a script hands down ctrl+c as ignored, and programs below would keep it
/// so, shells for good. A signal that is handled here is theirs by default; it still ends the tests.
fn wake_signals() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGQUIT] {
            let always = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, always).expect("a signal's handler");
        }
    });
}
