// Histories of orders and of alarms: tables that can be searched; orders also as a file.

import { get } from './link.js';
import { addView, clockTime, make } from './view.js';

const ROWS_MOST = 500;
const NAMES = ['quiet', 'warning', 'critical'];
const PAUSE_MS = 300; // after the last key
const DAY_MS = 24 * 3600 * 1000;

export function installHistories(openmct, link) {
  const orders = {
    path: '/api/orders',
    rows: ({ orders: found }) => found,
    columns: ['Time (UTC)', 'Who', 'Order', 'Result'],
    cells: ({ who, order, result, text }) => (order ? [who, order, result || text] : [who, text, result]),
    severity: ({ result }) => (result === 'done' ? 0 : 1),
    kinds: ['command', 'refused'],
    file: '/api/orders.csv'
  };
  const alarms = {
    path: '/api/alarms',
    rows: ({ notices }) => notices,
    columns: ['Time (UTC)', 'What'],
    cells: ({ text }) => [text],
    severity: ({ severity }) => severity,
    kinds: ['alarm', 'command']
  };
  addView(openmct, 'limberjack.orders', 'Command history', 'icon-list-view', (element) => build(element, link, orders));
  addView(openmct, 'limberjack.alarmhistory', 'Alarm history', 'icon-list-view', (element) => build(element, link, alarms));
}

function build(element, link, kind) {
  const search = make('input', { type: 'search', className: 'lj-search', placeholder: 'Search', ariaLabel: 'search' });
  const message = make('p', { className: 'lj-quiet', role: 'status' });
  const body = make('tbody');
  const head = make('tr', {}, ...kind.columns.map((textContent) => make('th', { textContent })));
  const table = make('table', { className: 'lj-table' }, make('thead', {}, head), body);
  const file = kind.file ? [make('a', { className: 'c-button', textContent: 'Save as CSV', download: 'orders.csv' })] : [];
  element.append(make('div', { className: 'lj-history' }, make('p', { className: 'lj-line' }, search, ...file), message, table));
  let newest = 0; // number of the newest request; answers to older ones are dropped
  const load = async () => {
    newest += 1;
    const own = newest;
    const asked = { start: 0, end: Math.round(link.now()) + DAY_MS, search: search.value.trim() };
    file.forEach((link) => {
      link.href = `${kind.file}?${new URLSearchParams({ ...asked, most: 100000 })}`;
    });
    try {
      const rows = kind.rows(await get(kind.path, { ...asked, most: ROWS_MOST })).reverse();
      if (own !== newest) return;
      body.replaceChildren(...rows.map((each) => row(kind, each)));
      const more = rows.length === ROWS_MOST ? `the newest ${ROWS_MOST}` : String(rows.length);
      const kept = link.hello?.kept ? '' : ' They are lost when this gateway stops: its history is temporary (see the event log, and the gateway\'s option --history).';
      const none = asked.search ? 'Nothing found.' : 'No entries yet.';
      message.textContent = rows.length === 0 ? none : `${more} entries.${kept}`;
    } catch (error) {
      message.textContent = error.message;
    }
  };
  let pause = null;
  const soon = () => {
    clearTimeout(pause);
    pause = setTimeout(load, PAUSE_MS);
  };
  search.oninput = soon;
  const ends = [link.on('notice', (notice) => kind.kinds.includes(notice.what) && soon()), link.on('hello', load)];
  return () => {
    clearTimeout(pause);
    ends.forEach((end) => end());
  };
}

function row(kind, entry) {
  const day = new Date(entry.utc).toISOString().slice(0, 10);
  const cells = [`${day} ${clockTime(entry.utc)}`, ...kind.cells(entry)];
  return make('tr', { className: `lj-${NAMES[kind.severity(entry)]}` }, ...cells.map((textContent) => make('td', { textContent, title: textContent })));
}
