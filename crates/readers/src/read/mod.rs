//! From a record to runs: the formats, the messages and spans that they share, and the wrappings they come in.

pub(crate) mod agent_session;
pub(crate) mod by_name;
pub(crate) mod claude;
pub(crate) mod dialect;
pub(crate) mod failed_requests;
pub(crate) mod format;
pub(crate) mod google;
pub(crate) mod in_memory;
pub(crate) mod iterations;
pub(crate) mod openai;
pub(crate) mod parquet_tables;
pub(crate) mod reply_prints;
pub(crate) mod requests;
pub(crate) mod session_stores;
pub(crate) mod spans;
pub(crate) mod subagents;
pub(crate) mod table_lines;
pub(crate) mod text_calls;
pub(crate) mod texts;
pub(crate) mod turns;
pub(crate) mod wrapped_lines;
pub(crate) mod wrappings;
