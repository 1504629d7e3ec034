//! How many colours the terminal has, and bringing a drawn frame down to them: themes and plugins' frames
//! are drawn in full colour, and what a terminal cannot show is mapped to the nearest it can. It never
//! chooses a colour of its own and leaves attributes alone. `term` applies it; anyone may ask it.

use ratatui::buffer::Buffer;
use ratatui::style::Color;
use sys::Env;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// No colour at all (`NO_COLOR`, `TERM=dumb`); attributes stay.
    None,
    /// The sixteen named colours.
    Ansi16,
    /// The xterm palette of 256.
    Ansi256,
    /// 24 bits.
    True,
}

/// Terminals that have 24 bits without saying so in COLORTERM (ssh and sudo drop it), by a part of TERM.
const TRUE_TERMS: &[&str] = &["-direct", "kitty", "alacritty", "foot", "wezterm", "ghostty", "contour", "rio"];
/// The same, by TERM_PROGRAM.
const TRUE_PROGRAMS: &[&str] = &["iTerm.app", "WezTerm", "vscode", "ghostty"];

/// xterm's defaults for the sixteen named colours.
const NAMED: [(Color, [u8; 3]); 16] = [
    (Color::Black, [0, 0, 0]),
    (Color::Red, [205, 0, 0]),
    (Color::Green, [0, 205, 0]),
    (Color::Yellow, [205, 205, 0]),
    (Color::Blue, [0, 0, 238]),
    (Color::Magenta, [205, 0, 205]),
    (Color::Cyan, [0, 205, 205]),
    (Color::Gray, [229, 229, 229]),
    (Color::DarkGray, [127, 127, 127]),
    (Color::LightRed, [255, 0, 0]),
    (Color::LightGreen, [0, 255, 0]),
    (Color::LightYellow, [255, 255, 0]),
    (Color::LightBlue, [92, 92, 255]),
    (Color::LightMagenta, [255, 0, 255]),
    (Color::LightCyan, [0, 255, 255]),
    (Color::White, [255, 255, 255]),
];

/// The six levels of each channel in xterm's cube.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Depth {
    /// What the environment says: NO_COLOR (not empty) and `TERM=dumb` first, then COLORTERM, TERM, TERM_PROGRAM
    /// and Windows Terminal's WT_SESSION; sixteen colours when nothing is known.
    pub fn detect(env: &Env) -> Self {
        let term = env.text("TERM").unwrap_or_default();
        if env.get("NO_COLOR").is_some() || term == "dumb" {
            return Self::None;
        }
        let told = env.text("COLORTERM").is_some_and(|value| matches!(value, "truecolor" | "24bit"));
        let program = env.text("TERM_PROGRAM").is_some_and(|name| TRUE_PROGRAMS.contains(&name));
        if told || program || env.get("WT_SESSION").is_some() || TRUE_TERMS.iter().any(|part| term.contains(part)) {
            return Self::True;
        }
        if term.contains("256color") { Self::Ansi256 } else { Self::Ansi16 }
    }

    /// Maps every colour of the frame, in place. Where sixteen colours would make a cell's text vanish into its
    /// background, the text takes the nearest colour that still shows (public report F7).
    pub fn apply(self, buffer: &mut Buffer) {
        if self == Self::True {
            return;
        }
        // Neighbours mostly look alike, so the last answer is mostly the next one.
        let mut last = [(Color::Reset, Color::Reset); 2];
        for cell in &mut buffer.content {
            for (channel, memo) in [&mut cell.fg, &mut cell.bg].into_iter().zip(&mut last) {
                if memo.0 != *channel {
                    *memo = (*channel, self.nearest(*channel));
                }
                *channel = memo.1;
            }
            // Coloured underlines came with 256 colours; what lacks the palette lacks them.
            cell.underline_color =
                if self == Self::Ansi256 { self.nearest(cell.underline_color) } else { Color::Reset };
            let [text, ground] = last;
            if self == Self::Ansi16 && cell.fg == cell.bg && text.0 != ground.0 && cell.fg != Color::Reset {
                cell.fg = rgb(text.0).map_or(cell.fg, |wanted| named(wanted, Some(cell.bg)));
            }
        }
    }

    /// The nearest colour this terminal has.
    pub fn nearest(self, color: Color) -> Color {
        match (self, color) {
            (Self::True, _) | (_, Color::Reset) => color,
            (Self::None, _) => Color::Reset,
            (Self::Ansi256, Color::Rgb(r, g, b)) => Color::Indexed(indexed([r, g, b])),
            (Self::Ansi256, _) => color,
            (Self::Ansi16, Color::Indexed(n @ 0..=15)) => NAMED[usize::from(n)].0,
            (Self::Ansi16, Color::Indexed(_) | Color::Rgb(..)) => {
                rgb(color).map_or(color, |wanted| named(wanted, None))
            }
            (Self::Ansi16, _) => color,
        }
    }
}

/// What a colour looks like; `None` for the terminal's own default.
fn rgb(color: Color) -> Option<[u8; 3]> {
    match color {
        Color::Rgb(r, g, b) => Some([r, g, b]),
        Color::Indexed(n @ 0..=15) => Some(NAMED[usize::from(n)].1),
        Color::Indexed(n @ 16..=231) => {
            let n = usize::from(n - 16);
            Some([LEVELS[n / 36], LEVELS[n / 6 % 6], LEVELS[n % 6]])
        }
        Color::Indexed(n @ 232..) => Some([8 + 10 * (n - 232); 3]),
        _ => NAMED.iter().find(|(named, _)| *named == color).map(|(_, look)| *look),
    }
}

/// How different two colours look: the "redmean" approximation (Riemersma), cheap and good enough to choose by.
fn distance(one: [u8; 3], other: [u8; 3]) -> i32 {
    let [r, g, b] = [0, 1, 2].map(|at| i32::from(one[at]) - i32::from(other[at]));
    let mean = (i32::from(one[0]) + i32::from(other[0])) / 2;
    (((512 + mean) * r * r) >> 8) + 4 * g * g + (((767 - mean) * b * b) >> 8)
}

/// The nearest of the named colours, other than `but`.
fn named(wanted: [u8; 3], but: Option<Color>) -> Color {
    let allowed = NAMED.iter().filter(|(color, _)| Some(*color) != but);
    allowed.min_by_key(|(_, look)| distance(wanted, *look)).map_or(Color::Reset, |(color, _)| *color)
}

/// The nearest of xterm's cube and grey ramp (the first sixteen belong to the person's own scheme).
fn indexed(wanted: [u8; 3]) -> u8 {
    let level = |value: u8| (0_u8..6).min_by_key(|n| LEVELS[usize::from(*n)].abs_diff(value)).unwrap_or(0);
    let [r, g, b] = wanted.map(level);
    let mean = wanted.iter().map(|channel| u32::from(*channel)).sum::<u32>() / 3;
    let step = u8::try_from(mean.saturating_sub(3) / 10).unwrap_or(23).min(23);
    let (cube, grey) = (16 + 36 * r + 6 * g + b, 232 + step);
    let far = |n: u8| rgb(Color::Indexed(n)).map_or(i32::MAX, |look| distance(wanted, look));
    if far(grey) < far(cube) { grey } else { cube }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::{Modifier, Style};

    use super::*;

    fn detect(vars: &[(&str, &str)]) -> Depth {
        Depth::detect(&vars.iter().copied().collect())
    }

    #[test]
    fn the_environment_decides() {
        let cases: &[(&[(&str, &str)], Depth)] = &[
            (&[], Depth::Ansi16),
            (&[("TERM", "xterm")], Depth::Ansi16),
            (&[("TERM", "linux")], Depth::Ansi16),
            (&[("TERM", "dumb")], Depth::None),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], Depth::None),
            (&[("TERM", "xterm-256color")], Depth::Ansi256),
            (&[("TERM", "tmux-256color"), ("COLORTERM", "truecolor")], Depth::True),
            (&[("TERM", "xterm"), ("COLORTERM", "24bit")], Depth::True),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "yes")], Depth::Ansi256),
            (&[("TERM", "xterm-direct")], Depth::True),
            (&[("TERM", "xterm-kitty")], Depth::True),
            (&[("TERM", "foot-extra")], Depth::True),
            (&[("TERM", "xterm-ghostty")], Depth::True),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], Depth::True),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], Depth::Ansi256),
            (&[("TERM", "xterm-kitty"), ("NO_COLOR", "1")], Depth::None),
            (&[("TERM", "xterm-kitty"), ("NO_COLOR", "")], Depth::True),
        ];
        for (vars, depth) in cases {
            assert_eq!(detect(vars), *depth, "{vars:?}");
        }
    }

    #[test]
    fn nearest_colours() {
        let cases = [
            (Depth::Ansi256, Color::Rgb(255, 0, 0), Color::Indexed(196)),
            (Depth::Ansi256, Color::Rgb(0, 0, 0), Color::Indexed(16)),
            (Depth::Ansi256, Color::Rgb(255, 255, 255), Color::Indexed(231)),
            (Depth::Ansi256, Color::Rgb(26, 27, 38), Color::Indexed(234)),
            (Depth::Ansi256, Color::Rgb(128, 128, 128), Color::Indexed(244)),
            (Depth::Ansi256, Color::Rgb(94, 136, 174), Color::Indexed(67)),
            (Depth::Ansi256, Color::Red, Color::Red),
            (Depth::Ansi16, Color::Rgb(250, 10, 10), Color::LightRed),
            (Depth::Ansi16, Color::Rgb(26, 27, 38), Color::Black),
            (Depth::Ansi16, Color::Indexed(9), Color::LightRed),
            (Depth::Ansi16, Color::Indexed(255), Color::Gray),
            (Depth::Ansi16, Color::Cyan, Color::Cyan),
            (Depth::True, Color::Rgb(1, 2, 3), Color::Rgb(1, 2, 3)),
            (Depth::None, Color::Red, Color::Reset),
        ];
        for (depth, from, to) in cases {
            assert_eq!(depth.nearest(from), to, "{depth:?} {from:?}");
        }
        for r in (0..=255_u8).step_by(15) {
            for g in (0..=255_u8).step_by(15) {
                for b in (0..=255_u8).step_by(15) {
                    let Color::Indexed(n) = Depth::Ansi256.nearest(Color::Rgb(r, g, b)) else { panic!() };
                    assert!(n >= 16);
                }
            }
        }
    }

    #[test]
    fn a_frame_is_mapped_in_place_and_text_stays_readable() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 3, 1));
        let style = Style::new().bg(Color::Rgb(20, 20, 30)).underline_color(Color::Rgb(9, 9, 9));
        buffer.set_string(0, 0, "ab", style.fg(Color::Rgb(50, 50, 60)).add_modifier(Modifier::BOLD));
        let mut sixteen = buffer.clone();
        Depth::Ansi16.apply(&mut sixteen);
        let cell = &sixteen[(0, 0)];
        assert_eq!((cell.bg, cell.fg, cell.underline_color), (Color::Black, Color::DarkGray, Color::Reset));
        assert_eq!(sixteen[(2, 0)].bg, Color::Reset);
        Depth::None.apply(&mut buffer);
        let cell = &buffer[(1, 0)];
        assert_eq!((cell.bg, cell.fg, cell.modifier), (Color::Reset, Color::Reset, Modifier::BOLD));
        assert_eq!(cell.symbol(), "b");
    }
}
