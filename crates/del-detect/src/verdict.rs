//! The answer: which dialect, how sure, and why.

use del_dialects::description::Frame;
use del_dialects::{Dialect, Dialects, Tool};

use crate::compare::{self, Fit};
use crate::probe::{self, Findings, Probe};
use crate::report::{Basis, Found, Instead, Report, Thinking, counted};
use crate::rules::{self, Hit};
use crate::source::Material;
use crate::template::{RenderError, Template};
use crate::{Options, derive, instructions, text};

/// What the chat templates of a checkpoint tell: the first that knows tools counts.
pub(crate) fn of_templates(
    material: &Material,
    dialects: &Dialects,
    options: Options,
) -> Result<Found, RenderError> {
    let first = of_template(material, dialects, options);
    if first.as_ref().is_ok_and(|found| found.report.tool_calls) {
        return first;
    }
    for (name, text) in &material.others {
        let other =
            Material { text: text.clone(), others: Vec::new(), found: Vec::new(), ..material.clone() };
        let Ok(mut found) = of_template(&other, dialects, options) else { continue };
        if found.report.tool_calls {
            found.report.evidence.insert(0, format!("of the checkpoint's templates, `{name}` knows tools"));
            return Ok(found);
        }
    }
    first
}

/// What a chat template in Jinja tells.
fn of_template(material: &Material, dialects: &Dialects, options: Options) -> Result<Found, RenderError> {
    let template = Template::new(&material.text)?;
    run(template, material, dialects, options)
}

/// What a template in Go tells: it is run as far as its language is known, and else goes by its text.
pub(crate) fn of_go(
    material: &Material,
    dialects: &Dialects,
    options: Options,
) -> Result<Found, RenderError> {
    let template = match Template::go(&material.text) {
        Err(error @ (RenderError::Syntax(_) | RenderError::Long(_))) => return Err(error),
        template => template,
    };
    match template.and_then(|template| run(template, material, dialects, options)) {
        Err(error) if error.is_fatal() || error == RenderError::Recursion => return Err(error),
        Ok(found) if found.report.source == Basis::Rendering && found.report.tool_calls => return Ok(found),
        _ => {}
    }
    Ok(Found::only(of_text(material, dialects)))
}

fn run(
    mut template: Template,
    material: &Material,
    dialects: &Dialects,
    options: Options,
) -> Result<Found, RenderError> {
    let findings = Probe::run(&mut template, &material.tokens);
    if let Some(error) =
        findings.failure.clone().filter(|error| error.is_fatal() || *error == RenderError::Recursion)
    {
        return Err(error);
    }
    let hits = if options.rules { rules::hits(&material.text, dialects) } else { Vec::new() };
    let mut report = Report { evidence: material.found.clone(), ..Report::default() };
    report.reasoning = findings.reasoning.as_ref().map(thinking);
    let call = findings.turns.first().filter(|turn| turn.said.is_none());
    report.instructions = call.and_then(|turn| instructions::of(&findings.introduction, turn, dialects));
    if findings.shows_calls && !findings.turns.is_empty() {
        report.source = Basis::Rendering;
        by_calls(&mut report, &findings, &hits, dialects, &probe::tools());
    } else if let Some(hit) = by_instructions(&findings, &hits, dialects) {
        by_hit(&mut report, &hit, &findings);
    } else if let Some(error) = findings.failure {
        return Err(RenderError::Broken(error.to_string()));
    } else {
        without_calls(&mut report, &findings, material, dialects);
    }
    warn(&mut report, &findings);
    let wanted = options.describe && !findings.turns.is_empty();
    let known = surely(&report, dialects);
    // Where nothing better comes of it, the nearest one with the marks of this template.
    let near = report.dialect.as_deref().and_then(|name| dialects.get(name)).map(AsRef::as_ref);
    let described = wanted.then(|| {
        let described = derive::of_template(&findings, material, known);
        described.or_else(|why| derive::of_template(&findings, material, near).map_err(|_| why))
    });
    Ok(Found::with(report, described))
}

/// The marks of thinking, for the report.
pub(crate) fn thinking(found: &probe::Thinking) -> Thinking {
    Thinking {
        begin: found.begin.clone(),
        end: found.end.clone(),
        prefilled: found.prefilled,
        prefilled_on: found.prefilled_on,
        prefilled_off: found.prefilled_off,
    }
}

/// The dialect of a report that is sure enough of it.
pub(crate) fn surely<'d>(report: &Report, dialects: &'d Dialects) -> Option<&'d Dialect> {
    let known = report.dialect.as_deref().filter(|_| report.confidence > UNSURE)?;
    dialects.get(known).map(AsRef::as_ref)
}

/// Up to this confidence in a known dialect, a description of what was seen is better.
const UNSURE: f64 = 0.7;

/// What the text of a template tells that is not run.
fn of_text(material: &Material, dialects: &Dialects) -> Report {
    let mut report = Report { evidence: material.found.clone(), ..Report::default() };
    let knows_tools = [".Tools", ".ToolCalls"].iter().any(|name| material.text.contains(name));
    let hits = rules::hits(&material.text, dialects);
    match hits.first().filter(|_| knows_tools) {
        Some(hit) => {
            report.evidence.push(evidence(hit));
            report.dialect = Some(hit.dialect.name().to_owned());
            report.tool_calls = true;
            report.confidence = if hit.stated { 0.75 } else { 0.6 };
            report
                .warnings
                .push("the template could not be run: the answer goes by its marks alone".to_owned());
        }
        None if knows_tools => {
            report.tool_calls = true;
            report.confidence = 0.4;
            report.evidence.push("the template names tools, and no mark of a known dialect".to_owned());
        }
        None => {
            report.confidence = 0.9;
            report.evidence.push("the template names neither tools nor calls".to_owned());
            report.instead = Some(instead(material, dialects));
        }
    }
    report
}

/// A checkpoint without a chat template.
pub(crate) fn of_nothing(material: &Material, dialects: &Dialects) -> Report {
    let mut report = Report { evidence: material.found.clone(), confidence: 0.5, ..Report::default() };
    report.evidence.push("there is no chat template".to_owned());
    report.instead = Some(instead(material, dialects));
    report
}

/// Calls are written: who reads and writes them the same?
pub(crate) fn by_calls(
    report: &mut Report,
    findings: &Findings,
    hits: &[Hit],
    dialects: &Dialects,
    tools: &[Tool],
) {
    report.tool_calls = true;
    let fits = compare::fits(findings, dialects, tools);
    if let Some(turn) = findings.turns.first() {
        report.evidence.push(format!("a call is written {:?}", shown(&turn.text)));
    }
    let whole: Vec<&Fit> = fits.iter().filter(|fit| is_good(fit)).collect();
    let ruled = hits.iter().find_map(|hit| {
        whole.iter().find(|fit| fit.dialect.name() == hit.dialect.name()).map(|fit| (hit, *fit))
    });
    let Some(best) = whole.first() else {
        return by_bad_fits(report, findings, &fits, hits);
    };
    let (fit, confidence) = match ruled {
        Some((hit, fit)) => {
            report.evidence.push(evidence(hit));
            (fit, if fit.is_exact() { 0.99 } else { 0.95 })
        }
        None => {
            let equals = whole.iter().filter(|fit| fit.key() == best.key()).count();
            let confidence = match (best.is_exact(), best.written > 0, best.dialect.frame()) {
                (true, ..) if equals == 1 => 0.95,
                (_, true, _) if equals == 1 => 0.9,
                (_, true, _) => 0.75,
                (.., Frame::Bare) => 0.5,
                _ if equals == 1 => 0.75,
                _ => 0.6,
            };
            (*best, confidence)
        }
    };
    report.confidence = confidence;
    report.dialect = Some(fit.dialect.name().to_owned());
    report.evidence.push(format!(
        "{} reads {} of {} cleanly, and writes {} of them the same",
        fit.dialect.name(),
        fit.clean,
        counted(fit.turns, "turn"),
        fit.written
    ));
    let others: Vec<&str> = whole
        .iter()
        .filter(|other| other.dialect.name() != fit.dialect.name() && other.written >= fit.written)
        .map(|other| other.dialect.name())
        .collect();
    if !others.is_empty() {
        report.evidence.push(format!("{} read and write the calls the same", others.join(", ")));
    }
    if fit.beside < fit.besides {
        report.confidence = report.confidence.min(if ruled.is_some() { 0.9 } else { 0.75 });
    }
    if !fit.missed.is_empty() {
        report.warnings.push(format!("not read cleanly: {}", fit.missed.join(", ")));
    }
}

/// True for a fit that is no accident: nearly all turns are read with nothing left over.
fn is_good(fit: &Fit) -> bool {
    fit.turns > 0 && fit.clean * 5 >= fit.turns * 4
}

/// No dialect reads the calls cleanly.
fn by_bad_fits(report: &mut Report, findings: &Findings, fits: &[Fit], hits: &[Hit]) {
    let agreed = hits.iter().find_map(|hit| {
        let fit =
            fits.iter().find(|fit| fit.dialect.name() == hit.dialect.name() && fit.read * 2 > fit.turns)?;
        Some((hit, fit))
    });
    if let Some((hit, fit)) = agreed {
        report.evidence.push(evidence(hit));
        report.evidence.push(format!(
            "{} reads the calls of {} of {}",
            fit.dialect.name(),
            fit.read,
            counted(fit.turns, "turn")
        ));
        report.dialect = Some(fit.dialect.name().to_owned());
        report.confidence = 0.7;
        report.warnings.push("something else than calls is left over in what the template writes".to_owned());
        return;
    }
    report.confidence = 0.8;
    let turns = findings.turns.len();
    report.evidence.push(format!("no known dialect reads the {}", counted(turns, "turn")));
    if let Some(near) = fits.first() {
        report.evidence.push(format!(
            "the nearest is {}: it reads the calls of {}",
            near.dialect.name(),
            near.read
        ));
    }
}

/// The template shows no calls of the model's: its text, or what it tells the model of tools, may name the marks.
fn by_instructions(findings: &Findings, hits: &[Hit], dialects: &Dialects) -> Option<Hit> {
    let told = rules::told(&findings.definitions, dialects);
    hits.first().cloned().or(told)
}

fn by_hit(report: &mut Report, hit: &Hit, findings: &Findings) {
    report.evidence.push(evidence(hit));
    report.dialect = Some(hit.dialect.name().to_owned());
    report.tool_calls = true;
    report.source = if hit.told { Basis::Rendering } else { Basis::Rules };
    report.confidence = match (findings.shows_tools, hit.stated) {
        (true, true) => 0.85,
        (true, false) => 0.7,
        (false, true) => 0.6,
        (false, false) => 0.5,
    };
    if findings.failure.is_none() {
        report
            .warnings
            .push("the template leaves out calls of the model's own: later it does not see them".to_owned());
    }
}

fn without_calls(report: &mut Report, findings: &Findings, material: &Material, dialects: &Dialects) {
    report.source = Basis::Rendering;
    report.instead = Some(instead(material, dialects));
    if findings.shows_tools {
        report.tool_calls = true;
        report.confidence = 0.5;
        report.evidence.push("the template shows tools, but not how they are called".to_owned());
        return;
    }
    report.confidence = 0.97;
    report
        .evidence
        .push("the template writes the same with tools and without, and shows no calls".to_owned());
}

fn warn(report: &mut Report, findings: &Findings) {
    if let Some(error) = &findings.failure {
        report.warnings.push(format!("the template could not be run: {error}"));
        return;
    }
    if !findings.shows_tools {
        let what = if report.tool_calls { "drops tools silently: " } else { "knows no tools: " };
        report.warnings.push(format!("the template {what}the model is not told of them"));
    }
    if report.reasoning.as_ref().is_some_and(|thinking| thinking.prefilled) {
        report.warnings.push(
            "the prompt ends inside the thinking: answers begin there (--starts-in reasoning)".to_owned(),
        );
    }
    for refusal in &findings.refusals {
        report.warnings.push(format!("the template refuses {refusal}"));
    }
}

/// What to use where a template knows no tools.
fn instead(material: &Material, dialects: &Dialects) -> Instead {
    let named = material.model.as_deref().and_then(|model| dialects.for_model(&model.replace(' ', "-")));
    let dialect = named.or_else(|| dialects.iter().next());
    Instead {
        tools_mode: "prompt".to_owned(),
        dialect: dialect
            .map(|dialect: &std::sync::Arc<Dialect>| dialect.name().to_owned())
            .unwrap_or_default(),
    }
}

fn evidence(hit: &Hit) -> String {
    let marks: Vec<String> = hit.marks.iter().map(|mark| format!("{mark:?}")).collect();
    let place = if hit.told { "what it tells the model of tools" } else { "its text" };
    format!("{place} holds {}: {}", marks.join(" and "), hit.dialect.name())
}

/// A text for an evidence line.
fn shown(text: &str) -> &str {
    const LONG: usize = 240;
    text::start(text, LONG)
}
