//! A text, cut to columns.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: (&str, u8)| {
    sys::text::fuzz::fit_holds(input.0, input.1.into());
});
