import { RawParser } from "../glue/del_dialects.js";
import { Dialect, withDialect } from "./dialect.js";
import { DelError, checked, guarded, membered } from "./errors.js";
import { type AnyTools, withTools } from "./tools.js";
import type { Answer, ReadEvent } from "./types.js";

/** What is known of an answer before its first character. */
export interface ReadOptions {
  /** `"auto"` for all at once, which is the default; the name of one, or one of its aliases; or a `Dialect`. */
  dialect?: string | Dialect | undefined;
  /** What the model was told of. Dialects without JSON need them to tell a number from a text. */
  tools?: AnyTools | undefined;
  /**
   * `"text"`; `"reasoning"` where the prompt ended inside the thinking; `"unknown"` where nobody says: then what stands before
   * a mark that ends thinking, and that nothing opened, is thinking. Left out, `parse` takes `"unknown"`, and what reads a
   * stream `"text"`, as with `"unknown"` text may be held until the end.
   */
  startsIn?: "text" | "reasoning" | "unknown" | undefined;
  /** Gives arguments back as they were before their text was neutralised: where `renderMessages` wrote the prompt. */
  restore?: boolean | undefined;
}

/** Reads a whole answer. `cut` says that it was cut off, and did not end by itself. */
export function parse(text: string, options: ReadOptions & { cut?: boolean | undefined } = {}): Answer {
  const whole = checked("text", text);
  return JSON.parse(opened(options, "unknown").read(whole, Boolean(membered("options", options).cut), anyNumber())) as Answer;
}

/** Reads one answer as it arrives: `push` each piece, then `finish`. How the text is cut does not show in the events. */
export class Parser {
  /** None when the answer is over. */
  #raw: RawParser | undefined;
  /** The first half of a surrogate pair whose second is to come. */
  #half = "";

  constructor(options?: ReadOptions);
  constructor(options: ReadOptions | RawParser = {}) {
    this.#raw = options instanceof RawParser ? options : opened(options, "text");
  }

  /**
   * The next piece of the answer; returns everything that is settled by it. A piece with half of a surrogate pair in it is
   * an error, and is not read.
   */
  push(text: string): ReadEvent[] {
    const raw = this.#open();
    if (typeof text !== "string") checked("text", text);
    const whole = this.#half + text;
    this.#half = "";
    const half = /[\uD800-\uDBFF]$/.exec(whole)?.[0] ?? "";
    const events = raw.push(checked("text", whole.slice(0, whole.length - half.length)));
    this.#half = half;
    return list(events);
  }

  /**
   * The answer is over; returns what was held. `cut` says that it was cut off, and did not end by itself: then half of a
   * surrogate pair at its end is no error.
   */
  finish(options: { cut?: boolean | undefined } = {}): ReadEvent[] {
    const raw = this.#open();
    const cut = Boolean(membered("options", options).cut);
    const half = this.#half;
    this.#half = "";
    if (!cut) checked("text", half);
    this.#raw = undefined;
    return list(raw.finish(cut));
  }

  /** How many bytes of UTF-8 are held back, because they may be part of markup. */
  get held(): number {
    return this.#raw?.held() ?? 0;
  }

  /** A parser that reads on from the same place. */
  clone(): Parser {
    const parser = new Parser(this.#open().copy() as object);
    parser.#half = this.#half;
    return parser;
  }

  /** Lets go of the memory of an answer that is not read to its end. The garbage collector does so too, later. */
  free(): void {
    this.#raw?.free();
    this.#raw = undefined;
  }

  [Symbol.dispose](): void {
    this.free();
  }

  #open(): RawParser {
    if (this.#raw) return this.#raw;
    throw new DelError("finished", "expected an answer that goes on, got one that is over: use a new Parser");
  }
}

/** Makes events of the pieces of one answer: `answer.pipeThrough(toReadable({ tools }))`. */
export function toReadable(options: ReadOptions = {}): TransformStream<string, ReadEvent> {
  const parser = new Parser(options);
  return new TransformStream({
    transform(piece, controller) {
      for (const event of parser.push(piece)) controller.enqueue(event);
    },
    flush(controller) {
      for (const event of parser.finish()) controller.enqueue(event);
    },
  });
}

/** A parser; `starts` is where the answer starts when the options do not say. */
function opened(options: ReadOptions, starts: "text" | "unknown"): RawParser {
  const { dialect = "auto", tools, startsIn = starts, restore = false } = membered("options", options);
  const start = checked("startsIn", startsIn);
  return withTools(tools, (rawTools) =>
    dialect === "auto"
      ? guarded(() => RawParser.auto(rawTools, start, Boolean(restore)))
      : withDialect(dialect, (raw) => RawParser.of(raw, rawTools, start, Boolean(restore))),
  );
}

/** Ids have to differ, and need not be secret: in Node the first number of `crypto` takes milliseconds. */
function anyNumber(): bigint {
  const [high, low] = [Math.random(), Math.random()].map((number) => BigInt(Math.floor(number * 2 ** 32)));
  return ((high ?? 0n) << 32n) | (low ?? 0n);
}

function list(json: string): ReadEvent[] {
  return json === "" ? [] : (JSON.parse(json) as ReadEvent[]);
}
