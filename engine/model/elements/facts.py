"""One declaration for each kind of element: what follows from the annotated fields of its dataclass.

A field is annotated with a type of `files/schema_values.py`, which has its bounds, and a Fact:

    thrust: Annotated[Positive, Fact("largest force; commands above it are cut", "N", column=T_MOST)]

From that follow its field in a model file (`spec_of`), its value read from there (`values`), the check of what was made
by hand (`check_numbers`), its number in a table (`fill_row`), the parameter that tunes it (`tuned_of`), and its row of
docs/reference/model-format.md (`reference.py`). Fields without a Fact are not in files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache, cached_property
from types import UnionType
from typing import Annotated, Any, ClassVar, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import Field, create_model
from pydantic.fields import FieldInfo

from limberjack.engine.files.numbers import LARGEST, usable
from limberjack.engine.files.schema_values import Model, SymmetricMatrix, Vector3
from limberjack.engine.tables.measures import of_motion

#: reports (field, what is wrong, remedy)
Fail = Callable[[str, str, str], NoReturn]


@dataclass(frozen=True)
class Tuned:
    """A number that may change between steps, as a parameter of a Simulation and of an FMU.

    text : what it is;  quantity : its measure (`tables/measures.py`), "" for that of what is measured
    sliding : the same where the coordinate is a distance;  rank : parameters of one thing are listed by rank
    vanishes : it may be zero even where the field must be above
    """

    text: str
    quantity: str = ""
    sliding: str = ""
    rank: int = 0
    vanishes: bool = False

    def of(self, turning: bool | None) -> str:
        """Its quantity along an angle, a distance, or what may be either."""
        return of_motion((self.quantity, self.sliding), turning)


@dataclass(frozen=True)
class Fact:
    """What a field is, beside its type and its default.

    text : its meaning;  unit : SI, "" for none
    otherwise : what it means to leave it out, where that is not to give the default
    column : of its number in the kind's table, -1 for none;  empty : number for a list without entries
    tuned : the parameter that changes it;  called, remedy : words of `check_numbers`
    given : its type in a file, where that is not the annotated one;  key : its name there
    only : types of the kind that have the field, () for all;  needed : a file must give it to these
    aims : of a name: the kind of target in `System.sensor_targets` whose index is the number in the table
    """

    text: str
    unit: str = ""
    otherwise: str = ""
    column: int = -1
    tuned: Tuned | None = None
    called: str = ""
    remedy: str = ""
    given: Any = None
    only: tuple[str, ...] = ()
    needed: bool = False
    empty: float = 0.0
    key: str = ""
    aims: str = ""


@dataclass(frozen=True)
class Known:
    """A declared field: its name, Fact, type in files, bounds (least exclusive and inclusive, most; NaN: none) and
    default."""

    name: str
    fact: Fact
    type: Any
    above: float
    least: float
    most: float
    default: Any

    @property
    def key(self) -> str:
        """Its name in files."""
        return self.fact.key or self.name

    @property
    def required(self) -> bool:
        """Whether a file must give it."""
        return self.default is MISSING or self.fact.needed

    @property
    def tuned(self) -> Tuned:
        """The parameter that changes it. Only of those in `tuned_of`."""
        assert self.fact.tuned is not None
        return self.fact.tuned

    @property
    def lowest(self) -> float:
        """The least value of its parameter."""
        return 0.0 if self.least == 0.0 or self.above == 0.0 else -math.inf

    @property
    def highest(self) -> float | None:
        """The largest value of its parameter, None if it has no bound of its own."""
        return self.most if self.most == self.most else None

    @cached_property
    def endless(self) -> float | None:
        """The infinite number that means that there is no bound, None where there is always one."""
        ends = (end for end in (self.default, self.fact.empty) if isinstance(end, float) and math.isinf(end))
        return next(ends, None)

    @property
    def bound(self) -> str:
        """What it may be, in words; "" if there is no bound."""
        if self.least == self.least:
            return f"{self.least:g} to {self.most:g}" if self.most == self.most else f"≥ {self.least:g}"
        said = f"> {self.above:g}" if self.above == self.above else ""
        return f"{said}, ≤ {self.most:g}" if self.most == self.most else said

    @property
    def text(self) -> str:
        """Its meaning, with the types that have it."""
        return f"{', '.join(self.fact.only)}: {self.fact.text}" if self.fact.only else self.fact.text

    @property
    def shown_default(self) -> str:
        """What it is where it is left out, in words."""
        if self.required or self.fact.otherwise:
            return self.fact.otherwise
        if isinstance(self.default, bool):
            return str(self.default).lower()
        if isinstance(self.default, np.ndarray):
            return f"[{', '.join(f'{x:g}' for x in self.default)}]"
        if self.default == ():
            return "none"
        return f"{self.default:g}" if isinstance(self.default, (int, float)) else str(self.default) or "none"

    def description(self) -> str:
        """For the JSON Schema."""
        said = self.text + (f", {self.fact.unit}" if self.fact.unit else "")
        default = f"default: {self.fact.otherwise}" if self.fact.otherwise else f"default {self.shown_default}"
        return said if self.required else f"{said} ({default})"

    def in_file(self) -> Any:
        """(type, field) for pydantic's create_model."""
        about = self.description()
        if self.required:
            return self.type, Field(description=about)
        if facts_of_any(type(self.default)):
            return self.type, Field(default=self.type(), description=about)
        if self.fact.otherwise or self.default is None:
            return self.type | None, Field(default=None, description=about)
        default = self.default.tolist() if isinstance(self.default, np.ndarray) else self.default
        default = list(default) if isinstance(default, tuple) else default
        return self.type, Field(default=default, description=about)


def facts_of(kind: Any) -> tuple[Known, ...]:
    """The declared fields of a dataclass, in its order."""
    return _facts_of(kind)


@cache
def _facts_of(kind: Any) -> tuple[Known, ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        _known(field.name, hints[field.name], _default(field)) for field in fields(kind) if _fact(hints[field.name])
    )


def _default(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _fact(hint: Any) -> Fact | None:
    metadata = getattr(hint, "__metadata__", ())
    return next((each for each in metadata if isinstance(each, Fact)), None)


def _known(name: str, hint: Any, default: Any) -> Known:
    fact = _fact(hint)
    assert fact is not None
    plain, *metadata = get_args(hint)
    if get_origin(plain) in (Union, UnionType):  # Motor | None
        plain = next(each for each in get_args(plain) if each is not type(None))
    rest = tuple(each for each in metadata if each is not fact)
    file_type = fact.given or (Annotated[(plain, *rest)] if rest else plain)  # type: ignore[misc]
    if facts_of_any(file_type):
        file_type = spec_of(file_type)
    bounds = [each for info in _infos(file_type) for each in info.metadata]
    above = next((each.gt for each in bounds if hasattr(each, "gt")), math.nan)
    least = next((each.ge for each in bounds if hasattr(each, "ge") and each.ge > -LARGEST), math.nan)
    most = next((each.le for each in bounds if hasattr(each, "le") and each.le < LARGEST), math.nan)
    return Known(name, fact, file_type, float(above), float(least), float(most), default)


def _infos(hint: Any) -> Iterable[FieldInfo]:
    """What pydantic says of a type, of entries of lists too."""
    yield from (each for each in getattr(hint, "__metadata__", ()) if isinstance(each, FieldInfo))
    for part in get_args(hint):
        yield from _infos(part) if get_origin(part) is not None else ()


def facts_of_any(kind: Any) -> bool:
    """Whether this is a dataclass with declared fields."""
    return isinstance(kind, type) and hasattr(kind, "__dataclass_fields__") and bool(facts_of(kind))


def spec_of(kind: Any, base: type[Model] = Model) -> Any:
    """The pydantic model of a kind in a file, `<Kind>Spec`: its declared fields on top of those of `base`, but for
    those that only some types have."""
    return _spec_of(kind, base)


@cache
def _spec_of(kind: Any, base: type[Model]) -> Any:
    common = [known for known in facts_of(kind) if not known.fact.only]
    return model_of(f"{kind.__name__}Spec", base, common, (kind.__doc__ or "").partition("\n")[0])


def model_of(name: str, base: type[Model], listed: Iterable[Known], about: str) -> Any:
    """The pydantic model with these fields."""
    made: Any = create_model(name, __base__=base, __doc__=about, **{known.key: known.in_file() for known in listed})
    return made


def facts_of_type(kind: Any, name: str) -> list[Known]:
    """The fields that things of this type, and not of all, have in files."""
    own = (known for known in facts_of(kind) if name in known.fact.only)
    return [replace(known, fact=replace(known.fact, only=())) for known in own]


def values(kind: type, spec: Any, name: str = "") -> dict[str, Any]:
    """What a file gives for the declared fields of a kind: lists as vectors, parts as their own kinds.

    name : of the type, where other types have fields of the same names; "" for all fields
    """
    found = {}
    for known in facts_of(kind):
        value = getattr(spec, known.key, None)
        if value is not None and not (name and known.fact.only and name not in known.fact.only):
            found[known.name] = _value(kind, known, value)
    return found


@cache
def _types(kind: type) -> dict[str, Any]:
    """Field → its type, without what is declared of it. Kept: it compiles every annotation."""
    return get_type_hints(kind)


def _value(kind: type, known: Known, value: Any) -> Any:
    hint = _types(kind)[known.name]
    if isinstance(value, SymmetricMatrix):
        return value.matrix()
    if get_origin(hint) is tuple:
        listed = value.model_dump().values() if isinstance(value, Model) else value
        return (listed,) if isinstance(listed, str) else tuple(listed)
    if isinstance(value, Model):
        part = next(each for each in (hint, *get_args(hint)) if facts_of_any(each))
        return part(**values(part, value))
    if np.ndarray in (hint, *get_args(hint)):
        return np.atleast_1d(np.array(value, dtype=float))
    return value


def check_numbers(item: Any, said: str, fail: Fail) -> None:
    """Refuse single numbers beyond the bounds that files have. said: "the {field} of motor 'x' is {value}"."""
    for known in facts_of(type(item)):
        value = getattr(item, known.name)
        if not isinstance(known.default, (float, int)) and known.above != known.above and known.least != known.least:
            continue
        if isinstance(value, (np.ndarray, str, bool)) or value is None:
            continue
        endless = known.default == math.inf
        if value == known.default:
            continue
        beyond = value < known.least or value <= known.above or value > known.most
        if beyond or not (usable(value) or (endless and value == math.inf)):
            remedy = known.fact.remedy or _remedy(known) + (", or none for no limit" if endless else "")
            fail(known.name, said.format(field=known.fact.called or known.name, value=value), remedy)


def _remedy(known: Known) -> str:
    if known.above == known.above:
        return "Give a number above zero" + (f", at most {known.most:g}" if known.most == known.most else "")
    if known.most == known.most:
        return f"Give a number from {known.bound}"
    return "Give zero or more" if known.least == known.least else "Give a finite number"


def fill_row(row: np.ndarray, item: Any, size: int = 1) -> None:
    """Write the numbers of an item that have a column; size: how many those take that are one for each of several."""
    for known in facts_of(type(item)):
        if known.fact.column >= 0 and not known.fact.aims:
            value = getattr(item, known.name)
            if isinstance(value, np.ndarray) and len(value) in (0, 1):
                value = np.full(size, value[0] if len(value) else known.fact.empty)
            numbers = np.ravel(value)
            row[known.fact.column : known.fact.column + len(numbers)] = numbers


def tuned_of(kind: Any) -> tuple[Known, ...]:
    """The fields of a kind that may be tuned, in the order of their parameters."""
    return _tuned_of(kind)


@cache
def _tuned_of(kind: Any) -> tuple[Known, ...]:
    found = [known for known in facts_of(kind) if known.fact.tuned is not None]
    return tuple(sorted(found, key=lambda known: known.tuned.rank))


def check_vectors(item: Any, said: str, remedy: str, fail: Fail) -> None:
    """Refuse vectors (3,) of other shapes or with numbers that are not finite. said: "the {field} of thruster 'x'"."""
    for known in facts_of(type(item)):
        if known.fact.given is Vector3:
            value = getattr(item, known.name)
            if np.shape(value) != (3,) or not usable(value):
                fail(known.name, f"{said.format(field=known.name)} is not 3 finite numbers", remedy)


class Element:
    """Base of the kinds that act between steps through their own table; such a kind needs only its fields.

    Its items are listed by a field of the System, by whose name the count of the tables goes and the group of a file.

    TABLE : name of its floats, <TABLE>_int of its indices, and of its parameters;  SAID : several of them, in messages
    COMMAND : the column of <TABLE>_int with the first of its commands, -1 without such
    FORCE : whether it makes forces; else sensors alone know of it
    ALONG : whether its force is along the line between its nodes, so that differences must be small beside that
    """

    TABLE: ClassVar[str]
    SAID: ClassVar[str]
    COMMAND: ClassVar[int] = -1
    ALONG: ClassVar[bool] = False
    FORCE: ClassVar[bool] = True
    name: Any
    where: str

    @property
    def commands(self) -> tuple[tuple[str, str, float], ...]:
        """(last part of the name, quantity, first value) of the commands that it takes."""
        return ()

    @property
    def command_names(self) -> tuple[str, ...]:
        """The commands that it takes."""
        return tuple(f"{self.name}.{word}" for word, _, _ in self.commands)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes at which it acts."""
        return tuple(getattr(self, known.name) for known in facts_of(type(self)) if known.fact.aims == "node")

    def check(self, fail: Fail) -> None:
        """Refuse numbers that cannot be."""
        check_numbers(self, f"the {{field}} of {self.TABLE} '{self.name}' is {{value}}", fail)
        check_vectors(self, f"the {{field}} of {self.TABLE} '{self.name}'", "Give x, y, z", fail)
