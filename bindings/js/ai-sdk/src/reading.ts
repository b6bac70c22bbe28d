import type { Dialect, Tools } from "del-dialects";

/** How the answer to a call is read. */
export interface Reading {
  dialect: Dialect;
  tools: Tools;
  startsIn: "text" | "reasoning";
  /** Ids of calls that the conversation holds already. */
  taken: Set<string>;
}
