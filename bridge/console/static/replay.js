// Replay: all that the page shows, moved together through the history by the time conductor or by its own bar.

import { get } from './link.js';
import { make } from './view.js';

const KEY = 'limberjack.replay';
const TICK_MS = 100;
const LONGEST_MS = 500; // a page that was busy goes on from where it was
const CHUNK_MS = 1000; // of the page's time, fetched at once
const AHEAD_MS = 600; // of the page's time: fetch the next
const POST_MS = 500; // a 3-D view that was opened late learns what it shows
const POINTS = 60; // of one curve in a chunk
const IDS_MOST = 60;
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 60];
const SPAN_MS = 60000;

/** A clock of Open MCT that shows the time of the replay. */
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

/** Option of the time conductor. */
export const replayOption = (presets) => ({
  name: 'Replay', timeSystem: 'utc', clock: KEY, clockOffsets: { start: -SPAN_MS, end: 0 }, presets
});

/** at: the moment shown, ms since 1970; frame: what was known then; bounds: of the history */
class Player {
  playing = false;
  speed = 1;
  frame = null;
  bounds = { start: 0, end: 0 };
  pieces = []; // fetched: curves and frames in order of time
  fetched = 0; // up to this moment
  fetching = false;
  turn = 0; // of seeking; answers to older questions are of no use

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

  /** Show this moment; plots load again, except where they chose it. */
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
      this.link.tell('moved', at);
      if (frames.length > 0) this.show(frames[0]);
    } catch (error) {
      this.openmct.notifications.error(`The history cannot be fetched: ${error.message}`);
    }
    if (reload && this.openmct.time.isRealTime()) this.openmct.time.setClockOffsets(this.openmct.time.getClockOffsets());
  }

  /** End the replay; what is live comes again. */
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
      const known = this.fetched > this.at ? this.fetched : this.at; // what is not here yet is waited for
      this.at = Math.min(this.at + passed * this.speed, known, this.bounds.end);
      if (this.at >= this.bounds.end) this.playing = false;
      this.give();
      if (this.fetched - this.at < AHEAD_MS * this.speed) this.fetch();
      if (this.openmct.time.isRealTime()) this.clock.tick();
    }
    this.link.judge(this.link.heardCondition);
    if (performance.now() - this.posted > POST_MS) this.post();
  }

  /** Hand out what has been reached. */
  give() {
    let newest = null;
    while (this.pieces.length > 0 && this.pieces[0].utc <= this.at) {
      const piece = this.pieces.shift();
      if (piece.frame) newest = piece.frame;
      else if (piece.notice) this.link.tell('notice', piece.notice);
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

  /** All displays but the plots: values, alarms, 3-D view. */
  show(frame) {
    this.frame = frame;
    for (const id of this.link.subscribers.keys()) this.present(id);
    const more = { waits: false, acknowledged: null, shelved: null };
    this.link.tell('alarms', { alarms: frame.alarms.map((each) => ({ ...each, worst: each.severity, ...more })) });
    this.post();
  }

  /** The value of a quantity at this moment, for who asks for it now. */
  present(id) {
    if (this.frame && id in this.frame.values) this.link.hand(id, [[this.frame.utc, this.frame.values[id]]]);
  }

  post() {
    this.posted = performance.now();
    const { utc, time, view } = this.frame ?? {};
    post({ kind: 'replay', condition: this.condition, poses: view ? { kind: 'poses', utc, time, ...view } : null });
  }
}

/** To the 3-D views on the page. */
function post(message) {
  for (let k = 0; k < window.frames.length; k += 1) window.frames[k].postMessage(message, location.origin);
}

const moment = (utc) => new Date(utc).toISOString().slice(11, 21);

/** Follows the time conductor, and adds the bar with play, pause, speed and place. */
export function installReplay(openmct, link) {
  const player = new Player(openmct, link);
  const { time } = openmct;
  time.addClock(player.clock);
  const recorded = () => link.hello.condition.state === 'replay';
  let settled = false; // the conductor is set up by others than the operator
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
    player.leave(); // first: plots that load again ask for what is live
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

/** Stands above the conductor while the page shows another time. */
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
