//! What a person can do by key: each program declares its [`Action`]s once, and dispatch, help, footer,
//! palette and the docs read the same list. It never does anything; the loop looks an action up and acts.
//! Both programs declare, anyone may ask.

use std::collections::BTreeMap;

use crate::keys::Key;

/// The scope whose actions hold on every tab.
pub const APP: &str = "app";

/// One thing that can be done, declared once.
#[derive(Debug, PartialEq, Eq)]
pub struct Action {
    /// What config files call it: `plugins.restart`, `app.quit`. Unique.
    pub id: &'static str,
    /// Where it holds: [`APP`] or the id of a tab or layer.
    pub scope: &'static str,
    /// The default keys, by name ([`Key::parse`]); none is allowed.
    pub keys: &'static [&'static str],
    /// Words for help and palette.
    pub title: &'static str,
    /// One or two words for the footer; empty: not in the footer.
    pub hint: &'static str,
    /// Its command name in the palette, if it is there.
    pub palette: Option<&'static str>,
}

/// Which key does what, after the person's overrides.
#[derive(Debug)]
pub struct Keymap {
    actions: &'static [Action],
    /// The keys of each action, in the order of `actions`, by their one name.
    keys: Vec<Vec<String>>,
}

impl Keymap {
    /// The key map of `actions` with the person's overrides (`tui.keys` of config.yaml: id to keys) and what
    /// is wrong with them, in words. An override replaces all keys of its action; an empty one takes them away.
    ///
    /// When two actions of one scope want a key, an override beats a default and otherwise the first declared
    /// wins. When a tab wants a key of [`APP`], an override beats a default and otherwise the app keeps it; a
    /// tab that wins does so on that tab only, so the app's key goes on working elsewhere.
    pub fn new(actions: &'static [Action], overrides: &BTreeMap<String, Vec<String>>) -> (Self, Vec<String>) {
        let mut problems: Vec<String> = overrides
            .keys()
            .filter(|id| !actions.iter().any(|action| action.id == id.as_str()))
            .map(|id| format!("tui.keys: there is no action {}", sys::text::clean(id)))
            .collect();
        let mut overridden = Vec::with_capacity(actions.len());
        let mut keys = Vec::with_capacity(actions.len());
        for action in actions {
            let wanted = overrides.get(action.id).and_then(|names| written(action, names, &mut problems));
            overridden.push(wanted.is_some());
            keys.push(wanted.unwrap_or_else(|| names(action.keys.iter().copied()).0));
        }
        let mut map = Self { actions, keys };
        map.settle(&overridden, &mut problems);
        (map, problems)
    }

    /// The action of `key` (a name, in any of its spellings), asked scope by scope: the innermost first.
    pub fn find(&self, scopes: &[&str], key: &str) -> Option<&'static Action> {
        // The usual caller passes a name that Key::name made; only other spellings cost a parse.
        self.exact(scopes, key).or_else(|| {
            let name = Key::parse(key)?.name();
            (name != key).then(|| self.exact(scopes, &name)).flatten()
        })
    }

    fn exact(&self, scopes: &[&str], key: &str) -> Option<&'static Action> {
        scopes.iter().find_map(|scope| {
            let mut bound = self.actions.iter().zip(&self.keys);
            bound
                .find(|(action, keys)| action.scope == *scope && keys.iter().any(|k| k == key))
                .map(|(action, _)| action)
        })
    }

    /// The keys of the action `id`, by name; empty when it has none or there is no such action.
    pub fn keys_of(&self, id: &str) -> Vec<String> {
        self.position(id).and_then(|at| self.keys.get(at)).cloned().unwrap_or_default()
    }

    /// All actions, in the order they were declared.
    pub fn actions(&self) -> &'static [Action] {
        self.actions
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.actions.iter().position(|action| action.id == id)
    }

    /// Takes each key that two actions want from one of them, and says so.
    fn settle(&mut self, overridden: &[bool], problems: &mut Vec<String>) {
        for first in 0..self.actions.len() {
            for second in first + 1..self.actions.len() {
                for key in self.shared(first, second) {
                    let (winner, loser) = self.contest(first, second, overridden);
                    self.say(&key, winner, loser, problems);
                    // A tab that wins over the app shadows it there; elsewhere the app's key goes on working.
                    if self.scope(winner) == APP || self.scope(loser) != APP {
                        self.take(loser, &key);
                    }
                }
            }
        }
    }

    fn scope(&self, at: usize) -> &'static str {
        self.actions.get(at).map_or("", |action| action.scope)
    }

    /// The keys both actions have, when their scopes can meet.
    fn shared(&self, first: usize, second: usize) -> Vec<String> {
        let (one, other) = (self.scope(first), self.scope(second));
        if one != other && one != APP && other != APP {
            return Vec::new();
        }
        let (Some(mine), Some(theirs)) = (self.keys.get(first), self.keys.get(second)) else { return Vec::new() };
        mine.iter().filter(|key| theirs.contains(key)).cloned().collect()
    }

    /// Who keeps a key both want: (winner, loser).
    fn contest(&self, first: usize, second: usize, overridden: &[bool]) -> (usize, usize) {
        let chosen = |at: usize| overridden.get(at).copied().unwrap_or(false);
        let second_wins = match (chosen(first), chosen(second)) {
            (true, false) => false,
            (false, true) => true,
            // Both chosen by the person: the narrower scope is the more deliberate one.
            (true, true) => self.scope(first) == APP && self.scope(second) != APP,
            // Both defaults: a tab never re-uses a key of the app.
            (false, false) => self.scope(first) != APP && self.scope(second) == APP,
        };
        if second_wins { (second, first) } else { (first, second) }
    }

    fn say(&self, key: &str, winner: usize, loser: usize, problems: &mut Vec<String>) {
        let (Some(winner), Some(loser)) = (self.actions.get(winner), self.actions.get(loser)) else { return };
        let place =
            if winner.scope != APP && loser.scope == APP { format!(" on {}", winner.scope) } else { String::new() };
        problems.push(format!("tui.keys: {key} is both {} and {}; it is {}{place}", winner.id, loser.id, winner.id));
    }

    fn take(&mut self, from: usize, key: &str) {
        if let Some(keys) = self.keys.get_mut(from) {
            keys.retain(|held| held != key);
        }
    }
}

/// The keys an override asks for; `None` when none of what it names is a key (the default stays).
fn written(action: &Action, wanted: &[String], problems: &mut Vec<String>) -> Option<Vec<String>> {
    let (keys, bad) = names(wanted.iter().map(String::as_str));
    for name in &bad {
        problems.push(format!("tui.keys: {}: {name:?} is no key (write it like x, X, ctrl+x, enter, f5)", action.id));
    }
    (!keys.is_empty() || bad.is_empty()).then_some(keys)
}

/// The names in their one form, without doubles, and those that are none.
fn names<'a>(wanted: impl Iterator<Item = &'a str>) -> (Vec<String>, Vec<&'a str>) {
    let (mut keys, mut bad) = (Vec::new(), Vec::new());
    for name in wanted {
        match Key::parse(name).map(|key| key.name()) {
            Some(key) if keys.contains(&key) => {}
            Some(key) => keys.push(key),
            None => bad.push(name),
        }
    }
    (keys, bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn action(id: &'static str, scope: &'static str, keys: &'static [&'static str]) -> Action {
        Action { id, scope, keys, title: "Title", hint: "", palette: None }
    }

    static ACTIONS: &[Action] = &[
        action("app.quit", APP, &["q", "ctrl+c"]),
        action("app.help", APP, &["?"]),
        action("sessions.delete", "sessions", &["d"]),
        action("sessions.alias", "sessions", &["m"]),
        action("skills.delete", "skills", &["d"]),
        action("skills.open", "skills", &["enter", "return"]),
        action("skills.rare", "skills", &[]),
    ];

    fn map(overrides: &[(&str, &[&str])]) -> (Keymap, Vec<String>) {
        let owned = overrides
            .iter()
            .map(|(id, keys)| ((*id).to_owned(), keys.iter().map(|key| (*key).to_owned()).collect()))
            .collect();
        Keymap::new(ACTIONS, &owned)
    }

    fn found(map: &Keymap, scope: &str, key: &str) -> &'static str {
        map.find(&[scope, APP], key).map_or("-", |action| action.id)
    }

    #[test]
    fn defaults_have_no_problems_and_scopes_do_not_meet() {
        let (map, problems) = map(&[]);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(found(&map, "sessions", "d"), "sessions.delete");
        assert_eq!(found(&map, "skills", "d"), "skills.delete");
        assert_eq!(found(&map, "skills", "q"), "app.quit");
        assert_eq!(found(&map, "skills", "m"), "-");
        assert_eq!(found(&map, "skills", "Return"), "skills.open");
        assert_eq!(map.keys_of("skills.open"), ["enter"]);
        assert_eq!(map.keys_of("nobody"), Vec::<String>::new());
    }

    #[test]
    fn an_override_replaces_all_keys() {
        let (map, problems) = map(&[("app.quit", &["Q", "escape"]), ("sessions.delete", &[])]);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(map.keys_of("app.quit"), ["Q", "esc"]);
        assert_eq!(found(&map, "sessions", "q"), "-");
        assert_eq!(found(&map, "sessions", "d"), "-");
    }

    #[test]
    fn what_is_wrong_is_said_and_harmless() {
        let (map, problems) = map(&[("app.qiut", &["x"]), ("app.quit", &["nokey"]), ("app.help", &["h", "ctrl+"])]);
        assert_eq!(
            problems,
            [
                "tui.keys: there is no action app.qiut",
                "tui.keys: app.quit: \"nokey\" is no key (write it like x, X, ctrl+x, enter, f5)",
                "tui.keys: app.help: \"ctrl+\" is no key (write it like x, X, ctrl+x, enter, f5)",
            ]
        );
        assert_eq!(map.keys_of("app.quit"), ["q", "ctrl+c"]);
        assert_eq!(map.keys_of("app.help"), ["h"]);
    }

    #[test]
    fn within_a_scope_the_override_wins() {
        let (map, problems) = map(&[("sessions.alias", &["d"])]);
        assert_eq!(problems, ["tui.keys: d is both sessions.alias and sessions.delete; it is sessions.alias"]);
        assert_eq!(found(&map, "sessions", "d"), "sessions.alias");
        assert_eq!(map.keys_of("sessions.delete"), Vec::<String>::new());
        assert_eq!(found(&map, "skills", "d"), "skills.delete");
    }

    #[test]
    fn a_tab_override_shadows_the_app_on_its_tab_only() {
        let (map, problems) = map(&[("sessions.delete", &["q"])]);
        assert_eq!(problems, ["tui.keys: q is both sessions.delete and app.quit; it is sessions.delete on sessions"]);
        assert_eq!(found(&map, "sessions", "q"), "sessions.delete");
        assert_eq!(found(&map, "skills", "q"), "app.quit");
    }

    #[test]
    fn an_app_override_takes_the_key_from_every_tab() {
        let (map, problems) = map(&[("app.help", &["d"])]);
        assert_eq!(problems.len(), 2);
        assert_eq!(found(&map, "sessions", "d"), "app.help");
        assert_eq!(found(&map, "skills", "d"), "app.help");
        assert_eq!(map.keys_of("skills.delete"), Vec::<String>::new());
    }

    #[test]
    fn two_overrides_for_one_key_are_reported() {
        let (same, problems) = map(&[("sessions.delete", &["x"]), ("sessions.alias", &["x"])]);
        assert_eq!(problems, ["tui.keys: x is both sessions.delete and sessions.alias; it is sessions.delete"]);
        assert_eq!(found(&same, "sessions", "x"), "sessions.delete");
        let (nested, problems) = map(&[("app.help", &["x"]), ("sessions.alias", &["x"])]);
        assert_eq!(problems.len(), 1);
        assert_eq!(found(&nested, "sessions", "x"), "sessions.alias");
        assert_eq!(found(&nested, "skills", "x"), "app.help");
    }
}
