import { detect as rawDetect } from "../../glue/del_serving.js";
import { checked, guarded } from "../errors.js";

/** What was found out, as `del detect --json` prints it. */
export interface Detection {
  /** The dialect's name; null where there are no tool calls, or no known dialect fits. */
  dialect: string | null;
  /** How sure the answer is, from 0 to 1. */
  confidence: number;
  source: "rules" | "rendering" | "examples" | "text";
  /** What was seen, line by line. */
  evidence: string[];
  /** Whether there are tool calls at all. */
  tool_calls: boolean;
  /** The marks of thinking, where there are any, and whether the prompt ends inside it. */
  reasoning: { begin: string; end: string; prefilled: boolean } | null;
  /** What a user should know. */
  warnings: string[];
  /** A description of how calls are written, as TOML, where it was asked for or no known dialect fits. */
  description: string | null;
}

/**
 * Looks at a chat template, a tokenizer configuration or an answer. A template is run, within limits. `describe` asks for
 * a description also where a known dialect fits.
 */
export function detect(text: string, options: { describe?: boolean | undefined } = {}): Detection {
  const whole = checked("text", text);
  return JSON.parse(guarded(() => rawDetect(whole, Boolean(options.describe)))) as Detection;
}
