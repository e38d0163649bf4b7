"""Samples and notices, which the source sends to the outlets, and the protocol of an outlet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from limberjack.bridge.telemetry.dictionary import Dictionary


@dataclass(eq=False, slots=True)
class Sample:
    """The state of the engine at one time. Nobody changes it: outlets share it. (Were it frozen, making one would take
    four times as long.)

    sequence : the engine's number of the publication; missing numbers were lost on the way
    time : simulated, s;  unix_ns : when the gateway received it, ns since 1970
    vector : (n,) values in the order of the dictionary, read-only. Values that only heartbeats contain are the newest
    gap : publications that were lost just before this one; 1 after a lost connection, when the number is unknown
    """

    sequence: int
    time: float
    unix_ns: int
    vector: np.ndarray
    gap: int = 0


@dataclass(frozen=True)
class Notice:
    """A notice: an event of the engine, an alarm, a refused command, a lost connection.

    kind : "engine", "alarm", "command", "refused", "link", "gap"
    severity : 0 information, 1 warning, 2 critical;  text : one sentence;  data : numbers and texts beside it
    """

    kind: str
    severity: int
    text: str
    time: float
    unix_ns: int
    data: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Names that clients and browsers give stand in it: no outlet is to fail, no terminal to obey, for one."""
        object.__setattr__(self, "text", printable(self.text))


def printable(text: str) -> str:
    """The text in one line of characters that can be shown and encoded; others become a space or a question mark."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else " " if each.isspace() else "?" for each in text)


class Outlet(Protocol):
    """An outlet of the gateway, with its own thread and bounded queue, so that none waits for another.

    `open` binds or connects and raises what a user can fix; after it the gateway calls `sample` and `notice` on the
    outlet's own thread, in order.

    An outlet may have an attribute `finished`: True once nobody can read it any more. `limberjack gateway` ends when
    all its outlets have finished. Five more, optional too, save the machine a change of threads for each sample:
    prompt : True: `sample` only puts the sample aside, in a microsecond, and may be called on the source's thread
    sends : True: `sample` takes some microseconds more, but never waits, and may be called there as well
    patience_s : samples may wait so long, to be handed over many at once
    sample_many : takes a list of all that wait, in place of `sample`
    wants : decides on the source's thread whether `sample` is to get a sample; the others are no gap
    """

    name: str

    def open(self, dictionary: Dictionary) -> None: ...

    def sample(self, sample: Sample) -> None: ...

    def notice(self, notice: Notice) -> None: ...

    def close(self) -> None: ...
