//! The names in git's index: what was added last of each file, which git reads where the file itself is missing.

/// The paths in an index; `None` where it is none, or holds whole directories as one.
pub(super) fn names(index: &[u8]) -> Option<Vec<Vec<u8>>> {
    // Ids have 20 bytes, or 32.
    [20, 32].into_iter().find_map(|id| read(index, id))
}

fn read(index: &[u8], id: usize) -> Option<Vec<Vec<u8>>> {
    const EXTENDED: u16 = 0x4000;
    const LENGTH: u16 = 0x0fff;
    const TIMES_AND_MODES: usize = 40;
    let rest = index.strip_prefix(b"DIRC")?;
    let version = number(rest)?;
    let count = number(rest.get(4..)?)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut rest = rest.get(8..)?;
    let mut names: Vec<Vec<u8>> = Vec::new();
    for _ in 0..count {
        let start = rest;
        let flags = u16::from_be_bytes(rest.get(TIMES_AND_MODES + id..)?.first_chunk().copied()?);
        let extended = flags & EXTENDED != 0;
        rest = rest.get(TIMES_AND_MODES + id + 2 + if extended { 2 } else { 0 }..)?;
        let mut name = Vec::new();
        if version == 4 {
            let (dropped, behind) = varied(rest)?;
            let last = names.last().map(Vec::as_slice).unwrap_or_default();
            name.extend_from_slice(last.get(..last.len().checked_sub(dropped)?)?);
            rest = behind;
        }
        let length = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&rest[..length]);
        let told = usize::from(flags & LENGTH);
        if name.is_empty() || (told < usize::from(LENGTH) && told != name.len()) {
            return None;
        }
        let read = start.len() - rest.len() + length;
        // Older ones fill up with one to eight zeros.
        let taken = if version == 4 { read + 1 } else { (read / 8 + 1) * 8 };
        rest = start.get(taken..)?;
        // A whole directory, whose files are not listed.
        if name.ends_with(b"/") {
            return None;
        }
        names.push(name);
    }
    Some(names)
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().copied().map(u32::from_be_bytes)
}

/// A number in as many bytes as it needs.
fn varied(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value: usize = 0;
    for (at, byte) in bytes.iter().enumerate().take(8) {
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
        value += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &[u8]) -> Vec<u8> {
        let told = u16::try_from(name.len()).unwrap();
        let mut bytes = [vec![7; 60], told.to_be_bytes().to_vec(), name.to_vec()].concat();
        bytes.resize((bytes.len() / 8 + 1) * 8, 0);
        bytes
    }

    fn index(version: u32, entries: &[Vec<u8>]) -> Vec<u8> {
        let count = u32::try_from(entries.len()).unwrap();
        let head = [b"DIRC".as_slice(), &version.to_be_bytes(), &count.to_be_bytes()].concat();
        [head, entries.concat(), vec![0; 20]].concat()
    }

    #[test]
    fn names_are_read_and_what_is_broken_is_none() {
        let entries = [entry(b".gitattributes"), entry(b"a/b")];
        let whole = index(2, &entries);
        assert_eq!(names(&whole), Some(vec![b".gitattributes".to_vec(), b"a/b".to_vec()]));
        for end in 0..whole.len() - 20 {
            assert_eq!(names(&whole[..end]), None, "{end}");
        }
        assert_eq!(names(&index(5, &entries)), None);
        assert_eq!(names(&index(2, &[entry(b"dir/")])), None, "a whole directory");
        // The second keeps what the first begins with, but for its last byte.
        let mut second = vec![7; 60];
        second.extend(3_u16.to_be_bytes());
        second.extend([1, b'c', 0]);
        let mut first = vec![7; 60];
        first.extend(3_u16.to_be_bytes());
        first.extend([0, b'a', b'/', b'b', 0]);
        assert_eq!(names(&index(4, &[first, second])), Some(vec![b"a/b".to_vec(), b"a/c".to_vec()]));
    }
}
