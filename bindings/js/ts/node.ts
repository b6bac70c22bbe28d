// Node, Deno and Bun: the module is a file beside this one.
import { readFileSync } from "node:fs";
import { initSync } from "../glue/del_dialects.js";

initSync({ module: readFileSync(new URL("../glue/del_dialects_bg.wasm", import.meta.url)) });

export * from "./api.js";
