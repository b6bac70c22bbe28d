//! Whole files: what goes in comes out once, in order, whatever happens on the way.
#![cfg(feature = "files")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use del_bulk::{BulkError, Convert, Job, Parse, Report, Rows, Tally, run, sources};
use del_dialects::{Dialects, End, Sink, Turn};
use del_wire::convert::{Converter, Source, Target};
use del_wire::records::{RecordError, Request};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

const ROWS: i64 = 3000;

fn read(request: &mut Request, sink: &mut dyn Sink) -> Result<(), RecordError> {
    if let Some(name) = &request.said.dialect {
        return Err(request.unknown_dialect(&format!("there is no {name} here")));
    }
    let mut parser = Dialects::builtin().parser(Turn::default());
    parser.push(&request.text, sink);
    parser.finish(End::End, sink);
    Ok(())
}

fn parse() -> impl Rows + Sync {
    Parse::new("text", "answer", read)
}

fn text(number: i64) -> Option<String> {
    match number % 4 {
        0 => Some(format!("<tool_call>{{\"name\": \"f\", \"arguments\": {{\"n\": {number}}}}}</tool_call>")),
        1 => Some(format!("Just {number}.")),
        2 => Some(format!("<tool_call>{{\"name\": \"f\", \"arguments\": {{\"n\": {number},}}}}</tool_call>")),
        _ => None,
    }
}

/// A file with a row group for every thousand rows. Every hundredth row asks for a dialect that does not exist.
fn write_parquet(path: &Path, from: i64) {
    write_padded(path, from, 0);
}

/// With so many bytes beside in each row group.
fn write_padded(path: &Path, from: i64, bytes: usize) {
    let numbers = from..from + ROWS;
    let padding = |number: i64| (number % 1000 == 0).then(|| vec![0; bytes]);
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(Int64Array::from_iter_values(numbers.clone()))),
        ("text", Arc::new(numbers.clone().map(text).collect::<StringArray>())),
        (
            "dialect",
            Arc::new(
                numbers.clone().map(|number| (number % 100 == 0).then_some("none")).collect::<StringArray>(),
            ),
        ),
        ("padding", Arc::new(numbers.map(padding).collect::<BinaryArray>())),
    ];
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn write_lines(path: &Path, packed: bool) {
    let line =
        |number: i64| json!({"id": number, "text": text(number), "more": [1.0, number]}).to_string() + "\n";
    let mut lines: String = (0..ROWS).map(line).collect();
    lines.push_str("no JSON\n\n{\"id\": \"last\", \"text\": \"The end\"}");
    let bytes = lines.into_bytes();
    fs::write(path, if packed { zstd::encode_all(bytes.as_slice(), 1).unwrap() } else { bytes }).unwrap();
}

fn rows_of(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().map(Result::unwrap).collect()
}

fn job(input: &Path, out: &Path, threads: usize) -> Job {
    Job {
        sources: sources(&[input.to_owned()], out).unwrap(),
        out: out.to_owned(),
        settings: "same".into(),
        threads,
    }
}

fn finish(input: &Path, out: &Path, threads: usize) -> Report {
    run(&job(input, out, threads), &parse(), &mut |_| {}).unwrap()
}

/// All files below a directory but what is kept of runs, with their contents.
fn contents(out: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let found = sources(&[out.to_owned()], out).unwrap();
    found.files.into_iter().map(|source| (source.name, fs::read(source.path).unwrap())).collect()
}

/// Nothing is kept of a run but what is said of its outputs.
fn no_parts_are_left(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert!(path.extension().is_none(), "{}", path.display());
            no_parts_are_left(&path);
        }
    }
}

/// Fails at a row, as a full disk does; counts the rows that it has worked on.
#[derive(Clone)]
struct Failing<R> {
    rows: R,
    at: i64,
    worked: Arc<AtomicU64>,
}

impl<R: Rows> Rows for Failing<R> {
    fn schema(&self, given: &Schema) -> Result<SchemaRef, String> {
        self.rows.schema(given)
    }

    fn keeps(&self, given: &Schema, place: usize) -> bool {
        self.rows.keeps(given, place)
    }

    fn batch(
        &mut self,
        given: &RecordBatch,
        schema: &SchemaRef,
        first: u64,
        tally: &mut Tally,
    ) -> Result<RecordBatch, ArrowError> {
        let ids = given.column(0).as_primitive::<Int64Type>();
        if ids.values().contains(&self.at) {
            return Err(ArrowError::ComputeError("no room".into()));
        }
        self.worked.fetch_add(given.num_rows() as u64, Ordering::SeqCst);
        self.rows.batch(given, schema, first, tally)
    }

    fn line(
        &mut self,
        line: &[u8],
        number: u64,
        tally: &mut Tally,
        lines: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        self.worked.fetch_add(1, Ordering::SeqCst);
        self.rows.line(line, number, tally, lines)
    }
}

#[test]
fn every_row_comes_out_as_it_was_with_what_was_read() {
    let home = tempfile::tempdir().unwrap();
    let (input, out) = (home.path().join("in"), home.path().join("out"));
    fs::create_dir_all(&input).unwrap();
    write_parquet(&input.join("a.parquet"), 0);
    let report = finish(&input, &out, 3);
    assert_eq!((report.files, report.finished_before, report.failed.len()), (1, 0, 0));
    assert_eq!((report.tally.rows, report.tally.rejected()), (3000, 30));
    // Rows that ask for no dialect are read: of those that are divisible by 4 all but the hundreds.
    assert_eq!(
        (report.tally.calls, &report.tally.faults),
        (1500 - 30, &[("repaired".to_owned(), 750)].into())
    );

    let (before, after) = (rows_of(&input.join("a.parquet")), rows_of(&out.join("a.parquet")));
    let whole = |batches: &[RecordBatch], column| -> Vec<ArrayRef> {
        batches.iter().map(|batch| Arc::clone(batch.column_by_name(column).unwrap())).collect()
    };
    for column in ["id", "text", "dialect"] {
        assert_eq!(whole(&before, column), whole(&after, column));
    }
    let mut row = 0;
    for batch in &after {
        let (answers, errors) = (batch["answer"].as_struct(), batch["error"].as_struct());
        for place in 0..batch.num_rows() {
            assert_eq!(errors.is_valid(place), row % 100 == 0, "{row}");
            assert_eq!(answers.is_valid(place), row % 100 != 0 && row % 4 != 3, "{row}");
            row += 1;
        }
        let calls = answers.column_by_name("calls").unwrap().as_list::<i64>();
        assert_eq!((calls.value_length(4), calls.value_length(1)), (1, 0));
    }
    assert_eq!(row, 3000);
}

#[test]
fn a_run_that_broke_off_goes_on_and_gives_the_same_bytes() {
    let home = tempfile::tempdir().unwrap();
    let input = home.path().join("in");
    fs::create_dir_all(input.join("deep")).unwrap();
    for (name, from) in [("a.parquet", 0), ("deep/b.parquet", ROWS)] {
        write_parquet(&input.join(name), from);
    }
    // A unit takes no two of its row groups.
    write_padded(&input.join("c.parquet"), 2 * ROWS, 17 << 20);
    write_lines(&input.join("d.jsonl"), false);
    write_lines(&input.join("e.jsonl.zst"), true);
    let undisturbed = home.path().join("undisturbed");
    let expected = finish(&input, &undisturbed, 1);
    assert_eq!((expected.files, expected.tally.rows), (5, 3 * 3000 + 2 * 3002));

    let out = home.path().join("out");
    let worked = Arc::new(AtomicU64::new(0));
    // The last unit of the second file: a.parquet is whole by then, and two thirds of c.parquet are there.
    let failing = Failing { rows: parse(), at: 3 * ROWS - 1, worked: Arc::clone(&worked) };
    let failed = run(&job(&input, &out, 1), &failing, &mut |_| {}).unwrap_err();
    assert!(matches!(&failed, BulkError::Write { path, .. } if path.ends_with("00000002")), "{failed}");
    assert!(!out.join("c.parquet").exists() && out.join("a.parquet").exists());

    worked.store(0, Ordering::SeqCst);
    let whole = Failing { at: -1, ..failing.clone() };
    let report = run(&job(&input, &out, 2), &whole, &mut |_| {}).unwrap();
    assert_eq!(worked.load(Ordering::SeqCst), 1000 + 3000 + 2 * 3002, "what was done is not done again");
    assert_eq!((report.tally.clone(), report.finished_before), (expected.tally.clone(), 1));
    assert_eq!(contents(&out), contents(&undisturbed));

    // One output is cut off, and one is gone: these two alone are made again.
    File::options().write(true).open(out.join("c.parquet")).unwrap().set_len(1000).unwrap();
    fs::remove_file(out.join("d.jsonl")).unwrap();
    worked.store(0, Ordering::SeqCst);
    let report = run(&job(&input, &out, 2), &whole, &mut |_| {}).unwrap();
    assert_eq!((worked.load(Ordering::SeqCst), report.finished_before), (3000 + 3002, 3));
    assert_eq!(contents(&out), contents(&undisturbed));

    // Other settings make all of them anew.
    worked.store(0, Ordering::SeqCst);
    let other = Job { settings: "other".into(), ..job(&input, &out, 2) };
    let report = run(&other, &whole, &mut |_| {}).unwrap();
    assert_eq!((worked.load(Ordering::SeqCst), report.finished_before), (expected.tally.rows, 0));
    no_parts_are_left(&out.join(".del"));
}

#[test]
fn lines_keep_their_members_and_what_cannot_be_read_stands_in_its_place() {
    let home = tempfile::tempdir().unwrap();
    let input = home.path().join("in");
    fs::create_dir_all(&input).unwrap();
    write_lines(&input.join("plain.jsonl"), false);
    write_lines(&input.join("packed.jsonl.zst"), true);
    let out = home.path().join("out");
    let report = finish(&input, &out, 2);
    assert_eq!(
        report.tally.rejects,
        [("invalid_json".to_owned(), 2), ("invalid_request".to_owned(), 1500)].into()
    );
    let plain = fs::read_to_string(out.join("plain.jsonl")).unwrap();
    let packed = zstd::decode_all(File::open(out.join("packed.jsonl.zst")).unwrap()).unwrap();
    // The ids of calls follow from the name of the file too.
    let without_ids = |text: &str| {
        let parts =
            text.split("\"id\":\"call_").map(|part| part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
        parts.collect::<Vec<_>>().join("")
    };
    assert_eq!(without_ids(&plain), without_ids(std::str::from_utf8(&packed).unwrap()));
    let lines: Vec<&str> = plain.lines().collect();
    assert_eq!(lines.len(), 3003);
    let row = |number: usize| serde_json::from_str::<Value>(lines[number]).unwrap();
    assert!(
        lines[4].starts_with(r#"{"id":4,"text":"#)
            && lines[4].contains(r#""more":[1.0,4], "answer": {"dialect""#)
    );
    assert_eq!(row(4)["answer"]["tool_calls"][0]["function"]["arguments"], "{\"n\": 4}");
    assert_eq!((&row(3)["id"], &row(3)["error"]["code"]), (&json!(3), &json!("invalid_request")));
    assert_eq!(
        serde_json::from_str::<Value>(row(3)["record"].as_str().unwrap()).unwrap()["more"],
        json!([1.0, 3])
    );
    assert_eq!(
        (&row(3000)["error"]["code"], &row(3000)["record"]),
        (&json!("invalid_json"), &json!("no JSON"))
    );
    assert_eq!((lines[3001], row(3002)["answer"]["content"].as_str()), ("", Some("The end")));
}

#[test]
fn transcripts_are_rewritten_in_their_column() {
    let home = tempfile::tempdir().unwrap();
    let (input, out) = (home.path().join("in"), home.path().join("out"));
    fs::create_dir_all(&input).unwrap();
    write_parquet(&input.join("a.parquet"), 0);
    let dialect = |name| Arc::clone(Dialects::builtin().get(name).unwrap());
    let converter =
        Converter::new(Source::Text(dialect("hermes")), Target::Text(dialect("mistral-json")), true, []);
    let report = run(&job(&input, &out, 2), &Convert::new(converter, None), &mut |_| {}).unwrap();
    assert_eq!((report.tally.rows, report.tally.calls, report.tally.rejected()), (3000, 1500, 0));
    let first = &rows_of(&out.join("a.parquet"))[0];
    let texts = first["text"].as_string::<i32>();
    assert_eq!(texts.value(4), r#"[TOOL_CALLS] [{"name": "f", "arguments": {"n": 4}}]"#);
    assert_eq!((texts.value(1), texts.is_null(3)), ("Just 1.", true));
    assert!(first.column_by_name("answer").is_none() && first["error"].null_count() == first.num_rows());
}

#[test]
fn rows_that_were_rewritten_say_what_they_are_written_in() {
    let home = tempfile::tempdir().unwrap();
    let (input, out) = (home.path().join("in"), home.path().join("out"));
    fs::create_dir_all(&input).unwrap();
    let column =
        |texts: &[Option<&str>]| Arc::new(texts.iter().copied().collect::<StringArray>()) as ArrayRef;
    let call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
    let mistral = "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {}}]";
    let rows = RecordBatch::try_from_iter([
        ("text", column(&[Some(call), Some(mistral), Some("so</think>yes"), Some(call), None])),
        ("dialect", column(&[Some("hermes"), Some("mistral-json"), None, Some("nope"), Some("hermes")])),
        ("starts_in", column(&[None, None, Some("reasoning"), None, None])),
    ]);
    let rows = rows.unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(input.join("a.parquet")).unwrap(), rows.schema(), None);
    writer.as_mut().unwrap().write(&rows).unwrap();
    writer.unwrap().close().unwrap();
    let all = Dialects::builtin();
    let target = Target::Text(Arc::clone(all.get("hermes").unwrap()));
    let converter = Converter::new(Source::Any(all), target, true, []).among(all);
    let report = run(&job(&input, &out, 1), &Convert::new(converter, None), &mut |_| {}).unwrap();
    assert_eq!((report.tally.calls, report.tally.rejected()), (2, 1));
    let made = &rows_of(&out.join("a.parquet"))[0];
    let texts = |name: &str| -> Vec<Option<String>> {
        made[name].as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        texts("dialect"),
        [some("hermes-json"), some("hermes-json"), None, some("nope"), some("hermes")]
    );
    assert_eq!(texts("starts_in"), [None, None, some("text"), None, None]);
    assert_eq!(texts("text")[1..4], [some(call), some("<think>\nso\n</think>\n\nyes"), some(call)]);
}

/// A row that says more than its text is not taken for one with the same text, and ids are those of the row.
#[test]
fn texts_that_come_again_are_read_as_their_rows_say() {
    let home = tempfile::tempdir().unwrap();
    let (input, out) = (home.path().join("in"), home.path().join("out"));
    fs::create_dir_all(&input).unwrap();
    let column = |texts: [Option<&str>; 5]| Arc::new(texts.into_iter().collect::<StringArray>()) as ArrayRef;
    let call = Some("<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>");
    let rows = RecordBatch::try_from_iter([
        ("text", column([call; 5])),
        ("dialect", column([None, Some("nope"), None, Some("nope"), None])),
        ("tools", column([None, None, None, None, Some("[{}]")])),
    ])
    .unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(input.join("a.parquet")).unwrap(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();

    let report = finish(&input, &out.join("parsed"), 1);
    assert_eq!((report.tally.calls, report.tally.rejected()), (2, 3));
    let made = &rows_of(&out.join("parsed/a.parquet"))[0];
    let present = |name: &str| (0..5).map(|row| made[name].is_valid(row)).collect::<Vec<_>>();
    assert_eq!(present("answer"), [true, false, true, false, false]);
    assert_eq!(present("error"), [false, true, false, true, true]);

    let all = Dialects::builtin();
    let converter = Converter::new(Source::Any(all), Target::Native, true, []);
    let report =
        run(&job(&input, &out.join("native"), 1), &Convert::new(converter, None), &mut |_| {}).unwrap();
    assert_eq!((report.tally.calls, report.tally.rejected()), (4, 1));
    let made = &rows_of(&out.join("native/a.parquet"))[0];
    let mut ids: Vec<Value> = made["text"]
        .as_string::<i32>()
        .iter()
        .take(4)
        .map(|text| {
            let message: Value = serde_json::from_str(text.unwrap()).unwrap();
            message["tool_calls"][0]["id"].clone()
        })
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[test]
fn what_cannot_be_worked_on_is_told_and_the_rest_is_done() {
    let home = tempfile::tempdir().unwrap();
    let (input, out) = (home.path().join("in"), home.path().join("out"));
    fs::create_dir_all(&input).unwrap();
    write_parquet(&input.join("a.parquet"), 0);
    write_parquet(&input.join("cut.parquet"), 0);
    File::options().write(true).open(input.join("cut.parquet")).unwrap().set_len(5000).unwrap();
    let empty =
        RecordBatch::try_from_iter([("other", Arc::new(StringArray::from(vec!["x"])) as ArrayRef)]).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(input.join("other.parquet")).unwrap(), empty.schema(), None)
            .unwrap();
    writer.write(&empty).unwrap();
    writer.close().unwrap();
    write_lines(&input.join("z.jsonl.zst"), true);
    let size = fs::metadata(input.join("z.jsonl.zst")).unwrap().len();
    File::options().write(true).open(input.join("z.jsonl.zst")).unwrap().set_len(size / 2).unwrap();

    let report = finish(&input, &out, 2);
    let failed: Vec<_> =
        report.failed.iter().map(|failure| failure.file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(
        (report.files, report.tally.rows, failed),
        (1, 3000, vec!["cut.parquet", "other.parquet", "z.jsonl.zst"])
    );
    assert_eq!(report.failed[1].reason, "expected a column `text`, got other");
    assert_eq!(contents(&out).len(), 1);

    let refused =
        |input: &Path, out: &Path| run(&job(input, out, 1), &parse(), &mut |_| {}).unwrap_err().to_string();
    assert!(refused(&input, &input).contains("would be written over"));
    // An output that no run has made is not touched.
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("a.parquet"), "mine").unwrap();
    assert!(refused(&input, &other).contains("no run has made it"));
    assert_eq!(fs::read(other.join("a.parquet")).unwrap(), b"mine");
}
