// The dialog before an order: what the order would change in the engine's present state, and the time limit to confirm it.

import { post } from './link.js';
import { formatNumber, formatRange } from './telemetry.js';
import { make } from './view.js';

const COLUMNS = ['', 'now', 'then', 'change', 'unit', 'range'];
// repeat a refused preview, because its cause may end: another operator's lease expires, a loop comes within reach
const ASK_AGAIN_MS = 1000;
const ASK_MOST = 30;

/** question: title of the dialog; send(before): sends the order, valid until that time of the gateway's clock */
export function askOrder(openmct, link, question, order, send) {
  const set = make('button', { className: 'c-button c-button--major', textContent: 'Send', disabled: true });
  const cancel = make('button', { className: 'c-button', textContent: 'Cancel' });
  const body = make('div', { className: 'lj-preview', role: 'status' }, make('p', { textContent: 'Asking the engine …' }));
  const limit = make('p', { className: 'lj-quiet lj-limit' });
  const choices = make('p', { className: 'lj-line lj-choices' }, set, cancel);
  const element = make('div', { className: 'lj-dialog' }, make('h2', { textContent: question }), body, limit, choices);
  let tick = null;
  let again = null;
  const end = () => {
    clearInterval(tick);
    clearTimeout(again);
  };
  const overlay = openmct.overlays.overlay({ element, size: 'fit', dismissable: true, onDestroy: end });
  cancel.onclick = () => overlay.dismiss();
  const refuse = (text) => {
    set.disabled = true;
    body.replaceChildren(make('p', { className: 'lj-critical', textContent: text }));
    limit.textContent = 'Nothing was sent.';
  };
  const show = ({ lines, note, before, answer_s: answerS }) => {
    body.replaceChildren(table(lines), make('p', { textContent: note }));
    set.disabled = false;
    set.focus();
    set.onclick = () => {
      overlay.dismiss();
      send(before);
    };
    const count = () => {
      const left = Math.ceil((before - link.now()) / 1000);
      limit.textContent = `Confirm within ${left} s; the engine answers within ${answerS} s.`;
      if (left > 0) return;
      clearInterval(tick);
      refuse('The time limit has passed: the values may have changed. Cancel, and send the order again.');
    };
    tick = setInterval(count, 500);
    count();
  };
  const ask = (left) => {
    post('/api/preview', order).then(
      (found) => element.isConnected && show(found),
      (error) => {
        refuse(`The order would be refused: ${error.message}`);
        if (left > 0 && element.isConnected) again = setTimeout(() => ask(left - 1), ASK_AGAIN_MS);
      },
    );
  };
  ask(ASK_MOST);
}

function table(lines) {
  if (lines.length === 0) return '';
  const numbers = lines.some(({ change }) => change !== null);
  const columns = numbers ? COLUMNS : COLUMNS.slice(0, 3);
  const head = make('tr', {}, ...columns.map((textContent) => make('th', { textContent })));
  const rows = lines.map((line) => make('tr', {}, make('th', { textContent: line.name }), ...cells(line, numbers)));
  return make('table', { className: 'lj-table' }, make('thead', {}, head), make('tbody', {}, ...rows));
}

function cells({ now, then, change, unit, low, high }, numbers) {
  const signed = change === null ? '' : `${change > 0 ? '+' : ''}${formatNumber(change)}`;
  const texts = [shown(now), shown(then), signed, unit, formatRange({ low, high })];
  return texts.slice(0, numbers ? texts.length : 2).map((textContent) => make('td', { className: 'lj-value', textContent }));
}

function shown(value) {
  return typeof value === 'string' ? value : value === null ? '∞' : formatNumber(value);
}
