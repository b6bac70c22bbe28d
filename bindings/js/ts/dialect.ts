import { RawDialect, names, neutralise as rawNeutralise, restore as rawRestore } from "../glue/del_dialects.js";
import { checked, guarded } from "./errors.js";

interface About {
  name: string;
  title: string;
  family: string;
  source: string;
  models: string[];
  aliases: Record<string, string[]>;
  resultsRole: string;
}

let rawDialect: (dialect: Dialect) => RawDialect;

/** How a family of models writes tool calls. */
export class Dialect implements Readonly<About> {
  /** The canonical name. */
  readonly name: string;
  /** The models that write it, for people. */
  readonly title: string;
  /** The kind of form. */
  readonly family: string;
  /** Where the format is specified. */
  readonly source: string;
  /** Globs over ids of models that write it. */
  readonly models: string[];
  /** Names of this dialect in other engines. */
  readonly aliases: Record<string, string[]>;
  /** The role of the message that carries the results of calls. */
  readonly resultsRole: string;
  readonly #raw: RawDialect;

  private constructor(raw: RawDialect) {
    const about = JSON.parse(raw.about()) as About;
    this.name = about.name;
    this.title = about.title;
    this.family = about.family;
    this.source = about.source;
    this.models = about.models;
    this.aliases = about.aliases;
    this.resultsRole = about.resultsRole;
    this.#raw = raw;
  }

  /**
   * A built-in dialect by its name, or by a name that another engine has for it. Case, and the difference of `-` and
   * `_`, do not matter; `vllm:mistral` asks for one engine's.
   */
  static get(name: string): Dialect {
    return new Dialect(known(name));
  }

  /** The built-in dialect of a model by its id, such as `Qwen/Qwen3-8B`; undefined where the id tells nothing. */
  static forModel(model: string): Dialect | undefined {
    const raw = RawDialect.ofModel(checked("model", model));
    return raw && new Dialect(raw);
  }

  /** A dialect of one's own, from its description. */
  static fromToml(toml: string, name: string): Dialect {
    const [text, called] = [checked("toml", toml), checked("name", name)];
    return new Dialect(guarded(() => RawDialect.fromToml(called, text)));
  }

  /** The description. */
  get toml(): string {
    return this.#raw.toml();
  }

  static {
    rawDialect = (dialect) => dialect.#raw;
  }
}

/** All built-in dialects, in the order in which `auto` prefers them. */
export function dialects(): Dialect[] {
  return names().map((name) => Dialect.get(name));
}

/**
 * Text of others (results, names, what a user pasted) for a prompt: every mark of every dialect in it is broken by an
 * invisible character, so that nothing in it reads as a call, a result or the end of a turn.
 */
export function neutralise(text: string): string {
  return rawNeutralise(checked("text", text));
}

/** What `neutralise` was given, from what it made of it or from any part of that. */
export function restore(text: string): string {
  return rawRestore(checked("text", text));
}

/**
 * Does something with a dialect, by name or as an object.
 *
 * @internal
 */
export function withDialect<T>(dialect: string | Dialect, work: (raw: RawDialect) => T): T {
  if (dialect instanceof Dialect) return guarded(() => work(rawDialect(dialect)));
  const raw = known(dialect);
  try {
    return guarded(() => work(raw));
  } finally {
    raw.free();
  }
}

function known(name: string): RawDialect {
  const text = checked("dialect", name);
  return guarded(() => RawDialect.named(text));
}
