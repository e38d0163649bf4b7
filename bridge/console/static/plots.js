// Plots with a legend of values below each, and with axes that do not magnify rounding errors.

import { formatNumber, severityOf } from './telemetry.js';
import { make, parts } from './view.js';

const PERIOD_MS = 500;
const MARGIN = 0.07; // of the height, above and below

export function installPlots(openmct, link) {
  openmct.objectViews.addProvider({
    key: 'limberjack.plot',
    name: 'Plot with values',
    cssClass: 'icon-telemetry',
    canView: (object) => object.type === 'telemetry.plot.overlay',
    canEdit: () => true,
    priority: () => openmct.priority.HIGH,
    view(object, path) {
      const plain = openmct.objectViews.getByProviderKey('plot-overlay').view(object, path);
      let timer = null;
      return {
        ...plain,
        show(element, ...rest) {
          const curves = make('div', { className: 'lj-curves' });
          const legend = make('div', { className: 'lj-legend', role: 'list' });
          element.append(make('div', { className: 'lj-plot' }, curves, legend));
          plain.show(curves, ...rest);
          const refresh = () => show(legend, configOf(curves), link);
          timer = setInterval(refresh, PERIOD_MS);
          refresh();
        },
        destroy() {
          clearInterval(timer);
          plain.destroy();
        }
      };
    }
  });
}

/** The configuration (series and axes) of the Open MCT plot in an element; null until the plot has one. */
function configOf(element) {
  const waiting = [element._vnode];
  while (waiting.length > 0) {
    const node = waiting.pop();
    const config = node?.component?.proxy?.config;
    if (config?.series?.models && config?.yAxis?.applyPadding) {
      widen(config.yAxis);
      return config;
    }
    if (node?.component) waiting.push(node.component.subTree);
    if (Array.isArray(node?.children)) waiting.push(...node.children);
  }
  return null;
}

/** Make all axes span at least the range that their quantities require. Acts once per page. */
function widen(axis) {
  const kind = Object.getPrototypeOf(axis);
  if (kind.applyPadding.widened) return;
  kind.applyPadding = function ({ min, max }) {
    const size = Math.max(Math.abs(min), Math.abs(max));
    const shown = this.seriesCollection ? this.getSeriesForYAxis(this.seriesCollection) : [];
    const spans = shown.map(({ domainObject }) => Math.max(domainObject.span ?? 0, (domainObject.rounding ?? 0) * size));
    const span = Math.max(max - min, ...spans) || 1;
    const more = (span - (max - min)) / 2 + MARGIN * span;
    return { min: min - more, max: max + more };
  };
  kind.applyPadding.widened = true;
  axis.updatePadding();
}

/** A row for each curve: its colour, name, and value: the newest, or the nearest to the pointer. */
function show(legend, config, link) {
  if (config === null) return;
  const models = config.series.models.filter((model) => model.domainObject?.quantity);
  const groups = new Set(models.map(({ domainObject }) => domainObject.quantity.split('.')[0]));
  const rows = models.map((model) => entry(model, groups.size === 1, link));
  const text = JSON.stringify(rows);
  if (legend.dataset.rows === text) return;
  legend.dataset.rows = text;
  legend.replaceChildren(...rows.map(drawn));
}

function entry(model, short, link) {
  const { quantity, alarms, description, telemetry } = model.domainObject;
  const datum = model.closest ?? link.newest.get(quantity);
  const value = datum?.value ?? null;
  return {
    id: quantity,
    name: short ? quantity.slice(quantity.indexOf('.') + 1) : quantity,
    description,
    colour: model.get('color').asHexString(),
    value: formatNumber(value),
    unit: telemetry.values[0].unit,
    severity: value === null ? null : severityOf(alarms, value),
    past: Boolean(model.closest)
  };
}

function drawn({ id, name, description, colour, value, unit, severity, past }) {
  const swatch = make('i', { className: 'lj-swatch' });
  swatch.style.background = colour;
  const number = make('span', { className: `lj-number${past ? ' lj-past' : ''}`, textContent: `${value} ${unit}`.trim() });
  const label = make('span', { className: 'lj-name' }, ...parts(name));
  const made = make('div', { className: `lj-entry lj-in-${severity ?? 'limits'}`, title: `${id}: ${description}`, role: 'listitem' });
  made.append(swatch, label, number);
  return made;
}
