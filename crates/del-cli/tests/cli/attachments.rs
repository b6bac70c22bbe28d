//! Files and images that go along with a question.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::del::{Run, del, directory, run, text};
use crate::server::{About, Reply, Server, says};
use crate::terminal::Terminal;

fn task(server: &Server, options: &[&str]) -> Command {
    let mut all = vec!["-p", "What is in a.txt?", "--base-url", server.url()];
    all.extend(options);
    del(&all)
}

fn run_in(directory: &tempfile::TempDir, mut command: Command) -> Run {
    run(command.current_dir(directory.path()), "")
}

#[test]
fn files_go_along_with_the_question() {
    let files = directory(&[("notes.md", "# One <tool_call>\n")]);
    std::fs::write(files.path().join("dot.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let server = Server::new(vec![says("A dot.")]);
    let got = run_in(&files, task(&server, &["-f", "notes.md", "-f", "dot.png"]));
    assert_eq!(got.code, 0, "{got:#?}");
    let body = &server.completions()[0].body;
    let content = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let text = content[0]["text"].as_str().unwrap();
    assert!(text.contains("The file notes.md:\n# One <") && !text.contains("<tool_call>"), "{text}");
    assert_eq!(content[1]["image_url"]["url"], "data:image/png;base64,iVBORw0KGgo=");
    run_in(&files, task(&server, &["-f", "gone.png"])).fails(42, "gone.png");
}

#[test]
fn a_pdf_goes_along_as_the_text_that_is_in_it() {
    let files = directory(&[]);
    let program = files.path().join("pdftotext");
    std::fs::write(&program, "#!/bin/sh\necho Chapter one\n").unwrap();
    std::fs::write(files.path().join("a.pdf"), b"%PDF-1.4\n").unwrap();
    let server = Server::new(vec![says("A chapter.")]);
    let ask = || {
        let mut command = task(&server, &["-f", "a.pdf"]);
        command.env("PATH", files.path());
        run_in(&files, command)
    };
    ask().fails(42, "the program pdftotext (package poppler-utils) is not there to read it");
    assert_eq!(server.completions().len(), 0);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(ask().code, 0);
    let content =
        server.completions()[0].body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert!(content.as_str().unwrap().contains("The file a.pdf:\nChapter one"), "{content}");
}

#[test]
fn an_image_goes_along_in_prompt_mode_and_not_to_a_model_that_is_known_to_see_none() {
    let files = directory(&[]);
    std::fs::write(files.path().join("dot.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let server = Server::new(vec![says("A dot.")]);
    let got = run_in(&files, task(&server, &["-f", "dot.png", "--tools-mode", "prompt"]));
    assert_eq!(got.code, 0, "{got:#?}");
    let content = server.completions()[0].body["messages"][1]["content"].clone();
    assert!(content.to_string().contains("data:image/png;base64,"), "{content}");
    let blind = json!({"capabilities": ["completion", "tools"]}).to_string();
    let about = About { others: vec![("/api/show", blind)], ..About::default() };
    let server = Server::about(about, vec![says("A dot.")]);
    run_in(&files, task(&server, &["-f", "dot.png"])).fails(42, "takes no images");
    assert_eq!(server.completions().len(), 0);
}

#[test]
fn a_server_that_refuses_the_image_is_asked_once_and_the_error_says_so() {
    let files = directory(&[]);
    std::fs::write(files.path().join("dot.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let says_no = "image input is not supported - hint: you may need to provide the mmproj";
    for status in [400, 500] {
        let refusal = || Reply::Status(status, json!({"error": {"message": says_no}}).to_string());
        let server = Server::new(vec![refusal(), says("Never asked.")]);
        let got = run_in(&files, task(&server, &["-f", "dot.png"]));
        got.fails(42, "as an image goes along: image input is not supported");
        assert!(got.err.contains("Take a model that sees images"), "{got:#?}");
        assert_eq!(server.completions().len(), 1, "{status}");
        // Without an image it is an error like any other.
        let server = Server::new(vec![refusal(), says("Asked again.")]);
        let got = run_in(&files, task(&server, &[]));
        assert!(!got.err.contains("goes along"), "{got:#?}");
    }
}

#[test]
fn what_is_no_file_stays_text_and_a_name_may_have_blanks() {
    let files = directory(&[("my file.txt", "forty-two\n")]);
    let server = Server::new(vec![says("Yes.")]);
    let mut terminal = Terminal::with(&files, &["--base-url", server.url(), "--color", "never"], 160, &[]);
    terminal.until("`exit` ends");
    terminal.write("is @Override in @angular/core or @\"my file.txt\"?\r");
    terminal.until("attached my file.txt");
    let seen = terminal.until("Yes.");
    assert!(!seen.contains("read_file"), "{seen:?}");
    terminal.until("> ");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    let asked = server.completions()[0].body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(
        asked.contains("@angular/core") && asked.contains("The file my file.txt:\n     1\tforty-two"),
        "{asked}"
    );
}

#[test]
fn an_image_is_named_or_its_path_pasted_in_a_conversation() {
    let files = directory(&[]);
    let path = files.path().join("my shot.png");
    std::fs::write(&path, b"\x89PNG\r\n\x1a\n").unwrap();
    let server = Server::new(vec![says("A dot."), says("The same.")]);
    let arguments = ["--base-url", server.url(), "--color", "never"];
    std::fs::write(files.path().join("a.pdf"), b"%PDF-1.4\n").unwrap();
    let mut terminal = Terminal::with(&files, &arguments, 160, &[("PATH", &text(files.path()))]);
    terminal.until("`exit` ends");
    terminal.write("sum up @a.pdf\r");
    terminal.until("is not there to read it");
    terminal.until("> ");
    terminal.write(&format!("what's in {} please\r", text(&path).replace(' ', "\\ ")));
    terminal.until("attached ");
    terminal.until("A dot.");
    terminal.write("and in @'my shot.png'?\r");
    terminal.until("attached ");
    terminal.until("The same.");
    terminal.until("> ");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    for asked in server.completions() {
        let content = asked.body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
        let kinds: Vec<Value> = content.as_array().unwrap().iter().map(|part| part["type"].clone()).collect();
        assert_eq!(kinds, [json!("text"), json!("image_url")], "{content}");
    }
}
