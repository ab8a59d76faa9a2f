//! What a decision does.

use crate::transcript::named;

named! {
    /// What a decision does. Only [`Stop`](Action::Stop) and [`Fail`](Action::Fail) end a replay with an exact result.
    ///
    /// A program that runs a strategy beside an agent ([`Live`](crate::Live)) acts on the decisions itself:
    ///
    /// | action | what the program should do |
    /// | --- | --- |
    /// | [`Observe`](Action::Observe) | nothing; it may write a line to a log |
    /// | [`Warn`](Action::Warn), [`Inject`](Action::Inject) | add [`Decision::detail`](super::Decision::detail) to the next request as a message to the model |
    /// | [`Deny`](Action::Deny) | not run the call [`Decision::call_id`](super::Decision::call_id); give the model an error as its result |
    /// | [`Ask`](Action::Ask) | ask a person whether to go on, with the rule and its [`Evidence`](super::Evidence); end the run on a no |
    /// | [`ForceFinal`](Action::ForceFinal) | make one more model call without tools, then end the run |
    /// | [`Extend`](Action::Extend) | nothing: the strategy has raised its own cap |
    /// | [`Stop`](Action::Stop) | make no further model call; what was done so far is the result |
    /// | [`Fail`](Action::Fail) | make no further model call; report the run as failed |
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Action {
        /// The framework records it; neither the model nor a person sees it.
        Observe = "observe" => 'o',
        /// A warning is shown to the model.
        Warn = "warn" => 'w',
        /// A new instruction is shown to the model.
        Inject = "inject" => 'i',
        /// One tool call is refused; the run continues.
        Deny = "deny" => 'd',
        /// A person is asked.
        Ask = "ask" => 'a',
        /// The model must answer now, without tools. This costs one more model call.
        ForceFinal = "force_final" => 'f',
        /// A cap is raised: the run may continue.
        Extend = "extend" => 'x',
        /// The run ends here, normally.
        Stop = "stop" => 'h',
        /// The run ends here with an error.
        Fail = "fail" => 'e',
    }

    /// A one-letter code for narrow displays.
    pub fn letter() -> char;
}

impl Action {
    /// True for an action that ends the run.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Stop | Self::Fail)
    }

    /// True if the recorded path ends here. A forced final answer ends it too: exactly one more call follows.
    #[doc(hidden)]
    pub fn ends_path(self) -> bool {
        matches!(self, Self::Stop | Self::Fail | Self::ForceFinal)
    }

    /// True when the run would continue differently from the recording. An extension diverges only beyond the end of
    /// the recording, so it does not count.
    pub fn diverges(self) -> bool {
        matches!(self, Self::Warn | Self::Inject | Self::Deny | Self::Ask | Self::ForceFinal)
    }
}
