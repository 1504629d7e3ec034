//! What surrounds every tab: tab bar, footer, layers; and where things lie, so that keys and the mouse mean what is
//! seen. Draws from `&App`; no I/O, no change of state. The driver draws with it, `update` asks it for sizes.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use tui::paint;
use tui::widgets::footer::Footer;
use tui::widgets::help::{self, HelpGroup};
use tui::widgets::scroll_text::{self, ScrollState};
use tui::widgets::tabbar::{TabBar, TabLabel};
use tui::widgets::{list, too_small, wrap};

use super::actions::{self, ACTIONS, APP, FAILED, LIST, READER};
use super::state::{App, FOOTER, HEADER, Layer, Phase, TabKind, WIDE};
use crate::tabs;
pub use crate::tabs::plugins::{Entry, selected_entry};

/// Draws everything.
pub fn draw(app: &App, frame: &mut Frame<'_>) {
    let area = frame.area();
    draw_into(app, frame.buffer_mut(), area);
}

/// The same into any buffer, for tests.
pub fn draw_into(app: &App, buf: &mut Buffer, area: Rect) {
    paint::fill(buf, area, app.theme.base());
    let body = app.body();
    if area.height > HEADER {
        header(app, buf, Rect { height: HEADER, ..area });
    }
    // A failing part becomes an error in its tab (lazyagents.md, The interface).
    if let Err(why) = tui::term::contain(|| tab(app, buf, body)) {
        paint::fill(buf, body, app.theme.base());
        let words = format!("This tab could not be drawn, because of a bug in lazyagents: {why}");
        paint::put_fit(buf, body.x, body.y, body.width, &words, app.theme.style(tui::theme::Role::Error));
    }
    if area.height > HEADER + FOOTER {
        footer(app, buf, Rect { y: area.bottom() - FOOTER, height: FOOTER, ..area });
    }
    layer(app, buf, area);
}

// ---- header

fn labels(app: &App) -> Vec<TabLabel> {
    let ours = |kind: TabKind| !matches!(kind, TabKind::Plugin(_));
    let mut before = None;
    app.tabs
        .iter()
        .map(|tab| {
            let gap_before = before.is_some_and(|kind| ours(kind) != ours(tab.kind));
            before = Some(tab.kind);
            let (title, count) = match tab.kind {
                TabKind::Sessions => {
                    let count = app.sessions.shelf.as_ref().map(|shelf| shelf.lines.len() as u64);
                    ("Sessions".to_owned(), count)
                }
                TabKind::Providers => {
                    let count = app.providers.board.as_ref().map(|board| board.profiles.len() as u64);
                    ("Providers".to_owned(), count)
                }
                TabKind::Hooks => ("Hooks".to_owned(), app.hooks.rack.as_ref().map(|rack| rack.hooks.len() as u64)),
                TabKind::Usage => ("Usage".to_owned(), None),
                TabKind::Agents => {
                    let installed = app.agents.iter().filter(|agent| agent.installed).count();
                    ("Agents".to_owned(), (!app.agents.is_empty()).then_some(installed as u64))
                }
                TabKind::Plugins => ("Plugins".to_owned(), Some((app.plugins.len() + app.ignored.len()) as u64)),
                TabKind::Plugin(plugin) => {
                    app.plugins.get(plugin).map_or_else(Default::default, |p| (p.title().to_owned(), p.count()))
                }
            };
            TabLabel { title, count, gap_before }
        })
        .collect()
}

/// The word at the right end of the tab bar; none while `?` is a plugin's.
fn right(app: &App) -> &'static str {
    let held = app.active_plugin().and_then(|plugin| app.plugins.get(plugin)).is_some_and(|state| state.capturing());
    if held { "" } else { "? help" }
}

fn header(app: &App, buf: &mut Buffer, area: Rect) {
    let labels = labels(app);
    TabBar { brand: "lazyagents", labels: &labels, active: app.active, right: right(app) }.draw(buf, area, &app.theme);
}

/// What is at a column of the tab bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarHit {
    /// This tab.
    Tab(usize),
    /// The word on help.
    Help,
}

/// What a click on the tab bar means.
pub fn tab_at(app: &App, x: u16) -> Option<BarHit> {
    let labels = labels(app);
    let layout =
        TabBar { brand: "lazyagents", labels: &labels, active: app.active, right: right(app) }.layout(app.size.0);
    match layout.tab_at(x) {
        Some(tab) => Some(BarHit::Tab(tab)),
        None if layout.right.is_some_and(|start| x >= start) => Some(BarHit::Help),
        None if layout.left_more.is_some_and(|at| x <= at) => app.active.checked_sub(1).map(BarHit::Tab),
        None if layout.right_more.is_some_and(|at| x >= at) => Some(BarHit::Tab(app.active + 1)),
        None => None,
    }
}

// ---- body

fn tab(app: &App, buf: &mut Buffer, body: Rect) {
    match app.kind() {
        TabKind::Plugin(plugin) => tabs::plugin::draw(app, plugin, buf, body),
        _ if app.too_small() => {
            too_small::draw(buf, body, app.size, super::state::SMALLEST, &app.theme);
        }
        TabKind::Sessions => tabs::sessions::draw(app, buf, body),
        TabKind::Providers => tabs::providers::draw(app, buf, body),
        TabKind::Hooks => tabs::hooks::draw(app, buf, body),
        TabKind::Usage => tabs::usage::draw(app, buf, body),
        TabKind::Agents => tabs::agents::draw(app, buf, body),
        TabKind::Plugins => tabs::plugins::draw(app, buf, body),
    }
}

/// A list and its detail: side by side when there is room, else the one that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Where the list is; empty when only the detail is seen.
    pub list: Rect,
    /// Where the line between them is.
    pub line: Option<u16>,
    /// Where the detail is; empty when only the list is seen.
    pub detail: Rect,
}

/// Where list and detail of the active tab are. The first row is the filter's while there is one.
pub fn split(app: &App) -> Split {
    let body = app.body();
    let filter = app.list_tab().is_some_and(|tab| tab.filtering || !tab.filter.text().is_empty());
    let filter =
        filter || matches!(app.kind(), TabKind::Sessions | TabKind::Providers | TabKind::Hooks | TabKind::Usage);
    let top = u16::from(filter).min(body.height.saturating_sub(1));
    let area = Rect { y: body.y + top, height: body.height - top, ..body };
    let none = Rect { width: 0, height: 0, ..area };
    if app.size.0 < WIDE {
        return if app.list_tab().is_some_and(|tab| tab.in_detail) {
            Split { list: none, line: None, detail: area }
        } else {
            Split { list: area, line: None, detail: none }
        };
    }
    // In this order, so that no terminal is wide enough to overflow.
    // Titles of sessions are long, and figures are many.
    let part = if matches!(app.kind(), TabKind::Sessions | TabKind::Usage) { 13 } else { 11 };
    let left = (area.width / 20 * part + area.width % 20 * part / 20).min(area.width.saturating_sub(30));
    Split {
        list: Rect { width: left, ..area },
        line: Some(area.x + left),
        detail: Rect { x: area.x + left + 2, width: area.width.saturating_sub(left + 2), ..area },
    }
}

/// Draws list, line, detail and the filter's row.
pub fn draw_split(app: &App, buf: &mut Buffer, columns: &[list::Column], table: &list::Table<'_>, detail: &[Line<'_>]) {
    let Some(state) = app.list_tab() else { return };
    let body = app.body();
    let split = split(app);
    if split.list.y > body.y || split.detail.y > body.y {
        let row = Rect { height: 1, ..body };
        if app.kind() == TabKind::Sessions {
            tabs::sessions::draw_top(app, buf, row);
        } else if app.kind() == TabKind::Usage {
            tabs::usage::draw_top(app, buf, row);
        } else if app.kind() == TabKind::Providers {
            tabs::providers::draw_top(app, buf, row);
        } else if app.kind() == TabKind::Hooks {
            tabs::hooks::draw_top(app, buf, row);
        } else if state.filtering {
            tui::widgets::input::draw(buf, row, "/", &state.filter, "", &app.theme);
        } else {
            tui::widgets::input::draw_still(buf, row, "/", state.filter.text(), &app.theme);
        }
    }
    debug_assert_eq!(columns.len(), table.columns.len());
    if !split.list.is_empty() {
        let table = list::Table { focused: !state.in_detail, ..*table };
        list::draw(buf, split.list, &table, &state.list, &app.theme);
    }
    if let Some(x) = split.line {
        for y in split.list.top()..split.list.bottom() {
            paint::put(buf, x, y, 1, "│", app.theme.border(state.in_detail));
        }
    }
    if !split.detail.is_empty() {
        let more = if state.in_detail { "↓" } else { "shift+↓" };
        scroll_text::draw(buf, split.detail, detail, &state.detail, more, &app.theme);
    }
}

/// What is under the mouse on a tab of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The list, and the row below its first visible one.
    List(Option<u16>),
    /// The detail.
    Detail,
    /// Neither.
    Nothing,
}

/// What is at a cell of the screen.
pub fn place(app: &App, x: u16, y: u16) -> Place {
    let split = split(app);
    if split.list.contains(Position { x, y }) {
        return Place::List(list::layout(&columns(app), split.list).row_at(x, y));
    }
    if split.detail.contains(Position { x, y }) { Place::Detail } else { Place::Nothing }
}

fn columns(app: &App) -> Vec<list::Column> {
    match app.kind() {
        TabKind::Sessions => tabs::sessions::columns(),
        TabKind::Providers => tabs::providers::columns(app),
        TabKind::Hooks => tabs::hooks::columns(app),
        TabKind::Usage => tabs::usage::columns(),
        TabKind::Agents => tabs::agents::columns(),
        TabKind::Plugins => tabs::plugins::columns(),
        TabKind::Plugin(_) => Vec::new(),
    }
}

/// Rows of the active list, and how many can be seen.
pub fn list_size(app: &App) -> (usize, usize) {
    let len = match app.kind() {
        TabKind::Sessions => tabs::sessions::len(app),
        TabKind::Providers => tabs::providers::len(app),
        TabKind::Hooks => tabs::hooks::len(app),
        TabKind::Usage => tabs::usage::len(app),
        TabKind::Agents => tabs::agents::rows(app).len(),
        TabKind::Plugins => tabs::plugins::rows(app).len(),
        TabKind::Plugin(_) => 0,
    };
    (len, list::layout(&columns(app), split(app).list).height())
}

/// Wrapped lines of the active detail, and how many can be seen.
pub fn detail_size(app: &App) -> (usize, usize) {
    let lines = match app.kind() {
        TabKind::Sessions => tabs::sessions::detail(app),
        TabKind::Providers => tabs::providers::detail(app),
        TabKind::Hooks => tabs::hooks::detail(app),
        TabKind::Usage => tabs::usage::detail(app),
        TabKind::Agents => tabs::agents::detail(app),
        TabKind::Plugins => tabs::plugins::detail(app),
        TabKind::Plugin(_) => Vec::new(),
    };
    let area = split(app).detail;
    (wrap::wrap(&lines, area.width).len(), area.height.into())
}

/// Wrapped lines of a failed plugin's tab, and how many can be seen.
pub fn failure_size(app: &App, plugin: usize) -> (usize, usize) {
    let area = tabs::plugin::failure_area(app.body());
    let lines = app.plugins.get(plugin).map_or_else(Vec::new, |state| tabs::plugin::failure(app, state));
    (wrap::wrap(&lines, area.width).len(), area.height.into())
}

/// What `y` copies.
pub fn path_of_selected(app: &App) -> Option<String> {
    match app.kind() {
        TabKind::Sessions => tabs::sessions::selected_id(app),
        TabKind::Providers => tabs::providers::selected_url(app),
        TabKind::Hooks => tabs::hooks::selected_path(app),
        TabKind::Usage => tabs::usage::selected_label(app),
        TabKind::Agents => tabs::agents::selected_path(app),
        TabKind::Plugins => tabs::plugins::selected_path(app),
        TabKind::Plugin(_) => None,
    }
}

/// The scope of a tab's own actions.
pub fn scope(kind: TabKind) -> &'static str {
    match kind {
        TabKind::Sessions => "sessions",
        TabKind::Providers => "providers",
        TabKind::Hooks => "hooks",
        TabKind::Usage => "usage",
        TabKind::Agents => "agents",
        TabKind::Plugins | TabKind::Plugin(_) => "plugins",
    }
}

/// Moves a text by the last part of an action's id (`failed.page-up`, `list.bottom`).
pub fn scroll(state: &mut ScrollState, action: &str, total: usize, height: usize) {
    match action.rsplit('.').next().unwrap_or_default() {
        "up" => state.up(total, height),
        "down" => state.down(total, height),
        "page-up" => state.page_up(total, height),
        "page-down" => state.page_down(total, height),
        "top" => state.top(),
        "bottom" => state.bottom(total, height),
        _ => {}
    }
}

// ---- footer

fn footer(app: &App, buf: &mut Buffer, area: Rect) {
    fn borrowed(list: &Hints) -> Vec<(&str, &str)> {
        list.iter().map(|(key, word)| (key.as_str(), word.as_str())).collect()
    }
    let (hints, kept, legend) = hints(app);
    let (hints, kept) = (borrowed(&hints), borrowed(&kept));
    Footer { hints: &hints, kept: &kept, legend, toast: app.toasts.current() }.draw(buf, area, &app.theme);
}

type Hints = Vec<(String, String)>;

/// The keys that do something now, and those that are never cut off.
fn hints(app: &App) -> (Hints, Hints, &'static str) {
    let pair = |key: &str, word: &str| (key.to_owned(), word.to_owned());
    let of = |ids: &[&str]| ids.iter().filter_map(|id| hint(app, id)).collect::<Hints>();
    if let Some(layer) = &app.layer {
        let hints = match layer {
            Layer::Help(_) | Layer::Text { .. } => vec![pair("↑↓", "scroll")],
            Layer::Palette(_) => vec![pair("enter", "run"), pair("↑↓", "choose")],
            Layer::Menu(..) => vec![pair("enter", "take"), pair("↑↓", "choose")],
            Layer::Prompt(..) => vec![pair("enter", "done")],
            Layer::Confirm(..) => vec![pair("y", "yes"), pair("n", "no")],
        };
        return (hints, vec![pair("esc", "back")], "");
    }
    // On a plugin's tab only the seed's keys are ours (clause K6).
    let seed = |ids: &[&str]| ids.iter().filter_map(|id| hint_of(app, id, true)).collect::<Hints>();
    let plugin = matches!(app.kind(), TabKind::Plugin(_));
    let mut kept = if plugin { seed(&["app.help", "app.quit"]) } else { of(&["app.help", "app.quit"]) };
    if plugin && hint_of(app, "app.quit", true).is_none() {
        // The person gave it a key that a plugin gets.
        kept.push(pair(":quit", ""));
    }
    // Where the list stands alone, the way to what it leaves out.
    let to_detail = (app.size.0 < WIDE && list_size(app).0 > 0)
        .then(|| app.keymap.keys_of("list.detail").into_iter().next().map(|key| pair(&key, "detail")))
        .flatten();
    match app.kind() {
        TabKind::Plugin(plugin) => match app.plugins.get(plugin) {
            Some(state) if state.capturing() => {
                let word = format!("keys go to {}", state.title());
                (vec![pair("", &word)], vec![pair("ctrl+c ctrl+c", "quit")], "")
            }
            Some(state) if state.living() => (seed(&["app.palette", "app.next"]), kept, ""),
            _ => {
                let mut hints = of(&["failed.restart", "failed.log"]);
                hints.extend(seed(&["app.palette"]));
                (hints, kept, "")
            }
        },
        TabKind::Sessions if app.sessions.reader.is_some() => {
            if app.sessions.reader.as_ref().and_then(|r| r.inside.as_ref()).is_some_and(|inside| inside.typing) {
                return (vec![pair("enter", "go there")], vec![pair("esc", "back")], "");
            }
            let ids = ["reader.fold", "reader.folds", "reader.prompt", "reader.find"];
            (of(&ids), of(&["app.help", "reader.back"]), "")
        }
        TabKind::Sessions if app.sessions.search.as_ref().is_some_and(|search| search.typing) => {
            (vec![pair("enter", "keep"), pair("↑↓", "choose")], vec![pair("esc", "end the search")], "")
        }
        _ if app.list_tab().is_some_and(|tab| tab.filtering) => {
            (vec![pair("enter", "keep"), pair("↑↓", "choose")], vec![pair("esc", "clear")], "")
        }
        _ if app.too_small() => (Vec::new(), kept, ""),
        _ if app.list_tab().is_some_and(|tab| tab.in_detail) => {
            let mut kept = of(&["app.help"]);
            kept.push(pair("esc", "list"));
            (vec![pair("↑↓", "scroll")], kept, "")
        }
        TabKind::Sessions => {
            let ids = [
                "sessions.resume",
                "sessions.read",
                "sessions.search",
                "list.filter",
                "sessions.agent",
                "sessions.group",
                "sessions.sort",
                "sessions.name",
                "sessions.export",
                "sessions.delete",
                "app.palette",
            ];
            let legend = if app.size.0 >= 110 { "● open now" } else { "" };
            let none = app.sessions.entries.is_empty();
            (of(if none { &ids[2..5] } else { &ids }), kept, legend)
        }
        TabKind::Providers => {
            let own: &[&str] = if app.providers.selected().is_some() {
                &["providers.toggle", "providers.agent", "providers.new", "providers.edit", "providers.delete"]
            } else {
                &["providers.new"]
            };
            let mut hints = of(own);
            hints.extend(to_detail);
            hints.extend(of(&["list.filter", "app.palette"]));
            (hints, kept, "")
        }
        TabKind::Hooks => {
            let own: &[&str] = if app.hooks.selected().is_some() {
                &[
                    "hooks.toggle",
                    "hooks.agent",
                    "hooks.new",
                    "hooks.import",
                    "hooks.switch",
                    "hooks.test",
                    "hooks.delete",
                ]
            } else {
                &["hooks.new", "hooks.import"]
            };
            let mut hints = of(own);
            hints.extend(to_detail);
            hints.extend(of(&["list.filter", "app.palette"]));
            (hints, kept, "")
        }
        TabKind::Usage => {
            (of(&["usage.period", "usage.agent", "usage.view", "usage.limits", "list.filter", "app.palette"]), kept, "")
        }
        TabKind::Agents => {
            let mut hints = of(&["agents.refresh"]);
            hints.extend(to_detail);
            hints.extend(of(&["list.filter", "app.palette"]));
            (hints, kept, "")
        }
        TabKind::Plugins => {
            let always = ["list.filter", "app.palette"];
            let own: &[&str] = match selected_entry(app).and_then(|entry| match entry {
                Entry::Plugin(plugin) => app.plugins.get(plugin).map(|state| &state.phase),
                Entry::Ignored(_) => None,
            }) {
                Some(Phase::Hidden) => &["plugins.hide", "plugins.log"],
                Some(_) => &["plugins.open", "plugins.restart", "plugins.hide", "plugins.log"],
                None => &[],
            };
            let mut hints = of(own);
            hints.extend(to_detail);
            hints.extend(of(if list_size(app).0 == 0 && app.plugins_tab.filter.text().is_empty() {
                &always[1..]
            } else {
                &always
            }));
            (hints, kept, "")
        }
    }
}

fn hint(app: &App, id: &str) -> Option<(String, String)> {
    hint_of(app, id, false)
}

/// Key and word of an action; of the seed's global keys only, when `seed`.
fn hint_of(app: &App, id: &str, seed: bool) -> Option<(String, String)> {
    let key = app.keymap.keys_of(id).into_iter().find(|key| !seed || actions::global(key))?;
    let action = ACTIONS.iter().find(|action| action.id == id)?;
    Some((key, action.hint.to_owned()))
}

// ---- layers

/// Where a layer that covers the screen lies.
pub fn layer_area((columns, rows): (u16, u16)) -> Rect {
    let area = Rect { x: 0, y: 0, width: columns, height: rows };
    if rows > HEADER + FOOTER + 3 { Rect { y: HEADER, height: rows - HEADER - FOOTER, ..area } } else { area }
}

fn layer(app: &App, buf: &mut Buffer, area: Rect) {
    let over = layer_area(app.size).intersection(area);
    match &app.layer {
        None => {}
        Some(Layer::Help(state)) => help::draw(buf, over, "Help", &help_groups(app), state, &app.theme),
        Some(Layer::Palette(palette)) => palette.draw(buf, over, &app.theme),
        Some(Layer::Menu(_, palette, _)) => palette.draw(buf, over, &app.theme),
        Some(Layer::Prompt(prompt, _)) => prompt.draw(buf, over, &app.theme),
        Some(Layer::Confirm(confirm, _)) => confirm.draw(buf, over, &app.theme),
        Some(Layer::Text { title, lines, scroll }) => {
            let inner = tui::widgets::layer::open(buf, over, title, &app.theme);
            let lines: Vec<Line<'_>> = lines.iter().map(|line| Line::raw(line.as_str())).collect();
            scroll_text::draw(buf, inner, &lines, scroll, "", &app.theme);
        }
    }
}

/// Wrapped lines of a text layer, and how many can be seen.
pub fn text_size(size: (u16, u16), lines: &[String]) -> (usize, usize) {
    let inner = tui::widgets::layer::inside(layer_area(size));
    let lines: Vec<Line<'_>> = lines.iter().map(|line| Line::raw(line.as_str())).collect();
    (wrap::wrap(&lines, inner.width).len(), inner.height.into())
}

/// Moves the help.
pub fn scroll_help(app: &App, state: &mut ScrollState, key: &str) {
    let (total, height) = help::extent(&help_groups(app), layer_area(app.size), &app.theme);
    state.on_key(key, total, height);
}

/// The help of where we are: the tab's own keys, then what is the same everywhere; a plugin's groups come after the
/// host's (clause N4).
pub fn help_groups(app: &App) -> Vec<HelpGroup> {
    let scope = |title: &str, scope: &str, seed_only: bool| HelpGroup {
        title: title.to_owned(),
        keys: ACTIONS
            .iter()
            .filter(|action| action.scope == scope)
            .filter_map(|action| line(app, action.id, seed_only))
            .collect(),
    };
    match app.kind() {
        TabKind::Plugin(plugin) => {
            let mut groups = vec![scope("lazyagents", APP, true)];
            if let Some(state) = app.plugins.get(plugin) {
                match (&state.phase, &state.manifest) {
                    (Phase::Failed { .. }, _) => groups.push(scope("A plugin that failed", FAILED, false)),
                    (_, Some(manifest)) => {
                        let group = |(title, keys): &(String, Vec<(String, String)>)| HelpGroup {
                            title: title.clone(),
                            keys: keys.clone(),
                        };
                        groups.extend(manifest.help.iter().map(group));
                    }
                    _ => {}
                }
            }
            groups
        }
        kind => {
            if kind == TabKind::Sessions && app.sessions.reader.is_some() {
                return vec![scope("The transcript", READER, false), scope("Everywhere", APP, false)];
            }
            let (title, id) = match kind {
                TabKind::Sessions => ("Sessions", "sessions"),
                TabKind::Providers => ("Providers", "providers"),
                TabKind::Hooks => ("Hooks", "hooks"),
                TabKind::Usage => ("Usage", "usage"),
                TabKind::Agents => ("Agents", "agents"),
                _ => ("Plugins", "plugins"),
            };
            let mut everywhere = scope("Everywhere", APP, false);
            everywhere.keys.push(("ctrl+c".to_owned(), "quit".to_owned()));
            vec![scope(title, id, false), scope("Lists", LIST, false), everywhere]
        }
    }
}

/// Keys and words of an action; `None` when no key leads to it.
fn line(app: &App, id: &str, seed_only: bool) -> Option<(String, String)> {
    let action = ACTIONS.iter().find(|action| action.id == id)?;
    let mut keys = app.keymap.keys_of(id);
    if seed_only {
        keys.retain(|key| actions::global(key));
    }
    let keys = match keys.as_slice() {
        [] => match action.palette {
            Some(name) => format!(":{name}"),
            None => return None,
        },
        [first, .., last] if keys.len() > 3 => format!("{first}-{last}"),
        keys => keys.join(" "),
    };
    Some((keys, action.title.to_owned()))
}
