//! Colours in code, line by line: comments, texts, numbers and words of the language. Enough to find one's way; a
//! grammar for each language would cost more than the answer that it stands in.

/// What is known of a family of languages.
struct Family {
    names: &'static [&'static str],
    /// Begins a comment that the line ends.
    comment: &'static [&'static str],
    /// Around comments of several lines.
    block: Option<(&'static str, &'static str)>,
    quotes: &'static str,
    words: &'static str,
}

/// Colours the lines of one block.
#[derive(Debug)]
pub(super) struct Colours {
    family: Option<usize>,
    diff: bool,
    /// A comment of several lines is open.
    in_comment: bool,
}

const C_LIKE: &str = "auto bool break case catch char class const constexpr continue default delete do double else enum \
    extends extern false final finally float for foreach goto if implements import in instanceof int interface internal long \
    namespace new null nullptr operator override package private protected public return short signed sizeof static struct \
    super switch template this throw throws true try typedef typename union unsigned using var virtual void volatile while";

const FAMILIES: [Family; 12] = [
    Family {
        names: &["rust", "rs"],
        comment: &["//"],
        block: Some(("/*", "*/")),
        quotes: "\"",
        words: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match \
            mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
    },
    Family {
        names: &["python", "py", "python3"],
        comment: &["#"],
        block: None,
        quotes: "\"'",
        words: "and as assert async await break class continue def del elif else except False finally for from global \
            if import in is lambda None nonlocal not or pass raise return True try while with yield match case self",
    },
    Family {
        names: &["javascript", "js", "jsx", "typescript", "ts", "tsx", "mjs"],
        comment: &["//"],
        block: Some(("/*", "*/")),
        quotes: "\"'`",
        words: "any as async await boolean break case catch class const continue default delete do else enum export \
            extends false finally for from function if implements import in instanceof interface let new null number of \
            private public readonly return static string super switch this throw true try type typeof undefined var void \
            while yield",
    },
    Family {
        names: &["go", "golang"],
        comment: &["//"],
        block: Some(("/*", "*/")),
        quotes: "\"'`",
        words: "break case chan const continue default defer else fallthrough false for func go goto if import interface \
            map nil package range return select struct switch true type var",
    },
    Family {
        names: &[
            "c", "h", "cpp", "c++", "cc", "hpp", "java", "csharp", "cs", "c#", "kotlin", "kt", "swift",
            "scala", "dart", "php",
        ],
        comment: &["//"],
        block: Some(("/*", "*/")),
        quotes: "\"'",
        words: C_LIKE,
    },
    Family {
        names: &["bash", "sh", "shell", "zsh", "fish", "console", "dockerfile", "make", "makefile"],
        comment: &["#"],
        block: None,
        quotes: "\"'",
        words: "case do done elif else esac export fi for function if in local return set then unset until while",
    },
    Family {
        names: &["sql", "postgres", "mysql", "sqlite"],
        comment: &["--"],
        block: Some(("/*", "*/")),
        quotes: "'\"",
        words: "SELECT FROM WHERE INSERT INTO UPDATE DELETE CREATE TABLE ALTER DROP JOIN LEFT RIGHT INNER OUTER ON AS AND OR \
            NOT NULL GROUP BY ORDER HAVING LIMIT VALUES SET PRIMARY KEY DISTINCT UNION WITH select from where insert into \
            update delete create table join on as and or not null group by order limit values set",
    },
    Family {
        names: &["toml", "yaml", "yml", "ini", "conf", "properties"],
        comment: &["#", ";"],
        block: None,
        quotes: "\"'",
        words: "true false null yes no",
    },
    Family {
        names: &["json", "jsonc", "json5"],
        comment: &["//"],
        block: Some(("/*", "*/")),
        quotes: "\"",
        words: "true false null",
    },
    Family {
        names: &["html", "xml", "svg", "vue"],
        comment: &[],
        block: Some(("<!--", "-->")),
        quotes: "\"'",
        words: "",
    },
    Family {
        names: &["css", "scss", "less"],
        comment: &["//"],
        block: Some(("/*", "*/")),
        quotes: "\"'",
        words: "important",
    },
    Family {
        names: &["ruby", "rb", "lua", "perl", "pl", "r", "elixir", "ex", "haskell", "hs"],
        comment: &["#", "--"],
        block: None,
        quotes: "\"'",
        words: "and begin case class def do else elsif elseif end ensure false for function if in local module next nil not or \
            require rescue return self super then true unless until use when where while yield",
    },
];

const COMMENT: &str = "\u{1b}[2m";
const TEXT: &str = "\u{1b}[32m";
const NUMBER: &str = "\u{1b}[36m";
const WORD: &str = "\u{1b}[35m";
const REMOVED: &str = "\u{1b}[31m";
const OFF: &str = "\u{1b}[0m";

impl Colours {
    /// For a block whose fence says this.
    pub(super) fn new(said: &str) -> Self {
        let language = said.split([' ', ',', '{', ':']).next().unwrap_or_default().to_lowercase();
        let family = FAMILIES.iter().position(|family| family.names.contains(&language.as_str()));
        Self { family, diff: matches!(language.as_str(), "diff" | "patch"), in_comment: false }
    }

    /// The next line in its colours.
    pub(super) fn line(&mut self, line: &str) -> String {
        if self.diff {
            let colour = match line.as_bytes().first() {
                Some(b'+') => TEXT,
                Some(b'-') => REMOVED,
                Some(b'@') => NUMBER,
                _ => return line.to_owned(),
            };
            return format!("{colour}{line}{OFF}");
        }
        let Some(family) = self.family.map(|place| &FAMILIES[place]) else { return line.to_owned() };
        let mut out = String::with_capacity(line.len() + 32);
        let mut rest = line;
        while !rest.is_empty() {
            let (colour, length) =
                self.token(rest, family, rest.len() == line.len() || is_border(line, rest));
            let (token, behind) = rest.split_at(length);
            match colour {
                "" => out.push_str(token),
                colour => out.extend([colour, token, OFF]),
            }
            rest = behind;
        }
        out
    }

    /// The colour and the length of what the text begins with.
    fn token(&mut self, text: &str, family: &Family, at_border: bool) -> (&'static str, usize) {
        if let Some((open, close)) = family.block {
            let from = if self.in_comment { 0 } else { open.len() };
            if self.in_comment || text.starts_with(open) {
                let end = text[from.min(text.len())..].find(close).map(|found| from + found + close.len());
                self.in_comment = end.is_none();
                return (COMMENT, end.unwrap_or(text.len()));
            }
        }
        if at_border && family.comment.iter().any(|comment| text.starts_with(comment)) {
            return (COMMENT, text.len());
        }
        let Some(first) = text.chars().next() else { return ("", 0) };
        if family.quotes.contains(first) {
            return match closing(text, first) {
                Some(end) => (TEXT, end),
                None => ("", first.len_utf8()),
            };
        }
        let word = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        if word == 0 {
            return ("", first.len_utf8());
        }
        if first.is_ascii_digit() {
            return (NUMBER, word);
        }
        let known = family.words.split_whitespace().any(|known| known == &text[..word]);
        (if known { WORD } else { "" }, word)
    }
}

/// Whether `rest` begins a token of its own in `line`: `#` in `a#b` is no comment.
fn is_border(line: &str, rest: &str) -> bool {
    let before = line[..line.len() - rest.len()].chars().next_back();
    before.is_none_or(|c| c.is_whitespace() || matches!(c, ';' | ')' | '}' | ',' | '{' | '('))
}

/// Where the text that begins here ends, on this line.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_nothing_but_colours() {
        let lines =
            ["let x = \"a // b\"; // it's", "/* open", "still */ fn f() { 0x1F }", "don't 'ü", "#!x a#b", ""];
        for family in ["rust", "py", "ts", "sql", "nosuch", "diff", "html", ""] {
            let mut colours = Colours::new(family);
            for line in lines {
                let coloured = colours.line(line);
                let mut plain = coloured.clone();
                for escape in [COMMENT, TEXT, NUMBER, WORD, REMOVED, OFF] {
                    plain = plain.replace(escape, "");
                }
                assert_eq!(plain, line, "{family}");
            }
        }
    }

    #[test]
    fn comments_texts_and_words_are_told_apart() {
        let mut rust = Colours::new("rust,no_run");
        assert_eq!(
            rust.line("let s = \"//\"; // yes"),
            format!("{WORD}let{OFF} s = {TEXT}\"//\"{OFF}; {COMMENT}// yes{OFF}")
        );
        assert_eq!(rust.line("/* a"), format!("{COMMENT}/* a{OFF}"));
        assert_eq!(rust.line("b */ 5"), format!("{COMMENT}b */{OFF} {NUMBER}5{OFF}"));
        assert_eq!(Colours::new("diff").line("-old"), format!("{REMOVED}-old{OFF}"));
    }
}
