//! The full-screen interface: a pure middle (state, event, effect, update, views) inside a thin shell (driver,
//! signals). It never touches an agent's files; what it writes is our own config. The command line opens it.

pub mod actions;
mod driver;
mod errands;
pub mod event;
pub mod hooks;
mod library;
pub mod pace;
pub mod providers;
pub mod reader;
pub mod sessions;
pub mod shelf;
mod signals;
pub mod state;
mod telling;
pub mod update;
pub mod usage;
pub mod views;

use std::io::IsTerminal;

use sys::Failure;
use sys::log::{Level, Log};
use tui::action::Keymap;
use tui::term::{Depth, Options, Terminal};
use tui::theme::Theme;
use tui::widgets::toast::Kind;

use crate::config::Config;
use crate::context::{Context, things};
use driver::Driver;
use signals::Signals;
use state::{App, Phase, PluginState};

/// A log is rotated at this size in bytes; so many are kept.
const LOG_SIZE: u64 = 1 << 20;
const LOGS_KEPT: usize = 3;

/// The `theme:` that follows the terminal's background.
pub const AUTO: &str = "auto";

/// The built-in theme for a background of this colour: its luminance decides.
pub fn theme_on(red: u8, green: u8, blue: u8) -> Option<&'static Theme> {
    let light = tui::theme::Rgb(red, green, blue).luminance() > 0.5;
    let ids = Theme::builtin_ids();
    ids.into_iter().filter_map(Theme::builtin).find(|theme| theme.dark != light)
}

/// The theme that `config` names; the second is a warning when there is none of that name.
pub fn theme(config: &Config) -> (Theme, Option<String>) {
    let default = Theme::default();
    match config.theme.as_deref() {
        // `auto` becomes the light one when the terminal says that its background is light.
        None | Some(AUTO) => (default, None),
        Some(id) => match Theme::builtin(id) {
            Some(theme) => (theme.clone(), None),
            None => {
                let known = Theme::builtin_ids().join(", ") + ", auto";
                let id = sys::text::clean(id);
                (default, Some(format!("config.yaml: there is no theme {id}, there are: {known}")))
            }
        },
    }
}

/// Everything that is wrong with what `config.yaml` asks for: the interface and `doctor` both say exactly this.
pub fn problems(context: &Context) -> Vec<String> {
    let config = &context.config;
    let (_, keys) = Keymap::new(actions::ACTIONS, &config.tui.keys);
    let mut problems = config.warnings.clone();
    problems.extend(theme(config).1);
    problems.extend(keys);
    problems.extend(fixed_keys(config));
    problems.extend(tab_problems(context));
    problems
}

/// Overrides that ask for `ctrl+c`, which cannot be changed.
fn fixed_keys(config: &Config) -> Vec<String> {
    let fixed = |name: &String| tui::keys::Key::parse(name).is_some_and(|key| key.name() == "ctrl+c");
    let asking = config.tui.keys.iter().filter(|(_, keys)| keys.iter().any(fixed));
    asking.map(|(id, _)| sys::text::clean(&format!("tui.keys: {id}: ctrl+c cannot be changed"))).collect()
}

/// Ids below `tui:` that name no tab, and a start tab that is hidden. Tabs of later versions count as known.
fn tab_problems(context: &Context) -> Vec<String> {
    let tui = &context.config.tui;
    let known = |id: &str| crate::reserved::TABS.contains(&id) || context.discovery.find(id).is_some();
    let shown = |id: &str| {
        matches!(id, "sessions" | "providers" | "hooks" | "usage" | "agents" | "plugins")
            || context.discovery.find(id).is_some()
    };
    let mut problems = Vec::new();
    if let Some(id) = tui.start_tab.as_deref() {
        if !shown(id) {
            problems.push(format!("config.yaml: tui.startTab names no tab: {id}"));
        } else if context.hidden(id) {
            problems.push(format!("config.yaml: tui.startTab names a hidden tab: {id}"));
        }
    }
    for (name, ids) in [("tui.tabs", &tui.tabs), ("tui.hidden", &tui.hidden)] {
        let strange = ids.iter().filter(|id| !known(id));
        problems.extend(strange.map(|id| format!("config.yaml: {name} names no tab: {id}")));
    }
    problems.iter().map(|problem| sys::text::clean(problem)).collect()
}

/// The state before anything has happened.
pub fn new(context: &Context, size: (u16, u16), now: std::time::Instant) -> App {
    let (theme, _) = theme(&context.config);
    let (keymap, _) = Keymap::new(actions::ACTIONS, &context.config.tui.keys);
    let plugin = |plugin: &crate::plugins::Plugin| {
        let hidden = context.hidden(&plugin.id);
        PluginState {
            id: plugin.id.clone(),
            file: plugin.file.clone(),
            path: sys::text::clean(&context.paths.short(&plugin.path)),
            phase: if hidden { Phase::Hidden } else { Phase::Starting },
            run: u64::from(!hidden),
            starts: u64::from(!hidden),
            pid: None,
            manifest: None,
            frame: None,
            stats: Default::default(),
            scroll: Default::default(),
        }
    };
    let plugins: Vec<_> = context.discovery.plugins.iter().map(plugin).collect();
    let tui = &context.config.tui;
    let tabs = state::tabs(&plugins, &tui.tabs, &tui.hidden);
    let start = tui.start_tab.as_deref().and_then(|id| tabs.iter().position(|tab| tab.id == id));
    let mut app = App {
        size,
        theme,
        keymap,
        tabs,
        order: tui.tabs.clone(),
        hidden: tui.hidden.clone(),
        active: start.unwrap_or(0),
        layer: None,
        toasts: Default::default(),
        agents: Vec::new(),
        detection: 1,
        detecting: true,
        sessions: Default::default(),
        usage: Default::default(),
        providers: Default::default(),
        hooks: Default::default(),
        resume_in: context.config.resume_in,
        zone: jiff::tz::TimeZone::UTC,
        wall: 0,
        agents_tab: Default::default(),
        plugins_tab: Default::default(),
        plugins,
        ignored: context.discovery.ignored.clone(),
        plugins_dir: sys::text::clean(&context.paths.short(&context.discovery.dir)),
        paths: context.paths.clone(),
        interrupted: None,
        last_click: None,
    };
    let mut warnings = problems(context);
    warnings.extend(context.discovery.problem.clone());
    if !app.ignored.is_empty() {
        let files = things(app.ignored.len(), "file");
        warnings.push(format!("{files} in the plugins folder ignored: the Plugins tab says why"));
    }
    match warnings.as_slice() {
        [] => {}
        [one] => app.toasts.push(Kind::Warn, one.clone(), now),
        [first, ..] => {
            for warning in &warnings {
                app.toasts.note(Kind::Warn, warning.clone());
            }
            let text = format!("{} warnings, :messages shows them; {first}", warnings.len());
            app.toasts.show(Kind::Warn, text, now);
        }
    }
    app
}

/// Opens the interface and gives the exit code.
///
/// # Errors
/// When there is no terminal.
pub fn run(context: &Context) -> Result<u8, Failure> {
    let needed = || {
        Failure::new("the interface needs a terminal")
            .hint("`lazyagents help` lists the commands that work without one")
    };
    if !std::io::stdout().is_terminal() {
        return Err(needed().cause("stdout is none"));
    }
    let log_path = context.paths.state.join("lazyagents.log");
    let log = Log::open(&log_path, LOG_SIZE, LOGS_KEPT);
    tui::term::install_panic_hook("lazyagents", Some(log_path), move |text| log.line(Level::Error, text));
    // Caught before the terminal is taken: from then on every way out gives it back.
    let signals = Signals::catch()?;
    let ended_by = std::sync::Arc::clone(&signals.ended_by);
    let options = Options::detect(&context.env, context.config.tui.mouse);
    let depth = Depth::detect(&context.env);
    let terminal = Terminal::enter(options, depth).map_err(|error| needed().cause(sys::failure::plain(&error)))?;
    let mut app = new(context, terminal.size(), sys::clock::now());
    app.theme = app.theme.with_depth(depth);
    app.zone = jiff::tz::TimeZone::system();
    Driver::start(context, app, terminal, signals)?.run()?;
    // As a shell says it of one that the signal killed.
    Ok(match ended_by.load(std::sync::atomic::Ordering::SeqCst) {
        0 => 0,
        signal => 128_u8.saturating_add(signal),
    })
}
