//! However a stream's bytes are cut, the frames are the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((lengths, stream)) = sluice_fuzz::cut(input) else { return };
    let whole = sluice_fuzz::frames(stream, &[]);
    let pieces = sluice_fuzz::frames(stream, lengths);
    assert_eq!(whole, pieces);
});
