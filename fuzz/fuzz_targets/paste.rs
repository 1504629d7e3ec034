//! A paste on its way to a plugin.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    wire::fuzz::paste_is_whole(text);
});
