//! At most four cache breakpoints: Anthropic refuses a request with more ("Prompt caching").

use super::wire::{Block, CacheControl, MessagesRequest, Tool};

const MOST: usize = 4;

/// Takes breakpoints out where there are too many.
///
/// What stays is the last one of tools and system prompt, which covers all of these and is shared
/// by many conversations, and the last ones of the request, where this conversation will go on.
pub(super) fn limit(request: &mut MessagesRequest<'_>) {
    let most = if request.cache_control.is_some() { MOST - 1 } else { MOST };
    let tools = request.tools.iter_mut().filter_map(|tool| match tool {
        Tool::Function { cache_control, .. } => Some(cache_control),
        Tool::Anthropic(_) => None,
    });
    let system = request.system.iter_mut().filter_map(Block::cache_control);
    let mut slots: Vec<_> = tools.chain(system).filter(|slot| slot.is_some()).collect();
    let shared = slots.len();
    let turns = request.messages.iter_mut().flat_map(|turn| &mut turn.content);
    slots.extend(turns.filter_map(Block::cache_control).filter(|slot| slot.is_some()));
    remove_surplus(&mut slots, shared, most);
}

/// `shared` is how many of `slots` belong to tools and system prompt.
fn remove_surplus(slots: &mut [&mut Option<CacheControl<'_>>], shared: usize, most: usize) {
    let surplus = slots.len().saturating_sub(most);
    if surplus == 0 {
        return;
    }
    // Were all of the shared ones among the surplus, the last of them stays for one more of others.
    let kept = shared.checked_sub(1).filter(|last| *last < surplus);
    let removed = if kept.is_some() { surplus + 1 } else { surplus };
    for (index, slot) in slots.iter_mut().enumerate().take(removed) {
        if Some(index) != kept {
            **slot = None;
        }
    }
}
