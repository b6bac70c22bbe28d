// How long a program waits for its first answer: `node first.js`, where the package is built. Each line is the least of some
// processes, in milliseconds: to load the package, then to read a first answer in one dialect, by another engine's name for
// it, or in whichever it is.
import { execFileSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

const TEXT = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>';
const PROCESSES = 15;

if (process.argv.length > 2) {
  const begun = performance.now();
  const { parse } = await import("./dist/node.js");
  const loaded = performance.now();
  parse(TEXT, { dialect: process.argv[2] });
  console.log(JSON.stringify([loaded - begun, performance.now() - loaded]));
} else {
  for (const dialect of ["hermes-json", "vllm:hermes", "auto"]) {
    const run = () => JSON.parse(execFileSync(process.execPath, [fileURLToPath(import.meta.url), dialect], { encoding: "utf8" }));
    const runs = Array.from({ length: PROCESSES }, run);
    const [load, first] = [0, 1].map((part) => Math.min(...runs.map((times) => times[part])).toFixed(1));
    console.log(`${dialect}: ${load} to load, ${first} to read the first answer`);
  }
}
