"""What a revision makes of random model files and of the examples: digests of numbers, and texts as they are.

Only public names are used, so that the same recorder runs on two revisions of the package.
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import limberjack as lj
from tests.golden import random_files

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
INTEGRATORS = ("rk4", "semi_implicit", "implicit")
STEPS = 50
Record = dict[str, str]


def digest(*arrays: np.ndarray) -> str:
    """One hash of the bits of all arrays."""
    made = hashlib.sha256()
    for array in arrays:
        made.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return made.hexdigest()[:20]


def outcome(make: Callable[[], str]) -> str:
    """What `make` returns, or the text of the error that it raises."""
    try:
        return make()
    except lj.LimberjackError as error:
        return f"{type(error).__name__}: {error}"


def _load(path: Path) -> lj.System:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lj.ModelWarning)
        return lj.load(path)


def motion(system: lj.System, integrator: str) -> str:
    """Bits of time, coordinates, velocities, forces and sensors over STEPS steps with changing commands."""
    simulation = lj.Simulation(system, dt=1e-3, integrator=integrator)
    parts, rng = [], random.Random(1)
    for _ in range(5):
        for name in simulation.command:
            if not name.endswith(".closed"):
                simulation.command[name] += rng.uniform(-0.1, 0.1)
        simulation.step(STEPS // 5)
        parts += [simulation.q, simulation.v, simulation.tau, simulation.vdot, simulation.output_vector]
    names = [name for name in simulation.output if name.startswith(("energy", "momentum"))]
    return digest(np.array(simulation.time), *parts, *[np.asarray(simulation.output[name]) for name in names])


def pointwise(system: lj.System) -> str:
    """Bits of forward and inverse dynamics, mass matrix, bias, energy and momentum at the start."""
    dynamics, rng = lj.Dynamics(system), np.random.default_rng(1)
    q, v, tau = system.q0, system.v0, rng.normal(size=system.nv)
    results = [dynamics.forward(q, v, tau), dynamics.inverse(q, v, tau), dynamics.mass_matrix(q), dynamics.bias(q, v)]
    return digest(*results, np.array(dynamics.energy(q, v)), dynamics.momentum(q, v))


def linear(system: lj.System) -> str:
    """Bits of A, B, C, D at the start."""
    model = lj.linearize(system, system.q0, system.v0, np.zeros(system.nv))
    return digest(model.A, model.B, model.C, model.D)


def _names(system: lj.System) -> str:
    every = [system.body_names, system.node_names, system.coordinate_names, system.velocity_names]
    return json.dumps([list(names) for names in [*every, system.command_names, system.output_names]])


def model(path: Path, *, slow: bool = True) -> Iterator[tuple[str, Callable[[], str]]]:
    """What there is to record of one model file, each by name."""
    try:
        system = _load(path)
    except lj.LimberjackError as error:
        text = str(error).replace(str(path), "FILE")
        yield "error", lambda: text
        return
    yield "names", lambda: _names(system)
    yield "warnings", lambda: json.dumps([text.replace(str(path), "FILE") for text in system.warnings])
    yield "pointwise", lambda: pointwise(system)
    for integrator in INTEGRATORS:
        yield integrator, lambda integrator=integrator: motion(system, integrator)
    if slow:
        yield "linear", lambda: linear(system)


def _exchanged(example: Path) -> Record:
    """What the engine process and FMUs of an example give."""
    from tests.golden.exchange import fmu, wire

    made = {f"{example.stem}: FMI {fmi}": outcome(lambda fmi=fmi: fmu(_load(example), fmi)) for fmi in ("2.0", "3.0")}
    return made | {f"{example.stem}: messages": outcome(lambda: wire(example))}


def record(models: int, errors: int, *, exchange: bool = False) -> Record:
    """Everything, by name."""
    made: Record = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.yaml"
        for seed in range(models):
            for kind, maker in (("tree", random_files.tree), ("linkage", random_files.linkage)):
                random_files.write(maker(seed), path)
                for what, take in model(path, slow=seed % 10 == 0):
                    made[f"{kind} {seed}: {what}"] = outcome(take)
        for example in sorted(EXAMPLES.glob("*.yaml")):
            for what, take in model(example):
                made[f"{example.stem}: {what}"] = outcome(take)
            if exchange:
                made |= _exchanged(example)
        for seed in range(errors):
            kind = random_files.tree if seed % 2 else random_files.linkage
            random_files.write(random_files.damaged(kind(seed % 40), seed), path)
            what, take = next(model(path))
            made[f"damaged {seed}: {what}"] = outcome(take)
    return made
