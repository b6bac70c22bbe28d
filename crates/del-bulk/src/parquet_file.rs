//! Files of Parquet. A row group is the unit of work; where it is large, a part of its rows is.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use crate::error::Trouble;
use crate::rows::{Rows, Tally};

/// What is to be done with a file.
#[derive(Debug)]
pub(crate) struct Plan {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    schema: SchemaRef,
    properties: WriterProperties,
    pub(crate) units: Vec<Unit>,
}

/// Some rows of a row group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    /// None in a file without row groups.
    group: Option<usize>,
    /// Its rows begin behind so many of the row group.
    offset: usize,
    rows: usize,
    /// The number of its first row in the file, from 1.
    first: u64,
    /// How many rows are read at a time.
    batch: usize,
    /// Bytes of the file that it stands for.
    pub(crate) bytes: u64,
}

/// A unit has at most so many bytes, unpacked.
const UNIT: usize = 32 << 20;
/// So many are read at a time, and at least one row.
const BATCH: usize = 2 << 20;
const MOST_ROWS: usize = 8192;

/// Says of columns what these have not: those that are added.
const FEATURES: &str = "huggingface";

impl Plan {
    pub(crate) fn of(path: &Path, rows: &impl Rows) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let metadata =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|error| error.to_string())?;
        let mut given = metadata.schema().as_ref().clone();
        given.metadata.remove(FEATURES);
        let schema = rows.schema(&given)?;
        let properties = WriterProperties::builder().set_compression(codec(metadata.metadata())?).build();
        let units = units(metadata.metadata());
        Ok(Self { path: path.to_owned(), metadata, schema, properties, units })
    }

    /// Works on the rows of a unit, and writes what comes of them as a file of its own.
    pub(crate) fn write(&self, unit: Unit, rows: &mut impl Rows, to: &Path) -> Result<Tally, Trouble> {
        let (schema, properties) = (Arc::clone(&self.schema), self.properties.clone());
        let mut writer = ArrowWriter::try_new(File::create(to)?, schema, Some(properties))?;
        let mut tally = Tally::default();
        if let Some(group) = unit.group {
            let unreadable = |error: &dyn std::fmt::Display| Trouble::Source(error.to_string());
            let file = File::open(&self.path).map_err(|error| unreadable(&error))?;
            let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_row_groups(vec![group])
                .with_offset(unit.offset)
                .with_limit(unit.rows)
                .with_batch_size(unit.batch)
                .build()
                .map_err(|error| unreadable(&error))?;
            let mut first = unit.first;
            for batch in batches {
                let batch = batch.map_err(|error| unreadable(&error))?;
                let made = rows.batch(&batch, &self.schema, first, &mut tally).map_err(ParquetError::from)?;
                writer.write(&made)?;
                first += batch.num_rows() as u64;
            }
        }
        writer.into_inner()?.sync_data()?;
        Ok(tally)
    }
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
    let mut units = Vec::new();
    let mut first = 1;
    for (group, about) in metadata.row_groups().iter().enumerate() {
        let all = usize::try_from(about.num_rows()).unwrap_or_default();
        let unpacked = usize::try_from(about.total_byte_size()).unwrap_or_default();
        let parts = unpacked.div_ceil(UNIT).clamp(1, all.max(1));
        let share = all.div_ceil(parts).max(1);
        let batch = (BATCH / (unpacked / all.max(1)).max(1)).clamp(1, MOST_ROWS);
        let packed: i64 = about.columns().iter().map(ColumnChunkMetaData::compressed_size).sum();
        for offset in (0..all).step_by(share) {
            let rows = share.min(all - offset);
            let bytes = u64::try_from(packed).unwrap_or_default() * rows as u64 / all as u64;
            units.push(Unit { group: Some(group), offset, rows, first, batch, bytes });
            first += rows as u64;
        }
    }
    if units.is_empty() {
        units.push(Unit { group: None, offset: 0, rows: 0, first, batch: 1, bytes: 0 });
    }
    units
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
        Some(writer) => Ok(writer.into_inner()?.sync_data()?),
        None => Err(Trouble::Target(io::ErrorKind::NotFound.into())),
    }
}

/// A file with the schema and the words of a part.
fn begin(to: &Path, part: &ParquetMetaData) -> Result<SerializedFileWriter<File>, Trouble> {
    let about = part.file_metadata();
    let words = about.key_value_metadata().cloned();
    let properties = WriterProperties::builder().set_key_value_metadata(words).build();
    let schema = about.schema_descr().root_schema_ptr();
    Ok(SerializedFileWriter::new(File::create(to)?, schema, Arc::new(properties))?)
}

fn append(
    part: &File,
    metadata: &ParquetMetaData,
    whole: &mut SerializedFileWriter<File>,
) -> Result<(), Trouble> {
    for (group, about) in metadata.row_groups().iter().enumerate() {
        let column_indexes = metadata.column_index().and_then(|indexes| indexes.get(group));
        let offset_indexes = metadata.offset_index().and_then(|indexes| indexes.get(group));
        let mut out = whole.next_row_group()?;
        for (place, column) in about.columns().iter().enumerate() {
            let closed = ColumnCloseResult {
                bytes_written: u64::try_from(column.compressed_size()).unwrap_or_default(),
                rows_written: u64::try_from(about.num_rows()).unwrap_or_default(),
                metadata: column.clone(),
                bloom_filter: None,
                column_index: column_indexes.and_then(|indexes| indexes.get(place)).cloned(),
                offset_index: offset_indexes.and_then(|indexes| indexes.get(place)).cloned(),
            };
            out.append_column(part, closed)?;
        }
        out.close()?;
    }
    Ok(())
}
