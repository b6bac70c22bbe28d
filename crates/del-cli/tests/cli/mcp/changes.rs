//! Servers that become other ones while they run: their tools change, or they end and are started anew.

use serde_json::json;

use super::servers::{Place, SERVER};
use crate::del::text;
use crate::server::{Server, calls, says};
use crate::terminal::Terminal;

#[test]
fn tools_that_a_server_adds_are_offered_from_then_on() {
    let place = Place::new(&[]);
    place.add("py", "grows");
    let call = |id: &str, tool: &str| calls(id, tool, &json!({"n": 5}));
    let server = Server::new(vec![call("c1", "mcp__py__echo"), call("c2", "mcp__py__more0"), says("Done.")]);
    let got = place.run(&["-p", "go", "--base-url", server.url(), "--allow-tool", "mcp__py__*"], "");
    assert_eq!(got.code, 0, "{got:#?}");
    assert!(got.err.contains("tools that MCP servers have added: mcp__py__more0, "), "{got:#?}");
    assert!(got.err.contains(" and 122 more"), "{got:#?}");
    let sent = server.completions();
    let count = |turn: usize| sent[turn].body["tools"].to_string().matches("mcp__py__").count();
    assert_eq!((count(0), count(1)), (1, 128), "no more of one server than at its start");
    let last = &sent[2].body["messages"].as_array().unwrap().last().unwrap()["content"];
    assert!(last.as_str().unwrap().contains("\"n\": 5"), "{last}");
}

#[test]
fn tools_that_a_server_takes_away_are_offered_no_more_until_they_come_back() {
    let place = Place::new(&[]);
    place.add("py", "turns");
    place.add("steady", "honest");
    let call = |id: &str, tool: &str| calls(id, tool, &json!({"n": 5}));
    let (echo, other) = ("mcp__py__echo", "mcp__py__other");
    let server = Server::new(vec![
        call("c1", echo),
        call("c2", echo),
        call("c3", other),
        call("c4", echo),
        says("Done."),
    ]);
    let got = place.run(&["-p", "go", "--base-url", server.url(), "--allow-tool", "mcp__py__*"], "");
    assert_eq!(got.code, 0, "{got:#?}");
    assert!(got.err.contains("tools that MCP servers have taken away: mcp__py__echo\n"), "{got:#?}");
    let sent = server.completions();
    let offered = |turn: usize| -> Vec<String> {
        let tools = sent[turn].body["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let theirs = |turn: usize| -> Vec<String> {
        offered(turn).into_iter().filter(|name| name.starts_with("mcp__py__")).collect()
    };
    assert_eq!([theirs(0), theirs(1), theirs(2)], [[echo], [other], [other]]);
    assert_eq!([theirs(3), theirs(4)], [[echo], [other]]);
    // All others are there once, as before.
    let others = |turn| {
        let mut names = offered(turn);
        names.retain(|name| !name.starts_with("mcp__py__"));
        names.sort();
        names
    };
    assert!((1..5).all(|turn| others(turn) == others(0)), "{:?}", others(1));
    let last = |turn: usize| {
        sent[turn].body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
    };
    assert!(last(2).contains("unknown tool 'mcp__py__echo'. Did you mean"), "{}", last(2));
    assert!(last(4).contains("\"n\": 5"), "{}", last(4));
}

#[test]
fn a_server_that_failed_or_ended_is_started_anew() {
    let place = Place::new(&[]);
    place.add("py", "dies");
    let late = place.home.path().join("late.py");
    place.run(&["mcp", "add", "late", "--", "python3", &text(&late), "honest"], "");
    let call = calls("c1", "mcp__py__echo", &json!({"n": 5}));
    let server = Server::new(vec![
        call,
        says("Done."),
        calls("c2", "mcp__late__echo", &json!({"n": 7})),
        says("Over."),
    ]);
    let options = ["--base-url", server.url(), "--allow-tool", "mcp__py__*", "--allow-tool", "mcp__late__*"];
    let home = text(place.home.path());
    let mut terminal = Terminal::with(&place.files, &options, 200, &[("HOME", &home)]);
    terminal.until("> ");
    terminal.write("go\r");
    terminal.until("failed: it has ended (exit code 3)");
    terminal.until("Done.");
    terminal.write("/mcp\r");
    terminal.until("MCP server py: it has ended; `/mcp py` starts it anew");
    terminal.until("MCP server late: it has ended (exit code 2)");
    terminal.write("/mcp py\r");
    terminal.until("MCP server py: 1 tool");
    terminal.write("/mcp nobody\r");
    terminal.until("there is no MCP server 'nobody'");
    std::fs::copy(SERVER, &late).unwrap();
    terminal.write("/mcp late\r");
    terminal.until("MCP server late: 1 tool");
    terminal.until("> ");
    terminal.write("again\r");
    terminal.until("Over.");
    terminal.write("exit\r");
    assert_eq!(terminal.end().1, 0);
    let sent = server.completions();
    let offered = |turn: usize| sent[turn].body["tools"].to_string();
    assert!(!offered(0).contains("mcp__late__echo") && offered(2).contains("mcp__late__echo"));
    assert_eq!(offered(2).matches("\"mcp__py__echo\"").count(), 1, "{}", offered(2));
    assert!(sent[3].body["messages"].to_string().contains("\\\"n\\\": 7"), "{}", sent[3].body["messages"]);
}
