// The command panel: the operator previews and confirms every order; the panel shows the engine's answer as text.

import { askOrder } from './command_dialog.js';
import { get, post } from './link.js';
import { formatNumber, formatRange } from './telemetry.js';
import { addView, make, parts } from './view.js';

const FEW = 12; // so many commands need no search field
let watching = 0; // number of panels that show states of switches

/** panel : {commands: [{name, group, unit, low, high, more}], loops, locks, faults, parameters}, of /api/panel */
export function installCommands(openmct, link, panel) {
  addView(openmct, 'limberjack.commands', 'Commands', 'icon-command', (element) => {
    const desk = new Desk(openmct, link);
    if (panel.loops.length + panel.locks.length + panel.faults.length > 0) desk.watch();
    const parts = [drives(desk, panel), switches(desk, panel), faults(desk, panel), parameters(desk, panel), engine(desk)];
    const root = make('div', { className: 'lj-commands' }, desk.message, ...parts.filter(Boolean));
    element.append(root);
    desk.follow(root);
    return () => desk.close();
  });
}

/** Sends the orders of one panel, and keeps the panel up to date. */
class Desk {
  constructor(openmct, link) {
    this.openmct = openmct;
    this.link = link;
    this.ends = [];
    this.states = { loops: new Map(), faults: new Map() }; // name → the cell that shows the state
    this.message = make('p', { className: 'lj-message', role: 'status' });
  }

  /** Enable the buttons only for an operator, and only while the page shows current values. */
  follow(root) {
    let before = null;
    const allow = () => {
      const { condition, hello } = this.link;
      const now = `${condition.state} ${hello?.role}`;
      if (now === before) return; // the message stays
      before = now;
      const may = condition.current && hello?.role === 'operator';
      root.querySelectorAll('button').forEach((button) => {
        button.disabled = !may;
      });
      if (!condition.current) this.say('warning', `You cannot send commands: ${what(condition)}.`);
      else this.say('', may ? '' : 'You may watch. Commands need the token of an operator.');
    };
    this.ends.push(this.link.on('condition', allow), this.link.on('hello', allow));
    allow();
  }

  /** Show the states of loops, locks and faults, as text that the gateway sends. */
  watch() {
    watching += 1;
    const want = (on) => this.link.send({ kind: 'stream', name: 'switches', on });
    let newest = null;
    let lost = 0; // when the page last had no current state: messages from before that are old
    const show = () => {
      const known = this.link.condition.current && newest && newest.utc > lost;
      for (const [kind, cells] of Object.entries(this.states)) {
        for (const [name, cell] of cells) {
          const text = known ? newest[kind][name] ?? '–' : lost > 0 ? 'unknown' : '–';
          if (cell.textContent !== text) cell.textContent = text;
        }
      }
    };
    const take = (message) => {
      newest = message;
      show();
    };
    const judge = (condition) => {
      if (!condition.current) lost = Math.max(lost, this.link.now());
      show();
    };
    this.ends.push(this.link.on('condition', judge));
    this.ends.push(this.link.on('switches', take), this.link.on('hello', () => want(true)));
    this.ends.push(() => {
      watching -= 1;
      if (watching === 0) want(false);
    });
  }

  /** A cell for the state of an entry of "loops" (which contains the locks) or "faults". */
  state(kind, name) {
    const cell = make('td', { className: 'lj-switch', textContent: '–' });
    this.states[kind].set(name, cell);
    return cell;
  }

  close() {
    this.ends.forEach((end) => end());
  }

  say(kind, text) {
    this.message.className = `lj-message lj-${kind || 'quiet'}`;
    this.message.textContent = text;
  }

  /** Show what an order would do; once confirmed, send it and show the answer. done() follows a success. */
  order(question, order, done = () => {}) {
    askOrder(this.openmct, this.link, question, order, (before) => this.send({ ...order, before }, done));
  }

  async send(order, done) {
    const { condition } = this.link; // it may have changed since the dialog opened
    if (!condition.current) return this.say('critical', `Not sent: ${what(condition)}.`);
    this.say('quiet', 'Sent; waiting for the engine…');
    try {
      const { text } = await post('/api/order', order);
      this.say('done', text);
      done();
    } catch (error) {
      this.say('critical', error.message);
    }
  }

  button(label, onclick, title = '') {
    return make('button', { className: 'c-button', textContent: label, onclick, title });
  }

  /** A cell that shows the newest value of a quantity. */
  shown(id) {
    const cell = make('td', { className: 'lj-value', textContent: '–' });
    this.ends.push(
      this.link.subscribe(id, (data) => {
        cell.textContent = formatNumber(data[data.length - 1].value);
      })
    );
    return cell;
  }
}

/** Why commands are disabled; without the age of the newest message, because the text stays. */
function what({ state }) {
  if (state === 'replay') return 'the page shows another time';
  return state === 'lost' ? 'the console is not connected' : `the engine is ${state}`;
}

function section(title, ...content) {
  return make('section', {}, make('h3', { textContent: title }), ...content);
}

/** The number in an input field. If the text is not a number: null, and the field is marked. */
function numberOf(input) {
  const value = input.value.trim() === '' ? NaN : Number(input.value);
  input.classList.toggle('lj-wrong', !Number.isFinite(value));
  return Number.isFinite(value) ? value : null;
}

function drives(desk, { commands }) {
  if (commands.length === 0) return null;
  const inputs = new Map();
  const all = desk.button('Send all entered', () => sendEntered(desk, commands, inputs));
  const more = make('input', { type: 'checkbox' });
  const table = make('table', { className: 'lj-table' });
  const show = () => table.classList.toggle('lj-all', more.checked);
  more.onchange = show;
  let group = '';
  for (const command of commands) {
    if (command.group !== group) {
      group = command.group;
      table.append(make('tr', { className: 'lj-group' }, make('th', { colSpan: 5, textContent: group })));
    }
    table.append(driveRow(desk, command, inputs));
  }
  const label = make('label', {}, more, ' rates and feed-forward');
  const some = commands.some((command) => command.more) ? [label] : [];
  const find = commands.length > FEW ? [search(table)] : [];
  return section('Drives', ...find, table, make('p', { className: 'lj-line' }, all, ...some));
}

/** A search field: it hides rows whose names do not contain its text, and groups without a visible row. */
function search(table) {
  const field = make('input', { type: 'search', className: 'lj-search', placeholder: 'Find a command', ariaLabel: 'find a command' });
  field.oninput = () => {
    const wanted = field.value.trim().toLowerCase();
    let head = null;
    for (const row of table.rows) {
      const isHead = row.classList.contains('lj-group');
      row.hidden = isHead || !row.cells[0].textContent.toLowerCase().includes(wanted);
      if (isHead) head = row;
      else if (!row.hidden && head !== null) head.hidden = false;
    }
  };
  return field;
}

function driveRow(desk, command, inputs) {
  const { name, unit } = command;
  const input = make('input', { type: 'text', inputMode: 'decimal', ariaLabel: `command ${name}` });
  const range = formatRange(command);
  Object.assign(input, { placeholder: range, title: range && `${range} ${unit}` });
  inputs.set(name, input);
  const send = () => sendEntered(desk, [command], inputs);
  input.onkeydown = (event) => event.key === 'Enter' && send();
  const button = desk.button('Send', send);
  button.dataset.command = name;
  return make(
    'tr',
    { className: command.more ? 'lj-more' : '' },
    make('th', { title: name, 'data-range': range }, ...parts(name)),
    desk.shown(`command.${name}`),
    make('td', {}, input),
    make('td', { textContent: unit }),
    make('td', {}, button)
  );
}

function sendEntered(desk, commands, inputs) {
  const one = commands.length === 1;
  const entered = commands.filter(({ name }) => one || inputs.get(name).value.trim() !== '');
  const values = Object.fromEntries(entered.map(({ name }) => [name, numberOf(inputs.get(name))]));
  if (entered.length === 0 || Object.values(values).includes(null)) {
    desk.say('warning', 'Enter a number first.');
    return;
  }
  const words = entered.map(({ name, unit }) => `${name} = ${values[name]} ${unit}`.trim()).join(', ');
  desk.order(`Command ${words}?`, { action: 'command', values }, () =>
    entered.forEach(({ name }) => {
      inputs.get(name).value = '';
    })
  );
}

function switches(desk, { loops, locks }) {
  const rows = [
    ...loops.map((name) => switchRow(desk, name, name, [['attach', 'Attach'], ['release', 'Release']])),
    ...locks.map(({ hinge, loop }) => switchRow(desk, hinge, loop, [['lock', 'Lock'], ['unlock', 'Unlock']]))
  ];
  return rows.length === 0 ? null : section('Loops and locks', make('table', { className: 'lj-table' }, ...rows));
}

function switchRow(desk, name, loop, actions) {
  const buttons = actions.map(([action, label]) =>
    desk.button(label, () => desk.order(`${label} ${name}?`, { action, target: name }))
  );
  return make('tr', {}, make('th', { title: name }, ...parts(name)), desk.state('loops', loop), make('td', {}, ...buttons));
}

/** Faults of the scenario, if the engine is a test bench. */
function faults(desk, { faults }) {
  const rows = faults.map((target) => {
    const begin = desk.button('Begin', () => desk.order(`Begin fault ${target}?`, { action: 'fault', target }));
    const end = desk.button('End', () => desk.order(`End fault ${target}?`, { action: 'clear', target }));
    return make('tr', {}, make('th', { title: target }, ...parts(target)), desk.state('faults', target), make('td', {}, begin, end));
  });
  return rows.length === 0 ? null : section('Faults of the bench', make('table', { className: 'lj-table' }, ...rows));
}

function parameters(desk, panel) {
  const names = make('datalist', { id: 'lj-parameters' });
  names.append(...panel.parameters.map((value) => make('option', { value })));
  const name = make('input', { type: 'text', ariaLabel: 'parameter', placeholder: 'name' });
  name.setAttribute('list', 'lj-parameters');
  const value = make('input', { type: 'text', inputMode: 'decimal', ariaLabel: 'value' });
  const now = make('span', { className: 'lj-value' });
  const look = async () => {
    const known = panel.parameters.includes(name.value);
    now.textContent = known ? `now ${formatNumber((await get('/api/parameter', { name: name.value })).value)}` : '';
  };
  name.onchange = () => look().catch((error) => desk.say('critical', error.message));
  const set = desk.button('Set', () => {
    const number = numberOf(value);
    if (number === null) return desk.say('warning', 'Enter a number first.');
    const order = { action: 'parameter', target: name.value, value: number };
    return desk.order(`Set parameter ${name.value} to ${number}?`, order, look);
  });
  return section('Parameters and faults', names, make('p', { className: 'lj-line' }, name, value, set, now));
}

function engine(desk) {
  const reset = desk.button('Reset', () =>
    desk.order('Reset the simulation to its start? Everything since then is lost.', { action: 'reset' })
  );
  const text = 'Give up the command lease, so that another client can send commands.';
  const yielding = desk.button('Give up lease', () => desk.order(`${text} Continue?`, { action: 'give_up' }), text);
  return section('Engine', make('p', { className: 'lj-line' }, reset, yielding));
}
