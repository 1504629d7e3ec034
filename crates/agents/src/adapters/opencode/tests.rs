use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::adapters::proof::{Proof, proofs};
use crate::sessions::{Role, Said};

proofs!("opencode", "opencode", |session| {
    let recorded = &session["recorded"];
    let subagents = recorded.get("sub_agents").and_then(|list| list.as_array()).into_iter().flatten();
    std::iter::once(&recorded["main"]).chain(subagents).map(|part| &part["tokens"]).collect()
});

const PLACE: &str = ".local/share/opencode/opencode.db";

#[allow(clippy::unwrap_used, clippy::disallowed_methods)]
fn home() -> (Proof, tempfile::TempDir, Connection) {
    let proof = Proof::of("opencode", "opencode");
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(PLACE);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(proof.fixtures.join("home").join(PLACE), &path).unwrap();
    let writer = Connection::open(path).unwrap();
    writer.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    (proof, home, writer)
}

#[allow(clippy::unwrap_used)]
fn database(home: &Path) -> std::path::PathBuf {
    home.join(PLACE)
}

#[test]
fn a_fork_counts_its_copies_once() {
    let (proof, home, writer) = home();
    let before = proof.sum(home.path()).values().map(|sum| sum.tokens().total()).sum::<u64>();
    writer
        .execute_batch(
            "INSERT INTO session SELECT 'fork', project_id, workspace_id, parent_id, slug, directory, path, 'T (fork #1)', version,
               share_url, summary_additions, summary_deletions, summary_files, summary_diffs, metadata, cost, tokens_input,
               tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, revert, permission, agent, model,
               time_created, time_updated, time_compacting, 1796069586048 FROM session WHERE id = 'ses_dd1e90b80ffekTrY1mLLHPVBtb';
             INSERT INTO message SELECT 'copy' || id, 'fork', time_created, time_updated, data FROM message
               WHERE session_id = 'ses_dd1e90b80ffekTrY1mLLHPVBtb';",
        )
        .unwrap();
    let sums = proof.sum(home.path());
    assert_eq!(sums.len(), 5);
    assert_eq!(sums.values().map(|sum| sum.tokens().total()).sum::<u64>(), before);
    let facts = proof.read(&proof.sources(home.path())[0]);
    assert_eq!(facts.parts.iter().filter(|part| part.archived).count(), 1);
}

#[test]
fn subagents_of_subagents_belong_to_the_conversation() {
    let (proof, home, writer) = home();
    writer
        .execute_batch(
            "UPDATE session SET parent_id = 'ses_dd1e76369ffeHxThZQUZnaOQ34' WHERE id = 'ses_dd1e82a35ffeTwKd13zzwN1zP0';
             UPDATE session SET parent_id = 'gone' WHERE id = 'ses_dd1e90b80ffekTrY1mLLHPVBtb';",
        )
        .unwrap();
    let sums = proof.sum(home.path());
    assert_eq!(sums.len(), 2, "neither a sub-agent nor one whose parent is gone is a row");
    let root = &sums["ses_dd1e7862dffekwd7PAqyMMx6IS"];
    assert_eq!((root.subagents.len(), root.roles[&Role::Subagents].requests, root.prompts), (2, 2, 1));
    // A circle is no danger.
    writer.execute("UPDATE session SET parent_id = id WHERE id = 'ses_dd1e90b80ffekTrY1mLLHPVBtb'", []).unwrap();
    assert_eq!(proof.sum(home.path()).len(), 3);
}

#[test]
fn rows_that_cannot_be_read_are_counted_and_left_out() {
    let (proof, home, writer) = home();
    writer
        .execute_batch(
            "UPDATE message SET data = '{' WHERE id = 'msg_22e170a390018cnMzh0t90U2Zo';
             UPDATE part SET data = x'ff00' WHERE message_id = 'msg_22e174db2001oR4GRyEw4pqbD4';",
        )
        .unwrap();
    let facts = proof.read(&proof.sources(home.path())[0]);
    assert_eq!(facts.skipped.iter().map(|skip| skip.lines).sum::<u64>(), 2);
    assert_eq!(facts.parts.len(), 4);
}

#[test]
fn an_older_database_without_some_columns_is_read() {
    let (proof, home, writer) = home();
    writer.execute_batch("ALTER TABLE session DROP COLUMN time_archived; DROP INDEX part_message_id_id_idx;").unwrap();
    assert_eq!(proof.sum(home.path()).len(), 4);
    writer.execute_batch("DROP TABLE message").unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let why = proof.reads().read_whole(&proof.sources(home.path())[0], scratch.path()).unwrap_err();
    assert!(why.contains("the database cannot be read"), "{why}");
}

#[test]
fn what_a_running_program_wrote_is_told_and_its_folder_left_alone() {
    let (proof, home, writer) = home();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    let path = database(home.path());
    let before = proof.sources(home.path())[0].clone();
    writer
        .execute_batch(
            "PRAGMA wal_autocheckpoint = 0;
             UPDATE part SET data = '{\"type\":\"text\",\"text\":\"only in the log\"}' WHERE message_id = 'msg_22e16f698001ZUHtYDYtW54WEw';",
        )
        .unwrap();
    let names = || fs::read_dir(path.parent().unwrap()).unwrap().count();
    let (files, source) = (names(), proof.sources(home.path())[0].clone());
    assert!(source.size > before.size, "the log is part of the source");
    let told = proof.told(&source, "ses_dd1e90b80ffekTrY1mLLHPVBtb", 0);
    assert_eq!(told[0].said, Said::Text("only in the log".to_owned()));
    assert_eq!(names(), files);
}

#[test]
fn the_variables_of_the_program_move_the_database() {
    let (proof, home, _) = home();
    let other = tempfile::tempdir().unwrap();
    let path = database(home.path());
    let found = |name, value: &Path| proof.sources_with(other.path(), &[(name, value.to_str().unwrap())]).len();
    assert_eq!(found("OPENCODE_DB", &path), 1);
    assert_eq!(found("XDG_DATA_HOME", &home.path().join(".local/share")), 1);
    assert_eq!(found("OPENCODE_DB", other.path()), 0);
}
