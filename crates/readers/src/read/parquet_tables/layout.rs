//! Maps the columns of a table to what they mean: known layouts of public collections, recognised by their columns, and
//! layouts the user describes.

use crate::record::field_map::FieldMap;

/// The layout of a collection: its name, the columns it is recognised by, and what each column means.
#[derive(Debug)]
pub(crate) struct TableLayout {
    /// The name shown in reports.
    pub(crate) name: &'static str,
    /// Columns that must all be present. No other layout has all of them.
    told_by: &'static [&'static str],
    /// What is read besides the messages: field names, each with the columns that may hold it; the first one present is
    /// used.
    fields: &'static [(&'static str, &'static [&'static str])],
    /// The long columns, which are copied as they are, in this order.
    long: &'static [&'static [&'static str]],
    /// How its messages are written.
    pub(crate) dialect: RowDialect,
}

/// How a row's messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowDialect {
    /// Roles and contents as in chat completions, with the additions of SWE-agent and Inspect.
    Chat,
    /// Terminal-bench's steps: an agent's text, its tool calls, and the environment's answer.
    Steps,
    /// Messages, followed by events with the cost of each call.
    ChatAndEvents,
    /// Lines in whenstop's own format.
    Trace,
    /// Observations of Langfuse: one per row, many per run.
    Observations,
    /// Scores of Langfuse, joined to its observations.
    Scores,
}

/// The layouts, in the order in which they are tried.
const LAYOUTS: &[TableLayout] = &[
    TableLayout {
        name: "whenstop",
        told_by: &["run_id", "trace"],
        fields: &[],
        long: &[&["trace"]],
        dialect: RowDialect::Trace,
    },
    TableLayout {
        name: "langfuse",
        told_by: &["id", "trace_id", "type", "parent_observation_id", "start_time"],
        fields: &[],
        long: &[],
        dialect: RowDialect::Observations,
    },
    TableLayout {
        name: "langfuse-scores",
        told_by: &["trace_id", "name", "value", "data_type"],
        fields: &[],
        long: &[],
        dialect: RowDialect::Scores,
    },
    TableLayout {
        name: "inspect-scout",
        told_by: &["transcript_id", "source_type", "source_id", "messages"],
        fields: &[
            ("id", &["transcript_id"]),
            ("task_set", &["task_set"]),
            ("task", &["task_id"]),
            ("trial", &["task_repeat"]),
            ("outcome", &["success"]),
            ("model", &["model"]),
            ("agent", &["agent"]),
            ("limit", &["limit"]),
            ("error", &["error"]),
            ("started_at", &["date"]),
            ("total_tokens", &["total_tokens"]),
            ("seconds", &["total_time"]),
        ],
        long: &[&["messages"], &["events"]],
        dialect: RowDialect::ChatAndEvents,
    },
    TableLayout {
        name: "terminalbench",
        told_by: &["task_name", "reward", "steps"],
        fields: &[
            ("id", &["trial_id", "trial_name"]),
            ("task", &["task_name"]),
            ("trial", &["trial_name"]),
            ("outcome", &["reward"]),
            ("model", &["model"]),
            ("agent", &["agent"]),
            ("started_at", &["started_at"]),
            ("ended_at", &["ended_at"]),
            ("input_tokens", &["input_tokens"]),
            ("output_tokens", &["output_tokens"]),
            ("cache_tokens", &["cache_tokens"]),
            ("cost_cents", &["cost_cents"]),
            ("seconds", &["duration_seconds"]),
        ],
        long: &[&["steps"]],
        dialect: RowDialect::Steps,
    },
    TableLayout {
        name: "swe-smith",
        told_by: &["traj_id", "instance_id", "messages", "resolved"],
        fields: &[("id", &["traj_id"]), ("task", &["instance_id"]), ("outcome", &["resolved"]), ("model", &["model"])],
        long: &[&["messages"]],
        dialect: RowDialect::Chat,
    },
    TableLayout {
        name: "coderforge",
        told_by: &["trajectory_id", "messages", "reward"],
        fields: &[
            ("id", &["trajectory_id"]),
            ("task", &["instance_id"]),
            ("outcome", &["reward"]),
            ("end", &["finish_reason"]),
            ("model", &["model"]),
        ],
        long: &[&["messages"]],
        dialect: RowDialect::Chat,
    },
    TableLayout {
        name: "open-swe-traces",
        told_by: &["trajectory_id", "instance_id", "resolved", "license"],
        fields: SWE,
        long: &[&["trajectory", "messages"]],
        dialect: RowDialect::Chat,
    },
    TableLayout {
        name: "swe-rebench-openhands",
        told_by: &["trajectory_id", "instance_id", "trajectory", "resolved"],
        fields: SWE,
        long: &[&["trajectory"]],
        dialect: RowDialect::Chat,
    },
    TableLayout {
        name: "nebius-swe-agent",
        told_by: &["instance_id", "trajectory", "target"],
        fields: &[
            ("task", &["instance_id"]),
            ("outcome", &["target"]),
            ("end", &["exit_status"]),
            ("model", &["model_name"]),
        ],
        long: &[&["trajectory"]],
        dialect: RowDialect::Chat,
    },
];

const SWE: &[(&str, &[&str])] = &[
    ("id", &["trajectory_id"]),
    ("task", &["instance_id"]),
    ("outcome", &["resolved"]),
    ("end", &["exit_status"]),
    ("model", &["model"]),
];

/// The base of a layout that the user describes.
const MAPPED: TableLayout =
    TableLayout { name: "mapped", told_by: &[], fields: &[], long: &[], dialect: RowDialect::Chat };

/// The columns of a table that are read, by number, and what they mean.
#[derive(Clone, Debug)]
pub(crate) struct ColumnPlan {
    /// The layout.
    pub(crate) layout: &'static TableLayout,
    /// Fields by name, each with its column.
    pub(crate) fields: Vec<(&'static str, usize)>,
    /// The long columns; `None` for an optional one that is missing.
    pub(crate) long: Vec<Option<usize>>,
    /// The columns by which the layout was recognised, for the report.
    pub(crate) told_by: Vec<String>,
}

/// The columns that a table's plan has a place for.
const COLUMNS: [&str; 6] = ["run", "task", "outcome", "messages", "cost", "model"];

/// The plan for a table that the user describes. The error names the missing column.
fn mapped(map: &FieldMap, columns: &[String]) -> Result<ColumnPlan, String> {
    let mut plan = ColumnPlan { layout: &MAPPED, fields: Vec::new(), long: Vec::new(), told_by: Vec::new() };
    if map.get("messages").is_none() {
        return Err("the mapping names no column for `messages`".to_owned());
    }
    // The other fields are those of the messages.
    for (name, column) in map.fields().filter(|(name, _)| COLUMNS.contains(name)) {
        let found = columns.iter().position(|known| known == column);
        let found = found.ok_or_else(|| format!("there is no column `{column}` (`--map {name}={column}`)"))?;
        match name {
            "messages" => plan.long.push(Some(found)),
            "cost" => plan.fields.push(("cost_usd", found)),
            "run" => plan.fields.push(("id", found)),
            name => plan.fields.push((name, found)),
        }
        plan.told_by.push(column.to_owned());
    }
    Ok(plan)
}

impl ColumnPlan {
    /// Whether these are the columns of a known layout in this dialect.
    pub(crate) fn are_of_dialect(columns: &[String], dialect: RowDialect) -> bool {
        matches!(Self::from_columns(columns, None), Ok(plan) if plan.layout.dialect == dialect)
    }

    /// The plan for a table with these columns. The error is a reason worded for a message.
    pub(crate) fn from_columns(columns: &[String], map: Option<&FieldMap>) -> Result<Self, String> {
        let found = LAYOUTS.iter().find_map(|layout| layout.plan(columns));
        match (found, map) {
            // A table without the columns the user described keeps its known layout.
            (Some(plan), Some(map)) => Ok(mapped(map, columns).unwrap_or(plan)),
            (Some(plan), None) => Ok(plan),
            (None, Some(map)) => mapped(map, columns),
            (None, None) => {
                let mut names = columns.join(", ");
                if names.chars().count() > 200 {
                    names = names.chars().take(200).chain(std::iter::once('…')).collect();
                }
                let help = "say which column is what with `--map run=…,task=…,outcome=…,messages=…`";
                Err(format!("Parquet with columns of no known layout ({names}); {help}"))
            }
        }
    }

    /// Why the table has this layout.
    pub(crate) fn why(&self) -> String {
        format!("Parquet in the layout {} (columns {})", self.layout.name, self.told_by.join(", "))
    }
}

impl TableLayout {
    /// True for a layout that the user described.
    pub(crate) fn is_mapped(&self) -> bool {
        self.name == MAPPED.name
    }

    /// The column with the outcome, for the report.
    pub(crate) fn outcome_column(&self) -> &'static str {
        match self.fields.iter().find(|(name, _)| *name == "outcome") {
            Some((_, [first, ..])) => first,
            _ => "outcome",
        }
    }

    fn plan(&'static self, columns: &[String]) -> Option<ColumnPlan> {
        let at = |name: &&str| columns.iter().position(|column| column == *name);
        if !self.told_by.iter().all(|name| at(name).is_some()) {
            return None;
        }
        let any = |names: &[&str]| names.iter().find_map(at);
        let long: Vec<_> = self.long.iter().map(|names| any(names)).collect();
        if long.first() == Some(&None) {
            return None;
        }
        let fields = self.fields.iter().filter_map(|(name, columns)| Some((*name, any(columns)?))).collect();
        Some(ColumnPlan {
            layout: self,
            fields,
            long,
            told_by: self.told_by.iter().map(|name| (*name).to_owned()).collect(),
        })
    }
}

/// The layout of that name.
pub(crate) fn by_name(name: &str) -> Option<&'static TableLayout> {
    std::iter::once(&MAPPED).chain(LAYOUTS).find(|layout| layout.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(columns: &[&str], map: Option<&str>) -> Result<&'static str, String> {
        let columns: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
        ColumnPlan::from_columns(&columns, map.map(|map| FieldMap::parse(map).unwrap()).as_ref())
            .map(|plan| plan.layout.name)
    }

    #[test]
    fn a_layout_is_told_by_its_columns_in_any_order_and_with_others_beside_them() {
        assert_eq!(
            plan(&["resolved", "trajectory", "instance_id", "trajectory_id"], None).unwrap(),
            "swe-rebench-openhands"
        );
        assert_eq!(
            plan(&["license", "messages", "resolved", "instance_id", "trajectory_id"], None).unwrap(),
            "open-swe-traces"
        );
        assert_eq!(plan(&["steps", "reward", "task_name", "difficulty", "tags"], None).unwrap(), "terminalbench");
        let error = plan(&["a", "b"], None).unwrap_err();
        assert!(error.contains("(a, b)") && error.contains("--map"), "{error}");
    }

    #[test]
    fn a_mapping_goes_first_where_its_columns_are() {
        assert_eq!(plan(&["chat", "key"], Some("messages=chat,id=key")).unwrap(), "mapped");
        assert_eq!(
            plan(&["chat"], Some("messages=chat,id=key")).unwrap_err(),
            "there is no column `key` (`--map run=key`)"
        );
        assert_eq!(plan(&["trajectory_id", "messages", "reward"], Some("messages=chat")).unwrap(), "coderforge");
    }
}
