"""The hinge library as a table: sizes, names of coordinates, axes a user gives. Kinematics: kernels/nodes/hinges.py."""

from __future__ import annotations

from dataclasses import dataclass

# Codes stored in the Plant. The order is fixed: kernels branch on it and exported models carry it.
(FIXED, REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL, UNIVERSAL, GIMBAL, SPHERICAL, PLANAR, ROLLING, FREE, CUSTOM) = range(
    12
)
# the modes of a body, and a node of it to which a body is attached
MODAL, ATTACHED = 12, 13

_QUATERNION = ("qw", "qx", "qy", "qz")
_POSE = (*_QUATERNION, "x", "y", "z")


@dataclass(frozen=True)
class HingeType:
    """One row of the library.

    code : the number kernels branch on
    q, v : suffixes of coordinates and velocities ("" for the one of a 1-dof hinge)
    directions : what a user gives as axes, and along which of the engine's axes z, y, x, -x each is ("" for neither)
    angular : which velocity coordinates are angles (True) or distances (False)
    quasi : velocities are quasi-velocities, not rates of the coordinates (no spring, no limit there)
    forbids : the directions of [w; u], the velocity of O in O+, that the hinge forbids, in the engine's axes: one for
        each row that a cut hinge of it has; "uz-", "ux+": uz - x wz, ux + x wz with its parameter x; "axes": the two
        axes of a universal hinge stay at right angles
    """

    code: int
    q: tuple[str, ...]
    v: tuple[str, ...]
    directions: tuple[tuple[str, str], ...] = ()
    angular: tuple[bool, ...] = ()
    quasi: bool = False
    forbids: str = ""

    @property
    def axes(self) -> int:
        """How many axes a user gives."""
        return len(self.directions)

    @property
    def nq(self) -> int:
        return len(self.q)

    @property
    def nv(self) -> int:
        return len(self.v)

    @property
    def sliding(self) -> tuple[int, ...]:
        """Indices of the translational velocities; empty for a custom hinge, which may have any map."""
        return tuple(i for i, angular in enumerate(self.angular) if not angular)

    @property
    def straight(self) -> tuple[int, ...]:
        """Indices of the translational coordinates."""
        return tuple(range(4, self.nq)) if self.quasi else self.sliding

    def coordinate_names(self, hinge: str) -> tuple[str, ...]:
        """Full names of the coordinates of a hinge of this type."""
        return tuple(f"{hinge}.{suffix}" if suffix else hinge for suffix in self.q)

    def velocity_names(self, hinge: str, nv: int) -> tuple[str, ...]:
        """Full names of its nv velocities (nv counts only for the custom type)."""
        if self.code == CUSTOM:
            return tuple(f"{hinge}.{i + 1}" for i in range(nv))
        return tuple(f"{hinge}.{suffix}" if suffix else hinge for suffix in self.v)


_ALONG = (("z", "direction in the hinge frame; its length does not matter"),)
_TWO, _THREE = ("angle1", "angle2"), ("angle1", "angle2", "angle3")
_SCREW, _FLAT = ("angle", "distance"), ("angle", "x", "y")
_UNIVERSAL = ("z", "first axis (on the parent's side)"), ("y", "second axis, orthogonal")
_GIMBAL = ("z", "three successive turning axes"), ("y", "mutually orthogonal"), ("", "")
_PLANAR = ("z", "normal of the plane"), ("x", "x direction in the plane")
_ROLLING = ("z", "spin axis"), ("-x", "direction of travel for positive rotation, orthogonal to it")
_POINT = "ux uy uz"

HINGE_TYPES: dict[str, HingeType] = {
    "fixed": HingeType(FIXED, (), (), forbids="wx wy wz ux uy uz"),
    "revolute": HingeType(REVOLUTE, ("",), ("",), _ALONG, (True,), forbids="wx wy ux uy uz"),
    "prismatic": HingeType(PRISMATIC, ("",), ("",), _ALONG, (False,), forbids="wx wy wz ux uy"),
    "helical": HingeType(HELICAL, ("",), ("",), _ALONG, (True,), forbids="wx wy ux uy uz-"),
    "cylindrical": HingeType(CYLINDRICAL, _SCREW, _SCREW, _ALONG, (True, False), forbids="wx wy ux uy"),
    "universal": HingeType(UNIVERSAL, _TWO, _TWO, _UNIVERSAL, (True, True), forbids="ux uy uz axes"),
    "gimbal": HingeType(GIMBAL, _THREE, _THREE, _GIMBAL, (True, True, True), forbids=_POINT),
    "spherical": HingeType(SPHERICAL, _QUATERNION, ("wx", "wy", "wz"), (), (True,) * 3, True, _POINT),
    "planar": HingeType(PLANAR, _FLAT, _FLAT, _PLANAR, (True, False, False), forbids="wx wy uz"),
    "rolling": HingeType(ROLLING, ("",), ("",), _ROLLING, (True,), forbids="wx wy uy uz ux+"),
    "free": HingeType(FREE, _POSE, ("wx", "wy", "wz", "vx", "vy", "vz"), (), (True,) * 3 + (False,) * 3, True),
    "custom": HingeType(CUSTOM, _POSE, (), (), (), True),
}


def modal_type(modes: int) -> HingeType:
    """The hinge type of n modes: coordinates "panel.modes.1", …, m, that do not move their body's frame."""
    names = tuple(str(i + 1) for i in range(modes))
    return HingeType(MODAL, names, names, (), (False,) * modes)


ATTACHED_TYPE = HingeType(ATTACHED, (), ())
