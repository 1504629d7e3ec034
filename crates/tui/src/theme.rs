//! Themes: one colour for every role of clause T1, one for every agent, and the styles made of them.
//! It never draws, reads no file and asks no terminal; a person's own theme arrives here as key and value pairs.
//! Views, widgets and the plugin host (for `init.theme`) call it.

mod builtin;
mod rgb;
mod roles;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ratatui::style::{Color, Modifier, Style};
use sys::text::ansi;

pub use rgb::Rgb;
pub use roles::{Role, TOKENS};

use crate::term::Depth;

/// Why a theme of the person's own could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThemeError {
    /// No role, token or `agent.<id>` has this name.
    UnknownKey(String),
    /// The value of this key is not `#rrggbb` or `#rgb`.
    BadColor {
        /// The key.
        key: String,
        /// What stood there.
        value: String,
    },
}

impl std::fmt::Display for ThemeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownKey(key) => write!(f, "no colour is called {key:?}"),
            Self::BadColor { key, value } => write!(f, "{key}: {value:?} is not a colour like #12ab9f"),
        }
    }
}

impl std::error::Error for ThemeError {}

/// A theme: colours by role and by agent, and the depth it is drawn in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    /// The name in the config and on the wire.
    pub id: String,
    /// True when the background is dark.
    pub dark: bool,
    /// What the terminal can show: with few colours attributes say what colours cannot. Colours themselves are
    /// brought down when the frame is done, in one place ([`Depth::apply`]).
    pub depth: Depth,
    colors: [Rgb; Role::COUNT],
    agents: BTreeMap<String, Rgb>,
}

/// Built once, on first use.
static BUILTIN: LazyLock<Vec<Theme>> = LazyLock::new(builtin::all);

impl Default for Theme {
    fn default() -> Self {
        BUILTIN[0].clone()
    }
}

impl Theme {
    /// The built-in theme of this id.
    pub fn builtin(id: &str) -> Option<&'static Self> {
        BUILTIN.iter().find(|theme| theme.id == id)
    }

    /// The ids of the built-in themes, the default (`midnight`) first.
    pub fn builtin_ids() -> Vec<&'static str> {
        BUILTIN.iter().map(|theme| theme.id.as_str()).collect()
    }

    /// A theme of the person's own that takes from `self` whatever `overrides` does not name. Keys are roles
    /// (`ui.bg`), tokens (`Bg`) and `agent.<id>`; values `#rrggbb` or `#rgb`. The first mistake is the error.
    pub fn derive<'a>(
        &self,
        id: &str,
        dark: bool,
        overrides: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ThemeError> {
        let mut theme = Self { id: id.to_owned(), dark, ..self.clone() };
        for (key, value) in overrides {
            let bad = || ThemeError::BadColor { key: key.to_owned(), value: value.to_owned() };
            if let Some(role) = Role::parse(key) {
                theme.colors[role.index()] = Rgb::parse(value).ok_or_else(bad)?;
            } else if let Some(agent) = key.strip_prefix("agent.").filter(|agent| !agent.is_empty()) {
                theme.agents.insert(agent.to_owned(), Rgb::parse(value).ok_or_else(bad)?);
            } else {
                return Err(ThemeError::UnknownKey(key.to_owned()));
            }
        }
        Ok(theme)
    }

    /// The same theme drawn in another depth.
    pub fn with_depth(&self, depth: Depth) -> Self {
        Self { depth, ..self.clone() }
    }

    /// The same theme with all colours dropped (`NO_COLOR`); selection becomes reversed text.
    pub fn with_depth_none(&self) -> Self {
        self.with_depth(Depth::None)
    }

    /// True when too few colours are left for a background to show a selection, so that attributes must.
    pub fn mono(&self) -> bool {
        matches!(self.depth, Depth::None | Depth::Ansi16)
    }

    /// The hex value of a role, whatever the depth.
    pub fn rgb(&self, role: Role) -> Rgb {
        self.colors[role.index()]
    }

    /// All tokens and all roles of clause T1 in one flat list, lower-case `#rrggbb`, tokens first.
    pub fn wire_colors(&self) -> Vec<(String, String)> {
        let tokens = TOKENS.iter().map(|(token, role)| (*token, *role));
        let roles = Role::ALL.iter().map(|role| (role.name(), *role));
        tokens.chain(roles).map(|(key, role)| (key.to_owned(), self.rgb(role).to_hex())).collect()
    }

    /// A colour of the theme, as styles have it.
    pub fn shown(&self, rgb: Rgb) -> Color {
        match self.depth {
            Depth::None => Color::Reset,
            Depth::Ansi16 | Depth::Ansi256 | Depth::True => Color::Rgb(rgb.0, rgb.1, rgb.2),
        }
    }

    /// A role's colour as this depth shows it.
    pub fn color(&self, role: Role) -> Color {
        self.shown(self.rgb(role))
    }

    /// One of the sixteen colours that plugin content names, taken from the theme; only the low four bits count.
    pub fn ansi(&self, index: u8) -> Color {
        match self.depth {
            // the terminal has these sixteen itself, and the nearest of the theme's could be another one's neighbour
            Depth::Ansi16 => named(index & 15),
            _ => self.color(Role::ansi(index)),
        }
    }

    /// A colour of plugin content: 0 to 15 are the theme's, the rest is shown as it is where the depth allows.
    pub fn content_color(&self, color: ansi::Color) -> Color {
        match color {
            ansi::Color::Indexed(index @ 0..=15) => self.ansi(index),
            ansi::Color::Indexed(index) => self.depth.nearest(Color::Indexed(index)),
            ansi::Color::Rgb(r, g, b) => self.shown(Rgb(r, g, b)),
        }
    }

    /// The style of a run of plugin content; no colour of its own means the theme's (clause S8).
    pub fn content_style(&self, style: ansi::Style) -> Style {
        let fg = style.fg.map_or(self.color(Role::Fg), |color| self.content_color(color));
        let bg = style.bg.map_or(self.color(Role::Bg), |color| self.content_color(color));
        let table = [
            (ansi::Attrs::BOLD, Modifier::BOLD),
            (ansi::Attrs::DIM, Modifier::DIM),
            (ansi::Attrs::ITALIC, Modifier::ITALIC),
            (ansi::Attrs::UNDERLINE, Modifier::UNDERLINED),
            (ansi::Attrs::BLINK, Modifier::SLOW_BLINK),
            (ansi::Attrs::REVERSE, Modifier::REVERSED),
            (ansi::Attrs::HIDDEN, Modifier::HIDDEN),
            (ansi::Attrs::STRIKE, Modifier::CROSSED_OUT),
        ];
        let mut modifiers = Modifier::empty();
        for (attr, modifier) in table {
            if style.attrs.has(attr) {
                modifiers |= modifier;
            }
        }
        Style::new().fg(fg).bg(bg).add_modifier(modifiers)
    }

    /// What every cell starts as: `ui.fg` on `ui.bg`, no attributes.
    pub fn base(&self) -> Style {
        self.surface(Role::Bg)
    }

    /// `ui.fg` on the colour of `background`, no attributes: `Role::Float` for layers, `Role::Panel` for panes.
    pub fn surface(&self, background: Role) -> Style {
        Style::new().fg(self.color(Role::Fg)).bg(self.color(background)).remove_modifier(Modifier::all())
    }

    /// Text of a role on whatever is below it. With few colours some roles get an attribute instead.
    pub fn style(&self, role: Role) -> Style {
        let style = Style::new().fg(self.color(role));
        if self.depth != Depth::None {
            return style;
        }
        match role {
            Role::FgMuted | Role::FgDim | Role::SynComment | Role::Border | Role::Line => {
                style.add_modifier(Modifier::DIM)
            }
            Role::Accent | Role::AccentAlt | Role::Error | Role::Warn | Role::BorderActive => {
                style.add_modifier(Modifier::BOLD)
            }
            Role::Link | Role::Match => style.add_modifier(Modifier::UNDERLINED),
            _ => style,
        }
    }

    /// Secondary text: descriptions, headers of columns.
    pub fn dim(&self) -> Style {
        self.style(Role::FgDim)
    }

    /// The quietest text: counters, separators between words, empty states.
    pub fn muted(&self) -> Style {
        self.style(Role::FgMuted)
    }

    /// Text in the accent colour: the cursor sign, keys.
    pub fn accent(&self) -> Style {
        self.style(Role::Accent)
    }

    /// Headings and the active tab: bright and bold.
    pub fn title(&self) -> Style {
        self.style(Role::FgBright).add_modifier(Modifier::BOLD)
    }

    /// The name of a key in a hint.
    pub fn key(&self) -> Style {
        self.style(Role::Accent)
    }

    /// The characters that a filter matched: also underlined, since colour alone must not say it.
    pub fn matched(&self) -> Style {
        self.style(Role::Match).add_modifier(Modifier::UNDERLINED)
    }

    /// A border; `active` for the layer or pane that has the keys.
    pub fn border(&self, active: bool) -> Style {
        self.style(if active { Role::BorderActive } else { Role::Border })
    }

    /// The selected row or button: bold on the selection colour, and reversed where colours cannot show it.
    pub fn selected(&self) -> Style {
        if self.mono() {
            let plain = Style::new().fg(self.color(Role::Fg)).bg(self.color(Role::Bg));
            return plain.add_modifier(Modifier::BOLD | Modifier::REVERSED);
        }
        Style::new().fg(self.color(Role::FgBright)).bg(self.color(Role::Selection)).add_modifier(Modifier::BOLD)
    }

    /// The cell under a text cursor.
    pub fn cursor(&self) -> Style {
        if self.mono() {
            return self.base().add_modifier(Modifier::REVERSED);
        }
        Style::new().fg(self.color(Role::Bg)).bg(self.color(Role::Cursor))
    }

    /// The colour of an agent; agents without one of their own get `ui.accent_alt`.
    pub fn agent_rgb(&self, id: &str) -> Rgb {
        self.agents.get(id).copied().unwrap_or_else(|| self.rgb(Role::AccentAlt))
    }

    /// Text in the colour of an agent.
    pub fn agent(&self, id: &str) -> Style {
        Style::new().fg(self.shown(self.agent_rgb(id)))
    }

    /// The ids that have a colour of their own, sorted.
    pub fn agent_ids(&self) -> impl Iterator<Item = &str> {
        self.agents.keys().map(String::as_str)
    }
}

/// The named colours, so that a terminal with only sixteen gets the short codes it knows.
fn named(index: u8) -> Color {
    match index & 15 {
        0 => Color::Black,
        1 => Color::Red,
        2 => Color::Green,
        3 => Color::Yellow,
        4 => Color::Blue,
        5 => Color::Magenta,
        6 => Color::Cyan,
        7 => Color::Gray,
        8 => Color::DarkGray,
        9 => Color::LightRed,
        10 => Color::LightGreen,
        11 => Color::LightYellow,
        12 => Color::LightBlue,
        13 => Color::LightMagenta,
        14 => Color::LightCyan,
        _ => Color::White,
    }
}

#[cfg(test)]
mod tests;
