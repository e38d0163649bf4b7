"""O(N) Newton-Euler inverse dynamics and the forces between bodies (000 eq. 0.1; 002 "Newton-Euler inverse dynamics").

base to tip   V = φ* V(parent) + H* β,   α = φ* α(parent) + H* dβ/dt + a
tip to base   f = M α + b - f_external + Σ φ f(children),   T = H f + armature dβ/dt
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import load3
from limberjack.engine.compile.compiled import FLAG, FLOATS, INTS, VECTOR, VECTORS, WHOLE
from limberjack.engine.compile.kernel import entry, kernel, routine
from limberjack.engine.kernels.forces.body_forces import has_elements, put_elements, take_elements
from limberjack.engine.kernels.forces.link_forces import no_inputs
from limberjack.engine.kernels.nodes.dispatch import accelerate_body, place_body, put_force, trace_body
from limberjack.engine.kernels.nodes.tree import begin_sweep
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.plant import plant_view, vectors, work_view


@routine(FLOATS, FLOATS, FLOATS, FLAG, FLOATS)
def driven_routine(ints, floats, vector, q, v, vdot, external, tau):
    """`inverse_dynamics` with gravity of a model with elements."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    n = plant.topo.shape[0]
    begin_sweep(plant, work, q, 1.0)
    for k in range(n):
        place_body(plant, work, k, q, v)
    put_elements(plant, work, external)
    for k in range(n):
        row = work.rows[k + 1]
        aw, au = accelerate_body(plant, work, k, v, vdot, load3(row, t.W_V), load3(row, t.W_V + 3))
        put_force(plant, work, k, vdot, aw, au, True, tau)
    take_elements(work)
    for i in range(n):
        trace_body(plant, work, n - 1 - i, vdot, tau)


@kernel
def inverse_dynamics(plant, work, q, v, vdot, gravity, external, tau):
    """Generalized forces tau (nv,) for the accelerations vdot (nv,); gravity: 1.0 includes gravity and the forces of
    elements, 0.0 leaves both out.

    Leaves in work.rows the force f(k) that each hinge passes to its body, at O_k in body axes.
    """
    if gravity != 0.0 and has_elements(plant):
        ints, floats, vector = vectors(plant, work)
        driven_routine(ints, floats, vector, q, v, vdot, external, tau)
        return
    n = plant.topo.shape[0]
    begin_sweep(plant, work, q, gravity)
    for k in range(n):
        Vw, Vu = place_body(plant, work, k, q, v)
        aw, au = accelerate_body(plant, work, k, v, vdot, Vw, Vu)
        put_force(plant, work, k, vdot, aw, au, external, tau)
    for i in range(n):
        trace_body(plant, work, n - 1 - i, vdot, tau)


@entry(VECTORS, VECTOR, VECTOR, VECTOR, FLAG, VECTOR, worlds=True)
def inverse_dynamics_entry(ints, floats, work, q, v, vdot, external, tau):
    """One evaluation of `inverse_dynamics` with gravity and thrusters off, for Python callers."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    no_inputs(plant, scratch)
    inverse_dynamics(plant, scratch, q, v, vdot, 1.0, external, tau)


@entry(INTS, FLOATS, WHOLE, FLOATS)
def hinge_force_entry(ints, work, row, out):
    """out (6,): the force f(k) that `inverse_dynamics` left for one body row, at O_k in engine axes."""
    scratch = work_view(ints, work)
    for i in range(6):
        out[i] = scratch.rows[row, t.W_F + i]
