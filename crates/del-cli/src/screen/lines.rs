//! Calls and results in a few lines, for the eye. What comes from a model or a file cannot act on the terminal.

use del_dialects::Call;
use del_tools::{ToolResult, visible};
use serde_json::Value;

use crate::colour::Paint;
use crate::table::cut;
use crate::terminal;

/// Lines of a result that are shown.
const LINES: usize = 8;
/// Columns of an argument's value.
const VALUE: usize = 60;

/// `● read_file(file_path: "README.md")`
pub(crate) fn call(paint: Paint, call: &Call) -> String {
    let name = visible(&call.name);
    let arguments =
        cut(&arguments(&call.arguments), terminal::width().saturating_sub(name.len() + 4).max(20));
    format!("{} {}({arguments})", paint.green("●"), paint.bold(name))
}

/// `  ⎿ ` and the first lines of what the tool said.
pub(crate) fn result(paint: Paint, result: &ToolResult) -> String {
    let width = terminal::width().saturating_sub(4).max(20);
    let text = result.text.trim_end();
    let all = text.lines().count();
    // One line that would only stand for one more line can as well be that line.
    let shown = if all <= LINES + 1 { all } else { LINES };
    let mut out = String::new();
    for (place, line) in text.lines().take(shown).enumerate() {
        let line = cut(&visible(&line.replace('\t', "  ")), width);
        let line = if result.ok { paint.dim(line) } else { paint.red(line) };
        out.push_str(if place == 0 { "  ⎿ " } else { "\n    " });
        out.push_str(&line);
    }
    if shown < all {
        out.push_str("\n    ");
        out.push_str(&paint.dim(format!("… {} more lines", all - shown)));
    }
    for change in &result.changes {
        let counts = format!("{} +{} -{}", visible(&change.path), change.added, change.removed);
        out.push_str("\n    ");
        out.push_str(&paint.dim(counts));
    }
    out
}

/// Arguments on one line, without the braces.
fn arguments(json: &str) -> String {
    let one_line = |text: &str| visible(&text.replace(['\n', '\t'], " ")).into_owned();
    let Ok(Value::Object(members)) = serde_json::from_str(json) else { return one_line(json) };
    let shown: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("{}: {}", one_line(key), cut(&one_line(&value.to_string()), VALUE)))
        .collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::When;

    fn plain() -> Paint {
        Paint::for_terminal(When::Never, false)
    }

    #[test]
    fn a_call_stands_on_one_line_and_cannot_act_on_the_terminal() {
        let arguments = "{\"path\": \"a\u{1b}[2J\\nb\", \"n\": 1}".to_owned();
        let call = call(plain(), &Call { id: None, name: "read\u{7}".into(), arguments });
        assert!(!call.contains(['\u{1b}', '\u{7}', '\n']), "{call}");
        assert!(call.starts_with("● read␇(") && call.ends_with(')'), "{call}");
    }

    #[test]
    fn long_results_say_how_much_is_left_out() {
        let text: Vec<String> = (0..20).map(|n| format!("line {n}")).collect();
        let shown = result(plain(), &ToolResult::success(text.join("\n")));
        assert!(
            shown.starts_with("  ⎿ line 0\n    line 1\n") && shown.ends_with("… 12 more lines"),
            "{shown}"
        );
    }
}
