"""The condition of an engine as its gateway sees it: one state for all displays."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from limberjack.bridge.telemetry.dictionary import OVERRUNS_MOST

#: every `Condition.state`
STATES = ("live", "overrunning", "paused", "failed", "stale", "gone")
_HEARTBEAT_S = 2.5  # without any message, of an engine that sends little else than a heartbeat a second
_FLOW_S = 0.6  # without any message, of an engine that sends states in a steady flow
_FLOW_STATES = 5  # between two heartbeats: a steady flow
_STEPPED_S = 0.6  # without a new state an engine in lockstep waits for steps
_WINDOW = 5  # heartbeats over which overruns are counted


@dataclass(frozen=True)
class Condition:
    """The state of an engine as the gateway sees it.

    state : "live"; "overrunning", live but behind the clock; "paused", an engine in lockstep that nobody steps, or a
        bench whose run waits; "failed", it stopped on an error and waits for a reset; "stale", connected but silent;
        "gone"; "replay", there is no engine, but what one was like at another time
    text : a few words for people;  age_s : since the newest message of the engine, s
    current : whether the values are current, so that alarms hold and orders make sense
    """

    state: str
    text: str
    age_s: float = 0.0

    @property
    def current(self) -> bool:
        return self.state not in ("stale", "gone", "replay")


class Overruns:
    """Counts cycles that came late over the newest heartbeats."""

    def __init__(self, steps_per_cycle: int) -> None:
        self._steps_per_cycle = steps_per_cycle
        self._seen: deque[tuple[int, int]] = deque(maxlen=_WINDOW + 1)  # cycles and overruns since the start

    def read(self, status: dict[str, Any]) -> None:
        """Take over the map of a heartbeat (docs/reference/protocol.md)."""
        at = status["step_count"] // self._steps_per_cycle, int(status.get("overruns", 0))
        if self._seen and (at[0] < self._seen[-1][0] or at[1] < self._seen[-1][1]):
            self._seen.clear()  # a reset
        self._seen.append(at)

    @property
    def share(self) -> float:
        """Of the cycles of the last heartbeats, those that came late."""
        if len(self._seen) < 2:
            return 0.0
        (first, late_first), (last, late_last) = self._seen[0], self._seen[-1]
        return (late_last - late_first) / max(1, last - first)


class Pulse:
    """Derives the `Condition` from the engine's messages. The source's thread writes, any thread reads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._connected = False
        self._heard = self._stepped = clock()
        self._failure: str | None = None
        self._paused: str | None = None
        self._mode, self._states, self._flows = "", 0, False
        self._overruns = Overruns(1)

    def meet(self, about: dict[str, Any]) -> None:
        """A connection is made. about : the engine's description (docs/reference/protocol.md)"""
        self._mode, self._failure, self._states, self._flows = about["mode"], None, 0, False
        self._paused = None
        self._overruns = Overruns(about.get("steps_per_cycle", 1))
        self._heard = self._clock()
        self._stepped = -math.inf
        self._connected = True

    def hear(self, kind: str, body: Any) -> float:
        """A message of the stream came; returns when, by the clock."""
        self._heard = heard = self._clock()
        if kind == "state":
            self._stepped = heard
            self._states += 1
        elif kind == "heartbeat":
            self._failure, self._paused = body["failure"], body.get("paused")
            self._overruns.read(body)
            flows = self._mode != "lockstep" and self._states >= _FLOW_STATES and self._paused is None
            self._flows, self._states = flows, 0
        return heard

    def lose(self) -> None:
        """Note that the connection is lost."""
        self._connected = False

    @property
    def overrun_share(self) -> float:
        """Of the cycles of the last heartbeats, those that came late."""
        return self._overruns.share

    def condition(self) -> Condition:
        """The present condition."""
        now = self._clock()
        age = now - self._heard
        if not self._connected:
            return Condition("gone", f"engine gone, last heard {age:.0f} s ago", age)
        if age > (_FLOW_S if self._flows else _HEARTBEAT_S):
            return Condition("stale", f"stale: nothing from the engine for {age:.1f} s", age)
        if self._failure is not None:
            return Condition("failed", "engine failed", age)
        if self._paused is not None:
            return Condition("paused", f"paused {self._paused}", age)
        if self._mode == "lockstep" and now - self._stepped >= _STEPPED_S:
            return Condition("paused", "paused: nobody steps the engine", age)
        share = self.overrun_share
        if share > OVERRUNS_MOST:
            return Condition("overrunning", f"overrunning: {100.0 * share:.0f} % of cycles late", age)
        return Condition("live", "live", age)
