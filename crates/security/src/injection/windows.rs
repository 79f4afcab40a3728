//! The windows of a text that are judged one by one.

use std::ops::Range;

/// Lengths of windows in tokens: a sentence, a paragraph, a page.
const LENGTHS: [usize; 3] = [24, 80, 240];

/// The windows of a text of `tokens` tokens. Windows of a length overlap by three quarters.
pub fn all(tokens: usize) -> impl Iterator<Item = Range<usize>> {
    let is_needed = move |i: &usize| *i == 0 || LENGTHS[*i - 1] < tokens;
    (0..LENGTHS.len()).filter(is_needed).flat_map(move |i| of_length(tokens, LENGTHS[i]))
}

fn of_length(tokens: usize, length: usize) -> impl Iterator<Item = Range<usize>> {
    let step = length / 4;
    let last = tokens.saturating_sub(length).div_ceil(step);
    let count = if tokens == 0 { 0 } else { last + 1 };
    (0..count).map(move |i| i * step..(i * step + length).min(tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_in_a_window_of_each_length() {
        for tokens in [0, 1, 5, 24, 25, 80, 81, 239, 240, 241, 1000] {
            for length in LENGTHS {
                let mut seen = 0;
                for window in of_length(tokens, length) {
                    assert!(window.start <= seen && !window.is_empty() && window.end <= tokens);
                    seen = seen.max(window.end);
                }
                assert_eq!(seen, tokens);
            }
        }
    }
}
