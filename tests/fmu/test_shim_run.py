"""The shim with a toy model: Co-Simulation and Model Exchange in both versions, against the same model in Python."""

from __future__ import annotations

import ctypes
import math
import subprocess
from ctypes import byref, c_bool, c_double, c_int, c_size_t

import pytest

from tests.fmu import shim_model as toy
from tests.fmu.shim_build import (
    CO_SIMULATION,
    DISCARD,
    ERROR,
    MODEL_EXCHANGE,
    OK,
    TOY,
    Fmu,
    compile_c,
    location,
    shared_sources,
)
from tests.fmu.shim_model import DT, REFERENCE


def test_a_run_is_that_of_the_model_bit_by_bit(opened):
    fmu, oracle = opened(CO_SIMULATION), toy.Toy()
    assert fmu.start() == OK
    for k in range(200):
        oracle.command = 3.0 * math.sin(0.1 * k)
        assert fmu.assign("torque_command", oracle.command) == OK
        status, reached = fmu.step(k * DT, DT)
        oracle.step(DT)
        assert (status, reached) == (OK, k * DT + DT)
        assert fmu.value("angle") == oracle.angle
        assert fmu.value("rate") == oracle.rate
        assert fmu.value("torque") == oracle.torque()
        assert fmu.value("der(v0)") == oracle.acceleration()
    assert fmu.value("encoder") == oracle.angle
    assert fmu.value("energy") == pytest.approx(0.5 * 2.0 * oracle.rate**2 - 9.0 * math.cos(oracle.angle), rel=1e-15)


@pytest.mark.parametrize(
    ("h", "count", "dt"),
    [(5 * DT, 5, DT), (5 * DT * (1 + 1e-12), 5, DT), (2.5 * DT, 3, 2.5 * DT / 3), (DT / 4, 1, DT / 4)],
)
def test_internal_steps(opened, h, count, dt):
    fmu, oracle = opened(CO_SIMULATION), toy.Toy()
    assert fmu.start(start=3.0) == OK
    assert fmu.step(3.0, h) == (OK, 3.0 + h)
    oracle.step(dt, count)
    assert fmu.value("angle") == oracle.angle
    assert fmu.value("time") == 3.0 + h


def test_start_values_and_parameters_before_the_start(opened):
    fmu = opened(CO_SIMULATION)
    assert fmu.assign("mass", 4.0) == OK
    assert fmu.enter() == OK
    assert fmu.set([REFERENCE["angle"], REFERENCE["rate"]], [-0.3, 0.2]) == OK
    assert fmu.call("ExitInitializationMode") == OK
    oracle = toy.Toy(-0.3, 0.2, 0.0, (9.0, 0.25, 4.0, 0.25, -2.0, 2.0, 5.0))
    fmu.step(0.0, DT)
    oracle.step(DT)
    assert fmu.value("angle") == oracle.angle


def test_parameters_are_tunable_between_steps(opened):
    fmu, oracle = opened(CO_SIMULATION), toy.Toy()
    assert fmu.start() == OK
    fmu.step(0.0, DT)
    oracle.step(DT)
    assert fmu.assign("mass", 8.0) == OK
    oracle.floats = (9.0, 0.25, 8.0, 0.125, -2.0, 2.0, 5.0)
    assert fmu.value("der(v0)") == oracle.acceleration()
    fmu.step(DT, DT)
    oracle.step(DT)
    assert fmu.value("rate") == oracle.rate


def test_work_lies_on_a_cache_line(opened):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    assert fmu.value("misalignment") == 0.0


def test_instances_share_nothing(opened):
    first, second = opened(CO_SIMULATION), opened(CO_SIMULATION)
    assert first.start() == OK
    assert second.start() == OK
    assert first.assign("torque_command", 4.0) == OK
    first.step(0.0, DT)
    assert second.value("angle") == toy.START[2]
    assert second.value("torque_command") == 0.0


def test_reset_is_a_fresh_instance(opened):
    fmu, oracle = opened(CO_SIMULATION), toy.Toy()
    assert fmu.start() == OK
    assert fmu.assign("mass", 3.0) == OK
    fmu.step(0.0, DT)
    assert fmu.call("Terminate") == OK
    assert fmu.call("Reset") == OK
    assert fmu.start() == OK
    fmu.step(0.0, DT)
    oracle.step(DT)
    assert fmu.value("angle") == oracle.angle


def test_divergence_is_discarded_at_the_last_good_step(opened, version):
    fmu, oracle = opened(CO_SIMULATION), toy.Toy()
    assert fmu.assign("mass", 1e-3) == OK
    assert fmu.assign("damping", 1.0) == OK
    assert fmu.start() == OK
    oracle.floats = (9.0, 1.0, 1e-3, 1e3, -2.0, 2.0, 5.0)
    good = 0
    while abs(oracle.rate + DT * oracle.acceleration()) <= 1e3:
        oracle.step(DT)
        good += 1
    assert 0 < good < 20
    status, reached = fmu.step(0.0, 20 * DT)
    assert (status, reached) == (DISCARD, pytest.approx(good * DT, rel=1e-12))
    status, category, message = fmu.log[-1]
    assert (status, category) == (DISCARD, "logStatusDiscard")
    assert "velocity 0 of the toy" in message
    if version == 2:  # stands at the last good step, and steps no further
        assert fmu.value("rate") == oracle.rate
        assert fmu.step(reached, DT)[0] == ERROR
    else:  # stands where the step began, and may go on
        assert fmu.value("angle") == toy.START[2]
        assert fmu.step(0.0, DT)[0] == OK


def test_an_event_names_the_code_path(opened):
    fmu = opened(CO_SIMULATION)
    assert (OK, "logEvents", "The engine runs its code for toys.") in fmu.log


def test_model_exchange_gives_the_model_equations(opened):
    fmu, oracle = opened(MODEL_EXCHANGE), toy.Toy(0.7, -1.5)
    assert fmu.start() == OK
    assert fmu.assign("torque_command", 1.25) == OK
    oracle.command = 1.25
    states = [0.7, 0.6, 0.0, 0.8, 0.0, -1.5, 0.3, -0.2, 0.4]
    assert fmu.call("SetTime", c_double(0.125)) == OK
    assert fmu.set_states(states) == OK
    assert fmu.numbers("GetContinuousStates", 9) == (OK, states)
    name = "GetDerivatives" if fmu.version == 2 else "GetContinuousStateDerivatives"
    status, derivatives = fmu.numbers(name, 9)
    w, x, y, z, wx, wy, wz = 0.6, 0.0, 0.8, 0.0, 0.3, -0.2, 0.4
    turned = [-x * wx - y * wy - z * wz, w * wx + y * wz - z * wy, w * wy - x * wz + z * wx, w * wz + x * wy - y * wx]
    assert status == OK
    assert derivatives == pytest.approx([-1.5, *(0.5 * c for c in turned), oracle.acceleration(), 0, 0, 0], abs=1e-15)
    assert fmu.value("time") == 0.125
    assert fmu.numbers("GetNominalsOfContinuousStates", 9) == (OK, [1.0] * 5 + [2.5] + [1.0] * 3)


def test_model_exchange_evaluates_at_unit_quaternions(opened):
    fmu = opened(MODEL_EXCHANGE)
    assert fmu.start() == OK
    assert fmu.set_states([0.1, 1.2, 0.0, 1.6, 0.0, 0.2, 0.0, 0.0, 0.0]) == OK
    assert fmu.value("top.length") == pytest.approx(1.0, abs=1e-15)
    assert fmu.value("top.w") == 1.2


def test_event_indicators_are_the_switch_variables_in_order(opened):
    fmu = opened(MODEL_EXCHANGE)
    assert fmu.start() == OK
    assert fmu.set_states([2.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]) == OK
    assert fmu.assign("torque_command", -6.0) == OK
    assert fmu.numbers("GetEventIndicators", 4) == (OK, [0.5, -4.5, -11.0, 1.0])
    assert fmu.value("upper_stop") == 0.5


def test_event_iteration(opened, version):
    fmu = opened(MODEL_EXCHANGE)
    assert fmu.start() == OK
    if version == 3:
        enter, terminate = c_bool(True), c_bool(True)
        assert fmu.call("CompletedIntegratorStep", False, byref(enter), byref(terminate)) == OK
        assert [enter.value, terminate.value] == [False, False]
        assert fmu.call("EnterEventMode") == OK
        flags, when = [c_bool(True) for _ in range(5)], c_double(1.0)
        assert fmu.call("UpdateDiscreteStates", *map(byref, flags), byref(when)) == OK
        assert not any(flag.value for flag in flags)
        numbers = [c_size_t(), c_size_t()]
        assert fmu.call("GetNumberOfContinuousStates", byref(numbers[0])) == OK
        assert fmu.call("GetNumberOfEventIndicators", byref(numbers[1])) == OK
        assert [number.value for number in numbers] == [9, 4]
    else:
        enter, terminate = c_int(1), c_int(1)
        assert fmu.call("CompletedIntegratorStep", 1, byref(enter), byref(terminate)) == OK
        assert (enter.value, terminate.value) == (0, 0)
        assert fmu.call("EnterEventMode") == OK
        info = (c_double * 4)(*[7.0] * 4)  # five fmi2Boolean, padding, one fmi2Real
        assert fmu.call("NewDiscreteStates", info) == OK
        assert list(info)[:2] == [0.0, 0.0]
        assert info[3] == 0.0
    assert fmu.assign("stiffness", 4.0) == OK
    assert fmu.call("EnterContinuousTimeMode") == OK


def test_states_that_are_too_large_are_discarded(opened):
    fmu = opened(MODEL_EXCHANGE)
    assert fmu.start() == OK
    assert fmu.set_states([0.0, 1e300, 0.0, 1e300, 0.0, 0.0, 1e300, 0.0, 0.0]) == OK
    name = "GetDerivatives" if fmu.version == 2 else "GetContinuousStateDerivatives"
    assert fmu.numbers(name, 9)[0] == DISCARD
    assert "of the toy" in fmu.log[-1][2]


def test_arrays_are_read_and_set_at_once(shim_library, tmp_path):
    folder = toy.PlantData().write(tmp_path / "resources")
    fmu = Fmu(shim_library, 3, CO_SIMULATION, str(folder))
    assert fmu.enter() == OK
    assert fmu.set([REFERENCE["q"], REFERENCE["rate"]], [0.25, 1.0, 0.0, 0.0, 0.0, 0.5]) == OK
    assert fmu.call("ExitInitializationMode") == OK
    oracle = toy.Toy(0.25, 0.5)
    status, values = fmu.get(REFERENCE["v"], REFERENCE["angle"], REFERENCE["tau"], size=9)
    assert (status, values) == (OK, [0.5, *toy.START[8:11], 0.25, oracle.torque(), 0.0, 0.0, 0.0])
    fmu.free()


def analytic(command: float, angle: float, rate: float) -> dict[tuple[str, str], float]:
    """Derivatives of the pendulum's equation, by hand."""
    k, c, m = toy.FLOATS[:3]
    return {
        ("der(v0)", "angle"): -k * math.cos(angle) / m,
        ("der(v0)", "rate"): -c / m,
        ("der(v0)", "torque_command"): 1.0 / m,
        ("der(v0)", "mass"): -(command - c * rate - k * math.sin(angle)) / m**2,
        ("der(v0)", "stiffness"): -math.sin(angle) / m,
        ("der(q0)", "rate"): 1.0,
        ("angle", "angle"): 1.0,
        ("torque", "damping"): -rate,
        ("der(v0)", "time"): 0.0,
    }


@pytest.mark.parametrize("kind", [CO_SIMULATION, MODEL_EXCHANGE])
def test_directional_derivatives(opened, kind):
    fmu = opened(kind)
    assert fmu.start() == OK
    assert fmu.assign("torque_command", 2.0) == OK
    expected = analytic(2.0, fmu.value("angle"), fmu.value("rate"))
    for (unknown, known), slope in expected.items():
        status, values = fmu.derivative([REFERENCE[unknown]], [REFERENCE[known]], [-2.0], 1)
        assert (status, values) == (OK, [pytest.approx(-2.0 * slope, rel=2e-9, abs=1e-9)]), (unknown, known)
    knowns = ["angle", "rate", "torque_command", "stiffness"]
    seed = [0.3, -0.7, 1.5, 0.2]
    status, values = fmu.derivative([REFERENCE["der(v0)"]], [REFERENCE[n] for n in knowns], seed, 1)
    total = sum(s * expected["der(v0)", n] for s, n in zip(seed, knowns))
    assert (status, values) == (OK, [pytest.approx(total, rel=1e-8)])
    assert fmu.derivative([REFERENCE["der(v0)"]], [REFERENCE["angle"]], [0.0], 1) == (OK, [0.0])


@pytest.mark.parametrize("kind", [CO_SIMULATION, MODEL_EXCHANGE])
def test_derivatives_of_a_model_too_large_for_a_matrix(kind, version, tmp_path):
    """All are differences then; the kernel, which would write nowhere, is not called."""
    sources = [*shared_sources(), TOY / "toy_kernels.c"]
    library = compile_c(tmp_path / "large.so", sources, "-shared", "-fPIC", "-DROOM=(1 << 24)")
    fmu = Fmu(library, version, kind, location(toy.PlantData().write(tmp_path / "resources"), version))
    assert fmu.start() == OK
    expected = analytic(0.0, fmu.value("angle"), fmu.value("rate"))
    for (unknown, known), slope in expected.items():
        status, values = fmu.derivative([REFERENCE[unknown]], [REFERENCE[known]], [1.0], 1)
        assert (status, values) == (OK, [pytest.approx(slope, rel=2e-9, abs=1e-9)]), (unknown, known)
        if version == 3:
            status, values = fmu.derivative([REFERENCE[unknown]], [REFERENCE[known]], [1.0], 1, adjoint=True)
            assert (status, values) == (OK, [pytest.approx(slope, rel=2e-9, abs=1e-9)]), (unknown, known)
    fmu.free()


@pytest.mark.parametrize("adjoint", [False, True])
def test_derivatives_beyond_the_range_of_numbers(opened, adjoint):
    """FMI 2 has no discarded derivatives. What comes next is right again."""
    fmu = opened(MODEL_EXCHANGE)
    if adjoint and fmu.version == 2:
        pytest.skip("FMI 2 has no adjoint derivatives")
    assert fmu.start() == OK
    slope = analytic(0.0, fmu.value("angle"), fmu.value("rate"))["der(v0)", "angle"]
    unknowns, knowns = [REFERENCE["der(v0)"]], [REFERENCE["angle"]]
    status, _ = fmu.derivative(unknowns, knowns, [1e308], 1, adjoint=adjoint)
    assert status == (ERROR if fmu.version == 2 else DISCARD)
    assert "variable 'der(v0)' is not a finite number" in fmu.log[-1][2]
    if fmu.version == 3:
        assert fmu.derivative(unknowns, knowns, [2.0], 1, adjoint=adjoint) == (OK, [pytest.approx(2.0 * slope)])


def test_derivatives_leave_no_trace(opened):
    fmu, oracle = opened(CO_SIMULATION), toy.Toy()
    assert fmu.start() == OK
    fmu.derivative([REFERENCE["der(v0)"]], [REFERENCE["mass"], REFERENCE["angle"]], [1.0, 1.0], 1)
    assert fmu.value("angle") == oracle.angle
    assert fmu.value("der(v0)") == oracle.acceleration()
    fmu.step(0.0, DT)
    oracle.step(DT)
    assert fmu.value("angle") == oracle.angle


def test_adjoint_derivatives_of_arrays(shim_library, tmp_path):
    fmu = Fmu(shim_library, 3, MODEL_EXCHANGE, str(toy.PlantData().write(tmp_path / "resources")))
    assert fmu.start() == OK
    expected = analytic(0.0, fmu.value("angle"), fmu.value("rate"))
    unknowns, knowns = [REFERENCE["der(v0)"], REFERENCE["tau"]], [REFERENCE["v"], REFERENCE["angle"]]
    status, values = fmu.derivative(unknowns, knowns, [2.0, 3.0, 0.0, 0.0, 0.0], 5, adjoint=True)
    in_rate = 2.0 * expected["der(v0)", "rate"] - 3.0 * toy.FLOATS[toy.DAMPING]
    assert status == OK
    wanted = [in_rate, 0.0, 0.0, 0.0, 2.0 * expected["der(v0)", "angle"]]
    assert values == pytest.approx(wanted, rel=2e-9, abs=1e-9)
    fmu.free()


def test_versions_and_platform(shim_library):
    lib = ctypes.CDLL(str(shim_library))
    answers = {}
    for name in ("fmi2GetVersion", "fmi3GetVersion", "fmi2GetTypesPlatform"):
        function = getattr(lib, name)
        function.restype = ctypes.c_char_p
        answers[name] = function()
    assert answers == {"fmi2GetVersion": b"2.0", "fmi3GetVersion": b"3.0", "fmi2GetTypesPlatform": b"default"}


def test_only_fmi_functions_are_exported(shim_library):
    lines = subprocess.run(["nm", "-D", "--defined-only", shim_library], capture_output=True, text=True).stdout.split()
    names = {word for word in lines if word.startswith("fmi")}
    others = [word for word in lines[2::3] if not word.startswith(("fmi2", "fmi3"))]
    assert others == []
    assert len([n for n in names if n.startswith("fmi2")]) == 44
    assert len([n for n in names if n.startswith("fmi3")]) == 75
