"""A Service behind its sockets: requests answered one by one, states and events published, in another's loop."""

from __future__ import annotations

import logging
import select
import time
from typing import Any

import zmq

from limberjack.bridge.endpoints import Endpoints
from limberjack.bridge.errors import Code
from limberjack.bridge.messages import Refusal, encode
from limberjack.bridge.replies import UNREAD_MAX, Way
from limberjack.bridge.roles import Role
from limberjack.bridge.service import Reply, Service
from limberjack.bridge.sockets import ServerSockets

log = logging.getLogger("limberjack.bridge")

_HEARTBEAT_S = 1.0
_LOOK_S = 0.02
_EVENTS_A_HEARTBEAT = 16  # events published between two heartbeats; counts in the heartbeat stay exact
_BACKLOG = (
    f"not carried out: {UNREAD_MAX} replies or more, or very large ones, wait for this client unread. Read them, and "
    "have fewer requests under way."
)


class ServiceHost:
    """Binds the sockets of a service; `close` releases them. Nothing here has a loop, nothing waits unless asked to."""

    def __init__(self, service: Service) -> None:
        """Raises EndpointError, KeyFileError; nothing stays open then."""
        self.service = service
        self._sockets = ServerSockets(service.settings, 4 * service.size_max, len(service.frame.message))
        self.endpoints: Endpoints = self._sockets.endpoints
        streams = {"state": self.endpoints.state, "topics": self.endpoints.topics}
        service.about["endpoints"] = streams
        service.link_status = self._sockets.status
        self.descriptor = self._sockets.descriptor
        self._poll, self._pending = select.poll(), True
        self._poll.register(self.descriptor, select.POLLIN)
        self._published = self._since_publish = 0
        self._next_heartbeat = self._next_look = time.monotonic()

    def serve_one(self, flags: int = zmq.DONTWAIT) -> bool:
        """Receive one request and answer it; False when none came. flags 0: wait for one, a moment"""
        router = self._sockets.router
        try:
            identity = router.recv(flags)
        except zmq.Again:
            return False
        frame = router.recv(copy=False)  # a Frame knows whether more follow; asking the socket costs as much again
        more = frame.more
        while more:
            more = router.recv(copy=False).more
        self._answer(identity, frame)
        return True

    def _answer(self, identity: bytes, frame: zmq.Frame) -> None:
        """Carry a request out, if its sender may and a reply can be kept for it."""
        sender, replies, service = self._sockets.sender(identity, frame), self._sockets.replies, self.service
        way = replies.open(identity)
        if way is Way.FULL:
            replies.owe(identity, service.decline(frame.bytes, Code.BACKLOG, _BACKLOG))
            return
        if frame.more:
            reply: Reply = service.refuse(Refusal(Code.MALFORMED, "a request is one frame."))
        elif sender is None:
            reply = service.decline(frame.bytes, Code.ROLE, "this client's key was removed from the engine's folder.")
        else:
            reply = service.handle(frame.bytes, sender)
        if way is Way.OPEN:
            replies.send(identity, reply)

    def serve(self, most: int, until: float) -> None:
        """Answer what waits: so many requests at most, and none after a time of the monotonic clock but the first.

        To ask the socket costs ten times as much as its descriptor, which shows what has come since a look found
        nothing.
        """
        if not self._pending and not self._poll.poll(0):
            return
        self._pending = True
        for _ in range(most):
            if not self.serve_one():
                self._pending = False
                return
            if time.monotonic() > until:
                return

    def look_around(self) -> None:
        """Every few milliseconds: who reads the streams, whether a heartbeat is due."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + _LOOK_S
            self._sockets.look()
            if now >= self._next_heartbeat:
                self.heartbeat()

    def publish_state(self) -> None:
        """Every so many cycles or requests, send the state to both streams, if anybody reads them."""
        self.service.fresh = False
        self._since_publish += 1
        if self._since_publish < self.service.settings.publish_divisor or not self._sockets.read:
            return
        self._since_publish = 0
        self._published += 1
        self._sockets.publish_state(self.service.state_message(self._published, 0))

    def heartbeat(self) -> None:
        """Once a second: what happened since, then health and counts."""
        self._next_heartbeat = time.monotonic() + _HEARTBEAT_S
        events = self.service.events
        self._sockets.watch(events)
        self._end_lease()
        for _ in range(min(len(events), _EVENTS_A_HEARTBEAT)):
            self.publish("event", events.popleft())
        events.clear()
        self.publish("heartbeat", self.service.status())

    def _end_lease(self) -> None:
        """Take the lease from who may not command any more."""
        gate, holder = self._sockets.gate, self.service.sessions.lessee
        if gate is None or holder is None:
            return
        grant = gate.grant(holder.user)
        if grant is None or grant.role < Role.COMMAND:
            self.service.end_lease(holder)

    def publish(self, topic: str, body: dict[str, Any]) -> None:
        """Send a map to the readers of the topic stream."""
        self._published += 1
        self._sockets.publish(topic, encode(topic, self._published, self.service.simulation.time, 0, body))

    def close(self) -> None:
        """Close all sockets; may be called twice."""
        self._sockets.close()
