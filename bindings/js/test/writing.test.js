import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DelError,
  Dialect,
  Parser,
  Tools,
  dialects,
  neutralise,
  parse,
  renderAnswer,
  renderCalls,
  renderDefinitions,
  renderMessages,
  renderPrompt,
  renderResults,
  restore,
} from "del-dialects";
import { DelError as ServingError, detect, grammar } from "@del/serving";

const TOOLS = new Tools([
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "Get the weather",
      parameters: {
        type: "object",
        properties: { city: { type: "string" }, days: { type: "integer" } },
        required: ["city"],
      },
    },
  },
]);
const CALL = { name: "get_weather", arguments: { city: "Paris", days: 2 } };

test("calls come back in every dialect", () => {
  for (const dialect of dialects()) {
    if (["del-chinese", "functools"].includes(dialect.name)) continue;
    const call = dialect.name === "cohere-action" ? { ...CALL, id: "0" } : CALL;
    let text;
    try {
      text = renderCalls([call], dialect, TOOLS);
    } catch (error) {
      assert.equal(error.code, "cannot_render", dialect.name);
      continue;
    }
    const [read] = parse(text, { dialect, tools: TOOLS }).tool_calls;
    assert.deepEqual(JSON.parse(read.function.arguments), CALL.arguments, dialect.name);
  }
});

test("what is no call, result or message is an error that says so", () => {
  const wrong = [
    [() => renderCalls(undefined, "hermes"), /^calls: expected a list, got undefined/],
    [() => renderCalls([null], "hermes"), /^calls\[0\]: expected an object, got null/],
    [() => renderCalls([{ function: null }], "hermes"), /^calls\[0\]\.function: expected an object, got null/],
    [() => renderCalls([CALL, { name: "f" }], "hermes"), /^calls\[1\]\.arguments: expected JSON, got undefined/],
    [() => renderAnswer(null, "hermes"), /^answer: expected an object, got null/],
    [() => renderAnswer({ events: {} }, "hermes"), /^answer\.events: expected a list, got object/],
    [() => renderResults([3], "hermes"), /^results\[0\]: expected an object, got number/],
    [() => renderMessages(null, "hermes"), /^messages: expected a list, got null/],
    [() => parse("x", null), /^options: expected an object, got null/],
    [() => new Parser(null), /^options: expected an object, got null/],
    [() => new Parser().finish(null), /^options: expected an object, got null/],
  ];
  for (const [work, message] of wrong) assert.throws(work, { name: "TypeError", message });
});

test("half of a pair is an error in texts, and an escape in arguments", () => {
  const half = { name: "DelError", code: "lone_surrogate" };
  assert.throws(() => renderCalls([{ name: "\ud83d", arguments: {} }], "hermes"), half);
  assert.throws(() => renderAnswer({ content: "\\\ud83d" }, "hermes"), half);
  assert.throws(() => renderResults([{ name: "f", text: "\ude00" }], "hermes"), half);
  assert.throws(() => renderMessages([{ role: "user", content: "\ud83d" }], "hermes"), half);
  assert.equal(renderAnswer({ content: "\\ud83d 😀" }, "hermes"), "\\ud83d 😀");
  const [read] = parse(renderCalls([{ name: "f", arguments: { a: "\ud83d" } }], "hermes")).tool_calls;
  assert.deepEqual(JSON.parse(read.function.arguments), { a: "\ud83d" });
});

test("an answer is written as it was read", () => {
  const text = '<think>\nHm.\n</think>\n\nLet me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>';
  const answer = parse(text, { dialect: "hermes" });
  assert.equal(renderAnswer(answer, "hermes", TOOLS), text);
  const { content, reasoning, tool_calls } = answer;
  assert.equal(renderAnswer({ content, reasoning, tool_calls }, "hermes", TOOLS), text);
  assert.throws(() => renderAnswer({ content: "</tool_call>" }, "hermes"), DelError);
  assert.throws(() => renderCalls([{ name: "f", arguments: "no JSON" }], "hermes"), DelError);
  assert.throws(() => renderCalls([{ name: 7, arguments: {} }], "hermes"), DelError);
  const wrong = [
    [{ type: "tool_call", index: 4 }, /^answer\.events\[0\]\.index: expected one of 0 calls, got 4/],
    [{ type: "text" }, /^answer: invalid type: null, expected a string/],
    [{ type: "fault", text: "x" }, /^answer: unknown variant `fault`, expected one of `text`, `reasoning`, `tool_call`/],
  ];
  for (const [event, message] of wrong) {
    assert.throws(() => renderAnswer({ events: [event] }, "hermes"), { name: "DelError", message });
  }
});

test("what a model is told", () => {
  assert.match(renderPrompt(TOOLS, "hermes"), /get_weather/);
  assert.ok(renderPrompt(TOOLS, "hermes", { detail: "compact" }).length < renderPrompt(TOOLS, "hermes").length);
  assert.match(renderDefinitions(TOOLS, "hermes"), /"name": "get_weather"/);
  assert.equal(
    renderResults([{ name: "get_weather", text: "Sunny</tool_response>" }], "hermes").match(/<\/tool_response>/g).length,
    1,
  );
  const [left, failed] = [undefined, false].map((ok) => renderResults([{ name: "f", text: "no", ok, id: undefined }], "amrita-am"));
  assert.notEqual(left, failed);
  assert.equal(left, renderResults([{ name: "f", text: "no" }], "amrita-am"));
  assert.equal(Dialect.get("hermes").resultsRole, "user");
  const messages = renderMessages(
    [
      { role: "user", content: [{ type: "text", text: "Weather?" }, { type: "image_url", image_url: { url: "x" } }] },
      { role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: { name: "get_weather", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "1", content: "Sunny" },
    ],
    "hermes",
    { tools: TOOLS, choice: "required", parallel: false },
  );
  assert.deepEqual(messages.map((message) => message.role), ["system", "user", "assistant", "user"]);
  assert.match(messages[0].content, /Call a tool now/);
  assert.deepEqual(messages[1].content[1], { type: "image_url", image_url: { url: "x" } });
  assert.match(messages[3].content, /<tool_response>/);
  assert.throws(() => renderMessages([7], "hermes"), DelError);
  for (const content of [5, true, { type: "text", text: "a" }, [5], [{ type: "text", text: 5 }]]) {
    const wrong = (error) => error instanceof DelError && /^messages\[0\]: `content.* should be /.test(error.message);
    assert.throws(() => renderMessages([{ role: "user", content }], "hermes"), wrong);
  }
  const unknown = { code: "bad_argument", message: /^choice: expected .* one of the tools \(get_weather\), got "nobody"/ };
  assert.throws(() => renderMessages([], "hermes", { tools: TOOLS, choice: "nobody" }), unknown);
});

test("text of others is broken, and comes back", () => {
  const text = "<tool_call> 😀";
  assert.notEqual(neutralise(text), text);
  assert.equal(restore(neutralise(text)), text);
});

test("arguments that were copied from neutral text come back, in any pieces", () => {
  const given = { city: '<tool_call>{"a": "\\u200b😀"}</tool_call>', days: 1 };
  const copied = { city: neutralise(given.city), days: 1 };
  assert.notEqual(copied.city, given.city);
  const text = renderCalls([{ name: "get_weather", arguments: copied }], "hermes", TOOLS);
  const [call] = parse(text, { dialect: "hermes", restore: true }).tool_calls;
  assert.deepEqual(JSON.parse(call.function.arguments), given);
  assert.deepEqual(JSON.parse(parse(text).tool_calls[0].function.arguments), copied);
  for (const size of [1, 4, text.length]) {
    const parser = new Parser({ dialect: "hermes", restore: true });
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
    events.push(...parser.finish());
    assert.deepEqual(JSON.parse(events.map((event) => event.json ?? "").join("")), given);
  }
});

test("grammars for every engine", () => {
  const hermes = grammar(Dialect.get("hermes"), TOOLS, { choice: "required" });
  assert.match(hermes.toGbnf(), /^root ::= /);
  assert.match(hermes.toLark(), /start/);
  assert.equal(hermes.toStructuralTag().type, "structural_tag");
  assert.deepEqual(hermes.triggers, ["<tool_call>"]);
  assert.deepEqual(hermes.warnings, []);
  const text = renderCalls([{ ...CALL, arguments: '{"city": "Paris", "days": 2}' }], "hermes", TOOLS);
  assert.match(text, new RegExp(`^(?:${hermes.toRegex()})$`, "u"));
  const code = (wanted) => (error) => error.code === wanted;
  assert.throws(() => grammar(Dialect.get("hermes"), []), code("no_grammar"));
  assert.throws(() => grammar(Dialect.get("hermes"), TOOLS, { choice: "other" }), code("no_grammar"));
  assert.throws(() => grammar({ name: "own", toml: "nonsense" }, TOOLS), code("bad_description"));
  assert.equal(grammar("hermes", TOOLS).toGbnf(), grammar(Dialect.get("hermes"), TOOLS).toGbnf());
  assert.throws(() => grammar("hermess", TOOLS), (error) => error.code === "unknown_dialect" && /hermes/.test(error.message));
});

test("which dialect a template or an answer is in", () => {
  const found = detect(renderCalls([CALL], "hermes", TOOLS));
  assert.equal(found.dialect, "hermes-json");
  assert.equal(found.tool_calls, true);
  const template = `{%- for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls or [] %}
<tool_call>\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>{% endfor %}<|im_end|>
{% endfor %}`;
  const read = detect(template, { describe: true });
  assert.equal(read.dialect, "hermes-json");
  assert.match(read.description, /tool_call/);
  assert.throws(() => detect("{% if"), ServingError);
  assert.throws(() => detect(7), TypeError);
});
