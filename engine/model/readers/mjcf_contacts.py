"""Which geoms of a compiled MJCF model touch, and by which laws: MuJoCo's own rules (mj_collision).

Two geoms of bodies that move relative to each other touch where contype and conaffinity say so, unless one body is the
other's parent (and not the world), or an <exclude> names both; and where a <pair> names them, whatever else is said.
<flag override="enable"/> gives all of them one friction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from limberjack.engine.model.contact_tables import touches_of
from limberjack.engine.model.elements.contact import Contact
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.readers.mjcf_names import Names, Place

_SLIDE, _TORSION, _ROLL = 0, 1, 2
#: condim → how many of sliding, torsional and rolling friction act
_ACTING = {1: 0, 3: 1, 4: 2, 6: 3}

#: sliding, torsional and rolling friction
Law = tuple[float, float, float]


def touching_geoms(model: Any, mujoco: Any) -> dict[tuple[int, int], Law]:
    """Pairs of geoms, the lower number first, and their friction."""
    if int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CONTACT):
        return {}
    parents_touch = bool(int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT))
    overridden = is_overridden(model, mujoco)
    excluded = {(int(each) >> 16, int(each) & 0xFFFF) for each in model.exclude_signature}
    found = {
        (i, j): _law(model, i, j, overridden)
        for i, j in itertools.combinations(range(model.ngeom), 2)
        if _wanted(model, i, j) and _apart(model, i, j, parents_touch, excluded)
    }
    return found | dict(_pairs(model, overridden))


def is_overridden(model: Any, mujoco: Any) -> bool:
    """Whether <option> says how all geoms touch, in place of their own numbers."""
    return bool(int(model.opt.enableflags) & int(mujoco.mjtEnableBit.mjENBL_OVERRIDE))


def read_contacts(
    model: Any, pairs: dict[tuple[int, int], Law], shapes: dict[int, Shape], names: Names, place: Place
) -> tuple[tuple[Contact, ...], list[str]]:
    """Contacts of the pairs whose shapes can touch, one for each geom and law and for each <pair> with a name.

    Also returns what is left out.

    shapes : geom → its shape, of those that have one
    """
    left: list[tuple[int, int]] = []
    groups: dict[tuple[int, Law, str], list[int]] = {}
    for (i, j), law in pairs.items():
        if not (i in shapes and j in shapes and _can_touch(shapes[i], shapes[j])):
            left.append((i, j))
            continue
        # of a pair with the ground, the contact is that of what moves
        owner, other = (j, i) if model.body_weldid[model.geom_bodyid[i]] == 0 else (i, j)
        groups.setdefault((owner, law, names.pair(i, j)), []).append(other)
    contacts = tuple(
        Contact(
            names.contact(owner, named),
            (shapes[owner].name,),
            tuple(shapes[other].name for other in others),
            friction=law[_SLIDE],
            torsional_friction=law[_TORSION],
            rolling_friction=law[_ROLL],
            where=place.of("geom", shapes[owner].name),
        )
        for (owner, law, named), others in groups.items()
    )
    return contacts, _left_out(left, names)


def _can_touch(a: Shape, b: Shape) -> bool:
    """Whether two shapes have contacts here: shapes that touch have names, meshes without a hull have none."""
    return bool(a.name and b.name) and touches_of(a, b) > 0


def _wanted(model: Any, i: int, j: int) -> bool:
    """Whether the bits of two geoms let them touch."""
    kinds, others = model.geom_contype, model.geom_conaffinity
    return bool((kinds[i] & others[j]) | (kinds[j] & others[i]))


def _apart(model: Any, i: int, j: int, parents_touch: bool, excluded: set[tuple[int, int]]) -> bool:
    """Whether the bodies of two geoms may touch: they move relative to each other, and are not parent and child."""
    bodies = sorted(int(model.geom_bodyid[k]) for k in (i, j))
    a, b = (int(model.body_weldid[body]) for body in bodies)
    if a == b or tuple(bodies) in excluded:
        return False
    above = [int(model.body_weldid[model.body_parentid[body]]) for body in (a, b)]
    return parents_touch or not (a and b and (above[0] == b or above[1] == a))


def _law(model: Any, i: int, j: int, overridden: bool) -> Law:
    """Friction of two geoms: of the one with the higher priority, or the larger of each number."""
    first, second = int(model.geom_priority[i]), int(model.geom_priority[j])
    chosen = [i, j] if first == second else [i if first > second else j]
    condim = max(int(model.geom_condim[k]) for k in chosen)
    friction = _lesser(model.opt.o_friction) if overridden else np.max(model.geom_friction[chosen], axis=0)
    return _acting(condim, friction)


def _acting(condim: int, friction: np.ndarray) -> Law:
    slide, torsion, roll = (float(each) if k < _ACTING[condim] else 0.0 for k, each in enumerate(friction))
    return slide, torsion, roll


def _lesser(friction: np.ndarray) -> np.ndarray:
    """Sliding, torsional and rolling friction of MuJoCo's five numbers: the lesser of two directions."""
    slide, slide_2, torsion, roll, roll_2 = friction
    return np.array([min(slide, slide_2), torsion, min(roll, roll_2)])


def _pairs(model: Any, overridden: bool) -> Iterator[tuple[tuple[int, int], Law]]:
    """The <pair>s."""
    for k in range(model.npair):
        i, j = sorted((int(model.pair_geom1[k]), int(model.pair_geom2[k])))
        if model.body_weldid[model.geom_bodyid[i]] == model.body_weldid[model.geom_bodyid[j]]:
            continue  # a force between them moves nothing
        friction = model.opt.o_friction if overridden else model.pair_friction[k]
        yield (i, j), _acting(int(model.pair_dim[k]), _lesser(friction))


def _left_out(pairs: list[tuple[int, int]], names: Names) -> list[str]:
    """One text for all pairs whose shapes have no contact here."""
    if not pairs:
        return []
    first, more = pairs[0], f" ({len(pairs) - 1} more like it)" if len(pairs) > 1 else ""
    what = f"geoms '{names.geom(first[0])}' and '{names.geom(first[1])}' do not touch{more}"
    return [f"{what}: contacts have no such pair of shapes; give collision geoms of simple shapes"]
