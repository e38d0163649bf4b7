"""The clients of the engine: their names and sequence numbers, and the one command lease."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass

from limberjack.bridge.errors import Code
from limberjack.bridge.messages import Message, Refusal
from limberjack.bridge.roles import OWNER, Sender


@dataclass
class Session:
    """One client that has said hello: its name and the last sequence number accepted from it.

    peer : the connection that it said hello through;  user : its key, empty where no keys are in use
    """

    client: int
    name: str
    sequence: int
    peer: bytes = b""
    user: str = ""


class Sessions:
    """Bounded table of clients and the command lease.

    Client numbers are random 64-bit numbers that their owners keep to themselves and the engine never
    publishes: the number identifies the client. The sequence number makes each message count only once.
    """

    def __init__(self, lease_s: float, capacity: int = 256) -> None:
        """lease_s : life of the lease after its holder's last message; capacity : clients remembered."""
        self.lease_s, self.capacity = lease_s, capacity
        self._known: OrderedDict[int, Session] = OrderedDict()
        self._holder: Session | None = None
        self._expires = 0.0

    def hello(self, message: Message, name: str, sender: Sender = OWNER) -> None:
        """Remember a client. When the table is full one that is silent for longest is forgotten."""
        session = self._known.get(message.client)
        if session is not None:
            self._own(session, message, sender)
            self._accept_sequence(session, message)
            session.name, session.peer = name, sender.peer
            self._known.move_to_end(message.client)
            return
        if message.client == 0:
            raise Refusal(Code.MALFORMED, "client 0 is the engine; choose a random 64-bit number.", message.sequence)
        self._known[message.client] = Session(message.client, name, message.sequence, sender.peer, sender.user)
        if len(self._known) > self.capacity:
            self._forget()

    def _forget(self) -> None:
        """Forget one client: a connection that says hello as many pushes out its own ones first."""
        free = [session for session in self._known.values() if session is not self._holder]
        count = Counter(session.peer for session in free)
        most = max(count.values())
        del self._known[next(session.client for session in free if count[session.peer] == most)]

    def accept(self, message: Message, now: float, sender: Sender = OWNER) -> Session:
        """The sender's session; renews the lease if the sender holds it. Raises Refusal."""
        session = self._known.get(message.client)
        if session is None:
            text = "this client has not said hello, or the engine was restarted or forgot it since. Send hello first."
            raise Refusal(Code.UNKNOWN_CLIENT, text, message.sequence, message.client)
        self._own(session, message, sender)
        self._accept_sequence(session, message)
        self._known.move_to_end(message.client)
        if session is self._holder and now < self._expires:
            self._expires = now + self.lease_s
        return session

    @staticmethod
    def _own(session: Session, message: Message, sender: Sender) -> None:
        """A client number belongs to the key that said hello with it."""
        if session.user != sender.user:
            text = "this client number belongs to another key. Choose your own and send hello first."
            raise Refusal(Code.UNKNOWN_CLIENT, text, message.sequence, message.client)

    @staticmethod
    def _accept_sequence(session: Session, message: Message) -> None:
        last = session.sequence
        if message.sequence > last:
            session.sequence = message.sequence
            return
        replayed = message.sequence == last
        code = Code.REPLAYED if replayed else Code.STALE
        text = f"sequence {message.sequence} {'was already used' if replayed else f'is older than {last}'}."
        raise Refusal(code, f"{text} Every message needs a higher number.", message.sequence, message.client)

    def command(self, session: Session, now: float) -> bool:
        """Let a session command, taking a free lease; True when it changed hands. Raises Refusal."""
        if session is self._holder and now < self._expires:
            return False
        holder = self.holder(now)
        if holder is not None:
            raise Refusal(
                Code.LEASE,
                f"client '{holder}' holds the command lease for {self._expires - now:.1f} s more. Wait until "
                "it releases the lease or stops, or only read.",
                session.sequence,
                session.client,
            )
        self._holder, self._expires = session, now + self.lease_s
        return True

    def renew(self, session: Session, now: float) -> None:
        """Start the holder's lease time again, after work that took long."""
        if session is self._holder:
            self._expires = now + self.lease_s

    def release(self, session: Session) -> bool:
        """Give the lease up; False when this session did not hold it."""
        if session is not self._holder:
            return False
        self._holder = None
        return True

    @property
    def lessee(self) -> Session | None:
        """Who took the lease last and has not given it up; it may have run out."""
        return self._holder

    def holder(self, now: float) -> str | None:
        """Name of the client that holds the lease, if any."""
        return self._holder.name if self._holder is not None and now < self._expires else None

    def remaining(self, session: Session, now: float) -> float:
        """Seconds of lease that this session has left; 0 when it does not hold it."""
        return max(0.0, self._expires - now) if session is self._holder else 0.0
