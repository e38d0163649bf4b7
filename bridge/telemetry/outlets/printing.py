"""The simplest outlet: selected quantities on standard output, one line per sample; notices on standard error."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import sys
from typing import TextIO

from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.outlets.registry import Context
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.common.errors import ArgumentError

_SEVERITIES = ("", "warning: ", "critical: ")


class PrintOutlet:
    """Tab-separated text: a header line, then one line a sample. A gap is an empty line.

    patterns : of identifiers ("q.*"); time is always there
    finished : True once the reader of `out` has ended, as `head` does; from then on nothing is written
    """

    name = "print"

    def __init__(self, patterns: list[str], out: TextIO | None = None, messages: TextIO | None = None) -> None:
        self.patterns = patterns
        self._out, self._messages = out or sys.stdout, messages or sys.stderr
        self._places: list[int] = []
        self.finished = False

    def open(self, dictionary: Dictionary) -> None:
        """Find the quantities and write the header. ArgumentError for a pattern that none fits."""
        for pattern in self.patterns:
            if not fnmatch.filter(dictionary.places, pattern):
                some = ", ".join(list(dictionary.places)[:8])
                raise ArgumentError(f"no quantity of '{dictionary.model}' fits '{pattern}'. It has {some}, …")
        wanted = [id for id in dictionary.places if any(fnmatch.fnmatchcase(id, each) for each in self.patterns)]
        self._places = [dictionary.place("time"), *(dictionary.place(id) for id in wanted if id != "time")]
        self._write([dictionary.quantities[place].id for place in self._places])

    def sample(self, sample: Sample) -> None:
        if sample.gap:
            self._write([])
        self._write([repr(value) for value in sample.vector[self._places].tolist()])

    def notice(self, notice: Notice) -> None:
        text = f"t = {notice.time:.6g} s: {_SEVERITIES[notice.severity]}{notice.text}"
        with contextlib.suppress(BrokenPipeError):
            print(text, file=self._messages, flush=True)

    def close(self) -> None:
        if not self.finished:
            self._out.flush()

    def _write(self, cells: list[str]) -> None:
        if self.finished:
            return
        try:
            print("\t".join(cells), file=self._out, flush=True)
        except BrokenPipeError:
            self._finish()

    def _finish(self) -> None:
        """Write no more; what is left in the buffer goes nowhere, so that Python can flush it at its end."""
        self.finished = True
        with contextlib.suppress(OSError), open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), self._out.fileno())


def make(text: str, context: Context) -> PrintOutlet:
    """Patterns, separated by commas."""
    patterns = [each.strip() for each in text.split(",") if each.strip()]
    if not patterns:
        raise ArgumentError("--print needs identifiers, as 'q.*,energy.total'.")
    return PrintOutlet(patterns)
