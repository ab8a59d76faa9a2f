//! Numbers, intervals and lists in sentences: one way to round, for every sentence and every table that people read.

/// A measured share in percent, without the sign: one decimal below 10, none from 10 on.
pub fn digits(share: f64) -> String {
    let percent = share * 100.0;
    let text = if percent.abs() < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") };
    if text == "-0.0" { "0.0".to_owned() } else { text }
}

/// A measured share: `8.5 %`, `26 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", digits(share))
}

/// A measured share with one decimal, without the sign: where a change of a tenth of a percent has to be seen.
pub fn tenths(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    if text == "-0.0" { "0.0".to_owned() } else { text }
}

/// A share that somebody chose, in percent with all its digits and without the sign: `2.5`, `5`.
pub fn chosen(share: f64) -> String {
    let text = format!("{:.4}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The same with the sign: `2.5 %`.
pub fn chosen_percent(share: f64) -> String {
    format!("{} %", chosen(share))
}

/// Shares in percent, at least and at most: `26`, or `12–26`.
pub fn span(low: f64, high: f64) -> String {
    let (low, high) = (digits(low), digits(high));
    if low == high { low } else { format!("{low}–{high}") }
}

/// The same with the sign: `26 %`, or `12–26 %`.
pub fn percents((low, high): (f64, f64)) -> String {
    format!("{} %", span(low, high))
}

/// A count, at least and at most: `3`, or `2–3`.
pub fn counts((low, high): (u64, u64)) -> String {
    if low == high { low.to_string() } else { format!("{low}–{high}") }
}

/// The same, grouped by thousands: `1,203–1,210`.
pub fn grouped_counts((low, high): (u64, u64)) -> String {
    if low == high { grouped(low) } else { format!("{}–{}", grouped(low), grouped(high)) }
}

/// A share in percent: `12 %`.
pub fn known_percent(share: Option<f64>) -> String {
    match share {
        Some(share) => format!("{} %", digits(share)),
        None => "an unknown share".to_owned(),
    }
}

/// The interval of a share behind it: ` (4.5–15)`; nothing if there is none.
pub fn interval(ends: Option<(f64, f64)>) -> String {
    match ends {
        Some((low, high)) => format!(" ({}–{})", digits(low), digits(high)),
        None => String::new(),
    }
}

/// The interval of a share that may be below 0: ` (-2.1 to 1.2)`, or ` (4.5–15)` if it is not.
pub fn signed_interval(ends: Option<(f64, f64)>) -> String {
    match ends {
        Some((low, high)) if low < 0.0 => format!(" ({} to {})", digits(low), digits(high)),
        ends => interval(ends),
    }
}

/// An amount of dollars without the sign, with as many digits as a reader needs.
pub fn dollars(amount: f64) -> String {
    let digits = if amount.abs() >= 100.0 {
        0
    } else if amount.abs() >= 1.0 {
        2
    } else {
        4
    };
    format!("{amount:.digits$}")
}

/// A count with separators: `1,696`.
pub fn grouped(count: u64) -> String {
    let text = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in text.chars().enumerate() {
        if at > 0 && (text.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count in thousands where it is large: `9,999`, `412k`.
pub fn thousands(count: u64) -> String {
    if count < 10_000 { grouped(count) } else { format!("{}k", grouped((count + 500) / 1000)) }
}

/// Words as a list: `a, b and c`.
pub fn listed(words: &[String]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// The first words of a list and how many more there are: `a, b and 7 more`; all of them if there are no more.
pub fn some_of(words: &[String], most: usize) -> String {
    match words.len().saturating_sub(most) {
        0 => words.join(", "),
        more => format!("{} and {more} more", words[..most].join(", ")),
    }
}

/// Cuts a name to `width` characters by removing its middle, since similar names differ at either end.
pub fn shortened(name: &str, width: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= width {
        return name.to_owned();
    }
    let (head, tail) = (width / 2, width.saturating_sub(width / 2 + 1));
    letters[..head].iter().chain(['…'].iter()).chain(&letters[letters.len() - tail..]).collect()
}

/// A text of at most `most` characters, and at least one: a longer one is cut, and ends in `…`.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_in_one_way() {
        let shares = [0.0, -0.0004, 0.0847, 0.0994, 0.0995, 0.0997, 0.104, 1.0, -0.123];
        assert_eq!(shares.map(digits).join(" "), "0.0 0.0 8.5 9.9 10 10 10 100 -12");
        assert_eq!([0.05, 0.025, 0.1 + 0.2, 0.999].map(chosen).join(" "), "5 2.5 30 99.9");
        assert_eq!([span(0.1201, 0.1199), span(0.12, 0.26)].join(" "), "12 12–26");
        assert_eq!(interval(Some((0.045, 0.151))) + &interval(None), " (4.5–15)");
        assert_eq!(signed_interval(Some((-0.021, 0.012))), " (-2.1 to 1.2)");
        assert_eq!(signed_interval(Some((0.045, 0.151))) + &signed_interval(None), " (4.5–15)");
    }

    #[test]
    fn amounts_and_lists_are_for_people() {
        assert_eq!([0.00123, 1.5, 123.4].map(dollars).join(" "), "0.0012 1.50 123");
        assert_eq!([999, 1696, 9999, 10_000, 1_234_567].map(thousands).join(" "), "999 1,696 9,999 10k 1,235k");
        let words = ["a", "b", "c"].map(str::to_owned);
        assert_eq!([listed(&words), listed(&words[..1]), listed(&[])].join("; "), "a, b and c; a; ");
        assert_eq!([some_of(&words, 2), some_of(&words, 3)].join("; "), "a, b and 1 more; a, b, c");
    }
}
