"""Criteria on contacts against the model: names of contacts, loops and sensors that it must have."""

from __future__ import annotations

from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.names import some_names
from limberjack.engine.files.patterns import compiled
from limberjack.engine.model.system import System
from limberjack.hil.scenario import schema_criteria as schema
from limberjack.hil.scenario.scenario_file import Scenario


def check_contacts(scenario: Scenario, i: int, system: System) -> None:
    """ModelError where criterion i asks for events of contacts or loops that the model does not have."""
    part = scenario.spec.criteria[i]
    if not schema.needs_contacts(part):
        return
    contacts = [contact.name for contact in system.contacts]
    loops = [loop.name for loop in system.loops if loop.switchable]
    if not contacts:
        what = f"criterion '{part.name}' judges contacts, and the model '{system.name}' has none"
        raise ModelError(what, where=scenario.place("criteria", i), remedy="Give the model contacts, or leave it out")
    if isinstance(part, (schema.EventSpec, schema.NoEventSpec)):
        _match(scenario, i, "source", part.source, loops if part.kind == "capture" else contacts)
    if isinstance(part, (schema.ContactSpec, schema.CaptureSpec)):
        _match(scenario, i, "contact", part.contact, contacts)
    if isinstance(part, schema.CaptureSpec):
        _match(scenario, i, "loop", part.loop, loops)


def _match(scenario: Scenario, i: int, field: str, pattern: str, names: list[str]) -> None:
    if not any(compiled(pattern).match(name) for name in names):
        known = f"Name one of: {some_names(set(names))}" if names else "The model has no loop that can be switched"
        what = f"{field} '{pattern}' matches nothing"
        raise ModelError(what, where=scenario.place("criteria", i, field), remedy=known)


def envelope_signals(scenario: Scenario, i: int, envelope: schema.EnvelopeSpec, system: System) -> tuple[str, ...]:
    """Signals that an envelope is judged by: of both frames position (3) and, where there is one, orientation (4)."""
    names = system.output_names
    found: list[str] = []
    for which in ("first", "second"):
        frame: schema.FrameSpec = getattr(envelope, which)
        for field in ("position", "orientation"):
            name = getattr(frame, field)
            if name is None:
                continue
            wanted = f"node_{field}"
            known = {sensor.name for sensor in system.sensors if sensor.type == wanted}
            if name not in known:
                where = scenario.place("criteria", i, "envelope", which, field)
                listed = some_names(known) if known else f"there is none; add a sensor of type {wanted} to the model"
                raise ModelError(
                    f"'{name}' is not a sensor of type {wanted}", where=where, remedy=f"Name one: {listed}"
                )
            start, size = system.output_places[name]
            found += [f"output.{output}" for output in names[start : start + size]]
    return tuple(found)
