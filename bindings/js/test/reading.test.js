import assert from "node:assert/strict";
import { test } from "node:test";
import { DelError, Dialect, Parser, Tools, dialects, parse, toReadable } from "del-dialects";

const CALL = '<tool_call>\n{"name": "list_dir", "arguments": {"path": "日本"}}\n</tool_call>';

const code = (wanted) => (error) => error instanceof DelError && error.code === wanted;

test("places count units of UTF-16, in any pieces", () => {
  const text = `a\u00e9\u00e9日本😀😀b\u0301\n${CALL} 日😀\n</tool_call>\né`;
  const answer = parse(text, { dialect: "hermes" });
  const [known] = answer.evidence;
  assert.equal(text.slice(known.start, known.end), '<tool_call>\n{"name": "list_dir", "arguments": ');
  const [fault] = answer.faults;
  assert.equal(text.slice(fault.start, fault.end), "</tool_call>");
  for (let size = 1; size <= text.length; size++) {
    const parser = new Parser({ dialect: "hermes" });
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
    events.push(...parser.finish());
    for (const event of events) {
      if (event.type === "text") assert.equal(text.slice(event.start, event.end), event.text);
      if (event.type === "fault") assert.deepEqual([event.start, event.end], [fault.start, fault.end]);
      if (event.type === "tool_call_start") assert.deepEqual([event.start, event.end], [known.start, known.end]);
    }
    assert.ok(events.some((event) => event.type === "fault"));
  }
});

test("a pair may be cut, and its half alone is an error that loses nothing", () => {
  const parser = new Parser({ dialect: "hermes" });
  assert.deepEqual(parser.push("a\ud83d").map((event) => event.text), ["a"]);
  assert.deepEqual(parser.push("\ude00").map((event) => event.text), ["😀"]);
  assert.throws(() => parser.push("b\ude00"), code("lone_surrogate"));
  assert.deepEqual(parser.push("c\ud83d").map((event) => event.text), ["c"]);
  assert.throws(() => parser.push("d"), code("lone_surrogate"));
  assert.deepEqual(parser.push("d\ud83d").map((event) => event.text), ["d"]);
  const cut = parser.clone();
  assert.throws(() => parser.finish(), code("lone_surrogate"));
  assert.deepEqual(parser.finish(), []);
  assert.deepEqual(cut.finish({ cut: true }), []);
  assert.throws(() => parse("\ud83d"), code("lone_surrogate"));
  assert.throws(() => new Parser({ dialect: "\ud83d" }), code("lone_surrogate"));
  assert.throws(() => new Tools([{ name: "\ud83d" }]), code("bad_tools"));
});

test("other objects than were asked for are errors", () => {
  const thrower = new Proxy({}, { get: () => { throw new RangeError("hostile"); } });
  for (const text of [undefined, null, 7, {}, [], Symbol("x"), new String("x"), thrower]) {
    assert.throws(() => parse(text), TypeError);
    assert.throws(() => new Parser().push(text), TypeError);
  }
  assert.throws(() => parse("x", thrower), RangeError);
  assert.throws(() => parse("x", { tools: thrower }), RangeError);
  assert.throws(() => parse("x", { tools: { toJSON: () => undefined } }), TypeError);
  assert.throws(() => parse("x", { tools: [{ name: 1n }] }), TypeError);
  const loop = {};
  loop.loop = loop;
  assert.throws(() => new Tools(loop), TypeError);
  assert.throws(() => new Tools(7), code("bad_tools"));
  assert.throws(() => new Tools("[".repeat(100_000)), code("bad_tools"));
  assert.throws(() => new Tools('[{"name": "f"}, {"name": "f"}]'), code("bad_tools"));
  assert.throws(() => parse("x", { dialect: {} }), TypeError);
  assert.throws(() => parse("x", { dialect: new Proxy(Dialect.get("hermes"), {}) }), TypeError);
  assert.throws(() => parse("x", { dialect: Object.create(Dialect.prototype) }), TypeError);
  assert.throws(() => parse("x", { startsIn: "nowhere" }), code("bad_option"));
  assert.throws(() => Parser.prototype.push.call({}, "x"), TypeError);
  assert.throws(() => Dialect.fromToml("nonsense", "own"), code("bad_description"));
  assert.throws(() => Dialect.get("hermess"), (error) => /did you mean hermes/.test(error.message));
  assert.equal(parse(CALL).tool_calls.length, 1, "and all goes on");
});

test("an answer is over once", () => {
  const parser = new Parser({ tools: [] });
  parser.push("Hello.");
  const copy = parser.clone();
  parser.finish();
  assert.throws(() => parser.push("b"), code("finished"));
  assert.throws(() => parser.finish(), code("finished"));
  assert.equal(parser.held, 0);
  assert.equal(copy.push("<tool_")[0], undefined);
  assert.equal(copy.held, 6);
  copy.free();
  copy[Symbol.dispose]();
  assert.throws(() => copy.clone(), code("finished"));
});

test("memory comes back", async () => {
  const tools = new Tools([{ name: "f", description: "x".repeat(1000) }]);
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().external;
  for (let n = 0; n < 20_000; n++) {
    const parser = new Parser({ dialect: "hermes", tools });
    parser.push("<tool_call>".repeat(20));
    parser.free();
  }
  const grown = process.memoryUsage().arrayBuffers + process.memoryUsage().external - before;
  assert.ok(grown < 16 << 20, `${grown} bytes`);
});

test("a stream of pieces becomes one of events", async () => {
  const bytes = new TextEncoder().encode(`Let me look. 😀\n${CALL}`);
  const source = new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 3) controller.enqueue(bytes.slice(at, at + 3));
      controller.close();
    },
  });
  const events = source.pipeThrough(new TextDecoderStream()).pipeThrough(toReadable({ dialect: "hermes" }));
  const types = [];
  let json = "";
  for await (const event of events) {
    if (types.at(-1) !== event.type) types.push(event.type);
    if (event.type === "arguments") json += event.json;
  }
  assert.deepEqual(types, ["text", "tool_call_start", "arguments", "tool_call_end"]);
  assert.deepEqual(JSON.parse(json), { path: "日本" });
});

test("ids of two answers differ", () => {
  const ids = [parse(CALL), parse(CALL)].map((answer) => answer.tool_calls[0].id);
  assert.notEqual(ids[0], ids[1]);
});

test("dialects say what they are", () => {
  const all = dialects();
  assert.ok(all.length > 80);
  assert.equal(new Set(all.map((dialect) => dialect.name)).size, all.length);
  const hermes = Dialect.get("Hermes");
  assert.equal(hermes.name, "hermes-json");
  assert.equal(Dialect.forModel("Qwen/Qwen3-8B").name, "hermes-json");
  assert.equal(Dialect.forModel("nobody/knows-it"), undefined);
  const own = Dialect.fromToml(hermes.toml.replaceAll("tool_call>", "call>"), "own");
  assert.equal(parse('<call>{"name": "f", "arguments": {}}</call>', { dialect: own }).dialect, "own");
});

test("an answer may begin in the thinking", () => {
  assert.equal(parse("hm</think>Hi").reasoning, "hm");
  assert.equal(parse("hm</think>Hi", { startsIn: "text" }).reasoning, null);
  assert.deepEqual(new Parser().push("hm").map((event) => event.text), ["hm"], "a stream is not held");
});
