/** Text for the user. */
export interface TextEvent {
  type: "text";
  text: string;
  /** The first unit of the answer that it stands for. */
  start: number;
  /** The unit behind the last. */
  end: number;
}

/** The model's thinking. */
export interface ReasoningEvent {
  type: "reasoning";
  text: string;
  start: number;
  end: number;
}

/** A call begins. Calls never nest or interleave; `index` numbers them in the order of this event. */
export interface ToolCallStartEvent {
  type: "tool_call_start";
  index: number;
  name: string;
  /** The id that the model wrote, if its dialect carries one. */
  id: string | null;
  dialect: string;
  start: number;
  end: number;
}

/** A piece of the call's arguments, as JSON text. All pieces together are one object. */
export interface ArgumentsEvent {
  type: "arguments";
  index: number;
  json: string;
  start: number;
  end: number;
}

/** The call is complete, and its arguments are valid JSON. A call without this event must not run. */
export interface ToolCallEndEvent {
  type: "tool_call_end";
  index: number;
  /** The id that the model wrote, where it stands behind the arguments. */
  id: string | null;
  start: number;
  end: number;
}

export type FaultKind =
  | "unclosed_call"
  | "bad_arguments"
  | "bad_call"
  | "missing_closer"
  | "missing_opener"
  | "orphan_mark"
  | "repaired"
  | "guessed_border"
  | "guessed_value"
  | "double_encoded"
  | "duplicate_key"
  | "invented_result"
  | "unclosed_reasoning"
  | "reasoning_not_opened"
  | "wrong_type"
  | "not_declared"
  | "limit";

/** Something was wrong with what the model wrote, or was mended. */
export interface FaultEvent {
  type: "fault";
  /** The call that it belongs to. */
  index: number | null;
  kind: FaultKind;
  message: string;
  /** There where a value may be another than the model meant: ask before the call acts. */
  changes_arguments?: true;
  start: number;
  end: number;
}

/** What a parser says, as `del parse --events` prints it. */
export type ReadEvent =
  | TextEvent
  | ReasoningEvent
  | ToolCallStartEvent
  | ArgumentsEvent
  | ToolCallEndEvent
  | FaultEvent;

/** A complete call, as the OpenAI API has it. */
export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A stretch of an answer, in the order in which the model wrote it. */
export type AnswerEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool_call"; index: number };

/** A fault of a whole answer. */
export interface AnswerFault {
  kind: FaultKind;
  message: string;
  changes_arguments?: true;
  /** The place in `tool_calls` of the call that it belongs to. */
  index?: number;
  /** The name of a call that does not count, */
  name?: string;
  /** and what there was of its arguments. */
  arguments?: string;
  start: number;
  end: number;
}

/** The markup by which a call was known: from its first unit to where the arguments begin. */
export interface Evidence {
  index: number;
  dialect: string;
  start: number;
  end: number;
}

/** A whole answer, as `del parse` prints it: an assistant message of the OpenAI API, and what that has no word for. */
export interface Answer {
  /** The dialect of the first call. */
  dialect: string | null;
  role: "assistant";
  /** The text without markup; null where nothing but white space is left. */
  content: string | null;
  reasoning: string | null;
  tool_calls: ToolCall[];
  events: AnswerEvent[];
  faults: AnswerFault[];
  evidence: Evidence[];
}
