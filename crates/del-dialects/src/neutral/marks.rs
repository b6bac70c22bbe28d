//! Which marks must not survive in text of others.

use crate::dialect::{Codec, Dialect, Frame, Mark, Need, Piece, is_plain_tag};
use crate::order::sort;

/// What special tokens begin and end with, and tokens of turns that no dialect names.
const TOKENS: [&str; 34] = [
    "<|",
    "<｜",
    "|>",
    "｜>",
    "[|",
    "|]",
    "<s>",
    "</s>",
    "<bos>",
    "<eos>",
    "<pad>",
    "<unk>",
    "<sep>",
    "<sop>",
    "<eop>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<</SYS>>",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[gMASK]",
    "<start_of_turn>",
    "<end_of_turn>",
    "<start_of_image>",
    "<beginning_of_sentence>",
    "<end_of_sentence>",
    "<beginning_of_document>",
    "<seed:bos>",
    "<seed:eos>",
    "]~b]",
    "]~!b[",
    "[e~[",
    "<SPECIAL_",
];

/// All marks, sorted.
pub(super) fn of<'d>(dialects: impl Iterator<Item = &'d Dialect>) -> Vec<String> {
    let mut marks: Vec<String> = TOKENS.map(str::to_owned).to_vec();
    for dialect in dialects {
        gather(dialect, &mut marks);
        dialect.variants.iter().for_each(|variant| gather(variant, &mut marks));
    }
    sort(&mut marks, String::cmp);
    marks.dedup();
    marks
}

fn gather(dialect: &Dialect, marks: &mut Vec<String>) {
    let mut add = |mark: &str| {
        let core = mark.trim();
        let special = core.chars().any(|c| !c.is_alphanumeric() && !c.is_whitespace());
        if core.chars().count() >= 3 && special {
            marks.push(core.to_owned());
        }
    };
    let is_word = |mark: &str| mark.trim_start().starts_with(char::is_alphanumeric);
    // Any text holds tags of one plain word and fences; only a fence that a call begins with is markup.
    let plain = |mark: &Mark, spelling: &str| {
        let core = spelling.trim();
        is_plain_tag(core) || core == "```" || (mark.need != Need::Must && core.starts_with("```"))
    };
    let in_order = || dialect.block.open.iter().chain(dialect.body().iter().filter_map(Piece::mark));
    // A word is a mark only where it may open a call.
    let openers = in_order().position(|mark| mark.need == Need::Must).unwrap_or(usize::MAX);
    for (place, mark) in dialect.marks().enumerate() {
        let opens = place <= openers;
        let counts = |spelling: &&String| (opens || !is_word(spelling)) && !plain(mark, spelling);
        mark.read.iter().filter(counts).for_each(|spelling| add(spelling));
    }
    // A plain word opens a call together with what follows it.
    let mut written = in_order().filter(|mark| mark.need != Need::Noise);
    if let (Some(first), Some(second)) = (written.next(), written.next())
        && first.need == Need::Must
        && is_word(&first.write)
    {
        first.read.iter().for_each(|word| add(&format!("{word}{}", second.write.trim())));
    }
    if let Some(reasoning) = &dialect.reasoning {
        reasoning.begin.iter().chain(&reasoning.end).filter(|mark| !is_word(mark)).for_each(|mark| add(mark));
    }
    let around = dialect.content.begin.iter().chain(&dialect.content.end);
    let around = around.chain(dialect.results.invented.iter().flatten()).chain(&dialect.ends);
    around.filter(|mark| !mark.trim_start().starts_with("```")).for_each(|mark| add(mark));
    if let Codec::Fields(form) = dialect.codec() {
        let marks = form.open.iter().chain(&form.value_open).chain(&form.value_close);
        marks.filter(|mark| !is_plain_tag(mark.trim())).for_each(|mark| add(mark));
    }
    if let Frame::Channels(channels) = &dialect.frame {
        channels.marks().for_each(|mark| add(mark));
    }
    let lists = [&dialect.definitions.open, &dialect.definitions.close].map(String::as_str);
    for form in dialect.results.forms().chain(lists) {
        let behind = form.find("{text}").map_or(form, |at| &form[at..]);
        // A plain tag is broken where it would end the text.
        let ends = |tag: &str| tag.starts_with("</") && behind.contains(tag);
        tags(form).filter(|tag| !is_plain_tag(tag) || ends(tag)).for_each(&mut add);
    }
}

/// The tags in a form: `<tools>`, `[AVAILABLE_TOOLS]`.
fn tags(form: &str) -> impl Iterator<Item = &str> {
    form.match_indices(['<', '[']).filter_map(|(at, open)| {
        let close = if open == "<" { '>' } else { ']' };
        let end = form[at..].find(close)?;
        let inside = &form[at + 1..at + end];
        let name = inside.trim_start_matches('/');
        let plain = |c: char| !c.is_whitespace() && !matches!(c, '<' | '[' | '{' | '"' | '\'');
        (!name.is_empty() && name.chars().all(plain)).then(|| &form[at..=at + end])
    })
}
