// The list of requests, kept up to date, and which view is open.

import { count, el, span, visible } from './build.js';
import { page } from './request.js';
import { form } from './trial.js';

const list = document.getElementById('list');
const main = document.getElementById('main');
const link = document.getElementById('link');
let lines = [];
let shown = null;

const current = () => Number(/^#\/requests\/(\d+)$/.exec(location.hash)?.[1]) || null;

function line(request) {
  const more = [request.path, request.turns > 1 && count(request.turns, 'turn'), request.state === 'open' ? 'under way' : request.state === 'cut' ? 'broken off' : request.state === 'failed' ? `status ${request.status}` : span(request.end)];
  return el('li', {}, el('a', { href: `#/requests/${request.id}`, 'aria-current': request.id === current() ? 'true' : null },
    el('span', { class: `dot ${request.state}`, title: request.state }),
    el('span', { class: 'model' }, visible(request.model || '–')),
    el('time', { datetime: request.at }, new Date(request.at).toTimeString().slice(0, 8)),
    el('span', { class: 'more' }, more.filter(Boolean).join(' · '))));
}

function draw() {
  const focused = list.contains(document.activeElement) && document.activeElement.getAttribute('href');
  list.replaceChildren(...(lines.length ? lines.map(line) : [el('li', { class: 'none' }, 'No request yet. They appear here as they come.')]));
  if (focused) list.querySelector(`a[href="${focused}"]`)?.focus();
}

// What was unfolded and scrolled stays so when a request under way is drawn anew.
function replace(children) {
  const open = new Set([...main.querySelectorAll('details[open]')].map((details) => details.dataset.name));
  const top = main.scrollTop;
  main.replaceChildren(...children);
  for (const details of main.querySelectorAll('details')) details.open = open.has(details.dataset.name);
  main.scrollTop = top;
}

async function show() {
  const id = current();
  document.body.className = location.hash === '#/try' ? 'try' : id ? 'detail' : 'list';
  for (const view of document.querySelectorAll('[data-view]')) {
    const here = (view.dataset.view === 'try') === (location.hash === '#/try');
    if (here) view.setAttribute('aria-current', 'page'); else view.removeAttribute('aria-current');
  }
  draw();
  if (location.hash === '#/try') {
    if (shown !== 'try') form(main);
    shown = 'try';
    return;
  }
  if (!id) {
    shown = null;
    main.replaceChildren(el('p', { class: 'sub' }, lines.length ? 'Choose a request.' : 'Send a request through the proxy, and it appears here.'));
    return;
  }
  const known = lines.find((request) => request.id === id);
  const mark = `${id} ${JSON.stringify(known)}`;
  if (shown === mark) return;
  const response = await fetch(`/inspector/requests/${id}`);
  if (current() !== id) return;
  if (!String(shown).startsWith(`${id} `)) main.scrollTop = 0;
  shown = mark;
  if (response.ok) replace(page(await response.json()));
  else main.replaceChildren(el('p', { class: 'sub' }, 'This request is not kept any more.'));
}

async function follow() {
  let after = null;
  for (;;) {
    try {
      const response = await fetch(`/inspector/requests${after == null ? '' : `?after=${after}`}`);
      if (!response.ok) throw new Error(response.statusText);
      const news = await response.json();
      link.className = 'live';
      link.textContent = 'live';
      after = news.version;
      lines = news.requests;
      await show();
      await pause(150);
    } catch {
      link.className = 'lost';
      link.textContent = 'not reachable';
      await pause(2000);
    }
  }
}

const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

function step(by) {
  const at = lines.findIndex((request) => request.id === current());
  const next = lines[at < 0 ? 0 : Math.min(lines.length - 1, Math.max(0, at + by))];
  if (next) location.hash = `#/requests/${next.id}`;
}

document.getElementById('clear').addEventListener('click', async () => {
  await fetch('/inspector/requests', { method: 'DELETE' });
  location.hash = '#/';
});
addEventListener('hashchange', show);
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') {
    document.activeElement?.blur();
    location.hash = '#/';
    return;
  }
  if (event.target.matches('input, textarea')) return;
  const keys = { j: () => step(1), k: () => step(-1), t: () => { location.hash = '#/try'; }, r: () => { location.hash = '#/'; } };
  if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});
show();
follow();
