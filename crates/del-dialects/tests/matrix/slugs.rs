//! For which cells a case file counts, by its name.

use std::fs;

use del_dialects::Dialect;

use crate::reading::folder;

/// A part of a case's slug, and the cell that it counts for.
const SLUGS: [(&str, &str); 24] = [
    ("one-call", "one-call"),
    ("two-calls", "several-in-a-block"),
    ("text-around", "interleaved-text"),
    ("no-call", "no-call"),
    ("marker-in-prose", "no-call"),
    ("empty-arguments", "empty-arguments"),
    ("no-arguments", "empty-arguments"),
    ("complex-arguments", "complex-arguments"),
    ("nested", "complex-arguments"),
    ("marker-in-value", "markers-in-a-value"),
    ("marker-in-string", "markers-in-a-value"),
    ("unknown-tool", "unknown-tool"),
    ("white-space", "white-space"),
    ("malformed", "malformed-a"),
    ("bad-arguments", "malformed-a"),
    ("missing-closer", "truncated-d"),
    ("closer-missing", "truncated-d"),
    ("cut-in-arguments", "truncated-c"),
    ("cut-in-second-call", "truncated-e"),
    ("schema-types", "schema-coercion"),
    ("native-id", "native-ids"),
    ("arguments-first", "key-order"),
    ("invented-result", "invented-result"),
    ("reasoning", "around-thinking"),
];

/// The cells that the case files of a dialect count for.
pub(crate) fn cells_of(dialect: &Dialect) -> Vec<&'static str> {
    let files = fs::read_dir(folder().join(dialect.name()).join("cases"));
    let names =
        files.into_iter().flatten().flatten().map(|file| file.file_name().to_string_lossy().into_owned());
    let slugs: Vec<String> = names.collect();
    let counts = |(part, _): &&(&str, &str)| slugs.iter().any(|slug| slug.contains(part));
    SLUGS.iter().filter(counts).map(|(_, cell)| *cell).collect()
}
