//! Starting, ending and coming back of a plugin (clauses B, D, L, R).

use serde_json::Value;
use testkit::Home;

use crate::cli::LAZYAGENTS;
use crate::terminal::{open, open_with, quit};

#[test]
fn b4_b6_b9_r2_r3_a_plugin_that_ended_is_restarted_by_reload() {
    let home = Home::new();
    let misfit = home.misfit("hello", "stderr:200:exit:on-key");
    let pty = open(&home);
    pty.wait_text("ready hello");
    misfit.wait_message("agents", |_| true, "the agents");
    pty.send("k");
    let screen = pty.wait_text("stderr end");
    assert!(screen.has("exit code 1") && screen.has("could not go on") && !screen.has("ready hello"), "{screen}");
    assert!(screen.line(0).contains("hello") && !screen.line(0).contains("Misfit"), "{screen}");
    misfit.behave("good");
    pty.send(":reload\r");
    pty.wait_text("ready hello");
    assert_eq!(misfit.started("serve").len(), 2);
    misfit.wait_message("agents", |_| misfit.messages("agents").len() == 2, "the agents again");
    let kinds: Vec<String> = misfit
        .received()
        .iter()
        .filter_map(|line| Some(serde_json::from_str::<Value>(line).ok()?["type"].as_str()?.to_owned()))
        .collect();
    let second = kinds.iter().rposition(|kind| kind == "init").unwrap();
    assert_eq!(kinds[second..second + 2], ["init", "agents"], "nothing of the old run is replayed");
    quit(&pty);
}

#[test]
fn r1_reload_of_a_living_plugin_restarts_nothing() {
    let (_home, misfit, pty) = open_with("good");
    pty.send(":reload\r");
    pty.wait_text("reloads 1");
    assert_eq!(misfit.started("serve").len(), 1);
    quit(&pty);
}

#[test]
fn l1_l3_quitting_closes_stdin_and_a_plugin_leads_its_own_group() {
    let (_home, misfit, pty) = open_with("good");
    let pid = misfit.wait_serve(1);
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    if let Some((_, rest)) = stat.rsplit_once(") ") {
        let fields: Vec<&str> = rest.split(' ').collect();
        assert_eq!((fields[2], fields[3]), (pid.to_string().as_str(), pty.pid().to_string().as_str()));
    }
    quit(&pty);
    assert_eq!(misfit.wait_end(), "EOF", "a plugin can end by itself before the signal");
}

#[test]
fn d8_a_hidden_plugin_is_not_started() {
    let home = Home::new();
    home.config("tui: { hidden: [secret, sessions, usage], startTab: seen }\n");
    let (secret, _seen) = (home.misfit("secret", "good"), home.misfit("seen", "good"));
    let pty = open(&home);
    pty.wait_text("ready seen");
    assert!(!pty.screen().line(0).contains("secret"));
    quit(&pty);
    assert!(secret.started("serve").is_empty());
}

#[test]
fn y1_the_shipped_example_works() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/plugins/lazyagents/hello");
    let mut home = Home::new();
    home.set_env("VISUAL", "true");
    home.config("hello: { greeting: Bom dia }\ntui: { startTab: hello }\n");
    home.plugin("hello", &std::fs::read_to_string(example).unwrap());
    let pty = open(&home);
    pty.wait_text("Bom dia");
    pty.send("x");
    pty.wait_text("keys so far: 1");
    pty.resize(30, 100);
    pty.wait_text("this tab: 98 x 27");
    pty.send(":hello date\r");
    pty.wait_for(|screen| screen.has("date: ") && screen.has(":"), "the date");
    pty.send("i");
    pty.wait_text("every key comes here now");
    pty.send("q?\x1b");
    pty.wait_gone("every key comes here now");
    quit(&pty);
    assert_eq!(home.run(LAZYAGENTS, &["doctor"]).code(), 0);
    let lines = b"{\"type\":\"init\",\"protocol\":1,\"width\":80,\"height\":24}\n{\"type\":\"key\",\"key\":\"x\"}\n";
    let alone = testkit::run(home.plugins().join("hello"), &["serve"], &home, lines).ok();
    assert!(alone.out().lines().count() >= 2 && alone.out().contains("keys so far: 1"), "{alone}");
}
