//! Colours as values: reading and printing them, contrast, and the nearest one of a smaller palette.
//! It never touches a terminal and never decides which colour is used where; that is the theme's.
//! Anyone may call it.

/// A 24-bit colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// What most terminals show for the sixteen when nobody changed them (xterm's table).
const SIXTEEN: [Rgb; 16] = [
    Rgb(0, 0, 0),
    Rgb(205, 0, 0),
    Rgb(0, 205, 0),
    Rgb(205, 205, 0),
    Rgb(0, 0, 238),
    Rgb(205, 0, 205),
    Rgb(0, 205, 205),
    Rgb(229, 229, 229),
    Rgb(127, 127, 127),
    Rgb(255, 0, 0),
    Rgb(0, 255, 0),
    Rgb(255, 255, 0),
    Rgb(92, 92, 255),
    Rgb(255, 0, 255),
    Rgb(0, 255, 255),
    Rgb(255, 255, 255),
];

/// The six steps of the 256-colour cube (indices 16 to 231).
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Rgb {
    /// The colour of a number such as `0x12151e`; bits above 24 are ignored.
    pub const fn hex(value: u32) -> Self {
        Self((value >> 16) as u8, (value >> 8) as u8, value as u8)
    }

    /// Reads `#rrggbb` or `#rgb`, either case; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let value = u32::from_str_radix(digits, 16).ok()?;
        match digits.len() {
            6 => Some(Self::hex(value)),
            3 => {
                let twice = |shift: u32| ((value >> shift) & 15) as u8 * 17;
                Some(Self(twice(8), twice(4), twice(0)))
            }
            _ => None,
        }
    }

    /// Lower-case `#rrggbb`, as clause T1 wants it.
    pub fn to_hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Relative luminance after WCAG 2, 0.0 (black) to 1.0 (white).
    pub fn luminance(self) -> f64 {
        let channel = |v: u8| {
            let v = f64::from(v) / 255.0;
            if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(self.0) + 0.7152 * channel(self.1) + 0.0722 * channel(self.2)
    }

    /// Contrast ratio after WCAG 2, 1.0 (the same) to 21.0 (black on white); the order does not matter.
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The index, 0 to 15, of the nearest of a terminal's sixteen colours.
    pub fn nearest_16(self) -> u8 {
        (0u8..16).min_by_key(|&i| self.distance(SIXTEEN[usize::from(i)])).unwrap_or(7)
    }

    /// The index, 16 to 255, of the nearest colour of the fixed cube and greys.
    pub fn nearest_256(self) -> u8 {
        (16u8..=255).min_by_key(|&i| self.distance(Self::of_256(i))).unwrap_or(16)
    }

    /// The colour of an index of the fixed cube and greys; below 16 xterm's table.
    pub fn of_256(index: u8) -> Self {
        match index {
            0..=15 => SIXTEEN[usize::from(index)],
            16..=231 => {
                let i = index - 16;
                let step = |n: u8| CUBE[usize::from(n % 6)];
                Self(step(i / 36), step(i / 6), step(i))
            }
            232..=255 => {
                let grey = 8 + 10 * (index - 232);
                Self(grey, grey, grey)
            }
        }
    }

    /// A distance that follows the eye better than the plain one: red and blue count by how red the pair is.
    fn distance(self, other: Self) -> u32 {
        let mean = (u32::from(self.0) + u32::from(other.0)) / 2;
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        (512 + mean) * square(self.0, other.0) + 1024 * square(self.1, other.1) + (767 - mean) * square(self.2, other.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_hex() {
        assert_eq!(Rgb::parse("#12AbfF"), Some(Rgb(0x12, 0xab, 0xff)));
        assert_eq!(Rgb::parse("#fa0"), Some(Rgb(0xff, 0xaa, 0)));
        assert_eq!(Rgb(1, 2, 255).to_hex(), "#0102ff");
        for bad in ["", "#", "123456", "#12345", "#+12345", "#1234567", "#ggg", "#é12"] {
            assert_eq!(Rgb::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn contrast_of_known_pairs() {
        let (black, white) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
        assert!((black.contrast(white) - 21.0).abs() < 1e-9);
        assert!((white.contrast(white) - 1.0).abs() < 1e-9);
        assert!((Rgb(0x76, 0x76, 0x76).contrast(white) - 4.54).abs() < 0.01);
    }

    #[test]
    fn nearest_colours() {
        for i in 0..16u8 {
            assert_eq!(SIXTEEN[usize::from(i)].nearest_16(), i);
        }
        for i in 16..=255u8 {
            assert_eq!(Rgb::of_256(Rgb::of_256(i).nearest_256()), Rgb::of_256(i));
        }
    }
}
