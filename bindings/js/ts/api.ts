/**
 * Reads and writes the tool calls of language models, whichever dialect they are written in.
 *
 * Places in a text count units of UTF-16, as JavaScript's own strings do.
 */
export { Dialect, dialects, neutralise, restore } from "./dialect.js";
export { DelError } from "./errors.js";
export { Parser, parse, toReadable } from "./read.js";
export {
  renderAnswer,
  renderCalls,
  renderDefinitions,
  renderMessages,
  renderPrompt,
  renderResults,
} from "./render.js";
export { Tools } from "./tools.js";
export type { ErrorCode } from "./errors.js";
export type { ReadOptions } from "./read.js";
export type { AnswerLike, CallLike, CallResult, ChatMessage, Detail, MessageOptions, RenderedMessage } from "./render.js";
export type { AnyTools } from "./tools.js";
export type {
  Answer,
  AnswerEvent,
  AnswerFault,
  ArgumentsEvent,
  Evidence,
  FaultEvent,
  FaultKind,
  ReadEvent,
  ReasoningEvent,
  TextEvent,
  ToolCall,
  ToolCallEndEvent,
  ToolCallStartEvent,
} from "./types.js";
