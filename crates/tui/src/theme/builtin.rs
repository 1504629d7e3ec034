//! The built-in themes: a small palette of hues each, and the one rule that spreads hues over the roles.
//! It never adapts to a terminal; `Theme::with_depth` does.
//! Only `theme` calls it.

use std::collections::BTreeMap;

use super::{Depth, Rgb, Role, Theme};

/// The hues a theme is made of; the rest follows from [`color_of`].
struct Palette {
    bg: u32,
    bg_deep: u32,
    panel: u32,
    float: u32,
    line: u32,
    selection: u32,
    border: u32,
    fg_bright: u32,
    fg: u32,
    fg_dim: u32,
    fg_muted: u32,
    accent: u32,
    accent_alt: u32,
    on_accent: u32,
    red: u32,
    orange: u32,
    yellow: u32,
    green: u32,
    teal: u32,
    blue: u32,
    violet: u32,
    pink: u32,
    /// black, red, green, yellow, blue, magenta, cyan, white, then the bright ones
    ansi: [u32; 16],
}

/// Night sky, mint and amber.
const MIDNIGHT: Palette = Palette {
    bg: 0x12151e,
    bg_deep: 0x0c0e15,
    panel: 0x181c27,
    float: 0x1c212e,
    line: 0x262c3b,
    selection: 0x263350,
    border: 0x3a4258,
    fg_bright: 0xf1f4fa,
    fg: 0xcfd5e3,
    fg_dim: 0xa6aec2,
    fg_muted: 0x8a92a8,
    accent: 0x7bd6b8,
    accent_alt: 0xf0b774,
    on_accent: 0x0c1512,
    red: 0xf2838f,
    orange: 0xf0a27a,
    yellow: 0xe6c97a,
    green: 0x98d187,
    teal: 0x74cfd0,
    blue: 0x86b3f7,
    violet: 0xb9a3f5,
    pink: 0xec9ad0,
    ansi: [
        0x2a3042, 0xf2838f, 0x98d187, 0xe6c97a, 0x86b3f7, 0xec9ad0, 0x74cfd0, 0xcfd5e3, 0x8a92a8, 0xffa3ad, 0xb5e6a6,
        0xf5dd99, 0xa8caff, 0xfab8e1, 0x98e4e5, 0xf1f4fa,
    ],
};

/// Warm paper, pine and rust.
const DAYLIGHT: Palette = Palette {
    bg: 0xfbfaf6,
    bg_deep: 0xf1efe8,
    panel: 0xf5f3ed,
    float: 0xffffff,
    line: 0xe8e5dc,
    selection: 0xd3e6df,
    border: 0xc4bfb1,
    fg_bright: 0x12151b,
    fg: 0x2a2f38,
    fg_dim: 0x4c535f,
    fg_muted: 0x646b78,
    accent: 0x0a6355,
    accent_alt: 0x8a4706,
    on_accent: 0xffffff,
    red: 0xad1f2f,
    orange: 0x97400f,
    yellow: 0x765200,
    green: 0x2c6614,
    teal: 0x0b6168,
    blue: 0x1c55b0,
    violet: 0x6237b5,
    pink: 0x9b2070,
    ansi: [
        0x2a2f38, 0xad1f2f, 0x2c6614, 0x765200, 0x1c55b0, 0x9b2070, 0x0b6168, 0x646b78, 0x4c535f, 0xc2273a, 0x347a18,
        0x8a6100, 0x2563c9, 0xb02a81, 0x0d7179, 0x12151b,
    ],
};

/// The built-in themes, the default first.
pub(super) fn all() -> Vec<Theme> {
    vec![build("midnight", true, &MIDNIGHT), build("daylight", false, &DAYLIGHT)]
}

fn build(id: &str, dark: bool, palette: &Palette) -> Theme {
    let mut colors = [Rgb(0, 0, 0); Role::COUNT];
    for role in Role::ALL {
        colors[role.index()] = Rgb::hex(color_of(*role, palette));
    }
    Theme { id: id.to_owned(), dark, depth: Depth::True, colors, agents: agents(palette) }
}

/// One colour an agent, by the ids of clause A1; all of them can stand as text on `ui.bg`.
fn agents(p: &Palette) -> BTreeMap<String, Rgb> {
    [
        ("claude-code", p.orange),
        ("codex", p.teal),
        ("gemini-cli", p.blue),
        ("opencode", p.yellow),
        ("claude-desktop", p.accent_alt),
        ("hermes-agent", p.red),
        ("pi", p.pink),
        ("crush", p.violet),
        ("qwen-code", p.green),
        ("copilot", p.fg_bright),
    ]
    .into_iter()
    .map(|(id, color)| (id.to_owned(), Rgb::hex(color)))
    .collect()
}

/// The rule that spreads the hues over the roles, the same in every theme.
fn color_of(role: Role, p: &Palette) -> u32 {
    match role {
        Role::Bg => p.bg,
        Role::BgDeep => p.bg_deep,
        Role::Panel => p.panel,
        Role::Float => p.float,
        Role::Line => p.line,
        Role::Selection => p.selection,
        Role::Border => p.border,
        Role::FgBright => p.fg_bright,
        Role::Fg | Role::SynVariable => p.fg,
        Role::FgDim | Role::SynOperator | Role::SynPunctuation => p.fg_dim,
        Role::FgMuted | Role::SynComment | Role::SynDeprecated | Role::Untracked => p.fg_muted,
        Role::BorderActive | Role::Cursor | Role::Accent => p.accent,
        Role::AccentAlt | Role::Match => p.accent_alt,
        Role::OnAccent => p.on_accent,
        Role::SynKeyword | Role::SynConditional | Role::SynRepeat | Role::Hint => p.violet,
        Role::Link | Role::SynFunction | Role::SynMethod | Role::Info | Role::Renamed => p.blue,
        Role::SynType | Role::SynNamespace | Role::SynConstructor | Role::Staged => p.teal,
        Role::SynMacro | Role::SynEscape | Role::SynCharacter | Role::SynAttribute => p.pink,
        Role::SynNumber | Role::SynBoolean | Role::SynConstant | Role::SynBuiltin => p.orange,
        Role::SynParameter | Role::SynProperty | Role::SynField | Role::Warn | Role::Modified => p.yellow,
        Role::SynString | Role::Ok | Role::Added => p.green,
        Role::SynTag | Role::Error | Role::Removed => p.red,
        Role::Conflict => p.pink,
        ansi => p.ansi[ansi.index() - Role::AnsiBlack.index()],
    }
}
