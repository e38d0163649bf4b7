"""What Foxglove gets: read by a client of its WebSocket protocol, decoded with the schemas that it receives."""

from __future__ import annotations

import base64
import contextlib
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from scipy.spatial.transform import Rotation
from websockets.sync.client import ClientConnection, connect

import limberjack as lj
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.scene.drawing import Drawing
from limberjack.bridge.telemetry.condition import Condition
from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.bridge.telemetry.mirror import Mirror
from limberjack.bridge.telemetry.outlets.foxglove import Foxglove
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.model.system import System
from tests.bridge.telemetry.engines import until

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NOW = 1_790_000_000_123_456_789
WAIT_S = 20.0  # bound on every wait; reached only when something is broken
ALARM = Notice("alarm", 2, "q.elbow is beyond its limit", 0.5, NOW, {"id": "q.elbow", "value": 2.0})


class Source:
    """An outlet, and samples as an engine with this model sends them."""

    def __init__(self, system: System) -> None:
        self.system, mirror = system, Mirror(system)
        self.dictionary = dictionary_of(mirror.simulation)
        session: Any = SimpleNamespace(system=system, mirror=mirror, dictionary=self.dictionary)
        self.condition = Condition("live", "live")
        self.outlet = Foxglove(0, lambda: session, lambda: self.condition)

    def sample(self, sequence: int, **parts: np.ndarray) -> Sample:
        """Numbers that need all their digits, but for these parts of the state."""
        vector = np.random.default_rng(sequence).normal(size=len(self.dictionary)) * np.pi
        vector[0] = 0.001 * sequence
        for name, values in parts.items():
            vector[self.dictionary.groups[name]] = values
        return Sample(sequence, float(vector[0]), NOW + 1_000_000 * sequence, vector)


class Viewer:
    """A client of the protocol foxglove.sdk.v1, by its specification."""

    def __init__(self, socket: ClientConnection, topics: list[str], ready: Callable[[], bool]) -> None:
        self._socket = socket
        self.server: dict[str, Any] = {}
        self.status: list[dict[str, Any]] = []
        self.channels: dict[str, dict[str, Any]] = {}
        while not all(topic in self.channels for topic in topics):
            self.hear()
        self._topics = dict(enumerate(topics, 10))
        wanted = [{"id": id, "channelId": self.channels[topic]["id"]} for id, topic in self._topics.items()]
        socket.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))
        until(ready, "subscribed")

    def hear(self) -> tuple[str, int, Any] | None:
        """Topic, stamp and bytes of the next message, if it is one of a topic."""
        data = self._socket.recv(WAIT_S)
        if isinstance(data, bytes):
            id, stamp = struct.unpack_from("<IQ", data, 1)
            return (self._topics[id], stamp, data[13:]) if data[0] == 1 else None
        reported = json.loads(data)
        if reported["op"] == "serverInfo":
            self.server = reported
        elif reported["op"] == "advertise":
            self.channels |= {each["topic"]: each for each in reported["channels"]}
        elif reported["op"] in ("status", "removeStatus"):
            self.status.append(reported)
        return None

    def next(self, topic: str) -> tuple[int, Any]:
        """Stamp and content of the next message of a topic."""
        while (heard := self.hear()) is None or heard[0] != topic:
            pass
        channel = self.channels[topic]
        return heard[1], json.loads(heard[2]) if channel["encoding"] == "json" else decoded(channel, heard[2])


def decoded(channel: dict[str, Any], data: bytes) -> Any:
    """A protobuf message, read with the descriptors that the channel was announced with."""
    files = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(channel["schema"]))
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(channel["schemaName"])).FromString(data)


@contextlib.contextmanager
def viewing(source: Source, *topics: str) -> Iterator[Viewer]:
    """A client that subscribed to these topics."""
    outlet = source.outlet
    ready = {
        "/signals": outlet._signals.has_sinks,
        "/events": outlet._events.has_sinks,
        "/tf": outlet._stage._transforms.has_sinks,
        "/scene": outlet._stage._greeted.is_set,
    }
    protocols: Any = ["foxglove.sdk.v1"]
    with connect(f"ws://127.0.0.1:{outlet.port}", subprotocols=protocols, max_size=1 << 26) as socket:
        yield Viewer(socket, list(topics), lambda: all(ready[topic]() for topic in topics))


@contextlib.contextmanager
def served(system: System) -> Iterator[Source]:
    source = Source(system)
    source.outlet.open(source.dictionary)
    try:
        yield source
    finally:
        source.outlet.close()


def test_samples_and_notices_come_with_their_schema():
    with served(lj.load(EXAMPLES / "space_manipulator.yaml")) as arm, viewing(arm, "/signals", "/events") as viewer:
        samples = [arm.sample(i) for i in (1, 2, 3)]
        for sample in samples:
            arm.outlet.sample(sample)
        arm.outlet.notice(ALARM)
        channel = viewer.channels["/signals"]
        assert arm.dictionary.model in viewer.server["name"]
        assert (channel["encoding"], channel["schemaEncoding"]) == ("json", "jsonschema")
        assert viewer.channels["/events"]["schemaName"] == "foxglove.Log"
        properties = json.loads(channel["schema"])["properties"]
        for sample in samples:
            stamp, message = viewer.next("/signals")
            assert stamp == sample.unix_ns
            for quantity, value in zip(arm.dictionary, sample.vector.tolist(), strict=True):
                group, _, key = quantity.id.partition(".")
                assert (message[group][key] if key else message[group]) == value
                schema = properties[group]["properties"][key] if key else properties[group]
                assert (schema["type"], quantity.unit in schema["description"]) == ("number", True)
        _, event = viewer.next("/events")
        assert (event["level"], event["data"]["id"]) == (4, "q.elbow")
        while not viewer.status:
            viewer.hear()
        assert viewer.status[0]["message"] == ALARM.text
        with pytest.raises(EndpointError, match="Choose another"):
            Foxglove(arm.outlet.port, arm.outlet._session, arm.outlet._condition).open(arm.dictionary)


def test_the_condition_of_the_engine_is_a_status_until_it_is_live():
    """To who watches already with the next notice, to who comes later at once."""
    lost = Notice("link", 2, "connection lost", 0.5, NOW)
    with served(lj.load(EXAMPLES / "space_manipulator.yaml")) as arm, viewing(arm, "/events") as early:
        arm.condition = Condition("gone", "engine gone, last heard 3 s ago", 3.0)
        arm.outlet.notice(lost)
        with viewing(arm, "/events") as late:
            for viewer in (early, late):
                while not any(each.get("id") == "condition" for each in viewer.status):
                    viewer.hear()
                reported = next(each for each in viewer.status if each.get("id") == "condition")
                assert (reported["message"], reported["level"]) == ("engine gone, last heard 3 s ago", 2)
            arm.condition = Condition("live", "live")
            arm.outlet.sample(arm.sample(1))
            while late.status[-1]["op"] != "removeStatus":
                late.hear()
            assert late.status[-1]["statusIds"] == ["condition"]


def numbers(message: Any, *names: str) -> list[float]:
    return [getattr(message, name) for name in names]


def test_bodies_are_shown_where_they_are_and_bent_as_they_are():
    system = lj.load(EXAMPLES / "solar_satellite.yaml")
    q, dynamics = system.q0, lj.Dynamics(system)
    q[4:] += 0.1 * np.random.default_rng(1).normal(size=len(q) - 4)
    q[:4] = Rotation.from_rotvec([0.3, 0.4, -1.0]).as_quat(scalar_first=True)
    modal = q[[".modes." in each for each in system.coordinate_names]]
    with served(system) as satellite, viewing(satellite, "/tf", "/scene") as viewer:
        satellite.outlet.sample(satellite.sample(1, q=q))
        stamp, placed = viewer.next("/tf")
        assert stamp == NOW + 1_000_000
        assert [each.child_frame_id for each in placed.transforms] == list(system.body_names)
        for each in placed.transforms:
            R, p = dynamics.pose(each.child_frame_id, q)
            turn = Rotation.from_quat(numbers(each.rotation, "x", "y", "z", "w")).as_matrix()
            np.testing.assert_allclose(numbers(each.translation, "x", "y", "z"), p, atol=1e-12)
            np.testing.assert_allclose(turn, R, atol=1e-12)
            assert each.parent_frame_id == "world"
        _, update = viewer.next("/scene")
    drawn = Drawing(system).surfaces
    shown = {each.id: each for each in update.entities}
    for i, painted in enumerate([*(x for x in drawn if x.moved is None), *(x for x in drawn if x.moved is not None)]):
        rigid = sum(x.moved is None for x in drawn)
        entity = shown[f"surface {i}" if i < rigid else f"bent {i - rigid}"]
        (triangles,) = entity.triangles
        points = painted.surface.points.copy()
        if painted.moved is not None:
            own = modal[painted.start : painted.start + len(painted.moved)]
            points += sum(value * shape for value, shape in zip(own, painted.moved, strict=True))
        np.testing.assert_allclose([numbers(each, "x", "y", "z") for each in triangles.points], points, atol=1e-12)
        np.testing.assert_array_equal(triangles.indices, painted.surface.triangles.ravel())
        assert (entity.frame_id, entity.frame_locked) == (system.body_names[painted.body], True)


def test_who_comes_later_gets_the_whole_scene_too(monkeypatch):
    for rate in ("_PICTURES_HZ", "_POINTS_HZ"):
        monkeypatch.setattr(f"limberjack.bridge.telemetry.outlets.foxglove_stage.{rate}", 1e12)
    with served(lj.load(EXAMPLES / "cassini.yaml")) as craft, viewing(craft, "/scene") as early:
        q, command = craft.system.q0, np.zeros(len(craft.system.command_names))
        craft.outlet.sample(craft.sample(1, q=q, command=command))
        whole = {each.id for each in early.next("/scene")[1].entities}
        assert {"surface 0", "plume 0"} <= whole
        command[craft.system.command_names.index("main_b")] = 222.5
        craft.outlet.sample(craft.sample(2, q=q, command=command))
        (only,) = [each for each in early.next("/scene")[1].entities if each.cylinders]
        (cone,) = only.cylinders
        assert (only.id, only.frame_id, cone.top_scale) == ("plume 1", "engine_b", 0.0)
        with viewing(craft, "/scene") as late:
            craft.outlet.sample(craft.sample(3, q=q, command=command))
            assert {each.id for each in late.next("/scene")[1].entities} == whole
        q[0] = np.nan
        craft.outlet.sample(craft.sample(4, q=q, command=command))  # nothing can be drawn of it


def test_a_body_that_is_called_world(tmp_path):
    """As the first link of many a URDF: it moves in the inertial frame, not in itself."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="world">{inertial}</link></robot>')
    with served(lj.load(tmp_path / "r.urdf", base="free")) as source, viewing(source, "/tf", "/scene") as viewer:
        source.outlet.sample(source.sample(1, q=np.array([1.0, 0, 0, 0, 0, 0, 0])))
        (placed,) = viewer.next("/tf")[1].transforms
        assert (placed.parent_frame_id, placed.child_frame_id) == ("world_", "world")
        assert {each.frame_id for each in viewer.next("/scene")[1].entities} <= {"world", "world_"}


def test_forces_of_contacts_are_arrows(monkeypatch):
    for rate in ("_PICTURES_HZ", "_POINTS_HZ"):
        monkeypatch.setattr(f"limberjack.bridge.telemetry.outlets.foxglove_stage.{rate}", 1e12)
    simulation = lj.Simulation(lj.load(EXAMPLES / "docking" / "docking.yaml"))
    simulation.step_until("touch", most=60_000)
    simulation.step(100)
    force = simulation.output["load"]
    with served(simulation.system) as craft, viewing(craft, "/scene") as viewer:
        for number, output in enumerate((simulation.output_vector, np.zeros(len(simulation.output_names)))):
            craft.outlet.sample(craft.sample(number + 1, q=simulation.q, output=output))
            shown = {each.id: each for each in viewer.next("/scene")[1].entities}["contacts"]
            assert len(shown.arrows) == 1 - number
            assert shown.frame_id == "world"
            if number == 0:
                (arrow,) = shown.arrows
        turn = Rotation.from_quat(numbers(arrow.pose.orientation, "x", "y", "z", "w")).as_matrix()
        np.testing.assert_allclose(turn[:, 0], force / np.linalg.norm(force), atol=1e-12)
        place = np.array(numbers(arrow.pose.position, "x", "y", "z"))
        assert np.linalg.norm(place - simulation.output["tip"]) == pytest.approx(0.06, abs=5e-3)
        assert arrow.shaft_length == pytest.approx(3.0 * arrow.head_length)
