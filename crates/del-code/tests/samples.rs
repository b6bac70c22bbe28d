//! Every file in `tests/samples` is read, and what is found is compared with the `.txt` beside it: its symbols, its
//! measures, and where `run`, `Foo` and `helper` occur. With `UPDATE_SAMPLES=1` the texts are written instead; read the difference
//! before keeping it.
#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use del_code::{Kind, Language, Outline, outline_by_patterns, parse};

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e != "txt")).collect();
    files.sort();
    files
}

#[test]
fn samples_are_read_as_they_should_be() {
    let mut wrong = String::new();
    for path in samples() {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let said = said(name, &text);
        let expected = PathBuf::from(format!("{}.txt", path.display()));
        if std::env::var_os("UPDATE_SAMPLES").is_some() {
            fs::write(expected, said).unwrap();
        } else if fs::read_to_string(expected).unwrap_or_default() != said {
            writeln!(wrong, "{name} is read as\n{said}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_language_with_a_grammar_has_a_sample() {
    let samples = samples();
    for language in Language::all().filter(|language| language.has_grammar()) {
        let has = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            Language::of_file(name, "") == Some(language)
        };
        assert!(samples.iter().any(has), "{}", language.name());
    }
}

fn said(name: &str, text: &str) -> String {
    let language = Language::of_file(name, text).unwrap();
    let mut said = format!("{}\n", language.name());
    let lines = Kind::of_file(name, text).unwrap().count(text);
    writeln!(said, "{} code, {} comment, {} blank", lines.code, lines.comment, lines.blank).unwrap();
    let Ok(source) = parse(text, language, &|| false) else {
        list(&outline_by_patterns(text, language).unwrap(), &mut said);
        return said;
    };
    let errors = if source.has_errors() { ", with errors" } else { "" };
    let outline = source.outline();
    writeln!(said, "{} imports, {} to do, {} deep{errors}", outline.imports, outline.todos, outline.nesting)
        .unwrap();
    list(&outline, &mut said);
    for word in ["run", "Foo", "helper"] {
        let occurrences = source.occurrences(word);
        let labels: Vec<_> = occurrences
            .found
            .iter()
            .map(|found| {
                let line = text[..found.at].matches('\n').count() + 1;
                format!("{line} {}", found.label.as_str())
            })
            .collect();
        writeln!(said, "{word}: {} ({} skipped)", labels.join(", "), occurrences.skipped).unwrap();
    }
    said
}

fn list(outline: &Outline, said: &mut String) {
    for symbol in &outline.symbols {
        let cost =
            symbol.cost.map(|cost| format!(" [{} {}]", cost.complexity, cost.nesting)).unwrap_or_default();
        let private = if symbol.private { " private" } else { "" };
        let (first, last) = (symbol.first, symbol.last);
        writeln!(said, "{first}-{last} {}{private} {}{}{cost}", symbol.kind, symbol.name, symbol.signature)
            .unwrap();
    }
}
