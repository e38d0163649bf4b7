"""A controller over ZeroMQ that balances a pole on a cart. Needs Python with pyzmq and msgpack, no Limberjack.

    python balance_zmq.py tcp://127.0.0.1:47201      the address of the device in the scenario

The bench sends a map of signals each frame, we answer with a map of commands (docs/reference/devices.md, "ZeroMQ").
Messages may be lost or late: each is answered on its own, and time is the bench's. We end on SIGTERM, Ctrl-C, or after
IDLE_S of silence.
"""

import signal
import sys
import time

import msgpack
import zmq

IDLE_S = 60.0


class Law:
    """The control law of one run; what it remembers is reset with the run."""

    GOAL, RATE = 0.5, 0.2  # where the cart is to go, m, and how fast its target moves, m/s
    LIMIT = 20.0  # N

    def __init__(self) -> None:
        self.target = self.last = 0.0

    def commands(self, now: float, signals: dict[str, float]) -> dict[str, float]:
        """Commands by name from simulated time, s, and signals by name."""
        step, self.last = self.RATE * (now - self.last), now
        self.target += min(max(self.GOAL - self.target, -step), step)
        force = 10.0 * (signals["q.cart"] - self.target) + 63.5 * signals["q.pole"]
        force = force + 10.8 * signals["v.cart"] + 14.6 * signals["v.pole"]
        return {"drive": min(max(force, -self.LIMIT), self.LIMIT)}


def newest(socket: zmq.Socket) -> dict | None:
    """The newest message that has come; None if there is none, or none that can be read."""
    message = None
    try:
        for _ in range(64):
            message = msgpack.unpackb(socket.recv(zmq.DONTWAIT))
    except zmq.Again:
        pass
    except ValueError as error:
        print("refused:", error, flush=True)
        return None
    return message if isinstance(message, dict) and {"n", "session", "time", "signals"} <= set(message) else None


def serve(socket: zmq.Socket) -> str:
    """Answer until nobody has spoken for IDLE_S; why it ended."""
    session = last = count = 0
    law, heard = Law(), time.monotonic()
    while time.monotonic() - heard < IDLE_S:
        socket.poll(100)
        came = newest(socket)
        if came is None:
            continue
        heard = time.monotonic()
        if came["session"] != session:  # the bench begins a run
            session, last, law = came["session"], 0, Law()
            print("session", session, flush=True)
        if came["n"] <= last:  # its greeting (0), or a message that was doubled or overtaken
            continue
        last = came["n"]
        commands = law.commands(came["time"], came["signals"])
        message = {"n": count, "session": session, "answer": last, "commands": commands}
        try:
            socket.send(msgpack.packb(message), zmq.DONTWAIT)
        except zmq.Again:  # the bench reads no more; the next answer counts
            continue
        count += 1
    return f"no bench for {IDLE_S:g} s"


def main() -> None:
    """Connect, serve, and say why it ended; ZeroMQ connects again by itself when the bench comes back."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.routing_id, socket.linger, socket.maxmsgsize = b"controller", 0, 65536
    socket.connect(sys.argv[1])
    print("ready", flush=True)
    try:
        sys.exit(serve(socket))
    except KeyboardInterrupt:
        sys.exit("ended by Ctrl-C")
    finally:
        socket.close()
        context.term()


if __name__ == "__main__":
    main()
