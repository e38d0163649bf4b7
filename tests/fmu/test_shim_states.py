"""Which function may be called in which state: the tables of FMI 2.0.5 (3.2.3, 4.2.4) and the lists of FMI 3.0.2 (2.3,
3.2.1, 4.2.1), every pair of them.

States: Instantiated, iNitialization, Event, Continuous-time, Step (complete), step Failed, Terminated, error (X).
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_bool, c_char_p, c_double, c_int, c_int32, c_size_t, c_void_p

import pytest

from tests.fmu.shim_build import CO_SIMULATION, DISCARD, ERROR, MODEL_EXCHANGE, OK, Fmu
from tests.fmu.shim_model import DT, REFERENCE

ALL = {(2, MODEL_EXCHANGE): "INECTX", (2, CO_SIMULATION): "INSFTX", (3, MODEL_EXCHANGE): "INECTX"}
ALL[3, CO_SIMULATION] = "INSTX"
ANGLE, ENERGY, COMMAND = (REFERENCE[name] for name in ("angle", "energy", "torque_command"))

#: function → states, for (FMI 2 ME, FMI 2 CS, FMI 3 ME, FMI 3 CS). Liberties: Model Exchange takes the time in Event
#: Mode, and FMI 2 reports the status of a step after an error.
TABLE = {
    "SetDebugLogging": ("INECTX", "INSFTX", "INECTX", "INSTX"),
    "SetupExperiment": ("I", "I", None, None),
    "EnterInitializationMode": ("I", "I", "I", "I"),
    "ExitInitializationMode": ("N", "N", "N", "N"),
    "Terminate": ("EC", "SF", "EC", "S"),
    "Reset": ("INECTX", "INSFTX", "INECTX", "INSTX"),
    "get": ("NECTX", "NSFTX", "INECTX", "INSTX"),
    "set": ("INEC", "INS", "INEC", "INS"),
    "save": ("INECTX", "INSFTX", "INECTX", "INSTX"),
    "restore": ("INECTX", "INSFTX", "INECTX", "INSTX"),
    "drop": ("INECTX", "INSFTX", "INECTX", "INSTX"),
    "serialize": ("INECTX", "INSFTX", "INECTX", "INSTX"),
    "derivative": ("NECTX", "NSFTX", "NECTX", "NSTX"),
    "adjoint": (None, None, "NECTX", "NSTX"),
    "EnterEventMode": ("EC", "", "C", ""),
    "update": ("E", "", "E", ""),
    "EnterContinuousTimeMode": ("E", "", "E", ""),
    "CompletedIntegratorStep": ("C", "", "C", ""),
    "SetTime": ("EC", "", "EC", ""),
    "SetContinuousStates": ("C", "", "C", ""),
    "GetEventIndicators": ("NECTX", "", "NECTX", ""),
    "GetContinuousStates": ("NECTX", "", "NECTX", ""),
    "derivatives": ("NECTX", "", "NECTX", ""),
    "GetNominalsOfContinuousStates": ("INECTX", "", "NECTX", ""),
    "GetNumberOfContinuousStates": (None, None, "INECTX", ""),
    "GetNumberOfEventIndicators": (None, None, "INECTX", ""),
    "DoStep": ("", "S", "", "S"),
    "GetStatus": (None, "SFTX", None, None),
    "output_derivatives": (None, "SFTX", None, "STX"),
    "EnterStepMode": (None, None, "", ""),
    "EnterConfigurationMode": (None, None, "", ""),
}


def reach(fmu: Fmu, state: str) -> None:
    """Bring a fresh instance into a state."""
    if state == "F":  # a step that diverges
        assert fmu.assign("mass", 1e-3) == fmu.assign("damping", 1.0) == OK
    if state in "NECSFT":
        assert fmu.enter() == OK
    if state in "ECSFT":
        assert fmu.call("ExitInitializationMode") == OK
    if state == "C":
        assert fmu.call("EnterContinuousTimeMode") == OK
    if state == "F":
        assert fmu.step(0.0, 20 * DT)[0] == DISCARD
    if state == "T":
        assert fmu.call("Terminate") == OK
    if state == "X":
        assert fmu.call("SetDebugLogging", 1, c_size_t(1), (c_char_p * 1)(b"none")) == ERROR


def _entering(fmu: Fmu) -> int:
    times = (0, c_double(0), c_double(0), 0, c_double(0)) if fmu.version == 3 else ()
    return fmu.call("EnterInitializationMode", *times)


def _update(fmu: Fmu) -> int:
    if fmu.version == 2:
        return fmu.call("NewDiscreteStates", (c_double * 4)())
    return fmu.call("UpdateDiscreteStates", *(byref(c_bool()) for _ in range(5)), byref(c_double()))


def _completed(fmu: Fmu) -> int:
    kind = c_int if fmu.version == 2 else c_bool
    return fmu.call("CompletedIntegratorStep", 1, byref(kind()), byref(kind()))


def _derivatives(fmu: Fmu) -> int:
    return fmu.numbers("GetDerivatives" if fmu.version == 2 else "GetContinuousStateDerivatives", 9)[0]


def _output_derivatives(fmu: Fmu) -> int:
    if fmu.version == 2:
        return fmu.call("GetRealOutputDerivatives", None, c_size_t(0), None, None)
    return fmu.call("GetOutputDerivatives", None, c_size_t(0), None, None, c_size_t(0))


def _number(name: str) -> Callable[[Fmu, c_void_p], int]:
    return lambda fmu, _: fmu.call(name, byref(c_size_t()))


def _serialize(fmu: Fmu, state: c_void_p) -> int:
    return fmu.call(fmu.state_name("SerializedFMUStateSize"), state, byref(c_size_t()))


#: how a function is called when it is not without arguments; each gets the instance and a state that it saved
CALLS: dict[str, Callable[[Fmu, c_void_p], int]] = {
    "SetDebugLogging": lambda fmu, _: fmu.call("SetDebugLogging", 1, c_size_t(0), None),
    "SetupExperiment": lambda fmu, _: fmu.call("SetupExperiment", 0, c_double(0), c_double(0), 0, c_double(0)),
    "EnterInitializationMode": lambda fmu, _: _entering(fmu),
    "get": lambda fmu, _: fmu.get(ENERGY)[0],
    "set": lambda fmu, _: fmu.set([COMMAND], [0.5]),
    "save": lambda fmu, _: fmu.save()[0],
    "restore": lambda fmu, state: fmu.restore(state),
    "drop": lambda fmu, state: fmu.drop(state),
    "serialize": _serialize,
    "derivative": lambda fmu, _: fmu.derivative([ENERGY], [ANGLE], [1.0], 1)[0],
    "adjoint": lambda fmu, _: fmu.derivative([ENERGY], [ANGLE], [1.0], 1, adjoint=True)[0],
    "update": lambda fmu, _: _update(fmu),
    "CompletedIntegratorStep": lambda fmu, _: _completed(fmu),
    "SetTime": lambda fmu, _: fmu.call("SetTime", c_double(0.0)),
    "SetContinuousStates": lambda fmu, _: fmu.set_states([0.0, 1.0, *[0.0] * 7]),
    "GetEventIndicators": lambda fmu, _: fmu.numbers("GetEventIndicators", 4)[0],
    "GetContinuousStates": lambda fmu, _: fmu.numbers("GetContinuousStates", 9)[0],
    "derivatives": lambda fmu, _: _derivatives(fmu),
    "GetNominalsOfContinuousStates": lambda fmu, _: fmu.numbers("GetNominalsOfContinuousStates", 9)[0],
    "GetNumberOfContinuousStates": _number("GetNumberOfContinuousStates"),
    "GetNumberOfEventIndicators": _number("GetNumberOfEventIndicators"),
    "DoStep": lambda fmu, _: fmu.step(0.0, DT)[0],
    "GetStatus": lambda fmu, _: fmu.call("GetStatus", 0, byref(c_int32())),
    "output_derivatives": lambda fmu, _: _output_derivatives(fmu),
}


@pytest.mark.parametrize("kind", [MODEL_EXCHANGE, CO_SIMULATION])
@pytest.mark.parametrize("name", TABLE)
def test_a_function_may_be_called_where_the_standard_says_so(opened, version, kind, name):
    allowed = TABLE[name][2 * (version - 2) + (kind == CO_SIMULATION)]
    if allowed is None:
        return  # not a function of this version
    for state in ALL[version, kind]:
        fmu = opened(kind)
        status, saved = fmu.save()
        assert status == OK
        reach(fmu, state)
        logged = len(fmu.log)
        status = CALLS[name](fmu, saved) if name in CALLS else fmu.call(name)
        assert status == (OK if state in allowed else ERROR), (name, state, fmu.log[logged:])
        if state not in allowed:
            assert fmu.log[-1][0] == ERROR
