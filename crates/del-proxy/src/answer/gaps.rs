//! Where paragraphs begin in the text of an answer.

use std::collections::VecDeque;

use del_wire::GAP;

/// The places of the gaps in a text that were not met yet.
#[derive(Debug, Default)]
pub(super) struct Gaps(VecDeque<u64>);

impl Gaps {
    /// Behind so many bytes of the text there is one.
    pub(super) fn add(&mut self, at: u64) {
        self.0.push_back(at);
    }

    /// The next of these bytes of the text, which begin at this place of it: what stands before the next gap, and what stands
    /// behind that, where it ends here. A gap that went with markup ends before what comes next.
    pub(super) fn cut<'t>(&mut self, text: &'t str, at: u64) -> (&'t str, Option<&'t str>) {
        let Some(&gap) = self.0.front() else { return (text, None) };
        let place = |place: u64| usize::try_from(place.saturating_sub(at)).unwrap_or(usize::MAX);
        let (begin, end) = (place(gap), place(gap + GAP.len() as u64));
        if text.len() < end {
            return (text.get(..begin).unwrap_or(text), None);
        }
        self.0.pop_front();
        match (text.get(..begin), text.get(end..)) {
            (Some(before), Some(behind)) => (before, Some(behind)),
            _ => (text, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Gaps;

    /// The paragraphs of this text, whose gaps are at these places, cut into pieces that begin there.
    fn paragraphs(text: &str, gaps: &[u64], pieces: &[usize]) -> Vec<String> {
        let mut places = Gaps::default();
        for gap in gaps {
            places.add(*gap);
        }
        let mut paragraphs = vec![String::new()];
        for (place, begin) in pieces.iter().enumerate() {
            let end = pieces.get(place + 1).copied().unwrap_or(text.len());
            let (mut rest, mut at) = (&text[*begin..end], *begin);
            loop {
                let (before, behind) = places.cut(rest, at as u64);
                paragraphs.last_mut().unwrap().push_str(before);
                let Some(behind) = behind else { break };
                paragraphs.push(String::new());
                at += rest.len() - behind.len();
                rest = behind;
            }
        }
        paragraphs
    }

    #[test]
    fn a_gap_is_met_however_the_text_is_cut() {
        let text = "Dé.\n\nTwo.\n\n\n\nThree.";
        for first in 0..text.len() {
            for second in first..text.len() {
                if !text.is_char_boundary(first) || !text.is_char_boundary(second) {
                    continue;
                }
                let told = paragraphs(text, &[4, 10, 12], &[0, first, second]);
                assert_eq!(told, ["Dé.", "Two.", "", "Three."], "{first} {second}");
            }
        }
    }

    #[test]
    fn a_gap_that_went_with_markup_ends_before_what_follows() {
        let mut gaps = Gaps::default();
        gaps.add(4);
        gaps.add(30);
        assert_eq!(gaps.cut("Two.", 20), ("", Some("Two.")));
        assert_eq!(gaps.cut("Two.", 20), ("Two.", None));
        assert_eq!(gaps.cut("\nThree.", 31), ("", Some("Three.")));
    }
}
