"""One sample of an instrument: its reading from the true values.

    plain       y = wrap(round(cut((1 + s) (R x) + b + w + n)))         vectors of three are turned by R first
    resolver    sine = sin pθ + n₁,  cosine = (1 + a) cos(pθ + β) + n₂;  the converter follows their angle, over p
    attitude    Q ∘ exp(e/2)             e = b + w + n, small, in the axes of the instrument
    direction   (1 - e~) R x, of unit length

with bias b, its wandering part w, noise n, scale s, saturation, resolution.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.sine_cosine import sine_cosine
from limberjack.engine.algebra.spatial import add, cross, dot, load3, load9, rot, scale, store3
from limberjack.engine.compile.compiled import FLOATS, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.sensors.noise import normal
from limberjack.engine.tables import instruments as it
from limberjack.engine.tables.plant import plant_view, vectors, work_view

#: random numbers of a sample: noise first, then those of the wandering bias
_WALK_DRAWS = 8
#: iterations in which a converter finds the angle; convergence is cubic
_ROUNDS = 4


@kernel
def _noise(plant, i, step, j, draw):
    """Noise of the size of number j, the one of this draw, of a sample at a step."""
    sigma = plant.instruments.instrument[i, it.N_NOISE + j]
    if sigma == 0.0:
        return 0.0
    seed, channel = int(plant.instruments.surroundings[it.SEED]), plant.instruments.instrument_int[i, it.NI_CHANNEL]
    return sigma * normal(seed, channel, step, draw)


@kernel
def wander(plant, i, readings, step, lapse):
    """The wandering bias of instrument i after `lapse` s: a random walk, or one that forgets.

    x' = -x/τ + σ w by the trapezoidal rule with h = min(lapse / 2τ, 1): x ← x (1-h)/(1+h) + n σ √(2τh)/(1+h), whose
    variance settles at that of the equation, σ² τ / 2, for any lapse.
    """
    row, values = plant.instruments.instrument_int[i], plant.instruments.instrument[i]
    at = row[it.NI_STATE] + it.I_HELD + row[it.NI_OUTPUTS]
    seed, channel = int(plant.instruments.surroundings[it.SEED]), row[it.NI_CHANNEL]
    keep, gain, time = 1.0, math.sqrt(lapse), values[it.N_WALK_TIME]
    if time > 0.0:
        half = min(0.5 * lapse / time, 1.0)
        keep, gain = (1.0 - half) / (1.0 + half), math.sqrt(2.0 * time * half) / (1.0 + half)
    for j in range(row[it.NI_SIZE]):
        sigma = values[it.N_WALK + j]
        if sigma != 0.0:
            draw = normal(seed, channel, step, _WALK_DRAWS + j)
            readings[at + j] = keep * readings[at + j] + sigma * gain * draw


@kernel
def _shown(values, j, y):
    """A number after saturation, resolution and wrapping."""
    limit, grain, turn = values[it.N_LIMIT + j], values[it.N_STEP + j], values[it.N_WRAP]
    y = max(-limit, min(y, limit))
    if grain > 0.0:
        y = math.floor(y / grain + 0.5) * grain
    if turn > 0.0:
        y -= turn * math.floor(y / turn)
        if y >= turn:  # by rounding
            y = 0.0
    return y


@kernel
def _error(plant, i, readings, step, j):
    """Bias, wandering bias and noise of number j."""
    row, values = plant.instruments.instrument_int[i], plant.instruments.instrument[i]
    walk = readings[row[it.NI_STATE] + it.I_HELD + row[it.NI_OUTPUTS] + j]
    return values[it.N_BIAS + j] + walk + _noise(plant, i, step, j, j)


@kernel
def _errors(plant, i, readings, step):
    """Errors of the three small angles of an attitude or a direction."""
    first, second = _error(plant, i, readings, step, 0), _error(plant, i, readings, step, 1)
    return first, second, _error(plant, i, readings, step, 2)


@kernel
def _read_plain(plant, i, readings, step, ideal, at, out):
    values, size = plant.instruments.instrument[i], plant.instruments.instrument_int[i, it.NI_SIZE]
    if size % 3 == 0:
        R = load9(values, it.N_R)
        for block in range(0, size, 3):
            store3(out, block, rot(R, load3(ideal, at + block)))
    else:
        for j in range(size):
            out[j] = ideal[at + j]
    for j in range(size):
        out[j] = _shown(values, j, (1.0 + values[it.N_SCALE + j]) * out[j] + _error(plant, i, readings, step, j))


@kernel
def _read_resolver(plant, i, readings, step, angle, out):
    """The converter starts at the true angle and follows the windings: φ += tan of what is left."""
    row, values = plant.instruments.instrument_int[i], plant.instruments.instrument[i]
    pairs, phi = values[it.N_PAIRS], values[it.N_PAIRS] * angle
    sine = sine_cosine(phi)[0] + _noise(plant, i, step, 0, 0)
    cosine = (1.0 + values[it.N_IMBALANCE]) * sine_cosine(phi + values[it.N_QUADRATURE])[1] + _noise(
        plant, i, step, 0, 1
    )
    for _ in range(_ROUNDS):
        s, c = sine_cosine(phi)
        left, along = sine * c - cosine * s, cosine * c + sine * s
        phi += max(-0.5, min(left / max(along, 1e-3), 0.5))
    walk = readings[row[it.NI_STATE] + it.I_HELD + row[it.NI_OUTPUTS]]
    out[0] = _shown(values, 0, phi / pairs + values[it.N_BIAS] + walk)


@kernel
def _read_attitude(plant, i, readings, step, ideal, at, out):
    """(1, e/2) of unit length behind the ideal quaternion."""
    e = scale(
        0.5,
        (_error(plant, i, readings, step, 0), _error(plant, i, readings, step, 1), _error(plant, i, readings, step, 2)),
    )
    w = 1.0 / math.sqrt(1.0 + dot(e, e))
    x, y, z = scale(w, e)
    a, b, c, d = ideal[at], ideal[at + 1], ideal[at + 2], ideal[at + 3]
    out[0] = a * w - b * x - c * y - d * z
    out[1] = a * x + b * w + c * z - d * y
    out[2] = a * y - b * z + c * w + d * x
    out[3] = a * z + b * y - c * x + d * w


@kernel
def _read_direction(plant, i, readings, step, ideal, at, out):
    x = rot(load9(plant.instruments.instrument[i], it.N_R), load3(ideal, at))
    y = add(x, cross(x, _errors(plant, i, readings, step)))
    store3(out, 0, scale(1.0 / math.sqrt(dot(y, y)), y))


@routine(WHOLE, FLOATS, WHOLE, FLOATS)
def read_routine(ints, floats, vector, i, readings, step, ideal):
    plant, out = plant_view(ints, floats), work_view(ints, vector).instruments.new
    row = plant.instruments.instrument_int[i]
    kind, at, last = row[it.NI_KIND], row[it.NI_OUTPUT], row[it.NI_OUTPUTS] - 1
    if kind == it.RESOLVER:
        _read_resolver(plant, i, readings, step, ideal[at], out)
    elif kind != it.ATTITUDE and kind != it.DIRECTION:
        _read_plain(plant, i, readings, step, ideal, at, out)
    else:
        out[last] = ideal[at + last]
        if out[last] == 0.0:
            for j in range(last):
                out[j] = readings[row[it.NI_STATE] + it.I_HELD + j]
        elif kind == it.ATTITUDE:
            _read_attitude(plant, i, readings, step, ideal, at, out)
        else:
            _read_direction(plant, i, readings, step, ideal, at, out)


@kernel
def read(plant, work, i, readings, step, ideal):
    """Write a sample of instrument i to work.instruments.new; while `valid` is 0, the reading does not change."""
    ints, floats, vector = vectors(plant, work)
    read_routine(ints, floats, vector, i, readings, step, ideal)
