//! `del man`.

use crate::del::{directory, plain, text};

#[test]
fn every_command_has_a_page() {
    let page = plain(&["man"]).out;
    assert!(page.contains(".TH del 1") && page.contains("del\\-doctor(1)"), "{page}");
    let page = plain(&["man", "mcp", "serve"]).out;
    assert!(page.contains("\\-\\-working\\-dir") && page.contains("del\\-mcp\\-serve"), "{page}");
    plain(&["man", "nosuch"]).fails(2, "got `nosuch`");
    let folder = directory(&[]);
    let pages = folder.path().join("man1");
    assert_eq!(plain(&["man", "--dir", &text(&pages)]).code, 0);
    let written =
        std::fs::read_dir(&pages).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap());
    let written: Vec<String> = written.collect();
    for name in ["del.1", "del-sessions-export.1", "del-config.1"] {
        assert!(written.iter().any(|page| page == name), "{name} in {written:?}");
    }
    let help: Vec<&String> =
        written.iter().filter(|page| page.split(['-', '.']).any(|part| part == "help")).collect();
    assert!(help.is_empty(), "{help:?}");
    plain(&["man", "--dir", "/dev/null/x"]).fails(1, "cannot write into /dev/null/x");
}
