//! What a model may write, for engines of constrained decoding.

use std::sync::Arc;

use del_dialects::{Dialect, Dialects};
use del_grammar::{Choice, Options};
use wasm_bindgen::prelude::*;

use crate::error;
use crate::tools::Tools;

/// What a model may write, as a grammar.
#[wasm_bindgen(js_name = RawGrammar)]
#[derive(Debug)]
pub struct Grammar {
    grammar: del_grammar::Grammar,
}

#[wasm_bindgen(js_class = RawGrammar)]
impl Grammar {
    /// The grammar of one answer in the dialect of this name and description, or in the built-in one of this name. `choice` is
    /// `auto`, `required`, or the name of the tool that has to be called.
    pub fn of(
        name: &str,
        toml: Option<String>,
        tools: &Tools,
        choice: &str,
        parallel: bool,
        thinking: bool,
    ) -> Result<Grammar, JsValue> {
        let choice = match choice {
            "auto" => Choice::Auto,
            "required" => Choice::Required,
            name => Choice::Named(name.to_owned()),
        };
        let options = Options::new(choice).parallel(parallel).thinking(thinking);
        let dialect = if let Some(toml) = toml {
            let described = Dialect::from_toml(name, &toml).map(Arc::new);
            described.map_err(|wrong| error("bad_description", &format_args!("{name}: {wrong}")))?
        } else {
            let known = Dialects::builtin().named(name);
            Arc::clone(known.map_err(|unknown| error("unknown_dialect", &unknown.to_string()))?)
        };
        let grammar = del_grammar::Grammar::new(&dialect, &tools.tools, &options);
        grammar.map(|grammar| Self { grammar }).map_err(|wrong| error("no_grammar", &wrong))
    }

    /// Texts by which calls begin.
    pub fn triggers(&self) -> Vec<String> {
        self.grammar.triggers().to_vec()
    }

    /// What the schemas ask and the grammar does not hold a model to.
    pub fn warnings(&self) -> Vec<String> {
        self.grammar.warnings().iter().map(ToString::to_string).collect()
    }

    /// For llama.cpp.
    #[wasm_bindgen(js_name = toGbnf)]
    pub fn to_gbnf(&self) -> String {
        self.grammar.to_gbnf()
    }

    /// For llguidance.
    #[wasm_bindgen(js_name = toLark)]
    pub fn to_lark(&self) -> String {
        self.grammar.to_lark()
    }

    /// For `XGrammar`, as JSON.
    #[wasm_bindgen(js_name = toStructuralTag)]
    pub fn to_structural_tag(&self) -> String {
        self.grammar.to_structural_tag().to_string()
    }

    /// One regular expression.
    #[wasm_bindgen(js_name = toRegex)]
    pub fn to_regex(&self) -> Result<String, JsValue> {
        self.grammar.to_regex().map_err(|wrong| error("no_grammar", &wrong))
    }
}
