// What an operator does about alarms: acknowledge them, shelve them for a time with a reason, unshelve them.

import { post } from './link.js';
import { make } from './view.js';

const MINUTE_S = 60;
const TIMES = [
  ['10 minutes', 10 * MINUTE_S],
  ['30 minutes', 30 * MINUTE_S],
  ['2 hours', 120 * MINUTE_S],
  ['8 hours', 480 * MINUTE_S]
];
const REASON_MOST = 200; // characters

/** Orders about alarms for one list. message: the element that shows the error of the newest order */
export class AlarmDesk {
  constructor(openmct, link) {
    this.openmct = openmct;
    this.link = link;
    this.message = make('p', { className: 'lj-said', role: 'status' });
  }

  acknowledge(target) {
    return this.send({ action: 'acknowledge', target });
  }

  async send(order) {
    try {
      await post('/api/order', order);
      this.say('quiet', '');
    } catch (error) {
      this.say('critical', error.message);
    }
  }

  say(kind, text) {
    this.message.className = `lj-said lj-${kind}`;
    this.message.textContent = text;
  }

  /** A button that is enabled only for an operator, and only while the page shows current values. */
  button(label, onclick, name) {
    const { condition, hello } = this.link;
    const disabled = !(condition.current && hello?.role === 'operator');
    return make('button', { className: 'c-button', textContent: label, onclick, disabled, ariaLabel: name });
  }

  buttons({ id, waits, shelved }) {
    if (shelved) {
      return [this.button('Unshelve', () => this.send({ action: 'unshelve', target: id }), `unshelve ${id}`)];
    }
    const acknowledge = this.button('Acknowledge', () => this.acknowledge(id), `acknowledge ${id}`);
    const shelve = this.button('Shelve', () => this.askShelve(id), `shelve ${id}`);
    return waits ? [acknowledge, shelve] : [shelve];
  }

  /** Ask for how long to shelve an alarm, and why. */
  askShelve(id) {
    const time = make('select', { ariaLabel: 'for how long' });
    time.append(...TIMES.map(([textContent, value]) => make('option', { textContent, value: String(value) })));
    const reason = make('input', { type: 'text', ariaLabel: 'reason', maxLength: REASON_MOST, placeholder: 'reason' });
    const set = make('button', { className: 'c-button c-button--major', textContent: 'Shelve', disabled: true });
    const cancel = make('button', { className: 'c-button', textContent: 'Cancel' });
    reason.oninput = () => {
      set.disabled = reason.value.trim() === '';
    };
    const element = make(
      'div',
      { className: 'lj-dialog' },
      make('h2', { textContent: `Shelve the alarm of ${id}?` }),
      make('p', { textContent: 'Meanwhile it is inactive for everybody and makes no sound. Everybody sees who shelved it and why.' }),
      make('p', { className: 'lj-line' }, time, reason),
      make('p', { className: 'lj-line lj-choices' }, set, cancel)
    );
    const overlay = this.openmct.overlays.overlay({ element, size: 'fit', dismissable: true });
    cancel.onclick = () => overlay.dismiss();
    set.onclick = () => {
      overlay.dismiss();
      this.send({ action: 'shelve', target: id, value: Number(time.value), reason: reason.value.trim() });
    };
    reason.onkeydown = (event) => event.key === 'Enter' && !set.disabled && set.click();
    reason.focus();
  }
}
