// What the page in `web` marks in a text.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Parser, parse } from "del-dialects";
import { CASES, ROOT, TOOLS } from "./cases.js";

const { groups, stretches } = await import(new URL("web/spans.js", ROOT));
const { EXAMPLES } = await import(new URL("web/examples.js", ROOT));

function read(text, options) {
  const parser = new Parser(options);
  return [...parser.push(text), ...parser.finish(options)];
}

test("every case is marked whole, and what is text is marked as text", () => {
  for (const { id, text, dialect, startsIn, cut, declared, expect } of CASES) {
    const events = read(text, { dialect, tools: declared ? TOOLS : [], startsIn, cut });
    const parts = stretches(text, events);
    assert.equal(parts.map((part) => part.text).join(""), text, id);
    // An answer in the form of a call is text that stands there as JSON.
    const said = events.filter((event) => event.type === "text");
    if (said.every((event) => event.end - event.start === event.text.length)) {
      const told = parts.filter((part) => part.kind === "text").map((part) => part.text).join("");
      assert.equal(told, expect.content ?? "", id);
    }
  }
});

test("a call, its arguments, thinking and faults", () => {
  const { text } = EXAMPLES[0];
  const parts = stretches(text, read(text, { tools: TOOLS }));
  const of = (kind) => parts.filter((part) => part.kind === kind).map((part) => part.text).join("");
  assert.equal(of("reasoning"), "They want the weather.");
  assert.equal(of("text").trim(), "I will look. 🌦");
  assert.match(of("name"), /^<tool_call>\n\{"name": "get_weather"/);
  assert.match(of("arguments"), /^\{"city": "Köln", "days": 3/);
  assert.equal(new Set(parts.flatMap((part) => part.faults)).size, 2);
  for (const text of ["", "😀"]) {
    const fault = { type: "fault", start: text.length, end: text.length, message: "here" };
    assert.equal(stretches(text, [fault]).map((part) => part.text).join(""), text);
  }
});

test("dialects that read alike stand together, the best first", () => {
  const { text } = EXAMPLES[1];
  const answers = ["harmony", "qwen3-coder", "mistral-json"].map((name) => ({ name, answer: parse(text, { dialect: name }) }));
  const found = groups(answers);
  assert.deepEqual(found.map((group) => group.names)[0], ["qwen3-coder"]);
  assert.equal(found.flatMap((group) => group.names).length, 3);
});

test("the page runs nothing that does not come from its own files", () => {
  const page = readFileSync(new URL("web/index.html", ROOT), "utf8");
  assert.match(page, /default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'/);
  assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:/);
  assert.doesNotMatch(readFileSync(new URL("web/page.js", ROOT), "utf8"), /innerHTML|outerHTML|insertAdjacentHTML|eval\(|https?:/);
});
