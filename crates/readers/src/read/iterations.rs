//! The model requests behind one reply, which Anthropic's API lists in `usage.iterations`: the model's own, and between
//! them an advisor's, or one that compacts the context. The counts above the list are sums of the model's own requests,
//! and of no other's.

use std::borrow::Cow;

use crate::record::node::Node;
use crate::record::reading::Reading;
use crate::record::usage;
use crate::transcript::{Event, Instant, Lane, Message, Name, Role, Usage};

/// The kinds of requests that are known. One of another kind is counted like the others, and told.
const KINDS: [&str; 4] = ["message", "fallback_message", "advisor_message", "compaction"];

/// What a reply took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    /// The last request of the model's own: what was in its context.
    pub(crate) last: Option<Usage>,
    /// The other requests, in order.
    pub(crate) others: Vec<OtherRequest>,
}

/// A request that the reply took besides its last one.
#[derive(Clone, Debug)]
pub(crate) struct OtherRequest {
    kind: String,
    /// The model, if it is another one than the reply's.
    model: Option<Name>,
    usage: Usage,
}

/// What the reply `wire` took. Sums that already hold the other requests are not added to.
pub(crate) fn taken(wire: &Node<'_>, out: &mut Reading<'_>) -> Taken {
    let all = wire.usage("usage", out);
    let listed = wire.within("usage").list("iterations", out);
    let mut requests: Vec<OtherRequest> = listed.iter().filter_map(|node| request(node, out)).collect();
    let Some(all) = all.filter(|_| !requests.is_empty()) else { return Taken { last: all, others: Vec::new() } };
    let sum = requests.iter().fold(Usage::default(), |all, request| usage::sum(all, request.usage));
    let holds_all = all.total() >= sum.total();
    let last = requests.iter().rposition(OtherRequest::is_own).map(|at| requests.remove(at).usage);
    let held = requests.iter().filter(|request| holds_all || request.is_own());
    let rest = held.fold(all, |rest, request| usage::difference(rest, request.usage));
    Taken { last: usage::largest(last, Some(rest)), others: requests }
}

fn request(node: &Node<'_>, out: &mut Reading<'_>) -> Option<OtherRequest> {
    let tokens = usage::usage(Some(node), out)?;
    let kind = node.string("type", out).unwrap_or(Cow::Borrowed("message"));
    if !KINDS.contains(&&*kind) {
        let written = node.get("type").map(|kind| kind.written());
        out.wrong(written.unwrap_or("null"), "type", &KINDS.join(", "));
    }
    let model = node.string("model", out).map(|model| Name::from(&*model));
    Some(OtherRequest { kind: kind.into_owned(), model, usage: tokens })
}

impl OtherRequest {
    /// Whether the reply's own words come from it.
    fn is_own(&self) -> bool {
        matches!(&*self.kind, "message" | "fallback_message")
    }

    /// A call of a model whose words nobody recorded.
    pub(crate) fn into_event(self, reply: Option<&Name>, ts: Option<Instant>) -> Event {
        let mut message = Message::new(Role::Assistant);
        message.lane = Lane::Side(format!("unseen {}", self.kind).into());
        message.set_model(self.model.or(reply.cloned()));
        message.set_usage(Some(self.usage));
        message.ts = ts;
        Event::Message(message)
    }
}
