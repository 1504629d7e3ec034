//! The tables of the decoder: which bytes give which name (clauses K1 to K4, P1, X1, X2), what is swallowed,
//! and that neither splitting nor garbage changes or breaks anything.

use proptest::prelude::*;

use super::*;

/// Decodes one read and what a flush adds.
fn read(bytes: &[u8]) -> Vec<Input> {
    fuzz::decode(bytes, &[])
}

/// One line: names of keys, other inputs in short.
fn show(inputs: &[Input]) -> String {
    let words = inputs.iter().map(|input| match input {
        Input::Key(key) => key.name(),
        Input::Paste(text) => format!("paste:{text}"),
        Input::Mouse(mouse) => {
            let what = format!("{:?}", mouse.kind).to_lowercase();
            let what = what.split('(').next().unwrap_or_default();
            format!("{what}:{}@{},{}", mouse.button_name(), mouse.x, mouse.y)
        }
        Input::Focus(true) => "focus".to_owned(),
        Input::Focus(false) => "blur".to_owned(),
        Input::Reply(Reply::KittyFlags(flags)) => format!("kitty={flags}"),
        Input::Reply(Reply::Background { r, g, b }) => format!("bg={r:02x}{g:02x}{b:02x}"),
        Input::Reply(Reply::Other) => "reply".to_owned(),
        Input::Closed => "closed".to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn check(cases: &[(&str, &str)]) {
    for (bytes, expected) in cases {
        assert_eq!(show(&read(bytes.as_bytes())), *expected, "{bytes:?}");
    }
}

#[test]
fn typed_characters() {
    check(&[
        ("aA!?:~", "a A ! ? : ~"),
        (" ", "space"),
        ("olá Ж日👍", "o l á space Ж 日 👍"),
        ("e\u{301}", "e \u{301}"),
        ("\u{80}\u{9f}x", "x"),
    ]);
    for input in read("aÄ 日".as_bytes()) {
        let Input::Key(key) = input else { panic!("{input:?}") };
        let name = key.name();
        assert_eq!(key.text().as_deref(), Some(if name == "space" { " " } else { &name }));
    }
}

#[test]
fn legacy_control_bytes() {
    for byte in 0x01..=0x1a_u8 {
        let letter = char::from(byte + 0x60);
        let expected = match byte {
            0x09 => "tab".to_owned(),
            0x0d => "enter".to_owned(),
            _ => format!("ctrl+{letter}"),
        };
        assert_eq!(show(&read(&[byte])), expected);
    }
    check(&[
        ("\0", "ctrl+space"),
        ("\x08\n", "ctrl+h ctrl+j"),
        ("\x1b", "esc"),
        ("\x1c\x1d\x1e\x1f", "ctrl+\\ ctrl+] ctrl+^ ctrl+_"),
        ("\x7f", "backspace"),
    ]);
}

#[test]
fn escape_and_alt() {
    check(&[
        ("a\x1b", "a esc"),
        ("\x1bx", "alt+x"),
        ("\x1bA", "alt+shift+a"),
        ("\x1bÄ", "alt+shift+ä"),
        ("\x1b1\x1b ", "alt+1 alt+space"),
        ("\x1b\r\x1b\x7f\x1b\t", "alt+enter alt+backspace alt+tab"),
        ("\x1b\x01\x1b\0", "ctrl+alt+a ctrl+alt+space"),
        ("\x1b\x1b", "alt+esc"),
        ("\x1b\x1b\x1b", "alt+esc esc"),
        ("\x1b\x1b[A", "alt+up"),
        ("\x1b\x1bOA\x1b\x1b[3~", "alt+up alt+delete"),
        ("\x1b\x1bx", "alt+esc x"),
        ("\x1b[\x1bO", "alt+[ alt+shift+o"),
        ("\x1b[\x1b[", "alt+[ alt+["),
        ("\x1b[\r", "alt+[ enter"),
        ("\x1bO\r", "alt+shift+o enter"),
        ("\x1b]\x1b]", "alt+] alt+]"),
        ("\x1bP\x1bX\x1b^\x1b_", "alt+shift+p alt+shift+x alt+^ alt+_"),
        ("\x1b]\x1b", "alt+] esc"),
        ("\x1b\x1b[", "esc alt+["),
    ]);
    assert_eq!(show(&read(b"\x1b\xff")), "esc");
}

#[test]
fn arrows_and_navigation_in_every_encoding() {
    check(&[
        ("\x1b[A\x1b[B\x1b[C\x1b[D\x1b[E\x1b[F\x1b[H", "up down right left begin end home"),
        ("\x1bOA\x1bOB\x1bOC\x1bOD\x1bOE\x1bOF\x1bOH", "up down right left begin end home"),
        ("\x1b[1~\x1b[7~\x1b[4~\x1b[8~", "home home end end"),
        ("\x1b[2~\x1b[3~\x1b[5~\x1b[6~", "insert delete pgup pgdown"),
        ("\x1b[Z\x1b[1;5Z", "shift+tab ctrl+shift+tab"),
        (
            "\x1b[1;2A\x1b[1;3B\x1b[1;5C\x1b[1;6D\x1b[1;8H",
            "shift+up alt+down ctrl+right ctrl+shift+left ctrl+alt+shift+home",
        ),
        ("\x1b[5A\x1bO5A\x1bO1;5A", "ctrl+up ctrl+up ctrl+up"),
        ("\x1b[3;5~\x1b[6;2~\x1b[1;5E", "ctrl+delete shift+pgdown ctrl+begin"),
        // rxvt
        ("\x1b[a\x1b[b\x1b[c\x1b[d", "shift+up shift+down shift+right shift+left"),
        ("\x1bOa\x1bOb\x1bOc\x1bOd", "ctrl+up ctrl+down ctrl+right ctrl+left"),
        ("\x1b[7^\x1b[8$\x1b[3@", "ctrl+home shift+end ctrl+shift+delete"),
        ("\x1b[23$x\x1b[11^", "shift+f11 x ctrl+f1"),
        // locks add nothing
        ("\x1b[1;65A\x1b[1;129A\x1b[1;197B", "up up ctrl+down"),
    ]);
}

#[test]
fn function_keys_in_every_encoding() {
    check(&[
        ("\x1bOP\x1bOQ\x1bOR\x1bOS", "f1 f2 f3 f4"),
        ("\x1b[P\x1b[Q\x1b[R\x1b[S", "f1 f2 f3 f4"),
        ("\x1b[11~\x1b[12~\x1b[13~\x1b[14~\x1b[15~", "f1 f2 f3 f4 f5"),
        ("\x1b[17~\x1b[18~\x1b[19~\x1b[20~\x1b[21~\x1b[23~\x1b[24~", "f6 f7 f8 f9 f10 f11 f12"),
        ("\x1b[25~\x1b[26~\x1b[28~\x1b[29~\x1b[31~\x1b[32~\x1b[33~\x1b[34~", "f13 f14 f15 f16 f17 f18 f19 f20"),
        ("\x1b[[A\x1b[[B\x1b[[C\x1b[[D\x1b[[E", "f1 f2 f3 f4 f5"),
        ("\x1b[1;2P\x1b[1;5Q\x1b[1;2R\x1b[1;3S", "shift+f1 ctrl+f2 shift+f3 alt+f4"),
        ("\x1b[15;2~\x1b[24;5~\x1b\x1b[15~", "shift+f5 ctrl+f12 alt+f5"),
    ]);
}

#[test]
fn keypad_in_application_mode() {
    check(&[
        ("\x1bOp\x1bOy\x1bOj\x1bOk\x1bOl\x1bOm\x1bOn\x1bOo\x1bOX", "0 9 * + , - . / ="),
        ("\x1bOM", "kpenter"),
        ("\x1bO5p", "ctrl+kp0"),
    ]);
    let [Input::Key(key)] = read(b"\x1bO5k").as_slice().to_vec()[..] else { panic!() };
    assert_eq!((key.name().as_str(), key.text()), ("ctrl+kpplus", None));
}

#[test]
fn kitty_keyboard_protocol() {
    check(&[
        ("\x1b[97u\x1b[97;2u\x1b[97:65;2u\x1b[49:33;2u", "a A A !"),
        ("\x1b[97;5u\x1b[97;6u\x1b[65;6u\x1b[97;3u\x1b[97;4u", "ctrl+a ctrl+shift+a ctrl+shift+a alt+a alt+shift+a"),
        ("\x1b[105;5u\x1b[109;5u\x1b[91;5u\x1b[32;5u", "ctrl+i ctrl+m ctrl+[ ctrl+space"),
        (
            "\x1b[27u\x1b[13;2u\x1b[9;5u\x1b[9;2u\x1b[127;5u\x1b[27;3u",
            "esc shift+enter ctrl+tab shift+tab ctrl+backspace alt+esc",
        ),
        ("\x1b[97;9u\x1b[97;17u\x1b[97;33u", "super+a hyper+a meta+a"),
        ("\x1b[97;64u", "ctrl+alt+shift+meta+hyper+super+a"),
        // press, repeat, release
        ("\x1b[97;5:1u\x1b[97;5:2u\x1b[97;5:3u", "ctrl+a ctrl+a"),
        ("\x1b[1;1:3A\x1b[3;1:3~\x1b[1;1:2A", "up"),
        // locks add nothing
        ("\x1b[97;69u\x1b[97;133u\x1b[57358;65u", "ctrl+a ctrl+a capslock"),
        ("\x1b[97;65u\x1b[97;129u", "A a"),
        // associated text
        ("\x1b[97;;229u\x1b[97;2;65u\x1b[0;;104:105u\x1b[32;;32u", "å A h i space"),
        ("\x1b[97;5;97u", "ctrl+a"),
        ("\x1b[57376u\x1b[57398u\x1b[57364u", "f13 f35 f1"),
        (
            "\x1b[57358u\x1b[57359u\x1b[57360u\x1b[57361u\x1b[57362u\x1b[57363u",
            "capslock scrolllock numlock printscreen pause menu",
        ),
        (
            "\x1b[57399u\x1b[57408u\x1b[57409u\x1b[57410u\x1b[57411u\x1b[57412u\x1b[57413u\x1b[57415u\x1b[57416u",
            "0 9 . / * - + = ,",
        ),
        (
            "\x1b[57399;5u\x1b[57408;5u\x1b[57409;5u\x1b[57410;5u\x1b[57411;5u\x1b[57412;5u\x1b[57413;5u\x1b[57415;5u\x1b[57416;5u",
            "ctrl+kp0 ctrl+kp9 ctrl+kpperiod ctrl+kpdiv ctrl+kpmul ctrl+kpminus ctrl+kpplus ctrl+kpequal ctrl+kpsep",
        ),
        ("\x1b[57400;129u", "1"),
        (
            "\x1b[57414u\x1b[57417u\x1b[57418u\x1b[57419u\x1b[57420u\x1b[57421u\x1b[57422u\x1b[57423u\x1b[57424u\x1b[57425u\x1b[57426u\x1b[57427~",
            "kpenter kpleft kpright kpup kpdown kppgup kppgdown kphome kpend kpinsert kpdelete kpbegin",
        ),
        (
            "\x1b[57428u\x1b[57429u\x1b[57430u\x1b[57431u\x1b[57432u\x1b[57433u\x1b[57434u",
            "mediaplay mediapause mediaplaypause mediareverse mediastop mediafastforward mediarewind",
        ),
        (
            "\x1b[57435u\x1b[57436u\x1b[57437u\x1b[57438u\x1b[57439u\x1b[57440u",
            "medianext mediaprev mediarecord lowervol raisevol mute",
        ),
        (
            "\x1b[57441;2u\x1b[57442;5u\x1b[57443;3u\x1b[57444;9u\x1b[57445;17u\x1b[57446;33u",
            "leftshift leftctrl leftalt leftsuper lefthyper leftmeta",
        ),
        (
            "\x1b[57447;2u\x1b[57448;5u\x1b[57449;3u\x1b[57450;9u\x1b[57451;17u\x1b[57452;33u\x1b[57453u\x1b[57454u",
            "rightshift rightctrl rightalt rightsuper righthyper rightmeta isolevel3shift isolevel5shift",
        ),
        ("\x1b[57455u\x1b[63743u\x1b[u\x1b[1114112u\x1b[99999999999u", ""),
    ]);
}

#[test]
fn the_ninth_modifier_bit_is_metas_until_the_terminal_speaks_kitty() {
    check(&[("\x1b[1;9A", "meta+up"), ("\x1b[?0u\x1b[1;9A", "kitty=0 super+up")]);
}

#[test]
fn xterm_modify_other_keys() {
    check(&[
        ("\x1b[27;5;105~\x1b[27;2;13~\x1b[27;5;9~", "ctrl+i shift+enter ctrl+tab"),
        ("\x1b[27;2;33~\x1b[27;6;65~\x1b[27;3;27~\x1b[27;5;127~", "! ctrl+shift+a alt+esc ctrl+backspace"),
        ("\x1b[27~\x1b[27;5~", ""),
    ]);
}

#[test]
fn answers_are_never_keys() {
    check(&[
        (
            "\x1b[?62;22c\x1b[>0;276;0c\x1b[0n\x1b[?2026;2$y\x1b[4;1$y\x1b[8;24;80t",
            "reply reply reply reply reply reply",
        ),
        ("\x1b[12;40R\x1b[1;1R\x1b[1;80R\x1b[?1;2R", "reply reply reply reply"),
        ("\x1b[?0u\x1b[?31u\x1b[?u", "kitty=0 kitty=31 kitty=0"),
        ("\x1b]11;rgb:1111/2222/ffff\x1b\\", "bg=1122ff"),
        ("\x1b]11;rgb:1/80/fff\x07\x1b]11;rgba:0000/8080/ffff/8000\x07", "bg=1180ff bg=0080ff"),
        ("\x1b]10;rgb:1111/1111/1111\x1b\\\x1b]11;red\x07\x1b]52;c;aGk=\x07", "reply reply reply"),
        (
            "\x1bP>|kitty(0.36)\x1b\\\x1bP1+r524742\x1b\\\x1b_Gi=1;OK\x1b\\\x1b^x\x1b\\\x1bXy\x1b\\",
            "reply reply reply reply reply",
        ),
        ("\x1b\x1b]11;rgb:0/0/0\x07q", "esc bg=000000 q"),
        ("\x1b\x1b[?1uq", "esc kitty=1 q"),
        ("\x1b]11;rgb:0/0\x1b[A", "up"),
        ("\x1b]0;x\x18q", "q"),
        ("\x1b[I\x1b[O", "focus blur"),
        ("\x1b[999;5;3x\x1b[5i\x1b[!p\x1b[1;2;3q-", "-"),
        ("\x1b[>1;2\x1b[Ax", "up x"),
        ("\x1b[12é", "é"),
        ("\x1b[201~", ""),
        ("\x1bO\u{7f}\x1bOx\x1bOg", "alt+shift+o backspace 8"),
    ]);
}

#[test]
fn mouse_in_every_encoding() {
    check(&[
        ("\x1b[<0;1;1M\x1b[<0;1;1m", "press:left@0,0 release:left@0,0"),
        ("\x1b[<1;10;5M\x1b[<2;10;5M", "press:middle@9,4 press:right@9,4"),
        (
            "\x1b[<128;2;2M\x1b[<129;2;2M\x1b[<130;2;2M\x1b[<131;2;2M",
            "press:backward@1,1 press:forward@1,1 press:button10@1,1 press:button11@1,1",
        ),
        (
            "\x1b[<64;5;3M\x1b[<65;5;3M\x1b[<66;5;3M\x1b[<67;5;3M",
            "wheel:wheelup@4,2 wheel:wheeldown@4,2 wheel:wheelleft@4,2 wheel:wheelright@4,2",
        ),
        ("\x1b[<28;1;1M\x1b[<68;1;1M", "press:ctrl+alt+shift+left@0,0 wheel:shift+wheelup@0,0"),
        ("\x1b[<32;3;3M\x1b[<35;3;3M\x1b[<64;1;1m", "drag:left@2,2 move:@2,2"),
        ("\x1b[<0;0;99999999M", "press:left@0,65535"),
        ("\x1b[<0;1M\x1b[<M\x1b[<0;;1Mx", "x"),
        ("\x1b[M !!\x1b[M#%%\x1b[M`!!\x1b[MC!!", "press:left@0,0 release:@4,4 wheel:wheelup@0,0 move:@0,0"),
        ("\x1b[M \0\0x", "press:left@0,0 x"),
        ("\x1b[M \x1b[A", "up"),
        ("\x1b[32;4;5M\x1b[35;4;5M\x1b[96;1;1M", "press:left@3,4 release:@3,4 wheel:wheelup@0,0"),
        ("\x1b\x1b[<0;1;1M", "esc press:left@0,0"),
    ]);
    assert_eq!(show(&read(b"\x1b[M \xff\xffx")), "press:left@222,222 x");
}

#[test]
fn pastes() {
    check(&[
        ("\x1b[200~hello q ? : olá\x1b[201~q", "paste:hello q ? : olá q"),
        ("\x1b[200~a\r\nb\rc\n\t\x1b[A\x1b\x1b[201~", "paste:a\r\nb\rc\n\t\x1b[A\x1b"),
        ("\x1b[200~\x1b[201~x", "paste: x"),
        ("\x1b[200~never ends\x1b[20", "paste:never ends"),
        ("\x1b\x1b[200~x\x1b[201~", "esc paste:x"),
    ]);
    assert_eq!(show(&read(b"\x1b[200~a\xff\xc3b\x1b[201~")), "paste:a\u{fffd}\u{fffd}b");
}

#[test]
fn unfinished_sequences_wait_for_the_next_read() {
    let mut decoder = Decoder::new();
    let mut out = Vec::new();
    for (part, waits) in [(&b"\x1b["[..], true), (b"1;", true), (b"5A", false), (b"\xe6\x97", true), (b"\xa5", false)] {
        decoder.feed(part, &mut out);
        assert_eq!(decoder.pending(), waits, "{part:?}");
    }
    assert_eq!(show(&out), "ctrl+up 日");
    for (bytes, expected) in [
        (&b"\x1b["[..], "alt+["),
        (b"\x1bO", "alt+shift+o"),
        (b"\x1b]", "alt+]"),
        (b"\x1b[1;", ""),
        (b"\x1b]11;rgb", ""),
        (b"\x1b[[", ""),
        (b"\x1b[M  ", ""),
        (b"\xe6\x97", ""),
    ] {
        out.clear();
        decoder.feed(bytes, &mut out);
        assert!(out.is_empty() && decoder.pending(), "{bytes:?}");
        decoder.flush(&mut out);
        assert_eq!(show(&out), expected, "{bytes:?}");
    }
    decoder.feed(b"\x1b[200~x", &mut out);
    assert!(decoder.pasting() && !decoder.pending());
    decoder.flush(&mut out);
    assert!(decoder.pasting(), "only flush_paste ends a paste");
}

#[test]
fn what_has_no_end_stays_bounded() {
    let mut decoder = Decoder::new();
    let mut out = Vec::new();
    for start in ["\x1b]11;", "\x1b[", "\x1bO"] {
        decoder.feed(start.as_bytes(), &mut out);
        decoder.feed(&[b'1'; 300_000], &mut out);
        assert!(decoder.buf.len() <= MAX_ANSWER);
        decoder.feed(b"\x07x", &mut out);
        decoder.flush(&mut out);
    }
    assert_eq!(show(&out), "reply x ctrl+g x ctrl+g x");
}

/// Pieces of well-formed streams; none ends in a bare ESC.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&'static [u8]> = vec![
        b"a",
        "日é".as_bytes(),
        b"\x01",
        b"\x1b[A",
        b"\x1bOP",
        b"\x1b[3;5~",
        b"\x1b[97;5u",
        b"\x1b[<0;10;5M",
        b"\x1b[M !!",
        b"\x1b[[A",
        b"\x1bx",
        b"\x1b\x1b[B",
        b"\x1b]11;rgb:11/22/33\x1b\\",
        b"\x1bP>|term\x1b\\",
        b"\x1b[?1u",
        b"\x1b[I",
        b"\x1b[200~some\x1b[text\r\x1b[201~",
        b"\x1b[24;80R",
        b"\x1b[7$",
    ];
    prop_oneof![4 => proptest::sample::select(known).prop_map(<[u8]>::to_vec), 1 => "[ -~é日]{1,5}".prop_map(String::into_bytes)]
}

/// Feeds `bytes` in parts ended at `cuts`, each moved on so that no part ends in a bare ESC.
fn split(bytes: &[u8], cuts: &[usize]) -> Vec<Input> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).chain([bytes.len()]).collect();
    ends.sort_unstable();
    let mut decoder = Decoder::new();
    let mut out = Vec::new();
    let mut start = 0;
    for mut end in ends {
        while end > 0 && end < bytes.len() && bytes[end - 1] == 0x1b {
            end += 1;
        }
        if end > start {
            decoder.feed(&bytes[start..end], &mut out);
            start = end;
        }
    }
    decoder.flush(&mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_never_breaks_it(bytes in garbage(), reads in proptest::collection::vec(1..9_usize, 0..4)) {
        fuzz::decode(&bytes, &reads);
    }

    #[test]
    fn splitting_changes_nothing(pieces in proptest::collection::vec(piece(), 0..8), cuts in proptest::collection::vec(0..1000_usize, 0..12)) {
        let bytes = pieces.concat();
        prop_assert_eq!(split(&bytes, &cuts), read(&bytes));
    }

    #[test]
    fn a_pasted_text_comes_back(text in any::<String>(), reads in proptest::collection::vec(1..9_usize, 0..4)) {
        prop_assume!(!text.contains("\x1b[201~"));
        let bytes = format!("\x1b[200~{text}\x1b[201~");
        let mut inputs = fuzz::decode(bytes.as_bytes(), &[&[6], reads.as_slice()].concat());
        prop_assert_eq!(inputs.pop(), Some(Input::Paste(text)));
        prop_assert!(inputs.is_empty());
    }
}

/// Bytes that are likely to get somewhere: mostly the ones sequences are made of.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let likely = proptest::sample::select(b"\x1b\x1b\x1b[[O]P<?>0127;;:$~ABMRmu\\\x07\x18\xc3\xa9\xe6".to_vec());
    proptest::collection::vec(prop_oneof![4 => likely, 1 => any::<u8>()], 0..60)
}
