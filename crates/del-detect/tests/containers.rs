//! Where the templates of a checkpoint stand, and that all of them are looked at.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use del_detect::{Kind, Material, Options, detect};
use del_dialects::Dialects;
use serde_json::json;

const TOOLS: &str = include_str!("families/hermes-json.jinja");
const NONE: &str = include_str!("families/none.jinja");

/// A folder of files that is removed again.
struct Folder(PathBuf);

impl Folder {
    fn of(name: &str, files: &[(&str, Vec<u8>)]) -> Self {
        let folder = std::env::temp_dir().join(format!("del-detect-{name}-{}", std::process::id()));
        for (file, bytes) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn dialect(path: &Path) -> Option<String> {
    let material = Material::read(path).unwrap();
    detect(&material, Dialects::builtin(), Options::default()).unwrap().report.dialect
}

/// A GGUF file with one template or none.
fn gguf(template: Option<&str>, big: bool) -> Vec<u8> {
    let number = |number: u32| if big { number.to_be_bytes() } else { number.to_le_bytes() };
    let long = |number: u64| if big { number.to_be_bytes() } else { number.to_le_bytes() };
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(number(3));
    bytes.extend(long(0));
    bytes.extend(long(u64::from(template.is_some())));
    if let Some(template) = template {
        for text in ["tokenizer.chat_template", template] {
            bytes.extend(long(text.len() as u64));
            bytes.extend(text.as_bytes());
            if text != template {
                bytes.extend(number(8));
            }
        }
    }
    bytes
}

#[test]
fn every_template_of_a_checkpoint_is_looked_at() {
    let list = |first: &str| json!({"chat_template": [{"name": "default", "template": NONE}, {"name": first, "template": TOOLS}]});
    let object = json!({"chat_template": {"default": NONE, "tools": TOOLS}});
    for (name, files) in [
        ("list", vec![("tokenizer_config.json", list("with_tools").to_string().into_bytes())]),
        ("object", vec![("tokenizer_config.json", object.to_string().into_bytes())]),
        (
            "additional",
            vec![
                ("chat_template.jinja", NONE.as_bytes().to_vec()),
                ("additional_chat_templates/tool_use.jinja", TOOLS.as_bytes().to_vec()),
            ],
        ),
        (
            "additional-of-another-name",
            vec![
                ("chat_template.jinja", NONE.as_bytes().to_vec()),
                ("additional_chat_templates/agent.jinja", TOOLS.as_bytes().to_vec()),
                ("tokenizer_config.json", b"{}".to_vec()),
            ],
        ),
        (
            "mark",
            vec![(
                "tokenizer_config.json",
                ["\u{feff}", &list("tool_use").to_string()].concat().into_bytes(),
            )],
        ),
    ] {
        let folder = Folder::of(name, &files);
        assert_eq!(dialect(&folder.0).as_deref(), Some("hermes-json"), "{name}");
    }
    // Where none knows tools, that is said.
    let none =
        json!({"chat_template": [{"name": "default", "template": NONE}, {"name": "rag", "template": NONE}]});
    let folder = Folder::of("none", &[("tokenizer_config.json", none.to_string().into_bytes())]);
    assert_eq!(dialect(&folder.0), None);
}

#[test]
fn models_of_either_byte_order_and_in_parts_are_read() {
    let folder = Folder::of(
        "gguf",
        &[
            ("big/model.gguf", gguf(Some(TOOLS), true)),
            ("parts/model-00001-of-00003.gguf", gguf(Some(TOOLS), false)),
            ("parts/model-00003-of-00003.gguf", gguf(None, false)),
            ("later/model-00002-of-00003.gguf", gguf(None, false)),
            ("images/a-mmproj.gguf", gguf(None, false)),
            ("images/model.gguf", gguf(Some(TOOLS), false)),
        ],
    );
    let at = |path: &str| folder.0.join(path);
    for path in ["big/model.gguf", "big", "parts", "parts/model-00003-of-00003.gguf", "images"] {
        assert_eq!(dialect(&at(path)).as_deref(), Some("hermes-json"), "{path}");
    }
    let later = Material::read(&at("later/model-00002-of-00003.gguf")).unwrap();
    assert_eq!(later.kind, Kind::Nothing);
    assert!(later.found.iter().any(|line| line.contains("model-00001-of-00003.gguf")), "{later:?}");
    let empty = Folder::of("empty", &[("readme.md", b"Nothing.".to_vec())]);
    assert!(Material::read(&empty.0).unwrap_err().to_string().contains("or a GGUF file"));
}

#[test]
fn go_templates_cut_texts() {
    let template = "{{ range .Messages }}{{ if eq (slice .Role 0 4) \"user\" }}[{{ .Content }}]{{ end }}\
                    {{ range .ToolCalls }}<tool_call>\n{\"name\": \"{{ .Function.Name }}\", \"arguments\": \
                    {{ .Function.Arguments }}}\n</tool_call>\n{{ end }}{{ end }}{{ if .Tools }}{{ .Tools }}{{ end }}";
    let material = Material::of(Kind::Go, template);
    let report = detect(&material, Dialects::builtin(), Options::default()).unwrap().report;
    assert_eq!(report.source, del_detect::Basis::Rendering, "{report:#?}");
    assert!(report.tool_calls);
}
