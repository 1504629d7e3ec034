//! Every colour role and token of clause T1, declared once: the enum, its wire names and the token table.
//! It never holds a colour; a theme does.
//! Anyone may call it.

/// Declares the roles once: the enum, `ALL` in the order of clause T1, and the wire names.
macro_rules! roles {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// A colour role of clause T1; the wire name is in each variant's line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Role {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl Role {
            /// All roles, in the order of clause T1.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the wire, such as `ui.bg_deep`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

roles! {
    Bg = "ui.bg",
    BgDeep = "ui.bg_deep",
    Panel = "ui.panel",
    Float = "ui.float",
    Line = "ui.line",
    Selection = "ui.selection",
    Border = "ui.border",
    BorderActive = "ui.border_active",
    FgBright = "ui.fg_bright",
    Fg = "ui.fg",
    FgDim = "ui.fg_dim",
    FgMuted = "ui.fg_muted",
    Cursor = "ui.cursor",
    Accent = "ui.accent",
    AccentAlt = "ui.accent_alt",
    Link = "ui.link",
    Match = "ui.match",
    OnAccent = "ui.on_accent",
    SynKeyword = "syntax.keyword",
    SynConditional = "syntax.conditional",
    SynRepeat = "syntax.repeat",
    SynOperator = "syntax.operator",
    SynFunction = "syntax.function",
    SynMethod = "syntax.method",
    SynConstructor = "syntax.constructor",
    SynType = "syntax.type",
    SynNamespace = "syntax.namespace",
    SynMacro = "syntax.macro",
    SynParameter = "syntax.parameter",
    SynConstant = "syntax.constant",
    SynNumber = "syntax.number",
    SynBoolean = "syntax.boolean",
    SynBuiltin = "syntax.builtin",
    SynAttribute = "syntax.attribute",
    SynString = "syntax.string",
    SynCharacter = "syntax.character",
    SynEscape = "syntax.escape",
    SynVariable = "syntax.variable",
    SynProperty = "syntax.property",
    SynField = "syntax.field",
    SynPunctuation = "syntax.punctuation",
    SynComment = "syntax.comment",
    SynTag = "syntax.tag",
    SynDeprecated = "syntax.deprecated",
    Error = "diagnostic.error",
    Warn = "diagnostic.warn",
    Info = "diagnostic.info",
    Hint = "diagnostic.hint",
    Ok = "diagnostic.ok",
    Added = "git.added",
    Modified = "git.modified",
    Removed = "git.removed",
    Renamed = "git.renamed",
    Staged = "git.staged",
    Untracked = "git.untracked",
    Conflict = "git.conflict",
    AnsiBlack = "ansi.black",
    AnsiRed = "ansi.red",
    AnsiGreen = "ansi.green",
    AnsiYellow = "ansi.yellow",
    AnsiBlue = "ansi.blue",
    AnsiMagenta = "ansi.magenta",
    AnsiCyan = "ansi.cyan",
    AnsiWhite = "ansi.white",
    AnsiBrightBlack = "ansi.bright_black",
    AnsiBrightRed = "ansi.bright_red",
    AnsiBrightGreen = "ansi.bright_green",
    AnsiBrightYellow = "ansi.bright_yellow",
    AnsiBrightBlue = "ansi.bright_blue",
    AnsiBrightMagenta = "ansi.bright_magenta",
    AnsiBrightCyan = "ansi.bright_cyan",
    AnsiBrightWhite = "ansi.bright_white",
}

impl Role {
    /// How many roles there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The place of this role in [`Role::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The role of a wire name or of a token, such as `ui.bg` or `Bg`.
    pub fn parse(name: &str) -> Option<Self> {
        let role = Self::ALL.iter().copied().find(|role| role.name() == name);
        role.or_else(|| TOKENS.iter().find(|(token, _)| *token == name).map(|(_, role)| *role))
    }

    /// The role of one of a terminal's sixteen colours; only the low four bits count.
    pub fn ansi(index: u8) -> Self {
        Self::ALL[Self::AnsiBlack.index() + usize::from(index & 15)]
    }
}

/// The tokens of clause T1, each with the role it is another name of, in the clause's order.
pub const TOKENS: &[(&str, Role)] = &[
    ("Primary", Role::Accent),
    ("Accent", Role::AccentAlt),
    ("Subtle", Role::FgDim),
    ("Bg", Role::Bg),
    ("Deep", Role::BgDeep),
    ("Surface", Role::Panel),
    ("Float", Role::Float),
    ("Line", Role::Line),
    ("Sel", Role::Selection),
    ("Border", Role::Border),
    ("BorderFocus", Role::BorderActive),
    ("Text", Role::Fg),
    ("Bright", Role::FgBright),
    ("Muted", Role::FgMuted),
    ("Cursor", Role::Cursor),
    ("Link", Role::Link),
    ("Match", Role::Match),
    ("OnAccent", Role::OnAccent),
    ("OK", Role::Ok),
    ("Warn", Role::Warn),
    ("Err", Role::Error),
    ("Info", Role::Info),
    ("Hint", Role::Hint),
    ("Added", Role::Added),
    ("Modified", Role::Modified),
    ("Removed", Role::Removed),
    ("Renamed", Role::Renamed),
    ("Staged", Role::Staged),
    ("Untracked", Role::Untracked),
    ("Conflict", Role::Conflict),
    ("SynKeyword", Role::SynKeyword),
    ("SynFunction", Role::SynFunction),
    ("SynType", Role::SynType),
    ("SynString", Role::SynString),
    ("SynNumber", Role::SynNumber),
    ("SynConstant", Role::SynConstant),
    ("SynComment", Role::SynComment),
    ("SynTag", Role::SynTag),
    ("SynPunct", Role::SynPunctuation),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_step_with_the_enum() {
        for (i, role) in Role::ALL.iter().enumerate() {
            assert_eq!(role.index(), i);
            assert_eq!(Role::parse(role.name()), Some(*role));
        }
        assert_eq!(Role::ansi(0), Role::AnsiBlack);
        assert_eq!(Role::ansi(7), Role::AnsiWhite);
        assert_eq!(Role::ansi(8), Role::AnsiBrightBlack);
        assert_eq!(Role::ansi(15), Role::AnsiBrightWhite);
        assert_eq!(Role::ansi(16), Role::AnsiBlack);
        assert_eq!(Role::parse("SynPunct"), Some(Role::SynPunctuation));
        assert_eq!(Role::parse("ui.nothing"), None);
    }
}
