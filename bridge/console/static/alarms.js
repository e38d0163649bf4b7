// What is in alarm now: a list, and an indicator that is red when something is critical.

import { formatNumber } from './telemetry.js';
import { addView, make, present } from './view.js';

const NAMES = ['', 'warning', 'critical'];
const FOLLOWED_MOST = 100; // of more alarms at once the others show the value at which they began
const COLUMNS = ['Quantity', 'Value', 'Limits', 'Since'];

export function installAlarms(openmct, link, objects) {
  let active = [];
  const points = new Map(Object.values(objects).map((object) => [object.quantity, object]));
  const shown = new Set();
  const indicator = openmct.indicators.simpleIndicator();
  openmct.indicators.add(indicator);
  const update = (alarms) => {
    active = [...alarms].sort((a, b) => b.severity - a.severity || a.id.localeCompare(b.id));
    indicate(indicator, active, link.condition.current);
    shown.forEach((show) => show());
  };
  link.on('hello', (hello) => update(hello.alarms));
  link.on('alarms', (message) => update(message.alarms));
  link.on('condition', ({ current }) => indicate(indicator, active, current));
  const build = (element) => {
    const list = make('div', { className: 'lj-alarms' });
    element.append(list);
    let ends = [];
    const show = () => {
      const before = ends;
      ends = active.slice(0, FOLLOWED_MOST).map(({ id }) => link.subscribe(id, () => {}));
      before.forEach((end) => end());
      list.replaceChildren(...rows(active, points));
    };
    const values = setInterval(() => refresh(list, link), 500);
    shown.add(show);
    show();
    return () => {
      shown.delete(show);
      clearInterval(values);
      ends.forEach((end) => end());
    };
  };
  addView(openmct, 'limberjack.alarms', 'Alarms', 'icon-bell', present(openmct, link, build));
}

/** current: whether the alarms are of now; of an engine that is not heard nobody knows them. */
function indicate(indicator, active, current) {
  const counts = [2, 1].map((severity) => active.filter((alarm) => alarm.severity === severity).length);
  const [critical, warning] = counts;
  const words = [critical && `${critical} critical`, warning && `${warning} warning`].filter(Boolean);
  const told = words.join(', ') || 'no alarms';
  indicator.text(current ? told : `alarms unknown (${told} before)`);
  indicator.description(active.map((alarm) => `${NAMES[alarm.severity]}: ${alarm.id}`).join('\n') || 'All within limits');
  indicator.iconClass('icon-bell');
  indicator.statusClass(!current ? 's-status-off' : critical ? 's-status-error' : warning ? 's-status-caution' : 's-status-on');
  indicator.element.dataset.alarms = String(active.length);
  indicator.element.dataset.severity = !current ? 'old' : critical ? 'critical' : warning ? 'warning' : '';
}

function rows(active, points) {
  if (active.length === 0) {
    return [make('p', { className: 'lj-quiet', textContent: 'No alarms: all quantities are within their limits.' })];
  }
  const head = make('tr', {}, ...COLUMNS.map((textContent) => make('th', { textContent })));
  const body = active.map((alarm) => row(alarm, points.get(alarm.id)));
  return [make('table', { className: 'lj-table' }, make('thead', {}, head), make('tbody', {}, ...body))];
}

function row(alarm, object) {
  const name = NAMES[alarm.severity];
  const unit = object?.telemetry.values[0].unit ?? '';
  const range = object?.alarms[name] ?? {};
  const limits = [range.low ?? '−∞', range.high ?? '∞'].map((each) => (typeof each === 'number' ? formatNumber(each) : each));
  const value = make('td', { textContent: `${formatNumber(alarm.value)} ${unit}` });
  value.dataset.id = alarm.id;
  value.dataset.unit = unit;
  const since = new Date(alarm.utc).toISOString().slice(11, 19);
  const cells = [alarm.id, value, limits.join(' … '), since].map((cell) =>
    cell instanceof Node ? cell : make('td', { textContent: cell })
  );
  return make('tr', { className: `lj-${name}` }, ...cells);
}

/** Newest values. */
function refresh(list, link) {
  for (const cell of list.querySelectorAll('td[data-id]')) {
    const datum = link.newest.get(cell.dataset.id);
    if (datum && datum.value !== null) cell.textContent = `${formatNumber(datum.value)} ${cell.dataset.unit}`;
  }
}
