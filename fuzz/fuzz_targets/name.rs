//! A session's name.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    ez::fuzz::name_stays_inside(text);
});
