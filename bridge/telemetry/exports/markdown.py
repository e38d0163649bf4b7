"""The dictionary as Markdown: a table for each group."""

from __future__ import annotations

import math
from collections.abc import Iterable

from limberjack.bridge.telemetry.dictionary import GROUPS, Quantity
from limberjack.bridge.telemetry.exports.registry import Subject

_COLUMNS = ("quantity", "unit", "what it is", "range", "warning outside", "critical outside")


def export(subject: Subject) -> str:
    """The text of a page."""
    dictionary = subject.dictionary
    lines = [
        f"# Telemetry of {_plain(dictionary.model)}",
        "",
        f"{len(dictionary)} quantities of the model with the hash `{dictionary.model_hash}`. Ranges are those of the "
        "model as it was loaded: stops of hinges, limits of drives. Alarms are the model's own.",
    ]
    for group, places in dictionary.groups.items():
        lines += ["", f"## {group}", "", f"{GROUPS[group].capitalize()}.", ""]
        lines += _table(dictionary.quantities[places])
    return "\n".join(lines) + "\n"


def _table(quantities: Iterable[Quantity]) -> list[str]:
    """A table without the columns in which nothing stands."""
    rows = [_row(quantity) for quantity in quantities]
    used = [i for i in range(len(_COLUMNS)) if i < 3 or any(row[i] for row in rows)]
    table = [_COLUMNS, ("---",) * len(_COLUMNS), *rows]
    return [f"| {' | '.join(row[i] for i in used)} |" for row in table]


def _row(quantity: Quantity) -> tuple[str, ...]:
    limits = ((quantity.low, quantity.high), quantity.warning, quantity.critical)
    return (_code(quantity.id), quantity.unit, _plain(quantity.description), *(_between(*each) for each in limits))


def _between(low: float, high: float) -> str:
    """A range in words; "" without a range."""
    if not math.isfinite(low):
        return f"at most {high:.12g}" if math.isfinite(high) else ""
    return f"{low:.12g} to {high:.12g}" if math.isfinite(high) else f"at least {low:.12g}"


def _code(text: str) -> str:
    """A name as literal text, whatever characters it has."""
    fence = "`"
    while fence in text:
        fence += "`"
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def _plain(text: str) -> str:
    """The text with all characters escaped that Markdown would interpret."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>#|~" else letter for letter in text)
