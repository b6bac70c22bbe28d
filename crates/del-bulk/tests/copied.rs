//! Columns of Parquet that stay as they are: they come out as they were packed.
#![cfg(feature = "files")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMillisecondType};
use arrow_array::{ArrayRef, Date32Array, RecordBatch, StringArray, TimestampMillisecondArray};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use del_bulk::{Convert, Job, Parse, Rows, run, sources};
use del_dialects::{Dialects, End, Sink, Turn};
use del_wire::convert::{Converter, Source, Target};
use del_wire::records::{RecordError, Request};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{Encoding, LogicalType, Type};
use parquet::data_type::{
    ByteArray, ByteArrayType, FixedLenByteArrayType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

fn parse() -> impl Rows + Sync {
    Parse::new("text", "answer", |request: &mut Request, sink: &mut dyn Sink| -> Result<(), RecordError> {
        let mut parser = Dialects::builtin().parser(Turn::default());
        parser.push(&request.text, sink);
        parser.finish(End::End, sink);
        Ok(())
    })
}

fn convert() -> impl Rows + Sync {
    let dialect = |name| Arc::clone(Dialects::builtin().get(name).unwrap());
    let (from, to) = (Source::Text(dialect("hermes")), Target::Text(dialect("mistral-json")));
    Convert::new(Converter::new(from, to, true, []), None)
}

/// Row groups of a hundred rows in an encoding that nothing but the source has.
fn packed() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BYTE_ARRAY)
        .set_max_row_group_row_count(Some(100))
}

fn write(path: &Path, properties: WriterProperties) {
    let mut notes = ListBuilder::new(StringBuilder::new());
    for row in 0..250 {
        (0..row % 3).for_each(|note| notes.values().append_value(format!("note {note} of {row}")));
        notes.append(row % 7 != 0);
    }
    let text = |row| format!("<tool_call>{{\"name\": \"f\", \"arguments\": {{\"n\": {row}}}}}</tool_call>");
    let columns: [(&str, ArrayRef); 2] = [
        ("notes", Arc::new(notes.finish())),
        ("text", Arc::new((0..250).map(|row| (row % 5 != 0).then(|| text(row))).collect::<StringArray>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn about(path: &Path) -> ParquetMetaData {
    let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
    reader.parse_and_finish(&File::open(path).unwrap()).unwrap()
}

fn column(path: &Path, name: &str) -> Vec<ArrayRef> {
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    reader.map(|batch| Arc::clone(batch.unwrap().column_by_name(name).unwrap())).collect()
}

fn work(rows: &(impl Rows + Sync), input: &Path, out: &Path) -> u64 {
    let sources = sources(&[input.to_owned()], out).unwrap();
    let job = Job { sources, out: out.to_owned(), settings: String::new(), threads: 2 };
    let report = run(&job, rows, &mut |_| {}).unwrap();
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    report.tally.rows
}

#[test]
fn what_stays_is_packed_as_before_and_has_an_index_of_pages_if_it_had_one() {
    let home = tempfile::tempdir().unwrap();
    let bare = packed().set_statistics_enabled(EnabledStatistics::Chunk).set_offset_index_disabled(true);
    for (name, properties) in [("indexed", packed()), ("bare", bare)] {
        let input = home.path().join(name).with_extension("parquet");
        write(&input, properties.build());
        let (parsed, converted) = (home.path().join("parsed"), home.path().join("converted"));
        assert_eq!((work(&parse(), &input, &parsed), work(&convert(), &input, &converted)), (250, 250));

        let outputs = [parsed, converted].map(|folder| folder.join(input.file_name().unwrap()));
        let before = about(&input);
        for (output, copied) in outputs.iter().zip([2, 1]) {
            let after = about(output);
            assert_eq!(after.num_row_groups(), before.num_row_groups());
            for (group, given) in before.row_groups().iter().enumerate() {
                for (place, given) in given.columns().iter().enumerate() {
                    let made = after.row_group(group).column(place);
                    let same = made.encodings().eq(given.encodings())
                        && made.compressed_size() == given.compressed_size()
                        && made.statistics() == given.statistics();
                    assert_eq!(same, place < copied, "{} {place}", output.display());
                }
            }
            assert_eq!(after.offset_index().is_some(), name == "indexed");
            assert_eq!(after.column_index().is_some(), name == "indexed");
            assert_eq!(column(output, "notes"), column(&input, "notes"));
        }
        assert_eq!(column(&outputs[0], "text"), column(&input, "text"));
        assert_ne!(column(&outputs[1], "text"), column(&input, "text"));
    }
}

/// Arrow has seconds and days in milliseconds, which Parquet cannot state: what its schema says of such columns is left out.
#[test]
fn what_a_file_states_of_times_and_days_is_stated_again() {
    let home = tempfile::tempdir().unwrap();
    let input = home.path().join("stated.parquet");
    let schema = parse_message_type(
        "message m {
            required int96 at;
            required group both { required int32 day (DATE); required int64 bare; }
            required group days (LIST) { repeated group list { required int32 element (DATE); } }
            required binary text (UTF8);
        }",
    );
    let (second, day) = (DataType::Timestamp(TimeUnit::Second, Some("UTC".into())), DataType::Date64);
    let field = |name: &str, kind: &DataType| Field::new(name, kind.clone(), false);
    let both = DataType::Struct(Fields::from(vec![field("day", &day), field("bare", &second)]));
    let days = DataType::List(Arc::new(field("element", &day)));
    let arrow = Schema::new(vec![
        field("at", &second),
        field("both", &both),
        field("days", &days),
        field("text", &DataType::Utf8),
    ]);
    let mut properties = WriterProperties::default();
    add_encoded_arrow_schema_to_metadata(&arrow, &mut properties);
    let file = File::create(&input).unwrap();
    let mut writer =
        SerializedFileWriter::new(file, Arc::new(schema.unwrap()), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    // A second behind noon of the first of January 1970, twice.
    let noon = Int96::from(vec![0x8442_4a00, 0x274a, 2_440_588]);
    next::<Int96Type>(&mut group, &[noon; 2], None);
    next::<Int32Type>(&mut group, &[18_399, -1], None);
    next::<Int64Type>(&mut group, &[77, -77], None);
    next::<Int32Type>(&mut group, &[1, 2, 3], Some((&[1, 1, 1], &[0, 1, 0])));
    next::<ByteArrayType>(&mut group, &["a", "b"].map(ByteArray::from), None);
    group.close().unwrap();
    writer.close().unwrap();

    let out = home.path().join("out");
    assert_eq!(work(&parse(), &input, &out), 2);
    let made = out.join("stated.parquet");
    let (before, after) = (about(&input), about(&made));
    let (before, after) = (before.file_metadata().schema_descr(), after.file_metadata().schema_descr());
    let at = after.column(0);
    assert_eq!(at.physical_type(), Type::INT64);
    let milliseconds = LogicalType::timestamp(true, parquet::basic::TimeUnit::MILLIS);
    assert_eq!(at.logical_type_ref(), Some(&milliseconds));
    for leaf in 1..4 {
        assert_eq!(after.column(leaf), before.column(leaf));
    }
    let times = TimestampMillisecondArray::from(vec![43_201_000; 2]).with_timezone("UTC");
    assert_eq!(*column(&made, "at")[0].as_primitive::<TimestampMillisecondType>(), times);
    let all = column(&made, "both");
    let members = all[0].as_struct();
    let days = |days: &[i32]| Date32Array::from(days.to_vec());
    assert_eq!(*members.column(0).as_primitive::<Date32Type>(), days(&[18_399, -1]));
    assert_eq!(members.column(1).data_type(), &second);
    let list = column(&made, "days");
    assert_eq!(*list[0].as_list::<i32>().values().as_primitive::<Date32Type>(), days(&[1, 2, 3]));
}

/// The next column of a row group, with its levels of definition and repetition.
fn next<T: parquet::data_type::DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: Option<(&[i16], &[i16])>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels.map(|both| both.0), levels.map(|both| both.1)).unwrap();
    column.close().unwrap();
}

/// The old times of Spark are read as others, and what is read is written as these.
#[test]
fn what_would_be_written_otherwise_is_written_anew() {
    let home = tempfile::tempdir().unwrap();
    let input = home.path().join("old.parquet");
    let schema = parse_message_type(
        "message m {
            required int96 at;
            required fixed_len_byte_array(16) id (UUID);
            required binary said (JSON);
            required binary text (UTF8);
        }",
    );
    let schema = schema.unwrap();
    let mut writer =
        SerializedFileWriter::new(File::create(&input).unwrap(), Arc::new(schema), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    // Noon of the first of January 1970, and the day after.
    let times = [2_440_588, 2_440_589].map(|day| Int96::from(vec![0, 10_060, day]));
    next::<Int96Type>(&mut group, &times, None);
    let ids = [[7; 16]; 2].map(|id| ByteArray::from(id.to_vec()).into());
    next::<FixedLenByteArrayType>(&mut group, &ids, None);
    next::<ByteArrayType>(&mut group, &["1", "[]"].map(ByteArray::from), None);
    next::<ByteArrayType>(&mut group, &["a", "b"].map(ByteArray::from), None);
    group.close().unwrap();
    writer.close().unwrap();

    let out = home.path().join("out");
    assert_eq!(work(&parse(), &input, &out), 2);
    let made = out.join("old.parquet");
    for name in ["at", "id", "said", "text"] {
        assert_eq!(column(&made, name), column(&input, name));
    }
    let leaf = |path: &Path, leaf| about(path).file_metadata().schema_descr().column(leaf);
    for stays in [1, 2] {
        assert_eq!(leaf(&made, stays), leaf(&input, stays));
    }
}
