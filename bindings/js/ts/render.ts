import { type Dialect, withDialect } from "./dialect.js";
import { DelError, checked, json, listed, membered, written } from "./errors.js";
import { type AnyTools, withTools } from "./tools.js";
import type { AnswerEvent } from "./types.js";

/** How much a model is told: everything, the types of TypeScript, or what a very small model can take. */
export type Detail = "full" | "types" | "compact";

/** A call, alone or as the OpenAI API has it. `arguments` is JSON text, or an object. */
export type CallLike =
  | { name: string; arguments: string | object; id?: string | null | undefined }
  | { id?: string | null | undefined; function: { name: string; arguments: string | object } };

/** An answer to be written: what `parse` gives, or a message of the OpenAI API. */
export interface AnswerLike {
  content?: string | null | undefined;
  reasoning?: string | null | undefined;
  tool_calls?: CallLike[] | undefined;
  /** The order. Left out, thinking comes first, and calls last. */
  events?: AnswerEvent[] | undefined;
}

/** What running a call gave. `ok` is false when the tool failed or was denied. */
export interface CallResult {
  name: string;
  text: string;
  id?: string | null | undefined;
  ok?: boolean | undefined;
}

/** A message of the OpenAI API, whatever else it has: those of other packages' types are such messages. */
export interface ChatMessage {
  role: string;
  content?: unknown;
  name?: string | undefined;
  tool_calls?: unknown;
  tool_call_id?: string | undefined;
}

/**
 * A message for a model without tools, as the OpenAI API takes it. Content is a list where a part of it is no text; such parts
 * are those that were given.
 */
export type RenderedMessage = Said<"system"> | Said<"developer"> | Said<"user"> | Said<"assistant">;

interface Said<Role extends string> {
  role: Role;
  content: string | any[];
}

export interface MessageOptions {
  tools?: AnyTools | undefined;
  /** `"auto"`, `"none"`, `"required"`, or the name of the tool that has to be called. */
  choice?: string | undefined;
  detail?: Detail | undefined;
  /** False asks for one call at most. */
  parallel?: boolean | undefined;
  /** Says behind results which question they are for: very small models forget it. */
  remind?: boolean | undefined;
}

/**
 * What a model is told in prompt mode: its tools, and how to call one, by an example. What others say in it is
 * neutralised.
 */
export function renderPrompt(
  tools: AnyTools,
  dialect: string | Dialect,
  options: { detail?: Detail | undefined } = {},
): string {
  const detail = checked("detail", options.detail ?? "full");
  return withDialect(dialect, (raw) => withTools(tools, (tools) => raw.renderPrompt(tools, detail)));
}

/** The tools as the family's own chat template shows them, without any words around; neutralised. */
export function renderDefinitions(tools: AnyTools, dialect: string | Dialect): string {
  return withDialect(dialect, (raw) => withTools(tools, (tools) => raw.renderDefinitions(tools)));
}

/** Calls as the model itself writes them. `tools` type the values of dialects that do not write JSON. */
export function renderCalls(calls: CallLike[], dialect: string | Dialect, tools?: AnyTools): string {
  const json = written("calls", plain("calls", calls));
  return withDialect(dialect, (raw) => withTools(tools, (tools) => raw.renderCalls(json, tools)));
}

/** A whole answer as the model itself writes it: thinking, text and calls, in the order of its events. */
export function renderAnswer(answer: AnswerLike, dialect: string | Dialect, tools?: AnyTools): string {
  const { tool_calls, events } = membered("answer", answer);
  const calls = plain("answer.tool_calls", tool_calls ?? []);
  const parts = listed("answer.events", events ?? inOrder(answer)).map((event, at) => {
    membered(`answer.events[${at}]`, event);
    if (event.type !== "tool_call") return { [event.type]: event.text ?? null };
    const call = calls[event.index];
    if (call) return { [event.type]: call };
    const message = `answer.events[${at}].index: expected one of ${calls.length} calls, got ${event.index}`;
    throw new DelError("bad_argument", message);
  });
  const json = written("answer", parts);
  return withDialect(dialect, (raw) => withTools(tools, (tools) => raw.renderAnswer(json, tools)));
}

/** Results as the dialect hands them to the model, neutralised, for one message of the role `Dialect.resultsRole`. */
export function renderResults(results: CallResult[], dialect: string | Dialect): string {
  const json = written(
    "results",
    listed("results", results).map((result, at) => {
      const { ok = true, ...rest } = membered(`results[${at}]`, result);
      return { ...rest, ok };
    }),
  );
  return withDialect(dialect, (raw) => raw.renderResults(json));
}

/**
 * A conversation of the OpenAI API for a model without tools: definitions stand in the system prompt, calls and results
 * are text. What users and tools say is neutralised; content parts that are no text stay what they are.
 */
export function renderMessages<Message extends ChatMessage>(
  messages: readonly Message[],
  dialect: string | Dialect,
  options: MessageOptions = {},
): RenderedMessage[] {
  const json = written("messages", listed("messages", messages));
  const [choice, detail] = [checked("choice", options.choice ?? "auto"), checked("detail", options.detail ?? "full")];
  const [once, remind] = [options.parallel === false, Boolean(options.remind)];
  const rendered = withDialect(dialect, (raw) =>
    withTools(options.tools, (tools) => raw.renderMessages(json, tools, choice, detail, once, remind)),
  );
  return JSON.parse(rendered) as RenderedMessage[];
}

function inOrder(answer: AnswerLike): AnswerEvent[] {
  const events: AnswerEvent[] = [];
  if (answer.reasoning) events.push({ type: "reasoning", text: answer.reasoning });
  if (answer.content) events.push({ type: "text", text: answer.content });
  answer.tool_calls?.forEach((_, index) => events.push({ type: "tool_call", index }));
  return events;
}

function plain(what: string, calls: CallLike[]): { id: string | null; name: string; arguments: string }[] {
  return listed(what, calls).map((call, at) => {
    const alone = membered(`${what}[${at}]`, call);
    const { name, arguments: given } =
      "function" in alone ? membered(`${what}[${at}].function`, alone.function) : alone;
    const text = typeof given === "string" ? given : json(`${what}[${at}].arguments`, given);
    return { id: call.id ?? null, name, arguments: text };
  });
}
