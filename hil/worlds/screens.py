"""Which worlds' watchdogs have to look: the arithmetic of a frame for all worlds at once.

A watchdog that neither is tripped nor could find a cause is not called; only "hold" must remember its commands.
A screen may let too many through, never too few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from limberjack.hil.watchdogs import CommandAge, EngineStatus, SignalLimit, Watch
from limberjack.hil.worlds.world_device import WorldsDevice

#: from times (n,) and signals (n, ns) to the worlds (n,) in which a watchdog may have a cause
Screen = Callable[[np.ndarray, np.ndarray], np.ndarray]


class WatchRow:
    """The watchdogs of one name, one of each world."""

    def __init__(self, watches: Sequence[Watch], devices: Sequence[WorldsDevice]) -> None:
        self.watches, self._places = watches, watches[0].safe.places
        alike = all(np.array_equal(watch.safe.places, self._places) for watch in watches)
        self._screen = _screen(watches, devices) if alike else _always
        self._tripped = np.ones(len(watches), dtype=bool)  # all look in the first frame
        self._holds = alike and any(watch.safe.kind == "hold" for watch in watches)
        if self._holds:
            self._held = np.array([watch.safe.last for watch in watches])
            for watch, row in zip(watches, self._held):
                watch.safe.last = row

    def looking(self, times: np.ndarray, signals: np.ndarray) -> list[int]:
        """Worlds whose watchdog has to look now."""
        found: list[int] = np.flatnonzero(self._tripped | self._screen(times, signals)).tolist()
        return found

    def looked(self, world: int) -> None:
        """A watchdog has looked."""
        self._tripped[world] = self.watches[world].tripped

    def keep(self, commands: np.ndarray) -> None:
        """Remember the commands (n, nu) where nothing is tripped, for "hold"."""
        if self._holds:
            free = np.flatnonzero(~self._tripped)
            self._held[free] = commands[free[:, None], self._places]


def _screen(watches: Sequence[Watch], devices: Sequence[WorldsDevice]) -> Screen:
    """By kind; watchdogs of no known kind look always."""
    if all(isinstance(watch, SignalLimit) for watch in watches):
        return _limits([watch for watch in watches if isinstance(watch, SignalLimit)])
    if all(isinstance(watch, CommandAge) for watch in watches):
        return _ages([watch for watch in watches if isinstance(watch, CommandAge)], devices)
    if all(isinstance(watch, EngineStatus) for watch in watches):
        return _not_finite
    return _always


def _not_finite(times: np.ndarray, signals: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.any(~np.isfinite(signals), axis=1)
    return found


def _always(times: np.ndarray, signals: np.ndarray) -> np.ndarray:
    return np.ones(len(times), dtype=bool)


def _limits(watches: Sequence[SignalLimit]) -> Screen:
    places = np.unique(np.concatenate([watch.places for watch in watches]))
    lower, upper = np.full((2, len(watches), len(places)), np.array([-np.inf, np.inf])[:, None, None])
    free = np.ones(lower.shape, dtype=bool)
    for i, watch in enumerate(watches):
        mine = np.searchsorted(places, watch.places)
        lower[i, mine], upper[i, mine], free[i, mine] = watch.lower, watch.upper, False

    def screen(times: np.ndarray, signals: np.ndarray) -> np.ndarray:
        values = np.take(signals, places, axis=1)
        beyond: np.ndarray = np.any(~((values >= lower) & (values <= upper) | free), axis=1)
        return beyond

    return screen


def _ages(watches: Sequence[CommandAge], devices: Sequence[WorldsDevice]) -> Screen:
    """By the oldest command of all devices that any of them watches; what never came counts from time 0."""
    limit = np.array([watch.limit for watch in watches])
    names = frozenset[str]().union(*(watch.devices for watch in watches))
    watched = [device for device in devices if device.name in names]

    def screen(times: np.ndarray, signals: np.ndarray) -> np.ndarray:
        late = np.zeros(len(times), dtype=bool)
        for device in watched:
            late |= times - np.maximum(device.set_times.min(axis=1), 0.0) > limit
        return late

    return screen
