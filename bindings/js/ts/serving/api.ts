/** For programs that serve models: a package of its own, for others need not load it. */
export { DelError } from "../errors.js";
export { detect } from "./detect.js";
export { Grammar, grammar } from "./grammar.js";
export type { ErrorCode } from "../errors.js";
export type { Detection } from "./detect.js";
export type { GrammarOptions } from "./grammar.js";
