"""A controller over arrays on the benches of all worlds."""

from __future__ import annotations

import numpy as np

from limberjack.hil.bench_device import BenchDevice
from limberjack.hil.devices.arrays import ArrayController


class WorldsDevice:
    """A controller of n worlds and its places among signals and commands, as `BenchDevice` for one.

    set_times : (n, nc) simulated time at which each command was last set, s, -inf before
    """

    def __init__(self, controller: ArrayController, like: BenchDevice, worlds: int) -> None:
        self.controller, self.wiring, self.every = controller, like.wiring, like.every
        self.signals, self.commands, self.name = like.signals, like.commands, like.name
        self.set_times = np.full((worlds, len(like.commands)), -np.inf)

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        """Let it see the signals (n, …) of a frame, if it is its turn."""
        if frame % self.every == 0:
            self.controller.call(time, np.take(signals, self.signals, axis=1))

    def receive(self, times: np.ndarray, commands: np.ndarray) -> None:
        """Put the newest commands among those of the worlds (n, nu), at their simulated times (n,), s."""
        came = np.flatnonzero(self.controller.fresh)
        if len(came) and len(self.commands):
            commands[came[:, None], self.commands] = self.controller.answers[came]
            self.set_times[came] = times[came, None]
            self.controller.fresh[:] = False
