//! Colours as values: reading and printing them, contrast, and the nearest one of a smaller palette.
//! It never touches a terminal and never decides which colour is used where; that is the theme's.
//! Anyone may call it.

/// A 24-bit colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

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
}
