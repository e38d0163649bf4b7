"""When instruments sample, and what they show between samples.

An instrument takes a sample at the initial state, then at the end of every step that reaches or passes a multiple of
its period; it shows the newest sample that is at least as old as its delay. Before the first step the initial sample is
not stored: each reading takes a new one, from the state and the parameters at that moment.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.sensors.reading import read, wander
from limberjack.engine.tables import instruments as it

#: a multiple of the period counts as reached this part of a step early
_EARLY = 1e-6


@kernel
def is_due(values, step, dt):
    """Whether an instrument samples at the end of this step (counted from 1)."""
    rate = values[it.N_RATE]
    if rate == 0.0:
        return True
    per = rate * dt
    return math.floor(step * per + _EARLY * per) > math.floor((step - 1) * per + _EARLY * per)


@kernel
def _samples(plant, readings, i, step, dt):
    """Whether instrument i samples at the end of this step; at step 0 only its first sample is missing, if any is."""
    if step == 0:
        return readings[plant.instruments.instrument_int[i, it.NI_STATE] + it.I_TAKEN] == 0.0
    return is_due(plant.instruments.instrument[i], step, dt)


@kernel
def needed(plant, readings, step, dt):
    """The inputs that the samples of this step need: nothing (0), MOTION or FORCES."""
    level = 0
    for i in range(plant.instruments.instrument.shape[0]):
        if _samples(plant, readings, i, step, dt):
            level = max(level, plant.instruments.instrument_int[i, it.NI_LEVEL])
    return level


@kernel
def _place_in_ring(row, count):
    """First number of the place in the ring that belongs to a sample; any count leads to one."""
    width = 1 + row[it.NI_OUTPUTS]
    number = int(min(max(count, 0.0), 9e15)) % row[it.NI_RING]
    return row[it.NI_STATE] + it.I_HELD + row[it.NI_OUTPUTS] + row[it.NI_SIZE] + width * number


@kernel
def _take(plant, work, i, readings, step, dt):
    """Take a sample now; the instrument shows it at once if it has no delay or if it is the first one."""
    row, values, new = plant.instruments.instrument_int[i], plant.instruments.instrument[i], work.instruments.new
    at = row[it.NI_STATE]
    if step > 0:
        wander(plant, i, readings, step, dt if values[it.N_RATE] == 0.0 else max(dt, 1.0 / values[it.N_RATE]))
    read(plant, work, i, readings, step, work.instruments.ideal)
    if row[it.NI_RING] == 0 or readings[at + it.I_TAKEN] == 0.0:
        for j in range(row[it.NI_OUTPUTS]):
            readings[at + it.I_HELD + j] = new[j]
        readings[at + it.I_SHOWN] += 1.0
    else:
        place = _place_in_ring(row, readings[at + it.I_TAKEN])
        readings[place] = step * dt + values[it.N_DELAY]
        for j in range(row[it.NI_OUTPUTS]):
            readings[place + 1 + j] = new[j]
    readings[at + it.I_TAKEN] += 1.0


@kernel
def _show(plant, i, readings, time):
    """Show the newest sample that has arrived."""
    row = plant.instruments.instrument_int[i]
    at = row[it.NI_STATE]
    for _ in range(row[it.NI_RING]):
        if not readings[at + it.I_SHOWN] < readings[at + it.I_TAKEN]:
            return
        place = _place_in_ring(row, readings[at + it.I_SHOWN])
        if readings[place] > time:
            return
        for j in range(row[it.NI_OUTPUTS]):
            readings[at + it.I_HELD + j] = readings[place + 1 + j]
        readings[at + it.I_SHOWN] += 1.0


@kernel
def sample(plant, work, readings, step, dt):
    """All instruments at the end of a step, or at step 0 those without a sample; work.instruments.ideal is known.

    readings : the State's part of instruments
    """
    for i in range(plant.instruments.instrument.shape[0]):
        if _samples(plant, readings, i, step, dt):
            _take(plant, work, i, readings, step, dt)


@kernel
def show_arrived(plant, readings, step, dt):
    """Show the delayed samples that arrive by the end of a step."""
    for i in range(plant.instruments.instrument.shape[0]):
        if plant.instruments.instrument_int[i, it.NI_RING] > 0:
            _show(plant, i, readings, (step + _EARLY) * dt)


@kernel
def show_readings(plant, work, readings, out):
    """Outputs of instruments in out (outputs,), which holds ideal ones."""
    for i in range(plant.instruments.instrument.shape[0]):
        row = plant.instruments.instrument_int[i]
        at, count = row[it.NI_STATE], row[it.NI_OUTPUTS]
        if readings[at + it.I_TAKEN] == 0.0:
            read(plant, work, i, readings, 0, out)
            for j in range(count):
                out[row[it.NI_OUTPUT] + j] = work.instruments.new[j]
        else:
            for j in range(count):
                out[row[it.NI_OUTPUT] + j] = readings[at + it.I_HELD + j]
