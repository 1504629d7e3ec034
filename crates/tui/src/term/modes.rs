//! The terminal's modes as bytes: what is switched on, and the same undone in reverse order. It never
//! writes. Only `term` calls it.

/// Which modes a program runs with. The alternate screen, the hidden cursor and bracketed paste always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Modes {
    /// Presses, releases and the wheel (1000), in the SGR encoding (1006).
    pub(super) mouse: bool,
    /// Motion with a button down as well (1002).
    pub(super) drag: bool,
    /// Focus reports (1004).
    pub(super) focus: bool,
    /// The terminal speaks kitty's keyboard protocol, and we asked it to disambiguate keys (flag 1).
    pub(super) kitty: bool,
}

/// Asks kitty's protocol to tell keys apart that are one byte in legacy terminals (`ctrl+i` and tab).
pub(super) const KITTY_ON: &str = "\x1b[>1u";
const KITTY_OFF: &str = "\x1b[<u";

impl Modes {
    /// Everything on. kitty keeps its flags per screen, so they come after the alternate screen.
    pub(super) fn on(self) -> String {
        // What a program before us may have left on this screen would move every letter of ours: scroll region, origin
        // mode, insert mode, no wrapping, line drawing (ECMA-48, DEC STD 070; clause E6).
        let mut bytes = String::from("\x1b[?1049h\x1b[r\x1b[?6l\x1b[4l\x1b[?7h\x0f\x1b(B\x1b[0m\x1b[?25l\x1b[?2004h");
        for (wanted, text) in self.optional() {
            if wanted {
                bytes.push_str(text.0);
            }
        }
        bytes
    }

    /// Everything off, backwards; first an update that was never ended, last the screen that was there before.
    pub(super) fn off(self) -> String {
        let mut bytes = String::from("\x1b[?2026l");
        for (wanted, text) in self.optional().into_iter().rev() {
            if wanted {
                bytes.push_str(text.1);
            }
        }
        // Some terminals leave the cursor where it is when the screen changes: never at the right edge.
        bytes.push_str("\x1b[?2004l\x1b[0m\x1b[?25h\x1b[H\x1b[?1049l");
        bytes
    }

    fn optional(self) -> [(bool, (&'static str, &'static str)); 4] {
        [
            (self.mouse, ("\x1b[?1000h\x1b[?1006h", "\x1b[?1006l\x1b[?1000l")),
            (self.mouse && self.drag, ("\x1b[?1002h", "\x1b[?1002l")),
            (self.focus, ("\x1b[?1004h", "\x1b[?1004l")),
            (self.kitty, (KITTY_ON, KITTY_OFF)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn off_undoes_on_in_reverse() {
        let all = Modes { mouse: true, drag: true, focus: true, kitty: true };
        assert_eq!(
            all.on(),
            "\x1b[?1049h\x1b[r\x1b[?6l\x1b[4l\x1b[?7h\x0f\x1b(B\x1b[0m\x1b[?25l\x1b[?2004h\x1b[?1000h\x1b[?1006h\x1b[?1002h\x1b[?1004h\x1b[>1u"
        );
        assert_eq!(
            all.off(),
            "\x1b[?2026l\x1b[<u\x1b[?1004l\x1b[?1002l\x1b[?1006l\x1b[?1000l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[H\x1b[?1049l"
        );
        assert_eq!(Modes::default().off(), "\x1b[?2026l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[H\x1b[?1049l");
        assert!(!Modes { drag: true, ..Modes::default() }.on().contains("1002"));
    }
}
