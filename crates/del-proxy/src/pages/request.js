// One request: what each side said, what was read in it, and when.

import { el, facts, pre, reading, size, span, visible } from './build.js';

const STATES = { open: 'under way', done: 'done', failed: 'failed', cut: 'broken off' };

export function page(request) {
  const last = request.turns.at(-1);
  const read = last?.reading?.message;
  const faults = request.turns.reduce((sum, turn) => sum + (turn.reading?.message.faults.length ?? 0), 0);
  const dialects = new Set(request.turns.map((turn) => turn.reading?.message.dialect).filter(Boolean));
  const evidence = request.turns.flatMap((turn) => (turn.reading?.message.evidence ?? []).map((known) => `${known.dialect}, bytes ${known.start} to ${known.end}`));
  return [
    el('a', { class: 'back button', href: '#/' }, 'Back'),
    el('h1', {}, visible(request.model || 'no model named')),
    el('p', { class: 'sub' }, `POST ${request.path}`, ' · ', request.at.replace('T', ' ').replace('Z', ' UTC')),
    facts([
      ['State', el('span', { class: request.state === 'done' ? 'good' : request.state === 'open' ? '' : 'bad' }, STATES[request.state])],
      ['Status', request.status && String(request.status)],
      ['Tools mode', last?.mode],
      ['Dialect', dialects.size ? el('span', { title: evidence.join('\n') }, [...dialects].join(', ')) : read ? 'no call' : null],
      ['Read in', last?.reading && (last.reading.alone ?? 'all dialects')],
      ['Faults', read && String(faults)],
      ['Asked', size(request.asked.bytes)],
      ['Answered', size(request.given.bytes)],
      ['Time', span(request.end)],
    ]),
    el('h2', {}, 'Timing'), timing(request),
    ...request.turns.flatMap((turn, number) => turnOf(request, turn, number)),
    el('h2', {}, 'The client'),
    json('The client asked', 'asked', request.asked),
    json('The client got', 'given', request.given),
  ];
}

function timing(request) {
  const end = Math.max(request.end ?? 0, ...request.turns.map((turn) => turn.end ?? turn.first ?? turn.begun), 0.1);
  const share = (at) => `${Math.min(100, (100 * at) / end)}%`;
  const bar = (from, to, kind) => {
    const made = el('i', { class: kind });
    made.style.left = share(from);
    made.style.width = share(Math.max(0, to - from));
    return made;
  };
  const rows = request.turns.map((turn, number) => {
    const stop = turn.end ?? turn.first ?? end;
    const first = turn.first ?? stop;
    return [el('span', {}, request.turns.length > 1 ? `server, turn ${number + 1}` : 'server'),
      el('div', { class: 'track' }, bar(turn.begun, first, 'wait'), bar(first, stop, 'flow')),
      el('span', {}, `${span(first - turn.begun)}, then ${span(stop - first)}`)];
  });
  const first = request.first ?? end;
  rows.push([el('span', {}, 'client'), el('div', { class: 'track' }, bar(0, first, 'wait'), bar(first, request.end ?? end, 'flow')),
    el('span', {}, `first word at ${span(request.first)}`)]);
  return el('div', { class: 'scale' }, rows.flat());
}

function turnOf(request, turn, number) {
  const shown = [el('h2', {}, request.turns.length > 1 ? `The model, turn ${number + 1}` : 'The model')];
  if (turn.answer.cut) shown.push(el('p', { class: 'sub' }, `Of the answer, the first ${size(turn.answer.kept)} are kept, and read here.`));
  if (turn.error) shown.push(el('p', { class: 'bad' }, visible(turn.error)));
  if (turn.reasoning) shown.push(el('h3', {}, 'Thinking, as the server told it apart'), pre(turn.reasoning));
  if (turn.reading && (turn.text || !turn.calls.length)) {
    const title = el('div', { class: 'title' }, el('h3', {}, 'Its text, and what was read in it'),
      el('a', { class: 'button export', href: `/inspector/requests/${request.id}/case/${number}`, download: '' }, 'Export as a case'));
    shown.push(title, ...(turn.text ? reading(turn.reading) : [el('p', { class: 'sub' }, 'No text.')]));
  } else if (turn.text) {
    shown.push(el('h3', {}, 'Its text, passed on unread'), pre(turn.text));
  }
  if (turn.calls.length) {
    shown.push(el('h3', {}, 'Calls over the API'), el('ul', { class: 'lines' }, turn.calls.map((call) => el('li', {},
      el('code', {}, visible(`${call.name}(${call.arguments})`))))));
  }
  shown.push(json('The server was asked', `sent${number}`, turn.sent), json('The server answered', `answer${number}`, turn.answer));
  return shown;
}

function json(title, name, part) {
  let text = part.text;
  try {
    text = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // A stream, or what is cut, is shown as it came.
  }
  const note = part.cut ? `the first ${size(part.kept)} of ${size(part.bytes)}` : size(part.bytes);
  return el('details', { 'data-name': name }, el('summary', {}, title, el('small', {}, note)), pre(text));
}

