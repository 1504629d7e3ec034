//! A line of a plugin.
#![no_main]

libfuzzer_sys::fuzz_target!(|line: &[u8]| {
    wire::fuzz::decode_is_total(line);
});
