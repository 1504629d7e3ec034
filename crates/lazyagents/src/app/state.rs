//! Everything the screen shows, as plain data. No I/O and no clock: `update` changes it, the views read it.

use std::time::Instant;

use agents::Detected;
use ratatui::layout::Rect;
use tui::action::Keymap;
use tui::edit::LineEdit;
use tui::theme::Theme;
use tui::widgets::confirm::Confirm;
use tui::widgets::list::ListState;
use tui::widgets::palette::Palette;
use tui::widgets::prompt::Prompt;
use tui::widgets::scroll_text::ScrollState;
use tui::widgets::toast::Toasts;

use super::event::Effect;
use super::hooks::{Draft, Hooks};
use super::providers::Providers;
use super::sessions::Sessions;
use super::usage::Usage;
use crate::config::ResumeIn;
use crate::plugins::host::{FrameView, Stats};
use crate::plugins::{Ignored, ManifestView};

/// A tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    /// Its id: a reserved one, or the plugin's.
    pub id: String,
    /// What it shows.
    pub kind: TabKind,
}

/// What a tab shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabKind {
    /// The sessions of all agents.
    Sessions,
    /// The profiles of endpoints, and who uses them.
    Providers,
    /// The library of hooks, and who runs them.
    Hooks,
    /// Their tokens.
    Usage,
    /// The coding agents.
    Agents,
    /// The files of the plugins folder.
    Plugins,
    /// A plugin, by its place in [`App::plugins`].
    Plugin(usize),
}

/// How a plugin is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// `tui.hidden` names it: not started.
    Hidden,
    /// Started, its manifest has not come.
    Starting,
    /// Its manifest has come.
    Running,
    /// It cannot go on.
    Failed {
        /// Why.
        reason: String,
        /// The tail of its stderr, clean.
        stderr: String,
    },
}

/// One plugin, as the app knows it.
#[derive(Clone, Debug)]
pub struct PluginState {
    /// Its id.
    pub id: String,
    /// Its file name, clean.
    pub file: String,
    /// Its file, for people.
    pub path: String,
    /// How it is.
    pub phase: Phase,
    /// The number of its run; 0 before the first. Also counts up when it is stopped, so that the old one's words
    /// no longer count.
    pub run: u64,
    /// How often it was started.
    pub starts: u64,
    /// The process of the current run.
    pub pid: Option<u32>,
    /// What it said of itself in the current run.
    pub manifest: Option<ManifestView>,
    /// Its newest frame in the current run.
    pub frame: Option<FrameView>,
    /// Numbers, when they were last asked.
    pub stats: Stats,
    /// Scrolling of the failure.
    pub scroll: ScrollState,
}

impl PluginState {
    /// The title of its tab: the id before the manifest and after a failure (clauses N2, B9).
    pub fn title(&self) -> &str {
        match (&self.phase, &self.manifest) {
            (Phase::Running, Some(manifest)) => &manifest.title,
            _ => &self.id,
        }
    }

    /// The number on its tab; a failed plugin has none (clause F2).
    pub fn count(&self) -> Option<u64> {
        self.living_frame().and_then(|frame| frame.count)
    }

    /// True when it is to get what the person does on its tab.
    pub fn living(&self) -> bool {
        matches!(self.phase, Phase::Starting | Phase::Running)
    }

    /// True when the host's global keys are its own (clause K7).
    pub fn capturing(&self) -> bool {
        self.living_frame().is_some_and(|frame| frame.capturing)
    }

    fn living_frame(&self) -> Option<&FrameView> {
        self.frame.as_ref().filter(|_| self.phase == Phase::Running)
    }
}

/// What every list of ours has.
#[derive(Clone, Debug, Default)]
pub struct ListTab {
    /// Cursor and offset.
    pub list: ListState,
    /// What is filtered by; survives a change of tabs.
    pub filter: LineEdit,
    /// Keys go to the filter.
    pub filtering: bool,
    /// Scrolling of the detail.
    pub detail: ScrollState,
    /// On a narrow screen: the detail is shown instead of the list.
    pub in_detail: bool,
}

/// What a line is typed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asking {
    /// A session's name: `agent:id`.
    Name(String),
    /// The folder in which a command opens a session again.
    Folder(Vec<String>),
    /// The next step of a profile.
    Provider(super::providers::Draft),
    /// The next step of a new hook.
    Hook(Draft),
    /// The folder that hooks are imported from.
    HookFolder,
}

/// What lies over the tab.
#[derive(Debug)]
pub enum Layer {
    /// The help.
    Help(ScrollState),
    /// The command palette.
    Palette(Palette),
    /// A question, and what yes means.
    Confirm(Confirm, Box<Effect>),
    /// A line is typed, and what it is for.
    Prompt(Prompt, Asking),
    /// One of several effects is chosen, by the place of its name.
    Menu(String, Palette, Vec<Effect>),
    /// A text to read.
    Text {
        /// Its heading.
        title: String,
        /// Its lines, clean.
        lines: Vec<String>,
        /// Where it is read.
        scroll: ScrollState,
    },
}

/// The whole state.
#[derive(Debug)]
pub struct App {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The active theme.
    pub theme: Theme,
    /// Which key means which action.
    pub keymap: Keymap,
    /// The tabs, in order; never empty.
    pub tabs: Vec<Tab>,
    /// `tui.tabs`: the wanted order.
    pub order: Vec<String>,
    /// `tui.hidden`, as it is now.
    pub hidden: Vec<String>,
    /// The index of the active one.
    pub active: usize,
    /// What lies over the tab.
    pub layer: Option<Layer>,
    /// Results and warnings.
    pub toasts: Toasts,
    /// All agents; empty until the first part of the detection has ended.
    pub agents: Vec<Detected>,
    /// The newest detection, and whether it goes on.
    pub detection: u64,
    /// It goes on.
    pub detecting: bool,
    /// The Sessions tab.
    pub sessions: Sessions,
    /// The Providers tab.
    pub providers: Providers,
    /// The Hooks tab.
    pub hooks: Hooks,
    /// The Usage tab.
    pub usage: Usage,
    /// Where sessions are opened again, when nothing else is asked for.
    pub resume_in: ResumeIn,
    /// The person's time zone.
    pub zone: jiff::tz::TimeZone,
    /// The wall clock at the last event, milliseconds since 1970: "3 min ago" is counted from here.
    pub wall: i64,
    /// The Agents tab.
    pub agents_tab: ListTab,
    /// The Plugins tab.
    pub plugins_tab: ListTab,
    /// All plugins, in file name order.
    pub plugins: Vec<PluginState>,
    /// The files that are none.
    pub ignored: Vec<Ignored>,
    /// The plugins folder, for people.
    pub plugins_dir: String,
    /// The person's home folder, for shortening paths.
    pub paths: sys::Paths,
    /// When `ctrl+c` last went to a capturing plugin: a second one quits (clauses K6, K7, "decided since").
    pub interrupted: Option<Instant>,
    /// The last press, for double clicks.
    pub last_click: Option<(Instant, u16, u16)>,
}

/// Columns left of and right of a tab's body.
const MARGIN: u16 = 1;
/// Rows above a tab's body: the tab bar and its underline.
pub const HEADER: u16 = 2;
/// Rows below it: the footer.
pub const FOOTER: u16 = 1;
/// Below this the tabs of ours say that the window is too small (lazyagents.md, The interface).
pub const SMALLEST: (u16, u16) = (40, 12);
/// From this width on a list has its detail beside it.
pub const WIDE: u16 = 76;

/// The body of a tab: a constant number of columns and rows smaller than the screen, at least 1x1 (clause H1).
pub fn body((columns, rows): (u16, u16)) -> Rect {
    let width = columns.saturating_sub(2 * MARGIN).max(1);
    let height = rows.saturating_sub(HEADER + FOOTER).max(1);
    let x = MARGIN.min(columns.saturating_sub(width));
    let y = HEADER.min(rows.saturating_sub(height));
    Rect { x, y, width, height }
}

impl App {
    /// The active tab's kind.
    pub fn kind(&self) -> TabKind {
        self.tabs.get(self.active).map_or(TabKind::Plugins, |tab| tab.kind)
    }

    /// The plugin whose tab is active.
    pub fn active_plugin(&self) -> Option<usize> {
        match self.kind() {
            TabKind::Plugin(plugin) => Some(plugin),
            _ => None,
        }
    }

    /// The body of the tabs.
    pub fn body(&self) -> Rect {
        body(self.size)
    }

    /// True when the tabs of ours do not fit.
    pub fn too_small(&self) -> bool {
        self.size.0 < SMALLEST.0 || self.size.1 < SMALLEST.1
    }

    /// The list of the active tab, when it is one of ours.
    pub fn list_tab(&self) -> Option<&ListTab> {
        match self.kind() {
            TabKind::Sessions => Some(&self.sessions.tab),
            TabKind::Providers => Some(&self.providers.tab),
            TabKind::Hooks => Some(&self.hooks.tab),
            TabKind::Usage => Some(&self.usage.tab),
            TabKind::Agents => Some(&self.agents_tab),
            TabKind::Plugins => Some(&self.plugins_tab),
            TabKind::Plugin(_) => None,
        }
    }

    /// The same, to change it.
    pub fn list_tab_mut(&mut self) -> Option<&mut ListTab> {
        match self.kind() {
            TabKind::Sessions => Some(&mut self.sessions.tab),
            TabKind::Providers => Some(&mut self.providers.tab),
            TabKind::Hooks => Some(&mut self.hooks.tab),
            TabKind::Usage => Some(&mut self.usage.tab),
            TabKind::Agents => Some(&mut self.agents_tab),
            TabKind::Plugins => Some(&mut self.plugins_tab),
            TabKind::Plugin(_) => None,
        }
    }

    /// The index of the tab with this id.
    pub fn tab(&self, id: &str) -> Option<usize> {
        self.tabs.iter().position(|tab| tab.id == id)
    }
}

/// The tabs in their order: those that one works in, plugins, then the read-only tabs of ours (clause D8); the config's order goes before
/// it, hidden ones are left out. Never empty.
pub fn tabs(plugins: &[PluginState], order: &[String], hidden: &[String]) -> Vec<Tab> {
    let plugin = |(index, plugin): (usize, &PluginState)| Tab { id: plugin.id.clone(), kind: TabKind::Plugin(index) };
    let ours = |id: &str, kind| Tab { id: id.to_owned(), kind };
    let mut rest = vec![ours("sessions", TabKind::Sessions), ours("providers", TabKind::Providers)];
    rest.push(ours("hooks", TabKind::Hooks));
    rest.extend(plugins.iter().enumerate().map(plugin));
    rest.push(ours("usage", TabKind::Usage));
    rest.push(ours("agents", TabKind::Agents));
    rest.push(ours("plugins", TabKind::Plugins));
    rest.retain(|tab| !hidden.contains(&tab.id));
    let mut tabs = Vec::new();
    for id in order {
        if let Some(at) = rest.iter().position(|tab| tab.id == *id) {
            tabs.push(rest.remove(at));
        }
    }
    tabs.append(&mut rest);
    if tabs.is_empty() {
        // Everything hidden: the tab from which it can be undone stays.
        tabs.push(ours("plugins", TabKind::Plugins));
    }
    tabs
}
