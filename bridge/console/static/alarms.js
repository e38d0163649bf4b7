// Alarms as operators have them: a list to acknowledge and shelve from, and an indicator at the top.

import { AlarmDesk } from './alarm_desk.js';
import { Siren } from './alarm_sound.js';
import { formatNumber } from './telemetry.js';
import { addView, clockTime, make, present } from './view.js';

const NAMES = ['normal again', 'warning', 'critical'];
const FOLLOWED_MOST = 100; // alarms whose values are updated; the others show the value at which they began
const COLUMNS = ['Quantity', 'Value', 'Limits', 'Since', 'State'];

/** Returns the siren, which is off until an operator switches it on. */
export function installAlarms(openmct, link, objects) {
  let entries = [];
  const points = new Map(Object.values(objects).map((object) => [object.quantity, object]));
  const shown = new Set();
  const siren = new Siren();
  const indicator = openmct.indicators.simpleIndicator();
  openmct.indicators.add(indicator);
  const show = () => {
    indicate(indicator, entries, known(link.condition));
    siren.follow(entries, link.condition.current);
    shown.forEach((draw) => draw());
  };
  const update = (alarms) => {
    entries = [...alarms].sort((a, b) => b.severity - a.severity || b.worst - a.worst || a.id.localeCompare(b.id));
    show();
  };
  link.on('hello', (hello) => update(hello.alarms));
  link.on('alarms', (message) => update(message.alarms));
  let before = '';
  link.on('condition', ({ current, state }) => {
    if (before === `${current} ${state}`) return;
    before = `${current} ${state}`;
    show();
  });
  const build = (element) => {
    const desk = new AlarmDesk(openmct, link);
    const list = make('div', { className: 'lj-alarms' });
    element.append(list);
    let ends = [];
    const draw = () => {
      const old = ends;
      ends = entries.slice(0, FOLLOWED_MOST).map(({ id }) => link.subscribe(id, () => {}));
      old.forEach((end) => end());
      list.replaceChildren(bar(desk, siren, entries), desk.message, ...content(desk, link, entries, points));
    };
    const values = setInterval(() => refresh(list, link), 500);
    shown.add(draw);
    draw();
    return () => {
      shown.delete(draw);
      clearInterval(values);
      ends.forEach((end) => end());
    };
  };
  addView(openmct, 'limberjack.alarms', 'Alarms', 'icon-bell', present(openmct, link, build));
  return siren;
}

/** Whether the list of alarms is that of the moment that the page shows. */
const known = ({ current, state }) => current || state === 'replay';

/** current: whether the alarms are known; they are unknown while the engine sends nothing. */
function indicate(indicator, entries, current) {
  const active = entries.filter((entry) => entry.severity > 0 && !entry.shelved);
  const [critical, warning] = [2, 1].map((severity) => active.filter((entry) => entry.severity === severity).length);
  const waiting = entries.filter((entry) => entry.waits).length;
  const words = [critical && `${critical} critical`, warning && `${warning} warning`].filter(Boolean);
  const summary = words.join(', ') || 'no alarms';
  const rest = waiting ? `, ${waiting} unacknowledged` : '';
  indicator.text(current ? `${summary}${rest}` : `alarms unknown (${summary} before)`);
  const listed = entries.map((entry) => `${NAMES[entry.severity]}: ${entry.id}`).join('\n') || 'All within limits';
  indicator.description(current ? listed : `Unknown now. Before that:\n${listed}`);
  indicator.iconClass('icon-bell');
  indicator.statusClass(!current ? 's-status-off' : critical ? 's-status-error' : warning ? 's-status-caution' : 's-status-on');
  const { dataset } = indicator.element;
  dataset.alarms = String(active.length);
  dataset.waiting = String(waiting);
  dataset.severity = !current ? 'old' : critical ? 'critical' : warning ? 'warning' : '';
}

/** The controls for all alarms: acknowledge all, sound, history. */
function bar(desk, siren, entries) {
  const all = desk.button('Acknowledge all', () => desk.acknowledge('*'), 'acknowledge all alarms');
  all.disabled ||= !entries.some((entry) => entry.waits);
  const sound = make('button', { className: 'c-button lj-sound' });
  const say = () => {
    sound.textContent = siren.on ? 'Sound on' : 'Sound off';
    sound.setAttribute('aria-pressed', String(siren.on));
  };
  sound.onclick = () => siren.switch() || say();
  sound.title = 'A tone for every new alarm, again every 5 s while a critical one is not acknowledged';
  say();
  const history = make('a', { href: '#/browse/limberjack:root/limberjack:duty', textContent: 'History' });
  return make('p', { className: 'lj-line' }, all, sound, history);
}

function content(desk, link, entries, points) {
  const [listed, shelved] = [false, true].map((set) => entries.filter((entry) => Boolean(entry.shelved) === set));
  const parts = [];
  const { heard } = link.condition;
  if (!known(link.condition)) {
    const rest = listed.length === 0 ? 'Before that there were none.' : 'Before that:';
    parts.push(quiet(`Alarms are unknown since ${clockTime(heard)} UTC. ${rest}`));
  } else if (listed.length === 0) {
    parts.push(quiet('No alarms: all quantities are within their limits.'));
  }
  if (listed.length > 0) parts.push(table(COLUMNS, listed.map((entry) => row(desk, entry, points.get(entry.id)))));
  if (shelved.length > 0) parts.push(make('h3', { textContent: 'Shelved' }), table([], shelved.map((entry) => shelf(desk, entry))));
  return parts;
}

function quiet(textContent) {
  return make('p', { className: 'lj-quiet', textContent });
}

function table(columns, rows) {
  const head = make('tr', {}, ...columns.map((textContent) => make('th', { textContent })));
  return make('table', { className: 'lj-table' }, make('thead', {}, head), make('tbody', {}, ...rows));
}

function row(desk, entry, object) {
  const unit = object?.telemetry.values[0].unit ?? '';
  const range = object?.alarms[NAMES[entry.severity || entry.worst]] ?? {};
  const limits = [range.low ?? '−∞', range.high ?? '∞'].map((each) => (typeof each === 'number' ? formatNumber(each) : each));
  const value = make('td', { textContent: `${formatNumber(entry.value)} ${unit}` });
  value.dataset.id = entry.id;
  value.dataset.unit = unit;
  if (entry.severity) Object.assign(value.dataset, { low: range.low ?? -Infinity, high: range.high ?? Infinity });
  const since = make('td', { textContent: clockTime(entry.utc), title: 'since, UTC' });
  const state = make('td', { className: 'lj-state' }, make('span', { textContent: stateOf(entry) }), ...desk.buttons(entry));
  const cells = [make('th', { textContent: entry.id }), value, make('td', { textContent: limits.join(' … ') }), since, state];
  return make('tr', { className: classOf(entry) }, ...cells);
}

function classOf({ severity, waits }) {
  if (severity === 0) return 'lj-gone';
  return `lj-${NAMES[severity]}${waits ? '' : ' lj-acknowledged'}`;
}

function stateOf({ severity, worst, acknowledged }) {
  if (severity === 0) return `normal again, was ${NAMES[worst]}`;
  return acknowledged ? `acknowledged by ${acknowledged.who}, ${clockTime(acknowledged.utc)}` : NAMES[severity];
}

function shelf(desk, entry) {
  const { who, utc, reason } = entry.shelved;
  const said = `until ${clockTime(utc)} UTC, by ${who}: ${reason}`;
  const state = make('td', { className: 'lj-state' }, make('span', { textContent: said }), ...desk.buttons(entry));
  const now = make('td', { textContent: NAMES[entry.severity].replace(' again', '') });
  return make('tr', { className: 'lj-shelved' }, make('th', { textContent: entry.id }), now, state);
}

/** Write the newest values into the cells, and which of them are back within the limits that their alarm is about. */
export function refresh(list, link) {
  for (const cell of list.querySelectorAll('td[data-id]')) {
    const value = link.newest.get(cell.dataset.id)?.value ?? null;
    if (value === null) continue;
    const { unit, low, high } = cell.dataset;
    const back = value >= Number(low) && value <= Number(high);
    cell.textContent = `${formatNumber(value)} ${unit}${back ? ' (within)' : ''}`;
    cell.title = back ? 'within these limits again; the alarm falls if it stays there' : '';
  }
}
