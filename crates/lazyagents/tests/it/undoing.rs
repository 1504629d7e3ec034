//! `history`, `undo` and the key z: what was done is listed, and comes back.

use testkit::{Home, Output, Pty};

use crate::cli::LAZYAGENTS;
use crate::deleting::tree;
use crate::history::{copy, fixtures};
use crate::terminal::quit;

fn run(home: &Home, args: &[&str]) -> Output {
    home.run(LAZYAGENTS, args)
}

fn used() -> Home {
    let home = Home::new();
    copy(&fixtures("claude_code"), &home.home());
    home
}

#[test]
fn a_deletion_is_in_the_history_and_is_undone_exactly() {
    let home = used();
    let before = tree(&home.home());
    assert_eq!(run(&home, &["history"]).ok().out(), "Nothing was changed yet.\n");
    assert_eq!(run(&home, &["history", "--json"]).ok().json(), serde_json::json!([]));
    let nothing = run(&home, &["undo"]);
    assert_eq!((nothing.code(), nothing.err().as_str()), (1, "lazyagents: there is nothing to undo\n"));
    let _ = run(&home, &["sessions", "delete", "a776f879", "--yes"]).ok();
    let _ = run(&home, &["sessions", "delete", "3d41b5bd", "--yes"]).ok();
    let rows = run(&home, &["history", "--json"]).ok().json();
    assert_eq!((&rows[0]["id"], &rows[1]["id"]), (&2.into(), &1.into()), "newest first");
    assert!(rows[0]["what"].as_str().unwrap().starts_with("delete claude-code:3d41b5bd-"), "{rows}");
    assert_eq!((&rows[0]["undone"], &rows[0]["can_undo"]), (&false.into(), &true.into()));
    assert!(rows[0]["paths"][0].as_str().unwrap().contains("3d41b5bd-"));
    let dry = run(&home, &["undo", "--dry-run", "--json"]).ok().json();
    assert_eq!((&dry["id"], &dry["undone"], &dry["files"][0]["verb"]), (&2.into(), &false.into(), &"restore".into()));
    let words = run(&home, &["undo", "1"]).ok();
    assert!(words.out().starts_with("undone: delete claude-code:a776f879-"), "{words}");
    let undone = run(&home, &["undo", "--json"]).ok().json();
    assert_eq!((&undone["id"], &undone["undone"], &undone["merged"]), (&2.into(), &true.into(), &false.into()));
    assert_eq!(tree(&home.home()), before);
    let rows = run(&home, &["history", "list", "--json", "--limit", "1"]).ok().json();
    assert_eq!(
        (rows.as_array().unwrap().len(), &rows[0]["undone"], &rows[0]["can_undo"]),
        (1, &true.into(), &false.into())
    );
    assert_eq!(run(&home, &["undo"]).code(), 1);
    let again = run(&home, &["history", "undo", "1"]);
    assert!(again.code() == 1 && again.err().contains("it is undone already"), "{again}");
    let unknown = run(&home, &["undo", "77"]);
    assert!(unknown.code() == 1 && unknown.err().contains("`lazyagents history` lists"), "{unknown}");
}

#[test]
fn what_took_its_place_is_not_overwritten() {
    let home = used();
    let _ = run(&home, &["sessions", "delete", "a776f879", "--yes"]).ok();
    let path = run(&home, &["history", "--json"]).ok().json()[0]["paths"][0].as_str().unwrap().to_owned();
    home.write(&path, "theirs\n");
    let refused = run(&home, &["undo", "--json"]);
    assert_eq!(refused.code(), 1, "{refused}");
    assert_eq!(refused.json()["changed_since"][0]["path"], path.as_str());
    let words = run(&home, &["undo"]);
    assert!(words.err().contains("nothing was changed"), "{words}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs\n");
}

#[test]
fn the_trash_lists_restores_and_is_emptied() {
    let home = used();
    let before = tree(&home.home());
    assert_eq!(run(&home, &["history", "trash"]).ok().out(), "The trash is empty.\n");
    let _ = run(&home, &["sessions", "delete", "a776f879", "3d41b5bd", "--yes"]).ok();
    let rows = run(&home, &["history", "trash", "--json"]).ok().json();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["kind"]), (2, &"session".into()));
    for row in rows.as_array().unwrap() {
        let _ = run(&home, &["history", "trash", "restore", row["id"].as_str().unwrap()]).ok();
    }
    assert_eq!(tree(&home.home()), before);
    let gone = run(&home, &["history", "--json"]).ok().json();
    assert_eq!(gone[0]["can_undo"], false, "it is back already");
    let _ = run(&home, &["sessions", "delete", "a776f879", "--yes"]).ok();
    let unasked = run(&home, &["history", "trash", "empty"]);
    assert!(unasked.code() == 1 && unasked.err().contains("agree with --yes"), "{unasked}");
    assert_eq!(run(&home, &["history", "trash", "empty", "--older", "3", "--yes"]).ok().out(), "Nothing to remove.\n");
    assert_eq!(run(&home, &["history", "trash", "empty", "--yes"]).ok().out(), "removed 1 entry\n");
    let lost = run(&home, &["undo", "3"]);
    assert!(lost.code() == 1 && lost.err().contains("could not undo 3"), "{lost}");
}

#[test]
fn z_shows_what_comes_back_and_brings_it_back() {
    let home = used();
    home.config("tui: {startTab: sessions}\n");
    let before = tree(&home.home().join(".claude"));
    let pty = Pty::spawn(LAZYAGENTS, &[], &home, 30, 110);
    pty.wait_text("Sessions 4");
    pty.send("z");
    pty.wait_text("there is nothing to undo");
    pty.send("d");
    pty.wait_text("Delete 1 session");
    pty.send("y");
    pty.wait_text("in the trash");
    pty.wait_text("Sessions 3");
    pty.send("z");
    pty.wait_text("Undo 1");
    pty.wait_text("files here and tell me");
    pty.send("y");
    pty.wait_text("undone: delete");
    pty.wait_text("Sessions 4");
    assert_eq!(tree(&home.home().join(".claude")), before);
    quit(&pty);
}
