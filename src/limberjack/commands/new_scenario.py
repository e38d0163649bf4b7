"""The text of a scenario of any model, for `limberjack new`."""

from __future__ import annotations

import json
from dataclasses import dataclass

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.catalogue.catalogue import catalogue
from limberjack.engine.model.system import System

#: approximate length of a frame, s
_FRAME_S = 0.01


@dataclass(frozen=True)
class Link:
    """A device, and the program that answers it (none for a law in Python)."""

    name: str
    uri: str
    program: tuple[str, ...]


def of_a_model(name: str, system: System, model: str, link: Link | None) -> str:
    """A scenario that runs at once.

    model : its path as the scenario writes it;  link : of its controller, if it has one
    ArgumentError for a controller of a model without commands.
    """
    steps = max(1, round(_FRAME_S / system.dt))
    what = "a controller moves the model" if link else "the model moves by itself and by the timeline"
    lines = [
        f"# {system.name}: {what}. Fields and units: docs/reference/scenario-format.md",
        f"# Names of signals and commands, with units: limberjack info {model} --signals",
        "limberjack_scenario: 1",
        f"name: {name}",
        f"description: {_quoted(f'A first run of {system.name}.')}",
        f"model: {_quoted(model)}",
        f"steps_per_frame: {steps}",
        f"duration: {max(5.0, 500 * system.dt):g}",
        "seed: 1",
        "",
    ]
    lines += _device(link, system, steps * system.dt) if link else _timeline(system)
    lines += [
        "",
        "criteria: # what must hold: bounds, settling, rms, final, deadline, event, no_event, contact, capture",
        "  - {name: nothing tripped, type: no_event, kind: trip}",
    ]
    return "\n".join(lines) + "\n"


def _device(link: Link, system: System, period: float) -> list[str]:
    """The device with all coordinates, velocities and commands, its program, its watchdogs."""
    if not system.command_names:
        raise ArgumentError(f"the model {system.name} takes no commands; give it actuators, wheels or thrusters.")
    lines = ["pacing: {answer_limit_s: 10}", ""]
    if link.program:
        words = ", ".join(_quoted(word) for word in link.program)
        lines += ["controllers:", f"  - name: {link.name}", f"    command: [{words}]", "    ready: ready"]
        lines += ["    start_s: 60", ""]
    sent = '["q.*", "v.*"]' if system.nq else "[time]"
    return [
        *lines,
        "devices:",
        f"  - name: {link.name}",
        f"    uri: {_quoted(link.uri)}",
        f"    signals: {sent}",
        '    commands: ["*"]',
        "",
        "watchdogs:",
        f"  - {{name: silent, type: heartbeat, device: {link.name}, limit: {max(0.5, 50 * period):g}, safe: hold}}",
        "  - {name: engine, type: engine, safe: stop}",
    ]


def _timeline(system: System) -> list[str]:
    """A timeline that sets a command to its start value, as a template."""
    lines = ["watchdogs:", "  - {name: engine, type: engine, safe: stop}"]
    numbers = catalogue(system, "command")
    if numbers:
        first = numbers[0]
        entry = f"  - {{at: 1, command: {{{_quoted(first.name)}: {first.start:g}}}}}"
        lines += ["", "timeline:", f"{entry} # {first.text}, {first.unit or '-'}"]
    return lines


def _quoted(text: str) -> str:
    """The text as a YAML string, whatever it contains."""
    return json.dumps(text, ensure_ascii=False)
