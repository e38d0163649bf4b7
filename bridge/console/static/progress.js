// The run of a test bench: its progress, criteria, faults and timeline; buttons to pause, step one frame and abort.

import { post } from './link.js';
import { formatNumber } from './telemetry.js';
import { addView, make, present } from './view.js';

const ORDER = ['failing', 'undecided', 'passing'];

export function installProgress(openmct, link) {
  let newest = link.hello?.progress ?? null;
  const shown = new Set();
  const update = ({ progress }) => {
    newest = progress ?? null;
    shown.forEach((show) => show(newest));
  };
  link.on('hello', update);
  link.on('progress', update);
  const build = (element) => {
    const desk = new Desk(link);
    const facts = make('div', { className: 'lj-run-facts' });
    element.append(make('div', { className: 'lj-run' }, facts, desk.element));
    const show = (progress) => {
      facts.replaceChildren(...picture(progress));
      desk.follow(progress);
    };
    shown.add(show);
    show(newest);
    const end = link.on('condition', () => desk.follow(newest));
    return () => {
      shown.delete(show);
      end();
    };
  };
  addView(openmct, 'limberjack.progress', 'Test run', 'icon-timer', present(openmct, link, build));
}

/** The buttons with which an operator controls the run. */
class Desk {
  constructor(link) {
    this.link = link;
    this.state = '';
    this.said = make('p', { className: 'lj-message', role: 'status' });
    this.pause = this.button('Pause', () => this.send({ action: this.state === 'paused' ? 'resume' : 'pause' }));
    this.step = this.button('One frame', () => this.send({ action: 'single_step' }));
    this.abort = this.button('Abort …', () => this.ask(true));
    this.reason = make('input', { type: 'text', maxLength: 200, placeholder: 'Why?', ariaLabel: 'reason of the abort' });
    this.reason.onkeydown = (event) => event.key === 'Enter' && this.sendAbort();
    this.sure = this.button('Abort the run', () => this.sendAbort());
    const back = this.button('Go on', () => this.ask(false));
    this.question = make('p', { className: 'lj-line lj-run-abort', hidden: true }, this.reason, this.sure, back);
    this.line = make('p', { className: 'lj-line' }, this.pause, this.step, this.abort);
    this.element = make('div', { className: 'lj-run-desk' }, this.line, this.question, this.said);
  }

  button(label, onclick) {
    return make('button', { className: 'c-button', textContent: label, onclick });
  }

  ask(on) {
    this.question.hidden = !on;
    this.line.hidden = on;
    if (!on) return;
    this.say('quiet', '');
    this.reason.focus();
  }

  follow(progress) {
    this.state = progress?.state ?? '';
    const may = this.link.condition.current && this.link.hello?.role === 'operator';
    const runs = this.state === 'running' || this.state === 'paused';
    this.pause.textContent = this.state === 'paused' ? 'Go on' : 'Pause';
    [this.pause, this.step, this.abort, this.sure].forEach((button) => {
      button.disabled = !(may && runs);
    });
    if (!runs) this.ask(false);
  }

  sendAbort() {
    const reason = this.reason.value.trim();
    this.reason.classList.toggle('lj-wrong', reason === '');
    if (reason === '') return this.say('warning', 'Say why: the report will contain the reason.');
    this.ask(false);
    return this.send({ action: 'abort', reason });
  }

  async send(order) {
    this.say('quiet', 'Sent; waiting for the bench …');
    try {
      this.say('done', (await post('/api/order', order)).text);
    } catch (error) {
      this.say('critical', error.message);
    }
  }

  say(kind, text) {
    this.said.className = `lj-message lj-${kind}`;
    this.said.textContent = text;
  }
}

function picture(progress) {
  if (progress === null) {
    const text = 'No progress of the run has arrived yet: the bench reports it twice a second, unless it was started with --no-progress.';
    return [make('p', { className: 'lj-quiet', textContent: text })];
  }
  const { scenario, state, time, duration, to_go: left } = progress;
  const badge = make('span', { className: `lj-run-state lj-run-${state}`, textContent: state });
  const going = state === 'running' && left !== null ? `, ${lasting(left)} to go` : '';
  const text = `${time.toFixed(state === 'paused' ? 3 : 1)} of ${formatNumber(duration)} s${going}`;
  const bar = make('progress', { max: duration, value: Math.min(time, duration), ariaLabel: 'simulated time' });
  const head = make('p', { className: 'lj-run-head' }, make('b', { textContent: scenario }), badge, make('span', { textContent: text }));
  return [head, bar, facts(progress), criteria(progress.criteria)];
}

function facts({ why, state, frames, overruns, late_max: late, faults, tripped, next, lost }) {
  const rows = [];
  if (why) rows.push([state, why]);
  if (overruns !== null) {
    const share = formatNumber((100 * overruns) / Math.max(frames, 1));
    rows.push(['overruns', `${overruns} of ${frames} frames (${share} %)${overruns ? `, by up to ${formatNumber(1e3 * late)} ms` : ''}`]);
  }
  rows.push(['faults', faults.map(({ name, since, by }) => `${name} since ${formatNumber(since)} s (${by})`).join(', ') || 'none']);
  if (tripped.length) rows.push(['tripped', tripped.map(({ name, since }) => `${name} at ${formatNumber(since)} s`).join(', ')]);
  rows.push(['next', next === null ? 'nothing more' : `${formatNumber(next.time)} s: ${next.text}`]);
  if (lost) rows.push(['events', `${lost} did not arrive; the log of the run has them`]);
  const cells = rows.flatMap(([name, text]) => [make('dt', { textContent: name }), make('dd', { textContent: text })]);
  return make('dl', {}, ...cells);
}

function criteria(all) {
  const counts = [...ORDER].reverse().map((state) => {
    const count = all.filter((each) => each.state === state).length;
    return make('span', { className: `lj-run-count lj-run-${state}`, textContent: `${count} ${state}` });
  });
  const ordered = [...all].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const rows = ordered.map(({ name, state, text }) =>
    make(
      'li',
      { className: `lj-run-${state}` },
      make('span', { className: 'lj-run-word', textContent: state }),
      make('span', {}, make('b', { textContent: name }), make('span', { className: 'lj-quiet', textContent: ` ${text}` }))
    )
  );
  return make('div', {}, make('p', { className: 'lj-run-counts' }, ...counts), make('ul', {}, ...rows));
}

function lasting(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const two = (value) => String(value).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}
