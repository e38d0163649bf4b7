"""Which runs can be worlds of one batch."""

from __future__ import annotations

from collections.abc import Hashable

from limberjack.hil.devices import arrays, fmu_law
from limberjack.hil.devices.in_process import SCHEME as ALONE
from limberjack.hil.devices.over_arrays import FACTORIES, scheme_of
from limberjack.hil.scenario.scenario_file import Scenario
from limberjack.hil.scenario.schema_faults import LinkFault


def why_alone(scenario: Scenario) -> str:
    """Why a run of a scenario cannot be a world of a batch; "" if it can."""
    spec = scenario.spec
    if spec.controllers:
        return f"controller '{spec.controllers[0].name}' is a program of its own, which serves one run"
    for device in spec.devices:
        if device.uri.startswith(ALONE):
            return (
                f"device '{device.name}' is a law of one world ({device.uri:.100}); write one over arrays, "
                f"{arrays.SCHEME}MODULE:FUNCTION"
            )
        if scheme_of(device.uri) not in FACTORIES:
            return f"device '{device.name}' is outside of this process ({device.uri:.100})"
        if device.uri.startswith(fmu_law.SCHEME) and fmu_law.serves_one(device.uri, scenario.folder):
            return f"device '{device.name}' is an FMU that allows one instance in a process"
        if device.compensate is not None:
            return f"device '{device.name}' has a compensation of its delay, which serves one run"
    for fault in spec.faults:
        if isinstance(fault, LinkFault):
            return f"fault '{fault.name}' disturbs the link of a device, and a controller over arrays has none"
    return ""


def kind_of(scenario: Scenario) -> Hashable:
    """What the worlds of a batch have in common: the model, its steps, and all of the devices but their numbers."""
    spec = scenario.spec
    devices = tuple(
        (part.name, part.uri, tuple(part.signals), tuple(part.commands), part.every, arrays.form_of(part.options))
        for part in spec.devices
    )
    steps = spec.dt, spec.integrator, spec.substeps, spec.steps_per_frame, spec.duration
    return spec.model, spec.load.model_dump_json(), steps, devices
