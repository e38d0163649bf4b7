"""Makes tables of docs/reference/model-format.md from declarations: `python -m …elements.reference FILE` renews them.

A table stands between two marks, `<!-- fields: Motor -->`, `<!-- sensors -->`, `<!-- hinges -->` or `<!-- loops -->`,
and `<!-- end -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from limberjack.engine.model.elements.central_gravity import CentralGravity
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import Known, facts_of, facts_of_type
from limberjack.engine.model.elements.flexible import Flexible
from limberjack.engine.model.elements.hinge import ACTING, LIMITS, Hinge
from limberjack.engine.model.elements.loop import LOOP_TYPES, Loop
from limberjack.engine.model.elements.loop import Wheel as RollingWheel
from limberjack.engine.model.elements.motor import Motor
from limberjack.engine.model.elements.sensor import OF_FILES, Sensor, SensorErrors, SensorMore
from limberjack.engine.model.elements.shape import ShapeFields
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.elements.wheel import Wheel, WheelMore
from limberjack.engine.model.readers.schema_elements import DEVICES
from limberjack.engine.model.system import item_kinds
from limberjack.engine.tables.hinge_types import HINGE_TYPES
from limberjack.engine.tables.measures import FORCE, MEASURES, POSITION, RATE
from limberjack.engine.tables.sensor_types import SENSOR_TYPES, Part, SensorRow

_HEAD = "| field | unit | range | default | meaning |\n| --- | --- | --- | --- | --- |\n"
_POSE = "| `position`, `rpy`, `quaternion`, `rotation` | | | the body's or node's frame | pose of its frame |"
_MARKED = re.compile(r"(<!-- (fields: \w+|sensors|hinges|loops) -->\n).*?(<!-- end -->)", re.DOTALL)
#: a target of `SENSOR_TYPES` in words
_TARGETS = {"joining loop": "loop that joins two frames", "motor": "drive with a motor"}


def _row(known: Known) -> str:
    default = known.shown_default
    word = isinstance(known.default, (str, bool)) and str(known.default)
    shown = f"`{default}`" if word or default[:1] == "[" else default
    return f"| `{known.key}` | {known.fact.unit or '–'} | {known.bound} | {shown} | {known.text} |".replace("  ", " ")


def _fields(listed: Iterable[Known], posed: bool = False) -> str:
    rows = [_row(known) for known in listed]
    if posed:
        rows.insert(2, _POSE)  # behind name and body
    return _HEAD + "\n".join(rows) + "\n"


def _of_kinds() -> dict[str, Callable[[], str]]:
    """Name in a mark → its table."""
    kinds: tuple[type, ...] = (Actuator, CentralGravity, Flexible, Motor, Sensor, ShapeFields, Thruster)
    kinds += tuple(kind for kind in item_kinds().values() if facts_of(kind) and kind not in kinds)
    plain = {kind.__name__: lambda kind=kind: _fields(facts_of(kind)) for kind in kinds}
    plain |= {kind.__name__: lambda kind=kind: _fields(facts_of(kind), posed=True) for kind, _ in DEVICES.values()}
    return plain | {
        "Dof": lambda: _fields(ACTING),
        "Loop": lambda: _fields((*facts_of(Loop), *facts_of(RollingWheel))),
        "Limits": lambda: _fields(LIMITS),
        "Wheel": lambda: _fields((*facts_of(Wheel), *facts_of(WheelMore)), posed=True),
        "SensorErrors": lambda: _fields((*facts_of(SensorErrors), *facts_of(SensorMore))),
        "sensors": _sensors,
        "hinges": _hinges,
        "loops": _loops,
    }


def _suffixes(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" if name else "*name*" for name in names) or "–"


def _hinges() -> str:
    lines = ["| type | coordinates q | velocities v | further fields |", "| --- | --- | --- | --- |"]
    for name, kind in HINGE_TYPES.items():
        said = "; ".join(text for _, text in kind.directions if text)
        more = [f"`axis`: {said}" if kind.axes == 1 else f"`axes`: {said}"] if kind.axes else []
        for known in facts_of_type(Hinge, name):
            number = ", ".join(filter(None, (known.fact.unit, known.bound)))
            default = f" (default `{known.shown_default}`)" * (not known.required)
            more.append(f"`{known.key}`" + f" ({number})" * bool(number) + f": {known.text}{default}")
        velocities = "the same" if kind.nq and kind.v == kind.q else _suffixes(kind.v)
        velocities = "`1` … r" if kind.quasi and not kind.v else velocities
        lines.append(f"| `{name}` | {_suffixes(kind.q)} | {velocities} | {'; '.join(more) or '–'} |")
    return "\n".join(lines) + "\n"


def _loops() -> str:
    lines = ["| `type` | what it does | constraints | further fields |", "| --- | --- | --- | --- |"]
    for name, kind in LOOP_TYPES.items():
        keys = ["from", "to"] if kind.joined is not None else []
        keys += [known.key for known in (*facts_of_type(Loop, name), *facts_of_type(RollingWheel, name))]
        more = ", ".join(f"`{key}`" for key in keys) + ", `hinge` and the fields of its type" * (name == "hinge")
        lines.append(f"| `{name}` | {kind.text} | {kind.rows} | {more} |")
    return "\n".join(lines) + "\n"


def _sensors() -> str:
    lines = ["| type | target | outputs | unit |", "| --- | --- | --- | --- |"]
    for name in (*SENSOR_TYPES, *OF_FILES):
        means = OF_FILES.get(name, (name,))
        kinds = [SENSOR_TYPES[each] for each in means]
        parts = [part for kind in kinds for part in kind.parts]
        outputs = "; ".join(f"*name*`.{each}`: {_outputs(kind)}" for each, kind in zip(means, kinds))
        outputs = outputs if len(kinds) > 1 else _outputs(kinds[0])
        units = ", ".join(dict.fromkeys(_unit(kinds[0], part) for part in parts))
        said = "; ".join(part.text.rstrip(",") for part in parts)
        lines.append(f"| `{name}` | {_TARGETS.get(kinds[0].target, kinds[0].target)} | {outputs}: {said} | {units} |")
    return "\n".join(lines) + "\n"


def _unit(kind: SensorRow, part: Part) -> str:
    """Units of a quantity, of what turns and of what slides where it may be either."""
    of_target = {"q": POSITION, "v": RATE, "tau": FORCE, "command": FORCE[1]}
    measure = of_target[part.shows] if part.shows else part.measure
    pair = (measure,) if isinstance(measure, str) else measure
    return " or ".join(MEASURES[each].unit if each else "1" for each in pair)


def _outputs(kind: SensorRow) -> str:
    return "*name*" if kind.suffixes == ("",) else " ".join(f"`{suffix}`" for suffix in kind.suffixes)


def renewed(text: str) -> str:
    """The text of the page with its tables as the declarations have them. KeyError for a mark of an unknown kind."""
    kinds = _of_kinds()

    def table(found: re.Match[str]) -> str:
        return found[1] + kinds[found[2].removeprefix("fields: ")]() + found[3]

    return _MARKED.sub(table, text)


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
