//! Lines of code, comments and blanks.
//!
//! They are counted by how comments and strings are written, not by a grammar: so every file of a language is counted
//! alike, whether it is parsed or not, and at the speed of reading it.

use crate::Language;
use crate::comments::{Opens, Span, Syntax};

/// What a file is for counting.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    name: &'static str,
    syntax: &'static Syntax,
}

/// How many lines there are, and of what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lines {
    /// Lines with code on them.
    pub code: usize,
    /// Lines with comments alone. A string that begins a line where a language has its documentation is a comment,
    /// and so are the lines of prose.
    pub comment: usize,
    /// Lines with nothing but white space, in comments and strings as well.
    pub blank: usize,
}

impl Kind {
    /// What the file `path` holds, if that is known by its name or by the first line in `start`.
    pub fn of_file(path: &str, start: &str) -> Option<Self> {
        if let Some(language) = Language::of_file(path, start) {
            return Self::of_language(language);
        }
        let (syntax, name) = Syntax::of_file(path.rsplit('/').next().unwrap_or(path))?;
        Some(Self { name, syntax })
    }

    /// What files of this language hold.
    pub fn of_language(language: &'static Language) -> Option<Self> {
        Some(Self { name: language.name(), syntax: Syntax::named(language.comments())? })
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Counts the lines of `text`.
    pub fn count(self, text: &str) -> Lines {
        let mut counter = Counter { syntax: self.syntax, inside: None };
        let mut lines = Lines::default();
        for line in text.lines() {
            if line.trim().is_empty() {
                lines.blank += 1;
            } else if self.syntax.prose || !counter.has_code(line.as_bytes()) {
                lines.comment += 1;
            } else {
                lines.code += 1;
            }
        }
        lines
    }
}

struct Counter {
    syntax: &'static Syntax,
    inside: Option<Inside>,
}

/// A comment or a string that has begun.
struct Inside {
    span: &'static Span,
    comment: bool,
    /// How many have been opened in it, itself included.
    depth: usize,
}

impl Counter {
    /// Whether there is more than comments on a line.
    fn has_code(&mut self, line: &[u8]) -> bool {
        let (mut at, mut code, mut fresh) = (0, false, true);
        while at < line.len() {
            if line[at].is_ascii_whitespace() {
                at += 1;
                continue;
            }
            if let Some(inside) = &mut self.inside {
                code |= !inside.comment;
                at += inside.step(line, at, fresh);
                if inside.depth == 0 {
                    self.inside = None;
                }
            } else {
                let (span, comment, len) = match self.syntax.opens(line, at, fresh) {
                    Some((Opens::Line, _)) => break,
                    Some((Opens::Span(span), len)) => (Some(span), span.comment, len),
                    Some((Opens::Doc(span), len)) => (Some(span), fresh, len),
                    Some((Opens::Plain, len)) => (None, false, len),
                    None => (None, false, 1),
                };
                code |= !comment;
                self.inside = span.map(|span| Inside { span, comment, depth: 1 });
                at += len;
            }
            fresh = false;
        }
        if self.inside.as_ref().is_some_and(|inside| inside.span.one_line) {
            self.inside = None;
        }
        code
    }
}

impl Inside {
    /// Goes on at `at`, by as many bytes as it says.
    fn step(&mut self, line: &[u8], at: usize, fresh: bool) -> usize {
        let Span { close, nested, escapes, .. } = self.span;
        if *escapes && line[at] == b'\\' {
            return 2;
        }
        if close.stands(line, at, fresh) {
            self.depth -= 1;
            return close.len();
        }
        match nested {
            Some(open) if open.stands(line, at, fresh) => {
                self.depth += 1;
                open.len()
            }
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(file: &str, text: &str) -> [usize; 3] {
        let Lines { code, comment, blank } = Kind::of_file(file, "").unwrap().count(text);
        assert_eq!(code + comment + blank, text.lines().count(), "{file}");
        [code, comment, blank]
    }

    #[test]
    fn lines_are_code_comments_or_blank() {
        for (file, text, expected) in [
            ("a.c", "int a; // b\n// c\n\n/* d\n\n e */\n/* f */ int g;\n", [2, 3, 2]),
            ("a.c", "char *a = \"/*\"; char b = '\"';\n/* c */\n", [1, 1, 0]),
            ("a.c", "char *a = \"b\\\"/*\";\nint c;\n", [2, 0, 0]),
            ("a.c", "/* a /* b */ int c;\n", [1, 0, 0]),
            ("a.rs", "/* a /* b */\nc */\nfn d() {}\n", [1, 2, 0]),
            ("a.rs", "let a = \"b\n// c\n\";\n//! d\n", [3, 1, 0]),
            ("a.rs", "let a = r#\"\"/*\"#;\nlet b = '\"'; // c\n// d\n", [2, 1, 0]),
            ("a.rs", "fn a<'b>(c: &'b str) {} /*\n*/\n", [1, 1, 0]),
            ("a.py", "\"\"\"A\n\nB\"\"\"\nx = \"\"\"C\n# d\n\"\"\"\n# e\n", [3, 3, 1]),
            ("a.js", "const a = `\n// b\n`; // c\n// d\n", [3, 1, 0]),
            ("a.go", "a := `\\`\n// b\n", [1, 1, 0]),
            ("a.sh", "#!/bin/sh\necho ${a#b} \"$#\" # c\n", [1, 1, 0]),
            ("a.rb", "=begin\na\n=end\nputs \"#{b}\" # c\n", [1, 3, 0]),
            ("a.lua", "--[[ a\nb ]]\nprint('--[[')\n-- c\n", [1, 3, 0]),
            ("a.sql", "select '-- a'; -- b\n-- c\n", [1, 1, 0]),
            ("a.hs", "{- a {- b -}\n-}\nf = 1 -- c\n", [1, 2, 0]),
            ("a.html", "<!-- a\nb -->\n<p>c</p>\n", [1, 2, 0]),
            ("a.yml", "# a\nb: c#d\n", [1, 1, 0]),
            ("a.bat", "rem a\n:: b\necho remark\n", [1, 2, 0]),
            ("Makefile", "# a\nb:\n\tc\n", [2, 1, 0]),
            ("dir/CMakeLists.txt", "#[[ a\nb ]]\nproject(c)\n", [1, 2, 0]),
            ("a.json", "{\n  \"a\": \"//\"\n}\n", [3, 0, 0]),
            ("a.md", "# A\n\nb\n", [0, 2, 1]),
            ("a.c", "int a;\r\n\r\n// b\r\n", [1, 1, 1]),
            ("a.c", "", [0, 0, 0]),
        ] {
            assert_eq!(counted(file, text), expected, "{file}: {text}");
        }
    }

    #[test]
    fn nothing_that_is_left_open_and_no_odd_byte_stops_the_count() {
        for language in Language::all() {
            let kind = Kind::of_language(language).unwrap();
            for text in ["\"", "'\\", "/*", "\\", "é\\é\"é", "`\u{2028}", "\"\"\"\n\\", "--[[\n#=\n{-"] {
                let Lines { code, comment, blank } = kind.count(text);
                assert_eq!(code + comment + blank, text.lines().count(), "{}: {text:?}", language.name());
            }
        }
    }

    #[test]
    fn files_are_known_by_name_and_extension() {
        let named = |path: &str| Kind::of_file(path, "").map(Kind::name);
        assert_eq!(named("src/lib.rs"), Some("Rust"));
        assert_eq!(named("a/Dockerfile"), Some("Dockerfile"));
        assert_eq!(named("notes.TXT"), Some("Plain text"));
        assert_eq!(named("a.b.css"), Some("CSS"));
        assert_eq!(named("notes.xyz"), None);
        assert_eq!(named(".gitignore"), None);
        assert_eq!(named(""), None);
        assert_eq!(Kind::of_file("tool", "#!/usr/bin/env python3\n").map(Kind::name), Some("Python"));
    }
}
