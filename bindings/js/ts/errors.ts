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
    throw new TypeError(`${what}: expected a string, got ${value === null ? "null" : typeof value}`);
  }
  if (!value.isWellFormed()) {
    throw new DelError("lone_surrogate", `${what}: expected text, got half of a surrogate pair in it`);
  }
  return value;
}

/** The value as JSON text. */
export function json(what: string, value: unknown): string {
  const text: unknown = JSON.stringify(value);
  if (typeof text !== "string") throw new TypeError(`${what}: expected JSON, got ${typeof value}`);
  return text;
}
