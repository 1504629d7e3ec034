//! A text of somebody else, for the screen.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    sys::text::fuzz::clean_holds(text);
});
