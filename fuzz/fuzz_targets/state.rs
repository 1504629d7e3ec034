//! A state file of ez.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    ez::fuzz::state_is_total(text);
});
