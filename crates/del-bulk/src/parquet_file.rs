//! Files of Parquet. A unit of work is some row groups; where one is large, a part of its rows.
//!
//! Columns that come out as they were are copied as they are packed, where a unit has whole row groups.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowWriter, compute_leaves};
use parquet::basic::Compression;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;

use crate::error::Trouble;
use crate::rows::{Rows, Tally};
use crate::stated::stated;

/// What is to be done with a file.
#[derive(Debug)]
pub(crate) struct Plan {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    schema: SchemaRef,
    properties: WriterProperties,
    /// For each column of the schema, where its leaves stand in the file, if it can be copied from there.
    copied: Vec<Option<Range<usize>>>,
    pub(crate) units: Vec<Unit>,
}

/// Some row groups, or some rows of one.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// Empty in a file without row groups.
    groups: Range<usize>,
    /// Which rows of its row group, where it has not all of them.
    part: Option<Range<usize>>,
    /// The number of its first row in the file, from 1.
    first: u64,
    /// Bytes of the file that it stands for.
    pub(crate) bytes: u64,
}

/// A unit has at most so many bytes, unpacked. What comes of a file that is one unit is not copied to its place.
const UNIT: usize = 32 << 20;
/// So many are read at a time, and at least one row: what is made of them should stay near the processor.
const BATCH: usize = 1 << 19;
const MOST_ROWS: usize = 8192;

/// Says of columns what these have not: those that are added.
const FEATURES: &str = "huggingface";

impl Plan {
    pub(crate) fn of(path: &Path, rows: &impl Rows) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let metadata = open(&file).map_err(|error| error.to_string())?;
        let mut given = metadata.schema().as_ref().clone();
        given.metadata.remove(FEATURES);
        let schema = rows.schema(&given)?;
        let properties = properties(metadata.metadata())?;
        let copied = copied(metadata.parquet_schema(), &schema, |place| rows.keeps(&given, place))
            .map_err(|error| error.to_string())?;
        let units = units(metadata.metadata());
        Ok(Self { path: path.to_owned(), metadata, schema, properties, copied, units })
    }

    /// Works on the rows of a unit, and writes what comes of them as a file of its own, which may not be on the disk yet. The
    /// places of the rows follow one another from `file` on.
    pub(crate) fn write(
        &self,
        unit: &Unit,
        rows: &mut impl Rows,
        file: u64,
        to: &Path,
    ) -> Result<(Tally, File), Trouble> {
        let (schema, properties) = (Arc::clone(&self.schema), self.properties.clone());
        let writer = ArrowWriter::try_new(created(to)?, schema, Some(properties))?;
        let (mut out, columns) = writer.into_serialized_writer()?;
        let mut tally = Tally::default();
        let mut first = file + unit.first;
        for (nth, group) in unit.groups.clone().enumerate() {
            let unreadable = |error: &dyn std::fmt::Display| Trouble::Source(error.to_string());
            let source = File::open(&self.path).map_err(|error| unreadable(&error))?;
            let given = source.try_clone().map_err(|error| unreadable(&error))?;
            let mut batches =
                ParquetRecordBatchReaderBuilder::new_with_metadata(given, self.metadata.clone())
                    .with_row_groups(vec![group])
                    .with_batch_size(batch(self.metadata.metadata().row_group(group)));
            if let Some(part) = &unit.part {
                batches = batches.with_offset(part.start).with_limit(part.len());
            }
            let batches = batches.build().map_err(|error| unreadable(&error))?;
            let copied =
                if unit.part.is_none() { self.copied.clone() } else { vec![None; self.copied.len()] };
            let mut made = Group::new(columns.create_column_writers(nth)?, copied, out.schema_descr());
            for batch in batches {
                let batch = batch.map_err(|error| unreadable(&error))?;
                made.add(&rows.batch(&batch, &self.schema, first, &mut tally).map_err(ParquetError::from)?)?;
                first += batch.num_rows() as u64;
            }
            made.finish(&source, self.metadata.metadata(), group, &mut out)?;
        }
        Ok((tally, ended(out)?))
    }
}

/// A file that is written.
type Out = SerializedFileWriter<BufWriter<File>>;

/// The system is asked for so many bytes at a time, and given as many.
const PIECE: usize = 1 << 18;

fn created(path: &Path) -> io::Result<BufWriter<File>> {
    Ok(BufWriter::with_capacity(PIECE, File::create(path)?))
}

/// A file that is written as a whole.
fn ended(out: Out) -> Result<File, Trouble> {
    Ok(out.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error)?)
}

/// A file whose columns are copied.
struct Packed<'f>(&'f File);

impl Length for Packed<'_> {
    fn len(&self) -> u64 {
        Length::len(self.0)
    }
}

impl ChunkReader for Packed<'_> {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let mut file = self.0.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::with_capacity(PIECE, file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.0.get_bytes(start, length)
    }
}

fn open(file: &File) -> Result<ArrowReaderMetadata, ParquetError> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let metadata = ArrowReaderMetadata::load(file, options.clone())?;
    match stated(metadata.schema(), metadata.parquet_schema()) {
        None => Ok(metadata),
        Some(schema) => {
            ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options.with_schema(schema))
        }
    }
}

/// A row group on its way out.
struct Group {
    columns: Vec<Column>,
}

/// A column of it.
enum Column {
    /// Where its leaves stand in the source.
    Copied(Range<usize>),
    /// A writer for each leaf.
    Written(Vec<ArrowColumnWriter>),
}

impl Group {
    fn new(
        writers: Vec<ArrowColumnWriter>,
        copied: Vec<Option<Range<usize>>>,
        schema: &SchemaDescriptor,
    ) -> Self {
        let mut writers = writers.into_iter();
        let columns = copied.into_iter().enumerate().map(|(place, copied)| {
            let written = writers.by_ref().take(leaves(schema, place).len()).collect();
            copied.map_or(Column::Written(written), Column::Copied)
        });
        Self { columns: columns.collect() }
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        let schema = batch.schema();
        for ((column, field), array) in self.columns.iter_mut().zip(schema.fields()).zip(batch.columns()) {
            if let Column::Written(writers) = column {
                for (writer, leaf) in writers.iter_mut().zip(compute_leaves(field, array)?) {
                    writer.write(&leaf)?;
                }
            }
        }
        Ok(())
    }

    fn finish(
        self,
        source: &File,
        about: &ParquetMetaData,
        group: usize,
        out: &mut Out,
    ) -> Result<(), ParquetError> {
        let mut out = out.next_row_group()?;
        for column in self.columns {
            match column {
                Column::Copied(mut leaves) => {
                    leaves
                        .try_for_each(|leaf| out.append_column(&Packed(source), chunk(about, group, leaf)))?;
                }
                Column::Written(writers) => writers
                    .into_iter()
                    .try_for_each(|writer| writer.close()?.append_to_row_group(&mut out))?,
            }
        }
        out.close()?;
        Ok(())
    }
}

/// The columns of `made` that stay as they are in a file, and are written the same way there.
fn copied(
    file: &SchemaDescriptor,
    made: &SchemaRef,
    stays: impl Fn(usize) -> bool,
) -> Result<Vec<Option<Range<usize>>>, ParquetError> {
    let written = ArrowSchemaConverter::new().convert(made)?;
    let same = |place: usize| {
        let (from, to) = (leaves(file, place), leaves(&written, place));
        let same =
            from.len() == to.len() && from.clone().zip(to).all(|(a, b)| file.column(a) == written.column(b));
        (same && stays(place)).then_some(from)
    };
    let given = file.root_schema().get_fields().len();
    Ok((0..made.fields().len()).map(|place| if place < given { same(place) } else { None }).collect())
}

/// The leaves of a column.
fn leaves(schema: &SchemaDescriptor, place: usize) -> Range<usize> {
    let root = |leaf: usize| schema.get_column_root_idx(leaf);
    let from = (0..schema.num_columns()).take_while(|leaf| root(*leaf) < place).count();
    let len = (from..schema.num_columns()).take_while(|leaf| root(*leaf) == place).count();
    from..from + len
}

/// How the file is written: each output has an index of its pages where its source has one.
fn properties(metadata: &ParquetMetaData) -> Result<WriterProperties, String> {
    let properties = WriterProperties::builder().set_compression(codec(metadata)?);
    Ok(if metadata.offset_index().is_some() {
        properties.build()
    } else {
        properties.set_statistics_enabled(EnabledStatistics::Chunk).set_offset_index_disabled(true).build()
    })
}

/// The codec that the file is packed with, by its first column.
fn codec(metadata: &ParquetMetaData) -> Result<Compression, String> {
    let columns = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    let codecs: Vec<Compression> = columns.map(ColumnChunkMetaData::compression).collect();
    let known = |codec: &&Compression| {
        matches!(codec, Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_))
    };
    match codecs.iter().find(|codec| !known(codec)) {
        Some(other) => {
            Err(format!("expected columns that are plain or packed with Snappy or zstd, got {other}"))
        }
        None => Ok(codecs.first().copied().unwrap_or(Compression::SNAPPY)),
    }
}

fn units(metadata: &ParquetMetaData) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut first = 1;
    // Of the last unit, unpacked: nothing where no row group may be added to it.
    let mut room = 0;
    for (group, about) in metadata.row_groups().iter().enumerate() {
        let (all, unpacked) = (rows_of(about), unpacked(about));
        let packed: i64 = about.columns().iter().map(ColumnChunkMetaData::compressed_size).sum();
        let packed = u64::try_from(packed).unwrap_or_default();
        let groups = group..group + 1;
        match units.last_mut() {
            Some(last) if unpacked <= room => {
                last.groups.end += 1;
                last.bytes += packed;
                room -= unpacked;
            }
            _ if unpacked <= UNIT => {
                units.push(Unit { groups, part: None, first, bytes: packed });
                room = UNIT - unpacked;
            }
            _ => {
                let share = all.div_ceil(unpacked.div_ceil(UNIT)).max(1);
                for offset in (0..all).step_by(share) {
                    let part = offset..all.min(offset + share);
                    let bytes = packed * part.len() as u64 / all as u64;
                    let first = first + offset as u64;
                    units.push(Unit { groups: groups.clone(), part: Some(part), first, bytes });
                }
                room = 0;
            }
        }
        first += all as u64;
    }
    if units.is_empty() {
        units.push(Unit { groups: 0..0, part: None, first, bytes: 0 });
    }
    units
}

/// How many rows of a row group are read at a time.
fn batch(about: &RowGroupMetaData) -> usize {
    (BATCH / (unpacked(about) / rows_of(about).max(1)).max(1)).clamp(1, MOST_ROWS)
}

fn rows_of(about: &RowGroupMetaData) -> usize {
    usize::try_from(about.num_rows()).unwrap_or_default()
}

fn unpacked(about: &RowGroupMetaData) -> usize {
    usize::try_from(about.total_byte_size()).unwrap_or_default()
}

/// All parts as one file; their row groups are copied as they are.
pub(crate) fn join(parts: &[PathBuf], to: &Path) -> Result<(), Trouble> {
    if let [part] = parts {
        return Ok(std::fs::rename(part, to)?);
    }
    let mut whole = None;
    for part in parts {
        let file = File::open(part)?;
        let metadata = ParquetMetaDataReader::new()
            .with_page_index_policy(PageIndexPolicy::Optional)
            .parse_and_finish(&file)?;
        let writer = match &mut whole {
            Some(writer) => writer,
            none => none.insert(begin(to, &metadata)?),
        };
        append(&file, &metadata, writer)?;
    }
    match whole {
        Some(writer) => Ok(ended(writer)?.sync_data()?),
        None => Err(Trouble::Target(io::ErrorKind::NotFound.into())),
    }
}

/// A file with the schema and the words of a part.
fn begin(to: &Path, part: &ParquetMetaData) -> Result<Out, Trouble> {
    let about = part.file_metadata();
    let words = about.key_value_metadata().cloned();
    let properties = WriterProperties::builder().set_key_value_metadata(words).build();
    let schema = about.schema_descr().root_schema_ptr();
    Ok(SerializedFileWriter::new(created(to)?, schema, Arc::new(properties))?)
}

fn append(part: &File, metadata: &ParquetMetaData, whole: &mut Out) -> Result<(), Trouble> {
    for (group, about) in metadata.row_groups().iter().enumerate() {
        let mut out = whole.next_row_group()?;
        for leaf in 0..about.num_columns() {
            out.append_column(&Packed(part), chunk(metadata, group, leaf))?;
        }
        out.close()?;
    }
    Ok(())
}

/// A leaf of a row group as it is packed, to be copied.
fn chunk(metadata: &ParquetMetaData, group: usize, leaf: usize) -> ColumnCloseResult {
    let about = metadata.row_group(group);
    let column = about.column(leaf);
    ColumnCloseResult {
        bytes_written: u64::try_from(column.compressed_size()).unwrap_or_default(),
        rows_written: u64::try_from(about.num_rows()).unwrap_or_default(),
        metadata: column.clone(),
        bloom_filter: None,
        column_index: metadata.column_index().and_then(|all| all.get(group)?.get(leaf)).cloned(),
        offset_index: metadata.offset_index().and_then(|all| all.get(group)?.get(leaf)).cloned(),
    }
}
