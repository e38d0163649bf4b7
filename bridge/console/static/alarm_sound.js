// A tone for new alarms, when an operator has switched it on.

const AGAIN_MS = 5000; // repeats while a critical alarm is not acknowledged
const TONE_S = 0.25;
const HERTZ = [0, 660, 990]; // of a warning and of a critical alarm

/** on: whether it is switched on; played: number of tones so far, for tests */
export class Siren {
  constructor() {
    this.on = false;
    this.played = 0;
    this.heard = new Set();
    this.worst = 0; // severity of the worst alarm that waits for acknowledgement
    this.context = null;
    setInterval(() => this.on && this.worst === 2 && this.play(2), AGAIN_MS);
  }

  /** Switch on or off. A browser lets a page play sound only after the user has pressed something on it. */
  switch() {
    this.on = !this.on;
    if (this.on) this.context ??= new AudioContext();
    if (this.on && this.worst > 0) this.play(this.worst);
  }

  /** Take the list of alarms and sound for new ones. Alarms of a time that has passed make no sound. */
  follow(entries, current) {
    const waiting = current ? entries.filter(({ waits, severity }) => waits && severity > 0) : [];
    const keys = new Set(waiting.map(({ id, severity, utc }) => `${id} ${severity} ${utc}`));
    const fresh = [...keys].some((key) => !this.heard.has(key));
    this.heard = keys;
    this.worst = Math.max(0, ...waiting.map(({ severity }) => severity));
    if (this.on && fresh) this.play(this.worst);
  }

  play(severity) {
    this.played += 1;
    const tone = this.context.createOscillator();
    const volume = this.context.createGain();
    volume.gain.value = 0.2;
    tone.frequency.value = HERTZ[severity];
    tone.connect(volume).connect(this.context.destination);
    tone.start();
    tone.stop(this.context.currentTime + TONE_S);
  }
}
