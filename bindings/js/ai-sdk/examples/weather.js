// A question, the call that it takes, and the answer, from a server whose model has no tools: at once, and streamed.
//
//     node examples/weather.js http://127.0.0.1:8080/v1 MODEL
//
// The server is llama.cpp's, which is held to calls that can be read: small models write them only so.
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { textTools } from "@del/ai-sdk";
import { generateText, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { grammar } from "@del/serving";
import { z } from "zod";

const [url, name] = process.argv.slice(2);
const provider = createOpenAICompatible({ name: "llama", baseURL: url });
const model = wrapLanguageModel({
  model: provider(name),
  middleware: textTools({
    dialect: "hermes",
    detail: "compact",
    remind: true,
    constrain: ({ dialect, tools, choice }) => ({ llama: { grammar: grammar(dialect, tools, { choice }).toGbnf() } }),
  }),
});
const question = {
  model,
  prompt: "What is the weather in Paris?",
  tools: {
    get_weather: tool({
      description: "Get the weather of a city.",
      inputSchema: z.object({ city: z.string().describe("The city's name.") }),
      execute: ({ city }) => (assert.equal(city, "Paris"), "sunny, 21 degrees"),
    }),
  },
  temperature: 0,
  maxOutputTokens: 100,
  stopWhen: stepCountIs(2),
  prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "auto" }),
};

function shown(steps, text) {
  const [call] = steps[0].toolCalls;
  console.log("call:  ", call.toolName, JSON.stringify(call.input), `(${call.providerMetadata.del.dialect})`);
  console.log("answer:", text);
  assert.match(text, /21/);
}

console.log("--- at once");
const { steps, text } = await generateText(question);
shown(steps, text);

console.log("--- streamed");
const streamed = streamText(question);
let pieces = 0;
for await (const part of streamed.fullStream) {
  if (part.type === "error") throw part.error;
  pieces += part.type === "tool-input-delta" || part.type === "text-delta";
}
assert.ok(pieces > 2, `${pieces} pieces`);
shown(await streamed.steps, await streamed.text);
