// What stands for what in a text: pure functions, without the page.

/**
 * The text in stretches of one kind each, one behind the other: `text`, `reasoning`, `name` (what opens a call), `arguments`,
 * and `markup`, which is what was recognised and stands for nothing by itself. `faults` are those that touch it.
 */
export function stretches(text, events) {
  const kinds = { text: "text", reasoning: "reasoning", tool_call_start: "name", arguments: "arguments" };
  const spans = events
    .filter((event) => event.type in kinds && event.end > event.start)
    .map(({ type, start, end }) => ({ kind: kinds[type], start, end }));
  const faults = events.filter((event) => event.type === "fault").map((fault) => wide(text, fault));
  const found = [];
  let at = 0;
  const add = (kind, start, end) => {
    if (start < end) found.push({ kind, start, end });
  };
  for (const { kind, start, end } of spans) {
    add("markup", at, start);
    add(kind, Math.max(at, start), end);
    at = Math.max(at, end);
  }
  add("markup", at, text.length);
  return found.flatMap((stretch) => cut(text, stretch, faults));
}

/** A fault that stands between two characters is shown at the one before it. */
function wide(text, { start, end, message }) {
  if (start < end || text === "") return { start, end, message };
  const before = start === 0 ? 0 : text.codePointAt(start - 2) > 0xffff ? start - 2 : start - 1;
  return { start: before, end: before + (text.codePointAt(before) > 0xffff ? 2 : 1), message };
}

/** A stretch, cut where faults begin and end. */
function cut(text, { kind, start, end }, faults) {
  const borders = new Set([start, end]);
  for (const fault of faults) {
    for (const place of [fault.start, fault.end]) if (place > start && place < end) borders.add(place);
  }
  const places = [...borders].sort((a, b) => a - b);
  return places.slice(1).map((until, n) => {
    const from = places[n];
    const touched = faults.filter((fault) => fault.start < until && fault.end > from);
    return { kind, text: text.slice(from, until), faults: touched.map((fault) => fault.message) };
  });
}

/** The answers of many dialects, those that say the same together: most calls first, then those that leave the
 * least as text. */
export function groups(answers) {
  const alike = new Map();
  for (const { name, answer } of answers) {
    const calls = answer.tool_calls.map((call) => call.function);
    const faults = answer.faults.map(({ kind, start, end }) => [kind, start, end]);
    const key = JSON.stringify([calls, answer.content, answer.reasoning, faults]);
    if (!alike.has(key)) alike.set(key, { names: [], answer });
    alike.get(key).names.push(name);
  }
  const weight = ({ answer }) => [-answer.tool_calls.length, answer.content?.length ?? 0, answer.faults.length];
  const order = (a, b) => weight(a).map((x, n) => x - weight(b)[n]).find((difference) => difference !== 0) ?? 0;
  return [...alike.values()].sort(order);
}
