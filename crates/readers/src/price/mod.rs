//! Computes the cost of recorded tokens from a price file that the user names, for runs that record tokens but no cost.
//!
//! A run with any recorded cost is left unchanged unless prices are to override it. Otherwise, either all calls of the
//! agent and its sub-agents are priced or none: a sum that leaves out calls would be too low and yet look like a cost.
//! A recorded cost of 0 for a run with tokens counts as unknown unless its models are known to be free, because
//! recorders that do not know the price write 0.

mod file;
mod name;
mod report;
mod zero;

use std::collections::{BTreeMap, HashMap};

use crate::diagnostic::nearest;
use crate::transcript::{Draft, Event, Lane, Message, Role, Usage, Usd, messages};
use crate::value::json::plausible;
pub use report::{NotPriced, PricedModel, PricingReport};
pub use zero::ZeroCosts;

/// How recorded costs are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedCosts {
    /// Recorded costs are used as they are, except that 0 for a run with tokens means unknown, unless its models are
    /// free.
    #[default]
    Trusted,
    /// Prices take precedence over recorded costs for the runs they cover.
    Overridden,
    /// Like `Trusted`, but a recorded 0 is kept. For copies, whose readers decide what a 0 means.
    Copied,
}

/// Prices of one model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Input neither read from a cache nor written to one.
    pub input: f64,
    /// Input read from a cache. If `None`, a call that read from a cache gets no cost.
    pub cached: Option<f64>,
    /// Input written to a cache. If `None`, it costs the same as other input.
    pub cache_write: Option<f64>,
    /// Output, reasoning included.
    pub output: f64,
}

/// Why a run was not priced.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Unpriced {
    /// No call has tokens.
    #[error("no tokens recorded")]
    NoTokens,
    /// Some calls have tokens and some have none.
    #[error("some calls have no tokens")]
    SomeTokens,
    /// Input or output of a call is unknown.
    #[error("input or output of a call is unknown")]
    HalfTokens,
    /// More tokens were read from or written to the cache than the input contains.
    #[error("more cached tokens than input")]
    CacheBeyondInput,
    /// The recording names no model.
    #[error("the model is not recorded")]
    NoModel,
    /// The file has no price for this model.
    #[error("no price for `{model}`{}", there_is_one_for(nearest.as_deref()))]
    NoPrice {
        /// The model.
        model: String,
        /// The most similar name in the file.
        nearest: Option<String>,
    },
    /// Several names in the file differ from this model only in the date and have different prices.
    #[error("several prices for `{0}`, none under its full name")]
    Ambiguous(String),
    /// Tokens and prices give an implausible cost.
    #[error("tokens and price make no plausible cost")]
    BeyondReason,
    /// The call read from a cache, and the file has no price for that.
    #[error("cached input, and `{0}` has no `cached` price")]
    NoCachedPrice(String),
}

fn there_is_one_for(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!(" (there is one for `{nearest}`)")).unwrap_or_default()
}

/// How a run's cost was determined.
#[derive(Clone, Debug, PartialEq)]
pub enum Pricing {
    /// At least one call has a recorded cost, which was kept.
    Recorded,
    /// A recorded cost was to be overridden but cannot be computed, for this reason, and was kept.
    Kept(Unpriced),
    /// The cost was computed.
    Computed {
        /// The cost per model and the name under which its price was found.
        models: BTreeMap<(String, String), Usd>,
        /// True if a call does not record how much of its input was cached, so that all of it was charged in full.
        cache_unknown: bool,
        /// True when a recorded cost was overridden.
        overrides: bool,
    },
    /// There is no cost, for this reason.
    Missing(Unpriced),
}

/// The cost of one call, by its model and the name under which the price was found.
type Charge = ((String, String), Usd);

/// Prices by model.
#[derive(Clone, Debug, Default)]
pub struct PriceTable {
    path: String,
    entries: Vec<(String, Price)>,
    /// Names and aliases as written.
    exact: BTreeMap<String, usize>,
    /// Names without provider, date and letter case; `None` if entries with different prices share the name.
    plain: HashMap<String, Option<usize>>,
}

impl PriceTable {
    /// The path of the file it was read from.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Adds a model under all its names. The error is a name that was already there.
    fn add(&mut self, names: Vec<String>, price: Price) -> Result<(), String> {
        let index = self.entries.len();
        let Some(first) = names.first() else { return Ok(()) };
        self.entries.push((first.clone(), price));
        for name in names {
            let plain = name::plain(&name);
            // An entry whose name is already plain takes precedence over dated names.
            let own = plain == name.to_lowercase();
            let same = |other: usize| matches!(self.entries.get(other), Some((_, other)) if *other == price);
            let meant = match self.plain.get(&plain) {
                Some(taken) if !own => taken.filter(|other| same(*other) || self.is_plain(*other, &plain)),
                _ => Some(index),
            };
            self.plain.insert(plain, meant);
            if self.exact.insert(name.clone(), index).is_some() {
                return Err(name);
            }
        }
        Ok(())
    }

    fn is_plain(&self, index: usize, plain: &str) -> bool {
        self.exact.iter().any(|(name, at)| *at == index && name.to_lowercase() == plain)
    }

    /// The price of a model and the name it was found under: the exact name, or the name without provider
    /// (`openrouter/anthropic/…`), date (`-20250514`, `-2025-04-14`, `@20250514`, `-latest`) and letter case.
    pub fn price_for(&self, model: &str) -> Result<(&str, &Price), Unpriced> {
        let found = match self.exact.get(model) {
            Some(index) => Some(Some(*index)),
            None => self.plain.get(&name::plain(model)).copied(),
        };
        let index = match found {
            Some(Some(index)) => index,
            Some(None) => return Err(Unpriced::Ambiguous(model.to_owned())),
            None => {
                let nearest = nearest(model, self.exact.keys().map(String::as_str)).map(str::to_owned);
                return Err(Unpriced::NoPrice { model: model.to_owned(), nearest });
            }
        };
        let (name, price) = &self.entries[index];
        Ok((name, price))
    }

    /// Computes the cost of every call of a run without recorded costs or, with `overrides`, of any run. `by_turn`: the
    /// format reports tokens once for all calls of a turn, so a call without tokens is not a gap.
    pub(crate) fn price(&self, draft: &mut Draft, by_turn: bool, overrides: bool) -> Pricing {
        let recorded = calls(&draft.events).any(|call| call.cost().is_some());
        if recorded && !overrides {
            return Pricing::Recorded;
        }
        let costs = match self.costs(draft, by_turn) {
            Ok(costs) => costs,
            Err(reason) if recorded => return Pricing::Kept(reason),
            Err(reason) => return Pricing::Missing(reason),
        };
        let mut models: BTreeMap<(String, String), Usd> = BTreeMap::new();
        let cache_unknown = calls(&draft.events).filter_map(Message::usage).any(|usage| usage.cache_read.is_none());
        let mut costs = costs.into_iter();
        for message in calls_mut(&mut draft.events) {
            message.set_cost(None);
            let Some(Some((names, cost))) = costs.next() else { continue };
            message.set_cost(Some(cost));
            *models.entry(names).or_default() += cost;
        }
        Pricing::Computed { models, cache_unknown, overrides: recorded }
    }

    /// The cost of each call; `None` for a call without tokens.
    fn costs(&self, draft: &Draft, by_turn: bool) -> Result<Vec<Option<Charge>>, Unpriced> {
        if !calls(&draft.events).any(Message::has_usage) {
            return Err(Unpriced::NoTokens);
        }
        if !by_turn && !calls(&draft.events).all(Message::has_usage) {
            return Err(Unpriced::SomeTokens);
        }
        let mut costs = Vec::new();
        for call in calls(&draft.events) {
            let Some(usage) = call.usage().filter(|usage| !usage.is_empty()) else {
                costs.push(None);
                continue;
            };
            let model = call.model().or(draft.header.model.as_deref()).ok_or(Unpriced::NoModel)?;
            let (name, price) = self.price_for(model)?;
            let cost = price.cost(&usage, model)?;
            costs.push(Some(((model.to_owned(), name.to_owned()), cost)));
        }
        Ok(costs)
    }
}

impl Price {
    /// True if all prices are 0.
    fn is_free(&self) -> bool {
        let parts = [Some(self.input), self.cached, self.cache_write, Some(self.output)];
        parts.into_iter().flatten().all(|price| price == 0.0)
    }

    /// The cost of one call. Cached input is part of the input, so it is subtracted before the rest is charged; if the
    /// recording does not say how much was cached, all input is charged in full.
    fn cost(&self, usage: &Usage, model: &str) -> Result<Usd, Unpriced> {
        let (Some(input), Some(output)) = (usage.input, usage.output) else { return Err(Unpriced::HalfTokens) };
        let (read, written) = (usage.cache_read.unwrap_or(0), usage.cache_write.unwrap_or(0));
        let fresh = input.checked_sub(read).and_then(|rest| rest.checked_sub(written));
        let fresh = fresh.ok_or(Unpriced::CacheBeyondInput)?;
        let cached = match (self.cached, read) {
            (Some(price), _) => price,
            (None, 0) => 0.0,
            (None, _) => return Err(Unpriced::NoCachedPrice(model.to_owned())),
        };
        let parts = [
            (fresh, self.input),
            (read, cached),
            (written, self.cache_write.unwrap_or(self.input)),
            (output, self.output),
        ];
        #[expect(clippy::cast_precision_loss, reason = "tokens of one call are far below 2^52")]
        let dollars = parts.iter().map(|(tokens, price)| *tokens as f64 * price).sum::<f64>() / 1e6;
        plausible(dollars).map(Usd).ok_or(Unpriced::BeyondReason)
    }
}

/// The result of settling a run's costs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settled {
    /// The result of pricing; `None` without a price file.
    pub(crate) pricing: Option<Pricing>,
    /// True if a recorded cost of 0 was dropped as unknown and no other cost is known.
    pub(crate) unknown_zero: bool,
}

/// How the costs of runs are determined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs<'o> {
    /// The price file, if there is one.
    pub(crate) prices: Option<&'o PriceTable>,
    /// How recorded costs are used.
    pub(crate) recorded: RecordedCosts,
    /// Models that are free.
    pub(crate) free_models: &'o [String],
}

/// Determines the costs of a run that count. All handling of recorded costs goes through here.
pub(crate) fn settle(draft: &mut Draft, costs: &Costs<'_>, by_turn: bool) -> Settled {
    let is_zero = zero::is_unknown(draft, costs);
    let overrides = is_zero || costs.recorded == RecordedCosts::Overridden;
    let pricing = costs.prices.map(|prices| prices.price(draft, by_turn, overrides));
    if !is_zero || costs.recorded == RecordedCosts::Copied || matches!(pricing, Some(Pricing::Computed { .. })) {
        return Settled { pricing, unknown_zero: false };
    }
    for message in calls_mut(&mut draft.events) {
        message.set_cost(None);
    }
    let pricing = pricing.map(|pricing| match pricing {
        Pricing::Kept(reason) => Pricing::Missing(reason),
        other => other,
    });
    Settled { pricing, unknown_zero: true }
}

/// Model calls whose tokens count: those of the agent and its sub-agents.
fn calls(events: &[Event]) -> impl Iterator<Item = &Message> {
    messages(events).filter(|message| is_call(message))
}

fn calls_mut(events: &mut [Event]) -> impl Iterator<Item = &mut Message> {
    events.iter_mut().filter_map(|event| match event {
        Event::Message(message) if is_call(message) => Some(message),
        _ => None,
    })
}

fn is_call(message: &Message) -> bool {
    message.role == Role::Assistant && matches!(message.lane, Lane::Main | Lane::Side(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::trace::read_text;
    use crate::transcript::Header;

    const TABLE: &str = "[\"m-1\"]\ninput = 3\ncached = 0.3\ncache_write = 3.75\noutput = 15\n\
        [n]\ninput = 2\noutput = 8\n";

    fn table() -> PriceTable {
        PriceTable::parse("p.toml", TABLE).unwrap()
    }

    fn priced(model: &str, usages: &[Usage]) -> (Pricing, Option<f64>) {
        let reply = |usage: &Usage| {
            let mut message = Message::saying(Role::Assistant, "x");
            message.set_usage(Some(*usage).filter(|usage| !usage.is_empty()));
            Event::Message(message)
        };
        let mut draft = Draft {
            header: Header { model: Some(model.to_owned()), ..Header::default() },
            events: usages.iter().map(reply).collect(),
            ..Draft::default()
        };
        let pricing = table().price(&mut draft, false, false);
        let cost = calls(&draft.events).filter_map(Message::cost).reduce(|sum, more| sum + more);
        (pricing, cost.map(|cost| cost.0))
    }

    #[test]
    fn cached_tokens_are_taken_out_of_the_input_once() {
        // 1,000 input tokens, of which 600 read and 100 written: 300 × 3 + 600 × 0.3 + 100 × 3.75 + 50 × 15 = 2,205 µ$.
        let usage = Usage {
            input: Some(1000),
            cache_read: Some(600),
            cache_write: Some(100),
            output: Some(50),
            reasoning: None,
        };
        let (_, cost) = priced("m-1", &[usage]);
        assert!((cost.unwrap() - 0.002_205).abs() < 1e-12);
        // Without a price for cache writes they cost the same as other input; 2 calls of 1,000 and 10.
        let (pricing, cost) = priced("n", &[Usage::new(1000, 10), Usage::new(1000, 10)]);
        assert!((cost.unwrap() - 0.004_16).abs() < 1e-12);
        assert!(matches!(pricing, Pricing::Computed { cache_unknown: true, .. }));
    }

    #[test]
    fn what_is_not_known_stays_missing_with_its_reason() {
        let half = Usage { input: Some(5), ..Usage::default() };
        let read = Usage { cache_read: Some(5), ..Usage::new(9, 1) };
        let beyond = Usage { cache_read: Some(10), ..Usage::new(9, 1) };
        let whole = Usage::new(9, 1);
        for (model, usages, reason) in [
            ("m-1", vec![Usage::default()], "no tokens recorded"),
            ("m-1", vec![whole, Usage::default()], "some calls have no tokens"),
            ("m-1", vec![whole, half], "input or output of a call is unknown"),
            ("m-1", vec![beyond], "more cached tokens than input"),
            ("n", vec![read], "cached input, and `n` has no `cached` price"),
            ("m1", vec![whole], "no price for `m1` (there is one for `m-1`)"),
            ("other", vec![whole], "no price for `other`"),
        ] {
            let (pricing, cost) = priced(model, &usages);
            let Pricing::Missing(why) = pricing else { panic!("{reason}: {pricing:?}") };
            assert_eq!((why.to_string().as_str(), cost), (reason, None));
        }
    }

    #[test]
    fn a_recorded_cost_is_never_touched() {
        let line =
            r#"{"type":"message","role":"assistant","content":"x","usage":{"input":1000,"output":10},"cost_usd":0}"#;
        let bare = line.replace(",\"cost_usd\":0", "");
        let read = read_text(&format!("{{\"type\":\"run\",\"run_id\":\"r\",\"model\":\"n\"}}\n{line}\n{bare}\n"));
        let run = &read.runs[0];
        let mut draft = Draft { header: run.header.clone(), events: run.events().to_vec(), ..Draft::default() };
        assert_eq!(table().price(&mut draft, false, false), Pricing::Recorded);
        assert_eq!(calls(&draft.events).map(Message::cost).collect::<Vec<_>>(), [Some(Usd(0.0)), None]);
    }

    #[test]
    fn a_model_is_found_under_its_name_without_provider_date_and_case() {
        let text = "[\"gpt-4.1\"]\ninput = 1\noutput = 1\n[\"o-2025-01-01\"]\ninput = 2\noutput = 2\n\
            [\"o-2025-02-02\"]\ninput = 3\noutput = 3\n[sonnet]\naliases = [\"claude-sonnet-4-5\"]\ninput = 4\noutput = 4\n";
        let table = PriceTable::parse("p.toml", text).unwrap();
        for (model, found) in [
            ("gpt-4.1", Ok("gpt-4.1")),
            ("openai/GPT-4.1-2025-04-14", Ok("gpt-4.1")),
            ("gpt-4.1-mini", Err("no price for `gpt-4.1-mini`")),
            ("o-2025-02-02", Ok("o-2025-02-02")),
            ("o", Err("several prices for `o`, none under its full name")),
            ("claude-sonnet-4-5-20250929", Ok("sonnet")),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", Ok("sonnet")),
        ] {
            let got = table.price_for(model).map(|(name, _)| name).map_err(|why| why.to_string());
            let got = got.map_err(|why| why.split(" (there").next().unwrap_or_default().to_owned());
            assert_eq!(got, found.map_err(str::to_owned), "{model}");
        }
    }
}
