//! A config.yaml.
#![no_main]

libfuzzer_sys::fuzz_target!(|yaml: &str| {
    lazyagents::config::fuzz::config_is_total(yaml);
});
