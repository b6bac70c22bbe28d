//! `del parse --out` and `del convert --out`: whole files. What becomes of their rows is tested in `del-bulk`.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use crate::del::{Run, del, directory, plain, text};

const CALL: &str = "<tool_call>{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\",}}</tool_call>";

#[test]
fn files_and_directories_go_through_once() {
    let line = |id: &str, text: &str| json!({"id": id, "text": text}).to_string() + "\n";
    let home = directory(&[
        ("in/a.jsonl", &(line("a", CALL) + "no JSON\n")),
        ("in/deep/b.jsonl", &line("b", "Hello")),
        ("c.jsonl", &line("c", &CALL[..40])),
    ]);
    let path = |name: &str| text(&home.path().join(name));
    let parse = ["parse", "--json", "--out", &path("out"), &path("in"), &path("c.jsonl")];
    let first = plain(&parse);
    assert_eq!(first.code, 42, "{first:#?}");
    let report = json!({
        "files": 3, "finished_before": 0, "rows": 4, "calls": 1,
        "faults": {"repaired": 1, "unclosed_call": 1}, "rejects": {"invalid_json": 1}, "failed": [],
    });
    assert_eq!(first.json(), report);
    for said in [
        "3 files: 4 rows, 1 call\n",
        "faults: 1 repaired, 1 unclosed_call",
        "an `error` stands in 1 row: 1 invalid_json",
    ] {
        assert!(first.err.contains(said), "{said}: {}", first.err);
    }
    let read = fs::read_to_string(home.path().join("out/a.jsonl")).unwrap();
    let rows: Vec<Value> = read.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows[0]["answer"]["tool_calls"][0]["function"]["name"], "list_dir");
    assert_eq!((&rows[1]["error"]["code"], &rows[1]["record"]), (&json!("invalid_json"), &json!("no JSON")));
    assert!(home.path().join("out/deep/b.jsonl").exists());

    let again = plain(&parse);
    assert_eq!(
        (again.code, &again.json()["finished_before"], &again.json()["rows"]),
        (42, &json!(3), &json!(4))
    );
    assert!(again.err.contains("3 files, 3 of them before: 4 rows"), "{}", again.err);

    let rewritten =
        ["convert", "--to", "qwen3-coder", "--out", &path("new"), &path("in/a.jsonl"), "--threads", "1"];
    let done = plain(&rewritten);
    assert_eq!((done.code, done.out.as_str()), (42, ""), "{done:#?}");
    let new = fs::read_to_string(home.path().join("new/a.jsonl")).unwrap();
    assert!(new.starts_with("{\"id\":\"a\"") && new.contains("<function=list_dir>"), "{new}");
}

#[test]
fn outputs_among_the_sources_are_not_read_and_what_is_gone_stops_nothing() {
    let home = directory(&[("data/a.jsonl", "{\"text\": \"\"}\n"), ("data/z.jsonl", "{\"text\": \"\"}\n")]);
    std::os::unix::fs::symlink("nowhere", home.path().join("data/gone.jsonl")).unwrap();
    let (data, read) = (text(&home.path().join("data")), text(&home.path().join("data/read")));
    for _ in 0..3 {
        let done = plain(&["parse", "--json", "--out", &read, &data]);
        assert_eq!((done.code, &done.json()["files"]), (42, &json!(2)), "{done:#?}");
        assert!(done.err.contains("data/gone.jsonl has no output: No such file"), "{}", done.err);
    }
}

#[test]
fn what_makes_no_sense_is_said() {
    let home = directory(&[("a.jsonl", "{\"text\": \"\"}\n"), ("notes.txt", "")]);
    let path = |name: &str| text(&home.path().join(name));
    let (a, out) = (path("a.jsonl"), path("out"));
    plain(&["parse", &a, &a]).fails(2, "expected one file, got 2; --out takes several");
    plain(&["parse", "--out", &out]).fails(2, "expected files of Parquet or JSON lines, got none");
    plain(&["parse", "--out", &out, "--jsonl", &a]).fails(2, "cannot be used with");
    plain(&["parse", "--column", "text", &a]).fails(2, "--out");
    plain(&["parse", "--out", &out, &path("notes.txt")]).fails(2, "expected a file that ends in .parquet");
    plain(&["parse", "--out", &text(home.path()), &a]).fails(2, "would be written over");
}

#[test]
fn a_file_that_is_not_there_stops_no_other() {
    let home = directory(&[("a.jsonl", "{\"text\": \"\"}\n\n{\"text\": \"x\"}\n")]);
    let path = |name: &str| text(&home.path().join(name));
    let done = plain(&["parse", "--json", "--out", &path("out"), &path("none.jsonl"), &path("a.jsonl")]);
    assert_eq!(done.code, 42, "{done:#?}");
    assert_eq!(
        (&done.json()["files"], &done.json()["failed"][0]["file"]),
        (&json!(1), &json!(path("none.jsonl")))
    );
    assert!(done.err.contains("none.jsonl has no output: No such file"), "{}", done.err);
    // An empty line is no row.
    assert_eq!((&done.json()["rows"], &done.json()["rejects"]), (&json!(2), &json!({})));
    let alone = plain(&["parse", "--out", &path("out2"), &path("none.jsonl")]);
    assert_eq!(alone.code, 42, "{alone:#?}");
}

#[test]
fn ids_follow_from_the_row_its_place_and_its_file() {
    let lines = format!("{}\n", json!({"text": CALL})).repeat(2);
    let home = directory(&[("in/a.jsonl", &lines), ("in/b.jsonl", &lines)]);
    let ids = |out: &str| {
        let done = plain(&["parse", "--out", &text(&home.path().join(out)), &text(&home.path().join("in"))]);
        assert_eq!(done.code, 0, "{done:#?}");
        let read = |name: &str| fs::read_to_string(home.path().join(out).join(name)).unwrap();
        let both = read("a.jsonl") + &read("b.jsonl");
        let rows = both.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| row["answer"]["tool_calls"][0]["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let first = ids("one");
    assert_eq!(first, ids("two"), "a run that is repeated");
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), 4, "{first:?}");
}

const ROWS: i64 = 2000;

/// Rows of whole, mended, guessed and broken calls and of prose, in twenty row groups.
fn write_parquet(path: &Path, from: i64) {
    let text = |id: i64| match id % 5 {
        0 => CALL.to_owned(),
        1 => CALL.replace(",}", "}"),
        2 => CALL.replace(",}", " \"deep\": 1}"),
        3 => CALL[..40].to_owned(),
        _ => format!("Just {id}."),
    };
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(from..from + ROWS));
    let texts: ArrayRef = Arc::new((from..from + ROWS).map(|id| Some(text(id))).collect::<StringArray>());
    let batch = RecordBatch::try_from_iter([("id", ids), ("text", texts)]).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(100)).build();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn ids(path: &Path) -> Vec<i64> {
    let batches =
        ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    batches.flat_map(|batch| batch.unwrap()["id"].as_primitive::<Int64Type>().values().to_vec()).collect()
}

/// All files below a directory, with what is in them.
fn files(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn a_killed_run_goes_on_when_it_is_started_again() {
    let home = directory(&[]);
    let path = |name: &str| home.path().join(name);
    for (name, from) in [("in/a.parquet", 0), ("in/deep/b.parquet", ROWS)] {
        write_parquet(&path(name), from);
    }
    // A pipe that nobody writes to holds the run, so that it cannot end before it is killed.
    assert!(Command::new("mkfifo").arg(path("last.jsonl")).status().unwrap().success());
    for command in [&["parse"][..], &["convert", "--to", "qwen3-coder"]] {
        let out = format!("{}-out", command[0]);
        let into = |out: &str| {
            let files = [path(out), path("in"), path("last.jsonl")].map(|path| text(&path));
            let all = command
                .iter()
                .map(|word| (*word).to_owned())
                .chain(["--json".to_owned(), "--out".to_owned()]);
            all.chain(files).collect::<Vec<_>>()
        };
        let mut killed = del(&into(&out)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = [path(&out).join(".del/a.parquet.parts/00000003"), path(&out).join("a.parquet")];
        while !begun.iter().any(|path| path.exists()) {
            assert!(killed.try_wait().unwrap().is_none(), "the run has ended");
            thread::sleep(Duration::from_millis(1));
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
        fs::remove_file(path("last.jsonl")).unwrap();
        fs::write(path("last.jsonl"), json!({"id": "last", "text": "The end."}).to_string() + "\n").unwrap();

        let (again, undisturbed) = (plain(&into(&out)), plain(&into("undisturbed")));
        let whole = |run: &Run| {
            let mut report = run.json();
            report["finished_before"] = json!(0);
            report
        };
        assert_eq!((again.code, whole(&again)), (undisturbed.code, whole(&undisturbed)));
        assert_eq!(again.json()["rows"], 2 * ROWS + 1);
        for (name, from) in [("a.parquet", 0), ("deep/b.parquet", ROWS)] {
            assert_eq!(ids(&path(&out).join(name)), (from..from + ROWS).collect::<Vec<_>>());
        }
        let of = |out: &str| {
            let root = path(out);
            let inner = |(path, bytes): (PathBuf, _)| (path.strip_prefix(&root).unwrap().to_owned(), bytes);
            files(&root).into_iter().map(inner).collect::<Vec<_>>()
        };
        // What is kept of both runs is the same as well, and nothing temporary.
        assert_eq!(of(&out), of("undisturbed"));
        assert_eq!(of(&out).len(), 3 + 3 + 1);
        fs::remove_dir_all(path("undisturbed")).unwrap();
        fs::remove_file(path("last.jsonl")).unwrap();
        assert!(Command::new("mkfifo").arg(path("last.jsonl")).status().unwrap().success());
    }
}

#[test]
fn what_is_cut_off_is_told_of() {
    let home = directory(&[]);
    let path = |name: &str| home.path().join(name);
    write_parquet(&path("in/a.parquet"), 0);
    write_parquet(&path("in/b.parquet"), ROWS);
    let cut = |name: &str| {
        let bytes = fs::read(path(name)).unwrap();
        fs::write(path(name), &bytes[..bytes.len() / 2]).unwrap();
        bytes
    };
    let whole = cut("in/b.parquet");
    let parse = ["parse", "--out", &text(&path("out")), &text(&path("in"))];
    let told = plain(&parse);
    assert_eq!(told.code, 42);
    assert!(told.err.contains("in/b.parquet has no output: "), "{}", told.err);
    assert!(path("out/a.parquet").exists() && !path("out/b.parquet").exists());
    // An output that was cut off is made again, and so is that of a source which is whole now.
    let output = cut("out/a.parquet");
    fs::write(path("in/b.parquet"), whole).unwrap();
    let again = plain(&parse);
    assert_eq!((again.code, fs::read(path("out/a.parquet")).unwrap() == output), (0, true), "{again:#?}");
    assert!(again.err.contains("2 files: 4,000 rows"), "{}", again.err);
}
