//! A new description: from what a template writes, or from examples.

mod candidate;

use del_dialects::{Dialect, Tool};

use crate::adapt;
use crate::describe::{Reasoning, Results, Sketch};
use crate::probe::{self, Findings, Shown, Turn, UNTOLD_END};
use crate::report::{Description, counted};
use crate::source::Material;
use crate::syntax::{self, Sample, Shape};
use crate::text;
use candidate::{Candidate, consider};

/// The best description of what a template writes: that of a known dialect where it reads as much.
pub(crate) fn of_template(
    findings: &Findings,
    material: &Material,
    known: Option<&Dialect>,
) -> Result<Description, String> {
    let sketch = sketch(findings, material);
    of_turns(&findings.turns, &sketch, &probe::tools(), findings, known)
}

/// The best description of turns whose calls are known.
pub(crate) fn of_turns(
    turns: &[Turn],
    sketch: &Sketch,
    tools: &[Tool],
    findings: &Findings,
    known: Option<&Dialect>,
) -> Result<Description, String> {
    let mut best: Option<Candidate> = None;
    if let Some(known) = known {
        let copy = adapt::adapted(known, sketch);
        best = copy.and_then(|toml| Candidate::of(&toml, &[], 0, turns, findings, tools));
        if let Some(best) = &mut best {
            best.description.copy_of = Some(known.name().to_owned());
        }
    }
    let samples = samples(turns);
    let mut shapes: Vec<Shape> = samples.iter().flat_map(|samples| syntax::shapes(samples)).collect();
    let bare = samples.iter().filter_map(|samples| without_empty_answers(samples, sketch));
    shapes.extend(bare.flat_map(|samples| syntax::shapes(&samples)));
    consider(&shapes, sketch, turns, findings, tools, &mut best);
    // Where some turns are written otherwise, the shape that most of them have.
    if best.as_ref().is_none_or(|best| best.fit.read < turns.len()) {
        let more: Vec<Shape> = samples.iter().flat_map(|samples| syntax::shapes_of_most(samples)).collect();
        consider(&more, sketch, turns, findings, tools, &mut best);
    }
    // What reads less than half is no description of it.
    match best {
        Some(best) if best.fit.clean * 2 >= turns.len() => Ok(best.description),
        near => Err(why_not(turns, near.map_or(0, |near| near.fit.clean))),
    }
}

/// Why nothing is described.
fn why_not(turns: &[Turn], read: usize) -> String {
    match (syntax::obstacle(turns.iter().map(sample)), read) {
        (Some(obstacle), _) => format!("{obstacle}, for which a description has no words"),
        (None, 0) => {
            "no form that a description knows fits half of them and can be written and read again".to_owned()
        }
        (None, _) => format!("the nearest form reads {read} of {} cleanly", counted(turns.len(), "turn")),
    }
}

/// The turns as samples, in several choices: those that only call; all, where they show more calls at once; and those
/// with several calls, which may be closed where one call is not.
fn samples(turns: &[Turn]) -> Vec<Vec<Sample>> {
    let of = |wanted: &dyn Fn(&&Turn) -> bool| -> Vec<Sample> {
        turns.iter().filter(wanted).map(sample).collect()
    };
    let plain = |turn: &&Turn| turn.said.is_none() && turn.thought.is_none();
    let several = |samples: &[Sample]| samples.iter().any(|sample| sample.calls.len() > 1);
    let alone = of(&plain);
    let all = of(&|_| true);
    let mut choices = Vec::new();
    // Where few turns are nothing but calls, the others are cut down to them.
    if alone.len() * 2 >= turns.len() {
        choices.push(alone.clone());
    }
    if choices.is_empty() || (several(&all) && !several(&alone)) {
        choices.insert(0, all.clone());
    }
    if several(&all) {
        choices.push(of(&|turn| turn.calls.len() == 2));
    }
    choices
}

/// A turn without thinking and text before its calls.
fn sample(turn: &Turn) -> Sample {
    let mut text = turn.text.as_str();
    if let Some(at) = turn.thought.as_deref().and_then(|thought| Some(text.find(thought)? + thought.len())) {
        text = &text[at..];
        if let Some(mark) = text::first_mark(text).filter(|_| turn.said.is_none()) {
            text = text.split_once(mark).map_or(text, |(_, behind)| behind);
        }
    }
    if let Some(at) = turn.said.as_deref().and_then(|said| Some(text.find(said)? + said.len())) {
        text = &text[at..];
    }
    Sample { text: text.to_owned(), calls: turn.calls.clone() }
}

/// The samples without the mark that opens an answer which says nothing; none where no sample begins with it.
fn without_empty_answers(samples: &[Sample], sketch: &Sketch) -> Option<Vec<Sample>> {
    let begin =
        sketch.content[0].iter().find(|begin| samples.iter().any(|one| one.text.starts_with(*begin)))?;
    let bare = |one: &Sample| Sample {
        text: one.text.strip_prefix(begin.as_str()).unwrap_or(&one.text).to_owned(),
        calls: one.calls.clone(),
    };
    Some(samples.iter().map(bare).collect())
}

/// What a template tells beside its calls.
fn sketch(findings: &Findings, material: &Material) -> Sketch {
    let model = material.model.clone();
    Sketch {
        title: model.clone().unwrap_or_else(|| "Detected".to_owned()),
        source: model
            .map_or_else(|| "its chat template".to_owned(), |model| format!("chat template of {model}")),
        reasoning: findings.reasoning.as_ref().map(|thinking| Reasoning {
            begin: thinking.begin.clone(),
            end: ends_of_thinking(findings, &thinking.end),
            until_call: thinking.end.is_empty() || !is_ended(findings, &thinking.end),
            prefilled: thinking.may_be_begun(),
        }),
        content: content(findings),
        lead: leads(findings),
        results: findings.results.as_ref().and_then(|shown| results(shown, &findings.end)),
        definitions: definitions(&findings.definitions),
        ends: ends(findings, material),
    }
}

/// The tokens that end a turn: its marks, or all there is where that is one word with signs in it. A mark that calls
/// have as well ends nothing.
fn ends(findings: &Findings, material: &Material) -> Vec<String> {
    const LONGEST: usize = 24;
    const MOST: usize = 4;
    let word = findings.end.trim();
    let mut marks: Vec<&str> = text::marks(word).take(MOST).collect();
    let whole = marks.iter().map(|mark| mark.len()).sum::<usize>() == word.len();
    // A template may end a turn in its middle, by mistake.
    let inside = |mark: &str| findings.turns.iter().filter(|turn| !is_last(mark, &turn.text)).count();
    marks.retain(|mark| inside(mark) * 4 <= findings.turns.len());
    let signs = word.chars().filter(char::is_ascii_punctuation).count();
    let token = signs > 1 || (signs == 1 && word.starts_with(|c: char| c.is_ascii_punctuation()));
    if (!whole || marks.is_empty()) && token && word.len() <= LONGEST && !word.contains(char::is_whitespace) {
        marks = vec![word];
    }
    // Where the template leaves it to the checkpoint, and that does not say it, it is one of these.
    let untold = |mark: &str| mark == UNTOLD_END && !material.tokens.contains_key("eos_token");
    let told = marks.iter().filter(|mark| !untold(mark));
    let usual = USUAL_ENDS.iter().filter(|_| marks.iter().any(|mark| untold(mark)));
    told.chain(usual).map(|mark| (*mark).to_owned()).collect()
}

/// True where nothing but marks follows a mark in a text.
fn is_last(mark: &str, text: &str) -> bool {
    let Some((_, mut rest)) = text.split_once(mark) else { return true };
    loop {
        let start = rest.trim_start();
        match text::whole_mark(start) {
            0 => return start.is_empty(),
            len => rest = &start[len..],
        }
    }
}

const USUAL_ENDS: [&str; 4] = ["</s>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>"];

/// What closes the thinking, with what else stands between it and a call.
fn ends_of_thinking(findings: &Findings, end: &str) -> Vec<String> {
    if end.is_empty() {
        return Vec::new();
    }
    let turn = |said: bool, thought: bool| {
        findings.turns.iter().find(|turn| turn.said.is_some() == said && turn.thought.is_some() == thought)
    };
    let (plain, thoughtful) = (turn(false, false), turn(false, true));
    let mut ends = vec![end.to_owned()];
    // Before text it may be more than before a call.
    if let Some(turn) = turn(true, true)
        && let Some((_, behind)) = turn.text.split_once(turn.thought.as_deref().unwrap_or_default())
        && let Some((between, _)) = behind.split_once(turn.said.as_deref().unwrap_or_default())
        && between.trim_end() != end.trim_end()
        && between.trim().starts_with(end.trim())
    {
        ends.push(between.to_owned());
    }
    if let (Some(plain), Some(turn)) = (plain, thoughtful)
        && let Some(before) = turn.text.strip_suffix(plain.text.trim_start())
        && let Some((_, between)) = before.split_once(turn.thought.as_deref().unwrap_or_default())
        && between.trim_end() != end.trim_end()
        && between.trim().starts_with(end.trim())
    {
        ends.insert(0, between.to_owned());
    }
    ends
}

/// True where the mark that ends thinking stands between it and a call as well.
fn is_ended(findings: &Findings, end: &str) -> bool {
    let thoughtful = findings.turns.iter().filter(|turn| turn.said.is_none());
    let mut behind = thoughtful.filter_map(|turn| turn.text.split_once(turn.thought.as_deref()?));
    behind.all(|(_, behind)| behind.trim_start().starts_with(end.trim()))
}

/// The marks around text: those of a plain answer, and what opens text before a call.
fn content(findings: &Findings) -> [Vec<String>; 2] {
    let mut marks = findings.answer.clone().map(|mark| vec![mark]);
    if let Some(([begin, _], _)) = before_a_call(findings) {
        marks[0].push(begin.to_owned());
    }
    marks.map(|mut list| {
        list.retain(|mark| !mark.trim().is_empty());
        list.dedup();
        list
    })
}

/// What stands between text and the first call. A mark in it may be read as one by itself, before the rest is.
fn leads(findings: &Findings) -> Vec<String> {
    let lead = lead(findings).unwrap_or_default();
    let behind = text::marks(&lead).filter_map(|mark| Some(lead.split_once(mark)?.1.to_owned()));
    let rest: Vec<String> = behind.filter(|rest| !rest.trim().is_empty()).collect();
    [vec![lead], rest].concat()
}

fn lead(findings: &Findings) -> Option<String> {
    let plain = findings.turns.iter().find(|turn| turn.said.is_none() && turn.thought.is_none());
    let ([_, behind], call) = before_a_call(findings)?;
    let marks = plain.filter(|plain| plain.calls == call.calls);
    let lead = marks.and_then(|plain| {
        let plain = plain.text.trim_start();
        // Marks of an empty answer may stand before the calls alone.
        let shared = text::common_suffix(behind, plain);
        let called = |text: &str| call.calls.first().is_some_and(|call| text.contains(&call.name));
        let whole = shared == plain.len() || called(&behind[behind.len() - shared..]);
        whole.then(|| &behind[..behind.len() - shared])
    });
    Some(lead.unwrap_or(&behind[..behind.len() - behind.trim_start().len()]).to_owned())
}

/// What stands around text before a call, and the turn. Some templates put it behind the call.
fn before_a_call(findings: &Findings) -> Option<([&str; 2], &Turn)> {
    let turn = findings.turns.iter().find(|turn| turn.said.is_some() && turn.thought.is_none())?;
    let (before, behind) = turn.text.split_once(turn.said.as_deref()?)?;
    let called = turn.calls.iter().any(|call| before.contains(&call.name));
    (!called).then_some(([before, behind], turn))
}

/// The marks right around a result.
fn results(shown: &Shown, end: &str) -> Option<Results> {
    let open = text::last_mark(&shown.before)?;
    let at = shown.before.rfind(open)?;
    let space = &shown.before[at + open.len()..];
    let close = text::first_mark(&shown.behind)?;
    let close_at = shown.behind.find(close)?;
    let tight = space.trim().is_empty() && shown.behind[..close_at].trim().is_empty();
    if !tight || end.contains(close) || open == close {
        return Some(Results {
            role: "tool",
            each: "{text}".to_owned(),
            between: "\n".to_owned(),
            invented: None,
        });
    }
    let each = format!("{open}{space}{{text}}{}{close}", &shown.behind[..close_at]);
    let between = shown.between.as_deref().and_then(|between| {
        let rest = between.strip_prefix(&shown.behind[..close_at + close.len()])?;
        let rest = rest.strip_suffix(&shown.before[at..])?;
        rest.trim().is_empty().then(|| rest.to_owned())
    });
    Some(Results {
        role: if shown.before.contains("user") { "user" } else { "tool" },
        each,
        between: between.unwrap_or_else(|| "\n".to_owned()),
        invented: Some([open.to_owned(), close.to_owned()]),
    })
}

/// How tools are shown, where it is JSON between marks.
fn definitions(shown: &str) -> Option<[String; 4]> {
    let tools = probe::tools();
    let function = |place: usize| {
        let tool: &Tool = tools.get(place)?;
        Some(
            serde_json::json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters}),
        )
    };
    let wrapped = |place| Some(serde_json::json!({"type": "function", "function": function(place)?}));
    let forms: [(&str, [Option<serde_json::Value>; 2]); 2] =
        [("{json}", [wrapped(0), wrapped(1)]), ("{function}", [function(0), function(1)])];
    for (slot, [first, second]) in forms {
        let (first, second) = (spaced(&first?), spaced(&second?));
        let Some(at) = shown.find(&first) else { continue };
        let behind = at + first.len();
        let Some(next) = shown[behind..].find(&second) else { continue };
        let between = &shown[behind..behind + next];
        let line = shown[..at].trim_end().rfind('\n').map_or(0, |line| line + 1);
        let open = text::last_mark(&shown[line..at])
            .and_then(|mark| Some(shown[line..at].rfind(mark)? + line))
            .map_or(String::new(), |mark| shown[mark..at].to_owned());
        // A mark that is there again between two tools belongs to each.
        let own = text::common_suffix(&open, between);
        let prefix = &open[open.len() - own..];
        let close = &between[..between.len() - own];
        let each = text::first_mark(close).map_or(String::new(), |mark| {
            let at = close.find(mark).unwrap_or_default();
            close[..at + mark.len()].to_owned()
        });
        return Some([
            open[..open.len() - own].to_owned(),
            format!("{prefix}{slot}{each}"),
            close[each.len()..].to_owned(),
            String::new(),
        ]);
    }
    None
}

/// JSON with a space behind `:` and `,`, as templates write it.
fn spaced(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}: {}", serde_json::Value::from(key.as_str()), spaced(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        serde_json::Value::Array(items) => {
            format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", "))
        }
        scalar => scalar.to_string(),
    }
}
