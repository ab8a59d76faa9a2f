//! Exact sums of money, for frameworks that use decimal numbers.

use std::fmt;

/// A decimal number: `digits` times ten to the minus `scale`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: i128,
    scale: u32,
}

/// More decimal places than any price has; further ones are dropped.
const MOST_PLACES: usize = 18;

impl Decimal {
    /// The shortest decimal that round-trips to `value`; 0 if it is not finite.
    pub(super) fn shortest(value: f64) -> Self {
        let text = value.to_string();
        let (whole, places) = text.split_once('.').unwrap_or((&text, ""));
        let places = places.get(..MOST_PLACES).unwrap_or(places);
        format!("{whole}{places}")
            .parse()
            .map_or_else(|_| Self::default(), |digits| Self { digits, scale: u32::try_from(places.len()).unwrap_or(0) })
    }

    /// The exact sum.
    pub(super) fn plus(self, other: Self) -> Self {
        let scale = self.scale.max(other.scale);
        let (a, b) = (self.digits_at(scale), other.digits_at(scale));
        Self { digits: a.saturating_add(b), scale }
    }

    /// The nearest double.
    pub(super) fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    fn digits_at(self, scale: u32) -> i128 {
        self.digits.saturating_mul(10_i128.saturating_pow(scale - self.scale))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let places = usize::try_from(self.scale).unwrap_or(0);
        let digits = format!("{:0>width$}", self.digits.unsigned_abs(), width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        if places == 0 { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{fraction}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact_and_keep_their_places() {
        let sum = |values: &[f64]| values.iter().fold(Decimal::default(), |sum, v| sum.plus(Decimal::shortest(*v)));
        assert_eq!(sum(&[0.25, 0.25]).to_string(), "0.50");
        assert_eq!(sum(&[0.1, 0.1, 0.1]).to_string(), "0.3");
        assert_eq!(sum(&[1.0, 0.000_05]).to_string(), "1.00005");
        assert_eq!(sum(&[-0.5, 0.25]).to_string(), "-0.25");
        assert_eq!(sum(&[f64::NAN, 2.0]).to_string(), "2");
    }
}
