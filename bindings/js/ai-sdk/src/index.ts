/** Gives tools to models that have none: they are told in the prompt, and calls are read in the text. */
import type { LanguageModelV4CallOptions, LanguageModelV4Middleware } from "@ai-sdk/provider";
import { type Detail, Dialect, type Tools } from "del-dialects";
import { Answer, content, toParts } from "./answer.js";
import { asked } from "./prompt.js";
import type { Reading } from "./reading.js";

export interface TextToolsOptions {
  /** The dialect in which tools are told and calls are read. Left out, it is that of the model by its id, or `hermes`. */
  dialect?: string | Dialect | undefined;
  /** How much the model is told of its tools. */
  detail?: Detail | undefined;
  /** `"reasoning"` where the model's template ends inside the thinking. */
  startsIn?: "text" | "reasoning" | undefined;
  /** Says behind results which question they are for: very small models forget it. */
  remind?: boolean | undefined;
  /** Options of the provider that hold the server to calls which can be read: see `grammar` of `@del/serving`. */
  constrain?: ((call: Constraint) => LanguageModelV4CallOptions["providerOptions"]) | undefined;
}

/** What a grammar is made of. */
export interface Constraint {
  dialect: Dialect;
  tools: Tools;
  choice: string;
}

/**
 * A middleware for `wrapLanguageModel`. Only tools that the application runs are told; those that the provider runs
 * are left to it. `providerMetadata.del` of a tool call has its `dialect`, and in `guesses` what had to be guessed in its
 * arguments: ask before such a call acts. That of the answer has all `faults`.
 */
export function textTools(options: TextToolsOptions = {}): LanguageModelV4Middleware {
  // The answer is read by what the prompt told. A call's parameters are one object from one to the other.
  const readings = new WeakMap<LanguageModelV4CallOptions, Reading>();
  return {
    specificationVersion: "v4",

    async transformParams({ params, model }) {
      const dialect = chosen(options.dialect, model.modelId);
      const { prompt, tools, choice, taken } = asked(params, dialect, options);
      const provided = params.tools?.filter((tool) => tool.type !== "function") ?? [];
      const { tools: _, toolChoice, ...rest } = params;
      const told: LanguageModelV4CallOptions = { ...rest, prompt };
      if (provided.length > 0) {
        told.tools = provided;
        if (toolChoice) told.toolChoice = toolChoice;
      }
      if (tools && choice !== "none") {
        readings.set(told, { dialect, tools, startsIn: options.startsIn ?? "text", taken });
        const constrained = options.constrain?.({ dialect, tools, choice });
        if (constrained) told.providerOptions = merged(params.providerOptions, constrained);
      }
      return told;
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const reading = readings.get(params);
      if (!reading) return result;
      const answer = new Answer(reading);
      const [texts, others] = [result.content.filter((part) => part.type === "text"), result.content.filter((part) => part.type !== "text")];
      const parts = texts.flatMap((part) => answer.push(part.text));
      parts.push(...answer.finish(result.finishReason.unified === "length"));
      return { ...result, content: [...others, ...content(parts)], ...answer.ending(result) };
    },

    async wrapStream({ doStream, params }) {
      const result = await doStream();
      const reading = readings.get(params);
      if (!reading) return result;
      return { ...result, stream: result.stream.pipeThrough(toParts(reading)) };
    },
  };
}

function chosen(dialect: string | Dialect | undefined, model: string): Dialect {
  if (typeof dialect === "string") return Dialect.get(dialect);
  return dialect ?? Dialect.forModel(model) ?? Dialect.get("hermes");
}

function merged(
  ours: LanguageModelV4CallOptions["providerOptions"],
  more: NonNullable<LanguageModelV4CallOptions["providerOptions"]>,
): NonNullable<LanguageModelV4CallOptions["providerOptions"]> {
  const names = Object.entries(more).map(([name, options]) => [name, { ...ours?.[name], ...options }] as const);
  return { ...ours, ...Object.fromEntries(names) };
}
