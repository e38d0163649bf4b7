"""The output of `limberjack info` about closed loops: cut edges with method and reason, aggregated nodes, freedoms."""

from __future__ import annotations

import math

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from limberjack.commands.tables import FittingTable, new_table
from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops.freedom import freedoms
from limberjack.engine.model.loops.plan import LoopPlan, Plan, plan
from limberjack.engine.model.system import Loop, System


def plan_of(system: System) -> Plan:
    """The plan that `build` would make for the loops."""
    return plan(system, assemble(system))


def group_labels(made: Plan) -> dict[str, str]:
    """Body name → "group 2" for the bodies of aggregated nodes."""
    numbers = {row: number for number, group in enumerate(made.groups, start=1) for row in group.bodies}
    links = made.tree.frames.links
    return {links[row - 1].body.name: f"group {number}" for row, number in numbers.items()}


def print_loops(console: Console, made: Plan) -> None:
    """Print tables of loops and groups, and the number of degrees of freedom."""
    console.print(_loops(made))
    if made.groups:
        table = _groups(made)
        if table.fits(console):
            console.print(table)
        else:
            _print_narrow(console, table)
    console.print(_freedoms(made))


def _print_narrow(console: Console, table: FittingTable) -> None:
    """Print each row of a table as a line of each cell, with its head, wrapped at the width."""
    console.print(str(table.title), style="italic")
    for row in zip(*(column.cells for column in table.columns), strict=True):
        for column, cell in zip(table.columns, row, strict=True):
            line = Text(f"{column.header}: {cell}")
            first = column is table.columns[0]
            console.print(Padding(line, (0, 0, 0, 2 if first else 4)))


def _freedoms(made: Plan) -> str:
    dependent = sum(len(group.dependent) for group in made.groups)
    after = freedoms(made)
    parts = [f"{made.system.nv} velocities in the tree"]
    if dependent:
        parts.append(f"{dependent} of them dependent in {len(made.groups)} group{'s' * (len(made.groups) != 1)}")
    taken = made.system.nv - dependent - after
    if taken or made.forced:
        parts.append(f"{taken} taken by constraint forces at the start")
    return f"degrees of freedom: {after} ({', '.join(parts)})"


def _loops(made: Plan) -> Table:
    commanded = any(loop.closure.loop.command_names for loop in made.loops)
    heads = "name", "type", "joins", "method", "because", "rows", "state", *(("commands",) if commanded else ())
    table = new_table("loops", *heads, folding=(0, 2, 4, 6))
    for loop in made.loops:
        written = loop.closure.loop
        row = written.name, _type(written), _joins(written), loop.method, loop.choice.why, _rows(loop), _state(written)
        table.add_row(*row, *((", ".join(written.command_names),) if commanded else ()))
    return table


def _type(loop: Loop) -> str:
    return f"cut {loop.hinge.type}" if loop.type == "hinge" and loop.hinge else loop.type


def _joins(loop: Loop) -> str:
    if loop.joins and loop.hinge:
        return f"{loop.hinge.parent or 'world'} – {loop.body or 'world'}"
    return loop.locked or ", ".join(term.coordinate for term in loop.terms)


def _rows(loop: LoopPlan) -> str:
    """The number of rows that are kept, and, if some are redundant, which."""
    names = loop.closure.names
    if len(loop.kept) == len(names):
        return str(len(names))
    kept = " ".join(names[i] for i in loop.kept)
    return f"{len(loop.kept)} of {len(names)}" + (f": {kept}" if kept else ", redundant")


def _state(loop: Loop) -> str:
    words = ["closed" if loop.closed else "open"] + ["switchable"] * loop.switchable + ["driven"] * loop.driven
    return ", ".join(words + [f"reach {loop.reach:g} m"] * math.isfinite(loop.reach))


def _groups(made: Plan) -> FittingTable:
    lists = "bodies", "independent", "dependent"
    table = new_table("aggregated nodes", "group", "carried by", "velocities", "rows", *lists, folding=(4, 5, 6))
    links, names = made.tree.frames.links, made.system.velocity_names
    for number, group in enumerate(made.groups, start=1):
        bodies = ", ".join(links[row - 1].body.name for row in group.bodies)
        carrier = links[group.parent - 1].body.name if group.parent else "world"
        counts = str(len(group.dependent) + len(group.independent)), str(len(group.dependent))
        independent, dependent = (", ".join(names[v] for v in part) for part in (group.independent, group.dependent))
        table.add_row(str(number), carrier, *counts, bodies, independent or "none", dependent)
    return table
