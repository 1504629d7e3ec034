//! An app without a terminal: invented folders, invented plugins, events in, effects out. It touches no disk.
//! The tests of `update` and of the screens start from it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use agents::Detected;
use lazyagents::app::event::{Effect, Event};
use lazyagents::app::state::{App, Phase, TabKind};
use lazyagents::app::update::update;
use lazyagents::app::{self, views};
use lazyagents::config::{self, Config};
use lazyagents::context::Context;
use lazyagents::plugins::host::FrameView;
use lazyagents::plugins::{Discovery, Ignored, ManifestView, Notice, Plugin, What};
use ratatui::buffer::{Buffer, CellWidth as _};
use ratatui::layout::Rect;
use sys::text::ansi;
use tui::input::{Button, Input, Mouse, MouseKind, Wheel};
use tui::keys::{Key, Mods};
use wire::plugin::HostMessage;

/// An app and the time it believes in.
pub(crate) struct World {
    pub(crate) app: App,
    pub(crate) now: Instant,
}

/// What every command of this world starts from: a home that does not exist.
pub(crate) fn context(plugins: &[&str], ignored: &[(&str, &str)], yaml: &str) -> Context {
    let env: sys::Env = [("HOME", "/home/dev"), ("PATH", "/nowhere")].into_iter().collect();
    let paths = sys::Paths::of("lazyagents", &env).unwrap();
    let mut config = Config::parse(yaml).unwrap();
    // The tests of plugins' tabs have these first; what concerns the others names them.
    if !yaml.contains("sessions") {
        config.tui.hidden.extend(["sessions", "providers", "hooks", "usage"].map(str::to_owned));
    }
    let library = config::library_dir(&config, &paths);
    let dir = paths.config.join("plugins");
    let plugin = |id: &&str| Plugin { id: (*id).to_owned(), file: (*id).to_owned(), path: dir.join(id) };
    let file = |(file, reason): &(&str, &str)| Ignored { file: (*file).to_owned(), reason: (*reason).to_owned() };
    let discovery = Discovery {
        plugins: plugins.iter().map(plugin).collect(),
        ignored: ignored.iter().map(file).collect(),
        silent: Vec::new(),
        problem: None,
        dir,
    };
    Context { env, paths, config, library, discovery, system: false }
}

/// Three plugins called `one`, `two` and `three` and what they ask for when nothing special is needed.
pub(crate) fn three() -> World {
    World::new(&["one", "three", "two"], "")
}

impl World {
    /// A world with these plugins (none has said anything yet) and this `config.yaml`, at 100x30.
    pub(crate) fn new(plugins: &[&str], yaml: &str) -> Self {
        Self::of(&context(plugins, &[], yaml), (100, 30))
    }

    pub(crate) fn of(context: &Context, size: (u16, u16)) -> Self {
        let now = sys::clock::now();
        Self { app: app::new(context, size, now), now }
    }

    pub(crate) fn event(&mut self, event: Event) -> Vec<Effect> {
        update(&mut self.app, event, self.now)
    }

    pub(crate) fn later(&mut self, milliseconds: u64) -> &mut Self {
        self.now += Duration::from_millis(milliseconds);
        self
    }

    /// One key, by its name.
    #[track_caller]
    pub(crate) fn key(&mut self, name: &str) -> Vec<Effect> {
        let key = Key::parse(name).unwrap_or_else(|| panic!("{name} is no key"));
        self.event(Event::Input(Input::Key(key)))
    }

    /// Several keys, by their names with blanks between; all effects.
    #[track_caller]
    pub(crate) fn keys(&mut self, names: &str) -> Vec<Effect> {
        names.split_ascii_whitespace().flat_map(|name| self.key(name)).collect()
    }

    /// The characters of a text, one key each.
    pub(crate) fn type_text(&mut self, text: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for c in text.chars() {
            effects.extend(if c == ' ' { self.key("space") } else { self.key(&c.to_string()) });
        }
        effects
    }

    /// A command by the palette, as a person does it.
    pub(crate) fn palette(&mut self, name: &str) -> Vec<Effect> {
        let mut effects = self.key(":");
        effects.extend(self.type_text(name));
        effects.extend(self.key("enter"));
        effects
    }

    pub(crate) fn paste(&mut self, text: &str) -> Vec<Effect> {
        self.event(Event::Input(Input::Paste(text.to_owned())))
    }

    pub(crate) fn mouse(&mut self, kind: MouseKind, x: u16, y: u16) -> Vec<Effect> {
        self.event(Event::Input(Input::Mouse(Mouse { kind, x, y, mods: Mods::NONE })))
    }

    pub(crate) fn click(&mut self, x: u16, y: u16) -> Vec<Effect> {
        self.mouse(MouseKind::Press(Button::Left), x, y)
    }

    pub(crate) fn wheel(&mut self, down: bool, x: u16, y: u16) -> Vec<Effect> {
        self.mouse(MouseKind::Wheel(if down { Wheel::Down } else { Wheel::Up }), x, y)
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) -> Vec<Effect> {
        self.event(Event::Resized(columns, rows))
    }

    /// The place of a plugin.
    #[track_caller]
    pub(crate) fn at(&self, id: &str) -> usize {
        self.app.plugins.iter().position(|plugin| plugin.id == id).unwrap_or_else(|| panic!("no plugin {id}"))
    }

    /// The current run of the plugin says something.
    #[track_caller]
    pub(crate) fn says(&mut self, id: &str, what: What) -> Vec<Effect> {
        let plugin = self.at(id);
        let run = self.app.plugins[plugin].run;
        self.event(Event::Notice(Notice { plugin, run, what }))
    }

    /// The plugin introduces itself.
    #[track_caller]
    pub(crate) fn manifest(&mut self, id: &str, title: &str, commands: &[(&str, &str)]) -> &mut Self {
        let pair = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        let commands = commands.iter().map(pair).collect();
        let help = vec![("Keys of its own".to_owned(), vec![("x".to_owned(), "does what it does".to_owned())])];
        let manifest = ManifestView { title: title.to_owned(), help, commands, doctor: false };
        assert_eq!(self.says(id, What::Started { pid: 4242 }), []);
        assert_eq!(self.says(id, What::Manifest(manifest)), []);
        self
    }

    /// A frame, as it would come through the pipe into a body of the present size.
    #[track_caller]
    pub(crate) fn frame(&mut self, id: &str, view: &str, count: Option<u64>, capturing: bool) -> &mut Self {
        let plugin = self.at(id);
        let body = self.app.body();
        let lines = ansi::fold(view, body.height.into(), body.width.into());
        let view = FrameView { lines, count, capturing, empty: view.is_empty() };
        let run = self.app.plugins[plugin].run;
        assert_eq!(self.event(Event::Frame { plugin, run, view }), []);
        self
    }

    /// The plugin introduces itself with two commands and draws.
    pub(crate) fn alive(&mut self, id: &str) -> &mut Self {
        self.manifest(id, id, &[("ping", "Count to one"), ("run", "Do it")]);
        self.frame(id, &format!("frame of {id}"), None, false)
    }

    /// The plugin draws that it captures, or not.
    pub(crate) fn capture(&mut self, id: &str, capturing: bool) -> &mut Self {
        self.frame(id, "typing", None, capturing)
    }

    pub(crate) fn fail(&mut self, id: &str) -> Vec<Effect> {
        self.says(id, What::Failed { reason: "it broke".to_owned(), stderr: "last words".to_owned() })
    }

    /// Goes to a tab by its id.
    #[track_caller]
    pub(crate) fn go(&mut self, id: &str) -> &mut Self {
        let tab = self.app.tab(id).unwrap_or_else(|| panic!("no tab {id}"));
        self.app.active = tab;
        self
    }

    pub(crate) fn active(&self) -> &str {
        &self.app.tabs[self.app.active].id
    }

    pub(crate) fn tabs(&self) -> Vec<&str> {
        self.app.tabs.iter().map(|tab| tab.id.as_str()).collect()
    }

    #[track_caller]
    pub(crate) fn phase(&self, id: &str) -> &Phase {
        &self.app.plugins[self.at(id)].phase
    }

    /// The row under the cursor of the active list.
    pub(crate) fn selected(&self) -> usize {
        self.app.list_tab().unwrap().list.selected
    }

    pub(crate) fn agents(&mut self, found: Vec<Detected>, complete: bool) -> Vec<Effect> {
        let detection = self.app.detection;
        self.event(Event::Agents { detection, found, complete })
    }

    /// What is on the screen.
    pub(crate) fn draw(&self) -> Buffer {
        let area = Rect::new(0, 0, self.app.size.0, self.app.size.1);
        let mut buf = Buffer::empty(area);
        views::draw_into(&self.app, &mut buf, area);
        buf
    }

    /// The rows of the screen, without the blanks at their ends.
    pub(crate) fn screen(&self) -> String {
        show(&self.draw())
    }

    /// The last row.
    pub(crate) fn footer(&self) -> String {
        self.screen().lines().last().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        let screen = self.screen();
        assert!(screen.contains(text), "{text:?} is not on the screen:\n{screen}");
    }

    #[track_caller]
    pub(crate) fn hides(&self, text: &str) {
        let screen = self.screen();
        assert!(!screen.contains(text), "{text:?} is on the screen:\n{screen}");
    }
}

/// One line per row without the blanks at its end; cells that a wide cluster covers are left out, as on a terminal.
pub(crate) fn show(buf: &Buffer) -> String {
    let mut rows = Vec::new();
    for y in buf.area.top()..buf.area.bottom() {
        let mut row = String::new();
        let mut x = buf.area.left();
        while x < buf.area.right() {
            let cell = &buf[(x, y)];
            row.push_str(cell.symbol());
            x += cell.cell_width().max(1);
        }
        rows.push(row.trim_end().to_owned());
    }
    rows.join("\n")
}

/// A message for a plugin.
pub(crate) fn sent(plugin: usize, message: HostMessage) -> Effect {
    Effect::Send(plugin, message)
}

/// The effect of a key that goes to a plugin.
pub(crate) fn key_to(plugin: usize, name: &str) -> Effect {
    let key = Key::parse(name).unwrap();
    sent(plugin, HostMessage::Key { key: key.name(), text: key.text().unwrap_or_default() })
}

/// All agents in a home where nothing is.
pub(crate) fn no_agents() -> Vec<Detected> {
    let env: sys::Env = [("HOME", "/home/dev"), ("PATH", "/nowhere")].into_iter().collect();
    agents::detect_places(&env, &agents::Search { system: false, scratch: None })
}

/// The same, with three of them installed, one by its folder only.
pub(crate) fn some_agents(versions: bool) -> Vec<Detected> {
    let mut found = no_agents();
    for agent in &mut found {
        let program = match agent.id {
            "claude-code" => Some("/home/dev/.local/bin/claude"),
            "codex" => Some("/usr/local/lib/node/bin/codex"),
            "gemini-cli" => None,
            _ => continue,
        };
        agent.installed = true;
        agent.config_exists = true;
        agent.binary = program.map(PathBuf::from);
        agent.how = vec![match program {
            Some(program) => format!("program {program} on PATH"),
            None => "its config folder exists".to_owned(),
        }];
        if versions && program.is_some() {
            agent.version = Some("2.1.0".to_owned());
            agent.version_from = agents::VersionFrom::PackageJson;
        }
    }
    found
}

/// True when the active tab is this plugin's.
pub(crate) fn is_plugin(world: &World, id: &str) -> bool {
    world.app.kind() == TabKind::Plugin(world.at(id))
}
