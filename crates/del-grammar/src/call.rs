//! Calls: the same walk over the pieces of a dialect that reads and writes them.

use std::sync::Arc;

use del_dialects::description::{Codec, FieldForm, Frame, HeadForm, Literal, Loose, Mark, Need, Piece, Slot};
use del_dialects::{Dialect, Tool, spelling};

use crate::fields;
use crate::rules::{Class, Expr, Rules};
use crate::shape::Parameters;
use crate::value::Values;
use crate::{Warning, Warnings};

/// The calls of one answer.
pub(crate) struct Calls {
    pub(crate) body: Expr,
    /// They at the start of an answer, where the mark that opens the first message is the prompt's last.
    pub(crate) headless: Option<Expr>,
    /// Texts by which they begin.
    pub(crate) triggers: Vec<String>,
}

/// Calls of one form: a dialect's own, or that of a variant.
#[derive(Clone)]
struct Form {
    /// Opens every message, in channels.
    start: Expr,
    open: Expr,
    call: Expr,
    /// Another one behind a call.
    next: Expr,
    close: Expr,
}

/// A step of a call.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// The same for every tool.
    Fixed(Expr),
    Name,
    /// The name inside a JSON string.
    EscapedName,
    /// The name as the value of an attribute.
    Attribute,
    Args,
    /// Either way.
    Either(Vec<Step>, Vec<Step>),
}

/// One call, or one and more of them with `parallel`.
pub(crate) fn calls(
    dialect: &Dialect,
    tools: &[Tool],
    parallel: bool,
    rules: &mut Rules,
    warnings: &mut Warnings,
) -> Calls {
    // The tool itself, where a form of calls is only for it.
    let own =
        |name: &str| dialect.variants().iter().find_map(|form| form.tool().filter(|tool| *tool == name));
    let mut forms: Vec<Form> = Vec::new();
    let mut triggers = Vec::new();
    // The forms that are written; others are only read.
    let variants = dialect.variants().iter().map(Arc::as_ref).filter(|form| form.tool().is_some());
    for dialect in std::iter::once(dialect).chain(variants) {
        let tools: Vec<&Tool> = tools.iter().filter(|tool| own(&tool.name) == dialect.tool()).collect();
        if tools.is_empty() {
            continue;
        }
        let mut steps = steps(dialect);
        let start = start(dialect).map_or(Expr::empty(), |_| filled(&[steps.remove(0)], "", &Expr::empty()));
        let call = call(dialect, &steps, &tools, rules, warnings);
        let open = Expr::sequence(dialect.block().open.iter().map(written));
        let mut close = Expr::sequence(dialect.block().close.iter().map(written));
        // Servers keep the mark that ends the last message to themselves.
        if matches!(dialect.frame(), Frame::Channels(_)) && close != Expr::empty() {
            close = close.optional();
        }
        let known = self::triggers(dialect, &open, &steps, &tools);
        if let Expr::Literal(start) = &start
            && !start.is_empty()
        {
            triggers.extend(known.iter().map(|trigger| format!("{start}{trigger}")));
        }
        triggers.extend(known);
        let next = Expr::sequence([Expr::text(dialect.between()), start.clone(), call.clone()]);
        forms.push(Form { start, open, call, next, close });
    }
    let started = forms.iter().any(|form| form.start != Expr::empty());
    let headless = started.then(|| {
        let headless = |form: &Form| Form { start: Expr::empty(), ..form.clone() };
        together(forms.iter().map(headless).collect(), parallel)
    });
    Calls { body: together(forms, parallel), headless, triggers }
}

/// Calls of any of these forms.
fn together(forms: Vec<Form>, parallel: bool) -> Expr {
    let group = |form: Form| {
        let more = if parallel { form.next.repeat(0, None) } else { Expr::empty() };
        Expr::sequence([form.start, form.open, form.call, more, form.close])
    };
    // Forms may be mixed where none of them has marks around the group.
    let bare = |form: &Form| form.open == Expr::empty() && form.close == Expr::empty();
    if forms.iter().all(bare) {
        let first = |form: &Form| Expr::sequence([form.start.clone(), form.call.clone()]);
        let call = Expr::choice(forms.iter().map(first).collect::<Vec<_>>());
        let next = Expr::choice(forms.into_iter().map(|form| form.next).collect::<Vec<_>>());
        let empty = Expr::empty();
        group(Form { start: empty.clone(), open: empty.clone(), call, next, close: empty })
    } else {
        Expr::choice(forms.into_iter().map(group))
    }
}

/// The mark that opens every message, where the header of a call begins with it.
fn start(dialect: &Dialect) -> Option<&Mark> {
    match (dialect.frame(), dialect.call().first()) {
        (Frame::Channels(channels), Some(Piece::Mark(mark, None)))
            if channels.start.contains(&mark.write) =>
        {
            Some(mark)
        }
        _ => None,
    }
}

fn steps(dialect: &Dialect) -> Vec<Step> {
    let mut steps = Vec::new();
    let is_for_id = |piece: &Piece| matches!(piece, Piece::Mark(mark, _) if mark.need == Need::Id);
    let mut pieces = dialect.call().iter().peekable();
    while let Some(piece) = pieces.next() {
        match piece {
            // The marks around an id are there together, or none of them is.
            Piece::Mark(..) if is_for_id(piece) => {
                let mut with = Vec::new();
                let mut next = Some(piece);
                while let Some(Piece::Mark(mark, form)) = next {
                    with.push(Step::Fixed(Expr::text(&mark.write)));
                    with.extend(form.iter().flat_map(|form| head(form, dialect)));
                    next = pieces.next_if(|piece| is_for_id(piece));
                }
                steps.push(Step::Either(with, Vec::new()));
            }
            Piece::Mark(mark, None) => steps.push(Step::Fixed(written(mark))),
            // What is not written has no name either.
            Piece::Mark(mark, Some(_)) if mark.need == Need::Noise => {}
            Piece::Mark(mark, Some(form)) => {
                steps.push(Step::Fixed(written(mark)));
                steps.extend(head(form, dialect));
            }
            // A head that holds only an id may be empty.
            Piece::Head(form) if !form.parts.contains(&Slot::Name) => {
                steps.push(Step::Either(head(form, dialect), Vec::new()));
            }
            Piece::Head(form) => steps.extend(head(form, dialect)),
            Piece::Args(Codec::Call(form)) => {
                let with = slots(&form.parts, &Step::EscapedName, dialect);
                if form.id.is_some() {
                    steps.extend(either(
                        with,
                        slots(&spelling::without_id(form), &Step::EscapedName, dialect),
                    ));
                } else {
                    steps.extend(with);
                }
            }
            Piece::Args(_) => steps.push(Step::Args),
        }
    }
    steps
}

fn head(form: &HeadForm, dialect: &Dialect) -> Vec<Step> {
    slots(&form.parts, if form.attributes.is_empty() { &Step::Name } else { &Step::Attribute }, dialect)
}

fn slots(parts: &[Slot], name: &Step, dialect: &Dialect) -> Vec<Step> {
    let digits = || Class::digits(0, 9).repeat(1, Some(4));
    let step = |part: &Slot| match part {
        Slot::Text(text) => Step::Fixed(Expr::text(text)),
        Slot::Name => name.clone(),
        Slot::Args => Step::Args,
        Slot::Id => Step::Fixed(id(dialect.ids())),
        Slot::Index | Slot::Number => Step::Fixed(digits()),
        _ => Step::Fixed(Expr::empty()),
    };
    parts.iter().map(step).collect()
}

/// What both ways have in common at their beginning stands once.
fn either(mut one: Vec<Step>, mut other: Vec<Step>) -> Vec<Step> {
    let common = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let mut steps: Vec<Step> = one.drain(..common).collect();
    other.drain(..common);
    steps.push(Step::Either(one, other));
    steps
}

/// A mark that is written whenever it may be.
fn written(mark: &Mark) -> Expr {
    match mark.need {
        Need::Noise => Expr::empty(),
        Need::Id => Expr::text(&mark.write).optional(),
        _ => Expr::text(&mark.write),
    }
}

/// An id of the shape that the model knows, or as models invent them.
fn id(shape: Option<&str>) -> Expr {
    let word = [('a', 'z'), ('A', 'Z'), ('0', '9')];
    let Some(shape) = shape else {
        let signs = [('_', '_'), ('-', '-'), ('.', '.')];
        let tail = Expr::Class(Class::ranges(&[&word[..], &signs[..]].concat()));
        return Expr::sequence([Expr::Class(Class::ranges(&word)), tail.repeat(0, Some(63))]);
    };
    let signs: Vec<char> = shape.chars().collect();
    Expr::sequence(signs.chunk_by(|a, b| a == b).map(|same| {
        let count = u32::try_from(same.len()).unwrap_or(u32::MAX);
        match same {
            // Digits may be more than the shape shows.
            ['#', ..] => Class::digits(0, 9).repeat(count, Some(count.saturating_add(4))),
            ['*', ..] => Expr::Class(Class::ranges(&word)).repeat(count, Some(count)),
            same => Expr::Literal(same.iter().collect()),
        }
    }))
}

/// A call of any of the tools. What is the same for all of them stands once, around what is not.
fn call(
    dialect: &Dialect,
    steps: &[Step],
    tools: &[&Tool],
    rules: &mut Rules,
    warnings: &mut Warnings,
) -> Expr {
    let python;
    let literal = match dialect.codec() {
        Codec::Object(literal) => literal,
        Codec::Call(form) if form.python => {
            python = Literal::Loose(Loose::python());
            &python
        }
        Codec::Fields(form) | Codec::Lines(form) if form.containers => {
            python = Literal::Loose(Loose::python());
            &python
        }
        _ => &Literal::Json,
    };
    let differs = |step: &Step| !matches!(step, Step::Fixed(_));
    let from = steps.iter().position(differs).unwrap_or(0);
    let to = steps.iter().rposition(differs).map_or(steps.len(), |last| last + 1);
    let mut values = Values::new(rules, literal);
    let mut ways = Vec::new();
    for tool in tools {
        let parameters = Parameters::of(tool, warnings);
        values.enter(&parameters, &tool.name);
        let arguments = match dialect.codec() {
            Codec::Fields(form) => fields::arguments(form, None, tool, &parameters, &mut values, warnings),
            Codec::Lines(form) => {
                let behind = dialect.call().iter().skip_while(|piece| !matches!(piece, Piece::Args(_)));
                let closer = behind.skip(1).find_map(|piece| match piece {
                    Piece::Mark(mark, _) => Some(mark.write.as_str()),
                    _ => None,
                });
                fields::arguments(form, closer, tool, &parameters, &mut values, warnings)
            }
            Codec::Raw { key, close } => {
                let mut form = FieldForm::raw();
                form.value_close = vec![close.clone()];
                fields::argument(&form, tool, key, &parameters, &mut values, warnings)
            }
            _ => values.arguments(&parameters, &format!("{}-args", tool.name)),
        };
        for keyword in std::mem::take(&mut values.missed) {
            let warning =
                Warning { tool: tool.name.clone(), path: String::new(), keyword: keyword.to_owned() };
            warnings.add(warning);
        }
        let arguments = values.rules.named(&format!("{}-args", tool.name), arguments);
        ways.push(filled(&steps[from..to], &tool.name, &arguments));
    }
    let same = |steps: &[Step]| filled(steps, "", &Expr::empty());
    let parts = [same(&steps[..from]), Expr::choice(ways), same(&steps[to..])];
    rules.add("call", Expr::sequence(parts))
}

fn filled(steps: &[Step], name: &str, arguments: &Expr) -> Expr {
    Expr::sequence(steps.iter().map(|step| match step {
        Step::Fixed(expr) => expr.clone(),
        Step::Name => Expr::text(name),
        Step::Attribute => Expr::text(&spelling::attribute(name)),
        Step::EscapedName => {
            let json = spelling::string(name);
            Expr::text(&json[1..json.len() - 1])
        }
        Step::Args => arguments.clone(),
        Step::Either(one, other) => {
            let (one, other) = (filled(one, name, arguments), filled(other, name, arguments));
            if other == Expr::empty() { one.optional() } else { Expr::choice([one, other]) }
        }
    }))
}

/// A text of fewer bytes may well stand in prose.
const MIN_DISTINCT: usize = 5;

/// The shortest beginning of calls that prose does not have: the first mark, or what stands before the name, or all
/// up to the arguments.
fn triggers(dialect: &Dialect, open: &Expr, steps: &[Step], tools: &[&Tool]) -> Vec<String> {
    let is_written = |mark: &&Mark| !matches!(mark.need, Need::Noise | Need::Id);
    if let Some(first) = dialect.marks().find(is_written) {
        let mark = first.write.trim();
        let opens = *dialect.frame() == Frame::Tags || dialect.block().open.contains(first);
        if opens && mark.len() >= MIN_DISTINCT {
            return vec![mark.to_owned()];
        }
    }
    let start = |tool: &Tool, until: fn(&Step) -> bool| {
        let steps: Vec<Step> = steps.iter().take_while(|step| !until(step)).cloned().collect();
        match Expr::sequence([open.clone(), filled(&steps, &tool.name, &Expr::empty())]) {
            Expr::Literal(text) => text,
            Expr::Sequence(parts) => match parts.into_iter().next() {
                Some(Expr::Literal(text)) => text,
                _ => String::new(),
            },
            _ => String::new(),
        }
    };
    let before_name = tools
        .first()
        .map(|tool| start(tool, |step| matches!(step, Step::Name | Step::EscapedName | Step::Attribute)));
    if let Some(text) = before_name.filter(|text| text.trim().len() >= MIN_DISTINCT) {
        return vec![text.trim_end().to_owned()];
    }
    let bracket = match dialect.codec() {
        Codec::Object(Literal::Loose(loose)) => char::from(loose.open).to_string(),
        _ => String::new(),
    };
    let whole = |tool: &Tool| start(tool, |step| *step == Step::Args) + &bracket;
    tools.iter().map(|&tool| whole(tool).trim_end().to_owned()).collect()
}
