//! An answer of one of ez' plugins.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    wire::fuzz::answer_is_total(text);
});
