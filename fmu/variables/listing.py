"""Which variables an FMU of a model has, in the order of their value references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region
from limberjack.fmu.variables.candidates import Candidates, typed
from limberjack.fmu.variables.parameters import parameters as parameters_of
from limberjack.fmu.variables.selection import Candidate, choose, patterns_of
from limberjack.fmu.variables.variable import Variable

Variant = Literal["arrays", "scalar"]
Coupling = Literal["embedded", "process"]

#: offsets in Region.SETTING, as in shim/plant_file.h
ENDPOINT, KEYS, COMMAND, TIMEOUT = range(4)
#: command that starts an engine process by default
_COMMAND = "limberjack run"


def variables_of(
    system: System,
    plant: Plant,
    variant: Variant,
    coupling: Coupling = "embedded",
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None,
) -> list[Variable]:
    """The variables of an FMU; a variable's value reference is its place in the list.

    variant : "arrays" (FMI 3) keeps vectors whole, "scalar" (FMI 3 and FMI 2) has a variable for each element
    coupling : "embedded", with the engine inside, or "process"
    inputs, outputs, parameters : patterns on names (`selection.py`); None takes the model file's, else the defaults

    Order: time, parameters, inputs, states [q | v], their derivatives, other outputs, event indicators, settings.
    Raises ModelError (patterns of the model file) or ArgumentError for a pattern that matches nothing.
    """
    if variant not in ("arrays", "scalar") or coupling not in ("embedded", "process"):
        raise ArgumentError(
            f"no variant '{variant}' with coupling '{coupling}'; use 'arrays' or 'scalar' with 'embedded' or 'process'."
        )
    offers = Candidates(system, plant, variant == "arrays", coupling == "embedded")
    groups = {"parameters": list(parameters_of(offers)), "inputs": offers.inputs(), "outputs": offers.outputs()}
    given = {"parameters": parameters, "inputs": inputs, "outputs": outputs}
    full = Candidates(system, plant, variant == "arrays", True)
    chosen: dict[str, list[Variable]] = {}
    for group, candidates in groups.items():
        others: dict[str, list[Candidate]] = {name: listed for name, listed in groups.items() if name != group}
        if coupling == "process":
            others[f"{group} of the embedded coupling only"] = full.outputs() if group == "outputs" else []
        chosen[group] = choose(patterns_of(group, given[group], system), candidates, others)
    drives = offers.drive_commands
    if variant == "arrays" and drives and sum(each.offset < drives for each in chosen["inputs"]) == drives:
        chosen["inputs"] = [offers.whole_command(), *chosen["inputs"][drives:]]
    settings = [] if coupling == "embedded" else _settings()
    listed = [_time(), *chosen["parameters"], *chosen["inputs"], *chosen["outputs"], *offers.indicators(), *settings]
    _require_unique(listed)
    return listed


def _time() -> Variable:
    return Variable("time", "simulated time", Region.TIME, 0, causality="independent", **typed("Time"))


def _settings() -> list[Variable]:
    """The settings by which the process coupling finds its engine."""
    fixed: dict[str, Any] = {"causality": "parameter", "variability": "fixed"}
    texts = {
        "endpoint": ("address of a running engine process; empty: start one", ENDPOINT, ""),
        "keys": ("folder with the keys of an encrypted connection; empty: not encrypted", KEYS, ""),
        "command": ("words that start the engine process; the model and its options follow them", COMMAND, _COMMAND),
    }
    listed = [
        Variable(f"engine.{name}", said, Region.SETTING, offset, start=(start,), text=True, **fixed)
        for name, (said, offset, start) in texts.items()
    ]
    said, bounds = "longest wait for an answer of the engine process", {"minimum": 0.001, "maximum": 1e6}
    wait = typed("Time") | fixed | bounds
    return [*listed, Variable("engine.timeout", said, Region.SETTING, TIMEOUT, start=(5.0,), **wait)]


def _require_unique(variables: list[Variable]) -> None:
    """Quoting keeps user names apart, so two equal names are a fault of this module."""
    names = [variable.name for variable in variables]
    assert len(set(names)) == len(names), f"two variables share a name: {sorted(names)}"
