//! Plugins that misbehave, one at a time beside one that does not: the host says what is wrong on the tab of the one,
//! the other one's tab goes on, and nothing is left running.

use testkit::{Home, Misfit, Pty};

use crate::terminal::{open, quit, wait_gone};

struct Pair {
    _home: Home,
    good: Misfit,
    odd: Misfit,
    pty: Pty,
}

/// Opens on the tab of the good one; `2` is the tab of the other.
fn pair(orders: &str) -> Pair {
    let home = Home::new();
    let (good, odd) = (home.misfit("good", "good"), home.misfit("odd", orders));
    let pty = open(&home);
    pty.wait_text("ready good");
    Pair { _home: home, good, odd, pty }
}

impl Pair {
    /// A key on the good one's tab is answered.
    #[track_caller]
    fn good_answers(&self, key: &str) {
        self.pty.send("1");
        self.pty.wait_text("ready good");
        self.pty.send(key);
        self.good.wait_message("key", |message| message["key"] == key, &format!("the key {key}"));
        self.pty.wait_text(&format!("keys {}", self.good.messages("key").len()));
    }

    /// The good one still answers, everything ends, nothing is left.
    #[track_caller]
    fn end(self) {
        self.good_answers("z");
        assert_eq!(self.good.started("serve").len(), 1, "the good one was not touched");
        let pids: Vec<u32> = [self.good.started("serve"), self.odd.started("serve"), self.odd.children()].concat();
        quit(&self.pty);
        wait_gone(&pids);
    }
}

/// The tab of the odd one shows this text.
#[track_caller]
fn shows(orders: &str, text: &str) {
    let pair = pair(orders);
    pair.good_answers("a");
    pair.pty.send("2");
    pair.pty.wait_text(text);
    pair.end();
}

macro_rules! cases {
    ($($name:ident: $orders:expr => $text:expr;)*) => {
        $(
            #[test]
            fn $name() {
                shows($orders, $text);
            }
        )*
    };
}

cases! {
    n1_silent: "silent" => "no manifest within 3s";
    n1_late_but_in_time: "late:1500" => "ready odd";
    n1_too_late: "late:4000" => "no manifest within 3s";
    n1_frame_first: "frame-first" => "first message must be manifest, got \"frame\"";
    b1_junk: "junk" => "not JSON";
    b1_junk_first: "junk:first" => "not JSON";
    b2_empty_type: "empty-type" => "empty \"type\"";
    b2_array: "array" => "could not go on";
    b3_line_too_long: "longline:1048577" => "1 MiB";
    b3_line_without_end: "longline-endless" => "1 MiB";
    b4_exit_zero: "exit:0" => "exit code 0";
    b4_exit: "exit:3" => "exit code 3";
    b4_exit_first: "exit:3:0:first" => "before its manifest";
    b4_signal: "signal:9" => "SIGKILL";
    b4_segfault: "signal:11" => "SIGSEGV";
    b6_stderr_of_a_living_one_is_not_shown: "stderr:100000" => "ready odd";
    w1_half_a_line_waits_for_the_rest: "half:300" => "both halves";
    w4_a_deep_field: "deep:100" => "deep";
    w4_a_very_deep_field: "deep" => "deep";
    s_escapes: "escapes" => "open unclosed";
    e_bomb: "exec-bomb:100" => "results 100";
    e_not_found: "exec:/no/such/program" => "results 1";
    plain: "plain" => "ready odd";
}

#[test]
fn w5_what_is_not_utf8_and_lone_surrogates_are_replaced() {
    for (orders, start, end) in [("badutf8", "bad", "bytes"), ("surrogates", "lone", "here")] {
        let pair = pair(orders);
        pair.pty.send("2");
        pair.pty.wait_for(|screen| screen.line(2).contains(start) && screen.line(2).contains(end), start);
        // The emulator does not show this character, so it is looked for in what was written.
        pair.pty.wait_raw("\u{fffd}", 0);
        pair.end();
    }
}

#[test]
fn b6_the_last_4_kib_of_stderr_can_be_read_to_the_end() {
    let pair = pair("stderr:100000:exit");
    pair.pty.send("2");
    pair.pty.wait_text("last lines of stderr");
    pair.pty.send("G");
    let screen = pair.pty.wait_text("stderr end");
    assert!(!screen.has("exit code 1"), "{screen}");
    pair.pty.send("g");
    let screen = pair.pty.wait_text("exit code 1");
    assert!(!screen.has("stderr line 000001"), "{screen}");
    // The whole of it is in the log.
    pair.pty.send("\r");
    pair.pty.wait_text("odd.log");
    pair.pty.send("g");
    pair.pty.wait_text("stderr line 000001");
    pair.pty.send("\x1b");
    pair.pty.wait_gone("odd.log");
    pair.end();
}

#[test]
fn w3_the_longest_line_that_is_allowed() {
    let pair = pair("longline:1048576:on-key");
    pair.pty.send("2");
    pair.pty.wait_text("ready odd");
    pair.pty.send("k");
    pair.pty.wait_text("keys 1");
    pair.end();
}

#[test]
fn w1_half_a_line_for_ever_holds_up_nobody() {
    let pair = pair("half");
    pair.pty.send("2");
    pair.pty.wait_text("ready odd");
    pair.pty.send("k");
    pair.end();
}

#[test]
fn f3_a_flood_delays_no_keys_and_its_last_frame_is_shown() {
    let pair = pair("flood:0:20000");
    for key in ["a", "b", "c"] {
        pair.good_answers(key);
    }
    pair.pty.send("2");
    pair.pty.wait_text("flood done 20000");
    pair.end();
}

#[test]
fn f3_a_flood_on_the_active_tab_delays_no_keys() {
    let pair = pair("flood:2000:100000");
    pair.pty.send("2");
    pair.pty.wait_text("flood ");
    pair.pty.send("k");
    pair.odd.wait_message("key", |key| key["key"] == "k", "the key");
    pair.pty.wait_text("keys 1");
    pair.end();
}

#[test]
fn b8_one_that_does_not_read_is_stopped_and_nobody_waits() {
    let pair = pair("noread");
    pair.pty.send("2");
    // More than a pipe holds, and then more messages than the queue holds.
    let fill = format!("\x1b[200~{}\x1b[201~", "p".repeat(100_000));
    for _ in 0..3 {
        pair.pty.send(&fill);
    }
    pair.pty.send("k".repeat(300));
    pair.pty.wait_text("does not read stdin");
    pair.end();
}

#[test]
fn n1_b1_failures_at_the_first_key() {
    for (orders, text) in
        [("junk:on-key", "not JSON"), ("exit:7:on-key", "exit code 7"), ("array:on-key", "could not go on")]
    {
        let pair = pair(orders);
        pair.pty.send("2");
        pair.pty.wait_text("ready odd");
        pair.pty.send("k");
        pair.pty.wait_text(text);
        pair.end();
    }
}

#[test]
fn b7_a_failure_elsewhere_is_said_and_the_tab_stays_where_it_is() {
    let pair = pair("exit:3:1500");
    pair.pty.wait_text("odd could not go on");
    assert!(pair.pty.screen().has("ready good"));
    pair.end();
}

#[test]
fn l_deaf_ones_are_killed() {
    for orders in ["ignore-term-eof", "grandchild"] {
        pair(orders).end();
    }
}

#[test]
fn twenty_odd_ones_at_once() {
    let home = Home::new();
    let good = home.misfit("a-good", "good");
    let odd = [
        "silent",
        "junk",
        "array",
        "exit:0",
        "exit:1:first",
        "signal:9",
        "longline-endless",
        "half",
        "flood:0:5000",
        "noread",
        "ignore-term-eof",
        "grandchild",
        "stderr:200000:exit",
        "badutf8",
        "surrogates",
        "deep",
        "escapes",
        "exec-bomb:50",
        "late:2000",
        "frame-first",
    ];
    let odd: Vec<Misfit> = odd.iter().enumerate().map(|(n, orders)| home.misfit(&format!("p{n:02}"), orders)).collect();
    let pty = open(&home);
    pty.wait_text("ready a-good");
    for misfit in &odd {
        misfit.wait_serve(1);
    }
    pty.send("k");
    good.wait_message("key", |_| true, "the key");
    pty.wait_text("keys 1");
    let pids: Vec<u32> = odd.iter().flat_map(|misfit| [misfit.started("serve"), misfit.children()].concat()).collect();
    quit(&pty);
    wait_gone(&pids);
}
