//! The head of a Markdown file: `key: value` between two lines of `---`. It is read a line at a time and not as YAML: what people
//! write there often is none, such as a colon in a description.

/// The keys and values of the head, and what stands below it.
pub(super) fn split(text: &str) -> (Vec<(String, String)>, &str) {
    let text = text.trim_start_matches('\u{feff}');
    let none = (Vec::new(), text);
    let Some(rest) = text.strip_prefix("---").map(|rest| rest.trim_start_matches([' ', '\t', '\r'])) else {
        return none;
    };
    let Some(rest) = rest.strip_prefix('\n') else { return none };
    let mut front: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        let plain = line.trim_end();
        if plain == "---" {
            return (front, &rest[at..]);
        }
        match plain.split_once(':') {
            Some((key, value)) if !plain.starts_with([' ', '\t', '-', '#']) => {
                let value = Some(value.trim()).filter(|value| !matches!(*value, "|" | ">" | "|-" | ">-"));
                front.push((key.trim().to_owned(), unquoted(value.unwrap_or_default()).to_owned()));
            }
            // The value goes on.
            _ => {
                if let Some((_, value)) = front.last_mut().filter(|_| plain.starts_with([' ', '\t', '-'])) {
                    value.push(if plain.trim_start().starts_with("- ") { ',' } else { ' ' });
                    value.push_str(plain.trim_start().trim_start_matches("- "));
                }
            }
        }
    }
    none
}

/// The names of a list: with commas, in brackets, or an item a line. What stands in parentheses behind a name is left out.
pub(super) fn list(value: &str) -> Vec<String> {
    let (mut names, mut name, mut depth) = (Vec::new(), String::new(), 0_u32);
    for c in value.trim_start_matches('[').trim_end_matches(']').chars().chain([',']) {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => names.push(unquoted(std::mem::take(&mut name).trim()).to_owned()),
            c if depth == 0 => name.push(c),
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn unquoted(value: &str) -> &str {
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(value).trim()
}
