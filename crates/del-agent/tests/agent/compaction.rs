//! Making room in the model's context.

use del_agent::{Effect, Entry, Failure, Image, Input, Notice, Settings, ToolsMode};
use serde_json::{Value, json};

use crate::script::{Talk, native_call, request, settings, text_answer, tool_results};

const TOO_LONG: &str = r#"{"error":{"message":"the request exceeds the available context size","n_ctx":2000,"n_prompt_tokens":9000}}"#;

fn small() -> Settings {
    Settings { context: Some(2000), ..settings() }
}

/// Texts of a request's messages.
fn contents(body: &Value) -> Vec<String> {
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    body["messages"].as_array().unwrap().iter().map(text).collect()
}

/// An answer whose server counts as many tokens as it was sent, about.
fn counted(mut chunks: Vec<Value>, prompt: u64) -> Vec<Value> {
    for chunk in &mut chunks {
        if chunk["usage"].is_object() {
            chunk["usage"] = json!({"prompt_tokens": prompt, "completion_tokens": 5});
        }
    }
    chunks
}

/// A question that reads `files` files, each with a result of so many bytes; the body of the last request.
fn reads(talk: &mut Talk, files: usize, bytes: usize) -> Effect {
    talk.ask("read them all");
    let mut effect = Effect::Continue;
    for file in 0..files {
        let arguments = json!({"path": file.to_string()}).to_string();
        let calls =
            talk.answer_with_calls(&counted(native_call(&format!("c{file}"), "read_file", &[&arguments]), 0));
        effect = talk.step(Input::Results(tool_results(&calls, &format!("{file} {}", "x".repeat(bytes)))));
    }
    effect
}

#[test]
fn small_images_are_no_sign_that_the_server_cut_something_off() {
    let mut talk = Talk::new(settings());
    talk.agent.attach(vec![Image::new("image/png", "AAAA".to_owned()); 5]);
    talk.ask("What is in them?");
    talk.answer_with_text(&counted(text_answer(&["Dots."]), 1200));
    assert_eq!((talk.notices(), talk.agent.context()), (&[][..], None));
}

#[test]
fn old_results_go_first_and_the_newest_stay() {
    let mut talk = Talk::new(small());
    // 6 results of 250 tokens, a prompt of some 150: 80 % of 2000 are used up with the sixth.
    let body = contents(&request(reads(&mut talk, 6, 1000)));
    let left_out = body.iter().filter(|text| text.contains("left out to make room")).count();
    let whole = body.iter().filter(|text| text.len() > 1000).count();
    assert_eq!((left_out, whole), (3, 3), "{body:#?}");
    assert!(
        matches!(talk.notices(), [Notice::LeftOut { before, after }] if after < before),
        "{:?}",
        talk.notices()
    );
    let done = talk.answer_with_text(&text_answer(&["Read."]));
    assert_eq!(done.answer, "Read.");
}

#[test]
fn what_is_oldest_is_summed_up_in_the_middle_of_a_task_and_the_task_goes_on() {
    for mode in [ToolsMode::Native, ToolsMode::Prompt] {
        let mut talk = Talk::new(Settings { tools_mode: mode, ..small() });
        talk.ask("first, an old question");
        talk.answer_with_text(&counted(text_answer(&["old ", &"answer ".repeat(300)]), 0));
        let summary = request(reads(&mut talk, 3, 1600));
        let asked = contents(&summary);
        assert_eq!(summary.get("tools"), None);
        assert!(
            asked[0].contains("sum up") && asked[1].contains("USER: first, an old question"),
            "{asked:#?}"
        );
        let body = request(talk.answer(&text_answer(&["They ", "greeted."])));
        let texts = contents(&body);
        assert_eq!(talk.shown_text(), "", "a summary is no answer");
        assert!(texts[1].starts_with("[A summary of the conversation so far]\nThey greeted."), "{texts:#?}");
        assert!(texts.iter().any(|text| text.contains("read them all")), "the question stays: {texts:#?}");
        assert!(texts.last().unwrap().contains("2 xxx"), "the last result stays: {texts:#?}");
        assert!(!texts.concat().contains("an old question"));
        assert_eq!(talk.answer_with_text(&text_answer(&["Done."])).answer, "Done.");
        assert!(matches!(talk.agent.entries()[0], Entry::Summary { .. }));
        assert!(talk.agent.revision() > 0);
    }
}

#[test]
fn an_overflow_makes_room_and_goes_on_once() {
    let mut talk = Talk::new(settings());
    talk.ask("first");
    talk.answer_with_text(&text_answer(&["A long answer."]));
    talk.ask("second");
    let summary = contents(&request(talk.refuse(400, TOO_LONG, None)));
    assert!(summary[1].contains("ASSISTANT: A long answer."), "{summary:#?}");
    assert_eq!(talk.agent.context(), Some(2000), "the server said how long it may be");
    let body = contents(&request(talk.answer(&text_answer(&["Sum."]))));
    assert_eq!(body.len(), 2, "summary and question are one message of the user: {body:#?}");
    assert!(body[1].ends_with("Sum.\n\nsecond"), "{body:#?}");
    match talk.refuse(400, TOO_LONG, None) {
        Effect::Failed(Failure::Refused { .. }) => {}
        effect => panic!("expected a failure the second time, got {effect:?}"),
    }
    // The question that failed is not sent again.
    assert!(!contents(&talk.ask("third")).concat().contains("second"));
}

#[test]
fn without_a_summary_nothing_is_lost() {
    let mut talk = Talk::new(settings());
    talk.ask("first");
    talk.answer_with_text(&text_answer(&["An answer."]));
    talk.ask("second");
    request(talk.refuse(400, TOO_LONG, None));
    match talk.refuse(500, r#"{"error":{"message":"broken"}}"#, Some(600_000)) {
        Effect::Failed(failure) => assert!(failure.to_string().contains("context size"), "{failure}"),
        effect => panic!("expected a failure, got {effect:?}"),
    }
    assert_eq!(talk.agent.entries().len(), 2);
}

#[test]
fn a_wish_for_a_summary_keeps_the_last_turn_and_what_was_asked_for() {
    let mut talk = Talk::new(settings());
    assert!(matches!(talk.step(Input::Compact("")), Effect::Done(_)), "there is nothing to sum up");
    for question in ["one", "two", "three"] {
        talk.ask(question);
        talk.answer_with_text(&text_answer(&[&format!("answer to {question}")]));
    }
    let asked = contents(&request(talk.step(Input::Compact("the numbers"))));
    assert!(asked[1].contains("Above all, keep: the numbers."), "{asked:#?}");
    assert!(matches!(talk.answer(&text_answer(&["One and two."])), Effect::Done(_)));
    let body = contents(&talk.ask("four"));
    assert!(body[1].contains("One and two.") && body[1].ends_with("three"), "{body:#?}");
    assert_eq!(body[2..], ["answer to three", "four"]);
}

#[test]
fn a_long_question_is_summed_up_once_it_is_answered() {
    let mut talk = Talk::new(small());
    talk.ask(&format!("Look at this. {}", "a line of a paste\n".repeat(2000)));
    talk.answer_with_text(&counted(text_answer(&["I have."]), 9000));
    let Effect::Request(body) = talk.step(Input::Start("and now")) else { panic!() };
    let asked = contents(&body);
    assert!(asked[1].contains("USER: Look at this.") && asked[1].len() < 4 * 2000, "{}", asked[1].len());
    let body = contents(&request(talk.answer(&text_answer(&["A paste was read."]))));
    assert!(body[1].contains("A paste was read.") && body.last().unwrap().ends_with("and now"), "{body:#?}");
    // The question itself, which is too long alone, goes out as it is: it is what was asked.
    let mut talk = Talk::new(small());
    assert!(contents(&talk.ask(&"a line of a paste\n".repeat(2000)))[1].starts_with("a line"));
}

#[test]
fn a_wish_for_a_summary_sums_a_single_long_turn_up() {
    let mut talk = Talk::new(Settings { context: Some(100_000), ..settings() });
    request(reads(&mut talk, 3, 1600));
    talk.answer_with_text(&text_answer(&["All are read."]));
    let asked = contents(&request(talk.step(Input::Compact(""))));
    assert!(asked[1].contains("RESULT of read_file: 2 xxx"), "{asked:#?}");
    assert!(matches!(talk.answer(&text_answer(&["Three files."])), Effect::Done(_)));
    let body = contents(&talk.ask("next"));
    assert!(body[1].contains("Three files.") && body[1].ends_with("read them all"), "{body:#?}");
    assert_eq!(body[2..], ["All are read.", "next"]);
}

#[test]
fn a_summary_that_is_interrupted_changes_nothing() {
    let mut talk = Talk::new(settings());
    talk.ask("one");
    talk.answer_with_text(&text_answer(&["answer"]));
    talk.ask("two");
    talk.answer_with_text(&text_answer(&["answer"]));
    request(talk.step(Input::Compact("")));
    assert!(matches!(talk.step(Input::Cancel), Effect::Failed(Failure::Cancelled)));
    assert_eq!(contents(&talk.ask("three")), ["You are Del.", "one", "answer", "two", "answer", "three"]);
}

#[test]
fn the_plan_stays_word_for_word() {
    let mut talk = Talk::new(settings());
    talk.ask("plan it");
    let calls = talk.answer_with_calls(&native_call("p", "plan", &["{}"]));
    talk.give(tool_results(&calls, "[x] look\n[ ] change"));
    talk.answer_with_text(&text_answer(&["Planned."]));
    talk.ask("go on");
    talk.answer_with_text(&text_answer(&["Going."]));
    request(talk.step(Input::Compact("")));
    assert!(matches!(talk.answer(&text_answer(&["A plan was made."])), Effect::Done(_)));
    assert!(contents(&talk.ask("next"))[1].contains("Your plan, as it was:\n[x] look\n[ ] change"));
}

#[test]
fn a_server_that_cuts_in_silence_is_noticed_once() {
    let mut talk = Talk::new(settings());
    let long = "word ".repeat(20_000);
    talk.ask(&long);
    talk.answer_with_text(&counted(text_answer(&["Yes."]), 4096));
    // Room is made now that it is known how much the model takes.
    talk.ask("and now?");
    request(talk.answer(&text_answer(&["Words."])));
    talk.answer_with_text(&counted(text_answer(&["Yes."]), 4096));
    assert!(
        matches!(talk.notices(), [Notice::Truncated { sent, read: 4096 }, Notice::SummedUp { .. }] if *sent > 20_000),
        "{:?}",
        talk.notices()
    );
}

#[test]
fn where_an_estimate_leaves_it_open_the_server_counts_whether_there_is_room() {
    let counting = || {
        let server = del_agent::Server { counts: true, ..del_agent::Server::default() };
        Settings { server, ..small() }
    };
    // 4 results of 250 tokens and a prompt of some 150: under 60 %, which may be 80.
    let mut talk = Talk::new(counting());
    let Effect::Count(body) = reads(&mut talk, 4, 1000) else { panic!("it is not counted") };
    assert!(body["tools"].is_array() && contents(&body).concat().contains("3 xxx"), "{body}");
    let body = contents(&request(talk.step(Input::Counted(Some(1300)))));
    assert!(!body.concat().contains("left out"), "there is room: {body:#?}");
    assert_eq!((talk.agent.context_used(), talk.agent.context_is_counted()), (1300, true));
    // More tokens than it looked like.
    let mut talk = Talk::new(counting());
    assert!(matches!(reads(&mut talk, 4, 1000), Effect::Count(_)));
    let body = contents(&request(talk.step(Input::Counted(Some(1700)))));
    assert!(body.concat().contains("left out"), "there is none: {body:#?}");
    // A server that cannot after all is not asked again.
    let mut talk = Talk::new(counting());
    assert!(matches!(reads(&mut talk, 4, 1000), Effect::Count(_)));
    request(talk.step(Input::Counted(None)));
    assert_eq!(talk.agent.to_be_counted(), None);
}
