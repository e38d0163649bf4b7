"""Replies to clients: a request is only carried out if its reply can be queued for the sender."""

from __future__ import annotations

import enum
import logging
from collections import deque
from collections.abc import Callable

import zmq

from limberjack.bridge.messages import REPLY_MAX

log = logging.getLogger("limberjack.bridge")

UNREAD_MAX = 64  # replies that wait for one client
UNREAD_BYTES = 4 * 1024 * 1024  # of replies above _LARGE; while so many wait, no request is carried out
_ALL_BYTES = 4 * REPLY_MAX  # of all clients together
_LARGE = 8192  # bytes from which on libzmq reports when a reply has left
_MORE_NOWAIT = int(zmq.SNDMORE | zmq.DONTWAIT)


def plain_send(socket: zmq.Socket) -> Callable[..., object]:
    """`socket.send` without its draft options, which double the time to queue a short message."""
    send: Callable[..., object] = super(zmq.Socket, socket).send
    return send


class Way(enum.Enum):
    """Whether a reply to a client can be queued: yes; no, too many wait; no, the connection has ended."""

    OPEN = enum.auto()
    FULL = enum.auto()
    GONE = enum.auto()


class Replies:
    """Sends replies: call `open`, then `send`. Refusals that cannot be sent at once are owed, and sent later.

    A pipe of libzmq reports room in portions of half its limit: one of 2n messages holds at least n.
    unanswered : refusals that could not be sent either, as the client does not read
    """

    def __init__(self, router: zmq.Socket) -> None:
        """router : not bound yet; its bounds on what goes out are set here."""
        router.router_mandatory = 1
        router.sndhwm = 2 * UNREAD_MAX
        router.copy_threshold = _LARGE
        self._router, self._plain = router, plain_send(router)
        self._owed: dict[bytes, deque[bytes]] = {}
        self._large: dict[bytes, deque[tuple[zmq.MessageTracker, int]]] = {}
        self.unanswered = 0

    def open(self, identity: bytes) -> Way:
        """Begin a reply; if the result allows it, `send` must follow."""
        if self._owed and identity in self._owed and not self._settle(identity):
            return Way.FULL
        if self._large and identity in self._large and self._stuffed(identity):
            return Way.FULL
        return self._begin(identity)

    def send(self, identity: bytes, reply: bytes | memoryview) -> None:
        """Finish a reply. A large one is watched until the system has taken it."""
        if len(reply) <= _LARGE:
            self._plain(reply, zmq.DONTWAIT)
            return
        tracker = self._router.send(bytes(reply), zmq.DONTWAIT, copy=False, track=True)
        assert isinstance(tracker, zmq.MessageTracker)
        self._large.setdefault(identity, deque()).append((tracker, len(reply)))

    def owe(self, identity: bytes, refusal: bytes) -> None:
        """Keep the refusal of a request until its sender reads again."""
        owed = self._owed.setdefault(identity, deque())
        if len(owed) >= UNREAD_MAX:
            self.unanswered += 1
            return
        owed.append(refusal)

    def settle(self) -> None:
        """Send owed refusals to clients that read again, and drop those of ended connections; call this at
        intervals."""
        for identity in list(self._owed):
            self._settle(identity)
        for identity in list(self._large):
            self._unread(identity)

    def _begin(self, identity: bytes) -> Way:
        for last in (False, True):
            try:
                self._router.send(identity, _MORE_NOWAIT)
                return Way.OPEN
            except zmq.Again:
                if not last:
                    self._router.get(zmq.EVENTS)  # libzmq then reads how much room its peer reported
            except zmq.ZMQError:
                return Way.GONE
        return Way.FULL

    def _settle(self, identity: bytes) -> bool:
        """Whether nothing is owed to a client any more."""
        owed = self._owed[identity]
        while owed:
            way = self._begin(identity)
            if way is Way.FULL:
                return False
            if way is Way.GONE:
                break
            self._router.send(owed.popleft(), zmq.DONTWAIT)
        del self._owed[identity]
        return True

    def _stuffed(self, identity: bytes) -> bool:
        """Whether too many bytes wait, of this client's replies or of all."""
        own = self._unread(identity)
        if own < UNREAD_BYTES:
            return own > 0 and sum(map(self._unread, list(self._large))) > _ALL_BYTES
        return True

    def _unread(self, identity: bytes) -> int:
        """Bytes of large replies that wait for a client."""
        waiting = self._large[identity]
        while waiting and waiting[0][0].done:
            waiting.popleft()
        if not waiting:
            del self._large[identity]
        return sum(size for _, size in waiting)
