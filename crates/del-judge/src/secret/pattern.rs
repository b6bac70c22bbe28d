//! Patterns of file names, held against each other.

/// Whether two patterns have a name in common; a list of characters counts as any character. The time is bounded by the
/// product of both lengths.
pub(super) fn meet(one: &[u8], other: &[u8]) -> bool {
    let (one, other) = (signs(one), signs(other));
    // Whether what follows in the first from here on meets what follows in the second from each place on.
    let mut behind = vec![false; other.len() + 1];
    for at in (0..=one.len()).rev() {
        let mut here = vec![false; other.len() + 1];
        for place in (0..=other.len()).rev() {
            here[place] = match (one.get(at), other.get(place)) {
                (None, None) => true,
                (Some(Sign::Any), second) => behind[place] || (second.is_some() && here[place + 1]),
                (first, Some(Sign::Any)) => here[place + 1] || (first.is_some() && behind[place]),
                (Some(Sign::One), Some(_)) | (Some(_), Some(Sign::One)) => behind[place + 1],
                (Some(Sign::This(a)), Some(Sign::This(b))) => a == b && behind[place + 1],
                (Some(_), None) | (None, Some(_)) => false,
            };
        }
        behind = here;
    }
    behind[0]
}

/// A part of a pattern.
enum Sign {
    Any,
    One,
    This(u8),
}

fn signs(pattern: &[u8]) -> Vec<Sign> {
    let mut signs = Vec::new();
    let mut rest = pattern;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        signs.push(match first {
            b'*' => Sign::Any,
            b'?' => Sign::One,
            b'[' => {
                rest = rest.iter().position(|b| *b == b']').map_or(&[], |end| &rest[end + 1..]);
                Sign::One
            }
            byte => Sign::This(*byte),
        });
    }
    signs
}
