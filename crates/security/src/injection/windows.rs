//! The windows of a text that are judged one by one.

use std::ops::Range;

/// Lengths of windows in tokens: a sentence, a paragraph, a page.
const LENGTHS: [usize; 3] = [24, 80, 240];

/// Two to this power is how many tokens are too few for [`doubt`].
const FEW: u32 = 7;
/// What each doubling of the tokens takes from the log-odds.
const DOUBT: f32 = 0.3;

/// The windows of a text of `tokens` tokens. Windows of a length overlap by three quarters.
pub fn all(tokens: usize) -> impl Iterator<Item = Range<usize>> {
    let is_needed = move |i: &usize| *i == 0 || LENGTHS[*i - 1] < tokens;
    (0..LENGTHS.len()).filter(is_needed).flat_map(move |i| of_length(tokens, LENGTHS[i]))
}

/// By how much the most suspicious window of so many tokens is to be believed less, in log-odds:
/// among many windows some look bad by chance.
pub fn doubt(tokens: usize) -> f32 {
    let Some(doublings) = tokens.checked_ilog2().filter(|doublings| *doublings >= FEW) else {
        return 0.0;
    };
    // Straight between powers of two: the same on every machine.
    let part = tokens as f32 / (1_u64 << doublings) as f32 - 1.0;
    ((doublings - FEW) as f32 + part) * DOUBT
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
    fn doubt_grows_with_the_tokens_and_never_jumps() {
        assert_eq!(doubt(0), 0.0);
        assert_eq!(doubt(128), 0.0);
        for tokens in 0..5000 {
            let step = doubt(tokens + 1) - doubt(tokens);
            assert!((0.0..0.01).contains(&step), "{tokens}");
        }
    }

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
