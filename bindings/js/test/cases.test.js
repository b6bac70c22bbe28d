// Every case of every dialect, whole and in pieces: what Rust reads, JavaScript is told.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Dialect, Parser, Tools, parse, renderAnswer } from "del-dialects";
import { CASES, TOOLS } from "./cases.js";

const DECLARED = new Tools(TOOLS);

/** What is expected, in the shape of `collected`. */
function expected({ expect }) {
  const calls = (expect.calls ?? []).map(({ name, arguments: json, id }) => [name, json, id ?? null]);
  return { content: expect.content ?? "", reasoning: expect.reasoning ?? "", calls, faults: expect.faults ?? [] };
}

function collected(events) {
  const found = { content: "", reasoning: "", calls: [], faults: [] };
  let open;
  for (const event of events) {
    if (event.type === "text") found.content += event.text;
    else if (event.type === "reasoning") found.reasoning += event.text;
    else if (event.type === "tool_call_start") open = { index: event.index, call: [event.name, "", event.id] };
    else if (event.type === "arguments") open.call[1] += event.json;
    else if (event.type === "tool_call_end") found.calls.push([open.call[0], open.call[1], open.call[2] ?? event.id]);
    else if (event.type === "fault") found.faults.push(event.kind);
    else assert.fail(`an event of type ${event.type}`);
    if ("index" in event && event.type !== "fault") assert.equal(event.index, open.index);
  }
  return found;
}

function pieces(text, size) {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
}

for (const dialect of new Set(CASES.map((one) => one.dialect))) {
  test(dialect, () => {
    for (const one of CASES.filter((one) => one.dialect === dialect)) {
      const options = { dialect, tools: one.declared ? DECLARED : undefined, startsIn: one.startsIn ?? "text" };
      const wanted = expected(one);
      const answer = parse(one.text, { ...options, cut: one.cut });
      const parts = (type) => answer.events.filter((event) => event.type === type).map((event) => event.text).join("");
      const whole = {
        content: parts("text"),
        reasoning: parts("reasoning"),
        calls: answer.tool_calls.map((call, at) => [
          call.function.name,
          call.function.arguments,
          wanted.calls[at]?.[2] && call.id,
        ]),
        faults: answer.faults.map((fault) => fault.kind),
      };
      assert.deepEqual(whole, wanted, one.id);
      if (one.expect.cut_call) {
        const lost = answer.faults.find((fault) => fault.name !== undefined);
        const { name, arguments: json } = one.expect.cut_call;
        assert.deepEqual([lost.name, lost.arguments], [name, json], one.id);
      }
      if (one.canonical && one.startsIn === undefined) {
        // An id that the model has not written is not written either.
        const calls = answer.tool_calls.map((call, at) => ({ ...call, id: wanted.calls[at][2] }));
        assert.equal(renderAnswer({ ...answer, tool_calls: calls }, dialect, options.tools), one.text, one.id);
      }
      for (const size of [1, 3, one.text.length + 1]) {
        const parser = new Parser(options);
        const events = pieces(one.text, size).flatMap((piece) => parser.push(piece));
        events.push(...parser.finish({ cut: one.cut }));
        assert.deepEqual(collected(events), wanted, `${one.id} in pieces of ${size}`);
        for (const { start, end } of events) assert.ok(start <= end && end <= one.text.length, one.id);
      }
    }
  });
}

test("there are cases of every dialect", () => {
  assert.ok(CASES.length > 1500, `${CASES.length}`);
  assert.equal(Dialect.get("vllm:mistral").name, "mistral-json");
});
