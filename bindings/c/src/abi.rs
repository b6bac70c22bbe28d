//! The functions of `del_dialects.h`. Each only takes apart what it is given: what it does stands in [`work`](crate::work)
//! and [`reader`](crate::reader), what it relies on in [`border`](crate::border).
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};

use del_dialects::End;

use crate::border::{Teller, bordered, boxed, bytes, free, hand, known, object, one_of, string, text};
pub use crate::failure::Code;
use crate::failure::{Failure, last};
use crate::reader::Reader;
pub use crate::types::{Callback, Detail, Dialect, Event, EventType, Notation, Parser, Start, Text, Tools};
use crate::work;

/// In words, what the last failure of this thread was; there until the next one.
#[unsafe(no_mangle)]
pub extern "C" fn del_error() -> *const c_char {
    last(|message| message.as_ptr())
}

/// The version of this library.
#[unsafe(no_mangle)]
pub extern "C" fn del_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// A built-in dialect by its name, or by a name that another engine has for it.
///
/// # Safety
/// *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_dialect_get(name: *const c_char, dialect: *mut *mut Dialect) -> Code {
    // SAFETY: the caller's promises.
    unsafe { hand(dialect, || Ok(boxed(Dialect(work::dialect(text("name", name)?)?)))) }
}

/// A dialect of one's own, from its description in TOML.
///
/// # Safety
/// *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_dialect_from_toml(
    toml: *const c_char,
    name: *const c_char,
    dialect: *mut *mut Dialect,
) -> Code {
    // SAFETY: the caller's promises.
    unsafe {
        hand(dialect, || Ok(boxed(Dialect(work::described(text("toml", toml)?, text("name", name)?)?))))
    }
}

/// Frees a dialect. NULL is fine. Parsers made of it stay.
///
/// # Safety
/// *handles*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_dialect_free(dialect: *mut Dialect) {
    // SAFETY: the caller's promises.
    unsafe { free(dialect) }
}

/// Tools from JSON, as the OpenAI, Anthropic and MCP APIs have them.
///
/// # Safety
/// *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_tools_new(json: *const c_char, tools: *mut *mut Tools) -> Code {
    // SAFETY: the caller's promises.
    unsafe { hand(tools, || Ok(boxed(Tools(work::tools(text("json", json)?)?)))) }
}

/// Frees tools. NULL is fine. Parsers made with them stay.
///
/// # Safety
/// *handles*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_tools_free(tools: *mut Tools) {
    // SAFETY: the caller's promises.
    unsafe { free(tools) }
}

/// A parser of one answer. `dialect` is NULL for all dialects at once, `tools` NULL where there are none; `starts_in` is
/// one of `del_start`.
///
/// # Safety
/// *handles*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_parser_new(
    dialect: *const Dialect,
    tools: *const Tools,
    starts_in: i32,
    parser: *mut *mut Parser,
) -> Code {
    // SAFETY: the caller's promises.
    unsafe {
        hand(parser, || {
            let one = dialect.as_ref().map(|dialect| &dialect.0);
            Ok(boxed(Parser(Reader::new(work::parser(one, known(tools), starts(starts_in)?)))))
        })
    }
}

/// The next piece of the answer; it may end anywhere, also inside a character. Everything that is settled by it goes to the
/// callback, with `data`, before this returns. Bytes that are not UTF-8, half a character before this piece among them, are
/// read as U+FFFD and all else as it is; then this returns `DEL_UTF8`, and the parser goes on.
///
/// # Safety
/// *handles*, *texts*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_parser_push(
    parser: *const Parser,
    piece: *const c_char,
    len: usize,
    callback: Callback,
    data: *mut c_void,
) -> Code {
    bordered(|| {
        // SAFETY: the caller's promises.
        let (parser, piece) = unsafe { (object("parser", parser)?, bytes("piece", piece, len)?) };
        parser.0.push(piece, &mut Teller::new(callback, data)?)
    })
}

/// The answer is over: what was held goes to the callback. `cut` says that it was cut off, and did not end by itself: then
/// half a character at its end is left out. Else that is read as U+FFFD, and this returns `DEL_UTF8` when all is done.
///
/// # Safety
/// *handles*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_parser_finish(
    parser: *const Parser,
    cut: bool,
    callback: Callback,
    data: *mut c_void,
) -> Code {
    bordered(|| {
        // SAFETY: the caller's promises.
        let parser = unsafe { object("parser", parser)? };
        parser.0.finish(end(cut), &mut Teller::new(callback, data)?)
    })
}

/// How many bytes are held back, because they may be part of markup.
///
/// # Safety
/// *handles*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_parser_held(parser: *const Parser) -> usize {
    // SAFETY: the caller's promises.
    unsafe { parser.as_ref() }.map_or(0, |parser| parser.0.held())
}

/// Frees a parser. NULL is fine. From inside its own callback this does nothing: the parser is still in use there.
///
/// # Safety
/// *handles*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_parser_free(parser: *mut Parser) {
    // SAFETY: the caller's promises.
    unsafe {
        if parser.as_ref().is_some_and(|parser| !parser.0.is_busy()) {
            free(parser);
        }
    }
}

/// Reads a whole answer: the JSON that `del parse` prints.
///
/// # Safety
/// *handles*, *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_parse(
    answer: *const c_char,
    len: usize,
    dialect: *const Dialect,
    tools: *const Tools,
    starts_in: i32,
    cut: bool,
    json: *mut *mut c_char,
) -> Code {
    // SAFETY: the caller's promises.
    unsafe {
        hand(json, || {
            let answer = str::from_utf8(bytes("answer", answer, len)?)
                .map_err(|error| Failure::new(Code::DelUtf8, format_args!("answer: {error}")))?;
            let one = dialect.as_ref().map(|dialect| &dialect.0);
            string(work::message(work::parser(one, known(tools), starts(starts_in)?), answer, end(cut))?)
        })
    }
}

/// What a model is told in prompt mode: its tools, and how to call one. `detail` is one of `del_detail`.
///
/// # Safety
/// *handles*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_render_prompt(
    dialect: *const Dialect,
    tools: *const Tools,
    detail: i32,
    prompt: *mut *mut c_char,
) -> Code {
    use del_dialects::Detail as D;
    // SAFETY: the caller's promises.
    unsafe {
        hand(prompt, || {
            let detail = one_of("detail", detail, &[D::Full, D::Types, D::Compact])?;
            string(work::prompt(&object("dialect", dialect)?.0, &known(tools), detail))
        })
    }
}

/// Calls as the model itself writes them, from a JSON list of objects with `name`, `arguments` (JSON text) and perhaps `id`.
///
/// # Safety
/// *handles*, *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_render_calls(
    dialect: *const Dialect,
    calls: *const c_char,
    tools: *const Tools,
    written: *mut *mut c_char,
) -> Code {
    // SAFETY: the caller's promises.
    unsafe {
        hand(written, || {
            string(work::calls(&object("dialect", dialect)?.0, text("calls", calls)?, &known(tools))?)
        })
    }
}

/// Results as the dialect hands them to the model, from a JSON list of objects with `name`, `text`, `ok` and perhaps `id`.
///
/// # Safety
/// *handles*, *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_render_results(
    dialect: *const Dialect,
    results: *const c_char,
    written: *mut *mut c_char,
) -> Code {
    // SAFETY: the caller's promises.
    unsafe {
        hand(written, || string(work::results(&object("dialect", dialect)?.0, text("results", results)?)?))
    }
}

/// A conversation of the OpenAI API (a JSON list of messages) with tools, calls and results as text. What users and tools
/// say in it is neutralised: `del_restore_json` takes that out of the arguments of a call that repeats such text.
///
/// # Safety
/// *handles*, *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_render_messages(
    dialect: *const Dialect,
    messages: *const c_char,
    tools: *const Tools,
    written: *mut *mut c_char,
) -> Code {
    // SAFETY: the caller's promises.
    unsafe {
        hand(written, || {
            let (dialect, messages) = (object("dialect", dialect)?, text("messages", messages)?);
            string(work::messages(&dialect.0, messages, &known(tools))?)
        })
    }
}

/// Breaks every mark in a text of others by an invisible character, so that it cannot pass for a call.
///
/// # Safety
/// *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_neutralise(others: *const c_char, neutral: *mut *mut c_char) -> Code {
    // SAFETY: the caller's promises.
    unsafe { hand(neutral, || string(work::neutral(text("others", others)?))) }
}

/// What `del_neutralise` was given. Text that was never neutralised stays as it is.
///
/// # Safety
/// *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_restore(neutral: *const c_char, restored: *mut *mut c_char) -> Code {
    // SAFETY: the caller's promises.
    unsafe { hand(restored, || string(work::restored(text("neutral", neutral)?))) }
}

/// The same of JSON, such as the whole arguments of a call that repeats what was neutralised: its texts are restored.
///
/// # Safety
/// *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_restore_json(json: *const c_char, restored: *mut *mut c_char) -> Code {
    // SAFETY: the caller's promises.
    unsafe { hand(restored, || string(work::restored_json(text("json", json)?))) }
}

/// What a model may write, as a grammar. `choice` is `auto` (or NULL) for text or calls, `required`, or the name of the tool
/// that has to be called; `parallel` allows several calls, `thinking` a thought before required ones; `notation` is one
/// of `del_notation`.
///
/// # Safety
/// *handles*, *texts*, *outs*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_grammar(
    dialect: *const Dialect,
    tools: *const Tools,
    choice: *const c_char,
    parallel: bool,
    thinking: bool,
    notation: i32,
    grammar: *mut *mut c_char,
) -> Code {
    use Notation as N;
    // SAFETY: the caller's promises.
    unsafe {
        hand(grammar, || {
            let choice = if choice.is_null() { None } else { Some(text("choice", choice)?) };
            let notations = [N::DelGbnf, N::DelLark, N::DelStructuralTag, N::DelRegex];
            let notation = one_of("notation", notation, &notations)?;
            let dialect = object("dialect", dialect)?;
            let grammar = work::grammar(&dialect.0, &known(tools), choice, parallel, thinking)?;
            string(match notation {
                N::DelGbnf => grammar.to_gbnf(),
                N::DelLark => grammar.to_lark(),
                N::DelStructuralTag => grammar.to_structural_tag().to_string(),
                N::DelRegex => grammar.to_regex().map_err(|error| Failure::new(Code::DelNoGrammar, error))?,
            })
        })
    }
}

/// Frees a text that was handed out. NULL is fine.
///
/// # Safety
/// *handles*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn del_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: *handles*; every text that is handed out is made by `string`.
        drop(unsafe { CString::from_raw(text) });
    }
}

fn starts(starts_in: i32) -> Result<del_dialects::Start, Failure> {
    use del_dialects::Start as S;
    one_of("starts_in", starts_in, &[S::Text, S::Reasoning, S::Unknown])
}

fn end(cut: bool) -> End {
    if cut { End::Cut } else { End::End }
}
