//! `include/del_dialects.h` says what the source says.

use std::path::Path;

#[test]
fn is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let sources = ["types", "failure", "abi"].map(|name| root.join(format!("src/{name}.rs")));
    let builder = sources.iter().fold(cbindgen::Builder::new(), cbindgen::Builder::with_src);
    let mut header = Vec::new();
    builder.with_config(config).generate().unwrap().write(&mut header);
    let header = without_safety(&String::from_utf8(header).unwrap());
    let path = root.join("include/del_dialects.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == header,
        "the header is not current; `UPDATE_HEADER=1 cargo test --test header` writes it anew"
    );
}

/// Without what Rust asks of a caller: that stands at the top of the header, in words for C.
fn without_safety(header: &str) -> String {
    let mut kept = String::new();
    let mut left_out = false;
    for line in header.lines() {
        left_out = (left_out || line.trim() == "# Safety") && line.trim() != "*/";
        if !left_out {
            kept += line;
            kept.push('\n');
        }
    }
    kept.replace("\n\n */", "\n */")
}
