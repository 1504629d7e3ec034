//! Homes: what is in them, and what of the machine is not. Nothing here needs a terminal.

use testkit::{Home, run};

#[test]
fn the_environment_is_the_homes_and_nothing_else() {
    let home = Home::new();
    let output = run("/usr/bin/env", &[], &home, b"").ok();
    let mut names: Vec<String> =
        output.out().lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect();
    names.sort();
    let mut expected: Vec<String> = home.env().keys().cloned().collect();
    expected.sort();
    assert_eq!(names, expected);
    assert!(output.out().contains("PATH=$ROOT/bin:/usr/bin:/bin\n"), "{output}");
    assert!(output.out().contains("XDG_CONFIG_HOME=$ROOT/config\n"), "{output}");
}

#[test]
fn plugins_and_programs_are_executable_and_programs_are_found() {
    let home = Home::new();
    home.program("greet", "#!/bin/sh\necho \"hello $1\"\n");
    assert_eq!(run("greet", &["you"], &home, b"").ok().out(), "hello you\n");
    let plugin = home.plugin("say.sh", "#!/bin/sh\nexit 4\n");
    assert_eq!(plugin, home.config_dir().join("plugins/say.sh"));
    assert_eq!(run(&plugin, &[], &home, b"").code(), 4);
    home.plugin("say.sh", "#!/bin/sh\nexit 5\n");
    assert_eq!(run(&plugin, &[], &home, b"").code(), 5, "the second text replaces the first");
}

#[test]
fn files_are_written_below_the_home() {
    let home = Home::new();
    let path = home.write(".claude/settings.json", "{}\n");
    assert_eq!(path, home.home().join(".claude/settings.json"));
    assert_eq!(home.read(".claude/settings.json"), "{}\n");
    home.config("theme: midnight\n");
    assert_eq!(home.read(home.config_dir().join("config.yaml")), "theme: midnight\n");
}

#[test]
#[should_panic(expected = "outside of the temporary home")]
fn files_outside_of_the_home_are_refused() {
    Home::new().write("/nowhere/file", "");
}

#[test]
fn git_knows_no_config_of_the_machine() {
    if !testkit::needs("git") {
        return;
    }
    let home = Home::new();
    assert!(home.link("git"));
    let output = run("git", &["config", "--list"], &home, b"").ok();
    assert_eq!(output.out(), "");
}

#[test]
fn many_threads_can_write_and_start_programs_at_once() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let home = Home::new();
                for n in 0..20 {
                    let program = home.program("p", &format!("#!/bin/sh\necho {thread} {n}\n"));
                    assert_eq!(run(program, &[], &home, b"").ok().out(), format!("{thread} {n}\n"));
                }
            });
        }
    });
}
