/** A conversation with tools as one without. */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { type ChatMessage, type Detail, type Dialect, Tools, renderMessages } from "del-dialects";

/** How the model is told. */
interface Told {
  detail?: Detail | undefined;
  remind?: boolean | undefined;
}

/** The prompt that the model gets. */
export interface Asked {
  prompt: LanguageModelV4Prompt;
  /** The tools that it tells of, if there are any. */
  tools: Tools | undefined;
  choice: string;
  /** Ids of calls in it. */
  taken: Set<string>;
}

type Part = Exclude<LanguageModelV4Message["content"], string>[number];

/** A content part that is no text, as its place in a list. */
interface Other {
  type: "other";
  place: number;
}

export function asked(params: LanguageModelV4CallOptions, dialect: Dialect, told: Told): Asked {
  const functions = params.tools?.filter((tool) => tool.type === "function") ?? [];
  const tools = new Tools(
    functions.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })),
  );
  const others: Part[] = [];
  const taken = new Set<string>();
  const { toolChoice } = params;
  const named = toolChoice?.type === "tool" ? toolChoice.toolName : undefined;
  // Where the provider's tool is demanded, the application's are not to be called.
  const provided = params.tools?.some((tool) => tool.type === "provider" && tool.name === named);
  const choice = provided ? "none" : (named ?? toolChoice?.type ?? "auto");
  const messages = params.prompt.flatMap((message) => written(message, others, taken));
  const rendered = renderMessages(messages, dialect, { tools, choice, detail: told.detail, remind: told.remind });
  return {
    prompt: rendered.map((message) => read(message, others)),
    tools: functions.length > 0 ? tools : undefined,
    choice,
    taken,
  };
}

/** A message as the OpenAI API has it. Thinking of earlier turns is left out, as models' own templates do. */
function written(message: LanguageModelV4Message, others: Part[], taken: Set<string>): ChatMessage[] {
  const more = message.providerOptions ? { providerOptions: message.providerOptions } : {};
  const other = (part: Part): Other => ({ type: "other", place: others.push(part) - 1 });
  switch (message.role) {
    case "system":
      return [{ ...more, role: "system", content: message.content }];
    case "user":
      return [{ ...more, role: "user", content: message.content.map((part) => (part.type === "text" ? text(part) : other(part))) }];
    case "tool":
      return message.content.flatMap((part) => (part.type === "tool-result" ? [result(part, other)] : []));
    case "assistant": {
      const calls = [];
      const content = [];
      for (const part of message.content) {
        if (part.type === "text") content.push(text(part));
        else if (part.type === "tool-call" && !part.providerExecuted) {
          taken.add(part.toolCallId);
          const input = typeof part.input === "string" ? part.input : JSON.stringify(part.input ?? {});
          calls.push({ id: part.toolCallId, type: "function", function: { name: part.toolName, arguments: input } });
        } else if (part.type !== "reasoning" && part.type !== "reasoning-file") content.push(other(part));
      }
      const said = content.every((part) => part.type === "text") ? content.map((part) => part.text).join("") : content;
      return [{ ...more, role: "assistant", content: said, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
    }
  }
}

function text({ text }: { text: string }): { type: "text"; text: string } {
  return { type: "text", text };
}

function result(part: LanguageModelV4ToolResultPart, other: (part: Part) => Other): ChatMessage {
  const { output } = part;
  const said = (content: unknown): ChatMessage => ({
    role: "tool",
    tool_call_id: part.toolCallId,
    name: part.toolName,
    content,
  });
  switch (output.type) {
    case "text":
    case "error-text":
      return said(output.value);
    case "json":
    case "error-json":
      return said(JSON.stringify(output.value));
    case "execution-denied":
      return said(output.reason ?? "The user did not allow this call.");
    case "content":
      return said(
        output.value.map((piece) => (piece.type === "text" ? text(piece) : other(piece as Part))),
      );
  }
}

/** A message for the model. */
function read(message: ChatMessage & { providerOptions?: unknown }, others: Part[]): LanguageModelV4Message {
  const parts = Array.isArray(message.content)
    ? (message.content as (Other | { type: "text"; text: string })[]).map((part) =>
        part.type === "other" ? others[part.place] : part,
      )
    : [{ type: "text", text: message.content }];
  const { role, providerOptions } = message;
  const content = role === "system" ? message.content : parts;
  return { role, content, ...(providerOptions ? { providerOptions } : {}) } as LanguageModelV4Message;
}
