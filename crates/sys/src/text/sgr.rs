//! What one SGR sequence does to a style (clauses S1 and S8). It never fails: what it does not know it leaves
//! alone, numbers too large count as unknown. Only [`super::ansi`] calls it.

use super::ansi::{Attrs, Color, Style};

/// Parameters read of one sequence; terminals stop at 16 to 32.
const MAX_PARAMETERS: usize = 32;

/// Applies the parameters of `ESC[…m` to `style`, left to right; a later one wins.
pub(super) fn apply(style: &mut Style, parameters: &str) {
    let mut parameters = parameters.split(';').take(MAX_PARAMETERS);
    while let Some(parameter) = parameters.next() {
        let Some((code, rest)) = parameter.split_once(':') else {
            match number(parameter) {
                Some(code @ (38 | 48 | 58)) => set_color(style, code, following(&mut parameters)),
                Some(code) => apply_code(style, code),
                None => {}
            }
            continue;
        };
        match number(code) {
            Some(code @ (38 | 48 | 58)) => set_color(style, code, grouped(rest)),
            Some(4) => match number(rest) {
                Some(0) => style.attrs = style.attrs.without(Attrs::UNDERLINE),
                Some(1..=5) => style.attrs = style.attrs.with(Attrs::UNDERLINE),
                _ => {}
            },
            _ => {}
        }
    }
}

/// A parameter's value, saturated; an empty one is 0 (clause S1). `None` when it holds more than digits.
fn number(digits: &str) -> Option<u16> {
    digits.bytes().try_fold(0_u16, |value, byte| {
        byte.is_ascii_digit().then(|| value.saturating_mul(10).saturating_add(u16::from(byte - b'0')))
    })
}

/// The colour in the parameters after 38, 48 or 58; they are used up even when they make no colour (clause S8).
fn following<'a>(parameters: &mut impl Iterator<Item = &'a str>) -> Option<Color> {
    let mut next = || parameters.next().map(number);
    let mode = next()??;
    let wanted = match mode {
        5 => 1,
        2 | 3 => 3,
        4 => 4,
        _ => 0,
    };
    let mut values = [None; 4];
    for slot in values.iter_mut().take(wanted) {
        *slot = next()?;
    }
    match mode {
        5 => indexed(values[0]),
        2 => rgb([values[0], values[1], values[2]]),
        _ => None,
    }
}

/// The colour behind `38:`: `5:n`, `2:r:g:b`, or with the colour space `2:id:r:g:b`, where `id` may be empty.
fn grouped(text: &str) -> Option<Color> {
    let mut values = [None; 5];
    let mut count = 0;
    for (slot, part) in values.iter_mut().zip(text.split(':')) {
        *slot = number(part);
        count += 1;
    }
    match (values[0]?, count) {
        (5, 2..) => indexed(values[1]),
        (2, 4) => rgb([values[1], values[2], values[3]]),
        (2, 5..) => rgb([values[2], values[3], values[4]]),
        _ => None,
    }
}

fn indexed(value: Option<u16>) -> Option<Color> {
    u8::try_from(value?).ok().map(Color::Indexed)
}

fn rgb(values: [Option<u16>; 3]) -> Option<Color> {
    let part = |value: Option<u16>| u8::try_from(value?).ok();
    Some(Color::Rgb(part(values[0])?, part(values[1])?, part(values[2])?))
}

/// 58 (underline colour) is read over, it is not shown.
fn set_color(style: &mut Style, code: u16, color: Option<Color>) {
    match code {
        38 if color.is_some() => style.fg = color,
        48 if color.is_some() => style.bg = color,
        _ => {}
    }
}

/// A parameter that stands for itself.
fn apply_code(style: &mut Style, code: u16) {
    let attrs = style.attrs;
    match code {
        0 => *style = Style::default(),
        1 => style.attrs = attrs.with(Attrs::BOLD),
        2 => style.attrs = attrs.with(Attrs::DIM),
        3 => style.attrs = attrs.with(Attrs::ITALIC),
        4 | 21 => style.attrs = attrs.with(Attrs::UNDERLINE),
        5 | 6 => style.attrs = attrs.with(Attrs::BLINK),
        7 => style.attrs = attrs.with(Attrs::REVERSE),
        8 => style.attrs = attrs.with(Attrs::HIDDEN),
        9 => style.attrs = attrs.with(Attrs::STRIKE),
        22 => style.attrs = attrs.without(Attrs::BOLD).without(Attrs::DIM),
        23 => style.attrs = attrs.without(Attrs::ITALIC),
        24 => style.attrs = attrs.without(Attrs::UNDERLINE),
        25 => style.attrs = attrs.without(Attrs::BLINK),
        27 => style.attrs = attrs.without(Attrs::REVERSE),
        28 => style.attrs = attrs.without(Attrs::HIDDEN),
        29 => style.attrs = attrs.without(Attrs::STRIKE),
        39 => style.fg = None,
        49 => style.bg = None,
        30..=37 => style.fg = palette(code - 30),
        40..=47 => style.bg = palette(code - 40),
        90..=97 => style.fg = palette(code - 90 + 8),
        100..=107 => style.bg = palette(code - 100 + 8),
        _ => {}
    }
}

fn palette(index: u16) -> Option<Color> {
    indexed(Some(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(parameters: &str) -> Style {
        let mut style = Style::default();
        apply(&mut style, parameters);
        style
    }

    fn fg(color: Color) -> Style {
        Style { fg: Some(color), ..Style::default() }
    }

    fn attrs(attrs: Attrs) -> Style {
        Style { attrs, ..Style::default() }
    }

    #[test]
    fn s1_colours_and_attributes() {
        let table = [
            ("31", fg(Color::Indexed(1))),
            ("97", fg(Color::Indexed(15))),
            ("38;5;196", fg(Color::Indexed(196))),
            ("38;2;1;2;3", fg(Color::Rgb(1, 2, 3))),
            ("38:5:196", fg(Color::Indexed(196))),
            ("38:2:1:2:3", fg(Color::Rgb(1, 2, 3))),
            ("38:2::1:2:3", fg(Color::Rgb(1, 2, 3))),
            ("38:2:9:1:2:3", fg(Color::Rgb(1, 2, 3))),
            ("38:2::1:2:3::", fg(Color::Rgb(1, 2, 3))),
            ("38;2;;;", fg(Color::Rgb(0, 0, 0))),
            ("4:3", attrs(Attrs::UNDERLINE)),
            ("21", attrs(Attrs::UNDERLINE)),
            ("1;3;7", attrs(Attrs::BOLD.with(Attrs::ITALIC).with(Attrs::REVERSE))),
            ("4;4:0", Style::default()),
            ("1;2;22", Style::default()),
            ("3;23;4;24;5;25;7;27;8;28;9;29", Style::default()),
            ("98", Style::default()),
        ];
        for (parameters, style) in table {
            assert_eq!(after(parameters), style, "{parameters}");
        }
        assert_eq!(after("44").bg, Some(Color::Indexed(4)));
        assert_eq!(after("103").bg, Some(Color::Indexed(11)));
        assert_eq!(after("48;2;9;8;7").bg, Some(Color::Rgb(9, 8, 7)));
    }

    #[test]
    fn s1_an_empty_parameter_is_zero() {
        assert_eq!(after("31;"), Style::default());
        assert_eq!(after("1;;31"), fg(Color::Indexed(1)));
        let mut style = fg(Color::Indexed(1));
        apply(&mut style, "");
        assert_eq!(style, Style::default());
    }

    #[test]
    fn s8_resets_and_a_later_colour_wins() {
        let mut style = Style { fg: Some(Color::Indexed(1)), bg: Some(Color::Indexed(2)), attrs: Attrs::BOLD };
        apply(&mut style, "39");
        assert_eq!((style.fg, style.bg), (None, Some(Color::Indexed(2))));
        apply(&mut style, "49");
        assert_eq!((style.bg, style.attrs), (None, Attrs::BOLD));
        assert_eq!(after("0;44").bg, Some(Color::Indexed(4)));
        assert_eq!(after("44;0").bg, None);
    }

    #[test]
    fn s8_numbers_inside_a_colour_are_no_codes() {
        assert_eq!(after("38;5;1"), fg(Color::Indexed(1)));
        assert_eq!(after("58;5;1"), Style::default());
        assert_eq!(after("58;2;1;3;4"), Style::default());
        assert_eq!(after("58:2::1:3:4;1"), attrs(Attrs::BOLD));
        assert_eq!(after("44;38;2;0;49;0").bg, Some(Color::Indexed(4)));
    }

    #[test]
    fn broken_colours_change_nothing() {
        for parameters in
            ["38", "38;5", "38;2;1;2", "38;5;256", "38;5;99999999999", "38;2;1;2;300", "38;9", "38:5", "38:2:1:2"]
        {
            assert_eq!(after(parameters), Style::default(), "{parameters}");
        }
    }

    #[test]
    fn thousands_of_parameters_are_cut() {
        assert_eq!(after(&("31;".repeat(10_000) + "0")), fg(Color::Indexed(1)));
        assert_eq!(after(&"9".repeat(100_000)), Style::default());
    }
}
