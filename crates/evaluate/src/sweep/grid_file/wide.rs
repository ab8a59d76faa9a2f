//! A grid over recordings: its stacks by number, in the engine's form and as stack files.

use std::collections::BTreeSet;

use super::{Combine, GridAxis, WrittenChoice};
use crate::aggregate::ChainPlace;
use crate::rule::{Comparator, Condition};
use crate::stack::Clause;
use crate::sweep::engine::{AxisChoice, Join, Product, choices_of};

/// Maximum stacks that are each one conjunction: they are evaluated one by one.
const MOST_CONJUNCTIONS: usize = 50_000;

/// A grid with all limits known.
#[derive(Clone, Debug)]
pub struct WideGrid {
    /// How the axes are combined.
    pub combine: Combine,
    /// The axes, in order of precedence.
    pub axes: Vec<GridAxis>,
    /// Whether and when agents are told of the cap, as lines of a stack file.
    told: String,
    product: Product,
    /// The longest axis whose choices are nested, if there is one, and the place of each of its choices from cautious to
    /// bold.
    longest: Option<(usize, Vec<usize>)>,
    /// Whether rules of two axes read alike, so that stacks need their numbers to be told apart.
    is_ambiguous: bool,
}

impl WideGrid {
    pub(super) fn new(combine: Combine, axes: Vec<GridAxis>, told: String) -> Result<Self, String> {
        let choices =
            |axis: &GridAxis| axis.choices.iter().map(|choice| Some(choice.as_ref()?.choice.clone())).collect();
        let product = match combine {
            Combine::Any => Product::new(axes.iter().map(choices).collect(), Join::Any),
            Combine::Latched => Product::new(axes.iter().map(choices).collect(), Join::Latched),
            Combine::All => {
                let all = Product::new(axes.iter().map(choices).collect(), Join::Any);
                let n = all.len().filter(|n| *n <= MOST_CONJUNCTIONS as u64).ok_or_else(|| {
                    format!(
                        "more than {MOST_CONJUNCTIONS} conjunctions: each is worked out by itself; `combine = \"latched\"` has no such end"
                    )
                })?;
                let conjunction = |index: u64| {
                    let parts: Vec<Condition> =
                        all.stack(index, "").clauses.into_iter().map(|clause| clause.condition).collect();
                    if parts.is_empty() {
                        return None;
                    }
                    Some(AxisChoice::Clause(Clause::stop_on(Condition::All { parts, latched: false })))
                };
                Product::new(vec![(0..n).map(conjunction).collect()], Join::Any)
            }
        };
        match product.len() {
            None => Err("more stacks than can be counted".to_owned()),
            Some(0) => Err("a grid without a stack".to_owned()),
            Some(_) => {
                let (longest, is_ambiguous) = (longest(&axes, combine), is_ambiguous(&axes));
                Ok(Self { combine, axes, told, product, longest, is_ambiguous })
            }
        }
    }

    /// The stacks in the form that the engine walks.
    pub fn product(&self) -> &Product {
        &self.product
    }

    /// How many stacks there are.
    pub fn len(&self) -> u64 {
        self.product.len().expect("a grid is refused if its stacks cannot be counted")
    }

    /// True without stacks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The choice of each axis in stack `index`.
    pub fn choices(&self, index: u64) -> Vec<Option<&WrittenChoice>> {
        let taken = choices_of(self.axes.iter().map(|axis| axis.choices.len()), index);
        self.axes.iter().zip(taken).map(|(axis, at)| axis.choices[at].as_ref()).collect()
    }

    /// How many chains of nested stacks the grid has: those that differ only in the longest axis of one rule are one.
    pub fn n_chains(&self) -> u64 {
        self.len() / self.longest.as_ref().map_or(1, |(_, places)| places.len() as u64)
    }

    /// The place of stack `index` in these chains.
    pub fn place(&self, index: u64) -> ChainPlace {
        let chain = |chain: u64, place: usize| ChainPlace {
            chain: usize::try_from(chain).unwrap_or(usize::MAX),
            place,
            weight: 1.0,
        };
        let Some((axis, places)) = &self.longest else { return chain(index, 0) };
        let later: u64 = self.axes[*axis + 1..].iter().map(|axis| axis.choices.len() as u64).product();
        let n = places.len() as u64;
        let own = usize::try_from(index / later % n).unwrap_or(0);
        chain(index / later / n * later + index % later, places[own])
    }

    /// The rules of stack `index`, as text.
    pub fn rules(&self, index: u64) -> String {
        self.rules_of(index).join(self.combine.word())
    }

    /// The rules of stack `index`, one by one.
    pub fn rules_of(&self, index: u64) -> Vec<String> {
        self.choices(index).into_iter().flatten().map(|choice| choice.choice.name().to_string()).collect()
    }

    /// Stack `index`, as `compare` would read it from [`Self::written`].
    pub fn stack(&self, index: u64) -> crate::stack::Stack {
        let mut stack = self.product.stack(index, self.name(index));
        // The file names a conjunction by its condition, so use the same name here.
        if stack.clauses.len() == 1 && self.combine != Combine::Any {
            for clause in &mut stack.clauses {
                clause.name = crate::decision::RuleName::new(clause.condition.to_string());
            }
        }
        stack
    }

    /// The name of stack `index`: its rules.
    pub fn name(&self, index: u64) -> String {
        let rules = self.rules(index);
        match rules.as_str() {
            "" => "no rule".to_owned(),
            _ if self.is_ambiguous => format!("{rules} (stack {index})"),
            _ => rules,
        }
    }

    /// Stack `index` as written in a stack file.
    pub fn written(&self, index: u64) -> String {
        let name = self.name(index);
        let choices = || self.choices(index).into_iter().flatten();
        let clauses: Vec<String> = choices()
            .filter(|choice| matches!(choice.choice, AxisChoice::Clause(_)))
            .map(|choice| format!("  {},\n", choice.text))
            .collect();
        let list = clauses.concat();
        let rules = match self.combine {
            _ if clauses.is_empty() => String::new(),
            Combine::Any => format!("any = [\n{list}]\n"),
            Combine::All => format!("any = [{{ all = [\n{list}] }}]\n"),
            Combine::Latched => format!("any = [{{ all = [\n{list}], latched = true, at = \"after_tools\" }}]\n"),
        };
        let cap = choices().find(|choice| matches!(choice.choice, AxisChoice::Cap(_)));
        let cap = cap.map(|cap| format!("cap = {{ steps = {} }}\n{}", cap.text, self.told)).unwrap_or_default();
        let name = toml::Value::String(name);
        format!("[[stack]]\nname = {name}\n{rules}{cap}")
    }
}

/// Whether a rule of one axis reads like one of another: options that are no part of its name can differ.
fn is_ambiguous(axes: &[GridAxis]) -> bool {
    let mut seen = BTreeSet::new();
    axes.iter().any(|axis| {
        let names: BTreeSet<String> =
            axis.choices.iter().flatten().map(|choice| choice.choice.name().to_string()).collect();
        let is_new = seen.is_disjoint(&names);
        seen.extend(names);
        !is_new
    })
}

/// The longest axis whose choices are nested, and their places.
fn longest(axes: &[GridAxis], combine: Combine) -> Option<(usize, Vec<usize>)> {
    let nested = |(at, axis): (usize, &GridAxis)| Some((at, nested_places(axis, combine)?));
    axes.iter().enumerate().filter_map(nested).max_by_key(|(at, places)| (places.len(), std::cmp::Reverse(*at)))
}

/// The places of an axis' choices from cautious to bold: of one rule, or of caps, by their limits. Without its rule a stack
/// stops less, where any axis stops it, and more, where all have to. `None` if the choices are not nested.
fn nested_places(axis: &GridAxis, combine: Combine) -> Option<Vec<usize>> {
    let mut keys = Vec::with_capacity(axis.choices.len());
    for choice in &axis.choices {
        keys.push(match choice {
            None if combine == Combine::Any => f64::NEG_INFINITY,
            None => f64::INFINITY,
            Some(choice) => boldness(&choice.choice)?,
        });
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|a, b| keys[*a].total_cmp(&keys[*b]));
    let mut places = vec![0; keys.len()];
    for (place, at) in order.into_iter().enumerate() {
        places[at] = place;
    }
    Some(places)
}

/// A number that rises as the limit gets bolder; `None` for anything but one rule that nests.
fn boldness(choice: &AxisChoice) -> Option<f64> {
    match choice {
        AxisChoice::Cap(cap) => Some(-f64::from(cap.steps)),
        AxisChoice::Clause(Clause { condition: Condition::Rule(rule), .. }) => match rule.comparator {
            Comparator::AtLeast | Comparator::MoreThan => Some(-rule.limit),
            Comparator::AtMost | Comparator::LessThan => Some(rule.limit),
            Comparator::Equals => None,
        },
        AxisChoice::Clause(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::stack::Guards;
    use crate::stack::StopClauses;
    use crate::sweep::GridFile;
    use crate::sweep::engine::Plan;

    #[test]
    fn the_stacks_of_a_chain_are_nested_by_their_definitions() {
        let axes = "[[axis]]\nsignal = \"steps\"\nat_least = [9, 3, 6]\noptional = true\n\
            [[axis]]\nsignal = \"novelty\"\nat_most = [0.1, 0.2]\n[[axis]]\ncap = [20, 10]\n";
        let grid = GridFile::parse("grid.toml", axes, &Guards::default()).unwrap().grid(&[], &Plan::default()).unwrap();
        assert_eq!((grid.len(), grid.n_chains()), (16, 4));
        let mut chains: BTreeMap<usize, BTreeMap<usize, u64>> = BTreeMap::new();
        for index in 0..grid.len() {
            let ChainPlace { chain, place, .. } = grid.place(index);
            assert!(chains.entry(chain).or_default().insert(place, index).is_none(), "two have a place");
        }
        assert_eq!(chains.keys().copied().collect::<BTreeSet<_>>(), (0..4).collect());
        for chain in chains.values() {
            let stacks: Vec<_> =
                chain.values().map(|index| StopClauses::from_stack(&grid.stack(*index)).unwrap()).collect();
            assert!(stacks.len() == 4 && stacks.windows(2).all(|pair| pair[0].is_within(&pair[1])), "{chain:?}");
        }
    }
}
