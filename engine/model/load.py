"""`load`: a model file of any supported format to a validated System."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.files.bounded_file import is_there
from limberjack.engine.files.numbers import usable
from limberjack.engine.files.xml_document import read_xml
from limberjack.engine.model.archive import SUFFIX as ARCHIVE
from limberjack.engine.model.archive import read_archive
from limberjack.engine.model.loops.assembly import assemble_initial
from limberjack.engine.model.places import Locate, plain_locate
from limberjack.engine.model.readers.urdf_mimic import MIMICS, Mimic
from limberjack.engine.model.readers.urdf_reader import read_urdf
from limberjack.engine.model.system import Body, Pose, System
from limberjack.engine.model.validate import InertiaPolicy, examine

Base = Literal["fixed", "free"]
_OWN = (".yaml", ".yml")
#: findings that one warning or error lists
_MOST_REPORTED = 100
SUFFIXES = f".yaml, .yml, .urdf, .xml, {ARCHIVE}"


def load(
    path: str | os.PathLike[str],
    *,
    base: Base | None = None,
    strict: bool | None = None,
    mimic: Mimic = "couple",
    gravity: ArrayLike | None = None,
    merge: bool | None = None,
    contacts: bool = False,
) -> System:
    """Read and check a model file.

    Parameters
    ----------
    path : .yaml or .yml (own format), .urdf, .xml (MJCF or URDF, by its root element), or .ljm (a model that
        Limberjack wrote, exact to the last bit)
    base : "fixed" holds the root body in the inertial frame, "free" lets it float; None does as the file says
        (URDF says nothing: fixed)
    strict : True refuses what would only be warned of: inertias that no real body has, ignored parts of the file;
        False keeps such inertias, with a warning, also in YAML; None does as the file says, else YAML refuses them
        and the other formats warn
    mimic : what to do with URDF joints that mimic another: "couple" them, "independent" to let them move on their
        own (Pinocchio's default), with a warning, or "refuse" the model
    gravity : (3,) m/s², instead of the file's uniform or central field
    merge : whether fixed hinges are folded into their parents; False keeps them, with their reactions; None does as
        the file says (URDF and MJCF cannot say it: True)
    contacts : True lets geoms of MJCF touch as the file says, nearly rigid, and gives <collision>s of URDF a shape with
        a name, for contacts that `equip` adds (URDF says nothing of pairs); other formats say themselves what touches

    Raises
    ------
    ModelError : what is wrong, at which file and line or field, and how to fix it
    MissingExtraError : MJCF without the package ``mujoco``

    Warns with one ModelWarning that lists ``System.warnings``.
    """
    if base not in (None, "fixed", "free"):
        raise ModelError(f"base is {base!r}", where="load", remedy='Give "fixed", "free" or None')
    if mimic not in MIMICS:
        raise ModelError(f"mimic is {mimic!r}", where="load", remedy='Give "couple", "independent" or "refuse"')
    for name, value in (("strict", strict), ("merge", merge), ("contacts", contacts)):
        if value not in (None, True, False):
            raise ModelError(f"{name} is {value!r:.40}", where="load", remedy="Give True, False or None")
    if not isinstance(path, (str, os.PathLike)):
        raise ModelError(f"{path!r:.80} is not a path", where="load", remedy="Give the path of a model file")
    if isinstance(path, str) and "\n" in path:
        what = f"this is a text of {len(path)} letters, not a path"
        raise ModelError(what, where="load", remedy="Write it to a .yaml file, and give the path")
    system, by_file, locate = _read(Path(path), mimic, bool(contacts))
    strict = by_file if strict is None else strict
    policy: InertiaPolicy = "refuse" if strict is None and _refuses(Path(path)) else "warn"
    changed = _merge(_pull(_rebase(system, base), gravity), merge)
    checked = changed
    if changed is not system or Path(path).suffix.lower() != ARCHIVE:  # an archive holds what was checked before
        checked = assemble_initial(examine(changed, policy, locate))
    if checked.warnings and strict:
        what = "refused because of strict: " + _in_short(checked.warnings, "; ")
        raise ModelError(what, where=str(path), remedy="Fix the file, or load it without strict")
    if checked.warnings:
        warnings.warn(f"{path}:\n" + _in_short(checked.warnings, "\n"), ModelWarning, stacklevel=2)
    return checked


def _in_short(texts: Sequence[str], between: str) -> str:
    """The first of many texts, and how many more there are."""
    more = len(texts) - _MOST_REPORTED
    return between.join(texts[:_MOST_REPORTED]) + (f"{between}and {more} more, in System.warnings" if more > 0 else "")


def _refuses(path: Path) -> bool:
    """Whether the format refuses unphysical inertias by itself: what is written for Limberjack can be corrected."""
    return path.suffix.lower() in _OWN


def _read(path: Path, mimic: Mimic, contacts: bool) -> tuple[System, bool | None, Locate]:
    """The reader for the suffix: System, whether the file asks to be read strictly, finder of lines."""
    suffix = path.suffix.lower()
    if suffix in _OWN:
        from limberjack.engine.model.readers.yaml_reader import read_yaml

        return read_yaml(path)
    if suffix == ARCHIVE:
        return read_archive(path), None, plain_locate
    if suffix not in (".urdf", ".xml"):
        raise _unknown_kind(path)
    root = read_xml(path)
    if root.tag == "robot":
        return read_urdf(root, str(path), mimic, contacts), None, plain_locate
    if root.tag == "mujoco":
        from limberjack.engine.model.readers.mjcf_reader import read_mjcf

        return read_mjcf(path, contacts), None, plain_locate
    root.fail(f"the root element is <{root.tag}>", "Give a URDF (<robot>) or an MJCF (<mujoco>) file")


def _unknown_kind(path: Path) -> ModelError:
    """About a name without an ending that says the format, with the file beside it that may have been meant."""
    what = f"unknown kind of model file '{path.suffix.lower()}'" if path.suffix else "the name does not end in a format"
    endings = SUFFIXES.split(", ") if path.name else ()
    meant = [name for name in map(path.with_suffix, endings) if is_there(name)]
    hint = f"; did you mean '{meant[0]}'?" if meant else ""
    return ModelError(what, where=str(path), remedy=f"Use one of: {SUFFIXES}{hint}")


def _pull(system: System, gravity: ArrayLike | None) -> System:
    """The system in this uniform field, if one is given."""
    if gravity is None:
        return system
    try:
        field = np.array(gravity, dtype=np.float64)
    except (TypeError, ValueError):
        field = np.zeros(0)
    if field.shape != (3,) or not usable(field):
        raise ModelError(
            f"gravity is {gravity!r:.60}", where="load", remedy="Give m/s² along x, y, z: 3 finite numbers"
        )
    return replace(system, gravity=field, central=None)


def _merge(system: System, merge: bool | None) -> System:
    """The system with its fixed hinges kept or folded; the same one if they are already."""
    others = [body for body in system.bodies if body.hinge.type == "fixed" and body.hinge.merge is not merge]
    if merge is None or not others:
        return system
    bodies = tuple(
        replace(body, hinge=replace(body.hinge, merge=merge)) if body.hinge.type == "fixed" else body
        for body in system.bodies
    )
    return replace(system, bodies=bodies)


def _rebase(system: System, base: Base | None) -> System:
    """Hold or free the root body. Models with no root at all are left to the checks."""
    roots = [body for body in system.bodies if body.hinge.parent is None]
    if base is None or not roots:
        return system
    if len(roots) > 1:
        named = ", ".join(f"'{body.name}'" for body in roots[:6])
        what = f"base={base!r} is ambiguous: several bodies hang on the world ({named})"
        raise ModelError(what, where=system.source, remedy="Load with base=None")
    (root,) = roots
    changed = _rebased(root, base)
    if changed is root:
        return system
    bodies = tuple(changed if body is root else body for body in system.bodies)
    positions, rates = root.hinge.coordinate_names, root.hinge.velocity_names
    gone = {f"q.{name}" for name in positions} | {f"{part}.{name}" for part in ("v", "tau") for name in rates}
    return replace(
        system,
        bodies=bodies,
        held=tuple(name for name in system.held if name not in positions),
        held_rates=tuple(name for name in system.held_rates if name not in rates),
        alarms=tuple(alarm for alarm in system.alarms if alarm.signal not in gone),
    )


def _rebased(root: Body, base: Base) -> Body:
    hinge = root.hinge
    if hinge.type == ("fixed" if base == "fixed" else "free"):
        return root
    if hinge.type not in ("fixed", "free"):
        what = f"base={base!r} cannot replace the {hinge.type} hinge '{hinge.name}' of '{root.name}'"
        raise ModelError(what, where=hinge.where, remedy="Load with base=None")
    if base == "free":
        return replace(root, hinge=replace(hinge, type="free", dofs=(), merge=True))
    held = replace(hinge, type="fixed", inboard=hinge.inboard @ _initial_pose(root), dofs=(), q0=hinge.v0[:0])
    return replace(root, hinge=replace(held, v0=hinge.v0[:0]))


def _initial_pose(root: Body) -> Pose:
    q0 = root.hinge.q0
    return Pose(from_quaternion(q0[:4]), q0[4:]) if len(q0) == 7 else Pose()
