//! A page of sentences, a figure and a table, without a script: `report.html` of what was predicted and then measured.

use super::shell::{STYLE, escaped, policy, table_of};
use crate::answers::tables::DataTable;

/// What such a page shows. Texts are texts, not HTML.
pub struct PlainPage<'a> {
    /// The title.
    pub title: &'a str,
    /// What was compared.
    pub headline: &'a str,
    /// The answer; the first sentence in large print.
    pub answer: &'a [String],
    /// The figure as SVG, drawn by whenstop.
    pub figure: &'a str,
    /// The table.
    pub table: &'a DataTable,
    /// What is said below the table.
    pub notes: &'a [String],
    /// The files beside it.
    pub files: &'a str,
}

impl PlainPage<'_> {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let (first, others) = match self.answer {
            [first, others @ ..] => (&**first, others),
            [] => ("", &[][..]),
        };
        let listed = |tag: &str, texts: &[String]| {
            let items: Vec<String> = texts.iter().map(|text| format!("<{tag}>{}</{tag}>\n", marked(text))).collect();
            items.concat()
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<p class=\"brand\">{title}</p>\n<p class=\"quiet\">{headline}</p>\n<h1>{first}</h1>\n{others}</header>\n\
             <main>\n<div class=\"figure\">{figure}</div>\n{table}<ul>\n{notes}</ul>\n</main>\n\
             <footer class=\"quiet\">{files}</footer>\n</body>\n</html>\n",
            policy = policy(None),
            title = escaped(self.title),
            headline = escaped(self.headline),
            first = marked(first),
            others = listed("p", others),
            figure = self.figure,
            table = table_of(self.table),
            notes = listed("li", self.notes),
            files = escaped(self.files),
        )
    }
}

/// A sentence as HTML, with what stands between backticks as code.
fn marked(text: &str) -> String {
    let mut parts = Vec::new();
    for (at, part) in text.split('`').enumerate() {
        let part = escaped(part);
        parts.push(if at % 2 == 1 { format!("<code>{part}</code>") } else { part });
    }
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::tables::TableCell;

    #[test]
    fn what_fills_a_place_cannot_leave_it() {
        let hostile = "</h1></style><img src=x onerror=alert(1)>".to_owned();
        let table = DataTable { columns: vec![hostile.clone()], rows: vec![vec![TableCell::Text(hostile.clone())]] };
        let texts = [hostile.clone(), hostile.clone()];
        let page = PlainPage {
            title: &hostile,
            headline: &hostile,
            answer: &texts,
            figure: "<svg></svg>",
            table: &table,
            notes: &texts,
            files: &hostile,
        };
        let html = page.html();
        assert_eq!(
            (html.matches("<img").count(), html.matches("</h1>").count(), html.matches("</style>").count()),
            (0, 1, 1)
        );
    }
}
