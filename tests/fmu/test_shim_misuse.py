"""What the shim answers to wrong calls: the status, and a log line that says what, where and how to fix it."""

from __future__ import annotations

import math
from ctypes import byref, c_bool, c_char_p, c_double, c_int32, c_size_t, c_void_p

import pytest

from tests.fmu import shim_model as toy
from tests.fmu.shim_build import CO_SIMULATION, ERROR, MODEL_EXCHANGE, OK, Fmu, location
from tests.fmu.shim_model import DT, REFERENCE


def refused(fmu: Fmu, status: int, *words: str) -> None:
    """The call failed, the last log line has these words, and the run is over."""
    assert status == ERROR
    assert fmu.log[-1][:2] == (ERROR, "logStatusError")
    for word in words:
        assert word in fmu.log[-1][2]
    assert fmu.call("Terminate") == ERROR
    assert "has ended with an error" in fmu.log[-1][2]
    assert fmu.call("Reset") == OK


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("torque_command", math.nan, ["'torque_command'", "not a finite number"]),
        ("torque_command", -math.inf, ["'torque_command'", "not a finite number"]),
        ("torque_command", 101.0, ["'torque_command'", "outside its range, -100 to 100"]),
        ("mass", 0.0, ["'mass'", "outside its range, 0.001 to inf"]),
        ("lower", -1.0, ["'lower'", "before the initialisation ends"]),
        ("angle", 0.1, ["'angle'", "before the initialisation ends"]),
        ("energy", 0.1, ["'energy'", "computed by the model"]),
        ("time", 0.1, ["'time'", "only the run itself moves"]),
    ],
)
def test_values_that_cannot_be_set_in_a_run(opened, name, value, words):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    refused(fmu, fmu.assign(name, value), *words)


def test_model_exchange_sets_states_and_tunable_parameters_at_any_time(opened):
    fmu = opened(MODEL_EXCHANGE)
    assert fmu.start() == OK
    for name in ("torque_command", "mass", "angle"):
        assert fmu.assign(name, 1.0) == OK
        assert fmu.value(name) == 1.0
    refused(fmu, fmu.assign("lower", -1.0), "'lower'", "before the initialisation ends")


@pytest.mark.parametrize("reference", [len(toy.table()), 2**31, 2**32 - 1])
def test_references_out_of_range(opened, reference):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    refused(fmu, fmu.get(reference)[0], str(reference), "from 0 to", "modelDescription.xml")
    assert fmu.start() == OK
    refused(fmu, fmu.set([reference], [0.0]), str(reference))


def test_lengths_that_do_not_fit(shim_library, tmp_path):
    fmu = Fmu(shim_library, 3, CO_SIMULATION, str(toy.PlantData().write(tmp_path / "resources")))
    assert fmu.start() == OK
    refused(fmu, fmu.get(REFERENCE["time"], REFERENCE["q"], size=5)[0], "'q'", "needs 5 after the first 1")
    assert fmu.start() == OK
    refused(fmu, fmu.get(REFERENCE["q"], size=6)[0], "6 values", "with 5")
    assert fmu.start() == OK
    refused(fmu, fmu.set([REFERENCE["torque_command"]], [0.0, 0.0]), "2 values", "with 1")
    fmu.free()


def test_other_types(opened, version):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    more = (c_size_t(1),) if version == 3 else ()
    name = "GetInt32" if version == 3 else "GetInteger"
    angle = (c_int32 * 1)(REFERENCE["angle"])
    refused(fmu, fmu.call(name, angle, c_size_t(1), (c_int32 * 1)(), *more), "'angle'", "Float64")
    assert fmu.start() == OK
    assert fmu.call(name, None, c_size_t(0), None, *((c_size_t(0),) if version == 3 else ())) == OK
    refused(fmu, fmu.call("GetString", angle, c_size_t(1), (c_void_p * 1)(), *more), "'angle'", "Float64")
    assert fmu.start() == OK
    note = len(toy.table()) - 1
    refused(fmu, fmu.get(note)[0], "is a String")


def test_texts_in_messages_are_escaped_for_the_importer(opened, version):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    fmu.get(len(toy.table()) - 1)
    assert "'note##1 at 100%%'" in fmu.log[-1][2] if version == 2 else "'note##1 at 100%'" in fmu.log[-1][2]


def test_null_pointers(opened, version):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    more = (c_size_t(1),) if version == 3 else ()
    get, put = ("GetFloat64", "SetFloat64") if version == 3 else ("GetReal", "SetReal")
    one = (c_int32 * 1)(0)
    for name in (get, put):
        refused(fmu, fmu.call(name, None, c_size_t(1), (c_double * 1)(), *more), "valueReferences is NULL")
        assert fmu.start() == OK
        refused(fmu, fmu.call(name, one, c_size_t(1), None, *more), "values is NULL")
        assert fmu.start() == OK
        assert fmu.call(name, None, c_size_t(0), None, *((c_size_t(0),) if version == 3 else ())) == OK
    assert getattr(fmu.lib, f"fmi{version}{get}")(None, one, c_size_t(1), (c_double * 1)(), *more) == ERROR
    if version == 3:
        refused(fmu, fmu.call("DoStep", c_double(0.0), c_double(DT), True, None, None, None, None), "is NULL")


@pytest.mark.parametrize(
    ("time", "h", "words"),
    [
        (0.0, 0.0, "greater than 0"),
        (0.0, -DT, "greater than 0"),
        (0.0, math.nan, "greater than 0"),
        (0.0, math.inf, "greater than 0"),
        (DT, DT, "stands at 0 s"),
        (-DT, DT, "stands at 0 s"),
        (math.nan, DT, "stands at 0 s"),
    ],
)
def test_steps_that_make_no_sense(opened, time, h, words):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    refused(fmu, fmu.step(time, h)[0], words)


def test_times_that_an_importer_rounds_otherwise(opened):
    fmu = opened(CO_SIMULATION)
    assert fmu.start(stop=3 * DT) == OK
    assert fmu.step(1e-10, DT)[0] == OK
    assert fmu.step(DT * (1 + 1e-12), DT)[0] == OK
    assert fmu.step(2 * DT, DT * (1 + 1e-12))[0] == OK
    refused(fmu, fmu.step(3 * DT, DT)[0], "past the stop time")


@pytest.mark.parametrize(
    ("start", "stop", "word"), [(math.nan, None, "start time"), (1.0, 0.5, "stop time"), (0.0, math.nan, "stop time")]
)
def test_experiments_that_make_no_sense(opened, start, stop, word):
    fmu = opened(CO_SIMULATION)
    refused(fmu, fmu.enter(start, stop), word)


def test_calls_out_of_order(opened, version):
    fmu = opened(CO_SIMULATION)
    refused(fmu, fmu.step(0.0, DT)[0], "DoStep", "Instantiated", "only in Step Mode")
    refused(fmu, fmu.call("ExitInitializationMode"), "only in Initialization Mode")
    assert fmu.enter() == OK
    refused(fmu, fmu.call("EnterInitializationMode", *entering(version)), "only in Instantiated")
    assert fmu.start() == OK
    refused(fmu, fmu.call("ExitInitializationMode"), "the state Step Mode")
    assert fmu.start() == OK
    assert fmu.call("Terminate") == OK
    assert fmu.get(0)[0] == OK
    refused(fmu, fmu.step(0.0, DT)[0], "Terminated")
    refused(fmu, fmu.call("EnterContinuousTimeMode"), "not for Co-Simulation")
    refused(fmu, fmu.call("SetTime", c_double(0.0)), "not for Co-Simulation")
    if version == 2:
        refused(fmu, fmu.get(0)[0], "fmi2GetReal", "Instantiated")


def entering(version: int) -> tuple[object, ...]:
    return (0, c_double(0), c_double(0), 0, c_double(0)) if version == 3 else ()


def test_after_an_error_values_can_still_be_read(opened):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    assert fmu.step(0.0, -1.0)[0] == ERROR
    assert fmu.get(REFERENCE["angle"]) == (OK, [toy.START[2]])
    assert fmu.step(0.0, DT)[0] == ERROR


def test_model_exchange_lengths_and_numbers(opened):
    fmu = opened(MODEL_EXCHANGE)
    assert fmu.start() == OK
    refused(fmu, fmu.set_states([0.0] * 8), "8 continuous states", "has 9")
    assert fmu.start() == OK
    refused(fmu, fmu.set_states([math.nan] + [0.0] * 8), "coordinate 0 of the toy", "nan")
    assert fmu.start() == OK
    refused(fmu, fmu.numbers("GetEventIndicators", 3)[0], "3 event indicators", "has 4")
    assert fmu.start() == OK
    refused(fmu, fmu.call("GetContinuousStates", None, c_size_t(9)), "is NULL")
    assert fmu.start() == OK
    refused(fmu, fmu.call("SetTime", c_double(math.nan)), "time is nan")
    assert fmu.start() == OK
    refused(fmu, fmu.step(0.0, DT)[0], "not for Model Exchange")


def test_starts_that_the_model_cannot_run_from(opened):
    fmu = opened(CO_SIMULATION)
    assert fmu.enter() == OK
    assert fmu.assign("lower", 3.0) == OK
    refused(fmu, fmu.call("ExitInitializationMode"), "stops of velocity 0 of the toy", "crossed")
    assert fmu.enter() == OK
    assert fmu.assign("top.w", 0.7) == OK
    refused(fmu, fmu.call("ExitInitializationMode"), "quaternion", "coordinate 1 of the toy", "length 1")


def test_derivatives_of_what_has_none(opened, version):
    fmu = opened(CO_SIMULATION)
    angle, energy = REFERENCE["angle"], REFERENCE["energy"]
    assert fmu.start() == OK
    refused(fmu, fmu.derivative([angle], [energy], [1.0], 1)[0], "'energy'", "computed by the model")
    assert fmu.start() == OK
    refused(fmu, fmu.derivative([angle], [angle], [math.nan], 1)[0], "'angle'", "nan")
    assert fmu.start() == OK
    refused(fmu, fmu.derivative([angle], [len(toy.table()) - 1], [1.0], 1)[0], "is not a real number")
    assert fmu.start() == OK
    refused(fmu, fmu.derivative([999], [angle], [1.0], 1)[0], "999")
    if version == 3:
        assert fmu.start() == OK
        refused(fmu, fmu.derivative([angle], [angle], [1.0, 2.0], 1)[0], "seed has 2 numbers instead of 1")
        assert fmu.start() == OK
        refused(fmu, fmu.derivative([angle], [energy], [1.0], 1, adjoint=True)[0], "'energy'")


def test_functions_that_the_fmu_declares_not_to_have(opened, version):
    fmu = opened(CO_SIMULATION)
    one, order = (c_int32 * 1)(REFERENCE["angle"]), (c_int32 * 1)(1)
    if version == 3:
        for name in ("EnterConfigurationMode", "EnterStepMode", "EvaluateDiscreteStates"):
            assert fmu.start() == OK
            refused(fmu, fmu.call(name), "not supported")
        assert fmu.start() == OK
        values = (c_double * 1)()
        refused(fmu, fmu.call("GetOutputDerivatives", one, c_size_t(1), order, values, c_size_t(1)), "not supported")
        refused(fmu, fmu.call("GetClock", one, c_size_t(1), (c_bool * 1)()), "no Clock")
        number = c_size_t()
        refused(fmu, fmu.call("GetNumberOfVariableDependencies", 0, byref(number)), "modelDescription.xml")
    else:
        refused(fmu, fmu.call("SetRealInputDerivatives", one, c_size_t(1), order, (c_double * 1)()), "not supported")
        assert fmu.start() == OK
        status = c_int32(9)
        assert fmu.call("GetStatus", 0, byref(status)) == OK
        assert status.value == OK
        assert fmu.call("GetStringStatus", 1, byref(c_void_p())) == 2
        assert fmu.log[-1][:2] == (2, "logStatusDiscard")
        assert fmu.call("GetBooleanStatus", 3, byref(status)) == OK
        assert status.value == 0


def test_instantiation_is_refused_with_the_reason(shim_library, tmp_path, version):
    good = location(toy.PlantData().write(tmp_path / "resources"), version)
    for options, word in [
        ({"resources": None}, "path of the resources directory is NULL"),
        ({"resources": ""}, "it is empty"),
        ({"resources": location(tmp_path / "none", version)}, "cannot open"),
        ({"token": "other"}, "different tokens"),
        ({"token": None}, "token (guid) is NULL"),
        ({"name": ""}, "has no name"),
        ({"name": " \t"}, "has no name"),
        ({"name": None}, "has no name"),
        ({"token": "other", "logging": False}, "different tokens"),
    ]:
        fmu = Fmu(shim_library, version, CO_SIMULATION, **{"resources": good, **options})
        assert fmu.c is None
        assert len(fmu.errors()) == 1
        assert word in fmu.errors()[0]


def test_event_mode_of_co_simulation_is_refused(shim_library, tmp_path):
    fmu = Fmu(shim_library, 3, CO_SIMULATION, str(toy.PlantData().write(tmp_path / "resources")), event_mode=True)
    assert fmu.c is None
    assert "hasEventMode" in fmu.errors()[0]


def test_log_categories(opened, version):
    fmu = opened(CO_SIMULATION, logging=False)
    assert fmu.log == []
    categories = (c_char_p * 1)(b"logStatusDiscard")
    assert fmu.call("SetDebugLogging", 1, c_size_t(1), categories) == OK
    assert fmu.assign("mass", 1e-3) == OK
    assert fmu.assign("damping", 1.0) == OK
    assert fmu.start() == OK
    assert fmu.step(0.0, 20 * DT)[0] == 2
    assert [entry[:2] for entry in fmu.log] == [(2, "logStatusDiscard")]
    assert fmu.call("SetDebugLogging", 0, c_size_t(0), None) == OK
    assert fmu.call("Reset") == OK
    assert fmu.assign("mass", 1e-3) == OK
    assert fmu.assign("damping", 1.0) == OK
    assert fmu.start() == OK
    assert fmu.step(0.0, 20 * DT)[0] == 2
    assert len(fmu.log) == 1
    assert fmu.call("SetDebugLogging", 1, c_size_t(0), None) == OK
    wrong = (c_char_p * 1)(b"logAll")
    refused(fmu, fmu.call("SetDebugLogging", 1, c_size_t(1), wrong), "'logAll'", "logEvents")


def test_errors_without_logging_as_the_version_of_the_standard_has_it(opened, version):
    """FMI 2: loggingOn is about debugging, errors are logged in any case. FMI 3: loggingOn false silences all."""
    fmu = opened(CO_SIMULATION, logging=False)
    assert fmu.start() == OK
    assert fmu.step(0.0, -1.0)[0] == ERROR
    assert len(fmu.log) == (1 if version == 2 else 0)
    errors = (c_char_p * 1)(b"logStatusError")
    assert fmu.call("SetDebugLogging", 1, c_size_t(1), errors) == OK
    assert fmu.step(0.0, DT)[0] == ERROR
    assert fmu.log[-1][:2] == (ERROR, "logStatusError")
    logged = len(fmu.log)
    assert fmu.call("SetDebugLogging", 0, c_size_t(1), errors) == OK
    assert fmu.step(0.0, DT)[0] == ERROR
    assert len(fmu.log) == logged + (1 if version == 2 else 0)


def test_seeds_too_small_for_a_difference_give_zero(opened):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    assert fmu.derivative([REFERENCE["der(v0)"]], [REFERENCE["mass"]], [1e-310], 1) == (OK, [0.0])
    in_mass = -toy.Toy().acceleration() / toy.FLOATS[toy.MASS]
    status, (slope,) = fmu.derivative([REFERENCE["der(v0)"]], [REFERENCE["mass"]], [1e-300], 1)
    assert (status, slope) == (OK, pytest.approx(1e-300 * in_mass, rel=1e-8))
    in_angle = -9.0 * math.cos(toy.START[2]) / 2.0  # no difference
    for seed in (1e-300, 1e-306):
        status, (slope,) = fmu.derivative([REFERENCE["der(v0)"]], [REFERENCE["angle"]], [seed], 1)
        assert (status, slope) == (OK, pytest.approx(seed * in_angle, rel=1e-14, abs=0.0))


def test_outputs_that_are_no_numbers_are_discarded(opened):
    fmu = opened(MODEL_EXCHANGE)
    assert fmu.start() == OK
    assert fmu.set_states([0.0] * 9) == OK  # a quaternion without a direction
    assert fmu.get(REFERENCE["top.length"])[0] == 2
    assert fmu.log[-1][:2] == (2, "logStatusDiscard")
    assert "'top.length'" in fmu.log[-1][2]
    assert fmu.set_states([0.0, 1.0] + [0.0] * 7) == OK
    assert fmu.value("top.length") == 1.0


def test_co_simulation_discards_no_values_in_fmi_2(opened, version):
    fmu = opened(CO_SIMULATION)
    assert fmu.enter() == OK
    assert fmu.set([REFERENCE[f"top.{c}"] for c in "wxyz"], [0.0] * 4) == OK
    assert fmu.get(REFERENCE["top.length"])[0] == fmu.log[-1][0] == (ERROR if version == 2 else 2)


def test_derivatives_that_are_no_numbers(opened, version):
    fmu = opened(MODEL_EXCHANGE)
    assert fmu.start() == OK
    assert fmu.set_states([0.0] * 9) == OK  # a quaternion without a direction
    status = fmu.derivative([REFERENCE["top.length"]], [REFERENCE["angle"]], [1.0], 1)[0]
    assert status == fmu.log[-1][0] == (ERROR if version == 2 else 2)


def test_event_indicators_that_are_no_numbers_are_discarded(shim_library, tmp_path, version):
    floats = [*toy.FLOATS]
    floats[toy.UPPER] = -1e308
    folder = toy.PlantData(floats=tuple(floats)).write(tmp_path / "far")
    fmu = Fmu(shim_library, version, MODEL_EXCHANGE, location(folder, version))
    assert fmu.assign("lower", -1.5e308) == OK
    assert fmu.start() == OK
    assert fmu.numbers("GetEventIndicators", 4)[0] == OK
    assert fmu.set_states([1.7e308, 1.0] + [0.0] * 7) == OK
    assert fmu.numbers("GetEventIndicators", 4)[0] == 2
    assert fmu.log[-1][:2] == (2, "logStatusDiscard")
    assert "event indicator 1" in fmu.log[-1][2]
    fmu.free()


def test_a_long_message_is_cut_between_characters(shim_library, version):
    fmu = Fmu(shim_library, version, CO_SIMULATION, "/" + "ä" * 1500)
    assert fmu.c is None
    (message,) = fmu.errors()
    assert len(message.encode()) in range(1018, 1024)


def test_steps_too_small_for_the_clock(opened):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    assert fmu.step(0.0, 5e-324)[0] == OK
    assert fmu.value("angle") == toy.START[2]


def test_adjoint_seeds_that_are_no_numbers(shim_library, tmp_path):
    fmu = Fmu(shim_library, 3, CO_SIMULATION, str(toy.PlantData().write(tmp_path / "resources")))
    assert fmu.start() == OK
    angle = REFERENCE["angle"]
    refused(fmu, fmu.derivative([angle], [angle], [math.inf], 1, adjoint=True)[0], "seed", "'angle'", "inf")
    fmu.free()
