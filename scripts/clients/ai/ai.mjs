// One question, the call that it takes, its result and the answer, with the AI SDK and its providers for each API, in front
// of scripted.py: at once and streamed, for a model that calls by the API, one whose calls leak, and one that takes no tools.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { createOllama } from "ollama-ai-provider-v2";
import { z } from "zod";

const base = process.argv[2];
const openai = createOpenAI({ baseURL: base, apiKey: "none" });
const compatible = createOpenAICompatible({ name: "del", baseURL: base });
const anthropic = createAnthropic({ baseURL: base, apiKey: "none" });
const ollama = createOllama({ baseURL: base.replace(/\/v1$/, "/api") });
const providers = {
  "@ai-sdk/openai responses": (model) => openai.responses(model),
  "@ai-sdk/openai chat": (model) => openai.chat(model),
  "@ai-sdk/openai-compatible": (model) => compatible(model),
  "@ai-sdk/anthropic": (model) => anthropic(model),
  "ollama-ai-provider-v2": (model) => ollama(model),
};

async function converse(model, streamed) {
  const cities = [];
  const execute = async ({ city }) => (cities.push(city), "sunny, 21 degrees");
  const inputSchema = z.object({ city: z.string() });
  const tools = { get_weather: tool({ description: "Get the weather of a city.", inputSchema, execute }) };
  const prompt = "What is the weather in Paris?";
  const request = { model, tools, prompt, stopWhen: stepCountIs(3), maxRetries: 0 };
  const failures = [];
  const answer = streamed
    ? await streamText({ ...request, onError: ({ error }) => failures.push(error) }).text
    : (await generateText(request)).text;
  if (failures.length || cities.join() !== "Paris" || !answer.includes("21")) {
    console.error("expected one call for Paris and an answer with its result, got", cities, answer, ...failures);
    process.exit(1);
  }
}

let lines = 0;
for (const model of ["native", "leaked", "prompt"]) {
  for (const streamed of [false, true]) {
    for (const [name, provider] of Object.entries(providers)) {
      console.log(name, model, streamed ? "streamed" : "at once");
      await converse(provider(model), streamed);
      lines += 1;
    }
  }
}
console.log(`${lines} conversations`);
