//! What the themes promise: all keys of clause T1, contrast, and a selection that is seen without colour.

use super::*;

/// Clause T1, written out once more so that the table cannot lose a key unseen.
const TOKEN_KEYS: &str = "Primary Accent Subtle Bg Deep Surface Float Line Sel Border BorderFocus Text Bright Muted \
    Cursor Link Match OnAccent OK Warn Err Info Hint Added Modified Removed Renamed Staged Untracked Conflict \
    SynKeyword SynFunction SynType SynString SynNumber SynConstant SynComment SynTag SynPunct";
const ROLE_KEYS: &[(&str, &str)] = &[
    (
        "ui",
        "bg bg_deep panel float line selection border border_active fg_bright fg fg_dim fg_muted cursor accent \
         accent_alt link match on_accent",
    ),
    (
        "syntax",
        "keyword conditional repeat operator function method constructor type namespace macro parameter constant \
         number boolean builtin attribute string character escape variable property field punctuation comment tag \
         deprecated",
    ),
    ("diagnostic", "error warn info hint ok"),
    ("git", "added modified removed renamed staged untracked conflict"),
    (
        "ansi",
        "black red green yellow blue magenta cyan white bright_black bright_red bright_green bright_yellow \
         bright_blue bright_magenta bright_cyan bright_white",
    ),
];

fn themes() -> impl Iterator<Item = &'static Theme> {
    Theme::builtin_ids().into_iter().map(|id| Theme::builtin(id).unwrap())
}

#[test]
fn the_wire_has_exactly_the_keys_of_t1() {
    let mut expected: Vec<String> = TOKEN_KEYS.split_whitespace().map(str::to_owned).collect();
    for (family, names) in ROLE_KEYS {
        expected.extend(names.split_whitespace().map(|name| format!("{family}.{name}")));
    }
    assert_eq!(expected.len(), 39 + 72);
    for theme in themes() {
        let colors = theme.wire_colors();
        assert_eq!(colors.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>(), expected);
        for (key, value) in &colors {
            assert_eq!(Rgb::parse(value).map(Rgb::to_hex).as_deref(), Some(value.as_str()), "{key}");
        }
        // the hex values do not depend on what the terminal shows
        assert_eq!(theme.with_depth_none().wire_colors(), colors);
    }
}

#[test]
fn tokens_are_other_names_of_roles() {
    let theme = Theme::default();
    let colors: BTreeMap<_, _> = theme.wire_colors().into_iter().collect();
    for (token, role) in [("Primary", "ui.accent"), ("Subtle", "ui.fg_dim"), ("OK", "diagnostic.ok")] {
        assert_eq!(colors[token], colors[role]);
    }
    assert_eq!(colors["SynPunct"], colors["syntax.punctuation"]);
    assert_eq!(Theme::builtin_ids(), ["midnight", "daylight"]);
    assert_eq!(theme.id, "midnight");
}

#[track_caller]
fn readable(theme: &Theme, text: Rgb, below: Role, what: &str) {
    let ratio = text.contrast(theme.rgb(below));
    assert!(ratio >= 4.5, "{}: {what} on {} is {ratio:.2}:1", theme.id, below.name());
}

#[test]
fn all_text_is_readable() {
    for theme in themes() {
        let texts = [Role::Fg, Role::FgBright, Role::FgDim, Role::FgMuted, Role::Accent, Role::AccentAlt, Role::Link];
        let states = [Role::Match, Role::Error, Role::Warn, Role::Info, Role::Hint, Role::Ok];
        for role in texts.into_iter().chain(states) {
            for below in [Role::Bg, Role::BgDeep, Role::Panel, Role::Float] {
                readable(theme, theme.rgb(role), below, role.name());
            }
            // muted text becomes bright on a selected row (paint::select_row)
            if role != Role::FgMuted {
                readable(theme, theme.rgb(role), Role::Selection, role.name());
            }
        }
        for role in &Role::ALL[Role::SynKeyword.index()..Role::AnsiBlack.index()] {
            readable(theme, theme.rgb(*role), Role::Bg, role.name());
        }
        // what plugins write as colours 1 to 15; black (and on paper white) is for backgrounds
        for index in (1..16).filter(|i| *i != 7) {
            readable(theme, theme.rgb(Role::ansi(index)), Role::Bg, Role::ansi(index).name());
        }
        for id in theme.agent_ids() {
            for below in [Role::Bg, Role::Selection, Role::Float] {
                readable(theme, theme.agent_rgb(id), below, id);
            }
        }
        readable(theme, theme.rgb(Role::OnAccent), Role::Accent, "ui.on_accent");
        readable(theme, theme.rgb(Role::Bg), Role::Cursor, "ui.bg");
        assert_eq!(theme.dark, theme.rgb(Role::Bg).luminance() < 0.5);
    }
}

#[test]
fn every_agent_has_its_own_colour() {
    for theme in themes() {
        let colors: std::collections::BTreeSet<_> = theme.agent_ids().map(|id| theme.agent_rgb(id).to_hex()).collect();
        assert_eq!(colors.len(), theme.agent_ids().count());
        assert_eq!(theme.agent_rgb("nobody"), theme.rgb(Role::AccentAlt));
    }
}

#[test]
fn without_colour_attributes_stay() {
    for theme in themes() {
        let mono = theme.with_depth_none();
        for role in Role::ALL {
            assert_eq!(mono.color(*role), Color::Reset);
        }
        assert!(mono.selected().add_modifier.contains(Modifier::REVERSED));
        assert!(mono.matched().add_modifier.contains(Modifier::UNDERLINED));
        assert!(mono.title().add_modifier.contains(Modifier::BOLD));
        assert_ne!(mono.dim(), mono.style(Role::Fg));
        let red = ansi::Style { fg: Some(ansi::Color::Rgb(9, 9, 9)), bg: None, attrs: ansi::Attrs::ITALIC };
        assert_eq!(mono.content_style(red).fg, Some(Color::Reset));
        assert!(mono.content_style(red).add_modifier.contains(Modifier::ITALIC));
    }
}

#[test]
fn with_sixteen_colours_text_still_differs_from_the_background() {
    for theme in themes() {
        let few = theme.with_depth(Depth::Ansi16);
        for role in [Role::Fg, Role::FgBright, Role::FgDim, Role::FgMuted, Role::Accent, Role::Error, Role::Ok] {
            let mut buffer = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, 1, 1));
            buffer[(0, 0)].set_fg(few.color(role)).set_bg(few.color(Role::Bg));
            Depth::Ansi16.apply(&mut buffer);
            assert_ne!(buffer[(0, 0)].fg, buffer[(0, 0)].bg, "{} {}", theme.id, role.name());
        }
        assert!(few.selected().add_modifier.contains(Modifier::REVERSED));
        assert_eq!(few.ansi(9), Color::LightRed);
        assert_eq!(few.content_color(ansi::Color::Indexed(231)), Color::White);
    }
}

#[test]
fn content_colours_follow_the_theme() {
    let theme = Theme::default();
    assert_eq!(theme.content_color(ansi::Color::Indexed(1)), theme.color(Role::AnsiRed));
    assert_eq!(theme.content_color(ansi::Color::Indexed(200)), Color::Indexed(200));
    assert_eq!(theme.content_color(ansi::Color::Rgb(1, 2, 3)), Color::Rgb(1, 2, 3));
    let plain = theme.content_style(ansi::Style::default());
    assert_eq!((plain.fg, plain.bg), (theme.base().fg, theme.base().bg));
}

#[test]
fn a_theme_of_ones_own_inherits() {
    let parent = Theme::default();
    let own = parent.derive("mine", true, [("ui.accent", "#FFF"), ("Err", "#010203"), ("agent.pi", "#445566")]);
    let own = own.unwrap();
    assert_eq!(own.rgb(Role::Accent), Rgb(255, 255, 255));
    assert_eq!(own.rgb(Role::Error), Rgb(1, 2, 3));
    assert_eq!(own.agent_rgb("pi"), Rgb(0x44, 0x55, 0x66));
    assert_eq!(own.rgb(Role::Bg), parent.rgb(Role::Bg));
    let unknown = parent.derive("mine", true, [("ui.nope", "#fff")]).unwrap_err();
    assert_eq!(unknown.to_string(), "no colour is called \"ui.nope\"");
    let bad = parent.derive("mine", true, [("Bg", "blue")]).unwrap_err();
    assert_eq!(bad.to_string(), "Bg: \"blue\" is not a colour like #12ab9f");
}
