"""Lengths of the vectors of a model, for callers that allocate them from the counts at the head of ints (FMU)."""

from __future__ import annotations

from limberjack.engine.compile.compiled import INTS
from limberjack.engine.compile.kernel import entry
from limberjack.engine.kernels.slopes.state import has_slopes, state_slopes_sizes
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.plant import vector_sizes


@entry(INTS, INTS)
def sizes_entry(ints, out):
    """out (10,) int64: lengths of ints, floats, work, state, observed, surveyed, switches and commands, and of slopes
    and out of `slopes.state.state_slopes_entry`, 0 for models that it does not take."""
    out[0], out[1], out[2], out[3] = vector_sizes(ints)
    nv = ints[t.C_V]
    out[4] = 2 * nv + ints[t.C_OUTPUTS]
    out[5] = t.SURVEY_HEAD + t.SURVEY_NODE * ints[t.C_NODES]
    out[6] = 2 * nv + 2 * ints[t.C_ACTUATORS]
    out[7] = ints[t.C_COMMANDS]
    out[8] = out[9] = 0
    if has_slopes(ints):
        out[8], out[9] = state_slopes_sizes(ints)
