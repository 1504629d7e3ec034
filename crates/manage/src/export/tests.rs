use agents::sessions::rows::ToolUse;
use agents::sessions::{Speaker, Tokens};

use super::*;

fn row() -> SessionRow {
    SessionRow {
        agent: "codex".into(),
        id: "../01a2\u{1b}[31m".into(),
        title: Some("Fix # the `cart`\nand more".into()),
        alias: None,
        first_prompt: Some("use ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4".into()),
        cwd: Some("/home/dev/x".into()),
        started: Some("2026-11-30T20:12:43Z".into()),
        updated: None,
        live: false,
        archived: false,
        models: vec!["m-1".into()],
        prompts: 1,
        tool_calls: 1,
        failed_tool_calls: 1,
        subagents: 1,
        compactions: 0,
        usage: Tokens::default(),
        usage_by_role: std::collections::BTreeMap::new(),
        cost_usd: None,
        path: "/p".into(),
        resume: None,
    }
}

fn turns() -> Vec<Turn> {
    let turn = |role, text: &str| Turn {
        role,
        at: Some("2026-11-30T20:12:43Z".into()),
        text: text.into(),
        reasoning: None,
        tools: Vec::new(),
        subagent: None,
        model: None,
        tokens: None,
    };
    let tool = ToolUse {
        name: "Bash</summary>".into(),
        input: "{\"command\":\"echo password=hunter2\"}".into(),
        output: Some("\u{1b}[31mred\u{1b}[0m\n```\n</details>".into()),
        ok: Some(false),
    };
    vec![
        turn(Speaker::User, "use gh\u{1b}[1mp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4"),
        Turn {
            reasoning: Some("hm\n```".into()),
            tools: vec![tool],
            model: Some("m-1".into()),
            ..turn(Speaker::Assistant, "done <b>")
        },
        Turn { subagent: Some("a9".into()), ..turn(Speaker::User, "# count") },
    ]
}

fn export(format: Format, masked: bool) -> (String, Written) {
    let mut bytes = Vec::new();
    let mut exporter = Exporter::begin(&mut bytes, format, masked, &row()).unwrap();
    turns().into_iter().for_each(|turn| exporter.turn(turn).unwrap());
    let written = exporter.end(Timestamp::UNIX_EPOCH).unwrap();
    (String::from_utf8(bytes).unwrap(), written)
}

#[test]
fn markdown_has_every_turn_masked_and_unbroken() {
    let (text, written) = export(Format::Markdown, true);
    let expected = "# Fix \\# the \\`cart\\` and more

- Agent: codex
- Session: `../01a2`
- Folder: `/home/dev/x`
- Started: 2026-11-30T20:12:43Z
- Models: `m-1`
- Tokens: 0

## 1. Prompt, 2026-11-30T20:12:43Z

use [masked: GitHub token]

## 2. Answer (m-1), 2026-11-30T20:12:43Z

<details>
<summary>Reasoning</summary>

````
hm
```
````

</details>

done &lt;b>

<details>
<summary>Tool Bash&lt;/summary&gt;, failed</summary>

```json
{\"command\":\"echo password=[masked: password]\"}
```

````
red
```
</details>
````

</details>

### 3. Prompt to sub-agent a9, 2026-11-30T20:12:43Z

#### count

---

Exported 1970-01-01T00:00:00Z. Secrets masked: 2 (GitHub token: 1, password: 1).
";
    assert_eq!(text, expected);
    assert_eq!((written.turns, written.masked.map(|count| count.total())), (3, Some(2)));
}

#[test]
fn json_is_the_answer_of_show_with_what_was_masked() {
    let (text, _) = export(Format::Json, true);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["first_prompt"], "use [masked: GitHub token]");
    assert_eq!(value["turns"].as_array().unwrap().len(), 3);
    assert_eq!(value["turns"][1]["tools"][0]["output"], "red\n```\n</details>");
    assert_eq!(value["masked"]["total"], 2);
    assert_eq!(value["masked"]["kinds"]["password"], 1);
    let (text, written) = export(Format::Json, false);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(text.contains("hunter2") && text.contains("ghp_a1B2"));
    assert_eq!((&value["masked"], written.masked), (&serde_json::Value::Null, None));
}

#[test]
fn an_export_without_turns_is_whole() {
    for format in [Format::Json, Format::Markdown] {
        let mut bytes = Vec::new();
        Exporter::begin(&mut bytes, format, true, &row()).unwrap().end(Timestamp::UNIX_EPOCH).unwrap();
        if format == Format::Json {
            assert_eq!(serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()["turns"], serde_json::json!([]));
        }
    }
}

#[test]
fn a_file_is_new_or_refused_or_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = default_path(dir.path(), &row(), Format::Markdown);
    assert_eq!(path, dir.path().join("exports/2026-11-30-codex-01a231m.md"));
    let write = |text: &'static str| move |to: &mut dyn Write| to.write_all(text.as_bytes()).map_err(|e| failed(&e));
    assert_eq!(to_file(&path, Taken::Rename, write("one")).unwrap(), (path.clone(), 3, ()));
    let second = to_file(&path, Taken::Rename, write("two")).unwrap().0;
    assert_eq!(second, dir.path().join("exports/2026-11-30-codex-01a231m-2.md"));
    let failure = to_file(&path, Taken::Refuse, write("x")).unwrap_err();
    assert!(failure.to_string().ends_with("it is there already"));
    to_file(&path, Taken::Replace, write("three")).unwrap();
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert_eq!((text(&path).as_str(), text(&second).as_str()), ("three", "two"));
    let failed = to_file(&dir.path().join("new.md"), Taken::Refuse, |_| Err::<(), _>(Failure::new("no")));
    assert_eq!(failed.unwrap_err(), Failure::new("no"));
    assert!(!dir.path().join("new.md").exists());
}
