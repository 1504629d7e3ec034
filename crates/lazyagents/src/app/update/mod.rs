//! One event in, the changed state and a list of effects out. Pure: no I/O, and the time is a value. The driver
//! calls it; tests drive it without a terminal.

mod changes;
mod commands;
mod hooks;
mod keys;
mod mouse;
mod providers;
mod reading;
mod sessions;
mod usage;

use std::time::Instant;

use tui::input::Input;
use tui::widgets::toast::Kind;
use wire::plugin::HostMessage;

use super::event::{Effect, Event};
use super::state::{App, Layer, Phase, TabKind};
use crate::detection;
use crate::plugins::{Notice, What};

/// What follows from `event` at `now`.
pub fn update(app: &mut App, event: Event, now: Instant) -> Vec<Effect> {
    match event {
        Event::Input(Input::Key(key)) => keys::key(app, &key, now),
        Event::Input(Input::Paste(text)) => paste(app, &text),
        Event::Input(Input::Mouse(mouse)) => mouse::mouse(app, &mouse, now),
        // The terminal went away: there is nobody left to show anything to.
        Event::Input(Input::Closed) => vec![Effect::Quit],
        Event::Input(Input::Focus(_) | Input::Reply(_)) => Vec::new(),
        Event::Resized(columns, rows) => resized(app, (columns, rows)),
        Event::Notice(notice) => self::notice(app, notice, now),
        Event::Frame { plugin, run, view } => {
            if let Some(state) = app.plugins.get_mut(plugin).filter(|state| state.run == run) {
                state.frame = Some(view);
            }
            Vec::new()
        }
        Event::Stats { plugin, stats } => {
            if let Some(state) = app.plugins.get_mut(plugin) {
                state.stats = stats;
            }
            Vec::new()
        }
        Event::Agents { detection, found, complete } => agents(app, detection, found, complete),
        // What the person has opened meanwhile stays.
        Event::Text { title, .. } if app.layer.is_some() => {
            app.toasts.push(Kind::Info, format!("{title} was read; ask for it again"), now);
            Vec::new()
        }
        Event::Text { title, lines } => {
            let scroll = tui::widgets::scroll_text::ScrollState { offset: usize::MAX };
            app.layer = Some(Layer::Text { title, lines, scroll });
            Vec::new()
        }
        Event::Done(text) => {
            app.toasts.push(Kind::Ok, text, now);
            Vec::new()
        }
        Event::Failed(text) => {
            app.toasts.push(Kind::Err, text, now);
            Vec::new()
        }
        Event::Hidden { plugin, hidden } => self::hidden(app, plugin, hidden, now),
        Event::Shelf(shelf) => {
            let mut effects = sessions::shelf(app, shelf, now);
            effects.extend(usage::count(app));
            // From files alone: nothing is asked of anybody.
            effects.push(Effect::Limits { ask: false });
            effects
        }
        Event::Limits(told) => usage::limits(app, told, now),
        Event::Counted { number, counted } => usage::counted(app, number, counted),
        Event::Files(files) => {
            app.sessions.reading.files = files;
            Vec::new()
        }
        Event::Texts(coverage) => sessions::texts(app, coverage),
        Event::Found { number, found, end } => sessions::found(app, number, found, end),
        Event::Told { reader, told } => sessions::told(app, reader, told),
        Event::Deletion(plans) => sessions::deletion(app, plans, now),
        Event::Ahead(outcome) => changes::ahead(app, outcome, now),
        Event::Undone(text) => {
            app.toasts.push(Kind::Ok, text, now);
            let mut effects = providers::read(app);
            effects.extend(hooks::read(app));
            effects
        }
        Event::FolderGone { folder, command } => {
            sessions::folder_gone(app, &folder, command);
            Vec::new()
        }
        Event::Providers { number, board } => providers::told(app, number, board),
        Event::ProvidersPlanned(prepared) => providers::planned(app, prepared, now),
        Event::ProvidersDone(text) => {
            app.toasts.push(Kind::Ok, format!("{text}  z undo"), now);
            providers::read(app)
        }
        Event::Hooks { number, rack } => hooks::told(app, number, rack),
        Event::HooksPlanned(prepared) => hooks::planned(app, prepared, now),
        Event::HooksDone(text) => {
            app.toasts.push(Kind::Ok, text, now);
            hooks::read(app)
        }
        Event::Tick => {
            app.toasts.expire(now);
            if app.kind() == TabKind::Plugins { vec![Effect::Stats] } else { Vec::new() }
        }
        Event::Terminate => vec![Effect::Quit],
        Event::Suspend => vec![Effect::Suspend { outside: true }],
    }
}

/// A paste goes to what has the focus; global characters in it do nothing (clauses P1, K8).
fn paste(app: &mut App, text: &str) -> Vec<Effect> {
    match &mut app.layer {
        Some(Layer::Palette(palette)) => {
            palette.paste(text);
            return Vec::new();
        }
        Some(Layer::Prompt(prompt, _)) => {
            prompt.paste(text);
            return Vec::new();
        }
        Some(_) => return Vec::new(),
        None => {}
    }
    if let Some(plugin) = app.active_plugin() {
        if !app.plugins.get(plugin).is_some_and(super::state::PluginState::living) {
            return Vec::new();
        }
        return wire::paste(text).into_iter().map(|message| Effect::Send(plugin, message)).collect();
    }
    if app.kind() == TabKind::Sessions {
        if app.sessions.reader.is_some() {
            return reading::paste(app, text);
        }
        if let Some(search) = app.sessions.search.as_mut().filter(|search| search.typing) {
            search.edit.paste(text);
            return sessions::searched(app);
        }
    }
    if let Some(tab) = app.list_tab_mut().filter(|tab| tab.filtering) {
        tab.filter.paste(text);
        tab.list.top();
    }
    filtered(app);
    Vec::new()
}

/// The filter of the active tab may have changed: rows that are kept are made anew.
fn filtered(app: &mut App) {
    if app.kind() == TabKind::Sessions {
        app.sessions.arrange();
    }
}

fn resized(app: &mut App, size: (u16, u16)) -> Vec<Effect> {
    if app.size == size {
        return Vec::new();
    }
    app.size = size;
    reading::resized(app);
    let body = app.body();
    vec![Effect::Body(body.width, body.height)]
}

fn agents(app: &mut App, detection: u64, found: Vec<agents::Detected>, complete: bool) -> Vec<Effect> {
    if detection != app.detection {
        return Vec::new();
    }
    app.agents = found;
    app.detecting = !complete;
    // Clause A1: once per detection.
    if complete { vec![Effect::TellAgents(detection::for_plugins(&app.agents))] } else { Vec::new() }
}

fn notice(app: &mut App, notice: Notice, now: Instant) -> Vec<Effect> {
    let Some(state) = app.plugins.get_mut(notice.plugin).filter(|state| state.run == notice.run) else {
        return Vec::new();
    };
    match notice.what {
        What::Started { pid } => state.pid = Some(pid),
        What::Manifest(manifest) => {
            state.manifest = Some(manifest);
            state.phase = Phase::Running;
            commands::refresh(app);
        }
        // The driver turns it into Event::Frame.
        What::Frame => {}
        What::Interactive(exec) => {
            return vec![Effect::Lend { plugin: notice.plugin, run: notice.run, exec }];
        }
        What::Failed { reason, stderr } => {
            let again = matches!(state.phase, Phase::Failed { .. });
            state.phase = Phase::Failed { reason, stderr };
            state.frame = None;
            state.pid = None;
            if !again {
                state.scroll = tui::widgets::scroll_text::ScrollState::default();
                let text = format!("{} could not go on", state.id);
                if app.active_plugin() != Some(notice.plugin) {
                    app.toasts.push(Kind::Err, text, now);
                }
                commands::refresh(app);
            }
        }
        What::Warning(text) => app.toasts.push(Kind::Warn, text, now),
    }
    Vec::new()
}

/// `tui.hidden` was written: the tab goes or comes, its process with it.
fn hidden(app: &mut App, plugin: usize, hidden: bool, now: Instant) -> Vec<Effect> {
    let Some(state) = app.plugins.get_mut(plugin) else { return Vec::new() };
    if (state.phase == Phase::Hidden) == hidden {
        return Vec::new();
    }
    let id = state.id.clone();
    let was_active = app.tabs.get(app.active).map(|tab| tab.id.clone());
    let mut effects = Vec::new();
    if hidden {
        state.phase = Phase::Hidden;
        state.frame = None;
        state.pid = None;
        // Notices of the run that is being stopped no longer count.
        state.run += 1;
        app.hidden.push(id.clone());
        effects.push(Effect::Stop(plugin));
        app.toasts.push(Kind::Ok, format!("{id} is hidden; space shows it again"), now);
    } else {
        effects = start(app, plugin);
        app.hidden.retain(|other| *other != id);
        app.toasts.push(Kind::Ok, format!("{id} has its tab again"), now);
    }
    app.tabs = super::state::tabs(&app.plugins, &app.order, &app.hidden);
    app.active = was_active.and_then(|id| app.tab(&id)).unwrap_or(0);
    commands::refresh(app);
    effects
}

/// A new run of a plugin: what is known of the old one goes (clause R3: nothing queued for it is replayed).
fn start(app: &mut App, plugin: usize) -> Vec<Effect> {
    let Some(state) = app.plugins.get_mut(plugin) else { return Vec::new() };
    state.phase = Phase::Starting;
    state.run += 1;
    state.starts += 1;
    state.manifest = None;
    state.frame = None;
    state.pid = None;
    vec![Effect::Start { plugin, run: state.run }]
}

/// `:reload`: a living plugin is told, a failed one is restarted, a tab of ours is read again (clauses R1, R2).
fn reload(app: &mut App) -> Vec<Effect> {
    match app.kind() {
        TabKind::Plugin(plugin) => match app.plugins.get(plugin) {
            Some(state) if state.living() => vec![Effect::Send(plugin, HostMessage::Reload)],
            _ => start(app, plugin),
        },
        TabKind::Sessions | TabKind::Usage => vec![Effect::Look],
        TabKind::Providers => providers::read(app),
        TabKind::Hooks => hooks::read(app),
        TabKind::Agents => detect(app),
        TabKind::Plugins => vec![Effect::Stats],
    }
}

fn detect(app: &mut App) -> Vec<Effect> {
    app.detection += 1;
    app.detecting = true;
    vec![Effect::Detect(app.detection)]
}

/// Goes to a tab.
fn go(app: &mut App, index: usize) -> Vec<Effect> {
    if index >= app.tabs.len() {
        return Vec::new();
    }
    app.active = index;
    app.interrupted = None;
    match app.kind() {
        TabKind::Plugins => vec![Effect::Stats],
        TabKind::Providers => providers::read(app),
        TabKind::Hooks => hooks::read(app),
        _ => Vec::new(),
    }
}
