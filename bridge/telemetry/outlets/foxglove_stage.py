"""The 3D panel of Foxglove: topics /tf, the poses of all bodies, and /scene, their appearance.

Rigid surfaces are sent once to each viewer, in the frames of their bodies. Flexible bodies, rods between bodies and the
plumes of thrusters are sent repeatedly, at a lower rate the more points they have.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import foxglove
import numpy as np
from foxglove import messages
from foxglove.channels import FrameTransformsChannel, SceneUpdateChannel

from limberjack.bridge.scene.drawing import MEDIA, MOST_MESH_BYTES, Drawing, Jet, Mesh, Painted, Rod
from limberjack.bridge.scene.poses import Posed, Poses
from limberjack.bridge.telemetry.sample import Sample
from limberjack.bridge.telemetry.session import Session
from limberjack.engine.algebra.rotations import from_quaternion, to_quaternion
from limberjack.engine.files.bounded_file import read_bytes
from limberjack.engine.model.frames import rotation_to_z

TRANSFORMS_TOPIC, SCENE_TOPIC = "/tf", "/scene"
WORLD = "world"
#: pictures per second, and points per second of changing surfaces
_PICTURES_HZ, _POINTS_HZ = 30.0, 100_000.0
_PLUME, _ARROW = "#ffb35c", "#ff4d4d"
#: the longest arrow of a force, relative to the largest surface
_LONGEST = 0.5


class Stage:
    """Shows one model; one thread calls `show`, any thread `greet`."""

    def __init__(self, session: Session, context: foxglove.Context) -> None:
        self._names = session.system.body_names
        self._world = WORLD
        while self._world in self._names:  # of a URDF; a frame cannot be its own parent
            self._world += "_"
        self._poses, drawing = Poses(session), Drawing(session.system)
        self._transforms = FrameTransformsChannel(TRANSFORMS_TOPIC, context=context)
        self._scene = SceneUpdateChannel(SCENE_TOPIC, context=context)
        self._still = [each for each in drawing.surfaces if each.moved is None]
        self._bending = [each for each in drawing.surfaces if each.moved is not None]
        self._meshes, self._rods, self._jets = drawing.meshes, drawing.rods, drawing.jets
        self._touches = bool(session.system.contacts)
        points = sum(len(each.surface.points) for each in self._bending)
        self._pause_s = max(1.0 / _PICTURES_HZ, points / _POINTS_HZ)
        self._plume_m, self._arrow_m = 0.1 * _extent(drawing), _LONGEST * _extent(drawing)
        self._next_picture = self._next_form = 0.0
        self._greeted = threading.Event()

    def greet(self) -> None:
        """Note a new viewer, to whom everything must be sent once."""
        self._greeted.set()

    def show(self, sample: Sample) -> None:
        """Send a sample's data for the viewers; nothing if there are none, or if the last picture is recent."""
        now = time.monotonic()
        watched = self._transforms.has_sinks() or self._scene.has_sinks()
        if not watched or now < self._next_picture:
            return
        posed, stamp = self._poses.at(sample), _stamp(sample.unix_ns)
        if not posed.finite():
            return
        self._next_picture = now + 1.0 / _PICTURES_HZ
        self._transforms.log(self._placed(posed, stamp), log_time=sample.unix_ns)
        entities = []
        if self._greeted.is_set():
            self._greeted.clear()
            entities += self._constant(stamp)
        if now >= self._next_form:
            self._next_form = now + self._pause_s
            entities += self._changing(posed, stamp)
        if entities:
            self._scene.log(messages.SceneUpdate(entities=entities), log_time=sample.unix_ns)

    def _placed(self, posed: Posed, stamp: messages.Timestamp) -> messages.FrameTransforms:
        transforms = [
            messages.FrameTransform(
                timestamp=stamp,
                parent_frame_id=self._world,
                child_frame_id=name,
                translation=messages.Vector3(x=x, y=y, z=z),
                rotation=messages.Quaternion(x=qx, y=qy, z=qz, w=qw),
            )
            for name, (x, y, z, qw, qx, qy, qz) in zip(self._names, posed.bodies.tolist(), strict=True)
        ]
        return messages.FrameTransforms(transforms=transforms)

    def _constant(self, stamp: messages.Timestamp) -> list[messages.SceneEntity]:
        """Rigid surfaces and meshes, in the frames of their bodies."""
        solids = [
            self._entity(f"surface {i}", each.body, stamp, triangles=[_triangles(each, each.surface.points)])
            for i, each in enumerate(self._still)
        ]
        meshes = [
            self._entity(f"mesh {i}", each.body, stamp, models=[_model(each)]) for i, each in enumerate(self._meshes)
        ]
        return solids + meshes

    def _changing(self, posed: Posed, stamp: messages.Timestamp) -> list[messages.SceneEntity]:
        """Bent surfaces and plumes in the frames of their bodies, rods and forces in the inertial one."""
        bent = [
            self._entity(f"bent {i}", each.body, stamp, triangles=[_triangles(each, _bent(each, posed.modes))])
            for i, each in enumerate(self._bending)
        ]
        plumes = [
            self._entity(f"plume {i}", jet.body, stamp, cylinders=_plume(jet, level * self._plume_m))
            for i, (jet, level) in enumerate(zip(self._jets, posed.jets.tolist(), strict=True))
        ]
        rods = [_rod(rod, posed) for rod in self._rods]
        lines = [self._entity("rods", -1, stamp, cylinders=rods)] if rods else []
        if self._touches:
            arrows = [_arrow(push, self._arrow_m) for push in posed.pushes]
            lines.append(self._entity("contacts", -1, stamp, arrows=arrows))
        return [*bent, *plumes, *lines]

    def _entity(self, name: str, body: int, stamp: messages.Timestamp, **parts: Any) -> messages.SceneEntity:
        frame = self._world if body < 0 else self._names[body]
        return messages.SceneEntity(timestamp=stamp, frame_id=frame, id=name, frame_locked=True, **parts)


def _bent(painted: Painted, modes: np.ndarray) -> np.ndarray:
    """(V, 3) m: p + Π η, its points at these modal coordinates."""
    assert painted.moved is not None
    own = modes[painted.start : painted.start + len(painted.moved)]
    bent: np.ndarray = painted.surface.points + np.einsum("n,nvk->vk", own, painted.moved)
    return bent


def _triangles(painted: Painted, points: np.ndarray) -> messages.TriangleListPrimitive:
    return messages.TriangleListPrimitive(
        pose=_pose(np.zeros(3), np.eye(3)),
        points=[messages.Point3(x=x, y=y, z=z) for x, y, z in points.tolist()],
        color=_colour(painted.colour, painted.opacity),
        indices=painted.surface.triangles.ravel().tolist(),
    )


def _model(mesh: Mesh) -> messages.ModelPrimitive:
    shape = mesh.shape
    sx, sy, sz = shape.size.tolist()
    return messages.ModelPrimitive(
        pose=_pose(shape.position, shape.rotation),
        scale=messages.Vector3(x=sx, y=sy, z=sz),
        color=_colour(shape.colour or "#ffffff", shape.opacity),
        override_color=bool(shape.colour),
        media_type=MEDIA[mesh.file.suffix.lower()],
        data=read_bytes(mesh.file, MOST_MESH_BYTES),
    )


def _plume(jet: Jet, length: float) -> list[messages.CylinderPrimitive]:
    """A cone that opens against the direction of the thrust; none when it does not push."""
    if length <= 0.0:
        return []
    cone = _cylinder(jet.position - length * jet.direction, jet.position, 0.12 * length, _PLUME, 0.6, top=0.0)
    return [cone]


def _rod(rod: Rod, posed: Posed) -> messages.CylinderPrimitive:
    first, second = (_inertial(posed, body, place) for body, place in rod.ends)
    return _cylinder(first, second, rod.radius, rod.colour)


def _arrow(push: np.ndarray, longest: float) -> messages.ArrowPrimitive:
    """A force of a contact, (7,) of `Posed.pushes`; its x axis points along the force."""
    length = longest * float(push[6])
    turn = rotation_to_z(push[3:6])[:, [2, 0, 1]]
    return messages.ArrowPrimitive(
        pose=_pose(push[:3], turn),
        shaft_length=0.75 * length,
        shaft_diameter=0.05 * length,
        head_length=0.25 * length,
        head_diameter=0.14 * length,
        color=_colour(_ARROW, 1.0),
    )


def _inertial(posed: Posed, body: int, place: np.ndarray) -> np.ndarray:
    """(3,) m in the inertial frame of a place in a body's."""
    if body < 0:
        return place
    pose = posed.bodies[body]
    moved: np.ndarray = pose[:3] + from_quaternion(pose[3:]) @ place
    return moved


def _cylinder(
    start: np.ndarray, end: np.ndarray, radius: float, colour: str, opacity: float = 1.0, top: float = 1.0
) -> messages.CylinderPrimitive:
    """From start to end; ``top`` is the radius at its end, relative to the one at its start."""
    along = end - start
    length = float(np.linalg.norm(along))
    turn = rotation_to_z(along / length) if length > 0.0 else np.eye(3)
    return messages.CylinderPrimitive(
        pose=_pose(start + 0.5 * along, turn),
        size=messages.Vector3(x=2.0 * radius, y=2.0 * radius, z=length),
        bottom_scale=1.0,
        top_scale=top,
        color=_colour(colour, opacity),
    )


def _pose(position: np.ndarray, rotation: np.ndarray) -> messages.Pose:
    x, y, z = position.tolist()
    qw, qx, qy, qz = to_quaternion(rotation).tolist()
    return messages.Pose(
        position=messages.Vector3(x=x, y=y, z=z), orientation=messages.Quaternion(x=qx, y=qy, z=qz, w=qw)
    )


def _colour(text: str, opacity: float) -> messages.Color:
    r, g, b = (int(text[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return messages.Color(r=r, g=g, b=b, a=opacity)


def _stamp(unix_ns: int) -> messages.Timestamp:
    sec, nsec = divmod(unix_ns, 1_000_000_000)
    return messages.Timestamp(sec=sec, nsec=nsec)


def _extent(drawing: Drawing) -> float:
    """Diagonal of the box about the largest surface, m."""
    spans = (float(np.linalg.norm(np.ptp(each.surface.points, axis=0))) for each in drawing.surfaces)
    return max(spans, default=1.0)
