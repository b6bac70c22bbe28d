// Elements from data. Text is always text: nothing here is read as HTML.

export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== false));
  return made;
}

// Controls, what nobody sees, and what turns the direction of text or breaks a line are shown as signs of their own.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;

export function visible(text) {
  const parts = [];
  let plain = '';
  for (const letter of text) {
    if (!HIDDEN.test(letter)) {
      plain += letter;
      continue;
    }
    const code = letter.codePointAt(0);
    const sign = code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? '\u2421'
      : `\u27e8${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
    if (plain) parts.push(plain);
    plain = '';
    parts.push(el('span', { class: 'control', title: `U+${code.toString(16).toUpperCase().padStart(4, '0')}` }, sign));
  }
  if (plain) parts.push(plain);
  return parts;
}

export const pre = (text) => el('pre', { tabindex: 0 }, visible(text));

export function span(milliseconds) {
  if (milliseconds == null) return '–';
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 60000 ? `${(milliseconds / 1000).toFixed(2)} s` : `${(milliseconds / 60000).toFixed(1)} min`;
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

export function facts(list) {
  const shown = list.filter(([, value]) => value != null && value !== '');
  return el('dl', { class: 'facts' }, shown.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}

const LEGEND = [['mark', 'markup'], ['name', 'name'], ['arguments', 'arguments'], ['reasoning', 'thinking'], ['fault', 'fault']];

// A text with what was read in it, its faults, and the events.
export function reading(read) {
  const faults = read.message.faults;
  const about = (numbers) => numbers.map((number) => `${faults[number]?.kind}: ${faults[number]?.message}`).join('\n');
  const pieces = read.segments.map((segment) => {
    const faulty = segment.faults.length > 0;
    if (segment.kind === 'point') return el('span', { class: 'point', title: about(segment.faults) }, '\u25b4');
    if (segment.kind === 'text' && !faulty) return visible(segment.text);
    const title = faulty ? about(segment.faults) : segment.call == null ? segment.kind : `${segment.kind} of call ${segment.call + 1}`;
    return el('span', { class: faulty ? `${segment.kind} faulty` : segment.kind, title }, visible(segment.text));
  });
  const shown = [
    el('div', { class: 'legend' }, LEGEND.map(([kind, word]) => el('span', { class: kind }, word))),
    el('pre', { tabindex: 0, class: 'model' }, pieces.flat()),
  ];
  if (read.message.tool_calls.length) {
    shown.push(el('h3', {}, 'Calls'), el('ul', { class: 'lines calls' }, read.message.tool_calls.map((call) => el('li', {},
      el('code', {}, visible(`${call.function.name}(${call.function.arguments})`))))));
  }
  if (faults.length) {
    shown.push(el('h3', {}, 'Faults and repairs'), el('ul', { class: 'lines faults' }, faults.map((fault) => el('li', {},
      el('b', { class: fault.changes_arguments ? 'bad' : '' }, fault.kind), ` at byte ${fault.start}`,
      fault.end > fault.start ? ` to ${fault.end}` : '', `: ${fault.message}`, fault.changes_arguments ? ' (a guess: the call asks before it runs)' : ''))));
  }
  shown.push(events(read));
  return shown;
}

function events(read) {
  const told = (event) => event.text ?? event.json ?? event.name ?? (event.kind ? `${event.kind}: ${event.message}` : '');
  const rows = read.events.map((event) => el('tr', {},
    el('td', { class: 'number' }, `${event.start}–${event.end}`), el('td', {}, event.type.replaceAll('_', ' ')),
    el('td', { class: 'text' }, visible(told(event)))));
  const more = read.more_events ? el('p', { class: 'sub' }, `${read.more_events} more`) : null;
  const table = el('table', {}, el('thead', {}, el('tr', {}, el('th', { class: 'number' }, 'Bytes'), el('th', {}, 'Event'), el('th', {}, ''))), el('tbody', {}, rows));
  return el('details', { 'data-name': 'events' }, el('summary', {}, 'Events', el('small', {}, count(read.events.length + read.more_events, 'event'))), el('div', { class: 'scroll' }, table, more));
}
