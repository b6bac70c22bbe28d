// The same as apis.py, with the JavaScript clients.

import { isDeepStrictEqual } from "node:util";

import Anthropic from "@anthropic-ai/sdk";
import { Ollama } from "ollama";
import OpenAI from "openai";

const base = process.argv[2];
const root = base.replace(/\/v1$/, "");
const openai = new OpenAI({ baseURL: base, apiKey: "none", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: root, apiKey: "none", maxRetries: 0 });
const ollama = new Ollama({ host: root });

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const about = { name: "get_weather", description: "Get the weather of a city." };
const question = "What is the weather in Paris?";
const result = "sunny, 21 degrees";

function check(got, expected) {
  if (!isDeepStrictEqual(got, expected)) {
    console.error("expected", expected, "got", got);
    process.exit(1);
  }
}

async function completions(model, stream) {
  const messages = [{ role: "user", content: question }];
  const tools = [{ type: "function", function: { ...about, parameters } }];
  const ask = async () =>
    stream
      ? (await openai.chat.completions.stream({ model, messages, tools }).finalChatCompletion()).choices[0]
      : (await openai.chat.completions.create({ model, messages, tools })).choices[0];
  const { message, finish_reason } = await ask();
  check([finish_reason, message.tool_calls.length], ["tool_calls", 1]);
  const { id, function: call } = message.tool_calls[0];
  check([call.name, JSON.parse(call.arguments)], ["get_weather", { city: "Paris" }]);
  messages.push({ role: "assistant", content: message.content, tool_calls: [{ id, type: "function", function: { name: call.name, arguments: call.arguments } }] });
  messages.push({ role: "tool", tool_call_id: id, content: result });
  const answer = await ask();
  check([answer.finish_reason, answer.message.content.includes("21")], ["stop", true]);
}

async function responses(model, stream) {
  const input = [{ role: "user", content: question }];
  const tools = [{ type: "function", ...about, parameters, strict: false }];
  const ask = (more) =>
    stream
      ? openai.responses.stream({ model, input, tools, ...more }).finalResponse()
      : openai.responses.create({ model, input, tools, ...more });
  const first = await ask();
  const call = first.output.find((item) => item.type === "function_call");
  check([call.name, JSON.parse(call.arguments)], ["get_weather", { city: "Paris" }]);
  const output = { type: "function_call_output", call_id: call.call_id, output: result };
  const remembered = await ask({ previous_response_id: first.id, input: [output] });
  check(remembered.output_text.includes("21"), true);
  input.push(...first.output.map(({ parsed_arguments, ...item }) => item), output);
  const answer = await ask();
  check([answer.output_text.includes("21"), answer.status], [true, "completed"]);
}

async function messages(model, stream) {
  const messages = [{ role: "user", content: question }];
  const request = { model, messages, max_tokens: 1000, tools: [{ ...about, input_schema: parameters }] };
  const ask = () => (stream ? anthropic.messages.stream(request).finalMessage() : anthropic.messages.create(request));
  const first = await ask();
  const call = first.content.find((block) => block.type === "tool_use");
  check([first.stop_reason, call.name, call.input], ["tool_use", "get_weather", { city: "Paris" }]);
  messages.push({ role: "assistant", content: first.content });
  messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: result }] });
  const answer = await ask();
  check([answer.stop_reason, answer.content[0].text.includes("21")], ["end_turn", true]);
}

async function llama(model, stream) {
  const messages = [{ role: "user", content: question }];
  const tools = [{ type: "function", function: { ...about, parameters } }];
  const ask = async () => {
    if (!stream) return (await ollama.chat({ model, messages, tools })).message;
    const all = { role: "assistant", content: "", tool_calls: [] };
    for await (const part of await ollama.chat({ model, messages, tools, stream: true })) {
      all.content += part.message.content;
      all.tool_calls.push(...(part.message.tool_calls ?? []));
    }
    return all;
  };
  const first = await ask();
  check(first.tool_calls.map((call) => [call.function.name, call.function.arguments]), [["get_weather", { city: "Paris" }]]);
  messages.push(first, { role: "tool", tool_name: "get_weather", content: result });
  check((await ask()).content.includes("21"), true);
}

let lines = 0;
for (const model of ["native", "leaked", "prompt"]) {
  for (const stream of [false, true]) {
    for (const converse of [completions, responses, messages, llama]) {
      console.log(`${converse.name} ${model} ${stream ? "streamed" : "at once"}`);
      await converse(model, stream);
      lines += 1;
    }
  }
}
console.log(`${lines} conversations`);
