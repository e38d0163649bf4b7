// Attitude of a body: a box and its axes in the frame that its quaternion refers to, with angles.

import { addView, make, present } from './view.js';

const SVG = 'http://www.w3.org/2000/svg';
const AXES = ['x', 'y', 'z'];
const BOX = [0.55, 0.4, 0.28]; // half sides; all differ, so that the axes can be distinguished
const EYE = { turn: Math.PI / 5, tilt: Math.PI / 7 };
const PERIOD_MS = 100;

export function installAttitude(openmct, link) {
  const build = (element, object) => {
    const newest = {};
    const ends = object.quaternion.map((id) =>
      link.subscribe(id, (data) => {
        newest[id] = data[data.length - 1].value;
      })
    );
    const drawing = svg('svg', { viewBox: '-1.15 -1.22 2.3 2.2', class: 'lj-attitude-picture' });
    const table = make('table', { className: 'lj-attitude-numbers' });
    element.append(make('div', { className: 'lj-attitude' }, drawing, table));
    const timer = setInterval(() => show(drawing, table, object.quaternion.map((id) => newest[id])), PERIOD_MS);
    return () => {
      clearInterval(timer);
      ends.forEach((end) => end());
    };
  };
  addView(openmct, 'limberjack.attitude', 'Attitude', 'icon-gauge', present(openmct, link, build));
}

function show(drawing, table, quaternion) {
  if (!quaternion.every(Number.isFinite)) return;
  const length = Math.hypot(...quaternion);
  const unit = quaternion.map((part) => part / length);
  const R = rotation(unit);
  drawing.replaceChildren(...triad(identity, 1.1, 'lj-frame'), ...box(R), ...triad(R, 0.95, 'lj-body'));
  table.replaceChildren(...numbers(unit, R));
}

const identity = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1]
];

/** Body to frame, from a unit quaternion w x y z. */
function rotation([w, x, y, z]) {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
  ];
}

const turn = (R, p) => R.map((row) => row[0] * p[0] + row[1] * p[1] + row[2] * p[2]);

/** Project a point of the frame onto the picture: seen from above and the side, z up. */
function project([x, y, z]) {
  const across = y * Math.cos(EYE.turn) - x * Math.sin(EYE.turn);
  const away = -x * Math.cos(EYE.turn) - y * Math.sin(EYE.turn);
  return [across, -(z * Math.cos(EYE.tilt) + away * Math.sin(EYE.tilt))];
}

function line(a, b, name) {
  const [[x1, y1], [x2, y2]] = [project(a), project(b)];
  return svg('line', { x1, y1, x2, y2, class: name });
}

function triad(R, length, name) {
  return AXES.flatMap((axis, place) => {
    const tip = turn(R, identity[place].map((part) => part * length));
    const [x, y] = project(tip.map((part) => 1.1 * part));
    const label = svg('text', { x, y, class: `${name} lj-${axis}` });
    label.textContent = axis;
    return [line([0, 0, 0], tip, `${name} lj-${axis}`), label];
  });
}

function box(R) {
  const corner = (signs) => turn(R, signs.map((sign, place) => sign * BOX[place]));
  const edges = [];
  for (const along of [0, 1, 2]) {
    for (const [a, b] of [[-1, -1], [-1, 1], [1, -1], [1, 1]]) {
      const ends = [-1, 1].map((sign) => {
        const signs = [a, b];
        signs.splice(along, 0, sign);
        return corner(signs);
      });
      edges.push(line(...ends, 'lj-box'));
    }
  }
  return edges;
}

/** A number with a fixed number of digits, and no minus sign before zero. */
const plain = (value, digits) => (Number(value.toFixed(digits)) + 0).toFixed(digits);

function numbers(unit, R) {
  const degrees = (angle) => `${plain((180 / Math.PI) * angle, 2)}°`;
  const rows = [
    ['roll', degrees(Math.atan2(R[2][1], R[2][2]))],
    ['pitch', degrees(Math.asin(Math.max(-1, Math.min(1, -R[2][0]))))],
    ['yaw', degrees(Math.atan2(R[1][0], R[0][0]))],
    ['turned', degrees(2 * Math.atan2(Math.hypot(...unit.slice(1)), Math.abs(unit[0])))],
    ...['w', 'x', 'y', 'z'].map((part, place) => [`q${part}`, plain(unit[place], 5)])
  ];
  return rows.map(([name, value]) =>
    make('tr', {}, make('th', { textContent: name }), make('td', { textContent: value }))
  );
}

function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  return element;
}
