import { RawGrammar, RawTools } from "../../glue/del_serving.js";
import { checked, guarded, json } from "../errors.js";

export interface GrammarOptions {
  /** `"auto"` for text or calls, `"required"` for calls and nothing else, or the name of the tool that is to be called. */
  choice?: string | undefined;
  /** Whether an answer may hold several calls; true if left out. */
  parallel?: boolean | undefined;
  /** Whether a thought may come before required calls. */
  thinking?: boolean | undefined;
}

/** What a model may write, as a grammar. Each engine has its own notation. */
export class Grammar {
  readonly #raw: RawGrammar;

  constructor(
    /** The dialect: its name, or one of its aliases; or a description with a name, as a `Dialect` of `del-dialects` is. */
    dialect: string | { name: string; toml: string },
    /** Definitions as the OpenAI, Anthropic and MCP APIs have them, as JSON text, or `Tools`. */
    tools: string | object,
    options: GrammarOptions = {},
  ) {
    const [name, toml] =
      typeof dialect === "string"
        ? [checked("dialect", dialect), undefined]
        : [checked("dialect.name", dialect.name), checked("dialect.toml", dialect.toml)];
    const choice = checked("choice", options.choice ?? "auto");
    const text = typeof tools === "string" ? checked("tools", tools) : json("tools", tools);
    const raw = guarded(() => new RawTools(text));
    try {
      const [parallel, thinking] = [options.parallel !== false, Boolean(options.thinking)];
      this.#raw = guarded(() => RawGrammar.of(name, toml, raw, choice, parallel, thinking));
    } finally {
      raw.free();
    }
  }

  /** Texts by which calls begin, for a sampler that waits for one of them. */
  get triggers(): string[] {
    return this.#raw.triggers();
  }

  /** What the schemas ask and the grammar does not hold a model to. */
  get warnings(): string[] {
    return this.#raw.warnings();
  }

  /** The grammar for llama.cpp. */
  toGbnf(): string {
    return this.#raw.toGbnf();
  }

  /** The grammar for llguidance. */
  toLark(): string {
    return this.#raw.toLark();
  }

  /** The grammar for XGrammar, as vLLM and SGLang take it. */
  toStructuralTag(): { type: "structural_tag"; format: object } {
    return JSON.parse(this.#raw.toStructuralTag()) as { type: "structural_tag"; format: object };
  }

  /** One regular expression that whole answers match, without anchors; an error where arguments have no bounded depth. */
  toRegex(): string {
    return guarded(() => this.#raw.toRegex());
  }
}

/** The grammar of one answer. */
export function grammar(
  dialect: string | { name: string; toml: string },
  tools: string | object,
  options: GrammarOptions = {},
): Grammar {
  return new Grammar(dialect, tools, options);
}
