"""In the process that observes a run: makes samples of its progress from shared memory and events."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from limberjack.hil.events import Event, EventLog
from limberjack.hil.progress.memory import LATE, OVERRUNS, Shared
from limberjack.hil.progress.progress import Progress
from limberjack.hil.scenario.criteria import so_far
from limberjack.hil.scenario.evidence import Evidence
from limberjack.hil.scenario.schema_criteria import CriterionSpec
from limberjack.hil.scenario.tape import Columns

#: largest share of a processor for judging: a long run is judged less often
_SHARE = 0.1
#: span of the clock over which the speed of a run in lockstep is measured, s
_SPAN_S = 5.0
#: what of an event's data its line has
_SHOWN = ("client", "speed", "force", "untold_speed", "untold_force")


class Observer:
    """Follows one run.

    about : of the bench's first message: scenario, duration, paced, expect, names, units, judged, criteria, timeline
    """

    def __init__(self, about: dict[str, Any], shared: Shared, clock: Callable[[], float] = time.monotonic) -> None:
        self._about, self._shared, self._clock = about, shared, clock
        self._specs = TypeAdapter(list[CriterionSpec]).validate_python(about["criteria"])
        self._tape, self._log = Columns(about["names"], about["units"], shared.rows), EventLog()
        judged = {name: tuple(signals) for name, signals in about["judged"].items()}
        self._evidence = Evidence(self._tape, self._log, judged, about["duration"])
        self._faults: dict[str, dict[str, Any]] = {}
        self._tripped: dict[str, float] = {}
        self._paused, self._ended, self.lost = "", "", 0
        self._judge_at, self._criteria = -np.inf, list[dict[str, str]]()
        self._speeds: deque[tuple[float, float]] = deque()

    @property
    def ended(self) -> bool:
        """Whether the bench has reported the end of the run."""
        return bool(self._ended)

    def hear(self, line: bytes) -> None:
        """A line of the bench: an event of the run as `line_of` wrote it, or how many were lost."""
        content = json.loads(line)
        if isinstance(content, int):
            self.lost += content
        else:
            self._take(Event(*content))

    def _take(self, event: Event) -> None:
        self._log.add(event)
        name = event.source
        match event.kind:
            case "fault" if name not in self._faults:
                by = event.data.get("client", "scenario")
                self._faults[name] = {"name": name, "since": event.time, "by": by}
            case "clear":
                self._faults.pop(name, None)
            case "trip":
                self._tripped[name] = event.time
            case "recover" | "arm":
                self._tripped.pop(name, None)
            case "pause":
                self._paused = f"by {name}" + (f": {event.text}" if event.text != "paused" else "")
            case "resume":
                self._paused = ""
            case "end":
                self._ended = f"{name}: {event.text}" if event.text else name

    def look(self) -> Progress:
        """Sample the run now."""
        self._advance()
        now, at, about = self._clock(), self._evidence.end, self._about
        self._judge(now)
        state = "ended" if self._ended else "paused" if self._paused else "running" if self._tape.count else "starting"
        overruns = (int(self._shared.counts[OVERRUNS]), 1e-9 * self._shared.counts[LATE]) if about["paced"] else None
        following = ({"time": each[0], "text": each[1]} for each in about["timeline"] if each[0] > at + 1e-9)
        return Progress(
            about["scenario"],
            state,
            at,
            about["duration"],
            to_go=0.0 if self._ended else self._to_go(now, at),
            why=self._ended or self._paused,
            frames=max(self._tape.count - 1, 0),
            overruns=overruns[0] if overruns else None,
            late_max=overruns[1] if overruns else None,
            criteria=self._criteria,
            faults=list(self._faults.values()),
            tripped=[{"name": name, "since": since} for name, since in self._tripped.items()],
            next=None if self._ended else next(following, None),
            lost=self.lost,
        )

    def _advance(self) -> None:
        """Find complete rows: those followed by another one, and at the end all. Time is written first in a row."""
        times = self._tape.rows[:, 0]
        begun = self._tape.count + int(np.argmax(np.isnan(times[self._tape.count :])))
        if begun == self._tape.count and len(times) and not np.isnan(times[-1]):
            begun = len(times)
        self._tape.count = max(begun if self._ended else begun - 1, self._tape.count)

    def _judge(self, now: float) -> None:
        if now < self._judge_at and not self._ended:
            return
        self._criteria = []
        for spec in self._specs:
            state, text = so_far(spec, self._evidence) if self._tape.count else ("undecided", "")
            if self.lost and (hasattr(spec, "kind") or hasattr(spec, "contact")):
                state, text = "undecided", f"{self.lost} events did not arrive here; the log of the run has them"
            self._criteria.append({"name": spec.name, "state": state, "text": text})
        self._judge_at = now + (self._clock() - now) / _SHARE

    def _to_go(self, now: float, at: float) -> float | None:
        """The remaining time: for a paced run the remaining simulated time, else by its speed in the last seconds."""
        left = max(float(self._about["duration"]) - at, 0.0)
        if self._about["paced"]:
            return left
        self._speeds.append((now, at))
        while len(self._speeds) > 2 and self._speeds[1][0] < now - _SPAN_S:
            self._speeds.popleft()
        (began, first), passed = self._speeds[0], now - self._speeds[0][0]
        return left * passed / (at - first) if at > first and began < now else None


def line_of(event: Event, most: int) -> bytes:
    """An event as a line of at most so many bytes; of a longer one the text is cut, and left out at last."""
    shown = {name: event.data[name] for name in _SHOWN if name in event.data}
    for text in (event.text, event.text[:200], ""):
        line = json.dumps([event.time, event.kind, event.source, text, shown]).encode() + b"\n"
        if len(line) <= most:
            return line
    return b""
