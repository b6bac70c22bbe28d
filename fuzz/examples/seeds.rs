//! Writes what the targets start from: the marks of all dialects as a dictionary, and the texts of all cases.
//!
//! `cargo run --example seeds`, in this folder.

use std::fs;
use std::path::Path;

use del_dialects::Dialects;
use del_fuzz::reading::all_marks;

fn main() -> std::io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut marks: Vec<String> = Dialects::builtin().iter().flat_map(|dialect| all_marks(dialect)).collect();
    marks.extend(
        ["get_weather", "write_file", "{\"city\": \"Paris\"}", "\"arguments\": ", "\"name\": "]
            .map(str::to_owned),
    );
    marks.sort();
    marks.dedup();
    let entry = |mark: &String| {
        let bytes: String = mark.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
        format!("\"{bytes}\"\n")
    };
    fs::write(here.join("marks.dict"), marks.iter().map(entry).collect::<String>())?;
    let mut texts = 0;
    for target in ["bytes", "split", "description", "render"] {
        fs::create_dir_all(here.join("corpus").join(target))?;
    }
    for (place, dialect) in Dialects::builtin().iter().enumerate() {
        let cases = here.join("../crates/del-dialects/dialects").join(dialect.name()).join("cases");
        for file in fs::read_dir(cases)? {
            let file = file?.path();
            let table: toml::Table = fs::read_to_string(&file)?.parse().map_err(std::io::Error::other)?;
            let Some(text) = table.get("text").and_then(toml::Value::as_str) else { continue };
            let which = u8::try_from(place).unwrap_or(u8::MAX);
            let cut = table.get("finish").is_some();
            let slug = file.file_stem().unwrap_or_default().to_string_lossy();
            let name = format!("{}-{slug}", dialect.name());
            let seed = [&[which, u8::from(cut)], text.as_bytes()].concat();
            fs::write(here.join("corpus/bytes").join(&name), &seed)?;
            let half = u8::try_from(text.len() / 2 % 256).unwrap_or_default();
            fs::write(here.join("corpus/split").join(&name), [&[half, 3], seed.as_slice()].concat())?;
            texts += 1;
        }
    }
    println!("{} marks, {texts} texts", marks.len());
    Ok(())
}
