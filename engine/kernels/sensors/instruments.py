"""Samples during steps: the inputs of instruments are computed only when one of them takes a sample."""

from __future__ import annotations

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.compile.compiled import FLOATS, REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.forces.applied_forces import drives_now
from limberjack.engine.kernels.sensors.outputs import look, observe
from limberjack.engine.kernels.sensors.sampling import needed, sample, show_arrived
from limberjack.engine.tables.instruments import FORCES
from limberjack.engine.tables.plant import C_Q, C_V, S_Q, device_states, plant_view, vectors, work_view


@routine(FLOATS, WHOLE, WHOLE, REAL)
def take_samples_routine(ints, floats, vector, state, level, number, dt):
    plant, work, readings = plant_view(ints, floats), work_view(ints, vector), device_states(ints, state)[0]
    nq, nv = ints[C_Q], ints[C_V]
    q, v = vector_view(state, S_Q, nq), vector_view(state, S_Q + nq, nv)
    command = vector_view(state, S_Q + nq + nv, plant.commands)
    drives_now(ints, plant, work, state, q, v, command)
    if level == FORCES:
        observe(plant, work, q, v, command, work.instruments.ideal)
    else:
        look(plant, work, q, v, work.instruments.ideal)
    sample(plant, work, readings, number, dt)


@kernel
def take_samples(ints, plant, work, state, readings, number, dt):
    """Take the samples at the end of step `number`, counted from 1; 0: those of the initial state, if not yet taken."""
    if plant.instruments.instrument.shape[0] > 0:
        level = needed(plant, readings, number, dt)
        if level > 0:
            _, floats, vector = vectors(plant, work)
            take_samples_routine(ints, floats, vector, state, level, number, dt)
        show_arrived(plant, readings, number, dt)
