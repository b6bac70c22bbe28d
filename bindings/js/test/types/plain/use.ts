// A program for Node, which knows nothing of browsers: the package's types need nothing of these.
import { type Answer, type ChatMessage, Dialect, Parser, Tools, parse, renderAnswer, renderCalls, renderMessages } from "del-dialects";
import { grammar } from "@del/serving";

interface Said {
  role: "user";
  content: string;
}
const said: Said[] = [{ role: "user", content: "Hi" }];
const asConst = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }] as const;

const answer: Answer = parse("text", { tools: asConst });
new Parser({ dialect: Dialect.get("hermes"), tools: new Tools(asConst) }).push(renderAnswer(answer, "hermes"));
renderCalls(answer.tool_calls, "hermes");
const messages: ChatMessage[] = renderMessages(said, "hermes", { tools: asConst });
renderMessages([...messages, { role: "tool", tool_call_id: "c1", content: "Sunny", more: 1 }], "hermes");
grammar("hermes", asConst).toGbnf();

// @ts-expect-error: a message has a role
renderMessages([{ content: "Hi" }], "hermes");
