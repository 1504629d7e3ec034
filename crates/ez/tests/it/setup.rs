//! The first start: what is offered, what `ez setup` changes, and that it can be run again.

use testkit::Pty;

use crate::{EZ, ez, home};

#[test]
fn the_first_bare_start_offers_setup_and_setup_can_be_repeated() {
    let mut home = home();
    home.write("src/x", "");
    home.write(".bashrc", "# mine");
    home.set_env("SHELL", "/bin/bash");
    let pty = Pty::spawn(EZ, &[], &home, 40, 100);
    pty.wait_text("Run ez setup now? [Y/n]");
    pty.send("y\r");
    pty.wait_text("[~/src]");
    pty.send("\r");
    pty.wait_text("Added root: ");
    pty.wait_text("[Y/n]");
    // The rest is declined at the end of input.
    for _ in 0..4 {
        pty.send("n\r");
    }
    pty.wait_exit(std::time::Duration::from_secs(10));
    assert_eq!(home.read(".bashrc"), "# mine", "declined");
    for _ in 0..2 {
        let _ = ez(&home, &["setup", "--yes"]).ok();
    }
    let file = home.read(".bashrc");
    assert_eq!(file, "# mine\neval \"$(ez init-shell bash)\"\n");
    let config = home.read(home.root().join("config/ez/config.toml"));
    assert_eq!(config.matches("/src").count(), 1, "{config}");
}

#[test]
fn a_script_is_not_asked() {
    let home = home();
    let told = ez(&home, &[]);
    assert!(told.err().contains("`ez setup`") && !told.err().contains("[Y/n]"), "{told}");
    assert!(!home.root().join("config/ez/config.toml").exists());
}
