#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whenstop_fuzz::targets::effects(data));
