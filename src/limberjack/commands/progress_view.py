"""Displays the progress of a run: on a terminal with keys, elsewhere as plain lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from limberjack.commands.countdown import lasting
from limberjack.hil.progress.progress import STATES, Progress

#: a line is due after so long without one, s; and the least time between two lines, even if something has changed
_LINE_S, _LEAST_S = 10.0, 1.0
_FIRST_S = 2.0
_COLOURS = {"passing": "green", "failing": "bold red", "undecided": "yellow"}
_STATES = {"paused": "black on yellow", "running": "green", "starting": "dim", "ended": "dim"}
_KEYS = "p pause, or go on   s one frame   a abort, with a reason"
#: lines of the screen besides those of criteria
_OTHER_LINES = 10
_REASON_MOST = 120


class Operator:
    """Orders from the operator's keys; a reason is typed after `a`.

    there : whether there are keys;  reason : what has been typed of a reason, None while none is asked for
    """

    def __init__(self, there: bool) -> None:
        self.there, self._paused = there, False
        self.reason: str | None = None

    def follow(self, progress: Progress) -> None:
        """Note the state of the run, on which the meaning of `p` depends."""
        self._paused = progress.state == "paused"

    def press(self, keys: list[str]) -> Iterator[dict[str, str]]:
        """Orders to the bench (`hil.progress.watch.obey`)."""
        for key in keys:
            if self.reason is not None:
                yield from self._typed(key)
            elif key == "p":
                yield {"do": "resume" if self._paused else "pause"}
            elif key == "s":
                yield {"do": "step"}
            elif key == "a":
                self.reason = ""

    def _typed(self, key: str) -> Iterator[dict[str, str]]:
        assert self.reason is not None
        if key == "enter":
            yield {"do": "abort", "reason": self.reason}
            self.reason = None
        elif key == "escape":
            self.reason = None
        elif key == "backspace":
            self.reason = self.reason[:-1]
        elif len(key) == 1 and len(self.reason) < _REASON_MOST:
            self.reason += key

    @property
    def hint(self) -> str:
        """The keys that work now, as text."""
        if self.reason is not None:
            return f"abort, because: {self.reason}▏   Enter aborts, Esc goes on"
        return _KEYS if self.there else ""


class Screen:
    """The display on a terminal: it fills the screen, is updated in place, and disappears when the run has ended."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, markup=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False)

    def __enter__(self) -> Screen:
        self._live.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._live.stop()

    def show(self, progress: Progress, operator: Operator) -> None:
        """Show the newest sample."""
        operator.follow(progress)
        self._live.update(picture(progress, operator.hint, self._console.height), refresh=True)


def picture(progress: Progress, hint: str, height: int) -> Group:
    """A sample as a picture for a terminal of so many lines."""
    head = Text(no_wrap=True, overflow="ellipsis")
    head.append(progress.scenario, "bold").append("  ")
    head.append(f" {progress.state} ", _STATES[progress.state]).append(f"  {times(progress)}")
    bar = Table.grid(expand=True)
    bar.add_row(ProgressBar(total=progress.duration, completed=progress.time))
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim")
    facts.add_column(no_wrap=True, overflow="ellipsis")
    if progress.why:
        facts.add_row(progress.state, progress.why)
    for name, text in facts_of(progress):
        facts.add_row(name, text)
    facts.add_row("criteria", Text(", ").join(_counted(progress)))
    return Group(
        head,
        bar,
        facts,
        _criteria(progress, max(1, height - _OTHER_LINES)),
        Text(hint, "cyan", no_wrap=True, overflow="ellipsis"),
    )


def _counted(progress: Progress) -> list[Text]:
    counts = progress.counts()
    return [Text(f"{counts[state]} {state}", _COLOURS[state]) for state in reversed(STATES)]


def _criteria(progress: Progress, most: int) -> Table:
    """The criteria, failing ones first; those that do not fit on the terminal are left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=2 + max(map(len, STATES)))
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=32)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    ordered = sorted(progress.criteria, key=lambda each: STATES.index(each["state"]))
    for each in ordered[:most]:
        table.add_row(Text(f"  {each['state']}", _COLOURS[each["state"]]), each["name"], Text(each["text"], "dim"))
    if len(ordered) > most:
        table.add_row("", f"and {len(ordered) - most} more", "")
    return table


def times(progress: Progress) -> str:
    """The simulated time so far, and the estimated remaining time, as text."""
    left = "" if progress.to_go is None or progress.state == "paused" else f", {lasting(progress.to_go)} to go"
    return f"{progress.time:.{3 if progress.state == 'paused' else 1}f} of {progress.duration:g} s{left}"


def facts_of(progress: Progress) -> Iterator[tuple[str, str]]:
    """Overruns of a paced run, active faults, tripped watchdogs, the timeline's next entry."""
    if progress.overruns is not None and progress.late_max is not None:
        share = 100.0 * progress.overruns / max(progress.frames, 1)
        late = f", by up to {1e3 * progress.late_max:.3g} ms" if progress.overruns else ""
        yield "overruns", f"{progress.overruns} of {progress.frames} frames ({share:.2g} %){late}"
    acting = [f"{each['name']} since {each['since']:.6g} s ({each['by']})" for each in progress.faults]
    yield "faults", ", ".join(acting) or "none"
    if progress.tripped:
        yield "tripped", ", ".join(f"{each['name']} at {each['since']:.6g} s" for each in progress.tripped)
    yield "next", "nothing more" if progress.next is None else f"{progress.next['time']:g} s: {progress.next['text']}"
    if progress.lost:
        yield "events", f"{progress.lost} did not arrive here; the run's own log has them"


class Lines:
    """The display elsewhere: a line after changes and at intervals; none for a run that ends immediately."""

    def __init__(self) -> None:
        self._next, self._soonest = time.monotonic() + _FIRST_S, time.monotonic() + _FIRST_S
        self._shown: object = None

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Nothing is open."""

    def show(self, progress: Progress, operator: Operator) -> None:
        """Print the newest sample if a line is due."""
        states = [each["state"] for each in progress.criteria]
        faults = [each["name"] for each in progress.faults]
        now, what = time.monotonic(), (progress.state, states, faults)
        if now < self._soonest or (what == self._shown and now < self._next) or progress.state == "ended":
            return
        self._shown, self._next, self._soonest = what, now + _LINE_S, now + _LEAST_S
        print(line(progress), file=sys.stderr, flush=True)


def line(progress: Progress) -> str:
    """A sample as one line of text."""
    counts = progress.counts()
    failing = [each["name"] for each in progress.criteria if each["state"] == "failing"]
    criteria = ", ".join(f"{counts[state]} {state}" for state in reversed(STATES))
    criteria += f" ({', '.join(failing)})" if failing else ""
    why = f" {progress.why}" if progress.why else ""
    parts = [f"{progress.state}{why}, {times(progress)}", f"criteria {criteria}"]
    return f"{progress.scenario}: " + "; ".join(parts + [f"{name} {text}" for name, text in facts_of(progress)])
