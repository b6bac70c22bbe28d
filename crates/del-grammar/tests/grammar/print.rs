//! The printed text of a few grammars.

use del_dialects::Tool;
use del_grammar::Choice;
use serde_json::json;

use super::{built, dialect, tool};

fn tools() -> [Tool; 2] {
    [
        tool(
            "read_file",
            json!({"type": "object", "properties": {
                "file_path": {"type": "string"}, "limit": {"type": "integer"}
            }, "required": ["file_path"]}),
        ),
        tool(
            "list_directory",
            json!({"type": "object", "properties": {
                "recursive": {"type": "boolean"}, "path": {"type": "string"}
            }}),
        ),
    ]
}

#[track_caller]
fn prints(name: &str, choice: &Choice, parallel: bool, expected: &str) {
    let text = built(dialect(name), &tools(), choice, parallel).unwrap().to_gbnf();
    assert_eq!(text, expected, "{name}:\n{text}");
}

#[test]
fn one_call_as_json() {
    prints(
        "hermes-json",
        &Choice::Required,
        false,
        r#"root ::= "<tool_call>\n" call "\n</tool_call>"
char ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" ([0-9a-ce-fA-CE-F] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2} | [dD] [8-9a-bA-B] [0-9a-fA-F]{2} "\\u" [dD] [c-fC-F] [0-9a-fA-F]{2}))
string ::= "\"" char* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,39})
read-file-args ::= "{\"file_path\": " string (", \"limit\": " integer)? "}"
boolean ::= "true" | "false"
list-directory-args-path ::= "\"path\": " string
list-directory-args-rest ::= (", " list-directory-args-path)?
list-directory-args-recursive ::= "\"recursive\": " boolean
list-directory-args ::= "{" (list-directory-args-recursive list-directory-args-rest | list-directory-args-path)? "}"
call ::= "{\"name\": \"" ("read_file\", \"arguments\": " read-file-args | "list_directory\", \"arguments\": " list-directory-args) "}"
"#,
    );
}

#[test]
fn calls_in_a_block() {
    prints(
        "deepseek-v31",
        &Choice::Named("read_file".to_owned()),
        true,
        r#"root ::= "<｜tool▁calls▁begin｜>" call "<｜tool▁calls▁end｜>"
char ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" ([0-9a-ce-fA-CE-F] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2} | [dD] [8-9a-bA-B] [0-9a-fA-F]{2} "\\u" [dD] [c-fC-F] [0-9a-fA-F]{2}))
string ::= "\"" char* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,39})
read-file-args ::= "{\"file_path\": " string (", \"limit\": " integer)? "}"
call ::= "<｜tool▁call▁begin｜>read_file<｜tool▁sep｜>" read-file-args "<｜tool▁call▁end｜>"
"#,
    );
}

#[test]
fn raw_values_do_not_hold_their_closer() {
    prints(
        "qwen3-coder",
        &Choice::Required,
        true,
        r#"root ::= call ("\n" call)*
integer ::= "-"? ("0" | [1-9] [0-9]{0,39})
read-file-args ::= "<parameter=file_path>\n" W0 "\n</parameter>\n" ("<parameter=limit>\n" integer "\n</parameter>\n")?
list-directory-args ::= ("<parameter=recursive>\n" ("True" | "False") "\n</parameter>\n")? ("<parameter=path>\n" W0 "\n</parameter>\n")?
call ::= "<tool_call>\n<function=" ("read_file>\n" read-file-args | "list_directory>\n" list-directory-args) "</function>\n</tool_call>"
W0 ::= [^<] W0 | [<] W0-1 | ""
W0-1 ::= [^/<] W0 | [/] W0-2 | [<] W0-1 | ""
W0-2 ::= [^<p] W0 | [<] W0-1 | [p] W0-3 | ""
W0-3 ::= [^<a] W0 | [<] W0-1 | [a] W0-4 | ""
W0-4 ::= [^<r] W0 | [<] W0-1 | [r] W0-5 | ""
W0-5 ::= [^<a] W0 | [<] W0-1 | [a] W0-6 | ""
W0-6 ::= [^<m] W0 | [<] W0-1 | [m] W0-7 | ""
W0-7 ::= [^<e] W0 | [<] W0-1 | [e] W0-8 | ""
W0-8 ::= [^<t] W0 | [<] W0-1 | [t] W0-9 | ""
W0-9 ::= [^<e] W0 | [<] W0-1 | [e] W0-10 | ""
W0-10 ::= [^<r] W0 | [<] W0-1 | [r] W0-11 | ""
W0-11 ::= [^<>] W0 | [<] W0-1 | ""
"#,
    );
}

#[test]
fn keyword_arguments() {
    prints(
        "pythonic",
        &Choice::Required,
        true,
        r#"root ::= "[" call (", " call)* "]"
char ::= [^'\\\x00-\x1f\x7f] | "\\" (['\\nrt] | "x" [0-9a-fA-F]{2})
string ::= "'" char* "'"
integer ::= "-"? ("0" | [1-9] [0-9]{0,39})
read-file-args ::= "(file_path=" string (", limit=" integer)? ")"
boolean ::= "True" | "False"
list-directory-args-path ::= "path=" string
list-directory-args-rest ::= (", " list-directory-args-path)?
list-directory-args-recursive ::= "recursive=" boolean
list-directory-args ::= "(" (list-directory-args-recursive list-directory-args-rest | list-directory-args-path)? ")"
call ::= "read_file" read-file-args | "list_directory" list-directory-args
"#,
    );
}

#[test]
fn text_or_calls() {
    prints(
        "mistral-args",
        &Choice::Auto,
        true,
        r#"root ::= calls | text calls?
char ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" ([0-9a-ce-fA-CE-F] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2} | [dD] [8-9a-bA-B] [0-9a-fA-F]{2} "\\u" [dD] [c-fC-F] [0-9a-fA-F]{2}))
string ::= "\"" char* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,39})
read-file-args ::= "{\"file_path\": " string (", \"limit\": " integer)? "}"
boolean ::= "true" | "false"
list-directory-args-path ::= "\"path\": " string
list-directory-args-rest ::= (", " list-directory-args-path)?
list-directory-args-recursive ::= "\"recursive\": " boolean
list-directory-args ::= "{" (list-directory-args-recursive list-directory-args-rest | list-directory-args-path)? "}"
call ::= "[TOOL_CALLS]" ("read_file" ("[CALL_ID]" [a-zA-Z0-9]{9})? "[ARGS]" read-file-args | "list_directory" ("[CALL_ID]" [a-zA-Z0-9]{9})? "[ARGS]" list-directory-args)
text ::= W0
calls ::= call call*
W0 ::= [^\[] W0 | [\[] W0-1 | ""
W0-1 ::= [^T\[] W0 | [T] W0-2 | [\[] W0-1 | ""
W0-2 ::= [^O\[] W0 | [O] W0-3 | [\[] W0-1 | ""
W0-3 ::= [^O\[] W0 | [O] W0-4 | [\[] W0-1 | ""
W0-4 ::= [^L\[] W0 | [L] W0-5 | [\[] W0-1 | ""
W0-5 ::= [^\[_] W0 | [\[] W0-1 | [_] W0-6 | ""
W0-6 ::= [^C\[] W0 | [C] W0-7 | [\[] W0-1 | ""
W0-7 ::= [^A\[] W0 | [A] W0-8 | [\[] W0-1 | ""
W0-8 ::= [^L\[] W0 | [L] W0-9 | [\[] W0-1 | ""
W0-9 ::= [^L\[] W0 | [L] W0-10 | [\[] W0-1 | ""
W0-10 ::= [^S\[] W0 | [S] W0-11 | [\[] W0-1 | ""
W0-11 ::= [^\[\]] W0 | [\[] W0-1 | ""
"#,
    );
}
