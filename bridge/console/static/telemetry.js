// Open MCT's providers: objects, live and past telemetry, alarm limits, the clock.

import { get } from './link.js';

const NAMESPACE = 'limberjack';
const POINTS = 1000; // points of one curve, unless a view requests another number
const TICK_MS = 1000; // period of the clock's ticks when no telemetry arrives
const SIDES = ['low', 'high'];
/** Stands for a missing limit: Open MCT's tables require both limits; a plot draws no line for it. */
const OPEN = { low: openEnd('−∞'), high: openEnd('∞') };
const COLOURS = { warning: 'yellow', critical: 'red' };
const SEVERITIES = ['information', 'warning', 'critical'];

export function installTelemetry(openmct, link, objects) {
  openmct.types.addType('limberjack.point', { name: 'Quantity', cssClass: 'icon-telemetry', creatable: false });
  openmct.types.addType('limberjack.events', { name: 'Events', cssClass: 'icon-bell', creatable: false });
  openmct.objects.addRoot({ namespace: NAMESPACE, key: 'root' }, openmct.priority.HIGH);
  openmct.objects.addProvider(NAMESPACE, {
    get: async ({ key }) => objects[key] ?? { identifier: { namespace: NAMESPACE, key }, type: 'unknown', name: key }
  });
  openmct.telemetry.addFormat(numberFormat);
  openmct.telemetry.addFormat(momentFormat);
  openmct.telemetry.addProvider(live(openmct, link));
  openmct.telemetry.addProvider(past(openmct, link));
  openmct.telemetry.addProvider(limits);
  openmct.time.addClock(new EngineClock(link));
}

const isPoint = (object) => object.type === 'limberjack.point';
const isEvents = (object) => object.type === 'limberjack.events';

const numberFormat = {
  key: 'limberjack.number',
  parse: (value) => (value === null || value === undefined || value === '' ? NaN : Number(value)),
  validate: (value) => Number.isFinite(Number(value)),
  format: (value) => formatNumber(value)
};

/** Time of day, for lists. */
const momentFormat = {
  key: 'limberjack.moment',
  parse: Number,
  validate: (value) => Number.isFinite(Number(value)),
  format: (value) => new Date(value).toISOString().slice(11, 23)
};

/** A number with five digits, without an exponent if it is readable without. */
export function formatNumber(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-4 ? value.toExponential(3).replace(/\.?0+e/, 'e') : String(Number(value.toPrecision(5)));
}

/** "-1 … 1"; empty without bounds, which are null or undefined. */
export function formatRange(limits) {
  const { low, high } = limits ?? {};
  const open = (value) => value === null || value === undefined;
  if (open(low) && open(high)) return '';
  return `${open(low) ? '−∞' : formatNumber(low)} … ${open(high) ? '∞' : formatNumber(high)}`;
}

function live(openmct, link) {
  const batch = openmct.telemetry.SUBSCRIBE_STRATEGY.BATCH;
  const pass = (callback, options) => (data) =>
    options?.strategy === batch ? callback(data) : data.forEach((datum) => callback(datum));
  return {
    supportsSubscribe: (object) => isPoint(object) || isEvents(object),
    subscribe(object, callback, options) {
      const give = pass(callback, options);
      return isEvents(object)
        ? link.on('notice', (notice) => give([event(notice)]))
        : link.subscribe(object.quantity, give);
    }
  };
}

function past(openmct, link) {
  return {
    supportsRequest: (object) => isPoint(object) || isEvents(object),
    async request(object, options) {
      const start = options.start ?? 0;
      const now = openmct.time.isRealTime();
      // in real time up to this moment, so that live data follow without a gap
      const end = now ? link.now() + 0.001 : (options.end ?? link.now()); // in a replay: including the point at this moment
      if (isEvents(object)) {
        const { notices } = await get('/api/events', { start, end, most: 500 });
        return notices.map(event);
      }
      const id = object.quantity;
      const one = options.strategy === 'latest' || options.size === 1;
      if (one && now && link.newest.has(id)) return [link.newest.get(id)];
      const points = Math.min(options.size ?? POINTS, 5000);
      const { values } = await get('/api/history', { ids: id, start, end, points });
      const data = values[id].map(([utc, value]) => ({ id, utc, value }));
      return one ? data.slice(-1) : data;
    }
  };
}

/** A notice as a row of the event log: of the same fields live and from the past, so that Open MCT knows it again. */
function event({ utc, what, text, severity, time }) {
  return { id: 'events', utc, what, text, severity: SEVERITIES[severity], time: formatNumber(time) };
}

/** Whether a value is in alarm: null, "warning" or "critical". NaN and infinity are critical. */
export function severityOf(alarms, value) {
  const outside = (range) => range && !(value >= (range.low ?? -Infinity) && value <= (range.high ?? Infinity));
  return outside(alarms.critical) ? 'critical' : outside(alarms.warning) ? 'warning' : null;
}

const limits = {
  supportsLimits: (object) => isPoint(object) || isEvents(object),
  getLimitEvaluator: (object) => ({
    evaluate(datum) {
      const name = isEvents(object) ? datum.severity : datum.value === null ? null : severityOf(object.alarms, datum.value);
      if (!(name in COLOURS)) return undefined;
      const range = isEvents(object) ? {} : object.alarms[name];
      const side = datum.value < range.low ? 'lwr' : 'upr';
      return { name, low: range.low, high: range.high, cssClass: `is-limit--${side} is-limit--${COLOURS[name]}` };
    }
  }),
  getLimits: (object) => ({
    limits: async () => (isPoint(object) ? limitLines(object.alarms) : {})
  })
};

function openEnd(sign) {
  return { toString: () => sign, valueOf: () => NaN };
}

function limitLines(alarms) {
  const lines = {};
  for (const [name, range] of Object.entries(alarms)) {
    lines[name.toUpperCase()] = Object.fromEntries(
      SIDES.map((side) => [side, { color: COLOURS[name], value: range[side] ?? OPEN[side] }])
    );
  }
  return lines;
}

/** A clock that ticks with the server's time, so that plots are correct on a machine whose clock is wrong. */
class EngineClock {
  constructor(link) {
    this.key = 'limberjack.clock';
    this.name = 'Gateway clock';
    this.description = 'The clock of the machine that receives the telemetry';
    this.cssClass = 'icon-clock';
    this.link = link;
    this.listeners = new Map();
    this.ticked = 0;
    link.on('time', () => this.tick()); // together with new data, so that plots are drawn once
    setInterval(() => performance.now() - this.ticked >= TICK_MS && this.tick(), TICK_MS);
  }

  tick() {
    this.ticked = performance.now();
    this.listeners.forEach((context, listener) => listener.call(context, this.link.now()));
  }

  on(_, listener, context) {
    this.listeners.set(listener, context);
  }

  off(_, listener) {
    this.listeners.delete(listener);
  }

  currentValue() {
    return this.link.now();
  }
}
