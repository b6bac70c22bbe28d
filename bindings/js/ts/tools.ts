import { RawTools } from "../glue/del_dialects.js";
import { checked, guarded, json } from "./errors.js";

/**
 * What a model was told of: definitions as the OpenAI, Anthropic and MCP APIs have them, a list of them, or either as
 * JSON text.
 */
export type AnyTools = Tools | string | object;

/** @internal */
export let rawTools: (tools: Tools) => RawTools;

/** The tools that a model was told of, read once: hand the same object to every parser, rather than the definitions. */
export class Tools {
  readonly #raw: RawTools;

  constructor(tools: AnyTools = []) {
    const text = typeof tools === "string" ? checked("tools", tools) : json("tools", tools);
    this.#raw = guarded(() => new RawTools(text));
  }

  /** The definitions, as the OpenAI API has them. */
  toJSON(): object[] {
    return JSON.parse(this.#raw.definitions()) as object[];
  }

  static {
    rawTools = (tools) => tools.#raw;
  }
}

/**
 * Does something with tools, which are let go behind it where they were made for it.
 *
 * @internal
 */
export function withTools<T>(tools: AnyTools | undefined, work: (raw: RawTools) => T): T {
  if (tools instanceof Tools) return work(rawTools(tools));
  const raw = rawTools(new Tools(tools));
  try {
    return work(raw);
  } finally {
    raw.free();
  }
}
