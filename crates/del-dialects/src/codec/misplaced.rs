//! Objects and lists in arguments that are no values of them: the definition of an argument with a value in it, or all the
//! arguments once more in an object of their own. Models echo so the schema that they were shown.

use crate::tool::{Tool, misplaces};
use crate::value::members;

/// Where in `arguments` as JSON the first such value stands.
pub(crate) fn misplaced(tool: Option<&Tool>, arguments: &str) -> Option<usize> {
    memchr::memchr2(b'{', b'[', tool.and(arguments.as_bytes().get(1..))?)?;
    let members = members(arguments)?;
    let (_, value) = members.iter().find(|(key, value)| {
        let value = value.get();
        value.starts_with(['{', '[']) && misplaces(tool, key, value.starts_with('{'))
    })?;
    Some(value.get().as_ptr().addr() - arguments.as_ptr().addr())
}
