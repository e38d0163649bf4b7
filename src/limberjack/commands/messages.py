"""`limberjack messages`: the messages that a controller receives and sends, byte by byte, and code for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from limberjack.commands.console import open_console
from limberjack.commands.tables import new_table
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.code.c_header import c_header
from limberjack.hil.code.forms import CHECKS, Form, form_of, forms_of
from limberjack.hil.code.matlab_functions import matlab_functions
from limberjack.hil.devices.channel import MessageDevice
from limberjack.hil.devices.device import Wiring
from limberjack.hil.devices.message_layout import LayoutSpec
from limberjack.hil.devices.uri import device_from
from limberjack.hil.scenario.bench_setup import INSIDE, build
from limberjack.hil.scenario.scenario_file import Scenario, load_scenario

#: in every file that this command makes; it does not overwrite any other file
MADE_BY = "Made by 'limberjack messages'"


@dataclass(frozen=True)
class Wired:
    """A device of a scenario: its wiring with units, and its layout if it has one.

    origin : for people, "device 'servo' of arm.yaml"
    """

    name: str
    origin: str
    uri: str
    wiring: Wiring
    command_units: tuple[str, ...]
    layout: LayoutSpec | None


def messages(path: Path, device: str | None, out: Path | None) -> None:
    """Print the messages of a scenario's devices, or write the code of one. Raises ArgumentError if there are none."""
    scenario = load_scenario(path)
    names = [spec.name for spec in scenario.spec.devices]
    if not names:
        raise ArgumentError(f"{path}: the scenario has no devices; see docs/reference/devices.md.")
    if device is not None:
        arguments.index_of("device", device, names)
        names = [device]
    if out is not None and len(names) > 1:
        raise ArgumentError(f"{path} has the devices {', '.join(names)}; choose one with --device.")
    wired = [each for each in wired_devices(scenario, path.name) if each.name in names]
    if out is not None:
        print(write_code(wired[0], out))
        return
    for each in wired:
        console = open_console()
        console.print(f"{each.origin}, {each.uri}", highlight=False, soft_wrap=True)
        for table in _tables(each):
            console.print(table)


def wired_devices(scenario: Scenario, file: str) -> list[Wired]:
    """The devices of a scenario. Raises ModelError if the scenario is invalid."""
    executive = build(scenario, seed=0, paced=False).executive
    units = dict(zip(executive.signals.names, executive.signals.units))
    found = []
    for spec, mounted in zip(scenario.spec.devices, executive.devices):
        layout = None
        if not spec.uri.startswith(tuple(INSIDE)):
            device = device_from(spec.uri, spec.name, spec.options, scenario.folder)
            layout = device.layout(mounted.wiring) if isinstance(device, MessageDevice) else None
        command_units = tuple(units[f"command.{name}"] for name in mounted.wiring.commands)
        origin = f"device '{spec.name}' of {file}"
        found.append(Wired(spec.name, origin, spec.uri, mounted.wiring, command_units, layout))
    return found


def write_code(wired: Wired, out: Path) -> Path:
    """Write FILE.h or FILE.m; returns it. Raises ArgumentError for another suffix, or for a file not made this way."""
    if wired.layout is None:
        raise ArgumentError(
            f"{wired.origin} ({wired.uri}) has no binary messages: its numbers go by name; "
            "see docs/reference/devices.md."
        )
    forms = forms_of(wired.name, wired.origin, wired.layout, wired.wiring, wired.command_units, wired.uri)
    makers = {".h": c_header, ".m": matlab_functions}
    if out.suffix not in makers:
        raise ArgumentError(f"{out}: end the name in .h for C and C++, or in .m for MATLAB and Octave.")
    needed = f"{forms.name}_messages.m"
    if out.suffix == ".m" and out.name != needed:
        raise ArgumentError(f"{out}: MATLAB finds a function by the name of its file; call it {needed}.")
    text = makers[out.suffix](forms)
    if out.exists() and MADE_BY not in out.read_text(encoding="utf-8", errors="replace"):
        raise ArgumentError(f"{out} exists already and was not made by this command; give another name.")
    out.write_text(text, encoding="utf-8")
    return out


def _tables(wired: Wired) -> Iterator[Table]:
    """Tables of both messages."""
    wiring, layout = wired.wiring, wired.layout
    units = {"signals": dict(zip(wiring.signals, wiring.signal_units))}
    units["commands"] = dict(zip(wiring.commands, wired.command_units))
    for part, known in units.items():
        spec = getattr(layout, part) if layout is not None else None
        if spec is not None and layout is not None:
            yield _bytes(form_of(part, spec, known), layout)
            continue
        table = new_table(f"{part}, by name", "name", "unit", folding=(0,))
        for name, unit in known.items():
            table.add_row(name, unit or "-")
        yield table


def _bytes(form: Form, layout: LayoutSpec) -> Table:
    """A message byte by byte."""
    signed = layout.authenticate != "none"
    size = form.size + (32 if signed else 0)
    table = new_table(
        f"{form.part}, {size} bytes, {layout.byte_order}-endian", "byte", "type", "what", "unit", "value", folding=(2,)
    )
    for place in form.places:
        field = place.field
        what = field.name if field.name is not None else field.use
        value = f"{field.value:#x}" if field.value is not None else _scaled(field.scale, field.offset)
        table.add_row(str(place.offset), field.type, what, place.unit or "-", value)
    if form.check != "none":
        table.add_row(str(form.body), f"u{8 * CHECKS[form.check]}", form.check, "-", f"of bytes 0 to {form.body - 1}")
    if signed:
        table.add_row(str(form.size), "u8[32]", "HMAC-SHA-256", "-", f"of '{form.part}' and all before it")
    return table


def _scaled(scale: float, offset: float) -> str:
    """The formula from a number to a value."""
    text = "number" if scale == 1.0 else f"{scale:g} · number"
    return text if offset == 0.0 else f"{text} {'+' if offset > 0 else '-'} {abs(offset):g}"
