//! Lines with places in them, such as `{path}:{line}:{column}: {message}`: what programs write, read by a picture of it.

use serde::Deserialize;

/// The picture of a line. In `{line}`, `{column}`, `{n}`, `{total}`, `{failed}` stand digits; in `{rule}` and `{severity}` a
/// word; in `{}` anything or nothing; in every other place something.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place(String),
}

/// What stands in the places of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Read<'l>(Vec<(String, &'l str)>);

/// Longer lines are not looked at: trying the places takes time.
const MAX_LINE: usize = 4096;

impl From<String> for Template {
    fn from(text: String) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, behind)) = rest.split_once('{') {
            let Some((place, after)) = behind.split_once('}') else { break };
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(Piece::Place(place.to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Self(pieces)
    }
}

impl Template {
    /// What stands in the places, if the whole of `line` looks so.
    pub(crate) fn read<'l>(&self, line: &'l str) -> Option<Read<'l>> {
        let line = line.trim_end();
        let mut read = Read::default();
        (line.len() <= MAX_LINE && fits(&self.0, line, &mut read)).then_some(read)
    }
}

impl<'l> Read<'l> {
    pub(crate) fn get(&self, place: &str) -> Option<&'l str> {
        self.0.iter().find(|(own, _)| own == place).map(|(_, text)| *text)
    }

    pub(crate) fn number(&self, place: &str) -> Option<u64> {
        self.get(place)?.parse().ok()
    }
}

/// Finds the shortest text for each place.
fn fits<'l>(pieces: &[Piece], line: &'l str, read: &mut Read<'l>) -> bool {
    let Some((first, rest)) = pieces.split_first() else { return line.is_empty() };
    let place = match first {
        Piece::Text(text) => {
            return line.strip_prefix(text.as_str()).is_some_and(|line| fits(rest, line, read));
        }
        Piece::Place(place) => place,
    };
    let ends: Box<dyn Iterator<Item = usize>> = match rest.first() {
        None => Box::new(std::iter::once(line.len())),
        Some(Piece::Text(text)) => Box::new(line.match_indices(text.as_str()).map(|(at, _)| at)),
        Some(Piece::Place(_)) => {
            Box::new(line.char_indices().map(|(at, _)| at).chain(std::iter::once(line.len())))
        }
    };
    let known = read.0.len();
    for end in ends {
        let text = &line[..end];
        if !may_stand(place, text) {
            continue;
        }
        read.0.push((place.clone(), text));
        if fits(rest, &line[end..], read) {
            return true;
        }
        read.0.truncate(known);
    }
    false
}

fn may_stand(place: &str, text: &str) -> bool {
    match place {
        "" => true,
        "line" | "column" | "n" | "total" | "failed" => {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
        }
        "rule" | "severity" => !text.is_empty() && !text.contains(char::is_whitespace),
        _ => !text.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'l>(template: &str, line: &'l str) -> Option<Vec<&'l str>> {
        let read = Template::from(template.to_owned()).read(line)?;
        Some(read.0.into_iter().map(|(_, text)| text).collect())
    }

    #[test]
    fn places_take_the_shortest_text_that_fits() {
        let gcc = "{path}:{line}:{column}: {severity}: {message} [{rule}]";
        assert_eq!(
            read(gcc, "a b.sh:2:6: note: Quote [1:2: x] this. [SC2086]").unwrap(),
            ["a b.sh", "2", "6", "note", "Quote [1:2: x] this.", "SC2086"]
        );
        assert_eq!(read(gcc, "a.sh:x:6: note: Quote this. [SC2086]"), None);
        assert_eq!(read("{}___ {name} ___{}", "_______ test a ______").unwrap()[1], "test a");
        assert_eq!(read("a{n}", "a12").unwrap(), ["12"]);
        assert_eq!(read("a{n}b", "a12"), None);
    }
}
