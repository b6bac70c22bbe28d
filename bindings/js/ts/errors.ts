const CODES = [
  "bad_argument",
  "bad_description",
  "bad_option",
  "bad_tools",
  "cannot_detect",
  "cannot_render",
  "finished",
  "lone_surrogate",
  "no_grammar",
  "unknown_dialect",
] as const;

export type ErrorCode = (typeof CODES)[number];

/** Something that was asked for cannot be done. What a model wrote is never an error. */
export class DelError extends Error {
  override readonly name = "DelError";

  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** What `work` returns. The module's own errors, which carry their code as name, become a `DelError`. */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error ? CODES.find((code) => code === error.name) : undefined;
    throw code === undefined ? error : new DelError(code, (error as Error).message);
  }
}

/** The value, if it is a text that UTF-8 can hold. */
export function checked(what: string, value: unknown): string {
  if (typeof value !== "string") {
    throw new TypeError(`${what}: expected a string, got ${kind(value)}`);
  }
  if (!value.isWellFormed()) throw half(what);
  return value;
}

/** The value, if it is a list. */
export function listed<T>(what: string, value: readonly T[]): readonly T[] {
  if (!Array.isArray(value)) throw new TypeError(`${what}: expected a list, got ${kind(value)}`);
  return value;
}

/** The value, if it has members. */
export function membered<T extends object>(what: string, value: T): T {
  if (typeof value !== "object" || value === null) throw new TypeError(`${what}: expected an object, got ${kind(value)}`);
  return value;
}

/** The value as JSON text. */
export function json(what: string, value: unknown): string {
  const text: unknown = JSON.stringify(value);
  if (typeof text !== "string") throw new TypeError(`${what}: expected JSON, got ${kind(value)}`);
  return text;
}

/** The same, if UTF-8 can hold every text in it: half of a surrogate pair is all that JSON writes as such an escape. */
export function written(what: string, value: unknown): string {
  const text = json(what, value);
  if (/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text)) throw half(what);
  return text;
}

function half(what: string): DelError {
  return new DelError("lone_surrogate", `${what}: expected text, got half of a surrogate pair in it`);
}

function kind(value: unknown): string {
  return value === null ? "null" : typeof value;
}
