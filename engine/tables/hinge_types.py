"""The hinge library as a table: sizes, names of coordinates, axes a user gives. Kinematics: kernels/nodes/hinges.py."""

from __future__ import annotations

from dataclasses import dataclass

# Codes stored in the Plant. The order is fixed: kernels branch on it and exported models carry it.
(FIXED, REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL, UNIVERSAL, GIMBAL, SPHERICAL, PLANAR, ROLLING, FREE, CUSTOM) = range(
    12
)
# the modes of a body, and a node of it that something hangs on
MODAL, ATTACHED = 12, 13

_QUATERNION = ("qw", "qx", "qy", "qz")


@dataclass(frozen=True)
class HingeType:
    """One row of the library.

    code : the number kernels branch on
    q, v : suffixes of coordinates and velocities ("" for the one of a 1-dof hinge)
    axes : how many axes a user gives
    angular : which velocity coordinates are angles (True) or distances (False)
    quasi : velocities are quasi-velocities, not rates of the coordinates (no spring, no limit there)
    """

    code: int
    q: tuple[str, ...]
    v: tuple[str, ...]
    axes: int = 0
    angular: tuple[bool, ...] = ()
    quasi: bool = False

    @property
    def nq(self) -> int:
        return len(self.q)

    @property
    def nv(self) -> int:
        return len(self.v)

    @property
    def sliding(self) -> tuple[int, ...]:
        """Places of the velocities that turn nothing; of a custom hinge, whose map may be any, none."""
        return tuple(i for i, angular in enumerate(self.angular) if not angular)

    @property
    def straight(self) -> tuple[int, ...]:
        """Places of the coordinates that turn nothing."""
        return tuple(range(4, self.nq)) if self.quasi else self.sliding

    def coordinate_names(self, hinge: str) -> tuple[str, ...]:
        """Full names of the coordinates of a hinge of this type."""
        return tuple(f"{hinge}.{suffix}" if suffix else hinge for suffix in self.q)

    def velocity_names(self, hinge: str, nv: int) -> tuple[str, ...]:
        """Full names of its nv velocities (nv counts only for the custom type)."""
        if self.code == CUSTOM:
            return tuple(f"{hinge}.{i + 1}" for i in range(nv))
        return tuple(f"{hinge}.{suffix}" if suffix else hinge for suffix in self.v)


HINGE_TYPES: dict[str, HingeType] = {
    "fixed": HingeType(FIXED, (), ()),
    "revolute": HingeType(REVOLUTE, ("",), ("",), 1, (True,)),
    "prismatic": HingeType(PRISMATIC, ("",), ("",), 1, (False,)),
    "helical": HingeType(HELICAL, ("",), ("",), 1, (True,)),
    "cylindrical": HingeType(CYLINDRICAL, ("angle", "distance"), ("angle", "distance"), 1, (True, False)),
    "universal": HingeType(UNIVERSAL, ("angle1", "angle2"), ("angle1", "angle2"), 2, (True, True)),
    "gimbal": HingeType(GIMBAL, ("angle1", "angle2", "angle3"), ("angle1", "angle2", "angle3"), 3, (True, True, True)),
    "spherical": HingeType(SPHERICAL, _QUATERNION, ("wx", "wy", "wz"), 0, (True, True, True), True),
    "planar": HingeType(PLANAR, ("angle", "x", "y"), ("angle", "x", "y"), 2, (True, False, False)),
    "rolling": HingeType(ROLLING, ("",), ("",), 2, (True,)),
    "free": HingeType(
        FREE,
        (*_QUATERNION, "x", "y", "z"),
        ("wx", "wy", "wz", "vx", "vy", "vz"),
        0,
        (True, True, True, False, False, False),
        True,
    ),
    "custom": HingeType(CUSTOM, (*_QUATERNION, "x", "y", "z"), (), 0, (), True),
}


def modal_type(modes: int) -> HingeType:
    """The type of what n modes do: coordinates "panel.modes.1", …, m, that do not move their body's frame."""
    names = tuple(str(i + 1) for i in range(modes))
    return HingeType(MODAL, names, names, 0, (False,) * modes)


ATTACHED_TYPE = HingeType(ATTACHED, (), ())
