"""Forces of real hardware, advanced by their delay: measured values are extrapolated along their slope.

Between a motion of the model and the force that it causes in hardware is a delay of T seconds, by robots, sensors and
frames. A spring with a delay returns more energy than it took, E (1 + π ω T) after a bounce of frequency ω, which is
negative damping k T (docs/how-to/delay-compensation.md; docking benches: arXiv:1409.0562). The lead

    F^(t) = F(t) + T (F(t) - F(t - w)) / w

removes the first order of T, without knowledge of the spring. The remainder is E (ω T)² (1 + w / T), due to the force
that is missing at the start of a contact.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from limberjack.hil.devices.device import Device, Wiring

#: times are compared within this part of the window
_ALIKE = 1e-6


class CompensatedDevice:
    """A device whose commands are delayed forces.

    delay : T, s;  over : w, s, the window for their slope
    The lead does not change the sign of a force: a delayed push does not become a pull. It acts before faults of the
    link.
    """

    def __init__(self, device: Device, delay: float, over: float) -> None:
        self._device, self._delay, self._over = device, delay, over
        self.name, self.link = device.name, device.link
        self._came: deque[tuple[float, np.ndarray]] = deque()

    def open(self, wiring: Wiring) -> None:
        """Connect."""
        self._came.clear()
        self._device.open(wiring)
        self.link = self._device.link

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        """As the device."""
        self._device.send(frame, time, signals)

    def receive(self, time: float, commands: np.ndarray) -> bool:
        """As the device, ahead."""
        came = self._device.receive(time, commands)
        return came and self._lead(time, commands)

    def answer(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        """As the device, ahead."""
        came = self._device.answer(time, commands, limit_s)
        return came and self._lead(time, commands)

    def close(self) -> None:
        """Let go."""
        self._device.close()

    def _lead(self, time: float, commands: np.ndarray) -> bool:
        """Change what came; True. One message a frame is kept, for the window's length."""
        known = self._came
        while len(known) > 1 and known[1][0] <= time - self._over * (1.0 - _ALIKE):
            known.popleft()
        known.append((time, commands.copy()))
        before, past = known[0]
        if time > before:
            slope = (commands - past) / (time - before)
            slope[~np.isfinite(slope)] = 0.0  # what was not set then has no slope
            ahead = commands + self._delay * slope
            np.copyto(commands, np.where(ahead * commands > 0.0, ahead, 0.0), where=np.isfinite(commands))
        return True
