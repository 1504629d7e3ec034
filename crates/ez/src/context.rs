//! What every command starts from: environment, folders, configuration, where the person stands, what the wrapper gave.
//! Read once at start; nothing here draws or runs anything. The command line makes it, every room reads it.

use std::path::{Path, PathBuf};

use sys::log::{Level, Log};
use sys::{Env, Failure, Paths};

use crate::shell::Shell;
use crate::store::{Config, Store};

/// What stands before and after the subcommand.
#[derive(Clone, Debug)]
pub struct Globals {
    /// The wrapper's file for a folder.
    pub cd_file: Option<PathBuf>,
    /// The wrapper's file for commands.
    pub post_file: Option<PathBuf>,
    /// The wrapper's dialect.
    pub shell: Shell,
    /// Plain questions are answered with yes.
    pub yes: bool,
    /// A log is written.
    pub debug: bool,
    /// No colour.
    pub no_color: bool,
    /// `--on-enter`.
    pub on_enter: Option<String>,
    /// `--on-create`.
    pub on_create: Option<String>,
}

impl Default for Globals {
    fn default() -> Self {
        Self {
            cd_file: None,
            post_file: None,
            shell: Shell::Bash,
            yes: false,
            debug: false,
            no_color: false,
            on_enter: None,
            on_create: None,
        }
    }
}

/// The surroundings of one start.
#[derive(Clone, Debug)]
pub struct Context {
    /// The environment we were started with.
    pub env: Env,
    /// Our folders.
    pub paths: Paths,
    /// The state.
    pub store: Store,
    /// `config.toml`, or its defaults.
    pub config: Config,
    /// Global options.
    pub globals: Globals,
    /// Where the person stands; `None` when that folder is gone.
    pub cwd: Option<PathBuf>,
    /// The running program.
    pub program: PathBuf,
    /// Where `--debug` writes.
    pub log: Log,
    /// The log's path with `--debug`.
    pub log_file: Option<PathBuf>,
    /// What is being done, for those who meet our locks.
    pub what: String,
}

/// Variables that would send git elsewhere (git rev-parse --local-env-vars; report B39).
const GIT_LOCATION: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

impl Context {
    /// Where a program is started: where the person stands, else in the repository. A plugin may have removed the
    /// folder that they stood in when the next one is started.
    pub fn standing(&self, repo: &str) -> Option<PathBuf> {
        let there = |path: &PathBuf| path.is_dir();
        self.cwd.clone().filter(there).or_else(|| Some(PathBuf::from(repo)).filter(there))
    }

    /// Reads the configuration.
    ///
    /// # Errors
    /// When no home folder is known, or the configuration cannot be understood.
    pub fn load(env: Env, globals: Globals, dir: Option<&Path>, what: String) -> Result<Self, Failure> {
        let mut context = Self::without_config(env, globals, dir, what)?;
        context.config = context.store.config()?;
        Ok(context)
    }

    /// As [`Context::load`] with the defaults, for commands that mend the configuration.
    ///
    /// # Errors
    /// When no home folder is known, or `dir` is not there.
    pub fn without_config(env: Env, globals: Globals, dir: Option<&Path>, what: String) -> Result<Self, Failure> {
        let paths = Paths::of("ez", &env)?;
        let here = std::env::current_dir().ok();
        let cwd = match dir {
            None => here,
            Some(dir) => {
                let dir = here.unwrap_or_default().join(dir);
                Some(dir.canonicalize().map_err(|error| Failure::io("go to", &dir, &error))?)
            }
        };
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("ez"));
        let log_file = globals.debug.then(|| tmp(&env).join(format!("ez-debug-{}.log", std::process::id())));
        let log = log_file.as_deref().map_or_else(Log::off, |path| Log::open(path, 64 << 20, 1));
        let store = Store::new(&paths);
        Ok(Self { env, paths, store, config: Config::default(), globals, cwd, program, log, log_file, what })
    }

    /// The folder for relative paths of the person.
    pub fn here(&self) -> PathBuf {
        self.cwd.clone().unwrap_or_else(|| self.paths.home.clone())
    }

    /// A path that the person typed: `~/` is theirs, relative is from where they stand.
    pub fn typed(&self, path: &str) -> PathBuf {
        self.here().join(self.paths.expand(path))
    }

    /// The environment of everything we start: without what sends git elsewhere, with what plugins rely on
    /// (ez-behaviour.md, 3).
    pub fn child_env(&self) -> Env {
        let mut env = self.env.clone();
        for name in GIT_LOCATION {
            env.remove(name);
        }
        env.set("EZ_CONFIG_DIR", self.store.root.as_os_str());
        env.set("EZ_BIN", self.program.as_os_str());
        if self.globals.debug {
            env.set("EZ_DEBUG", "1");
        }
        env
    }

    /// The folder for temporary files.
    pub fn tmp(&self) -> PathBuf {
        tmp(&self.env)
    }

    /// A line for `--debug`.
    pub fn debug(&self, text: &str) {
        self.log.line(Level::Debug, text);
    }
}

fn tmp(env: &Env) -> PathBuf {
    env.absolute("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"))
}

/// A path as the text our files hold.
///
/// # Errors
/// In words, when it is not UTF-8.
pub fn utf8(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::new(format!("cannot work with {}", path.display()))
            .cause("the path is not UTF-8, and the state files are")
            .hint("rename the folder")
    })
}
