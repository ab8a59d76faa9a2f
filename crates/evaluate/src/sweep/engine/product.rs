//! All stacks that take one choice from each axis.

use super::atom::{AxisChoice, Join};
use crate::rule::Condition;
use crate::stack::{Clause, Stack};
use crate::transcript::Moment;

/// Axes with their choices. A stack takes one choice from each axis; the order of the axes is the order of precedence.
#[derive(Clone, Debug)]
pub struct Product {
    /// `None` is the choice that leaves the axis out.
    pub(super) axes: Vec<Vec<Option<AxisChoice>>>,
    pub(super) join: Join,
}

impl Product {
    /// A product of axes. With [`Join::Latched`] every choice must be a clause; all of them are then consulted after
    /// the tools.
    pub fn new(mut axes: Vec<Vec<Option<AxisChoice>>>, join: Join) -> Self {
        if join == Join::Latched {
            for choice in axes.iter_mut().flatten().flatten() {
                if let AxisChoice::Clause(clause) = choice {
                    clause.at = Moment::AfterTools;
                }
            }
        }
        Self { axes, join }
    }

    /// The choices, axis by axis.
    pub fn axes(&self) -> &[Vec<Option<AxisChoice>>] {
        &self.axes
    }

    /// Number of stacks; `None` if it overflows.
    pub fn len(&self) -> Option<u64> {
        self.axes.iter().try_fold(1_u64, |n, axis| n.checked_mul(axis.len() as u64))
    }

    /// True if some axis has no choice.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The index of each axis' choice in stack `index`; the last axis changes fastest.
    pub fn choices(&self, index: u64) -> Vec<usize> {
        choices_of(self.axes.iter().map(Vec::len), index)
    }

    /// The choices of stack `index`, in order.
    fn taken(&self, index: u64) -> impl Iterator<Item = &AxisChoice> {
        let taken = self.axes.iter().zip(self.choices(index));
        taken.filter_map(|(axis, choice)| axis[choice].as_ref())
    }

    /// Stack `index`, with the given name.
    pub fn stack(&self, index: u64, name: impl Into<String>) -> Stack {
        let (mut clauses, mut cap) = (Vec::new(), None);
        for choice in self.taken(index) {
            match choice {
                AxisChoice::Clause(clause) => clauses.push(clause.clone()),
                AxisChoice::Cap(of) => cap = Some(of.clone()),
            }
        }
        if self.join == Join::Latched {
            let parts: Vec<Condition> = clauses.into_iter().map(|clause: Clause| clause.condition).collect();
            let all = Clause::stop_on(Condition::All { parts, latched: true });
            clauses = vec![Clause { at: Moment::AfterTools, ..all }];
        }
        Stack { name: name.into(), clauses, cap }
    }
}

/// The index of each axis' choice in stack `index`, from the numbers of choices; the last axis changes fastest.
pub(in crate::sweep) fn choices_of(lengths: impl DoubleEndedIterator<Item = usize>, index: u64) -> Vec<usize> {
    let mut rest = index;
    let mut choices = Vec::new();
    for n in lengths.rev() {
        let n = n.max(1) as u64;
        choices.push(usize::try_from(rest % n).expect("it is below the number of choices"));
        rest /= n;
    }
    choices.reverse();
    choices
}
