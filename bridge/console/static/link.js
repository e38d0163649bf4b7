// The connection to the console's server: subscriptions over one WebSocket, which reconnects when it breaks.

const PAUSE_FIRST_MS = 500;
const PAUSE_MOST_MS = 800; // short, because an operator is waiting
const ANSWER_S = 20;
const CATCH_UP_S = 5; // missed data that have not arrived by then leave a gap: live data matter more
const SILENT_S = 20; // the server sends its clock every second
const STALE_S = 3; // after so long without a message, the values on the page are stale
const DRIFT_MS = 0.05; // per message: how fast the estimate of the server's clock forgets
const IDS_MOST = 60; // in one request or subscription
const HELD_MOST = 2000; // live messages that wait while missed ones are fetched
const LIVE = new Set(['samples', 'notice', 'alarms']); // kinds of messages about the present
const LOST = { state: 'lost', text: 'console lost, reconnecting', current: false };
const SILENT = { state: 'stale', text: 'stale: nothing from the gateway', current: false };

/**
 * A signal that aborts a request after so many seconds in which the page was free to take the answer. A timer counts
 * them: while a slow machine draws, answers wait in the browser, and that time must not count as the server's.
 */
export function patience(seconds) {
  const controller = new AbortController();
  let left = seconds;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    controller.abort(new Error(`no answer within ${seconds} s`));
  }, 1000);
  return { signal: controller.signal, end: () => clearInterval(timer) };
}

/** The server's answer to a GET; a list becomes one parameter for each item. Throws an Error with the server's text. */
export async function get(path, parameters = {}, seconds = ANSWER_S) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) [value].flat().forEach((each) => query.append(name, each));
  return ask(`${path}?${query}`, {}, seconds);
}

/** The server's answer to a POST. Throws an Error with the server's text. */
export async function post(path, content) {
  const headers = { 'Content-Type': 'application/json' };
  return ask(path, { method: 'POST', headers, body: JSON.stringify(content) }, ANSWER_S);
}

async function ask(address, options, seconds) {
  const { signal, end } = patience(seconds);
  try {
    const reply = await fetch(address, { ...options, signal });
    const text = await reply.text();
    if (!reply.ok) {
      throw new Error(text || `${reply.status} ${reply.statusText}`);
    }
    return JSON.parse(text);
  } finally {
    end();
  }
}

/**
 * Live telemetry. `on(kind, callback)` subscribes to messages of a kind, and to "state": "connected" or "lost".
 * condition: {state, text, current, heard} of the engine as the gateway reports it, or as far as known without a gateway;
 * heard: when the engine's newest message arrived, ms since 1970
 */
export class Link {
  constructor() {
    this.hello = null;
    this.state = 'connecting';
    this.condition = { ...LOST, heard: Date.now() };
    this.heard = Date.now(); // when the newest message arrived, by the server's clock
    this.offsetMs = -Infinity; // the server's clock minus the page's monotonic clock, which nobody sets
    this.newest = new Map(); // id → newest datum
    this.reached = new Map(); // id → time up to which data were fetched or received
    this.listeners = new Map(); // kind → callbacks
    this.subscribers = new Map(); // id → callbacks
    this.held = null; // live messages that wait while missed ones are fetched
    this.replaying = null; // the player that shows the past in place of live data (replay.js)
    this.heardCondition = LOST; // the engine's condition, also while the page shows the past
    this.hole = false; // data are missing before the next message
    this.pauseMs = PAUSE_FIRST_MS;
    this.connect();
    setInterval(() => this.watch(), 1000);
  }

  /** Resolves when the server has said hello. */
  ready() {
    return new Promise((resolve) => this.on('hello', resolve));
  }

  /** Returns a function that unsubscribes. A subscriber to "hello" that comes after it gets it at once. */
  on(kind, callback) {
    const callbacks = this.listeners.get(kind) ?? new Set();
    this.listeners.set(kind, callbacks.add(callback));
    if (kind === 'hello' && this.hello) callback(this.hello);
    return () => callbacks.delete(callback);
  }

  /** Take the engine's new condition, or an older age of it. */
  judge(condition) {
    this.heardCondition = condition;
    this.condition = this.replaying && condition.state !== 'lost' ? this.replaying.condition : condition;
    this.notify('condition', this.condition);
  }

  /** Forget all values: the page shows another time. */
  forget() {
    this.newest.clear();
    this.reached.clear();
  }

  /** Reconnect, which sends all live subscriptions again. */
  again() {
    this.pauseMs = 0;
    this.socket.close();
  }

  notify(kind, content) {
    this.listeners.get(kind)?.forEach((callback) => callback(content));
  }

  /** Milliseconds since 1970 by the server's clock. */
  now() {
    if (this.replaying) return this.replaying.at;
    return Number.isFinite(this.offsetMs) ? performance.now() + this.offsetMs : Date.now();
  }

  /** callback gets arrays of {id, utc, value}; value is null where telemetry was lost. Returns a function that unsubscribes. */
  subscribe(id, callback) {
    const callbacks = this.subscribers.get(id) ?? new Set();
    if (callbacks.size === 0) {
      this.subscribers.set(id, callbacks);
      this.send({ kind: 'subscribe', ids: [id] });
    }
    callbacks.add(callback);
    if (this.replaying) queueMicrotask(() => this.replaying?.present(id));
    return () => {
      callbacks.delete(callback);
      if (callbacks.size === 0 && this.subscribers.get(id) === callbacks) {
        this.subscribers.delete(id);
        this.reached.delete(id);
        this.newest.delete(id); // nothing would update it
        this.send({ kind: 'unsubscribe', ids: [id] });
      }
    };
  }

  connect() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.socket = new WebSocket(`${scheme}://${location.host}/api/live`);
    this.silentS = 0;
    this.socket.onmessage = (event) => this.hear(JSON.parse(event.data));
    this.socket.onclose = () => this.lose();
  }

  send(message) {
    if (this.hello && this.socket.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(message));
    }
  }

  /** Close a connection that is open but silent. A timer counts the seconds: a busy page must not count as silence. */
  watch() {
    this.silentS += 1;
    if (this.socket.readyState !== WebSocket.OPEN) return;
    if (this.silentS > SILENT_S) this.socket.close();
    else if (this.silentS > STALE_S) this.judge({ ...SILENT, heard: this.heard });
  }

  lose() {
    if (this.state !== 'lost') {
      this.state = 'lost';
      this.notify('state', 'lost');
      this.judge({ ...LOST, heard: this.heard });
    }
    this.held = null;
    setTimeout(() => this.connect(), this.pauseMs);
    this.pauseMs = Math.min(2 * this.pauseMs, PAUSE_MOST_MS);
  }

  hear(message) {
    this.silentS = 0;
    if ('utc' in message && message.kind !== 'notice') {
      // every message arrives late: the one with the least delay gives the server's clock best
      this.offsetMs = Math.max(this.offsetMs - DRIFT_MS, message.utc - performance.now());
    }
    this.heard = this.now();
    // flow control: the server waits for this, then sends all that has collected in one message
    if (message.kind === 'samples') this.send({ kind: 'seen' });
    if (this.replaying && LIVE.has(message.kind)) return;
    if (message.kind === 'condition') {
      this.judge(message);
    } else if (message.kind === 'hello') {
      this.greet(message);
    } else if (message.kind === 'samples' && this.held) {
      if (this.held.length < HELD_MOST) this.held.push(message);
      else this.hole = true;
    } else if (message.kind === 'samples') {
      this.deliver(message);
    } else {
      this.notify(message.kind, message);
    }
  }

  async greet(hello) {
    const same = ({ model_hash: hash, signature }) => hash === hello.model_hash && signature === hello.signature;
    if (this.hello && !same(this.hello)) {
      location.reload(); // the engine runs another model: all names, units and limits may differ
      return;
    }
    this.hello = hello;
    this.pauseMs = PAUSE_FIRST_MS;
    this.state = 'connected';
    this.heardCondition = this.condition = hello.condition;
    this.notify('hello', hello);
    this.notify('state', 'connected');
    this.judge(hello.condition);
    const ids = [...this.subscribers.keys()];
    const held = [];
    this.held = held;
    for (let first = 0; first < ids.length; first += IDS_MOST) { // the server limits the length of a message
      this.send({ kind: 'subscribe', ids: ids.slice(first, first + IDS_MOST) });
    }
    if (!this.replaying) await this.catchUp(ids.filter((id) => this.reached.has(id)));
    if (this.held !== held) return; // the connection was lost meanwhile
    this.held = null;
    held.forEach((message) => this.deliver(message));
  }

  /** Fetch from the server's history what was missed while the connection was down. */
  async catchUp(ids) {
    try {
      for (let first = 0; first < ids.length; first += IDS_MOST) {
        const part = ids.slice(first, first + IDS_MOST);
        const start = Math.min(...part.map((id) => this.reached.get(id))) + 0.001;
        const asked = { ids: part, start, end: this.now(), points: 1000 };
        const { values } = await get('/api/history', asked, CATCH_UP_S);
        for (const id of part) this.hand(id, values[id]);
      }
    } catch (error) {
      this.hole = true;
      console.warn('limberjack: missed messages cannot be fetched:', error.message);
    }
  }

  deliver(message) {
    const lost = message.gap + message.dropped > 0 || this.hole;
    this.hole = false;
    for (const [id, points] of Object.entries(message.values)) {
      const before = this.reached.get(id);
      const mark = lost && before !== undefined ? [[(before + points[0][0]) / 2, null]] : [];
      this.hand(id, [...mark, ...points]);
    }
    this.notify('time', message);
  }

  hand(id, points) {
    const data = points.filter(([utc]) => utc > (this.reached.get(id) ?? 0)).map(([utc, value]) => ({ id, utc, value }));
    if (data.length === 0) return;
    const last = data[data.length - 1];
    this.newest.set(id, last);
    this.reached.set(id, last.utc);
    this.subscribers.get(id)?.forEach((callback) => callback(data));
  }
}
