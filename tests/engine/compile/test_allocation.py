"""Stepping allocates nothing: numba's counters, Python's tracer, and the machine code itself say so."""

from __future__ import annotations

import inspect
import tracemalloc
from collections.abc import Callable

import numba
import numpy as np
import pytest
from llvmlite import binding
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys

import limberjack as lj
from limberjack.engine.compile import kernel
from limberjack.engine.compile.routine import ROUTINES
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.kernels.step.integrate import INTEGRATORS
from tests.engine.full_model import full_model

#: all that compiled code may call: neither an allocator nor numba's or Python's run-time is among them
MATHEMATICS = {"atan2", "tanh", "sqrt", "floor"}


entries()  # imports all kernels
#: routines, which kernels call by name
SYMBOLS = {routine.symbol for routine in ROUTINES.values()}


@pytest.fixture(scope="module")
def sim() -> lj.Simulation:
    """Warm: every entry that stepping and observing use is compiled."""
    sim = lj.Simulation(full_model(), dt=1e-4)
    sim.step(1)
    assert np.all(np.isfinite(sim.output_vector))
    return sim


@numba.njit
def allocating(n):
    """What the kernels do not do."""
    return np.zeros(n) + 1.0


def counted(run: Callable[[], object]) -> tuple[int, ...]:
    """How far numba's counters of allocated and freed blocks and arrays move while `run` runs."""
    rtsys.initialize(cpu_target.target_context)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        run()
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    return tuple(int(b) - int(a) for a, b in zip(before, after))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_numba_counts_no_allocation_over_ten_thousand_steps(integrator):
    assert counted(lambda: np.sum(allocating(3))) != (0, 0, 0, 0)  # the counters count
    sim = lj.Simulation(full_model(), dt=1e-4, integrator=integrator)
    assert counted(lambda: (sim.step(10_000), sim.output_vector)) == (0, 0, 0, 0)
    assert sim.step_count == 10_000


def test_python_memory_does_not_grow(sim):
    sim.reset()
    sim.step(10)
    tracemalloc.start()
    try:
        sim.step(10)
        before = tracemalloc.take_snapshot()
        sim.step(10_000)
        after = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    grown = [d for d in after.compare_to(before, "filename") if d.size_diff > 0 and "tracemalloc" not in str(d)]
    # A few integer objects of the interpreter itself; 10,000 steps of anything would be tens of kilobytes.
    assert sum(d.size_diff for d in grown) < 2048, grown


@pytest.mark.parametrize(
    "name",
    [
        "forward_dynamics",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("advance", "observe", "inverse_dynamics", "mass_matrix")
        ),
    ],
)
def test_machine_code_calls_nothing_but_mathematics(name):
    """Compiled afresh, because an entry from the cache carries no code to read; wrappers for Python left aside."""
    entry = getattr(entries(), name)
    sizes = {"ints": "i8[::1]", "report": "i8[::1]", "M": "f8[:,::1]", "dt": "f8"}
    whole = {"external": "b1", "integrator": "i8", "substeps": "i8", "steps": "i8", "ahead": "i8"}
    arguments = inspect.signature(entry.py_func).parameters
    signature = ", ".join((sizes | whole).get(name, "f8[::1]") for name in arguments)
    assert called_by(entry.py_func, f"void({signature})") <= MATHEMATICS | SYMBOLS


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(ROUTINES))
def test_machine_code_of_routines_calls_nothing_but_mathematics(name):
    known = ROUTINES[name]
    assert called_by(known.function, known.arguments) <= MATHEMATICS | SYMBOLS


def called_by(function: Callable[..., object], signature: object) -> set[str]:
    """Names of all that a kernel calls once it is compiled, LLVM's own instructions left aside."""
    fresh = numba.njit(signature, **kernel.OPTIONS)(function)
    (compiled,) = fresh.overloads.values()
    called = reachable(binding.parse_assembly(compiled.library.get_llvm_str()), compiled.fndesc.mangled_name)
    return {name for name in called if not name.startswith("llvm.")}


def reachable(module: binding.ModuleRef, start: str) -> set[str]:
    """Names of all functions outside the module that `start` calls, directly or through others."""
    outside, seen, waiting = set(), set(), [start]
    while waiting:
        function = module.get_function(waiting.pop())
        for instruction in (i for block in function.blocks for i in block.instructions):
            # an empty piece of assembly stands before numbers that LLVM is not to look through (views.py)
            if instruction.opcode in ("call", "invoke") and ' asm "", ' not in str(instruction):
                callee = list(instruction.operands)[-1].name
                if not callee or module.get_function(callee).is_declaration:
                    outside.add(callee)
                elif callee not in seen:
                    seen.add(callee)
                    waiting.append(callee)
    return outside


def test_an_allocation_does_not_compile():
    """The jit options leave numba's run-time out: a kernel that makes an array is refused when it is compiled."""

    @numba.njit(**kernel.OPTIONS)
    def careless(n):
        return np.zeros(n)[0]

    with pytest.raises(numba.TypingError, match="np.empty"):
        careless(3)
