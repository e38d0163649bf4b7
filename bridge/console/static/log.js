// What happened: notices of the engine, alarms, commands and refusals, newest first.

import { get } from './link.js';
import { addView, make } from './view.js';

const ROWS_MOST = 500;
const PAST_MS = 24 * 3600 * 1000;
const NAMES = ['quiet', 'warning', 'critical'];

export function installLog(openmct, link) {
  addView(openmct, 'limberjack.log', 'Event log', 'icon-list-view', (element) => {
    const list = make('div', { className: 'lj-log', role: 'log' });
    element.append(list);
    const add = (notice) => {
      list.prepend(row(notice));
      while (list.children.length > ROWS_MOST) list.lastChild.remove();
    };
    let newest = 0; // number of the newest request; answers to older ones may arrive later and are dropped
    const load = async () => {
      newest += 1;
      const own = newest;
      const end = link.now();
      try {
        const { notices } = await get('/api/events', { start: end - PAST_MS, end, most: ROWS_MOST });
        if (own !== newest) return;
        list.replaceChildren();
        notices.forEach(add);
      } catch (error) {
        if (own === newest) add({ utc: link.now(), severity: 1, text: error.message });
      }
    };
    const ends = [link.on('notice', add), link.on('hello', load), link.on('moved', load)];
    return () => ends.forEach((end) => end());
  });
}

function row(notice) {
  const time = make('time', { textContent: new Date(notice.utc).toISOString().slice(11, 23) });
  const text = make('span', { textContent: notice.text });
  return make('p', { className: `lj-${NAMES[notice.severity]}` }, time, text);
}
