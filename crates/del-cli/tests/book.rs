//! The book in `docs`: every page stands in its table of contents, and every link leads somewhere.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

#[path = "book/reference.rs"]
mod reference;

/// Documents outside of the book, whose links are followed as well.
const BESIDE: [&str; 9] = [
    "README.md",
    "DESIGN.md",
    "CONTRIBUTING.md",
    "bindings/python/README.md",
    "bindings/js/README.md",
    "bindings/js/ai-sdk/README.md",
    "bindings/js/serving/README.md",
    "web/README.md",
    "deploy/README.md",
];

/// What a document links to, and what of it can be linked to.
struct Document {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

impl Document {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let (mut links, mut anchors, mut heading) = (Vec::new(), BTreeSet::new(), None);
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let name = anchor(&heading.take().unwrap());
                    let other = (1..).map(|number| format!("{name}-{number}"));
                    let free =
                        std::iter::once(name.clone()).chain(other).find(|name| !anchors.contains(name));
                    anchors.extend(free);
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    links.push(dest_url.into_string());
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        Self { links, anchors }
    }
}

/// The anchor of a heading, as mdBook makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        _ if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
        _ if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The pages of the book, by their names.
fn pages() -> BTreeMap<String, Document> {
    let files = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = files.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), Document::read(&path)))
        .collect()
}

#[test]
fn the_summary_names_every_page_once() {
    let mut pages = pages();
    let summary = pages.remove("SUMMARY.md").unwrap();
    for link in &summary.links {
        assert!(pages.remove(link).is_some(), "docs/SUMMARY.md: no page {link}, or a second time");
    }
    let left: Vec<&String> = pages.keys().collect();
    assert!(left.is_empty(), "docs/SUMMARY.md does not name {left:?}");
}

#[test]
fn the_links_of_the_book_lead_to_places_in_the_book() {
    let pages = pages();
    for (name, page) in &pages {
        for link in page.links.iter().filter(|link| !link.contains("://")) {
            let (target, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if target.is_empty() { name } else { target };
            let Some(found) = pages.get(target) else {
                let is_file = !target.contains('/') && root().join("docs").join(target).is_file();
                assert!(
                    is_file,
                    "docs/{name}: expected a file of docs, got {link}; name other files as code"
                );
                continue;
            };
            assert!(place.is_empty() || found.anchors.contains(place), "docs/{name}: no heading for {link}");
        }
    }
}

#[test]
fn the_links_of_other_documents_lead_somewhere() {
    for name in BESIDE {
        let path = root().join(name);
        let document = Document::read(&path);
        assert!(!document.anchors.is_empty(), "{name}");
        for link in document.links.iter().filter(|link| !link.contains("://")) {
            let (target, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if target.is_empty() { path.clone() } else { path.parent().unwrap().join(target) };
            assert!(target.exists(), "{name}: no file for {link}");
            assert!(
                place.is_empty() || Document::read(&target).anchors.contains(place),
                "{name}: no heading for {link}"
            );
        }
    }
}
