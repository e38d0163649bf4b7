"""The output of `limberjack info` and `check` about contacts: pairs of shapes, those that overlap at the start, and
those that two contacts name."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from limberjack.commands.tables import new_table
from limberjack.engine.model.build import build, new_state
from limberjack.engine.model.elements.contact import Contact
from limberjack.engine.model.extents import kind_of
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.tables.contacts import C_TOUCHES, PA_CONTACT, PA_FLIP, PA_TOUCH, PA_TOUCHES, TO_GAP, TOUCH

#: depth that is normal for nearly rigid shapes at rest, m
_AT_REST = 1e-6
#: number of pairs of one contact that `info` lists
_MOST_LISTED = 50


def overlaps(system: System) -> list[str]:
    """A warning for each pair of shapes that overlaps at the start; its depth is that of its deepest point."""
    if not system.contacts:
        return []
    plant = build(system)
    texts: list[str] = []
    state, touches = new_state(plant, system), plant.count(C_TOUCHES)
    gaps = state[len(state) - TOUCH * touches :].reshape(-1, TOUCH)[:, TO_GAP]
    for contact, first, second, row in _pairs(plant, system):
        depth = -float(gaps[row[PA_TOUCH] : row[PA_TOUCH] + row[PA_TOUCHES]].min())
        if depth > _AT_REST:
            texts.append(
                f"contact '{contact.name}': the shapes '{first}' and '{second}' overlap by {depth:.3g} m at the start, "
                "and will be pushed apart. Move one of their bodies, or take the pair out of the contact"
            )
    return texts


def doubled(system: System) -> list[str]:
    """A warning for each pair of shapes that a second contact names as well: both press."""
    texts, known = list[str](), dict[frozenset[str], str]()
    for contact in system.contacts:
        for pair in map(frozenset, contact.pairs()):
            first = known.setdefault(pair, contact.name)
            if first != contact.name:
                shapes = " and ".join(f"'{name}'" for name in sorted(pair))
                texts.append(
                    f"contacts '{first}' and '{contact.name}' both act between the shapes {shapes}. Take the pair out "
                    "of one of them, unless their forces are to add up"
                )
    return texts


def contact_table(system: System) -> Table:
    """The pairs of shapes of each contact, at how many points they can touch, and by which law."""
    table = new_table("contacts", "name", "first", "second", "points", "law", folding=(0, 1, 2, 4))
    plant, listed = build(system), dict[str, int]()
    kinds = {shape.name: kind_of(shape) for shape in system.shapes if shape.name}
    for contact, first, second, row in _pairs(plant, system):
        count = listed[contact.name] = listed.get(contact.name, 0) + 1
        if count <= _MOST_LISTED:
            shapes = (f"{name} ({kinds[name]})" for name in (first, second))
            name, law = (contact.name, _law(contact)) if count == 1 else ("", "")
            table.add_row(name, *shapes, str(row[PA_TOUCHES]), law)
    total = f"at most {plant.count(C_TOUCHES)} points in all"
    more = [f"{count - _MOST_LISTED} of '{name}'" for name, count in listed.items() if count > _MOST_LISTED]
    table.caption = f"{total}; not listed: {', '.join(more)}" if more else total
    return table


def _pairs(plant: Plant, system: System) -> Iterator[tuple[Contact, str, str, list[int]]]:
    """(contact, one of its first shapes, one of its second, row of pair_int) of each pair that can touch."""
    for names, row in zip(plant.touching, plant.sections["pair_int"].tolist(), strict=True):
        first, second = names[::-1] if row[PA_FLIP] else names
        yield system.contacts[row[PA_CONTACT]], first, second, row


def _law(contact: Contact) -> str:
    if contact.stiffness > 0.0:
        power = "" if contact.exponent == 1.0 else f"^{contact.exponent:g}"
        normal = f"{contact.stiffness:g} N/m{power}, dissipation {contact.dissipation:g} s/m"
    else:
        normal = f"nearly rigid, restitution {contact.restitution:g}"
    return f"{normal}, friction {contact.friction:g}"
