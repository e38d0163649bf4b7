"""Long communication steps end early: by `fmi2CancelStep`, by an early return of FMI 3, by calls that end a life."""

from __future__ import annotations

import threading
import time
from ctypes import byref, c_bool, c_double

import pytest

from tests.fmu import shim_model as toy
from tests.fmu.shim_build import CO_SIMULATION, DISCARD, ERROR, MODEL_EXCHANGE, OK, Fmu, Stepping, location
from tests.fmu.shim_model import DT, REFERENCE

#: internal steps, more than a minute's work
ENDLESS = 900_000_000
#: internal steps between two looks at whether to go on (embedded_step.c)
BATCH = 256


def numbers(fmu: Fmu) -> list[float]:
    """What the model's state shows in."""
    status, values = fmu.get(*(REFERENCE[name] for name in ("angle", "rate", "encoder", "energy")))
    assert status == OK
    return values


def is_like_new(fmu: Fmu) -> None:
    """After a reset, and without a trace of what was before."""
    oracle = toy.Toy()
    assert fmu.start() == OK
    assert fmu.step(0.0, 2 * BATCH * DT) == (OK, 2 * BATCH * DT)
    oracle.step(DT, 2 * BATCH)
    assert fmu.value("angle") == oracle.angle


def test_a_step_in_batches_has_the_bits_of_single_steps(opened):
    whole, single = opened(CO_SIMULATION), opened(CO_SIMULATION)
    count = 3 * BATCH + 7
    for fmu in (whole, single):
        assert fmu.start() == OK
        assert fmu.assign("torque_command", 0.75) == OK
    assert whole.step(0.0, count * DT) == (OK, count * DT)
    for k in range(count):
        assert single.step(k * DT, DT)[0] == OK
    assert numbers(whole) == numbers(single)


@pytest.mark.parametrize("version", [2])
def test_cancelled_from_another_thread(opened):
    fmu, other = opened(CO_SIMULATION), opened(CO_SIMULATION)
    stepping = Stepping(fmu, ENDLESS * DT).computing()
    assert fmu.call("CancelStep") == OK
    status, reached = stepping.ended()
    count = round(reached / DT)
    assert (status, count % BATCH) == (DISCARD, 0)
    assert 0 < count < ENDLESS
    assert "was cancelled at" in fmu.log[-1][2]
    assert other.start() == OK
    assert other.step(0.0, count * DT)[0] == OK
    assert fmu.value("time") == pytest.approx(count * DT, rel=1e-12)
    assert numbers(fmu) == numbers(other)
    assert fmu.step(reached, DT)[0] == ERROR  # only what ends the run is allowed, or a saved state
    assert fmu.call("Reset") == OK
    is_like_new(fmu)


@pytest.mark.parametrize("version", [2])
def test_a_cancel_that_comes_too_late_leaves_no_trace(opened):
    fmu, oracle = opened(CO_SIMULATION), toy.Toy()
    assert fmu.start() == OK
    assert fmu.step(0.0, DT)[0] == OK
    assert fmu.call("CancelStep") == DISCARD
    assert "no step is running" in fmu.log[-1][2]
    assert fmu.step(DT, 2 * BATCH * DT)[0] == OK
    oracle.step(DT, 1 + 2 * BATCH)
    assert fmu.value("angle") == oracle.angle


@pytest.mark.parametrize("version", [2])
def test_model_exchange_has_nothing_to_cancel(opened):
    fmu = opened(MODEL_EXCHANGE)
    assert fmu.start() == OK
    assert fmu.call("CancelStep") == ERROR
    assert "no steps to cancel" in fmu.log[-1][2]


def test_terminated_from_another_thread(opened, version):
    fmu, other = opened(CO_SIMULATION), opened(CO_SIMULATION)
    stepping = Stepping(fmu, ENDLESS * DT).computing()
    assert fmu.call("Terminate") == OK
    status, reached = stepping.ended()
    assert status == DISCARD
    assert 0.0 < reached < ENDLESS * DT
    assert other.start() == OK
    if version == 2:  # stands where the step was ended; in FMI 3 where it began
        assert other.step(0.0, round(reached / DT) * DT)[0] == OK
    assert numbers(fmu) == numbers(other)
    assert fmu.step(reached, DT)[0] == ERROR
    assert "not allowed in the state Terminated" in fmu.log[-1][2]


def test_reset_from_another_thread(opened):
    fmu = opened(CO_SIMULATION)
    stepping = Stepping(fmu, ENDLESS * DT).computing()
    assert fmu.call("Reset") == OK
    assert stepping.ended()[0] == DISCARD
    is_like_new(fmu)


def test_freed_from_another_thread(opened, version):
    fmu = opened(CO_SIMULATION)
    result = []

    def run() -> None:
        if version == 2:
            result.append(fmu.call("DoStep", c_double(0.0), c_double(ENDLESS * DT), 1))
        else:
            flags, reached = [c_bool() for _ in range(3)], c_double()
            step = ("DoStep", c_double(0.0), c_double(ENDLESS * DT), False)
            result.append(fmu.call(*step, *map(byref, flags), byref(reached)))

    assert fmu.start() == OK
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    clock = time.pthread_getcpuclockid(thread.ident)
    while time.clock_gettime(clock) < 0.02:
        assert thread.is_alive()
    fmu.free()
    thread.join(60.0)
    assert result == [DISCARD]


def test_a_second_step_at_once_is_refused_and_the_first_goes_on(opened, version):
    fmu = opened(CO_SIMULATION)
    stepping = Stepping(fmu, ENDLESS * DT).computing()
    assert fmu.step(0.0, DT)[0] == ERROR
    assert "is still running" in fmu.log[-1][2]
    assert stepping.is_alive()
    assert fmu.call("Terminate") == OK
    assert stepping.ended()[0] == DISCARD


def early(shim_library, tmp_path, **options):
    """An instance of FMI 3."""
    folder = toy.PlantData().write(tmp_path / "resources")
    return Fmu(shim_library, 3, CO_SIMULATION, location(folder, 3), **options)


def test_an_importer_asks_for_an_early_return(shim_library, tmp_path):
    times = []

    def update(now: float, can_return: bool) -> bool:
        times.append(now)
        return can_return and len(times) == 3

    fmu = early(shim_library, tmp_path, early_return=True, update=update)
    oracle, stop = toy.Toy(), 3 * BATCH * DT
    assert fmu.start() == OK
    assert fmu.step(0.0, 5 * BATCH * DT) == (OK, pytest.approx(stop, rel=1e-14))
    assert fmu.returned_early
    assert times == pytest.approx([BATCH * DT, 2 * BATCH * DT, stop], rel=1e-14)
    oracle.step(DT, 3 * BATCH)
    assert fmu.value("angle") == oracle.angle
    assert fmu.value("time") == times[-1]
    assert fmu.step(times[-1], BATCH * DT)[0] == OK  # and goes on from there
    assert not fmu.returned_early
    oracle.step(DT, BATCH)
    assert fmu.value("angle") == oracle.angle
    assert fmu.step(4 * BATCH * DT, BATCH * DT)[0] == OK
    assert len(times) == 3  # nobody is asked when the step is over anyway
    fmu.free()


def test_no_early_return_that_the_importer_did_not_allow(shim_library, tmp_path):
    asked = []
    fmu = early(shim_library, tmp_path, update=lambda _, can_return: asked.append(can_return) or True)
    assert fmu.start() == OK
    assert fmu.step(0.0, 3 * BATCH * DT) == (OK, 3 * BATCH * DT)
    assert not fmu.returned_early
    assert asked == [False, False]
    fmu.free()


@pytest.mark.parametrize("name", ["Terminate", "Reset", "FreeInstance"])
def test_a_callback_cannot_end_the_life_of_what_calls_it(shim_library, tmp_path, name):
    """It would wait for itself."""
    fmu = early(shim_library, tmp_path, update=lambda *_: statuses.append(fmu.call(name)) or False)
    statuses, oracle = [], toy.Toy()
    assert fmu.start() == OK
    assert fmu.step(0.0, 2 * BATCH * DT)[0] == OK
    assert name == "FreeInstance" or statuses == [ERROR]
    assert f"fmi3{name}: not allowed in a callback" in fmu.errors()[0]
    oracle.step(DT, 2 * BATCH)
    assert fmu.value("angle") == oracle.angle
    fmu.free()


def test_values_are_not_for_callbacks(shim_library, tmp_path):
    fmu = early(shim_library, tmp_path, update=lambda *_: statuses.append(fmu.get(REFERENCE["angle"])[0]) or False)
    statuses = []
    assert fmu.start() == OK
    assert fmu.step(0.0, 3 * BATCH * DT)[0] == ERROR
    assert statuses == [ERROR]
    assert "not allowed in the state Intermediate Update Mode" in fmu.errors()[0]
    fmu.free()


@pytest.mark.parametrize("h", [2e9 * DT, 1e300])
def test_a_step_beyond_the_bound_is_discarded_at_once(opened, version, h):
    fmu, oracle = opened(CO_SIMULATION), toy.Toy()
    assert fmu.start() == OK
    assert fmu.step(0.0, 10 * DT)[0] == OK
    status, reached = fmu.step(10 * DT, h)
    assert (status, reached) == (DISCARD, 10 * DT)
    assert "more than 1e+09 internal steps" in fmu.log[-1][2]
    oracle.step(DT, 10)
    assert fmu.value("angle") == oracle.angle
    if version == 3:
        assert fmu.step(10 * DT, DT)[0] == OK
