use proptest::prelude::*;
use serde_json::json;

use super::super::*;
use crate::path;

fn edit(text: &str, changes: &[Change]) -> Edited {
    apply(Format::Toml, text, changes).unwrap_or_else(|doubt| panic!("{doubt} in {text:?}"))
}

fn there_and_back(text: &str, changes: &[Change]) -> String {
    let edited = edit(text, changes);
    assert_eq!(edit(&edited.text, &edited.undo).text, text, "after {:?}", edited.text);
    edited.text
}

fn set(at: Path, value: serde_json::Value) -> Change {
    Change::Set { at, value }
}

#[test]
fn a_profile_of_codex_comes_and_goes() {
    let changes = [
        set(path!["model_provider"], json!("lazyagents")),
        set(path!["model"], json!("m")),
        set(path!["model_providers", "lazyagents"], json!({"name": "x \"y\"", "base_url": "http://h/"})),
    ];
    let cases = [
        (
            "",
            "model_provider = \"lazyagents\"\nmodel = \"m\"\n\n[model_providers.lazyagents]\nname = 'x \"y\"'\nbase_url = \"http://h/\"\n",
        ),
        (
            "# mine\nmodel = \"old\"   # why\n\n[tui]\ntheme = 'a'",
            "# mine\nmodel = \"m\"   # why\nmodel_provider = \"lazyagents\"\n\n[tui]\ntheme = 'a'\n\n[model_providers.lazyagents]\nname = 'x \"y\"'\nbase_url = \"http://h/\"",
        ),
        (
            "[model_providers.other]\r\nname = \"o\"\r\n",
            "model_provider = \"lazyagents\"\r\nmodel = \"m\"\r\n[model_providers.other]\r\nname = \"o\"\r\n\r\n[model_providers.lazyagents]\r\nname = 'x \"y\"'\r\nbase_url = \"http://h/\"\r\n",
        ),
        (
            "model_providers = { other = { name = \"o\" } }\n",
            "model_providers = { other = { name = \"o\" }, lazyagents = { name = 'x \"y\"', base_url = \"http://h/\" } }\nmodel_provider = \"lazyagents\"\nmodel = \"m\"\n",
        ),
        (
            "model_providers.other.name = \"o\" # dotted\n",
            "model_providers.other.name = \"o\" # dotted\nmodel_providers.lazyagents = { name = 'x \"y\"', base_url = \"http://h/\" }\nmodel_provider = \"lazyagents\"\nmodel = \"m\"\n",
        ),
    ];
    for (old, new) in cases {
        assert_eq!(there_and_back(old, &changes), new);
    }
}

#[test]
fn lists_and_their_comments() {
    let change = [Change::Append { at: path!["a", "b"], value: json!("new") }];
    let cases = [
        ("[a]\nb = []\n", "[a]\nb = [\"new\"]\n"),
        ("[a]\nb = [1, 2 ]\n", "[a]\nb = [1, 2, \"new\" ]\n"),
        ("[a]\nb = [\n  1, # one\n  2 # two, and\n]\n", "[a]\nb = [\n  1, # one\n  2, # two, and\n  \"new\"\n]\n"),
        ("[a]\nb = [\n  1,\n]\n", "[a]\nb = [\n  1,\n  \"new\",\n]\n"),
        ("[a]\n", "[a]\nb = [\"new\"]\n"),
    ];
    for (old, new) in cases {
        assert_eq!(there_and_back(old, &change), new);
    }
    let tables = [Change::Append { at: path!["x"], value: json!({"k": 1}) }];
    assert_eq!(there_and_back("[[x]]\nk = 0\n[y]\n", &tables), "[[x]]\nk = 0\n[y]\n\n[[x]]\nk = 1\n");
}

#[test]
fn comments_stay_when_their_neighbours_go() {
    let text = "# a\n[t]\nx = 1 # of x\n# between\ny = [\n 1,\n] \n[t.sub]\nz = 1\n[u]\n";
    let gone = |at: Path| edit(text, &[Change::Remove { at, hollow: None }]).text;
    assert_eq!(gone(path!["t", "x"]), text.replace("x = 1 # of x", "# of x"));
    assert_eq!(gone(path!["t", "y"]), text.replace("y = [\n 1,\n] \n", ""));
    assert_eq!(gone(path!["t"]), "# a\n# of x\n# between\n[u]\n");
}

#[test]
fn what_is_in_doubt_is_refused_with_its_place() {
    let refused = |text: &str| apply(Format::Toml, text, &[set(path!["a", "b"], json!(1))]).unwrap_err();
    assert_eq!(refused("x = 1\na = “x”\n").place, Some((2, 5)));
    assert_eq!(refused("a = 1\n").to_string(), "a is a single value");
    assert!(refused("a = 1\na = 2\n").place.is_some());
    assert!(apply(Format::Toml, "", &[set(path!["a"], json!(null))]).is_err());
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![Just("a".to_owned()), Just("b".to_owned()), Just("c".to_owned()), "[a-z.\"' é#]{0,4}"]
}

fn key() -> impl Strategy<Value = String> {
    word().prop_map(|word| toml_edit::Key::new(word).to_string())
}

fn value() -> BoxedStrategy<String> {
    let scalar = prop_oneof![
        Just("1_000".to_owned()),
        Just("1979-05-27T07:32:00Z".to_owned()),
        Just("'lit # x'".to_owned()),
        Just("\"b\\u00e9\"".to_owned()),
        Just("\"\"\"\nmany #\n  lines\"\"\"".to_owned()),
        Just("0x1F".to_owned()),
        Just("nan".to_owned()),
    ];
    let gap = || prop_oneof![Just(""), Just(" "), Just("\n  "), Just(" # c, ]\n")];
    scalar
        .prop_recursive(2, 8, 3, move |inner| {
            let list = prop::collection::vec((gap(), inner.clone(), gap()), 0..3).prop_flat_map(|items| {
                let items: Vec<_> = items.into_iter().map(|(a, value, b)| format!("{a}{value}{b}")).collect();
                any::<bool>().prop_map(move |trailing| {
                    format!("[{}{}]", items.join(","), if trailing && !items.is_empty() { "," } else { "" })
                })
            });
            let map = prop::collection::btree_map(key(), inner, 0..3).prop_map(|map| {
                let items: Vec<_> = map.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                format!("{{{}}}", items.join(", "))
            });
            prop_oneof![list.boxed(), map.boxed()]
        })
        .boxed()
}

fn line() -> BoxedStrategy<String> {
    let pair = (
        prop_oneof![Just(""), Just("  ")],
        key(),
        prop_oneof![Just("="), Just(" = ")],
        value(),
        prop_oneof![Just(""), Just(" # c = [")],
    );
    prop_oneof![
        4 => pair.prop_map(|(indent, key, is, value, comment)| format!("{indent}{key}{is}{value}{comment}")),
        1 => (key(), key(), value()).prop_map(|(a, b, value)| format!("{a}.{b} = {value}")),
        1 => Just(String::new()),
        1 => Just("# comment [x]".to_owned()),
        1 => key().prop_map(|key| format!("[{key}]")),
        1 => (key(), key()).prop_map(|(a, b)| format!("[ {a}. {b} ] # h")),
        1 => key().prop_map(|key| format!("[[{key}]]")),
    ]
    .boxed()
}

/// Lines that TOML takes together: each is left out when it would break those before it.
fn text() -> BoxedStrategy<String> {
    (prop::collection::vec(line(), 0..9), any::<bool>(), any::<bool>(), any::<bool>())
        .prop_map(|(lines, crlf, ended, mark)| {
            let mut text = String::new();
            for line in lines {
                let longer = format!("{text}{line}\n");
                if toml_edit::Document::parse(&*longer).is_ok() {
                    text = longer;
                }
            }
            if !ended {
                text.truncate(text.trim_end_matches('\n').len());
            }
            if crlf {
                text = text.replace('\n', "\r\n");
            }
            if mark { format!("\u{feff}{text}") } else { text }
        })
        .boxed()
}

fn change() -> BoxedStrategy<Change> {
    let at = || prop::collection::vec(word().prop_map(Step::Key), 1..4);
    let value =
        || prop_oneof![Just(json!("x\ny")), Just(json!({"k": [1, {"z": 2}]})), Just(json!([])), Just(json!(1.5))];
    prop_oneof![
        (at(), value()).prop_map(|(at, value)| Change::Set { at, value }),
        (at(), value()).prop_map(|(at, value)| Change::Append { at, value }),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_is_applied_can_be_taken_back_byte_for_byte(text in text(), changes in prop::collection::vec(change(), 1..3)) {
        let edited = apply(Format::Toml, &text, &changes);
        if let Err(doubt) = &edited {
            prop_assert!(!doubt.why.contains("given up"), "{doubt} in {text:?}");
        }
        if let Ok(edited) = edited {
            let comments = |text: &str| text.matches("# ").count();
            // A comment inside a value that is replaced goes with it.
            let replaced = edited.undo.iter().any(|change| matches!(change, Change::Write { .. }))
                || replaced_a_table(&text, &changes);
            prop_assert!(replaced || comments(&edited.text) >= comments(&text), "{:?}", edited.text);
            let removes = |change: &Change| matches!(change, Change::Remove { .. } | Change::Write { .. });
            let back = apply(Format::Toml, &edited.text, &edited.undo);
            if edited.undo.iter().all(removes) && !replaced_a_table(&text, &changes) {
                prop_assert_eq!(back.map(|back| back.text), Ok(text), "after {:?}", edited.text);
            }
        }
    }

    #[test]
    fn removing_keeps_the_rest(text in text(), at in prop::collection::vec(word().prop_map(Step::Key), 1..3)) {
        match apply(Format::Toml, &text, &[Change::Remove { at, hollow: None }]) {
            Ok(edited) => prop_assert!(edited.text.matches("# c").count() <= text.matches("# c").count()),
            Err(doubt) => prop_assert!(!doubt.why.contains("given up"), "{doubt} in {text:?}"),
        }
    }

    #[test]
    fn any_text_is_edited_or_refused(text in any::<String>(), change in change()) {
        let _ = apply(Format::Toml, &text, &[change]);
    }
}

/// Setting a table that is there removes keys of it: those come back, but not where they were.
fn replaced_a_table(text: &str, changes: &[Change]) -> bool {
    let mut text = text.to_owned();
    changes.iter().any(|change| {
        let replaces = match change {
            Change::Set { at, value } if value.is_object() => {
                let gone = apply(Format::Toml, &text, &[Change::Remove { at: at.clone(), hollow: None }]);
                gone.is_ok_and(|gone| gone.text != text)
            }
            _ => false,
        };
        if let Ok(edited) = apply(Format::Toml, &text, std::slice::from_ref(change)) {
            text = edited.text;
        }
        replaces
    })
}
