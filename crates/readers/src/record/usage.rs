//! Counts of tokens in all common conventions, and the arguments of a call.

use super::reading::Reading;
use super::tokens;
use crate::transcript::{Text, Usage};
use crate::value::json::{self, Written, fields};

/// The arguments of a call, which may be JSON or a string that holds JSON; empty if absent.
pub(crate) fn arguments<'a>(raw: Option<impl Written<'a>>) -> Text {
    let Some(raw) = raw else { return Text::default() };
    raw.tried("any value", true);
    json::text(raw.written()).unwrap_or_else(|| Text::plain(raw.written()))
}

fields! {
    /// Token counts in any spelling.
    struct WireUsage<'a> {
        prompt_tokens = "prompt_tokens",
        completion_tokens = "completion_tokens",
        input_tokens = "input_tokens",
        output_tokens = "output_tokens",
        prompt_tokens_details = "prompt_tokens_details",
        completion_tokens_details = "completion_tokens_details",
        input_tokens_details = "input_tokens_details",
        output_tokens_details = "output_tokens_details",
        cache_read_input_tokens = "cache_read_input_tokens",
        cache_creation_input_tokens = "cache_creation_input_tokens",
    }
}

fields! {
    /// The details of the input or output count.
    struct Details<'a> {
        cached_tokens = "cached_tokens",
        reasoning_tokens = "reasoning_tokens",
    }
}

/// The token counts of one call. Under OpenAI's names, cached tokens are part of the input. `input_tokens` beside
/// `cache_read_input_tokens` or `cache_creation_input_tokens` is Anthropic's, which counts them separately.
pub(crate) fn usage<'a>(raw: Option<impl Written<'a>>, out: &mut Reading<'_>) -> Option<Usage> {
    let raw = raw?.written();
    let Some(wire) = out.counts::<WireUsage<'_>>(Some(raw), "usage") else { return Some(tokens::unreadable()) };
    let of_input = wire.prompt_tokens_details.or(wire.input_tokens_details);
    let of_output = wire.completion_tokens_details.or(wire.output_tokens_details);
    let prompt: Details<'_> = out.counts(of_input, "prompt_tokens_details").unwrap_or_default();
    let completion: Details<'_> = out.counts(of_output, "completion_tokens_details").unwrap_or_default();
    let read = out.tokens(wire.cache_read_input_tokens, "cache_read_input_tokens");
    let written = out.tokens(wire.cache_creation_input_tokens, "cache_creation_input_tokens");
    let beside = wire.prompt_tokens.is_none() && (read.is_some() || written.is_some());
    let input = match out.tokens(wire.prompt_tokens, "prompt_tokens") {
        Some(input) => Some(input),
        None => out.tokens(wire.input_tokens, "input_tokens"),
    };
    let output = match out.tokens(wire.completion_tokens, "completion_tokens") {
        Some(output) => Some(output),
        None => out.tokens(wire.output_tokens, "output_tokens"),
    };
    let all_input = |input: u64| input.saturating_add(read.unwrap_or(0)).saturating_add(written.unwrap_or(0));
    let usage = Usage {
        input: if beside { input.map(all_input) } else { input },
        cache_read: out.tokens(prompt.cached_tokens, "cached_tokens").or(read),
        cache_write: written,
        output,
        reasoning: out.tokens(completion.reasoning_tokens, "reasoning_tokens"),
    };
    tokens::recorded(usage)
}

/// Two counts of tokens added up; what neither has is unknown.
pub(crate) fn sum(one: Usage, other: Usage) -> Usage {
    one.combined(other, |one, other| match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        _ => one.or(other),
    })
}

/// The increase of a running total.
pub(crate) fn difference(total: Usage, before: Usage) -> Usage {
    total.combined(before, |total, before| Some(total?.saturating_sub(before.unwrap_or(0))))
}

/// The larger of each count.
pub(crate) fn largest(one: Option<Usage>, other: Option<Usage>) -> Option<Usage> {
    let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
    Some(one.combined(other, Ord::max))
}
