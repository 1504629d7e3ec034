//! A config.toml of ez.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    ez::fuzz::config_is_total(text);
});
