//! Work shared between all threads. Each use of rayon's iterators is compiled for its own types; here that happens once.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// Portions per thread: enough that no thread waits long for another with a slower portion.
const PORTIONS: usize = 16;

/// What `work` makes of each item, in their order.
pub fn map<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    map_range(0..items.len(), |at| work(&items[at]))
}

/// What `work` makes of each number, in their order.
pub fn map_range<T: Send>(numbers: Range<usize>, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut results: Vec<Option<T>> = std::iter::repeat_with(|| None).take(numbers.len()).collect();
    let size = numbers.len().div_ceil(PORTIONS * rayon::current_num_threads()).max(1);
    let portions: Vec<Mutex<&mut [Option<T>]>> = results.chunks_mut(size).map(Mutex::new).collect();
    for_each(portions.len(), &|nth| {
        let mut portion = portions[nth].lock().unwrap_or_else(PoisonError::into_inner);
        for (result, number) in portion.iter_mut().zip(numbers.start + nth * size..) {
            *result = Some(work(number));
        }
    });
    drop(portions);
    results.into_iter().flatten().collect()
}

fn for_each(n: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().for_each(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_worked_on_once_and_in_its_place() {
        for n in [0, 1, 31, 32, 33, 1000] {
            let numbers: Vec<usize> = (5..5 + n).collect();
            let twice = map_range(5..5 + n, |number| 2 * number);
            assert_eq!(map(&twice, |number| number / 2), numbers);
            assert_eq!(map(&numbers, |number| 2 * number), twice);
        }
    }
}
