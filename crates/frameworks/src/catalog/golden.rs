//! The number of golden cases per framework in `fixtures/golden/presets*`, answered by the frameworks' own code. A test
//! compares these numbers with the tables.

/// Frameworks and their number of cases, in name order. All cases agree.
pub const GOLDEN_CASES: &[(&str, usize)] = &[
    ("ag2", 142),
    ("agent-framework", 157),
    ("agno", 89),
    ("autogen", 209),
    ("browser-use", 171),
    ("camel-ai", 129),
    ("cline", 158),
    ("crewai", 205),
    ("deerflow", 88),
    ("gemini-cli", 171),
    ("google-adk", 59),
    ("goose", 193),
    ("haystack", 125),
    ("hermes-agent", 173),
    ("inspect-ai", 218),
    ("kilo-code", 188),
    ("langchain", 241),
    ("letta", 113),
    ("litellm", 175),
    ("llama-index", 72),
    ("mastra", 73),
    ("mini-swe-agent", 65),
    ("openai-agents", 56),
    ("openclaw", 586),
    ("opencode", 65),
    ("openhands", 249),
    ("pydantic-ai", 191),
    ("qwen-code", 778),
    ("roo-code", 98),
    ("semantic-kernel", 195),
    ("smolagents", 145),
    ("strands-agents", 198),
    ("tau2-bench", 121),
    ("vercel-ai", 45),
];

/// The number of cases of one framework; `None` if it has none.
pub fn golden_cases(framework: &str) -> Option<usize> {
    GOLDEN_CASES.iter().find(|(name, _)| *name == framework).map(|(_, cases)| *cases)
}
