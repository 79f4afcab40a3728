//! Whatever a caller posts as a chat request, it is read or refused; nothing panics.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let _ = sluice_api::wire::chat::parse(Bytes::copy_from_slice(body));
});
