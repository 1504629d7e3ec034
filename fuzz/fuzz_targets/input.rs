//! What a terminal sends, in reads of any length.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: (&[u8], Vec<u8>)| {
    let reads: Vec<usize> = input.1.into_iter().map(usize::from).collect();
    let _ = tui::input::fuzz::decode(input.0, &reads);
});
