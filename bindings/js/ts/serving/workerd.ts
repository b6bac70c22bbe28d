// Workers: the module is imported, already compiled.
import module from "../../glue/del_serving_bg.wasm";
import { initSync } from "../../glue/del_serving.js";

initSync({ module });

export * from "./api.js";
