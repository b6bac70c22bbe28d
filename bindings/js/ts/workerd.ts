// Workers: the module is imported, already compiled.
import module from "../glue/del_dialects_bg.wasm";
import { initSync } from "../glue/del_dialects.js";

initSync({ module });

export * from "./api.js";
