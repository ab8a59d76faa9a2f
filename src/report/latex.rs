//! A table for a paper, using `booktabs` only.

use crate::answers::tables::DataTable;
use crate::diagnostic::is_hostile;

impl DataTable {
    /// A LaTeX table that needs the package `booktabs`; numbers are right-aligned, a missing one is a dash. A table
    /// without rows is a comment: an empty `tabular` does not compile.
    pub fn to_latex(&self) -> String {
        if self.rows.is_empty() {
            return "% a table without rows: no stack acted on these runs\n".to_owned();
        }
        let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
        let columns: String = (0..self.columns.len()).map(|c| if self.is_numeric(c) { 'r' } else { 'l' }).collect();
        let head = line(self.columns.iter().map(|name| latex(name)).collect());
        let rows: String =
            self.rows.iter().map(|row| line(row.iter().map(|cell| latex(&cell.shown())).collect())).collect();
        format!("\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n")
    }
}

/// Notes below a table, each a paragraph in small type.
pub fn latex_notes(notes: &[String]) -> String {
    notes.iter().fold(String::new(), |text, note| text + "{\\footnotesize " + &latex(note) + "\\par}\n")
}

/// Escapes text for LaTeX: nothing in it is a command.
pub(in crate::report) fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            // Two of these in a row would become a quotation mark or a longer dash.
            '\'' => out.push_str("\\textquotesingle{}"),
            '`' => out.push_str("\\textasciigrave{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '≥' => out.push_str("$\\geq$"),
            '≤' => out.push_str("$\\leq$"),
            '≈' => out.push_str("$\\approx$"),
            '−' => out.push_str("$-$"),
            '–' => out.push_str("--"),
            '-' if out.ends_with('-') => out.push_str("{}-"),
            '…' => out.push_str("\\dots{}"),
            c if c.is_whitespace() => out.push(' '),
            c if is_hostile(c) => out.push_str(&latex(&c.escape_default().to_string())),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::tables::TableCell;

    #[test]
    fn a_table_for_a_paper_holds_no_command_of_others() {
        let table = DataTable {
            columns: vec!["stack".into(), "killed, 95 %".into()],
            rows: vec![
                vec![TableCell::Text("loop_5 \\input{x}".into()), TableCell::Text("3.9 % (1.2–8.0)".into())],
                vec![TableCell::Text("a & b".into()), TableCell::Missing],
            ],
        };
        let lines = [
            "\\begin{tabular}{lr}",
            "\\toprule",
            "stack & killed, 95 \\% \\\\",
            "\\midrule",
            "loop\\_5 \\textbackslash{}input\\{x\\} & 3.9 \\% (1.2--8.0) \\\\",
            "a \\& b & - \\\\",
            "\\bottomrule",
            "\\end{tabular}\n",
        ];
        assert_eq!(table.to_latex(), lines.join("\n"));
        assert_eq!(
            latex("`--` ~^ \"\n≥"),
            "\\textasciigrave{}-{}-\\textasciigrave{} \\textasciitilde{}\\textasciicircum{} \\textquotedbl{} $\\geq$"
        );
    }
}
