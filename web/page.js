import { Parser, Tools, dialects, parse } from "./del-dialects/dist/web.js";
import { EXAMPLES, TOOLS } from "./examples.js";
import { groups, stretches } from "./spans.js";

const by = (id) => document.getElementById(id);

/** An element with text in it, or with others; what models wrote only ever becomes text. */
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const names = dialects().map((dialect) => dialect.name).sort();
by("dialect").append(...names.map((name) => element("option", { value: name }, name)));
by("example").append(...EXAMPLES.map(({ title }, n) => element("option", { value: n }, title)));
by("tools").value = JSON.stringify(TOOLS, null, 2);
by("text").value = EXAMPLES[0].text;

/** Counts the changes: work for an earlier one ends. */
let change = 0;

function tools() {
  by("tools-error").textContent = "";
  try {
    return new Tools(by("tools").value.trim() || "[]");
  } catch (error) {
    by("tools-error").textContent = error.message;
    return new Tools();
  }
}

function readAll() {
  const mine = ++change;
  const text = by("text").value.toWellFormed();
  const options = { tools: tools(), startsIn: by("starts").value, cut: by("cut").checked };
  show(text, { ...options, dialect: by("dialect").value });
  void compare(mine, text, options);
}

/** One reading, with every stretch of the text marked by what it is. */
function show(text, options) {
  const { dialect } = options;
  by("heading").textContent = dialect === "auto" ? "Read in all dialects at once" : `Read in ${dialect}`;
  const parser = new Parser(options);
  const events = [...parser.push(text), ...parser.finish(options)];
  const marked = stretches(text, events).map(({ kind, text, faults }) =>
    element("span", { className: faults.length ? `${kind} fault` : kind, title: [kind, ...faults].join("; ") }, text),
  );
  by("marked").replaceChildren(...marked);
  const answer = parse(text, options);
  const parts = [];
  for (const { function: call } of answer.tool_calls) {
    parts.push(element("h3", {}, call.name), element("pre", {}, indented(call.arguments)));
  }
  if (answer.tool_calls.length === 0) parts.push(element("p", { className: "soft" }, "No call."));
  if (answer.dialect) parts.push(element("p", { className: "soft" }, `The dialect of the first call is ${answer.dialect}.`));
  const faults = answer.faults.map((fault) =>
    element("li", {}, `${fault.start}–${fault.end}: ${fault.message}${fault.changes_arguments ? " (ask before it runs)" : ""}`),
  );
  if (faults.length) parts.push(element("ul", { className: "faults" }, ...faults));
  by("reading").replaceChildren(...parts);
}

/** Every dialect by itself, a few at a time, so that the page stays at hand. */
async function compare(mine, text, options) {
  const answers = [];
  for (const name of names) {
    answers.push({ name, answer: parse(text, { ...options, dialect: name }) });
    if (answers.length % 8 === 0) {
      by("progress").textContent = `${answers.length} of ${names.length} …`;
      await new Promise((resolve) => setTimeout(resolve));
      if (mine !== change) return;
    }
  }
  const found = groups(answers);
  by("progress").textContent = `${names.length} dialects, ${found.length} different readings.`;
  by("every").replaceChildren(...found.map(row));
}

function row({ names, answer }) {
  const chosen = names.flatMap((name, n) => {
    const button = element("button", { type: "button", onclick: () => choose(name) }, name);
    return n ? [", ", button] : [button];
  });
  const calls = answer.tool_calls.map(({ function: call }) => element("div", {}, element("code", {}, `${call.name} ${call.arguments}`)));
  const faults = [...new Set(answer.faults.map((fault) => fault.kind))].join(", ");
  const text = answer.content ?? "";
  const said = text.length > 200 ? `${text.slice(0, 200).toWellFormed()} …` : text;
  return element("tr", {}, ...[chosen, calls, [said], [faults]].map((cell) => element("td", {}, ...cell)));
}

function choose(name) {
  by("dialect").value = name;
  readAll();
  by("heading").scrollIntoView({ block: "nearest" });
}

/** What a template says of itself. The module that runs templates is loaded when there is one. */
async function detectTemplate() {
  const text = by("template").value.toWellFormed();
  if (!text.trim()) return by("detected").replaceChildren();
  const { detect } = await import("./serving/dist/serving/web.js");
  try {
    const found = detect(text);
    const sure = `${Math.round(found.confidence * 100)} % sure`;
    const said = found.dialect ? `${found.dialect}, ${sure}` : "No known dialect.";
    const lines = [...found.evidence, ...found.warnings].map((line) => element("li", {}, line));
    by("detected").replaceChildren(element("p", {}, said), element("ul", {}, ...lines));
    if (found.dialect) choose(found.dialect);
  } catch (error) {
    by("detected").replaceChildren(element("p", { className: "error" }, error.message));
  }
}

function indented(json) {
  // Numbers are left as they are written: JavaScript's would lose digits.
  try {
    return /\d{16}|\d\.\d*0\b|[eE]/.test(json) ? json : JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** Waits for a pause. */
function pausing(work) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, 150);
  };
}

for (const id of ["text", "tools"]) by(id).addEventListener("input", pausing(readAll));
for (const id of ["dialect", "starts", "cut"]) by(id).addEventListener("change", readAll);
by("template").addEventListener("input", pausing(detectTemplate));
by("example").addEventListener("change", ({ target }) => {
  const example = EXAMPLES[target.value];
  target.value = "";
  if (!example) return;
  by("text").value = example.text;
  by("dialect").value = "auto";
  readAll();
});

readAll();
