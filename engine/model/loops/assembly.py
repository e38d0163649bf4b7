"""Loop-consistent initial coordinates and velocities from a guess."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.algebra.ranks import RANK_TOLERANCE
from limberjack.engine.common.arguments import vector
from limberjack.engine.common.errors import ModelError, UnknownNameError
from limberjack.engine.common.names import some_names
from limberjack.engine.model import frames
from limberjack.engine.model.arguments import coordinates, system_of
from limberjack.engine.model.loops.closure import closures, where_is
from limberjack.engine.model.loops.groups import united
from limberjack.engine.model.loops.holds import Holds, Limits, basis, holds, named
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.loops.newton import NOTHING, ROUNDING, Basis, Closing, Sizes, close, sizes
from limberjack.engine.model.system import System
from limberjack.engine.model.validate import range_findings
from limberjack.engine.tables.hinge_types import MODAL
from limberjack.engine.tables.loops import COUPLING

#: starts beside the guess: how far the coordinates that are not held are moved at random, in units of `Sizes`
RESTARTS = (0.1, 0.3, 0.3, 0.6, 0.6, 1.0, 1.0, 2.0, 2.0, 3.0)

#: scaled residuals below this are not worth a word
EXACT = 1e-9


def assemble(
    system: System,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    hold: Iterable[str] = (),
    command: Mapping[str, float] | None = None,
) -> System:
    """The system with initial coordinates and velocities at which its loops are closed.

    Parameters
    ----------
    q, v : guess (nq,), (nv,), rad, m, rad/s, m/s; None: the system's own q0, v0. What is not held moves as little
        as is needed: first the coordinates until the loops close, then the velocities until they stay closed. Loops
        that start open do not count, nor where a switchable loop stands: it holds what is there.
    hold : names of coordinates, velocities or hinges that keep their values; a name that is both a coordinate's and
        a velocity's holds both. Of a quaternion all four components are held or none. What is not held begins within
        its hinge's limits and ends there where the loops can close so.
    command : first commands of driven loops by name, "strut.position"; the system's own where not given. Loops are
        closed where these have them, and move with their velocities.

    Raises
    ------
    ModelError : the loops cannot be closed; names the loop that stays most open, by how much, and what is held
    ArgumentError, UnknownNameError : shapes, numbers, names
    """
    system = _commanded(system_of(system), command or {})
    guess_q = system.q0 if q is None else coordinates(system, q)
    guess_v = system.v0 if v is None else vector("v", v, (system.nv,))
    names = [hold] if isinstance(hold, str) else list(hold)
    return _assembled(_with_state(system, guess_q, guess_v), named(system, names), rounded=False)


def _commanded(system: System, command: Mapping[str, float]) -> System:
    """The system whose driven loops begin with the given commands. Raises UnknownNameError, ArgumentError."""
    loops, left = [], dict(command)
    for loop in system.loops:
        names = loop.command_names[-3:] if loop.driven else ()
        first = [left.pop(name, value) for name, value in zip(names, loop.initial)]
        if names:
            x, rate, acceleration = vector(f"the commands of loop '{loop.name}'", first, (3,))
            loop = replace(loop, initial=(float(x), float(rate), float(acceleration)))
        loops.append(loop)
    if left:
        taken = [name for loop in system.loops if loop.driven for name in loop.command_names[-3:]]
        known = f"driven loops take {some_names(taken)}." if taken else "the model has no driven loop."
        raise UnknownNameError(f"command: '{next(iter(left))}' is not a command of a driven loop; {known}")
    return replace(system, loops=tuple(loops)) if command else system


def assemble_initial(system: System) -> System:
    """The system, checked, with its initial values made consistent; those that the user gave stay.

    Files hold rounded numbers: given positions with which the loops all but close are moved as well, with a warning.
    """
    if not system.loops:
        return system
    closed = _assembled(system, holds(system, system.held, system.held_rates), rounded=True)
    return replace(closed, warnings=(*closed.warnings, *range_findings(closed.bodies)))


def _assembled(system: System, held: Holds, rounded: bool) -> System:
    """Close the loops, then make the velocities fit; rounded: held positions may be rounded numbers."""
    tree = Tree(frames.assemble(system))
    loops = [loop for loop in closures(system, tree) if loop.loop.closed]
    q = system.q0
    lasting = [loop for loop in loops if not loop.loop.switchable and loop.names]
    warnings = list(system.warnings)
    for members in united([loop.above for loop in lasting]):
        mechanism = Mechanism(tree, [lasting[i] for i in members])
        found, size = _close(system, mechanism, q, held)
        if found.total > max(EXACT, 10.0 * size.closed):
            found = _without_rounding(system, mechanism, found, size, held, rounded)
            warnings += _findings(system, mechanism, found, q, held)
        warnings += _bends(system, mechanism, q, found.q)
        q = found.q
    v = system.v0
    for members in united([loop.above for loop in loops]):
        mechanism = Mechanism(tree, [loops[i] for i in members])
        v = _project(system, mechanism, q, v, held)
    return replace(_with_state(system, q, v), warnings=tuple(dict.fromkeys(warnings)))


def _with_state(system: System, q: np.ndarray, v: np.ndarray) -> System:
    bodies, i, j = [], 0, 0
    for body in system.bodies:
        hinge = body.hinge
        nq, nv = hinge.kind.nq, hinge.nv
        bodies.append(replace(body, hinge=replace(hinge, q0=q[i : i + nq].copy(), v0=v[j : j + nv].copy())))
        i, j = i + nq, j + nv
    return replace(system, bodies=tuple(bodies))


def _close(system: System, mechanism: Mechanism, q: np.ndarray, held: Holds) -> tuple[Closing, Sizes]:
    """Close the loops of one mechanism, its flexible bodies as they are if hinges can do it, else bent.

    Raises ModelError where they cannot be closed.
    """
    size = sizes(mechanism, Limits(mechanism, held).clipped(q))
    for kept in _stiff_first(mechanism, held):
        best = _nearest(mechanism, q, size, kept)
        if best.closed and (kept is held or best.total <= max(EXACT, 10.0 * size.closed)):
            return best, size
    raise _cannot_close(system, mechanism, best, size, held)


def _stiff_first(mechanism: Mechanism, held: Holds) -> list[Holds]:
    """What is held, first with all modes of the mechanism if it has any."""
    modal = [joint for joint in mechanism.joints if joint.code == MODAL]
    if not modal:
        return [held]
    q = {joint.qi + i for joint in modal for i in range(joint.nq)}
    v = {joint.vi + i for joint in modal for i in range(joint.nv)}
    return [Holds(held.coordinates | q, held.velocities | v), held]


def _nearest(mechanism: Mechanism, q: np.ndarray, size: Sizes, held: Holds) -> Closing:
    """The loops of one mechanism closed within the hinges' limits, else anywhere, or as closed as they come.

    From the guess and, if that fails, from places around it: the first that closes within limits, or the first at all.
    """
    limits = Limits(mechanism, held)
    q = limits.clipped(q)
    allowed = basis(mechanism, held, size)
    best = close(mechanism, q, size, allowed)
    for start in _starts(mechanism, q, size, allowed):
        if best.closed and limits.hold(best.q):
            break
        tried = close(mechanism, start, size, allowed)
        better = not best.closed and (tried.closed or tried.better(best))
        best = tried if better or (tried.closed and limits.hold(tried.q)) else best
    return best


def _without_rounding(
    system: System, mechanism: Mechanism, found: Closing, size: Sizes, held: Holds, rounded: bool
) -> Closing:
    """Of loops that all but close: closed, if that takes moving what is held, where it may be rounded numbers."""
    if not any(joint.qi + i in held.coordinates for joint in mechanism.joints for i in range(joint.nq)):
        return found
    apart = close(mechanism, found.q, size)
    if apart.total > 0.5 * found.total:  # what is held is not to blame
        return found
    if not rounded:
        raise _cannot_close(system, mechanism, found, size, held)
    return apart


def _findings(system: System, mechanism: Mechanism, found: Closing, guess: np.ndarray, held: Holds) -> list[str]:
    """What to say of given positions that were moved, and of loops that close only up to rounding."""
    findings = []
    own = [joint.qi + i for joint in mechanism.joints for i in range(joint.nq) if joint.qi + i in held.coordinates]
    moved = [f"'{system.coordinate_names[i]}' by {found.q[i] - guess[i]:.2g}" for i in own if found.q[i] != guess[i]]
    worst = _worst(mechanism, found.error)
    where = where_is(mechanism.loops[worst[0]].loop)
    if moved:
        findings.append(
            f"{where}: the given initial positions are rounded; moved to close the loop: {', '.join(moved)}"
        )
    if found.total > EXACT:
        how = _open_by(mechanism, found.residual, worst)
        findings.append(f"{where}: {how}: other rows make this one redundant, but the model's numbers are rounded")
    return findings


def _bends(system: System, mechanism: Mechanism, before: np.ndarray, after: np.ndarray) -> list[str]:
    """What to say of flexible bodies that hinges alone could not bring together."""
    places = [joint.qi + i for joint in mechanism.joints if joint.code == MODAL for i in range(joint.nq)]
    moved = {system.coordinate_names[i]: abs(float(after[i] - before[i])) for i in places}
    if not any(moved.values()):
        return []
    name = max(moved, key=lambda name: moved[name])
    where = where_is(mechanism.loops[0].loop)
    return [f"{where}: closes only with flexible bodies bent at the start, most '{name}', by {moved[name]:.2g}"]


def _starts(mechanism: Mechanism, q: np.ndarray, size: Sizes, allowed: Basis | None) -> Iterator[np.ndarray]:
    """Coordinates around q that differ by allowed motions; the same ones every time."""
    random = np.random.default_rng(2)
    Z = np.eye(len(mechanism.dofs)) if allowed is None else allowed(q)
    for distance in RESTARTS:
        yield mechanism.moved(q, size.velocity * (Z @ random.uniform(-distance, distance, Z.shape[1])))


def _cannot_close(system: System, mechanism: Mechanism, best: Closing, size: Sizes, held: Holds) -> ModelError:
    names = system.coordinate_names
    own = [joint.qi + i for joint in mechanism.joints for i in range(joint.nq)]
    kept = [f"'{names[i]}'" for i in own if i in held.coordinates]
    worst = _worst(mechanism, best.error)
    what = f"the loops cannot be closed: {_open_by(mechanism, best.residual, worst)}"
    remedy = "Change lengths, frames, or the initial positions from which the loops are closed"
    if kept:
        what += f", while {_keep(kept)}"
        apart = any(close(mechanism, start, size).closed for start in (best.q, *_starts(mechanism, best.q, size, None)))
        remedy = "Give fewer initial positions, or others" + (": without them the loops close" if apart else "")
    loop = mechanism.loops[worst[0]].loop
    return ModelError(what, where=where_is(loop), remedy=remedy)


def _keep(names: list[str]) -> str:
    return f"{', '.join(names)} keep their values" if len(names) > 1 else f"{names[0]} keeps its value"


def _worst(mechanism: Mechanism, error: np.ndarray) -> tuple[int, int]:
    """Loop and row of the largest scaled error."""
    row = int(np.argmax(np.abs(error)))
    i = int(np.searchsorted(mechanism.starts, row, side="right")) - 1
    return i, row - int(mechanism.starts[i])


def _open_by(mechanism: Mechanism, residual: np.ndarray, worst: tuple[int, int], rate: bool = False) -> str:
    """The worst loop, how far it is open, and in which direction."""
    loop, row = mechanism.loops[worst[0]], worst[1]
    unit = (" rad" if loop.angular[row] else " m") if loop.kind != COUPLING else " in the units of its terms"
    unit += ("/s" if loop.kind != COUPLING else " a second") if rate else ""
    value = abs(residual[mechanism.starts[worst[0]] + row])
    return f"loop '{loop.loop.name}' stays open by {value:.3g}{unit} ({loop.names[row]})"


def _project(system: System, mechanism: Mechanism, q: np.ndarray, v: np.ndarray, held: Holds) -> np.ndarray:
    """The velocities next to v at which the loops stay closed, or move as driven, while those held keep their values.

    Flexible bodies are not bent faster or slower if hinges can do it.
    """
    size = sizes(mechanism, q)
    Y, wanted = mechanism.evaluate(q)[1], mechanism.prescribed()
    own = np.array(mechanism.dofs, dtype=int)
    error = size.row * (Y @ v[own] - wanted)
    if np.abs(error).max(initial=0.0) <= NOTHING:
        return v
    for kept in _stiff_first(mechanism, held):
        free = np.array([j not in kept.velocities for j in mechanism.dofs], dtype=bool)
        change = -np.linalg.lstsq(size.scaled(Y)[:, free], error, rcond=RANK_TOLERANCE)[0]
        found = v.copy()
        found[own[free]] += size.velocity[free] * change
        left = size.row * (Y @ found[own] - wanted)
        if np.abs(left).max() <= max(EXACT, ROUNDING * float(np.abs(error).max())):
            return found
    raise _cannot_move(system, mechanism, Y @ found[own] - wanted, left, held)


def _cannot_move(system: System, mechanism: Mechanism, rates: np.ndarray, error: np.ndarray, held: Holds) -> ModelError:
    kept = [f"'{system.velocity_names[j]}'" for j in mechanism.dofs if j in held.velocities]
    worst = _worst(mechanism, error)
    loop = mechanism.loops[worst[0]].loop
    what = f"the initial velocities break a loop: {_open_by(mechanism, rates, worst, rate=True)}"
    what += f", while {_keep(kept)}" if kept else ""
    remedy = "Give fewer initial velocities, or velocities that the loops allow together"
    if any(loop.loop.driven for loop in mechanism.loops):
        remedy += "; what a driven loop begins with is its 'initial' velocity"
    return ModelError(what, where=where_is(loop), remedy=remedy)
