// Poses of bodies as [x, y, z, qw, qx, qy, qz], and how the view exaggerates them. Plain numbers in double precision.

export function multiply(a, b) {
  const [aw, ax, ay, az] = a, [bw, bx, by, bz] = b;
  return [
    aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw,
  ];
}

export const conjugate = ([w, x, y, z]) => [w, -x, -y, -z];

export function rotate(q, v) {
  const [, x, y, z] = multiply(multiply(q, [0, ...v]), conjugate(q));
  return [x, y, z];
}

export const position = (pose) => pose.slice(0, 3);
export const turn = (pose) => pose.slice(3);

export function compose(a, b) {
  const shifted = rotate(turn(a), position(b));
  return [a[0] + shifted[0], a[1] + shifted[1], a[2] + shifted[2], ...multiply(turn(a), turn(b))];
}

export function inverse(a) {
  const back = conjugate(turn(a));
  return [...rotate(back, [-a[0], -a[1], -a[2]]), ...back];
}

/** The rotation q with its angle multiplied by the factor. */
export function powered(q, factor) {
  const sign = q[0] < 0 ? -1 : 1;
  const sine = Math.hypot(q[1], q[2], q[3]);
  if (sine < 1e-12) return [1, 0, 0, 0];
  const half = factor * Math.atan2(sine, sign * q[0]);
  return [Math.cos(half), ...q.slice(1).map((part) => (sign * part * Math.sin(half)) / sine)];
}

/** A pose between a (share 0) and b (share 1). */
export function between(a, b, share) {
  const step = powered(multiply(turn(b), conjugate(turn(a))), share);
  return [0, 1, 2].map((i) => a[i] + share * (b[i] - a[i])).concat(multiply(step, turn(a)));
}

/** Poses of all bodies when the nodes of flexible bodies move `factor` times as far from their rest positions.
    Bodies that are attached to such nodes move with them. Parents precede their children in `bodies`. */
export function exaggerated(bodies, poses, factor) {
  if (factor === 1) return poses;
  const shown = [];
  bodies.forEach((body, i) => {
    if (body.parent < 0) {
      shown.push(poses[i]);
      return;
    }
    let relative = compose(inverse(poses[body.parent]), poses[i]);
    if (body.rest) {
      const bent = powered(multiply(turn(relative), conjugate(turn(body.rest))), factor);
      const moved = [0, 1, 2].map((k) => body.rest[k] + factor * (relative[k] - body.rest[k]));
      relative = [...moved, ...multiply(bent, turn(body.rest))];
    }
    shown.push(compose(shown[body.parent], relative));
  });
  return shown;
}
