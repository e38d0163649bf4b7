// Present values with their limits: of all quantities, in a table that can be searched, or of some.

import { formatNumber, formatRange, severityOf } from './telemetry.js';
import { addView, make } from './view.js';

const PERIOD_MS = 500;
const COLUMNS = ['Quantity', 'Value', 'Unit', 'Warning', 'Critical', 'Meaning'];

export function installValues(openmct, link, objects) {
  const points = Object.values(objects).filter((object) => object.type === 'limberjack.point');
  addView(openmct, 'limberjack.values', 'Present values', 'icon-tabular-lad', (element, { quantities }) => {
    const search = make('input', { type: 'search', className: 'lj-find', placeholder: 'Find a quantity', ariaLabel: 'Find a quantity' });
    const banner = make('p', { className: 'lj-banner', role: 'status' });
    const head = make('tr', {}, ...COLUMNS.map((textContent) => make('th', { textContent })));
    const shown = quantities ? points.filter(({ quantity }) => quantities.includes(quantity)) : points;
    const rows = shown.map((point) => row(point, link));
    const body = make('tbody', {}, ...rows.map((each) => each.line));
    const table = make('table', { className: 'lj-table lj-values' }, make('thead', {}, head), body);
    const finding = quantities ? [] : [search];
    element.append(make('div', { className: 'lj-page' }, banner, ...finding, make('div', { className: 'lj-scroll' }, table)));
    const refresh = () => {
      const { current, text } = link.condition;
      banner.textContent = current || link.condition.state === 'replay' ? '' : `Old values: ${text}.`;
      rows.forEach((each) => !each.line.hidden && each.refresh());
    };
    search.oninput = () => {
      const wanted = search.value.trim().toLowerCase();
      rows.forEach((each) => each.choose(each.words.includes(wanted)));
      refresh();
    };
    rows.forEach((each) => each.choose(true));
    refresh();
    const timer = setInterval(refresh, PERIOD_MS);
    return () => {
      clearInterval(timer);
      rows.forEach((each) => each.choose(false));
    };
  });
}

/** The line of a quantity, which is subscribed to only while the line is shown. */
function row({ quantity, alarms, description, telemetry }, link) {
  const value = make('td', { className: 'lj-value', textContent: '–' });
  const texts = [telemetry.values[0].unit, formatRange(alarms.warning), formatRange(alarms.critical), description];
  const cells = texts.map((textContent) => make('td', { textContent }));
  const line = make('tr', { title: description }, make('td', { textContent: quantity }), value, ...cells);
  let end = null;
  return {
    line,
    words: `${quantity} ${description}`.toLowerCase(),
    choose(wanted) {
      line.hidden = !wanted;
      if (wanted) end ??= link.subscribe(quantity, () => {});
      else [end] = [null, end?.()];
    },
    refresh() {
      const number = link.newest.get(quantity)?.value ?? null;
      const severity = number === null ? null : severityOf(alarms, number);
      value.textContent = formatNumber(number);
      line.className = severity ? `lj-${severity}` : '';
    }
  };
}
