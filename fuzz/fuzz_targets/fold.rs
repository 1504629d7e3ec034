//! A view, to runs of text and style.
#![no_main]

libfuzzer_sys::fuzz_target!(|view: &str| {
    sys::text::fuzz::fold_holds(view);
});
