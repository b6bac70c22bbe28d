//! Rewrite rules, and what is said of descriptions that are none.

use del_dialects::Dialect;

/// A description with these lines in it.
fn example(top: &str, pieces: &str, rest: &str) -> String {
    format!("title = \"Example\"\nsource = \"a test\"\n{top}\n[call]\npieces = [\n{pieces}\n]\n{rest}")
}

#[test]
fn rules_spell_marks() {
    let read = |rules: &str, mark: &str| -> Vec<String> {
        let text = example(
            &format!("rewrite = {rules}"),
            &format!("{{ mark = '{mark}' }}, {{ head = '{{name}}' }}, {{ args = 'object' }}"),
            "",
        );
        let dialect = Dialect::from_toml("example", &text).unwrap_or_else(|error| panic!("{rules}: {error}"));
        dialect.marks().flat_map(|mark| mark.read.clone()).collect()
    };
    for (rules, mark, expected) in [
        ("[{ '|' = '!' }]", "<|a|>", &["<|a|>", "<!a!>"][..]),
        ("[{ '_' = ['-', ' '] }]", "<a_b_c>", &["<a_b_c>", "<a-b-c>", "<a b c>"]),
        // Two rules combine, and what stands in one goes together.
        ("[{ 'a' = 'A' }, { 'b' = 'B' }]", "<a b>", &["<a b>", "<a B>", "<A b>", "<A B>"]),
        ("[{ 'a' = 'A', 'b' = 'B' }]", "<a b>", &["<a b>", "<A B>"]),
        (
            "[{ '<' = ['<x:', '<y:'], '</' = ['</x:', '</y:'] }]",
            "</a><b>",
            &["</a><b>", "</x:a><x:b>", "</y:a><y:b>"],
        ),
        // A rule takes up what the one before it wrote.
        ("[{ 'a' = 'bb' }, { 'b' = 'c' }]", "<a>", &["<a>", "<bb>", "<cc>"]),
        // White space around a mark is no part of it, and a spelling is there once.
        ("[{ '<a>' = '<a> ' }]", "<a>", &["<a>"]),
        ("[{ ':v1' = [':*', ''] }]", "<a:v1>", &["<a\0>", "<a>"]),
        ("[{ ':v1' = ':*' }, { 'a' = 'b' }]", "<a:v1>", &["<a\0>", "<b\0>"]),
    ] {
        assert_eq!(read(rules, mark), expected, "{rules}");
    }
}

/// Pieces that make a call.
const CALL: &str = "{ mark = '<a>' },\n{ head = '{name}' },\n{ args = 'object' },\n{ mark = '</a>' }";

/// Expects a description with these lines to be refused: in which line, and what the message says.
fn refused(top: &str, pieces: &str, rest: &str, line: usize, message: &str) {
    let text = example(top, pieces, rest);
    let error = Dialect::from_toml("example", &text).map(|_| ()).expect_err(&text);
    assert!(error.message.contains(message), "{error}\n{text}");
    assert_eq!(error.line, line, "{error}\n{text}");
}

#[test]
fn what_is_wrong_at_the_top_is_named_with_its_line() {
    for (top, message) in [
        (
            "reads = 'openai-jsno'",
            "expected the name of another built-in dialect in `reads`, got \"openai-jsno\"",
        ),
        ("rewrite = [{ '<b>' = '<c>' }]", "a rewrite rule for a text in a mark, got \"<b>\""),
        ("rewrite = [{ '<a>' = '<a>' }]", "expected other spellings of \"<a>\""),
        ("rewrite = [{ '<a>' = '<b>', '</a>' = ['', 'c'] }]", "as many spellings for each"),
        ("rewrite = [{ 'a' = ':*' }]", "a colon and a word"),
        ("rewrite = [{}]", "got an empty table"),
        ("frame = 'tag'", "expected \"tags\", \"bare\", \"channels\" for `frame`, got \"tag\""),
        ("rank = -1", "expected a number up to 65535 for `rank`, got -1"),
    ] {
        refused(top, CALL, "", 3, message);
    }
    let rule = |at: usize| format!("{{ '{at}' = 'x' }}");
    let rules = format!("rewrite = [{}]", (0..7).map(rule).collect::<Vec<_>>().join(", "));
    refused(&rules, CALL, "", 3, "at most 64 ways, got 128");
    refused("frame = 'channels'", CALL, "", 1, "expected a [channels] table");
}

#[test]
fn what_is_wrong_in_a_piece_is_named_with_its_line() {
    const FIELDS: &str = "args = 'fields', form = '<{key}>{value}</{key}>'";
    // The piece stands behind a mark, in a line of its own.
    for (piece, message) in [
        ("head = '{name}', xml = true, item = 'zz', key = 'k'", "expected `head` in a head, got `xml`"),
        ("head = 'name'", "expected a head with {name} or {id} for `head`, got \"name\""),
        (&format!("{FIELDS}, loose = {{}}"), "got `loose`"),
        (&format!("{FIELDS}, types = []"), "got `types`"),
        (&format!("{FIELDS}, values = 'json', xml = true"), "got `xml`"),
        ("args = 'fields'", "expected `form` in args = \"fields\", got none"),
        ("args = 'json'", "for `args`, got \"json\""),
        ("mark = '<b>', need = 'stop'", "\"id\" for `need`, got \"stop\""),
        ("mark = '<b>', line_start = true", "got `line_start`"),
        ("mark = ' '", "more than white space"),
        ("mark = ['', '<b>']", "more than white space"),
        ("mark = []", "got an empty list"),
        ("", "a piece with mark, head or args"),
        (&format!("mark = '{}'", "x".repeat(129)), "at most 128 bytes for `mark`, got 129"),
        (r#"mark = "a\u0000b""#, "texts without the character U+0000"),
    ] {
        refused("", &format!("{{ mark = '<a>' }},\n{{ {piece} }}"), "", 7, message);
    }
}

#[test]
fn pieces_that_make_no_call_are_named_with_the_line_of_their_list() {
    let many = vec!["{ mark = '<b>' }"; 32].join(", ");
    for (pieces, message) in [
        ("{ mark = '<a>' }", "one args piece in `pieces`, got 0"),
        ("{ mark = '<a>' }, { args = 'object' }", "one head with {name} before the arguments, got 0"),
        ("{ mark = '<a>', need = 'soft' }, { head = '{name}' }, { args = 'object' }", "need = \"must\""),
        ("{ mark = '<a>' }, { args = 'object' }, { head = '{name}' }", "got it behind them"),
        (
            "{ mark = '<a>' }, { head = '{name}' }, { args = 'raw', key = 'k' }",
            "a mark behind args = \"raw\"",
        ),
        (
            &format!("{many}, {{ head = '{{name}}' }}, {{ args = 'object' }}"),
            "at most 32 pieces before the arguments, got 33",
        ),
        (
            "{ mark = '<a>', need = 'free' }, { mark = ['<b>', '<a>'] }, { head = '{name}' }, { args = 'object' }",
            "expected two marks in a row to be spelled differently, got \"<a>\" for both",
        ),
    ] {
        refused("", pieces, "", 5, message);
    }
    refused("", CALL, "[[variant]]\npieces = [{ mark = '<b>' }]", 12, "one args piece in `pieces`, got 0");
}

#[test]
fn what_is_wrong_in_a_table_is_named_with_its_line() {
    // What stands in the last line is wrong.
    for (rest, message) in [
        ("ids = '*'", "got `ids`"),
        ("[channels]", "got frame = \"tags\""),
        ("[block]\nopen = [{ mark = '<b>', head = '{name}' }]", "a mark that opens a block, got `head`"),
        ("[reasoning]\nbegin = '<t>'\nend = ''", "more than white space for `end`"),
        (
            "[reasoning]\nbegin = '<t>'\nend = '<e>'\nholds_calls = true\nuntil_call = true",
            "got `until_call`",
        ),
        ("[definitions]\neach = '{name}'\njson = 'compact'", "got `json`"),
        ("[definitions]\njson = 'indent-3'", "\"indent-4\", \"python\" for `json`, got \"indent-3\""),
        ("[definitions.parameter]", "got `parameter`"),
        (
            "[definitions]\neach = '{parameters}'\nparameter.form = '{type}'\ntypes = { strnig = 's' }",
            "got `strnig`",
        ),
        ("[results]\ninvented = ['<a>']", "a list of pairs of strings"),
        ("[results]\nrole = ''", "a text for `role`"),
        ("[results]\neach = '<result>{txt}</result>'", "a form with {text} or {quoted} for `each`"),
        ("[results]\neach = '<result></result>'", "a form with {text} or {quoted} for `each`"),
        ("[results]\neach = '{text'", "a form with {text} or {quoted} for `each`, got \"{text\""),
        ("[results]\neach = '{Text}'", "a form with {text} or {quoted} for `each`"),
        ("[results]\nfailed = 'failed'", "a form with {text} or {quoted} for `failed`"),
        ("[aliases]\nvllm = ''", "for `vllm`, got \"\""),
        (
            "[aliases]\nvllm = ['a', 'auto']",
            "a name of its own, as this one is taken, for `vllm`, got \"auto\"",
        ),
    ] {
        refused("", CALL, rest, 10 + rest.lines().count(), message);
    }
}

#[test]
fn what_is_no_name_is_refused() {
    let read = |name: &str| Dialect::from_toml(name, &example("", CALL, "")).map(|_| ());
    for name in ["auto", "AUTO", "openai-native", "openai_native"] {
        let error = read(name).expect_err(name);
        assert!(error.message.contains("as this one is taken, got"), "{error}");
    }
    for name in ["", " ", "a/b", "a\n", " a", "a\tb"] {
        let error = read(name).expect_err(name);
        assert!(error.message.starts_with("expected a name without slashes"), "{error}");
    }
    for name in ["my-model", "My_Model 2.5", "vllm:mine", "模型"] {
        assert_eq!(read(name), Ok(()));
    }
}
