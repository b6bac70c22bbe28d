//! From the answer of a model server to that for the client: text in which calls stand becomes text and calls.
//!
//! There is no input or output here: bytes come in and bytes go out, so that an answer can be cut anywhere in a test.

mod choice;
mod stream;
mod whole;

use std::sync::Arc;

use del_dialects::{Dialect, Dialects, Parser, Tool, Turn};

pub use self::stream::Stream;
pub use self::whole::{Answer, Trouble, translate};

/// The header that names the calls whose arguments recovery may have changed; in a stream, the comment before its end.
pub(crate) const CHANGED: &str = "x-del-changed-arguments";

/// How the answers to one request are read.
#[derive(Debug, Clone)]
pub struct Reader {
    /// All dialects that are known.
    pub dialects: &'static Dialects,
    /// The one to read; without it, all.
    pub dialect: Option<Arc<Dialect>>,
    /// The tools that the model was told of.
    pub tools: Arc<[Tool]>,
    /// No more than one call goes out.
    pub one_call: bool,
    /// Results were neutralised on their way to the model: what it copies of them into arguments is restored.
    pub restore: bool,
}

impl Reader {
    fn parser(&self) -> Parser {
        let turn = Turn::new(Arc::clone(&self.tools));
        match &self.dialect {
            Some(dialect) => dialect.parser(turn),
            None => self.dialects.parser(turn),
        }
    }
}
