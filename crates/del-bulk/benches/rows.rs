//! What a row costs: `cargo bench -p del-bulk --features files --bench rows`. Files of short rows go through with nothing
//! done to them, with the columns of answers that are already read, and with reading. A number behind `--` is how many
//! rows; `pass`, `columns` or `read` does one alone, for a profiler; a name that ends in `.parquet` is a file to read
//! instead.
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on should stop")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use del_bulk::{Job, Parse, Rows, Tally, run, sources};
use del_dialects::{Call, Dialects, End, Event, Sink, Turn};
use del_wire::records::{RecordError, Request};
use parquet::arrow::ArrowWriter;
use parquet::file::reader::{FileReader, SerializedFileReader};

/// As `del` has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Rows as they are.
#[derive(Clone)]
struct Pass;

impl Rows for Pass {
    fn schema(&self, given: &Schema) -> Result<SchemaRef, String> {
        Ok(Arc::new(given.clone()))
    }

    fn keeps(&self, _: &Schema, _: usize) -> bool {
        false
    }

    fn batch(
        &mut self,
        given: &RecordBatch,
        _: &SchemaRef,
        _: u64,
        tally: &mut Tally,
    ) -> Result<RecordBatch, ArrowError> {
        tally.rows += given.num_rows() as u64;
        Ok(given.clone())
    }

    fn line(&mut self, _: &[u8], _: u64, _: &mut Tally, _: &mut Vec<u8>) -> Result<(), RecordError> {
        Ok(())
    }
}

/// A call or text, whatever stands there.
fn known(text: &str, sink: &mut dyn Sink) {
    if text.starts_with("Case") {
        sink.event(Event::Text(text), 0..0);
    } else {
        sink.event(Event::CallStart { call: 0, name: "get_weather", id: None, dialect: "hermes-json" }, 0..0);
        sink.event(Event::Args { call: 0, json: r#"{"city": "Paris", "days": 3}"# }, 0..0);
        sink.event(Event::CallEnd { call: 0, id: None }, 0..0);
    }
}

fn read(text: &str, sink: &mut dyn Sink) {
    let mut parser = Dialects::builtin().parser(Turn::default());
    parser.push(text, sink);
    parser.finish(End::End, sink);
}

fn parse(read: fn(&str, &mut dyn Sink)) -> impl Rows + Sync {
    Parse::new("text", "answer", move |request: &mut Request, sink: &mut dyn Sink| {
        read(&request.text, sink);
        Ok(())
    })
}

/// Calls in every dialect that has them so, and as much prose.
fn write(path: &Path, rows: i64) {
    let call = Call {
        id: None,
        name: "get_weather".to_owned(),
        arguments: r#"{"city": "Paris", "days": 3}"#.to_owned(),
    };
    let calls: Vec<String> = Dialects::builtin()
        .iter()
        .filter_map(|dialect| dialect.render_calls(std::slice::from_ref(&call), &[]).ok())
        .collect();
    let prose: Vec<String> = (0..100)
        .map(|number| {
            format!("Case {number} of the day needs no tool: it is {} degrees outside.", number * 7)
        })
        .collect();
    let all: Vec<&String> = calls.iter().chain(&prose).collect();
    let places = (0..rows).map(|row| usize::try_from(row).unwrap() * 7919 % all.len());
    let texts = StringArray::from_iter_values(places.map(|place| all[place]));
    let columns: [(&str, ArrayRef); 2] =
        [("id", Arc::new(Int64Array::from_iter_values(0..rows))), ("text", Arc::new(texts))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn measure(name: &str, work: &(impl Rows + Sync), input: &Path, rows: i64) {
    let least = (0..3)
        .map(|_| {
            let home = tempfile::tempdir().unwrap();
            let job = Job {
                sources: sources(&[input.to_owned()], home.path()).unwrap(),
                out: home.path().to_owned(),
                settings: String::new(),
                threads: 1,
            };
            let before = Instant::now();
            let report = run(&job, work, &mut |_| {}).unwrap();
            assert_eq!(report.tally.rows, u64::try_from(rows).unwrap());
            before.elapsed()
        })
        .min()
        .unwrap();
    println!("{name}: {} ns a row", least.as_nanos() / u128::try_from(rows).unwrap());
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let home = tempfile::tempdir().unwrap();
    let given = words.iter().find(|word| word.ends_with(".parquet")).map(PathBuf::from);
    let input = given.unwrap_or_else(|| {
        let made = home.path().join("in.parquet");
        write(&made, words.iter().find_map(|word| word.parse().ok()).unwrap_or(50_000));
        made
    });
    let rows =
        SerializedFileReader::new(File::open(&input).unwrap()).unwrap().metadata().file_metadata().num_rows();
    let alone = |name: &str| words.iter().any(|word| word == name);
    let wanted = |name: &str| alone(name) || !["pass", "columns", "read"].into_iter().any(alone);
    if wanted("pass") {
        measure("pass", &Pass, &input, rows);
    }
    if wanted("columns") {
        measure("columns", &parse(known), &input, rows);
    }
    if wanted("read") {
        measure("read", &parse(read), &input, rows);
    }
}
