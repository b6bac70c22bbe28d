/** What a model wrote, as parts of the AI SDK's streams and answers. */
import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { DelError, type FaultEvent, Parser, type ReadEvent } from "del-dialects";
import type { Reading } from "./reading.js";

/** The part that is open: a stretch of text or thinking, or a call. */
type Open =
  | { type: "text" | "reasoning"; id: string }
  | { type: "call"; id: string; index: number; name: string; dialect: string; input: string };

/** Parts of a stream that are no content. */
const BESIDE: readonly string[] = ["stream-start", "response-metadata", "raw", "ping", "error"];

/** Reads the text of one answer, and tells it in parts. What was guessed in a call is known when the answer is over. */
export class Answer {
  readonly #parser: Parser;
  readonly #taken: Set<string>;
  readonly #faults: FaultEvent[] = [];
  /** For each call the list of its part, which grows. */
  readonly #guesses = new Map<number, string[]>();
  #open: Open | undefined;
  #blocks = 0;
  #called = false;

  constructor({ dialect, tools, startsIn, taken }: Reading) {
    this.#parser = new Parser({ dialect, tools, startsIn, restore: true });
    this.#taken = new Set(taken);
  }

  /** The next piece of text. */
  push(text: string): LanguageModelV4StreamPart[] {
    const read = tolerant(
      () => this.#parser.push(text),
      () => this.#parser.push(text.toWellFormed()),
    );
    return read.flatMap((event) => this.#told(event));
  }

  /** The answer is over. */
  finish(cut: boolean): LanguageModelV4StreamPart[] {
    const finish = (): ReadEvent[] => this.#parser.finish({ cut });
    return [...tolerant(finish, finish).flatMap((event) => this.#told(event)), ...this.#close()];
  }

  /** Ends a stretch before content that is not from the text. A call goes on behind it. */
  pause(): LanguageModelV4StreamPart[] {
    return this.#open?.type === "call" ? [] : this.#close();
  }

  /** Why the answer ended, and what was wrong with it. */
  ending(said: { finishReason: LanguageModelV4FinishReason; providerMetadata?: SharedV4ProviderMetadata }): {
    finishReason: LanguageModelV4FinishReason;
    providerMetadata: SharedV4ProviderMetadata;
  } {
    const { unified, raw } = said.finishReason;
    const calls = this.#called && ["stop", "other"].includes(unified);
    const faults = this.#faults.map(({ kind, message, start, end }) => ({ kind, message, start, end }));
    return {
      finishReason: calls ? { unified: "tool-calls", raw } : said.finishReason,
      providerMetadata: { ...said.providerMetadata, del: { ...said.providerMetadata?.["del"], faults } },
    };
  }

  #told(event: ReadEvent): LanguageModelV4StreamPart[] {
    switch (event.type) {
      case "text":
      case "reasoning":
        return this.#stretch(event.type, event.text);
      case "tool_call_start": {
        const parts = this.#close();
        const { index, name, dialect } = event;
        const id = this.#id(event.id);
        this.#open = { type: "call", id, index, name, dialect, input: "" };
        this.#guesses.set(index, []);
        return [...parts, { type: "tool-input-start", id, toolName: name }];
      }
      case "arguments":
        if (this.#open?.type !== "call") return [];
        this.#open.input += event.json;
        return [{ type: "tool-input-delta", id: this.#open.id, delta: event.json }];
      case "tool_call_end":
        return this.#whole();
      case "fault":
        this.#faults.push(event);
        if (event.changes_arguments && event.index !== null) this.#guesses.get(event.index)?.push(event.kind);
        return [];
    }
  }

  #close(): LanguageModelV4StreamPart[] {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return [];
    return [{ type: open.type === "call" ? "tool-input-end" : `${open.type}-end`, id: open.id }];
  }

  #stretch(type: "text" | "reasoning", delta: string): LanguageModelV4StreamPart[] {
    if (this.#open?.type === type) return [{ type: `${type}-delta`, id: this.#open.id, delta }];
    const parts = this.#close();
    const id = `del-${this.#blocks++}`;
    this.#open = { type, id };
    return [...parts, { type: `${type}-start`, id }, { type: `${type}-delta`, id, delta }];
  }

  #whole(): LanguageModelV4StreamPart[] {
    const open = this.#open;
    if (open?.type !== "call") return [];
    this.#called = true;
    const { id, index, name, dialect, input } = open;
    const providerMetadata = { del: { dialect, guesses: this.#guesses.get(index) ?? [] } };
    return [...this.#close(), { type: "tool-call", toolCallId: id, toolName: name, input, providerMetadata }];
  }

  /** The model's own id, where the conversation has none like it. */
  #id(own: string | null): string {
    const id = own && !this.#taken.has(own) ? own : `call_${crypto.randomUUID()}`;
    this.#taken.add(id);
    return id;
  }
}

/** What a model writes is never an error: half of a surrogate pair is left out, or becomes the sign for what is no text. */
function tolerant(read: () => ReadEvent[], again: () => ReadEvent[]): ReadEvent[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof DelError && error.code === "lone_surrogate") return again();
    throw error;
  }
}

/** Parts of a stream as the content of a whole answer. */
export function content(parts: LanguageModelV4StreamPart[]): LanguageModelV4Content[] {
  const whole: LanguageModelV4Content[] = [];
  for (const part of parts) {
    if (part.type === "text-start") whole.push({ type: "text", text: "" });
    else if (part.type === "reasoning-start") whole.push({ type: "reasoning", text: "" });
    else if (part.type === "text-delta" || part.type === "reasoning-delta") {
      const last = whole.at(-1);
      if (last?.type === "text" || last?.type === "reasoning") last.text += part.delta;
    } else if (part.type === "tool-call") whole.push(part);
  }
  return whole.filter((part) => part.type !== "text" || part.text.trim() !== "");
}

/**
 * A model's stream with the calls in its text as parts. A call's input comes as it is written, and the call, which may run at
 * once, when the answer is over: what stands behind it may make it doubtful.
 */
export function toParts(reading: Reading): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  const answer = new Answer(reading);
  const calls: LanguageModelV4StreamPart[] = [];
  let over = false;
  type Controller = TransformStreamDefaultController<LanguageModelV4StreamPart>;
  const tell = (parts: LanguageModelV4StreamPart[], controller: Controller): void => {
    for (const part of parts) {
      if (part.type === "tool-call") calls.push(part);
      else controller.enqueue(part);
    }
  };
  const end = (cut: boolean, controller: Controller): void => {
    over = true;
    tell(answer.finish(cut), controller);
    for (const call of calls) controller.enqueue(call);
  };
  return new TransformStream({
    transform(part, controller) {
      switch (part.type) {
        case "text-start":
        case "text-end":
          return;
        case "text-delta":
          return tell(answer.push(part.delta), controller);
        case "finish":
          end(part.finishReason.unified === "length", controller);
          return controller.enqueue({ ...part, ...answer.ending(part) });
        default:
          if (!BESIDE.includes(part.type)) tell(answer.pause(), controller);
          controller.enqueue(part);
      }
    },
    flush(controller) {
      if (!over) end(true, controller);
    },
  });
}
