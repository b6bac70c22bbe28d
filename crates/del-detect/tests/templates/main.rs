//! Templates: which dialect they are in, and what becomes of them when every mark in them is another.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod renamed;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use del_detect::{Basis, Description, Found, Kind, Material, Options, RenderError, cases, detect};
use del_dialects::{Dialect, Dialects};
use renamed::renamed;

const ALL: Options = Options { rules: true, describe: false };
const RENDERING: Options = Options { rules: false, describe: false };
const DESCRIBE: Options = Options { rules: true, describe: true };
/// Each is another renaming.
const SEEDS: std::ops::Range<u64> = 0..4;
/// From here on an answer must not be wrong.
const SURE: f64 = 0.8;

fn found(template: &str, options: Options) -> Found {
    detect(&Material::of(Kind::Jinja, template), Dialects::builtin(), options).unwrap()
}

/// The templates of the repository, each named after its dialect.
fn families() -> Vec<(String, String)> {
    templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/families"))
}

fn templates(folder: &Path) -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "jinja"));
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// What is wrong with a description of a template's calls; nothing when it reads all of them.
fn wrong_with(description: Option<&Description>) -> Option<String> {
    let Some(description) = description else { return Some("no description".to_owned()) };
    let dialect = match Dialect::from_toml("seen", &description.toml) {
        Ok(dialect) => Arc::new(dialect),
        Err(error) => return Some(error.to_string()),
    };
    let failed = description.cases.iter().find_map(|case| cases::check(&dialect, &case.toml).err());
    let has = |about: &str| description.cases.iter().any(|case| case.name.contains(about));
    let alone = description.open.iter().any(|open| open.contains("two calls"));
    // Some templates lose something of a turn themselves, such as the text before a call.
    let few = description.cases.len() * 10 < description.turns * 7;
    let lacks = few || !has("one-call") || !(has("two-calls") || alone);
    failed.or_else(|| {
        lacks.then(|| format!("{} cases of {} turns", description.cases.len(), description.turns))
    })
}

#[test]
fn the_probes_have_the_tools_of_cases() {
    let own = include_str!("../../src/probe/tools.json");
    assert_eq!(own, include_str!("../../../del-dialects/dialects/tools.json"));
}

#[test]
fn each_family_is_known() {
    for (name, template) in families() {
        for options in [ALL, RENDERING] {
            let report = found(&template, options).report;
            let expected = (name != "none").then_some(name.as_str());
            assert_eq!(report.dialect.as_deref(), expected, "{options:?}: {report:#?}");
            assert_eq!(report.tool_calls, name != "none", "{name}");
            assert!((0.0..=1.0).contains(&report.confidence), "{name}");
        }
    }
}

#[test]
fn templates_in_go_are_run() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/families").join(name);
        Material::read(&path).unwrap()
    };
    for name in ["hermes-json", "mistral-json", "qwen3-coder"] {
        let mut material = read(&format!("{name}.gotmpl"));
        assert_eq!(material.kind, Kind::Go, "{name}");
        let report = detect(&material, Dialects::builtin(), ALL).unwrap().report;
        assert_eq!((report.dialect.as_deref(), report.source), (Some(name), Basis::Rendering), "{report:#?}");
        assert!(report.confidence >= SURE);
        // What is not known of the language is not guessed: the marks in the text are left.
        material.text.push_str("{{ unheardOf .Messages }}");
        let report = detect(&material, Dialects::builtin(), ALL).unwrap().report;
        assert_eq!((report.dialect.as_deref(), report.source), (Some(name), Basis::Rules), "{report:#?}");
        assert!(report.confidence < SURE);
    }
    // What is no template says so.
    for broken in ["{{ if .Tools }}{{ .Tools }}", "{{ .Tools", "{{ end }}", "{{ define \"x\" }}{{ .Tools }}"]
    {
        let error = detect(&Material::of(Kind::Go, broken), Dialects::builtin(), ALL).unwrap_err();
        assert!(matches!(error, RenderError::Syntax(_)), "{broken}: {error}");
    }
    let none = Material::of(Kind::Go, "{{ .System }} USER: {{ .Prompt }} ASSISTANT:");
    assert!(!detect(&none, Dialects::builtin(), ALL).unwrap().report.tool_calls);
    let loops = "{{ range .Messages }}{{ range $.Tools }}{{ range $.Tools }}{{ range $.Tools }}{{ range $.Tools }}\
                 {{ range $.Tools }}{{ range $.Tools }}{{ range $.Tools }}{{ .ToolCalls }}{{ end }}{{ end }}{{ end }}\
                 {{ end }}{{ end }}{{ end }}{{ end }}{{ end }}";
    assert!(detect(&Material::of(Kind::Go, loops), Dialects::builtin(), ALL).is_err());
}

#[test]
fn thinking_and_refusals_are_reported() {
    let by_name = |wanted: &str| {
        let template = families().into_iter().find(|(name, _)| name == wanted).unwrap().1;
        found(&template, ALL).report
    };
    let thinking = by_name("qwen3-coder").reasoning.unwrap();
    assert_eq!((thinking.begin.trim(), thinking.end.trim()), ("<think>", "</think>"));
    assert!(thinking.prefilled);
    assert!(!by_name("hermes-json").reasoning.unwrap().prefilled);
    let warns = |name: &str, of: &str| {
        let warnings = by_name(name).warnings;
        assert!(warnings.iter().any(|line| line.contains(of)), "{name}: {warnings:?}");
    };
    warns("mistral-args", "ids such as functions.NAME:0");
    warns("mistral-args", "a system message");
    warns("llama3-json", "two calls: one call at a time");
    warns("glm45", "arguments as JSON in a string");
    warns("deepseek-v31", "drops tools silently");
    warns("none", "knows no tools");
    assert_eq!(by_name("none").instead.unwrap().tools_mode, "prompt");
}

#[test]
fn thinking_is_switched_on_and_off() {
    let go = "{{ if .Tools }}<tools>{{ .Tools }}</tools>{{ end }}{{ range $i, $m := .Messages }}\
              {{ if eq .Role \"user\" }}<|user|>{{ .Content }}<|over|>{{ else if eq .Role \"assistant\" }}<|assistant|>\
              {{ if and $.IsThinkSet .Thinking }}<think>{{ .Thinking }}</think>\n{{ end }}{{ .Content }}\
              {{ range .ToolCalls }}<tool_call>\n{\"name\": \"{{ .Function.Name }}\", \"arguments\": \
              {{ .Function.Arguments }}}\n</tool_call>{{ end }}<|over|>{{ end }}{{ end }}<|assistant|>\
              {{ if and $.IsThinkSet (not $.Think) }}<think>\n\n</think>\n{{ end }}";
    let report = detect(&Material::of(Kind::Go, go), Dialects::builtin(), ALL).unwrap().report;
    let thinking = report.reasoning.expect("Go's thinking");
    assert_eq!((thinking.begin.trim(), thinking.end.trim(), thinking.begun()), ("<think>", "</think>", ""));
    let hermes = families().into_iter().find(|(name, _)| name == "hermes-json").unwrap().1;
    let end = "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}";
    for condition in
        ["enable_thinking", "thinking", "thinking_mode == 'enabled'", "reasoning_effort == 'high'"]
    {
        let opened = format!("{end}{{% if {condition} %}}{{{{ '<think>\\n' }}}}{{% endif %}}");
        let template = hermes.replace(end, &opened).replace("tool_call>", "ask_for>");
        let found = found(&template, DESCRIBE);
        let thinking = found.report.reasoning.unwrap();
        assert_eq!(thinking.begun(), "with thinking on: begun by the prompt", "{condition}");
        let description = found.description.unwrap();
        assert!(description.toml.contains("prefilled = true"), "{condition}: {}", description.toml);
    }
}

#[test]
fn a_known_dialect_reads_plain_answers_or_is_not_sure() {
    let hermes = families().into_iter().find(|(name, _)| name == "hermes-json").unwrap().1;
    let marked = "{{- message.content if message.tool_calls else '<reply>' ~ message.content ~ '</reply>' }}";
    let template = hermes.replace("{{- message.content or '' }}", marked);
    assert_ne!(template, hermes);
    let found = found(&template, DESCRIBE);
    assert!(found.report.confidence < 0.95, "{:#?}", found.report);
    assert!(found.report.warnings.iter().any(|line| line.contains("a plain answer")), "{:#?}", found.report);
    // The description knows the marks.
    let description = found.description.unwrap();
    assert_eq!(description.missed, [""; 0], "{}", description.toml);
    assert!(description.cases.iter().any(|case| case.name.contains("a-plain-answer")));
}

#[test]
fn renamed_families_are_described() {
    let families = || families().into_iter().filter(|(name, _)| name != "none");
    for (seed, (name, template)) in (0..2).flat_map(|seed| families().map(move |family| (seed, family))) {
        let found = found(&renamed(&template, seed), DESCRIBE);
        let known = found.report.dialect.as_deref();
        assert!(known.is_none() || found.report.confidence < SURE, "{name} {seed}: {known:?}");
        assert_eq!(wrong_with(found.description.as_ref()), None, "{name} {seed}: {:#?}", found.description);
    }
}

#[test]
fn forms_of_no_family_are_described() {
    for (name, template) in templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/forms")) {
        let found = found(&template, DESCRIBE);
        let end = found.report.reasoning.as_ref().map(|thinking| thinking.end.is_empty());
        let endless = name == "thinking-without-an-end";
        assert_eq!(end, Some(endless), "{name}");
        assert_eq!(wrong_with(found.description.as_ref()), None, "{name}: {:#?}", found.description);
        // What ends in nothing but a call cannot be told from text behind it.
        let description = found.description.unwrap();
        let missed = description.turns - description.read;
        assert_eq!(
            missed,
            2 * usize::from(endless),
            "{name}: {:?}\n{}",
            description.missed,
            description.toml
        );
        assert_eq!(description.missed.len(), missed, "{name}");
        assert_eq!(description.cases.len(), description.read, "{name}: {}", description.toml);
    }
}

#[test]
fn values_that_are_escaped_are_described() {
    let found = found(include_str!("../odd/values-escaped.jinja"), DESCRIBE);
    let description = found.description.unwrap();
    assert!(description.toml.contains("xml = true"), "{}", description.toml);
    // The template writes quotes as numbers, which not every reader of entities knows.
    let known = |about: &String| about == "several lines and quotes";
    assert!(description.missed.iter().all(known), "{:?}\n{}", description.missed, description.toml);
}

#[test]
fn a_turn_of_a_plain_answer_is_nothing_but_its_words() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/forms");
    let template = std::fs::read_to_string(folder.join("marked-text.jinja")).unwrap();
    let description = found(&template, DESCRIBE).description.unwrap();
    let dialect = Arc::new(Dialect::from_toml("seen", &description.toml).unwrap());
    let mut parser = dialect.parser(del_dialects::Turn::default());
    let mut collect = del_dialects::Collect::new();
    parser.push("<|think|>Hm.<|stop|><|say|>It is so.<|stop|>", &mut collect);
    parser.finish(del_dialects::End::End, &mut collect);
    let message = collect.into_message();
    assert_eq!((message.reasoning.as_str(), message.content.as_str()), ("Hm.", "It is so."));
}

#[test]
fn a_known_dialect_is_described_with_the_marks_of_the_template() {
    let template = families().into_iter().find(|(name, _)| name == "hermes-json").unwrap().1;
    let template = template.replace("think>", "ponder>").replace("<|im_end|>", "<|over|>");
    let found = found(&template, DESCRIBE);
    let description = found.description.unwrap();
    assert_eq!(description.copy_of.as_deref(), Some("hermes-json"), "{}", description.toml);
    assert_eq!(wrong_with(Some(&description)), None);
    let dialect = Arc::new(Dialect::from_toml("seen", &description.toml).unwrap());
    assert!(dialect.ends().iter().any(|end| end == "<|over|>"), "{}", description.toml);
    assert_eq!(dialect.reasoning().unwrap().begin[0].trim(), "<ponder>");
    // What a dialect of its own reads better is none of the known ones.
    let other = template.replace("</tool_call>", "</done>");
    let description = self::found(&other, DESCRIBE).description.unwrap();
    assert_eq!(description.copy_of, None, "{}", description.toml);
}

#[test]
fn a_description_of_a_family_writes_as_the_template_does() {
    for (name, template) in families().into_iter().filter(|(name, _)| name != "none") {
        // This one numbers its calls, which no description says.
        if name == "cohere-action" {
            continue;
        }
        let description = found(&template, DESCRIBE).description.unwrap();
        let written = description.cases.iter().filter(|case| case.toml.contains("canonical = true")).count();
        assert!(written > 0, "{name}: no case is written as the template writes it\n{}", description.toml);
    }
}

/// Templates of real models, where there are some.
fn known() -> Option<Vec<(String, String, String)>> {
    let folder = std::env::var_os("DEL_TEMPLATES")?;
    let table = include_str!("../known.txt");
    let rows = table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    let dialects: std::collections::HashMap<&str, &str> = rows.collect();
    let all = templates(Path::new(&folder)).into_iter();
    Some(
        all.filter_map(|(name, text)| Some((name.clone(), text, (*dialects.get(name.as_str())?).to_owned())))
            .collect(),
    )
}

#[test]
fn real_templates_are_known() {
    let Some(templates) = known() else { return };
    for (options, share) in [(ALL, 98), (RENDERING, 90)] {
        let mut wrong = Vec::new();
        for (name, text, expected) in &templates {
            let report = found(text, options).report;
            let got = report.dialect.as_deref().unwrap_or("-");
            if got != expected {
                wrong.push(format!("{name}: expected {expected}, got {got} ({})", report.confidence));
                assert!(options == RENDERING || report.confidence < SURE || got == "-", "{wrong:?}");
            }
        }
        eprintln!(
            "{options:?}: {} of {} templates are right; {wrong:#?}",
            templates.len() - wrong.len(),
            templates.len()
        );
        assert!(wrong.len() * 100 <= templates.len() * (100 - share), "{wrong:#?}");
    }
}

#[test]
fn real_templates_are_described_when_they_are_renamed() {
    let Some(templates) = known() else { return };
    let mut wrong = Vec::new();
    let mut count = 0;
    let calling = || templates.iter().filter(|(.., dialect)| dialect != "-");
    for (seed, (name, text, _)) in SEEDS.flat_map(|seed| calling().map(move |template| (seed, template))) {
        let other = renamed(text, seed);
        let material = Material::of(Kind::Jinja, &other);
        let found = match detect(&material, Dialects::builtin(), DESCRIBE) {
            // A key that the template itself asks for was renamed as well.
            Err(RenderError::Broken(_)) => continue,
            found => found.unwrap(),
        };
        // Where a template shows no calls, nothing can be read off.
        if found.report.source == Basis::Rules || found.description.is_none() && !shows_calls(&found) {
            continue;
        }
        count += 1;
        wrong.extend(wrong_with(found.description.as_ref()).map(|why| format!("{name} {seed}: {why}")));
    }
    eprintln!("{} of {count} renamed templates are described; {wrong:#?}", count - wrong.len());
    assert!(wrong.len() * 10 <= count, "{wrong:#?}");
}

fn shows_calls(found: &Found) -> bool {
    found.report.evidence.iter().any(|line| line.starts_with("a call is written"))
}
