"""Every numeric type of FMI 3 through an FMU and back; arrays sized by a structural parameter; FMUs made by others."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import limberjack as lj
from limberjack.fmu.controller.controller import FmuController
from tests.fmu import controller_fmus as fmus

TYPES = {
    "Float32": "float",
    "Int8": "int8_t",
    "UInt8": "uint8_t",
    "Int16": "int16_t",
    "UInt16": "uint16_t",
    "UInt32": "uint32_t",
    "Int64": "int64_t",
    "UInt64": "uint64_t",
    "Boolean": "bool",
}
#: values that fit exactly, and values that do not
GOOD = {
    "Float32": 0.1,
    "Int8": -128,
    "UInt8": 255,
    "Int16": -32768,
    "UInt16": 65535,
    "UInt32": 4294967295,
    "Int64": -(2**53),
    "UInt64": 2**53,
    "Boolean": True,
}
BAD = {
    "Float32": 1e39,
    "Int8": 128,
    "UInt8": -1,
    "Int16": 0.5,
    "UInt16": 65536,
    "UInt32": -1,
    "Int64": 1e18,
    "UInt64": -1,
    "Boolean": 0.5,
}
#: gives back what it was given, one scalar of each type
PASS = """
static %(c)s kept_%(fmi)s;
EXPORT Status fmi3Set%(fmi)s(Controller *c, const Reference *r, size_t n, const %(c)s *v, size_t m) {
    if (n != 1 || m != 1) return fail(c, "one value");
    (void)r; kept_%(fmi)s = v[0]; return OK;
}
EXPORT Status fmi3Get%(fmi)s(Controller *c, const Reference *r, size_t n, %(c)s *v, size_t m) {
    if (n != 1 || m != 1) return fail(c, "one value");
    (void)r; v[0] = kept_%(fmi)s; return OK;
}
"""


@pytest.fixture(scope="module")
def types(tmp_path_factory):
    changes = {f"ABSENT_TYPE({fmi})\n": PASS % {"fmi": fmi, "c": c} for fmi, c in TYPES.items()}
    variables = "".join(
        f'<{fmi} name="{fmi}_in" valueReference="{100 + 2 * i}" causality="input" {_discrete(fmi)} start="0"/>'
        f'<{fmi} name="{fmi}_out" valueReference="{101 + 2 * i}" causality="output" {_discrete(fmi)}/>'
        for i, fmi in enumerate(TYPES)
    )
    xml = {"  </ModelVariables>": variables + "</ModelVariables>"}
    return fmus.pack(tmp_path_factory.mktemp("types"), fmus.EXAMPLE, changes, xml)


def _discrete(fmi: str) -> str:
    return 'variability="continuous"' if fmi.startswith("Float") else 'variability="discrete"'


def unconnected(path):
    names = [*(f"{fmi}_in" for fmi in TYPES), "angle", "rate", "angle_reference", "rate_reference", "feed_forward"]
    return dict.fromkeys(names, None)


@pytest.mark.filterwarnings("ignore::limberjack.fmu.controller.errors.FmuWarning")
def test_values_of_every_type(types, tmp_path):
    sim = fmus.pendulum(tmp_path)
    given = unconnected(types) | {f"{fmi}_in": value for fmi, value in GOOD.items()}
    with FmuController(types, given, {"Int8_out": "elbow", "Boolean_out": "shoulder"}, period=0.01) as controller:
        controller.start(sim)
        assert (sim.command["elbow"], sim.command["shoulder"]) == (-128.0, 1.0)
        for fmi, value in GOOD.items():
            exact = float(np.float32(value)) if fmi == "Float32" else float(value)
            assert controller.output[f"{fmi}_out"] == exact
    for fmi, value in BAD.items():
        with (
            FmuController(types, given | {f"{fmi}_in": value}, {}, period=0.01) as controller,
            pytest.raises(lj.ArgumentError, match=f"variable '{fmi}_in' would get .*{fmi}"),
        ):
            controller.start(sim)


def test_arrays_sized_by_a_structural_parameter(tmp_path):
    size = '<Dimension start="7"/>'
    xml = {
        size: '<Dimension valueReference="50"/>',
        "    <Int32 name=": '<UInt64 name="n" valueReference="50" causality="structuralParameter" variability="fixed" '
        'start="3"/><Int32 name=',
    }
    changes = {
        "#define JOINTS 7": "#define MOST 9\nstatic size_t JOINTS = 3;\nstatic bool configuring;",
        "[JOINTS];": "[MOST];",
        "for (int i = 0; i < JOINTS": "for (int i = 0; i < (int)JOINTS",
        "ABSENT(fmi3EnterConfigurationMode)": (
            "EXPORT Status fmi3EnterConfigurationMode(Controller *c) { (void)c; configuring = true; return OK; }"
        ),
        "ABSENT(fmi3ExitConfigurationMode)": (
            "EXPORT Status fmi3ExitConfigurationMode(Controller *c) {"
            " configuring = false; set_defaults(&c->state); return OK; }"
        ),
        "ABSENT_TYPE(UInt64)": (
            "ABSENT(fmi3GetUInt64) EXPORT Status fmi3SetUInt64(Controller *c, const Reference *r, size_t n,"
            " const uint64_t *v, size_t m) { (void)r, (void)n, (void)m;"
            ' if (!configuring) return fail(c, "not configuring"); JOINTS = v[0]; return OK; }'
        ),
    }
    path = fmus.pack(tmp_path, fmus.EXAMPLE, changes, xml)
    sim = fmus.pendulum(tmp_path)
    sim.q = [0.25, 0.5]
    inputs = {"angle": "q", "rate": "v", "angle_reference": None, "rate_reference": None, "feed_forward": None}
    with FmuController(path, inputs, {"torque": ["shoulder", "elbow"]}, {"n": 2}) as controller:
        controller.start(sim)
        np.testing.assert_array_equal(sim.command_vector, [-25.0, -50.0])
    with (
        FmuController(path, inputs, {"torque": ["shoulder", "elbow"]}) as controller,  # three by default
        pytest.raises(lj.ArgumentError, match="'q' has 2 numbers, but 3 are needed"),
    ):
        controller.start(sim)
    with pytest.raises(lj.ArgumentError, match="n is -1"):
        FmuController(path, inputs, {}, {"n": -1})


PYTHON_CONTROLLER = """
from {package} import {base}, {causality}, {variability}, {real}

class Damper({base}):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.torque, self.gain = 0.0, 0.0, 2.0
{time}        self.register_variable({real}("rate", causality={causality}.input, start=0.0))
        self.register_variable({real}("torque", causality={causality}.output))
        self.register_variable({real}("gain", causality={causality}.parameter,
            variability={variability}.tunable, start=2.0))
    def do_step(self, current_time, step_size):
        self.torque = -self.gain * self.rate
        return {done}
"""
MAKERS = {
    "pythonfmu": {
        "base": "Fmi2Slave",
        "causality": "Fmi2Causality",
        "variability": "Fmi2Variability",
        "real": "Real",
        "time": "",
        "done": "True",
    },
    "pythonfmu3": {
        "base": "Fmi3Slave",
        "causality": "Fmi3Causality",
        "variability": "Fmi3Variability",
        "real": "Float64",
        "time": "        self.time = 0.0\n        self.register_variable(Float64('time', causality="
        "Fmi3Causality.independent, variability=Fmi3Variability.continuous))\n",
        "done": "Fmi3StepResult(status=Fmi3Status.ok)",
    },
}


@pytest.mark.parametrize("package", MAKERS)
@pytest.mark.filterwarnings("ignore::limberjack.fmu.controller.errors.FmuWarning")
def test_fmus_made_with_other_tools(package, tmp_path):
    """FMUs of PythonFMU (FMI 2) and PythonFMU3 (FMI 3), whose outputs change in do_step only."""
    script = tmp_path / f"damper_of_{package}.py"  # both live in this process: their modules need different names
    text = PYTHON_CONTROLLER.format(package=package, **MAKERS[package])
    if package == "pythonfmu3":
        text = "from pythonfmu3 import Fmi3StepResult, Fmi3Status\n" + text
    script.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", package, "build", "-f", str(script), "-d", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    sim, twin = fmus.pendulum(tmp_path), fmus.pendulum(tmp_path)
    path = next(tmp_path.glob("*.fmu"))
    with FmuController(
        path, {"rate": "elbow.rate"}, {"torque": "elbow"}, {"gain": 0.3}, period=0.01, name="damper"
    ) as controller:
        trace = controller.run(sim, 0.3)
    for k in range(31):
        twin.command["elbow"] = -0.3 * twin.v[1] if k else 0.0
        np.testing.assert_array_equal(trace["command.elbow"][k], twin.command["elbow"])
        np.testing.assert_array_equal(trace["elbow"][k], twin.q[1])
        twin.step(10)
