//! When two JSON texts mean the same.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::order::sort;
use crate::value::members;

/// True when two JSON texts mean the same; order of keys and number spelling do not matter.
pub(super) fn same_json(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    if let (Some(mut a), Some(mut b)) = (members(a), members(b)) {
        for members in [&mut a, &mut b] {
            sort(members, |(one, _), (other, _)| one.cmp(other));
        }
        let same = a.iter().zip(&b).all(|((a, x), (b, y))| a == b && same_json(x.get(), y.get()));
        return a.len() == b.len() && same;
    }
    let items = |text| serde_json::from_str::<Vec<&RawValue>>(text).ok();
    if let (Some(a), Some(b)) = (items(a), items(b)) {
        return a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same_json(a.get(), b.get()));
    }
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    matches!((value(a), value(b)), (Some(a), Some(b)) if a == b)
}
