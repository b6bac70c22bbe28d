//! Sorting. Each type has kilobytes of a routine of its own with `slice::sort`, which a page that reads answers would have
//! to load.

use std::cmp::Ordering;

/// Puts the items in order; equal ones stay as they stand.
pub(crate) fn sort<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let places = places(items.len(), &|one, other| compare(&items[one], &items[other]));
    let mut given: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    items.extend(places.into_iter().filter_map(|place| given[place].take()));
}

/// The places of so many items, in order.
fn places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|one, other| compare(*one, *other));
    places
}
