//! What a member of a call object is, by its key.

use crate::dialect::CallForm;

/// What the value at hand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    Name,
    /// What stands in its place without quotes, and is one if a tool has it.
    Word,
    Args,
    Id,
    Wrapper,
    /// The object that the arguments stand in.
    Around,
    /// The key is the name of a tool: an object behind it is its arguments.
    Tool,
    Other,
}

/// True when every object of this form is read as that of any other such form.
pub(crate) fn is_usual(form: &CallForm) -> bool {
    let CallForm { name, args, around, others, id, .. } = form;
    let keys =
        [(name.as_deref(), Member::Name), (Some(args.as_str()), Member::Args), (id.as_deref(), Member::Id)];
    let plain = around.is_empty() && others.is_empty();
    name.is_some()
        && plain
        && keys.into_iter().all(|(key, member)| key.is_none_or(|key| usual(key, false) == member))
}

pub(super) fn member_of(key: &str, form: &CallForm, named: bool) -> Member {
    if form.name.as_deref() == Some(key) {
        return Member::Name;
    }
    if form.args == key {
        return Member::Args;
    }
    if form.id.as_deref() == Some(key) {
        return Member::Id;
    }
    if form.around.iter().any(|around| around == key) {
        return Member::Around;
    }
    if form.others.iter().any(|other| other == key) {
        return Member::Other;
    }
    match usual(key, named) {
        // A form with a key of its own for the name knows no other.
        Member::Name if form.name.as_deref().is_some_and(|own| usual(own, false) != Member::Name) => {
            Member::Other
        }
        member => member,
    }
}

/// The keys that name the tool in the usual forms.
pub(crate) const NAMES: [&str; 3] = ["name", "tool_name", "tool"];

fn usual(key: &str, named: bool) -> Member {
    match key {
        _ if !named && NAMES.contains(&key) => Member::Name,
        "function" | "tool_call" | "function_call" => Member::Wrapper,
        "arguments" | "parameters" | "params" | "args" | "input" | "tool_input" => Member::Args,
        "id" | "tool_call_id" | "call_id" => Member::Id,
        _ => Member::Other,
    }
}
