use serde_json::json;

use super::*;
use crate::path;

fn edit(text: &str, changes: &[Change]) -> Edited {
    apply(Format::Json, text, changes).unwrap_or_else(|doubt| panic!("{doubt} in {text:?}"))
}

fn set(at: Path, value: serde_json::Value) -> Change {
    Change::Set { at, value }
}

/// Applies, and takes it back.
fn there_and_back(text: &str, changes: &[Change]) -> String {
    let edited = edit(text, changes);
    assert_eq!(edit(&edited.text, &edited.undo).text, text, "after {:?}", edited.text);
    edited.text
}

#[test]
fn a_key_goes_behind_the_last_one_in_its_style() {
    let change = [set(path!["env", "B"], json!("2"))];
    let cases = [
        (
            "{\n  \"env\": {\n    \"A\": \"1\"\n  }\n}\n",
            "{\n  \"env\": {\n    \"A\": \"1\",\n    \"B\": \"2\"\n  }\n}\n",
        ),
        ("{\"env\":{\"A\":\"1\"}}", "{\"env\":{\"A\":\"1\", \"B\": \"2\"}}"),
        ("{\"env\":{\"Z\":0,\"A\":\"1\",},}", "{\"env\":{\"Z\":0,\"A\":\"1\",\"B\": \"2\",},}"),
        (
            "{\r\n\t\"env\": {\r\n\t\t\"A\": \"1\" // mine\r\n\t}\r\n}",
            "{\r\n\t\"env\": {\r\n\t\t\"A\": \"1\", // mine\r\n\t\t\"B\": \"2\"\r\n\t}\r\n}",
        ),
        ("{ \"env\": {} }", "{ \"env\": { \"B\": \"2\" } }"),
        ("{\n    \"x\": 1\n}\n", "{\n    \"x\": 1,\n    \"env\": {\n        \"B\": \"2\"\n    }\n}\n"),
        ("{}", "{\n  \"env\": {\n    \"B\": \"2\"\n  }\n}"),
        ("", "{\n  \"env\": {\n    \"B\": \"2\"\n  }\n}\n"),
        ("\u{feff}{\n  // nothing yet\n}\n", "\u{feff}{\n  // nothing yet\n  \"env\": {\n    \"B\": \"2\"\n  }\n}\n"),
    ];
    for (old, new) in cases {
        assert_eq!(there_and_back(old, &change), new);
    }
}

#[test]
fn a_value_that_is_equal_already_stays_as_it_is_written() {
    let text = "{\"a\" : {\"y\":1.0 , \"x\":[ true ]}}";
    assert_eq!(
        edit(text, &[set(path!["a"], json!({"x": [true], "y": 1.0}))]),
        Edited { text: text.to_owned(), undo: vec![] }
    );
}

#[test]
fn lists_grow_at_their_end_and_shrink_again() {
    let change = [Change::Append { at: path!["hooks", "Stop"], value: json!({"command": "x"}) }];
    let cases = [
        ("{\"hooks\":{\"Stop\":[]}}", "{\"hooks\":{\"Stop\":[ { \"command\": \"x\" } ]}}"),
        (
            "{\n  \"hooks\": {\n    \"Stop\": [\n      1 /* one */\n      // end\n    ]\n  }\n}",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      1, /* one */\n      {\n        \"command\": \"x\"\n      }\n      // end\n    ]\n  }\n}",
        ),
        ("{\"hooks\":{}}", "{\"hooks\":{ \"Stop\": [{ \"command\": \"x\" }] }}"),
    ];
    for (old, new) in cases {
        assert_eq!(there_and_back(old, &change), new);
    }
}

#[test]
fn what_is_in_doubt_is_refused_with_its_place() {
    let refused = |text: &str| apply(Format::Json, text, &[set(path!["a", "b"], json!(1))]).unwrap_err();
    assert_eq!(refused("{\n \"a\": {\"b\": 1},\n \"a\": {}}").to_string(), "line 3, column 2: a is there twice");
    assert_eq!(refused("{\"ä\": 1, \"a\": [1]}").to_string(), "line 1, column 15: a is a list");
    assert!(refused("{\"a\": {'b': 1}}").place.is_some());
    assert!(refused("{\"a\": {\"b\" 1}}").place.is_some());
    assert!(refused("{\"a\": ").place.is_some());
    assert!(refused("[1]").place.is_some());
    assert!(refused("{\"a\": “x”}").place.is_some());
}

#[test]
fn comments_stay_when_their_neighbours_go() {
    let text = "{\n  // first\n  \"a\": 1, // of a\n  /* b's */ \"b\": 2 // of b\n}\n";
    for (key, left) in [
        ("a", "{\n  // first\n // of a\n  /* b's */ \"b\": 2 // of b\n}\n"),
        ("b", "{\n  // first\n  \"a\": 1 // of a\n  /* b's */ // of b\n}\n"),
    ] {
        assert_eq!(edit(text, &[Change::Remove { at: path![key], hollow: None }]).text, left);
    }
}

mod toml;

mod random {
    use proptest::prelude::*;

    use super::*;

    /// Blanks and comments between two tokens; a line comment ends its line.
    fn gap(end: &'static str) -> impl Strategy<Value = String> {
        prop_oneof![
            6 => Just(String::new()),
            3 => Just(" ".to_owned()),
            3 => Just(format!("{end}  ")),
            1 => Just(format!("{end}\t")),
            1 => Just("/* c, \" } ] */".to_owned()),
            1 => Just(format!("// d \" {{{end}")),
        ]
    }

    fn word() -> impl Strategy<Value = String> {
        prop_oneof![Just("a".to_owned()), Just("b".to_owned()), Just("env".to_owned()), "[ -~é\\u{1F600}\\\\\"]{0,6}"]
    }

    fn scalar() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just("1.50e2".to_owned()),
            Just("-0".to_owned()),
            Just("123456789012345678901234567890".to_owned()),
            word().prop_map(|text| quote(&text)),
            Just("\"\\u00e9\\/\"".to_owned()),
        ]
    }

    fn quote(text: &str) -> String {
        serde_json::Value::String(text.to_owned()).to_string()
    }

    /// A document as text: any values, any gaps, each key once in its map.
    fn document(end: &'static str) -> impl Strategy<Value = String> {
        let value = scalar()
            .prop_recursive(4, 24, 4, move |inner| {
                let item = (gap(end), inner.clone(), gap(end))
                    .prop_map(|(before, value, after)| format!("{before}{value}{after}"));
                let property = (gap(end), word(), gap(end), gap(end), inner, gap(end))
                    .prop_map(|(a, key, b, c, value, d)| (key.clone(), format!("{a}{}{b}:{c}{value}{d}", quote(&key))));
                let list = (prop::collection::vec(item, 0..4), any::<bool>(), gap(end))
                    .prop_map(|(items, trailing, empty)| wrap('[', &items, ']', trailing, &empty));
                let map = (prop::collection::vec(property, 0..4), any::<bool>(), gap(end)).prop_map(
                    |(properties, trailing, empty)| {
                        let mut seen = std::collections::HashSet::new();
                        let items: Vec<_> = properties
                            .into_iter()
                            .filter(|(key, _)| seen.insert(key.clone()))
                            .map(|(_, text)| text)
                            .collect();
                        wrap('{', &items, '}', trailing, &empty)
                    },
                );
                prop_oneof![list.boxed(), map.boxed()]
            })
            .boxed();
        let map = (
            gap(end),
            prop::collection::btree_map(word(), (gap(end), value, gap(end)), 0..4),
            any::<bool>(),
            gap(end),
            gap(end),
        );
        map.prop_map(|(before, map, trailing, empty, after)| {
            let items: Vec<_> =
                map.into_iter().map(|(key, (a, value, b))| format!("{a}{}: {value}{b}", quote(&key))).collect();
            format!("{before}{}{after}", wrap('{', &items, '}', trailing, &empty))
        })
    }

    fn wrap(open: char, items: &[String], close: char, trailing: bool, empty: &str) -> String {
        let comma = if trailing && !items.is_empty() { "," } else { "" };
        format!("{open}{}{comma}{}{close}", items.join(","), if items.is_empty() || trailing { empty } else { "" })
    }

    fn text() -> impl Strategy<Value = String> {
        (prop_oneof![document("\n"), document("\r\n")], any::<bool>())
            .prop_map(|(text, mark)| if mark { format!("\u{feff}{text}") } else { text })
    }

    fn change() -> impl Strategy<Value = Change> {
        let at = || prop::collection::vec(word().prop_map(Step::Key), 1..4);
        let value =
            prop_oneof![Just(json!("x")), Just(json!({"k": [1, {"z": null}]})), Just(json!([])), Just(json!({}))];
        prop_oneof![
            (at(), value.clone()).prop_map(|(at, value)| Change::Set { at, value }),
            (at(), value).prop_map(|(at, value)| Change::Append { at, value }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn what_is_applied_can_be_taken_back_byte_for_byte(text in text(), changes in prop::collection::vec(change(), 1..4)) {
            let edited = apply(Format::Json, &text, &changes);
            // A change may be refused, because a map is needed where a word stands.
            if let Err(doubt) = &edited {
                prop_assert!(!doubt.why.contains("given up"), "{doubt} in {text:?}");
            }
            if let Ok(edited) = edited {
                let back = apply(Format::Json, &edited.text, &edited.undo);
                prop_assert_eq!(back.map(|back| back.text), Ok(text), "after {:?}", edited.text);
                let last = apply(Format::Json, &edited.text, &changes[changes.len() - 1..]).map(|again| again.text);
                let settled = last.as_deref() == Ok(&edited.text);
                prop_assert_eq!(settled, matches!(changes.last(), Some(Change::Set { .. })), "setting twice is setting once");
            }
        }

        #[test]
        fn what_was_added_since_is_not_lost_by_taking_back(text in text(), change in change(), later in change()) {
            let Ok(edited) = apply(Format::Json, &text, std::slice::from_ref(&change)) else { return Ok(()) };
            let Ok(both) = apply(Format::Json, &edited.text, std::slice::from_ref(&later)) else { return Ok(()) };
            // Positions of a list that grew since are another matter: only the keys of `change` are taken back.
            if matches!(&change, Change::Append { .. }) { return Ok(()) }
            let (Change::Set { at, .. }, Change::Set { at: other, value }) = (&change, &later) else { return Ok(()) };
            if at.first() == other.first() { return Ok(()) }
            let back = apply(Format::Json, &both.text, &edited.undo);
            prop_assert!(back.is_ok(), "{:?} -> {:?}: {:?}", both.text, edited.undo, back);
            let again = apply(Format::Json, &back.unwrap().text, &[Change::Set { at: other.clone(), value: value.clone() }]);
            prop_assert!(again.unwrap().undo.is_empty(), "still there");
        }

        #[test]
        fn any_text_is_edited_or_refused(text in any::<String>(), change in change()) {
            let _ = apply(Format::Json, &text, &[change]);
        }

        #[test]
        fn removing_keeps_the_rest(text in text(), at in prop::collection::vec(word().prop_map(Step::Key), 1..3)) {
            // The verification inside compares everything else; here it must not be needed.
            let removed = apply(Format::Json, &text, &[Change::Remove { at, hollow: None }]);
            if let Err(doubt) = removed {
                prop_assert!(doubt.place.is_some(), "{doubt} in {text:?}");
            }
        }
    }
}

/// What others have put beside ours since stays when ours is taken back; without that, no trace stays.
#[test]
fn what_was_made_for_a_value_goes_only_when_nothing_else_is_in_it() {
    let cases = [
        (Format::Json, "{\n  \"a\": 1\n}\n", "\"A\": \"v\"", "\"A\": \"v\",\n    \"theirs\": 1"),
        (Format::Json, "", "\"A\": \"v\"", "\"A\": \"v\", \"theirs\": 1"),
        (Format::Toml, "a = 1\n", "A = \"v\"", "A = \"v\"\ntheirs = 1"),
        (Format::Toml, "", "A = \"v\"", "A = \"v\"\ntheirs = 1"),
    ];
    for (format, old, ours, with_theirs) in cases {
        for at in [path!["env", "A"], path!["deep", "env", "A"]] {
            let done = apply(format, old, &[Change::Set { at: at.clone(), value: "v".into() }]).unwrap();
            assert_eq!(apply(format, &done.text, &done.undo).unwrap().text, old);
            let text = done.text.replace(ours, with_theirs);
            assert_ne!(text, done.text);
            let back = apply(format, &text, &done.undo).unwrap().text;
            let values = super::values(format, &back).unwrap();
            let (_, above) = at.split_last().unwrap();
            assert_eq!(super::value_at(&values, above), Some(&serde_json::json!({"theirs": 1})), "{back}");
        }
    }
    let hook = serde_json::json!({"command": "x"});
    let add = [Change::Append { at: path!["hooks", "Stop"], value: hook }];
    for (format, old) in [(Format::Json, "{}\n"), (Format::Json, "{\n  \"b\": 2\n}\n")] {
        let done = apply(format, old, &add).unwrap();
        assert_eq!(apply(format, &done.text, &done.undo).unwrap().text, old);
        let theirs = Change::Append { at: path!["hooks", "Stop"], value: "theirs".into() };
        let both = apply(format, &done.text, &[theirs]).unwrap();
        let back = apply(format, &both.text, &done.undo).unwrap().text;
        let values = super::values(format, &back).unwrap();
        assert_eq!(values["hooks"]["Stop"], serde_json::json!(["theirs"]), "{back}");
    }
}
