// A text or a chat template, in the eyes of every dialect.

import { count, el, facts, reading, visible } from './build.js';

const EXAMPLE = 'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris" "days": 3}}\n</tool_call>';

export function form(main) {
  const text = el('textarea', { id: 'text', spellcheck: 'false', placeholder: EXAMPLE });
  const tools = el('textarea', { id: 'tools', class: 'small', spellcheck: 'false', placeholder: '[{"type": "function", "function": {"name": "get_weather", "parameters": {}}}]' });
  const template = el('input', { type: 'checkbox', id: 'template' });
  const cut = el('input', { type: 'checkbox', id: 'cut' });
  const out = el('div', { id: 'out', 'aria-live': 'polite' });
  const ask = async (dialect) => {
    out.replaceChildren(el('p', { class: 'sub' }, 'Reading …'));
    try {
      const declared = tools.value.trim() ? JSON.parse(tools.value) : null;
      const asked = { text: text.value || EXAMPLE, template: template.checked, cut: cut.checked, tools: declared, dialect };
      const response = await fetch('/inspector/try', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) });
      const answer = await response.json();
      if (!response.ok) throw new Error(answer.error?.message ?? response.statusText);
      out.replaceChildren(...(answer.report ? report(answer.report) : result(answer, ask)));
    } catch (error) {
      out.replaceChildren(el('p', { class: 'bad' }, visible(error.message)));
    }
  };
  text.addEventListener('input', () => { template.checked = /\{%-?\s/.test(text.value); });
  main.replaceChildren(
    el('h1', {}, 'Try a text'),
    el('p', { class: 'sub' }, 'What every dialect reads in it, and why one of them wins. Nothing leaves this machine.'),
    el('form', { onsubmit: (event) => { event.preventDefault(); ask(null); } },
      el('label', { for: 'text' }, 'What a model wrote, or a chat template', text),
      el('details', {}, el('summary', {}, 'Declared tools', el('small', {}, 'optional')), el('label', { for: 'tools' }, 'As a list, in the form of OpenAI’s or Anthropic’s API', tools)),
      el('div', { class: 'row' }, el('button', { class: 'first', type: 'submit' }, 'Read'),
        el('label', {}, template, 'It is a chat template'), el('label', {}, cut, 'The answer was cut off'))),
    out);
  text.focus();
}

// So many dialects that read the same calls are shown; the others are folded away.
const MOST_ALIKE = 5;

function result(answer, ask) {
  const rows = answer.dialects.filter((row) => row.calls > 0);
  const silent = answer.dialects.length - rows.length;
  const folded = rows.filter((row) => row.same && row.name !== answer.winner).slice(MOST_ALIKE);
  return [
    el('h2', {}, answer.shown === 'auto' ? 'All dialects together' : `${answer.shown}, read alone`),
    el('p', { class: 'won' }, answer.winner ? ['The calls are in ', el('b', {}, answer.winner), '.'] : 'There is no call.'),
    el('ul', { class: 'lines' }, answer.why.map((line) => el('li', {}, visible(line)))),
    el('h3', {}, answer.shown === 'auto' ? 'What was read' : `What ${answer.shown} reads`),
    ...reading(answer.reading),
    el('h2', {}, 'Every dialect, read alone'),
    table(rows.filter((row) => !folded.includes(row)), answer.winner, ask),
    folded.length ? el('details', { 'data-name': 'alike' }, el('summary', {}, `${count(folded.length, 'dialect')} more read the same calls`), table(folded, answer.winner, ask)) : '',
    el('p', { class: 'sub' }, silent ? `${count(silent, 'dialect')} ${rows.length ? 'more ' : ''}read no call.` : ''),
  ];
}

function table(rows, winner, ask) {
  const name = (row) => el('button', { type: 'button', onclick: () => ask(row.name) }, row.name);
  return el('div', { class: 'scroll' }, el('table', {}, el('thead', {}, el('tr', {}, el('th', {}, 'Dialect'), el('th', {}, 'Reads'), el('th', { class: 'number' }, 'Calls'), el('th', { class: 'number' }, 'Faults'))),
    el('tbody', {}, rows.map((row) => el('tr', { 'aria-current': row.name === winner ? 'true' : null },
      el('td', {}, name(row)), el('td', {}, row.same ? el('span', { class: 'good' }, 'the same calls') : visible(`otherwise: ${row.names.join(', ')}`)),
      el('td', { class: 'number' }, String(row.calls)), el('td', { class: 'number' }, String(row.faults)))))));
}

function report(found) {
  const thinking = found.reasoning && `${found.reasoning.begin} … ${found.reasoning.end}`;
  return [
    el('h2', {}, 'The template'),
    el('p', { class: 'won' }, found.dialect ? ['It is in ', el('b', {}, found.dialect), '.'] : found.tool_calls ? 'It writes calls in no known dialect.' : 'It writes no calls.'),
    facts([['Sure', `${Math.round(found.confidence * 100)} %`], ['Found by', found.source], ['Thinking between', thinking]]),
    el('h3', {}, 'Evidence'), el('ul', { class: 'lines' }, found.evidence.map((line) => el('li', {}, visible(line)))),
    ...(found.warnings.length ? [el('h3', {}, 'Warnings'), el('ul', { class: 'lines' }, found.warnings.map((line) => el('li', {}, visible(line))))] : []),
  ];
}
