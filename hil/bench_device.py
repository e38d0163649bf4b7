"""A device on the bench: which signals it is sent, which commands it sets."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import LimberjackError, UnknownNameError
from limberjack.engine.files.patterns import compiled
from limberjack.hil.bench_model import BenchModel
from limberjack.hil.devices.device import Device, Wiring
from limberjack.hil.errors import ControllerError, HilError
from limberjack.hil.signals import Signals

#: in lockstep, the bench no longer waits for a device that left so many frames unanswered, until it answers again
PATIENCE = 3


class BenchDevice:
    """A device and its places among signals and commands; made by `mount`.

    signals : places (ns,) of `Signals.vector`;  commands : places (nc,) of the command vector
    set_times : (nc,) simulated time at which each command was last set, s, -inf before
    every : frames from one `send` to the next;  unanswered : frames in a row that it did not answer in lockstep
    spent_ns : wall time of its calls in the latest frame, kept by the executive
    """

    def __init__(self, device: Device, wiring: Wiring, places: tuple[np.ndarray, np.ndarray], every: int) -> None:
        self.device, self.wiring, self.every = device, wiring, every
        self.signals, self.commands = places
        self._outgoing, self._incoming = (np.zeros(len(part)) for part in places)
        self._given = np.zeros(len(self.commands), dtype=bool)
        self.set_times = np.full(len(self.commands), -np.inf)
        self._asked = False
        self.unanswered = self.spent_ns = 0

    @property
    def name(self) -> str:
        """The device's name."""
        return self.device.name

    def open(self) -> None:
        """Connect."""
        self._asked, self.unanswered = False, 0
        self.set_times.fill(-np.inf)
        self.device.open(self.wiring)

    def close(self) -> None:
        """Disconnect."""
        self.device.close()

    def send(self, frame: int, time: float, vector: np.ndarray) -> None:
        """Send its signals of a frame, if one is due. Raises HilError, which names the device, if anything fails."""
        if frame % self.every:
            return
        np.take(vector, self.signals, out=self._outgoing, mode="clip")
        self._asked = len(self.commands) > 0
        try:
            self.device.send(frame, time, self._outgoing)
        except Exception as error:
            raise self._failed("send signals", error) from error

    def receive(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        """Put the newest commands among those of the simulation (nu,); whether any had come.

        limit_s : wait so long for the answer to the last `send`, s; 0: do not wait
        """
        if not len(self.commands):
            return False
        self._incoming.fill(np.nan)
        try:
            wait = limit_s > 0.0 and self._asked and self.unanswered < PATIENCE
            device, incoming = self.device, self._incoming
            came = device.answer(time, incoming, limit_s) if wait else device.receive(time, incoming)
        except Exception as error:
            raise self._failed("receive commands", error) from error
        if came:
            np.isfinite(self._incoming, out=self._given)
            commands[self.commands[self._given]] = self._incoming[self._given]
            self.set_times[self._given] = time
            self.unanswered = 0
        elif limit_s > 0.0 and self._asked:
            self.unanswered += 1
        self._asked = self._asked and not came
        return came

    def _failed(self, what: str, error: Exception) -> HilError:
        if isinstance(error, ControllerError):
            return error
        known = isinstance(error, (LimberjackError, OSError))
        return HilError(f"device '{self.name}' could not {what}: {error if known else repr(error)}")


def mount(
    device: Device,
    signals: Signals,
    simulation: BenchModel,
    sent: Iterable[str],
    commands: Iterable[str] = (),
    every: int = 1,
    frame_s: float = 0.0,
) -> BenchDevice:
    """Wire a device, without opening it.

    sent : patterns (* and ?) of the signals that it gets;  commands : patterns of the commands that it sets
    every : frames from one sending to the next;  frame_s : a frame's simulated time, s, for controllers that ask for it
    Signals and commands stay in the order given, each name once. UnknownNameError for a pattern that matches nothing.
    """
    arguments.count("every", every, 1, 2**31)
    sent_places = places_of("signal", sent, signals.names)
    command_places = places_of("command", commands, simulation.command_names)
    wiring = Wiring(
        tuple(signals.names[i] for i in sent_places),
        tuple(signals.units[i] for i in sent_places),
        tuple(simulation.command_names[i] for i in command_places),
        period=every * frame_s,
    )
    return BenchDevice(device, wiring, (sent_places, command_places), every)


def places_of(kind: str, patterns: Iterable[str], names: tuple[str, ...]) -> np.ndarray:
    """Places of the names that patterns match, pattern by pattern: the order of a device's message."""
    places: dict[int, None] = {}
    for pattern in patterns:
        matches = [i for i, name in enumerate(names) if compiled(pattern).match(name) is not None]
        if not matches:
            arguments.index_of(kind, pattern, names)
            raise UnknownNameError(f"no {kind} matches '{pattern}'.")
        places.update(dict.fromkeys(matches))
    return np.array(list(places), dtype=np.intp)
