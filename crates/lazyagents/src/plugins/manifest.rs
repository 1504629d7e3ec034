//! A manifest as the screen may show it: limits applied, every text clean (clauses N2 to N5). Pure.
//! The session makes it; tabs, help and palette show it.

use sys::text;
use wire::plugin::{Command, HelpGroup, Manifest};

/// Limits of the seed and of clauses N2 to N4, in code points.
const TITLE: usize = 40;
const KEY: usize = 20;
const DESCRIPTION: usize = 60;

/// A manifest, cleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestView {
    /// The tab's title; the id when the plugin gave none that is allowed.
    pub title: String,
    /// Groups of (keys, description).
    pub help: Vec<(String, Vec<(String, String)>)>,
    /// Names and descriptions for the palette; names are unique.
    pub commands: Vec<(String, String)>,
    /// `<bin> doctor` is to be run.
    pub doctor: bool,
}

impl ManifestView {
    /// Applies the limits to what plugin `id` said.
    pub fn new(id: &str, manifest: Manifest) -> Self {
        let title = text::clean(&manifest.title);
        let fits = !title.is_empty() && title.chars().count() <= TITLE;
        let mut commands: Vec<(String, String)> = Vec::new();
        for command in manifest.commands {
            if Command::is_name(&command.name) && !commands.iter().any(|(name, _)| *name == command.name) {
                commands.push((command.name, short(&command.desc, DESCRIPTION)));
            }
        }
        Self {
            title: if fits { title } else { id.to_owned() },
            help: manifest.help.into_iter().map(help).collect(),
            commands,
            doctor: manifest.doctor,
        }
    }
}

/// A pair that is too long or too short is cut or padded, not an error (clause N4).
fn help(group: HelpGroup) -> (String, Vec<(String, String)>) {
    let part = |pair: &[String], at: usize, max| pair.get(at).map_or_else(String::new, |text| short(text, max));
    let keys = group.keys.iter().map(|pair| (part(pair, 0, KEY), part(pair, 1, DESCRIPTION))).collect();
    (short(&group.title, TITLE), keys)
}

fn short(raw: &str, max: usize) -> String {
    text::clean(raw).chars().take(max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(title: &str) -> String {
        ManifestView::new("the-id", Manifest { title: title.into(), ..Manifest::default() }).title
    }

    #[test]
    fn n2_a_title_is_clean_and_at_most_forty_characters_or_the_id() {
        assert_eq!(title("  \u{1b}[1mHello\u{1b}]0;x\u{7} "), "Hello");
        assert_eq!(title(&"é".repeat(40)), "é".repeat(40));
        assert_eq!(title(&"é".repeat(41)), "the-id");
        assert_eq!(title(" \n "), "the-id");
    }

    #[test]
    fn n3_bad_and_repeated_commands_are_dropped() {
        let command = |name: &str, desc: &str| Command { name: name.into(), desc: desc.into() };
        let commands =
            vec![command("ping", "one"), command("Bad", ""), command("ping", "two"), command("9-x_y", &"d".repeat(99))];
        let view = ManifestView::new("x", Manifest { commands, ..Manifest::default() });
        assert_eq!(view.commands, [("ping".to_owned(), "one".to_owned()), ("9-x_y".to_owned(), "d".repeat(60))]);
    }

    #[test]
    fn n4_help_pairs_are_padded_and_cut() {
        let keys = vec![vec![], vec!["k".into()], vec!["a".repeat(30), "b".repeat(99), "c".into()]];
        let help = vec![HelpGroup { title: "t".repeat(50), keys }];
        let view = ManifestView::new("x", Manifest { help, ..Manifest::default() });
        let (title, keys) = &view.help[0];
        assert_eq!(title.len(), 40);
        assert_eq!(keys[0], (String::new(), String::new()));
        assert_eq!(keys[1], ("k".to_owned(), String::new()));
        assert_eq!((keys[2].0.len(), keys[2].1.len()), (20, 60));
    }
}
