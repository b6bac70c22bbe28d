// How the package is used in TypeScript; it is compiled against what is packed, and not run.
import { type Answer, DelError, Dialect, Parser, type ReadEvent, Tools, parse, renderMessages, toReadable } from "del-dialects";
import { type Detection, Grammar, detect, grammar } from "@del/serving";

const tools = new Tools([{ name: "f", parameters: { type: "object" } }]);
const answer: Answer = parse("text", { dialect: "hermes", tools, startsIn: "reasoning", cut: true });
const name: string | undefined = answer.tool_calls[0]?.function.name;

function shown(event: ReadEvent): string {
  switch (event.type) {
    case "text":
    case "reasoning":
      return event.text;
    case "tool_call_start":
      return `${event.name} ${event.id ?? ""} ${event.dialect}`;
    case "arguments":
      return event.json;
    case "tool_call_end":
      return `${event.index}`;
    case "fault":
      return event.changes_arguments ? event.message : event.kind;
  }
}

export async function read(pieces: ReadableStream<string>): Promise<string[]> {
  const lines = [];
  for await (const event of pieces.pipeThrough(toReadable({ dialect: Dialect.get("glm45") }))) lines.push(shown(event));
  return lines;
}

export function both(): void {
  using parser = new Parser({ tools });
  parser.push(name ?? "").map(shown);
  const found: Detection = detect("text", { describe: true });
  const held: Grammar = grammar(Dialect.get(found.dialect ?? "hermes"), tools, { choice: "required" });
  const messages = renderMessages([{ role: "user", content: "Hi" }], "hermes", { tools, parallel: false });
  console.log(held.toGbnf(), messages[0]?.content, new DelError("bad_tools", "…").code);
}

// @ts-expect-error: there is no such place
parse("text", { startsIn: "nowhere" });
// @ts-expect-error: bytes are no text
new Parser().push(new Uint8Array());
// @ts-expect-error: there is no such event
export const wrong: ReadEvent = { type: "call" };
