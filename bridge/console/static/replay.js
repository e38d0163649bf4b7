// Replay: the time conductor or the replay bar moves all displays of the page together through the history.

import { get } from './link.js';
import { make } from './view.js';

const KEY = 'limberjack.replay';
const TICK_MS = 100;
const LONGEST_MS = 500; // longest advance per tick: a page that was busy continues from where it was
const CHUNK_MS = 1000; // length of a chunk, in time of the page
const AHEAD_MS = 600; // with less than this left, in time of the page, fetch the next chunk
const POST_MS = 500; // period of the state for 3-D views, so that a view that opens late gets it too
const POINTS = 60; // points of one curve in a chunk
const IDS_MOST = 60;
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 60];
const SPAN_MS = 60000;

/** A clock for Open MCT that gives the time of the replay. */
class ReplayClock {
  key = KEY;
  name = 'Replay';
  description = 'Moves all displays through the past';
  cssClass = 'icon-play';
  listeners = new Map();
  constructor(player) {
    this.player = player;
  }
  on(_, listener, context) {
    this.listeners.set(listener, context);
  }
  off(_, listener) {
    this.listeners.delete(listener);
  }
  currentValue() {
    return this.player.at;
  }
  tick() {
    this.listeners.forEach((context, listener) => listener.call(context, this.player.at));
  }
}

/** The menu entry of the time conductor. */
export const replayOption = (presets) => ({
  name: 'Replay', timeSystem: 'utc', clock: KEY, clockOffsets: { start: -SPAN_MS, end: 0 }, presets
});

/** at: the moment shown, ms since 1970; frame: the state at that moment; bounds: of the history */
class Player {
  playing = false;
  speed = 1;
  frame = null;
  bounds = { start: 0, end: 0 };
  pieces = []; // points, frames and notices that were fetched, in order of time
  fetched = 0; // the moment up to which data were fetched
  fetching = false;
  turn = 0; // counts calls of seek; answers to older requests are dropped

  constructor(openmct, link) {
    [this.openmct, this.link] = [openmct, link];
    this.at = link.now();
    this.clock = new ReplayClock(this);
    this.posted = 0;
    this.ticked = performance.now();
    setInterval(() => this.tick(), TICK_MS);
  }

  get active() {
    return this.link.replaying === this;
  }

  get condition() {
    const how = this.playing ? `× ${this.speed}` : 'paused';
    return { state: 'replay', text: `replay ${moment(this.at)} ${how}`, current: false, heard: this.at };
  }

  /** Show this moment. reload: whether plots load their data again; false if the plots' own range gave the moment. */
  async seek(at, reload = true) {
    this.link.replaying = this;
    this.at = at;
    this.turn += 1;
    const turn = this.turn;
    [this.pieces, this.fetched, this.fetching] = [[], at, false];
    this.link.forget();
    this.link.judge(this.link.heardCondition);
    try {
      const { frames, ...bounds } = await get('/api/frames', { at: [at] });
      if (turn !== this.turn) return;
      this.bounds = bounds;
      this.link.notify('moved', at);
      if (frames.length > 0) this.show(frames[0]);
    } catch (error) {
      this.openmct.notifications.error(`The history cannot be fetched: ${error.message}`);
    }
    if (reload && this.openmct.time.isRealTime()) this.openmct.time.setClockOffsets(this.openmct.time.getClockOffsets());
  }

  /** End the replay; live data return. */
  leave() {
    this.playing = false;
    this.turn += 1;
    this.frame = null;
    this.link.replaying = null;
    this.link.forget();
    post({ kind: 'replay', over: true });
    this.link.again();
  }

  tick() {
    const now = performance.now();
    const passed = Math.min(now - this.ticked, LONGEST_MS);
    this.ticked = now;
    if (!this.active) return;
    if (this.playing) {
      const known = this.fetched > this.at ? this.fetched : this.at; // wait for data that have not arrived
      this.at = Math.min(this.at + passed * this.speed, known, this.bounds.end);
      if (this.at >= this.bounds.end) this.playing = false;
      this.give();
      if (this.fetched - this.at < AHEAD_MS * this.speed) this.fetch();
      if (this.openmct.time.isRealTime()) this.clock.tick();
    }
    this.link.judge(this.link.heardCondition);
    if (performance.now() - this.posted > POST_MS) this.post();
  }

  /** Hand out the pieces up to the present moment. */
  give() {
    let newest = null;
    while (this.pieces.length > 0 && this.pieces[0].utc <= this.at) {
      const piece = this.pieces.shift();
      if (piece.frame) newest = piece.frame;
      else if (piece.notice) this.link.notify('notice', piece.notice);
      else this.link.hand(piece.id, [[piece.utc, piece.value]]);
    }
    if (newest) this.show(newest);
  }

  async fetch() {
    if (this.fetching || this.fetched >= this.bounds.end) return;
    this.fetching = true;
    const [turn, start] = [this.turn, this.fetched];
    const end = Math.min(start + CHUNK_MS * this.speed, this.bounds.end);
    try {
      const pieces = await this.chunk(start, end);
      if (turn !== this.turn) return;
      this.pieces.push(...pieces);
      this.fetched = end;
    } catch (error) {
      console.warn('limberjack: a part of the replay cannot be fetched:', error.message);
      if (turn === this.turn) this.playing = false;
    } finally {
      if (turn === this.turn) this.fetching = false;
    }
  }

  /** Curves, frames and notices between two moments, in order of time; curves keep peaks between two frames. */
  async chunk(start, end) {
    const count = CHUNK_MS / TICK_MS;
    const at = Array.from({ length: count }, (_, k) => start + ((k + 1) * (end - start)) / count);
    const ids = [...this.link.subscribers.keys()];
    const parts = [];
    for (let first = 0; first < ids.length; first += IDS_MOST) parts.push(ids.slice(first, first + IDS_MOST));
    const asked = parts.map((part) => get('/api/history', { ids: part, start, end, points: POINTS }));
    const [{ frames, ...bounds }, { notices }, ...curves] = await Promise.all([
      get('/api/frames', { at }), get('/api/events', { start, end, most: 500 }), ...asked
    ]);
    this.bounds = bounds;
    const pieces = curves.flatMap(({ values }) =>
      Object.entries(values).flatMap(([id, points]) => points.map(([utc, value]) => ({ utc, id, value })))
    );
    notices.forEach((notice) => pieces.push({ utc: notice.utc, notice }));
    frames.filter(({ utc }) => utc >= start).forEach((frame) => pieces.push({ utc: frame.utc, frame }));
    return pieces.sort((a, b) => a.utc - b.utc);
  }

  /** Update all displays except plots: values, alarms, 3-D view. */
  show(frame) {
    this.frame = frame;
    for (const id of this.link.subscribers.keys()) this.present(id);
    const more = { waits: false, acknowledged: null, shelved: null };
    this.link.notify('alarms', { alarms: frame.alarms.map((each) => ({ ...each, worst: each.severity, ...more })) });
    this.post();
  }

  /** Send the value of a quantity at this moment to its new subscribers. */
  present(id) {
    if (this.frame && id in this.frame.values) this.link.hand(id, [[this.frame.utc, this.frame.values[id]]]);
  }

  post() {
    this.posted = performance.now();
    const { utc, time, view } = this.frame ?? {};
    post({ kind: 'replay', condition: this.condition, poses: view ? { kind: 'poses', utc, time, ...view } : null });
  }
}

/** Send a message to the 3-D views on the page. */
function post(message) {
  for (let k = 0; k < window.frames.length; k += 1) window.frames[k].postMessage(message, location.origin);
}

const moment = (utc) => new Date(utc).toISOString().slice(11, 21);

/** Follow the time conductor, and add the bar with play, pause, speed and position. */
export function installReplay(openmct, link) {
  const player = new Player(openmct, link);
  const { time } = openmct;
  time.addClock(player.clock);
  const recorded = () => link.hello.condition.state === 'replay';
  let settled = false; // false while the page, not the operator, sets the conductor
  const follow = () => {
    if (!settled) return;
    const chosen = time.isRealTime() && time.getClock()?.key === KEY;
    if (time.isRealTime() && !chosen) {
      if (player.active) player.leave();
    } else if (chosen && !player.active) {
      player.seek(player.at);
    } else if (!time.isRealTime()) {
      player.playing = false;
      player.seek(time.getBounds().end, false);
    }
  };
  time.on('modeChanged', follow);
  time.on('clockChanged', follow);
  time.on('boundsChanged', (_, ticked) => !ticked && !time.isRealTime() && follow());
  const enter = (at) => {
    const offsets = time.getClockOffsets() ?? { start: -SPAN_MS, end: 0 };
    [player.at, link.replaying] = [at, player];
    settled = false;
    time.setClock(KEY);
    time.setMode('realtime', offsets);
    settled = true;
    player.seek(at);
  };
  const toLive = () => {
    player.leave(); // first: plots that reload then request live data
    time.setClock('limberjack.clock');
    time.setMode('realtime', { start: -SPAN_MS, end: 0 });
  };
  makeBar(player, enter, toLive, recorded);
  openmct.on('start', async () => {
    settled = true;
    if (recorded()) {
      await player.seek(player.at, false);
      enter(player.bounds.start);
      player.playing = true;
    } else {
      follow();
    }
  });
  return player;
}

/** Add the bar, which is above the conductor while the page shows another time. */
function makeBar(player, enter, toLive, recorded) {
  const play = make('button', { type: 'button', className: 'c-button', ariaLabel: 'Play' });
  const speed = make('select', { ariaLabel: 'Speed' }, ...SPEEDS.map((each) => new Option(`× ${each}`, each, each === 1, each === 1)));
  const place = make('input', { type: 'range', min: 0, max: 1, step: 'any', ariaLabel: 'Place' });
  const said = make('output', { className: 'lj-moment' });
  const back = make('button', { type: 'button', className: 'c-button', textContent: 'Back to live' });
  const bar = make('div', { className: 'lj-replay', role: 'toolbar', ariaLabel: 'Replay' }, play, speed, place, said, back);
  play.onclick = () => {
    const inClock = player.openmct.time.isRealTime();
    const from = player.at >= player.bounds.end ? player.bounds.start : player.at;
    player.playing = !player.playing;
    if (player.playing && (!inClock || from !== player.at)) enter(from);
  };
  speed.onchange = () => {
    player.speed = Number(speed.value);
    [player.pieces, player.fetched] = [player.pieces.filter(({ utc }) => utc <= player.at), player.at];
  };
  place.onchange = () => enter(player.bounds.start + place.valueAsNumber * (player.bounds.end - player.bounds.start));
  back.onclick = toLive;
  setInterval(() => {
    if (!bar.isConnected) document.querySelector('.l-shell__head')?.after(bar);
    bar.hidden = !player.active;
    if (bar.hidden) return;
    back.hidden = recorded();
    play.textContent = player.playing ? 'Pause' : 'Play';
    play.ariaLabel = play.textContent;
    const length = player.bounds.end - player.bounds.start;
    if (document.activeElement !== place || player.playing) place.value = length > 0 ? (player.at - player.bounds.start) / length : 0;
    const t = player.frame ? `  t = ${player.frame.time.toFixed(2)} s` : '';
    said.textContent = `${new Date(player.at).toISOString().slice(0, 21).replace('T', ' ')}${t}`;
  }, TICK_MS);
}
