//! Mouse reports: what a button is called (clauses X1, X2) and how the three encodings in use say it (SGR
//! 1006, urxvt 1015, the old X10 bytes). It never knows where on the screen anything is. `input` decodes
//! with it; anyone may use the types.

use crate::keys::Mods;

/// A mouse report. Coordinates are cells of the screen, from 0, and saturate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// What happened.
    pub kind: MouseKind,
    /// The column, 0-based.
    pub x: u16,
    /// The row, 0-based.
    pub y: u16,
    /// What was held: only ctrl, alt and shift can be reported.
    pub mods: Mods,
}

/// What the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// A button went down.
    Press(Button),
    /// A button went up; [`Button::Unknown`] where the encoding does not say which.
    Release(Button),
    /// Moved with a button down.
    Drag(Button),
    /// Moved with none.
    Move,
    /// One step of a wheel.
    Wheel(Wheel),
}

/// A button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the variants are the names of the buttons
pub enum Button {
    Left,
    Middle,
    Right,
    Backward,
    Forward,
    Button10,
    Button11,
    /// Old reports do not say which button was released.
    Unknown,
}

/// A direction of a wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the variants are the directions
pub enum Wheel {
    Up,
    Down,
    Left,
    Right,
}

impl Mouse {
    /// The button as clauses X1 and X2 name it (`left`, `ctrl+wheelup`), what was held in front; empty when
    /// no button is known.
    pub fn button_name(&self) -> String {
        let name = match self.kind {
            MouseKind::Press(button) | MouseKind::Release(button) | MouseKind::Drag(button) => match button {
                Button::Left => "left",
                Button::Middle => "middle",
                Button::Right => "right",
                Button::Backward => "backward",
                Button::Forward => "forward",
                Button::Button10 => "button10",
                Button::Button11 => "button11",
                Button::Unknown => return String::new(),
            },
            MouseKind::Wheel(Wheel::Up) => "wheelup",
            MouseKind::Wheel(Wheel::Down) => "wheeldown",
            MouseKind::Wheel(Wheel::Left) => "wheelleft",
            MouseKind::Wheel(Wheel::Right) => "wheelright",
            MouseKind::Move => return String::new(),
        };
        self.mods.prefix() + name
    }
}

/// A report with its button bits; `x` and `y` from 1. `None` for what is no event (the release of a wheel).
pub(super) fn report(bits: u32, x: u32, y: u32, released: bool) -> Option<Mouse> {
    let mut mods = Mods::NONE;
    for (bit, held) in [(4, Mods::SHIFT), (8, Mods::ALT), (16, Mods::CTRL)] {
        if bits & bit != 0 {
            mods = mods | held;
        }
    }
    let (number, moving) = (bits & 3, bits & 32 != 0);
    let kind = if bits & 64 != 0 {
        if released || moving {
            return None;
        }
        MouseKind::Wheel([Wheel::Up, Wheel::Down, Wheel::Left, Wheel::Right].get(number as usize).copied()?)
    } else {
        let buttons = if bits & 128 != 0 {
            [Button::Backward, Button::Forward, Button::Button10, Button::Button11]
        } else {
            [Button::Left, Button::Middle, Button::Right, Button::Unknown]
        };
        match (buttons.get(number as usize).copied()?, moving, released) {
            (Button::Unknown, true, _) => MouseKind::Move,
            (button, _, true) => MouseKind::Release(button),
            (button, true, false) => MouseKind::Drag(button),
            (Button::Unknown, false, false) => MouseKind::Release(Button::Unknown),
            (button, false, false) => MouseKind::Press(button),
        }
    };
    Some(Mouse { kind, x: cell(x), y: cell(y), mods })
}

/// The three bytes after `CSI M`: button bits and coordinates, each plus 32. A coordinate beyond 223 arrives
/// as 0 or wraps; it saturates to the first cell.
pub(super) fn old_report(button: u8, x: u8, y: u8) -> Option<Mouse> {
    let [bits, x, y] = [button, x, y].map(|byte| u32::from(byte.saturating_sub(32)));
    report(bits, x, y, false)
}

/// A coordinate from 1 as one from 0.
fn cell(from_one: u32) -> u16 {
    u16::try_from(from_one.saturating_sub(1)).unwrap_or(u16::MAX)
}
