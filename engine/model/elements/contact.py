"""A contact: the law by which shapes touch."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Discriminator, Tag
from pydantic import Field as Bounds

from limberjack.engine.files.schema_values import Listed, Name, NonNegative
from limberjack.engine.model.elements.facts import Element, Fact, Fail, Tuned
from limberjack.engine.tables import contacts as at

#: a shape, or a list of shapes
Shapes = Annotated[
    Annotated[Name, Tag("one")] | Annotated[Listed[Name], Bounds(min_length=1), Tag("list")],
    Discriminator(lambda value: "list" if isinstance(value, list) else "one"),
]
#: 1e9 N at a depth of 1 µm; beyond the digits of a number, with 1e24 and 1 kg at 1 kHz, a depth no longer gives a force
STIFFEST = 1e15
_Stiffness = Annotated[float, Bounds(ge=0, le=STIFFEST)]
_STIFFNESS = "stiffness k at each point of contact; 0: nearly rigid, whatever the mass of the bodies"
_STIFFER = f"Give a number from 0, which is nearly rigid, to {STIFFEST:g}"
_EXPONENT = "p in the force k δ^p of the penetration δ, a multiple of ½: 1, or 1.5 for round shapes (Hertz)"
_DISSIPATION = "a in the force k δ^p (1 + a dδ/dt) (Hunt and Crossley)"
_RESTITUTION = "speed after an impact divided by the speed before, less if that would add energy; nearly rigid only"

_TORSION = "largest moment about the normal, per normal force: 2/3 µ a for a round patch of radius a (Hertz: 0.59 µ a)"
_ROLLING = "largest moment across the normal, per normal force: the arm of rolling resistance"


@dataclass(frozen=True, eq=False)
class Contact(Element):
    """Forces where shapes of two bodies touch. All pairs of one of `first` and one of `second` can touch."""

    TABLE, SAID = "contact", "contacts"
    name: Annotated[Name, Fact("unique among contacts")]
    first: Annotated[tuple[str, ...], Fact("name of a shape, or a list of names", given=Shapes)]
    second: Annotated[
        tuple[str, ...],
        Fact("shapes that those of `first` can touch", otherwise="those of `first` touch each other", given=Shapes),
    ] = ()
    stiffness: Annotated[
        _Stiffness,
        Fact(_STIFFNESS, "N/m^p", "", at.K_STIFFNESS, Tuned("stiffness", "ContactStiffness"), remedy=_STIFFER),
    ] = 0.0
    exponent: Annotated[float, Fact(_EXPONENT, "", "", at.K_EXPONENT, given=Annotated[float, Bounds(ge=1, le=3)])] = 1.0
    dissipation: Annotated[
        NonNegative, Fact(_DISSIPATION, "s/m", "", at.K_DISSIPATION, Tuned("dissipation", "InverseVelocity"))
    ] = 0.0
    restitution: Annotated[
        float,
        Fact(_RESTITUTION, "", "", at.K_RESTITUTION, given=Annotated[float, Bounds(ge=0, le=1)]),
    ] = 0.0
    friction: Annotated[
        NonNegative,
        Fact("coefficient µ of Coulomb's law", "", "", at.K_FRICTION, Tuned("friction", "FrictionCoefficient")),
    ] = 0.0
    torsional_friction: Annotated[
        NonNegative, Fact(_TORSION, "m", "", at.K_TORSION, Tuned("torsional friction", "FrictionLength"))
    ] = 0.0
    rolling_friction: Annotated[
        NonNegative, Fact(_ROLLING, "m", "", at.K_ROLLING, Tuned("rolling friction", "FrictionLength"))
    ] = 0.0
    where: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            given: Any = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))

    def pairs(self) -> list[tuple[str, str]]:
        """Names of shapes that can touch, each pair once."""
        pairs = itertools.product(self.first, self.second) if self.second else itertools.combinations(self.first, 2)
        known: dict[frozenset[str], tuple[str, str]] = {}
        for pair in pairs:
            known.setdefault(frozenset(pair), pair)
        return [pair for names, pair in known.items() if len(names) == 2]

    def check(self, fail: Fail) -> None:
        """Refuse laws that cannot be, and contacts of a shape with itself alone."""
        super().check(fail)
        said = f"contact '{self.name}'"
        if not self.pairs():
            fail("first", f"{said} has no pair of shapes", "Name at least two shapes")
        if (2.0 * self.exponent) % 1.0 != 0.0:
            fail("exponent", f"the exponent of {said} is {self.exponent}", "Give 1, 1.5, 2, 2.5 or 3")
        if self.stiffness > 0.0 and self.restitution > 0.0:
            what = f"{said} has both a stiffness and a restitution"
            fail("restitution", what, "Give dissipation with a stiffness, or leave the stiffness out")
        if self.stiffness == 0.0 and (self.dissipation > 0.0 or self.exponent != 1.0):
            what = f"{said} has a dissipation or an exponent, but no stiffness"
            fail("stiffness", what, "Give a stiffness, N/m^p, or a restitution instead")
