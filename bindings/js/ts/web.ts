// Browsers: the module is fetched. Bundlers know this form, and put the file where it is found.
import init from "../glue/del_dialects.js";

await init({ module_or_path: new URL("../glue/del_dialects_bg.wasm", import.meta.url) });

export * from "./api.js";
