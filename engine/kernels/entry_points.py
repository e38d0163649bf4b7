"""Every compiled function that Python calls, imported on first use: numba costs half a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Entries:
    """Compiled entries by plain name; each takes (ints, floats, work, …), see its docstring."""

    forward_dynamics: Callable[..., None]
    inverse_dynamics: Callable[..., None]
    embedding: Callable[..., None]
    mass_matrix: Callable[..., None]
    slopes: Callable[..., None]
    output_slopes: Callable[..., None]
    force_slopes: Callable[..., None]
    node_pose: Callable[..., None]
    node_motion: Callable[..., None]
    jacobian: Callable[..., None]
    spread_wrenches: Callable[..., None]
    totals: Callable[..., None]
    hinge_force: Callable[..., None]
    passive_forces: Callable[..., None]
    advance: Callable[..., None]
    observe: Callable[..., None]
    forces: Callable[..., None]
    state_slopes: Callable[..., None]
    survey: Callable[..., None]
    rates: Callable[..., None]
    normalise: Callable[..., None]
    switches: Callable[..., None]
    refresh: Callable[..., None]
    check: Callable[..., None]
    switch: Callable[..., None]
    loop_forces: Callable[..., None]
    sizes: Callable[..., None]
    trust: Callable[..., None]


@cache
def entries() -> Entries:
    """The compiled entries; each is compiled, or read from the cache, by `prepare` or at its first call."""
    from limberjack.engine.kernels.forces import hinge_forces
    from limberjack.engine.kernels.groups import embedding
    from limberjack.engine.kernels.loops import dynamics, reactions, switching
    from limberjack.engine.kernels.nodes import manifold
    from limberjack.engine.kernels.sensors import outputs
    from limberjack.engine.kernels.slopes import forces as force_derivatives
    from limberjack.engine.kernels.slopes import forward as forward_derivatives
    from limberjack.engine.kernels.slopes import outputs as output_derivatives
    from limberjack.engine.kernels.slopes import state as state_derivatives
    from limberjack.engine.kernels.step import integrate, sizes, state_validity
    from limberjack.engine.kernels.sweeps import inverse_dynamics, kinematics, mass_matrix, masses
    from limberjack.engine.kernels.trust import plant as trust

    return Entries(
        forward_dynamics=dynamics.forward_dynamics_entry,
        inverse_dynamics=inverse_dynamics.inverse_dynamics_entry,
        embedding=embedding.embedding_entry,
        mass_matrix=mass_matrix.mass_matrix_entry,
        slopes=forward_derivatives.slopes_entry,
        output_slopes=output_derivatives.output_slopes_entry,
        force_slopes=force_derivatives.force_slopes_entry,
        node_pose=kinematics.node_pose_entry,
        node_motion=kinematics.node_motion_entry,
        jacobian=kinematics.jacobian_entry,
        spread_wrenches=kinematics.spread_wrenches_entry,
        totals=kinematics.totals_entry,
        hinge_force=inverse_dynamics.hinge_force_entry,
        passive_forces=hinge_forces.passive_forces_entry,
        advance=integrate.advance_entry,
        observe=outputs.observe_entry,
        forces=hinge_forces.forces_entry,
        state_slopes=state_derivatives.state_slopes_entry,
        survey=outputs.survey_entry,
        rates=manifold.rates_entry,
        normalise=manifold.normalise_entry,
        switches=hinge_forces.switches_entry,
        refresh=masses.refresh_entry,
        check=state_validity.check_entry,
        switch=switching.switch_entry,
        loop_forces=reactions.loop_forces_entry,
        sizes=sizes.sizes_entry,
        trust=trust.trust_entry,
    )


def prepare(entry: Callable[..., None], *arguments: object) -> None:
    """Compile an entry for arguments like these, or read it from the cache, without a call: the first is not slow."""
    from numba import typeof

    entry.compile(tuple(map(typeof, arguments)))  # type: ignore[attr-defined]


def prepare_routines(*, instruments: bool) -> None:
    """Compile the routines of instruments, or all others, or read them from the cache, for models that call them."""
    from limberjack.engine.compile.routine import compile_routines

    entries()  # imports every module that has routines
    compile_routines(instruments=instruments)
