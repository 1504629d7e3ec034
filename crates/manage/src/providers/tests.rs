#![allow(clippy::disallowed_methods)] // the world outside

use std::fs;

use proptest::prelude::*;
use sys::Env;
use sys::files::journal::{Undone, Way};

use super::*;
use crate::desk::{Desk as Table, Done};

struct World {
    dir: tempfile::TempDir,
}

#[allow(clippy::unwrap_used)]
impl World {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    fn around(&self) -> Surroundings {
        let mut env = Env::empty();
        env.set("HOME", self.dir.path().as_os_str());
        Surroundings::of(&env).unwrap()
    }

    fn store(&self) -> Store {
        Store::of(&self.path("config"), &self.path("data"))
    }

    fn table(&self) -> Table {
        Table::of(&self.path("data"), "a test")
    }

    fn apply(&self, profile: &Profile, agent: &str) -> Result<Done, Failure> {
        let adapters = named(&[agent.to_owned()]).unwrap();
        self.table().apply(&mut || plan_apply(&self.store(), profile, &adapters, &self.around()))
    }

    fn clear(&self, agent: &str) -> (Done, Vec<Left>) {
        let adapters = named(&[agent.to_owned()]).unwrap();
        let mut left = Vec::new();
        let done = self.table().apply(&mut || {
            let (plan, stays) = plan_clear(&self.store(), &adapters, &self.around())?;
            left = stays;
            Ok(plan)
        });
        (done.unwrap(), left)
    }

    fn cell(&self, profile: &Profile, agent: &str) -> Cell {
        let adapter = agents::adapter::by_id(agent).unwrap();
        let applied = Applied::load(&self.store().applied).unwrap();
        states(adapter, &self.around(), std::slice::from_ref(profile), &applied).cells[0]
    }

    /// Every file below the home but ours.
    fn files(&self) -> Vec<(PathBuf, String)> {
        let mut all = Vec::new();
        let mut folders = vec![self.dir.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.path().is_dir() {
                    if !entry.path().ends_with("data") && !entry.path().ends_with("config") {
                        folders.push(entry.path());
                    }
                } else {
                    all.push((entry.path(), fs::read_to_string(entry.path()).unwrap()));
                }
            }
        }
        all.sort();
        all
    }
}

fn profile(name: &str) -> Profile {
    Profile {
        name: name.to_owned(),
        base_url: Some(format!("https://{name}.example/v1")),
        model: Some(format!("{name}-model")),
        ..Profile::default()
    }
}

fn with_token(name: &str) -> Profile {
    Profile { token: Some(format!("token-of-{name}")), ..profile(name) }
}

/// What each agent's settings hold before: other people's keys, comments, odd spaces.
const SETTINGS: [(&str, &str, &str); 10] = [
    (
        "claude-code",
        ".claude/settings.json",
        "{\n  \"hooks\": {\"Stop\": []},\n  \"enabledPlugins\": {\"a\": true},\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"],},\n  \"statusLine\": {\"type\": \"command\"},\n  \"zzz\": 1\n}\n",
    ),
    ("claude-code", ".claude/settings.json", "{\"env\":{\"A\":\"1\",},}"),
    ("claude-code", ".claude/settings.json", "\u{feff}{\r\n\t\"env\": {},\r\n}\r\n"),
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel = \"o9\" # the big one\n\n[mcp_servers.x]\nurl = \"http://x\"\nenv = { A = \"1\" }\n[a]\nb.c = 1\n",
    ),
    ("codex", ".codex/config.toml", "[model_providers.other]\nname = \"x\"\nbase_url = \"http://o\"\n"),
    (
        "gemini-cli",
        ".gemini/settings.json",
        "{\n    // theirs\n    \"security\": {\"auth\": {\"selectedType\": \"oauth\"}}\n}",
    ),
    ("qwen-code", ".qwen/settings.json", "{\"model\": {\"name\": \"q\"}, \"env\": {\"B\": \"2\"}}\n"),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\n  \"$schema\": \"x\",\n  \"provider\": {\"other\": {\"npm\": \"y\"}}\n}\n",
    ),
    ("pi", ".pi/agent/models.json", "{\"providers\": {\"ollama\": {\"baseUrl\": \"http://l\"}}}"),
    ("pi", ".pi/agent/settings.json", "{\"defaultProvider\": \"anthropic\", \"defaultModel\": \"m\"}\n"),
];

fn fit(name: &str, agent: &str) -> Profile {
    match agent {
        "codex" => Profile { env_key: Some("THE_TOKEN".to_owned()), ..profile(name) },
        _ => with_token(name),
    }
}

#[test]
fn one_then_another_then_none_gives_back_the_first_bytes() {
    for (agent, file, text) in SETTINGS.into_iter().chain([
        ("claude-code", "", ""),
        ("codex", "", ""),
        ("gemini-cli", "", ""),
        ("qwen-code", "", ""),
        ("opencode", "", ""),
        ("pi", "", ""),
    ]) {
        let world = World::new();
        if !file.is_empty() {
            world.file(file, text);
        }
        let before = world.files();
        let (a, b) = (fit("aaa", agent), fit("bbb", agent));
        world.apply(&a, agent).unwrap();
        assert_eq!((world.cell(&a, agent), world.cell(&b, agent)), (Cell::Applied, Cell::Off), "{agent}");
        assert_ne!(world.files(), before);
        let with_a = world.files();
        let done = world.apply(&b, agent).unwrap();
        assert_eq!((world.cell(&a, agent), world.cell(&b, agent)), (Cell::Off, Cell::Applied), "{agent}");
        assert_eq!(world.apply(&b, agent).unwrap().id, None, "{agent}: nothing to change the second time");
        // An undo goes back to the first.
        let mut open = world.table().journal().open("a test").unwrap();
        assert_eq!(open.undo(done.id.unwrap(), Way::Exact, &mut |_, _, _| Ok(())).unwrap(), Undone::Exactly);
        drop(open);
        assert_eq!(world.files(), with_a, "{agent}");
        assert_eq!(world.cell(&a, agent), Cell::Applied);
        world.apply(&b, agent).unwrap();
        let (_, left) = world.clear(agent);
        assert_eq!(left, []);
        assert_eq!(world.files(), before, "{agent} {file}");
        assert_eq!((world.cell(&a, agent), world.cell(&b, agent)), (Cell::Off, Cell::Off));
        assert_eq!(world.clear(agent).0.id, None, "a second clear has nothing to do");
    }
}

#[test]
fn profiles_of_different_parts_leave_no_trace_either() {
    let world = World::new();
    world.file(".claude/settings.json", "{\n  \"zzz\": 1\n}\n");
    let (url, model) = (Profile { model: None, ..with_token("aaa") }, Profile { base_url: None, ..profile("bbb") });
    world.apply(&url, "claude-code").unwrap();
    world.apply(&model, "claude-code").unwrap();
    let text = world.text(".claude/settings.json").unwrap();
    assert!(text.contains("bbb-model") && !text.contains("aaa"), "{text}");
    world.clear("claude-code");
    assert_eq!(world.text(".claude/settings.json").unwrap(), "{\n  \"zzz\": 1\n}\n");
}

#[test]
fn a_value_of_the_person_comes_back_and_one_changed_since_stays() {
    let world = World::new();
    let mine = "{\"env\": {\"ANTHROPIC_BASE_URL\": \"https://mine\", \"ANTHROPIC_MODEL\": \"mine\"}}\n";
    world.file(".claude/settings.json", mine);
    world.apply(&with_token("aaa"), "claude-code").unwrap();
    world.clear("claude-code");
    assert_eq!(world.text(".claude/settings.json").unwrap(), mine);
    world.apply(&with_token("aaa"), "claude-code").unwrap();
    let text = world.text(".claude/settings.json").unwrap();
    world.file(".claude/settings.json", &text.replace("https://aaa.example/v1", "https://by.hand"));
    assert_eq!(world.cell(&with_token("aaa"), "claude-code"), Cell::Changed);
    let (_, left) = world.clear("claude-code");
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].at, "env.ANTHROPIC_BASE_URL");
    let text = world.text(".claude/settings.json").unwrap();
    assert_eq!(text, mine.replace("https://mine", "https://by.hand"));
}

#[test]
fn what_stands_there_already_is_the_persons_own() {
    let world = World::new();
    let mine = "{\"env\": {\"ANTHROPIC_BASE_URL\": \"https://aaa.example/v1\"}}\n";
    world.file(".claude/settings.json", mine);
    world.apply(&profile("aaa"), "claude-code").unwrap();
    world.clear("claude-code");
    assert_eq!(world.text(".claude/settings.json").unwrap(), mine);
}

#[test]
fn a_token_of_the_persons_own_does_not_go_to_the_endpoint_of_a_profile() {
    let world = World::new();
    let mine = "{\"env\": {\"ANTHROPIC_AUTH_TOKEN\": \"mine\", \"Z\": \"1\"}}\n";
    world.file(".claude/settings.json", mine);
    let one = Profile { env_key: Some("THE_TOKEN".to_owned()), ..profile("aaa") };
    world.apply(&one, "claude-code").unwrap();
    let text = world.text(".claude/settings.json").unwrap();
    assert!(text.contains("\"ANTHROPIC_AUTH_TOKEN\": \"\"") && !text.contains("ANTHROPIC_API_KEY"), "{text}");
    assert_eq!(world.cell(&one, "claude-code"), Cell::Applied);
    assert!(world.apply(&one, "claude-code").unwrap().id.is_none());
    world.clear("claude-code");
    assert_eq!(world.text(".claude/settings.json").unwrap(), mine);
}

#[test]
fn a_file_with_a_token_is_found_wherever_an_agent_is_started() {
    let world = World::new();
    let one = Profile { token_file: Some("~/it's here".into()), ..profile("aaa") };
    let home = world.around().home().to_path_buf();
    let path = home.join("it's here").display().to_string();
    let printed = format!("cat -- '{}'", path.replace('\'', r"'\\''"));
    for (agent, file, wanted) in [
        ("claude-code", ".claude/settings.json", printed.clone()),
        ("pi", ".pi/agent/models.json", format!("!{printed}")),
        ("opencode", ".config/opencode/opencode.json", format!("{{file:{path}}}")),
    ] {
        world.apply(&one, agent).unwrap();
        let text = world.text(file).unwrap();
        assert!(text.contains(&format!("\"{wanted}\"")), "{agent}: {text}");
    }
    let odd = Profile { token_file: Some("tok".into()), ..profile("aaa") };
    assert!(odd.check().unwrap_err().hints()[0].contains("begin with / or ~/"));
}

#[test]
fn a_profile_that_says_less_than_the_one_in_use_is_not_in_use() {
    let world = World::new();
    let more = with_token("aaa");
    let less = Profile { name: "less".to_owned(), token: None, ..more.clone() };
    world.apply(&more, "claude-code").unwrap();
    let adapter = agents::adapter::by_id("claude-code").unwrap();
    let applied = Applied::load(&world.store().applied).unwrap();
    let state = states(adapter, &world.around(), &[less.clone(), more.clone()], &applied);
    assert_eq!(state.cells, [Cell::Off, Cell::Applied]);
    let debug = format!("{more:?} {:?}", more.wanted());
    assert!(!debug.contains("token-of-aaa"), "{debug}");
}

#[test]
fn keys_that_others_add_beside_ours_stay() {
    let world = World::new();
    world.apply(&with_token("aaa"), "claude-code").unwrap();
    let text = world.text(".claude/settings.json").unwrap();
    world.file(".claude/settings.json", &text.replace("\"env\": {", "\"env\": {\n    \"THEIRS\": \"1\","));
    world.clear("claude-code");
    let value: serde_json::Value = serde_json::from_str(&world.text(".claude/settings.json").unwrap()).unwrap();
    assert_eq!(value, serde_json::json!({"env": {"THEIRS": "1"}}));
}

#[test]
fn a_token_makes_the_file_its_owners_and_is_never_remembered() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let path = world.file(".claude/settings.json", "{}");
    world.apply(&with_token("aaa"), "claude-code").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let ours = fs::read_to_string(world.store().applied).unwrap();
    assert!(!ours.contains("token-of-aaa"), "{ours}");
    let shown = world.apply(&with_token("bbb"), "claude-code").unwrap();
    let shown = format!("{:?}", shown.view);
    assert!(!shown.contains("token-of-"), "{shown}");
}

#[test]
fn a_token_is_never_written_where_the_agent_takes_a_variable() {
    let world = World::new();
    let refused = world.apply(&with_token("aaa"), "codex").unwrap_err();
    assert!(refused.to_string().contains("only from an environment variable"), "{refused}");
    assert!(!world.path(".codex").exists());
    world.apply(&fit("aaa", "codex"), "codex").unwrap();
    let text = world.text(".codex/config.toml").unwrap();
    assert!(text.contains("env_key = \"THE_TOKEN\""), "{text}");
    let refused = world.apply(&with_token("aaa"), "copilot").unwrap_err();
    assert!(refused.to_string().contains("`lazyagents provider run`"), "{refused}");
}

#[test]
fn all_or_none_of_several_agents() {
    let world = World::new();
    let adapters = named(&["claude-code".to_owned(), "codex".to_owned()]).unwrap();
    let plan = plan_apply(&world.store(), &with_token("aaa"), &adapters, &world.around());
    assert!(plan.is_err());
    assert!(world.files().is_empty());
}

#[test]
fn what_no_endpoint_has_is_refused_with_its_place() {
    let bad = |change: &dyn Fn(&mut Profile)| {
        let mut profile = profile("aaa");
        change(&mut profile);
        profile.check().unwrap_err().to_string()
    };
    let said = bad(&|profile| profile.base_url = Some("https://“x”".to_owned()));
    assert!(said.contains("baseUrl") && said.contains("character 9"), "{said}");
    assert!(bad(&|profile| profile.base_url = Some("ftp://x".to_owned())).contains("no base URL"));
    assert!(bad(&|profile| profile.env_key = Some("sk-123".to_owned())).contains("no name of a variable"));
    assert!(bad(&|profile| profile.wire_api = Some("smtp".to_owned())).contains("no wire API"));
    assert!(bad(&|profile| profile.name = "../x".to_owned()).contains("no name for a profile"));
    assert!(bad(&|profile| profile.token = Some("a\u{1b}b".to_owned())).contains("token cannot be written"));
}

#[test]
fn profiles_are_added_changed_and_removed_and_unknown_keys_stay() {
    let world = World::new();
    let add = |profile: &Profile, replace| world.table().apply(&mut || plan_add(&world.store(), profile, replace));
    add(&with_token("aaa"), false).unwrap();
    add(&profile("bbb"), false).unwrap();
    assert!(add(&profile("bbb"), false).unwrap_err().to_string().contains("already"));
    let text = world.text("config/providers.json").unwrap();
    world.file("config/providers.json", &text.replace("\"name\": \"bbb\"", "\"name\": \"bbb\",\n      \"theirs\": 1"));
    add(&with_token("bbb"), true).unwrap();
    let profiles = Profiles::load(&world.store().profiles).unwrap();
    assert_eq!(profiles.list, [with_token("aaa"), with_token("bbb")]);
    assert!(world.text("config/providers.json").unwrap().contains("theirs"));
    world.table().apply(&mut || plan_rm(&world.store(), "aaa")).unwrap();
    assert_eq!(Profiles::load(&world.store().profiles).unwrap().list, [with_token("bbb")]);
    assert!(plan_rm(&world.store(), "aaa").is_err());
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(world.store().profiles).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_token_comes_from_where_the_profile_says() {
    let world = World::new();
    let mut env = Env::empty();
    env.set("PATH", "/usr/bin:/bin").set("THE_TOKEN", "from-env");
    let get = |profile: &Profile| token_of(profile, &env, world.dir.path()).map(|wanted| wanted.token);
    let literal = |text: &str| Ok(agents::provider::Token::Literal(text.to_owned()));
    let one = |change: &dyn Fn(&mut Profile)| {
        let mut profile = profile("aaa");
        change(&mut profile);
        profile
    };
    assert_eq!(get(&one(&|p| p.env_key = Some("THE_TOKEN".to_owned()))), literal("from-env"));
    assert_eq!(get(&one(&|p| p.token_command = Some("echo from-command".to_owned()))), literal("from-command"));
    world.file("secret", "from-file\n");
    assert_eq!(get(&one(&|p| p.token_file = Some("~/secret".into()))), literal("from-file"));
    let said = get(&one(&|p| p.token_command = Some("echo hush-hush; exit 3".to_owned()))).unwrap_err();
    assert!(!said.to_string().replace("`echo hush-hush; exit 3`", "").contains("hush"), "{said}");
    assert!(get(&one(&|p| p.env_key = Some("NOT_SET".to_owned()))).is_err());
    assert!(get(&one(&|p| p.token_command = Some("printf 'a\\nb'".to_owned()))).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever Claude Code's settings hold: apply and clear give back the very bytes.
    #[test]
    fn apply_then_clear_is_identity(
        keys in prop::collection::btree_map("env|a|[b-d]{1,3}", prop_oneof![
            Just(serde_json::json!({})),
            Just(serde_json::json!({"A": "1"})),
            Just(serde_json::json!({"ANTHROPIC_MODEL": "mine", "B": "2"})),
        ], 0..4),
        pretty: bool, token: bool, model: bool,
    ) {
        let world = World::new();
        let text = if pretty { serde_json::to_string_pretty(&keys) } else { serde_json::to_string(&keys) }.unwrap();
        world.file(".claude/settings.json", &text);
        let mut profile = if token { with_token("aaa") } else { profile("aaa") };
        if !model {
            profile.model = None;
        }
        world.apply(&profile, "claude-code").unwrap();
        world.clear("claude-code");
        prop_assert_eq!(world.text(".claude/settings.json").unwrap(), text);
    }
}
