//! What OpenClaw's settings can hold of a stack.

use crate::host::{Does, Host, OUT_OF_REACH, Place, Slot, Syntax};
use crate::transcript::Moment;

pub(super) const HOST: Host = Host::new(
    "openclaw.json", Syntax::Json, "", &[
        Slot::new("call_result.count", Moment::AfterTools, Place::Is("tools.loopDetection.criticalThreshold")).range((2.0, f64::INFINITY)).does(Does::Refuse).differs("the next equal call is refused and the run goes on; results are compared by their details, too"),
    ]).quiet(&[("tools.loopDetection.enabled", "true"), ("tools.loopDetection.historySize", "1000"), ("tools.loopDetection.warningThreshold", "1"), ("tools.loopDetection.globalCircuitBreakerThreshold", OUT_OF_REACH), ("tools.loopDetection.unknownToolThreshold", OUT_OF_REACH), ("tools.loopDetection.detectors.genericRepeat", "true"), ("tools.loopDetection.detectors.knownPollNoProgress", "false"), ("tools.loopDetection.detectors.pingPong", "false")]).cannot(&[("call", "up to 2026.7 a critical refuses the call and ends nothing; since 2026.9 the numbers are constants"), ("steps", "it has no cap on steps"), ("tokens.", "it has no rule on tokens"), ("", "its loop detection counts repeated calls and results, nothing else")]).profile("2026.7").note("for releases up to 2026.7.35; since 2026.9 only tools.loopDetection.enabled is left, and the numbers are constants");
