/** For programs that serve models. A module of its own, for others need not load it. */
export { detect } from "./detect.js";
export { Grammar, grammar } from "./grammar.js";
export type { Detection } from "./detect.js";
export type { GrammarOptions } from "./grammar.js";
