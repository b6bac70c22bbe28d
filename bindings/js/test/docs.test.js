// What the documents show is what happens: their blocks of JavaScript, one behind the other, are a program, in which
// `value //=> other` says that both are equal.
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT } from "./cases.js";

function program(file) {
  const blocks = [...readFileSync(new URL(file, ROOT), "utf8").matchAll(/^```js\n(.*?)^```$/gms)];
  const lines = blocks.flatMap(([, block]) => block.split("\n"));
  const shown = lines.map((line) => line.replace(/^( *)(.*?);? \/\/=> (.*)$/, "$1assert.deepEqual($2, $3);"));
  return ['import assert from "node:assert/strict";', ...shown].join("\n");
}

for (const file of ["docs/javascript.md", "bindings/js/README.md"]) {
  test(file, async () => {
    const path = `${import.meta.dirname}/shown-${file.replaceAll("/", "-")}.mjs`;
    writeFileSync(path, program(file));
    await import(pathToFileURL(path));
  });
}
