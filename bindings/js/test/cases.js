// The cases of all dialects, as the tests of the parser have them.
import { readFileSync, readdirSync } from "node:fs";
import { parse } from "smol-toml";

/** Where this repository is: the tests run in a copy, beside what was packed. */
export const ROOT = new URL(`file://${process.env.DEL_ROOT ?? new URL("../../..", import.meta.url).pathname}/`);

const root = new URL("crates/del-dialects/dialects/", ROOT);

export const TOOLS = JSON.parse(readFileSync(new URL("tools.json", root), "utf8"));

export const CASES = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name: dialect }) =>
    readdirSync(new URL(`${dialect}/cases/`, root)).map((file) => {
      const { text, starts_in: startsIn, finish, tools, canonical, expect = {} } = parse(
        readFileSync(new URL(`${dialect}/cases/${file}`, root), "utf8"),
      );
      const cut = finish === "cut";
      return { id: `${dialect}/${file}`, dialect, text, startsIn, cut, declared: tools !== "none", canonical, expect };
    }),
  );
