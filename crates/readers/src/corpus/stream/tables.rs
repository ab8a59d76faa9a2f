//! Recordings in tables and in logs that are archives.

use std::path::PathBuf;

use super::super::open_file::OpenFile;
use super::{CorpusStream, Cuts, Opened};
use crate::find::source::InputFile;
use crate::open::inspect_archive::EvalLog;
use crate::open::signature::Signature;
use crate::read::format;
use crate::read::parquet_tables::{ColumnPlan, Export, ParquetTable, RowDialect, TableRecords};
use crate::read::session_stores::{SessionStore, StoreRefusal};
use crate::record::options::SubAgents;
use crate::survey::skip_reasons::NotRead;

/// The fields of a log's header that its samples need.
const LOG_HEADER: &[&str] = &["eval", "status"];

impl CorpusStream<'_> {
    /// A table of runs, recognised by its columns.
    pub(super) fn recognise_table(&self, source: &InputFile) -> Result<Opened, NotRead> {
        let options = &self.corpus.options;
        let table = ParquetTable::open(source.path()).map_err(NotRead::unreadable)?;
        let plan = ColumnPlan::from_columns(&table.columns(), options.columns.as_ref())?;
        let (why, dialect) = (plan.why(), plan.layout.dialect);
        let (format, envelope, cuts): (_, _, Cuts) = match dialect {
            RowDialect::Scores => return Err("scores: joined to the observations beside them".to_owned().into()),
            RowDialect::Observations => {
                let files = self.beside(source);
                if let Some((_, first)) = files.first().filter(|(_, first)| *first != source.name.path) {
                    return Err(format!("observations: read together with `{first}`").into());
                }
                let mut export = Export::open(files, options.limit).map_err(NotRead::unreadable)?;
                ("langfuse", "success", Box::new(move || export.next()))
            }
            _ => {
                let format = if dialect == RowDialect::Trace { "trace" } else { "parquet" };
                let name = plan.layout.name;
                let mut records = TableRecords::new(table, source.name.path.clone(), plan, options.limit);
                (format, name, Box::new(move || records.next()))
            }
        };
        let format = format::by_id(format).ok_or_else(|| "no reader for it".to_owned())?;
        let file = OpenFile::plain(&source.name, format, envelope.to_owned());
        Ok((file, why, cuts))
    }

    /// The files with observations that form one export with `source`: those of its directory that are in this corpus.
    fn beside(&self, source: &InputFile) -> Vec<(PathBuf, String)> {
        let is_beside =
            |other: &&InputFile| other.name.folder == source.name.folder && Signature::is_parquet(other.path());
        let observes = |other: &&InputFile| {
            let Ok(table) = ParquetTable::open(other.path()) else { return false };
            ColumnPlan::are_of_dialect(&table.columns(), RowDialect::Observations)
        };
        let files = self.corpus.sources.files.iter().filter(is_beside).filter(observes);
        files.map(|other| (other.path().to_path_buf(), other.name.path.clone())).collect()
    }

    /// A database in which an agent keeps its sessions.
    pub(super) fn recognise_store(&self, source: &InputFile) -> Result<Opened, NotRead> {
        let options = &self.corpus.options;
        let joined = options.sub_agents == SubAgents::Parent;
        let store = SessionStore::open(source.path(), &source.name.path, options.limit, joined);
        let mut store = match store {
            Ok(store) => store,
            Err(StoreRefusal::Unreadable(why)) => return Err(NotRead::unreadable(why)),
            Err(StoreRefusal::Other(why)) => return Err(why.into()),
        };
        let format = format::by_id(store.format()).ok_or_else(|| "no reader for it".to_owned())?;
        let file = OpenFile::plain(&source.name, format, String::new());
        Ok((file, "an SQLite database with its tables".to_owned(), Box::new(move || store.next())))
    }

    /// A zip file that is not an archive of files: a log of Inspect.
    pub(super) fn recognise_log(&self, source: &InputFile) -> Result<Opened, NotRead> {
        let limit = self.corpus.options.limit;
        let log = EvalLog::open(source.path(), &source.name.path, LOG_HEADER, limit);
        let (mut log, envelope) = log
            .map_err(NotRead::unreadable)?
            .ok_or_else(|| "a zip that holds no log; an archive of recordings is called `.zip`".to_owned())?;
        let format = format::by_id("inspect").ok_or_else(|| "no reader for it".to_owned())?;
        let file = OpenFile::plain(&source.name, format, envelope);
        Ok((file, "a zip with a log's header".to_owned(), Box::new(move || log.next())))
    }
}
