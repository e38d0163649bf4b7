"""Control laws for a given model, for `limberjack new controller --model`: templates that hold each command at its
start."""

from __future__ import annotations

import json
import re

from limberjack.commands.messages import Wired
from limberjack.engine.model.catalogue.catalogue import catalogue
from limberjack.engine.model.system import System
from limberjack.hil.code.forms import Place, forms_of


def laws(file: str, text: str, wired: Wired, system: System, model: str) -> str:
    """The text of a shipped file with the law of this model in place of its own."""
    start = {number.name: (number.start or 0.0, number.unit) for number in catalogue(system, "command")}
    commands = {name: start[name] for name in wired.wiring.commands}
    if file == "balance.py":
        return _python(wired, model, commands)
    if file == "balance_zmq.py":
        return re.sub(r"class Law:.*?\n\n\n(?=def )", lambda _: _zmq(commands), text, count=1, flags=re.S)
    values = [commands[str(place.field.name)][0] for place in _set(wired)]
    if file == "balance.h":
        return _c(wired, model, values)
    if file == "balance_tcp.m":
        return re.sub(r"function \[commands, law\] = control.*", lambda _: _matlab(wired, values), text, flags=re.S)
    return text


def _set(wired: Wired) -> list[Place]:
    """The commands as programs call them."""
    assert wired.layout is not None
    forms = forms_of(wired.name, wired.origin, wired.layout, wired.wiring, wired.command_units, wired.uri)
    return [place for place in forms.commands.shown if place.field.use == "value"]


def _entries(commands: dict[str, tuple[float, str]], indent: str) -> str:
    lines = (
        f"{indent}{json.dumps(name, ensure_ascii=False)}: {value!r},  # {unit or '-'}"
        for name, (value, unit) in commands.items()
    )
    return "\n".join(lines)


def _python(wired: Wired, model: str, commands: dict[str, tuple[float, str]]) -> str:
    return f'''"""A controller of the model {model} in the bench's own process: {wired.uri}."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from limberjack.hil.devices.device import Wiring

#: the commands with which the model begins
START = {{
{_entries(commands, "    ")}
}}


def controller(wiring: Wiring) -> Callable[[float, np.ndarray], list[float]]:
    """Called once a run; what it returns is called with every message of signals."""

    def law(time: float, signals: np.ndarray) -> list[float]:
        """From simulated time, s, and the device's signals in their order to its commands in theirs."""
        now, commands = dict(zip(wiring.signals, signals.tolist())), dict(START)
        # your law: set commands[…] from now[…]
        return [commands[name] for name in wiring.commands]

    return law
'''


def _zmq(commands: dict[str, tuple[float, str]]) -> str:
    return f'''class Law:
    """The control law of one run; what it remembers is reset with the run."""

    def commands(self, now: float, signals: dict[str, float]) -> dict[str, float]:
        """Commands by name from simulated time, s, and signals by name. Your law: set them from signals[…]."""
        return {{
{_entries(commands, "            ")}
        }}


'''


def _c(wired: Wired, model: str, values: list[float]) -> str:
    name = wired.name
    lines = "\n".join(
        f"    commands->{place.label} = {value!r}; /* {place.about} */" for place, value in zip(_set(wired), values)
    )
    return f"""/* The control law of the model {model}. Include the messages of the device before it. */
#ifndef {name.upper()}_H
#define {name.upper()}_H

/* What the law remembers; {{0}} at the start of a run. */
struct law {{
    double last;
}};

/* Commands from signals. Time is the bench's: messages may have been lost on the way. */
static inline void control(struct law *law, const struct {name}_signals *now, struct {name}_commands *commands)
{{
    law->last = now->time;
    /* your law: set these from now->… */
{lines}
}}

#endif
"""


def _matlab(wired: Wired, values: list[float]) -> str:
    lines = "\n".join(
        f"commands.{place.label} = {value!r}; % {place.about}" for place, value in zip(_set(wired), values)
    )
    return f"""function [commands, law] = control(law, now, commands)
% Commands from signals. Time is the bench's: messages may have been lost on the way. law is [] at the start of a run.
law.last = now.time;
% your law: set these from now.…
{lines}
end
"""
