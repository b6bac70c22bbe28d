// The types of the OpenAI package go in, and what comes out goes where that takes it.
import type OpenAI from "openai";
import { Tools, parse, renderMessages } from "del-dialects";

export function body(
  messages: OpenAI.ChatCompletionMessageParam[],
  tools: OpenAI.ChatCompletionTool[],
): OpenAI.ChatCompletionCreateParams {
  const rendered: OpenAI.ChatCompletionMessageParam[] = renderMessages(messages, "hermes", { tools: new Tools(tools) });
  const answer: OpenAI.ChatCompletionMessageParam = parse("text", { tools });
  return { model: "qwen3-8b", messages: [...rendered, answer] };
}
