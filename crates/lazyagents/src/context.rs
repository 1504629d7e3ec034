//! What every command starts from: environment, folders, config, plugins. Read once at start; nothing here draws
//! or runs anything. The command line makes it, the app and the commands read it.

use std::path::PathBuf;

use sys::text::human;
use sys::{Env, Failure, Paths};
use wire::plugin::{Init, PROTOCOL, Theme as WireTheme};

use crate::config::{self, Config};
use crate::plugins::{self, Discovery, Plugin, discover};

/// The surroundings of one start.
#[derive(Clone, Debug)]
pub struct Context {
    /// The environment that we were started with.
    pub env: Env,
    /// Our folders.
    pub paths: Paths,
    /// What `config.yaml` said at start.
    pub config: Config,
    /// The library of skills.
    pub library: PathBuf,
    /// The files of the plugins folder.
    pub discovery: Discovery,
    /// Look for agents outside the home folder too; the demo does not.
    pub system: bool,
}

impl Context {
    /// Reads the config and the plugins folder.
    ///
    /// # Errors
    /// When no home folder is known.
    pub fn load(env: Env) -> Result<Self, Failure> {
        let paths = Paths::of("lazyagents", &env)?;
        let config = Config::load(&paths.config.join("config.yaml"));
        let library = config::library_dir(&config, &paths);
        let discovery = discover(&paths.config.join("plugins"));
        Ok(Self { env, paths, config, library, discovery, system: true })
    }

    /// The environment of plugins and of what they run (clauses V1, V2).
    pub fn plugin_env(&self) -> Env {
        plugins::host::environment(&self.env, &self.paths, &self.library)
    }

    /// The `init` of a plugin, without a size (clauses I1, T1, G1).
    pub fn init(&self, plugin: &Plugin, config: &Config, theme: &tui::theme::Theme) -> Init {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        Init {
            protocol: PROTOCOL,
            id: plugin.id.clone(),
            home: text(&self.paths.home),
            config_dir: text(&self.paths.config),
            data_dir: text(&self.paths.data),
            library_dir: text(&self.library),
            theme: WireTheme { id: theme.id.to_string(), colors: theme.wire_colors().into_iter().collect() },
            config: config.section(&plugin.id).cloned(),
            width: 0,
            height: 0,
        }
    }

    /// True for a plugin that `tui.hidden` names: it is not started, its subcommand works (clause D8).
    pub fn hidden(&self, id: &str) -> bool {
        self.config.tui.hidden.iter().any(|hidden| hidden == id)
    }

    /// Every warning of the start, one clean line each (clause D7).
    pub fn warnings(&self) -> Vec<String> {
        self.config.warnings.iter().cloned().chain(self.discovery.warnings()).collect()
    }
}

/// A number of things, for a sentence: `1 plugin`, `2 plugins`.
pub fn things(count: usize, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {one}{s}", human::count(count as u64))
}
