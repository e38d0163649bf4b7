// The 3-D view: draws the console's stream of poses.

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { between } from './kinematics.js';
import { World } from './world.js';

const LONGEST_MS = 500; // longest motion from one state to the next, if states arrive rarely
const LOST_MS = 2000; // after so long without a drawing context the view reloads
const FRAME_MS = 25;
const RETRY_MS = [500, 5000];
const KINDS = { live: 'live', paused: 'idle', overrunning: 'slow', replay: 'idle' }; // classes of the label; others: off
const element = (id) => document.getElementById(id);

class View {
  world = null;
  text = ''; // the scene as received
  frames = []; // the two newest, with the time of their arrival
  follow = { body: null, turn: false };
  condition = { state: 'lost', text: 'connecting …', current: false }; // of the engine, as the gateway reports it
  heard = this.condition; // the engine's condition, also while a replay is shown
  replay = null; // condition of the replay, while the console around this view shows one
  finite = true; // whether the newest state is finite
  begun = false; // whether a state is on the screen
  lost = false; // whether the browser took the drawing context away
  drawn = null; // the frame on the screen; null: redraw
  last = 0; // when that frame was drawn

  constructor() {
    this.renderer = new THREE.WebGLRenderer({ canvas: element('canvas'), antialias: true });
    this.renderer.setPixelRatio(window.devicePixelRatio);
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color('#11161d');
    this.camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener('change', () => { this.drawn = null; });
    const sun = new THREE.DirectionalLight('#ffffff', 2.4);
    sun.position.set(2, -3, 5);
    this.scene.add(new THREE.HemisphereLight('#dce8ff', '#3a3a42', 1.5), sun);
    this.renderer.domElement.addEventListener('webglcontextlost', () => this.#keep(false));
    this.renderer.domElement.addEventListener('webglcontextrestored', () => this.#keep(true));
    window.addEventListener('resize', () => this.resize());
    this.resize();
    this.renderer.setAnimationLoop(() => this.draw());
  }

  resize() {
    if (window.innerWidth * window.innerHeight === 0) return; // a panel that is not shown
    this.renderer.setSize(window.innerWidth, window.innerHeight, false);
    this.camera.aspect = window.innerWidth / window.innerHeight;
    this.camera.updateProjectionMatrix();
    [this.drawn, this.last] = [null, 0];
    this.draw(); // at once: a new size empties the canvas
  }

  /** Show a model, given as the text of its scene. If the view already shows it, nothing changes. */
  show(text) {
    this.frames = [];
    if (text === this.text) return;
    this.text = text;
    const content = JSON.parse(text);
    if (this.world) {
      this.scene.remove(this.world.root);
      this.world.dispose();
    }
    this.world = new World(content, warn);
    this.world.root.visible = false; // until its first state: the camera stands within it
    this.scene.add(this.world.root);
    this.placed = false;
    element('model').textContent = content.model;
    element('warnings').replaceChildren();
    content.warnings.forEach(warn);
    element('deformed').hidden = this.world.skins.length === 0;
    this.#choices(content);
    this.world.ready.then(() => { this.placed = false; }); // meshes have no size before they are loaded
  }

  #choices(content) {
    const bodies = content.bodies.map((body, i) => [body.name, i]).filter(([, i]) => !content.bodies[i].inner);
    const options = [['nothing', ''], ...bodies].map(([name, i]) => new Option(name, i));
    element('follow').replaceChildren(...options);
    this.follow.body = content.ground ? null : 0;
    element('follow').value = this.follow.body ?? '';
  }

  take(message) {
    if (!this.world) return; // the scene is on its way
    element('time').textContent = `t = ${message.time.toFixed(2)} s`;
    this.finite = message.poses.length > 0;
    this.label();
    if (!this.finite) return;
    const state = JSON.stringify([message.poses, message.modes, message.jets, message.pushes]);
    if (state === this.frames.at(-1)?.state) return; // nothing moves, nothing to draw
    const poses = this.world.content.bodies.map((_, i) => message.poses.slice(7 * i, 7 * i + 7));
    this.frames = [...this.frames.slice(-1), { ...message, poses, state, at: performance.now() }];
  }

  /** Take the engine's new condition; it may be unknown. */
  judge(condition) {
    this.heard = condition;
    if (this.replay === null) this.condition = condition;
    this.label();
  }

  /** The console around this view has begun or ended a replay. */
  rewind({ over, condition, poses }) {
    this.replay = over ? null : condition;
    this.condition = this.replay ?? this.heard;
    if (over) this.frames = [];
    if (poses) this.take(poses);
    this.label();
  }

  /** Update the label that says how current the picture is. */
  label() {
    const { state, text, current } = this.condition;
    const old = !current && state !== 'replay';
    element('canvas').classList.toggle('old', old);
    if (old) setLink('off', text);
    else if (this.lost) setLink('off', 'the browser cannot draw now');
    else if (!this.finite) setLink('off', 'the state is not finite');
    else if (!this.begun) setLink('idle', 'drawing …');
    else setLink(KINDS[state] ?? 'off', text);
  }

  /** The browser restored the drawing context, or took it away. */
  #keep(kept) {
    this.lost = !kept;
    // a page has 16 contexts; plots of a large display take the oldest one, and the browser never gives it back
    if (this.lost) setTimeout(() => this.lost && location.reload(), LOST_MS);
    this.drawn = null;
    this.label();
  }

  /** The state to draw now. It is one message behind, so that motion between two messages is smooth. */
  frame() {
    const [before, after] = this.frames;
    if (!after) return before;
    const wait = Math.min(LONGEST_MS, Math.max(1, after.at - before.at));
    const share = Math.min(1, (performance.now() - after.at) / wait);
    if (after.time < before.time || share === 1) return after; // the engine went back in time: do not interpolate
    const poses = after.poses.map((pose, i) => between(before.poses[i], pose, share));
    const modes = after.modes.map((value, i) => before.modes[i] + share * (value - before.modes[i]));
    return { ...after, poses, modes };
  }

  /** Draw if anything has changed; otherwise use no processor time. */
  draw() {
    const now = performance.now();
    if (now - this.last < FRAME_MS || window.innerWidth * window.innerHeight === 0) return;
    const frame = this.frame();
    const moved = this.controls.update();
    if (this.drawn !== null && frame === this.drawn && this.placed && !moved) return;
    if (frame) {
      this.world.update(frame, this.factor(), this.follow);
      if (!this.placed) this.home();
      this.world.root.visible = true;
    }
    this.renderer.render(this.scene, this.camera);
    [this.drawn, this.last] = [frame ?? null, now];
    if (frame && !this.begun) {
      this.begun = true;
      this.label();
    }
  }

  factor() {
    return 10 ** Number(element('exaggeration').value);
  }

  /** Look at the whole model. */
  home() {
    const box = this.world.box();
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(sphere.radius, 1e-3);
    const distance = (0.85 * radius) / Math.sin((Math.PI / 360) * this.camera.fov) / Math.min(1, this.camera.aspect);
    this.controls.target.copy(sphere.center);
    this.camera.position.set(0.55, -0.7, 0.42).normalize().multiplyScalar(distance).add(sphere.center);
    this.camera.near = 0.002 * radius;
    this.camera.far = 200 * radius;
    this.camera.updateProjectionMatrix();
    this.world.size = radius;
    this.#grid(radius, box.min.z);
    this.world.showFrames(element('frames').checked);
    this.placed = true;
  }

  /** Look at what the view follows now, from the same direction and distance. */
  centre() {
    if (this.follow.body === null) {
      this.placed = false;
      return;
    }
    this.camera.position.sub(this.controls.target);
    this.controls.target.set(0, 0, 0);
    this.#grid();
    this.drawn = null;
  }

  /** Follow the body under the pointer. */
  pick({ clientX, clientY }) {
    const ray = new THREE.Raycaster();
    const [x, y] = [(2 * clientX) / window.innerWidth - 1, 1 - (2 * clientY) / window.innerHeight];
    ray.setFromCamera(new THREE.Vector2(x, y), this.camera);
    const [nearest] = ray.intersectObjects(this.world?.solids ?? []);
    const body = nearest ? this.world.bodyOf(nearest.object) : null;
    if (body === null) return;
    this.follow.body = body;
    element('follow').value = body;
    this.centre();
  }

  #grid(radius, low) {
    this.scene.remove(this.grid ?? new THREE.Object3D());
    if (!this.world.content.ground || this.follow.body !== null) return;
    const cell = 10 ** Math.round(Math.log10(radius) - 0.7);
    this.grid = new THREE.GridHelper(40 * cell, 40, '#46525f', '#242c36');
    this.grid.rotation.x = Math.PI / 2;
    this.grid.position.z = Math.min(0, low) - 0.002 * radius;
    this.scene.add(this.grid);
  }
}

function setLink(kind, text) {
  element('link').className = kind;
  element('link').textContent = text;
}

function warn(text) {
  element('warnings').append(Object.assign(document.createElement('li'), { textContent: text }));
}

/** Fetch the scene and show it. Returns whether that succeeded. */
async function load(view) {
  try {
    const reply = await fetch('/api/scene');
    const text = await reply.text();
    if (!reply.ok) throw new Error(text);
    view.show(text);
    return true;
  } catch (error) {
    setLink('off', `no scene: ${error.message}`);
    return false;
  }
}

/** Stay connected; after a loss reconnect, at growing intervals. */
function connect(view, wait = RETRY_MS[0]) {
  const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/live`);
  let known = false;
  socket.onmessage = async ({ data }) => {
    const message = JSON.parse(data);
    if (message.kind === 'hello') {
      known = await load(view);
      if (!known) return socket.close();
      view.judge(message.condition);
      socket.send(JSON.stringify({ kind: 'stream', name: 'poses', on: true }));
    } else if (message.kind === 'condition' && known) {
      view.judge(message);
    } else if (message.kind === 'poses' && known && view.replay === null) {
      view.take(message);
    } else if (message.kind === 'problem') {
      warn(message.text);
    }
  };
  socket.onclose = () => {
    if (known) view.judge({ state: 'lost', text: 'connection lost, reconnecting …', current: false });
    setTimeout(() => connect(view, known ? RETRY_MS[0] : Math.min(2 * wait, RETRY_MS[1])), known ? RETRY_MS[0] : wait);
  };
}

function wire(view) {
  const redraw = () => { view.drawn = null; };
  element('panel').open = window.innerWidth > 800;
  element('follow').onchange = ({ target }) => {
    view.follow.body = target.value === '' ? null : Number(target.value);
    view.centre();
  };
  element('canvas').ondblclick = (event) => view.pick(event);
  element('turn').onchange = ({ target }) => {
    view.follow.turn = target.checked;
    redraw();
  };
  element('exaggeration').oninput = () => {
    const factor = view.factor();
    element('factor').textContent = factor < 10 ? factor.toFixed(1) : factor.toFixed(0);
    redraw();
  };
  element('frames').onchange = ({ target }) => {
    view.world?.showFrames(target.checked);
    redraw();
  };
  window.addEventListener('message', ({ origin, source, data }) => {
    if (origin === location.origin && source === window.parent && data?.kind === 'replay') view.rewind(data);
  });
  element('home').onclick = () => { view.placed = false; };
}

try {
  const view = new View();
  window.view = view; // for the browser's own console
  wire(view);
  connect(view);
} catch (error) {
  setLink('off', `this browser cannot draw in 3-D (${error.message})`);
}
