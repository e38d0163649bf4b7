"""A controller of many worlds at once, in the bench's own process: arrays:MODULE:FUNCTION.

The function is called as that of python:MODULE:FUNCTION, factory(wiring, **options), and returns a law of all worlds:
law(time, signals (n, ns)) → commands (n, nc), n being wiring.worlds. Every number of the options is an array over the
worlds, (n,), and every list of numbers (n, k): values that a campaign varies differ from row to row. In a run by itself
n is 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.devices.device import Link, Wiring
from limberjack.hil.devices.in_process import Controller, Factory

SCHEME = "arrays:"


class ArrayController:
    """A law of n worlds and its latest answers.

    options : of each world, all of one `form_of`
    answers : (n, nc);  fresh : (n,) whether a world's answer has not been taken yet
    received : (n,) answers so far;  rejected : (n,) reason → how many, of answers that were no commands
    """

    def __init__(self, name: str, factory: Factory, options: Sequence[Mapping[str, Any]]) -> None:
        self.name, self._options = name, options
        self._controller = Controller(name, factory)
        n = len(options)
        self.answers, self.fresh = np.zeros((n, 0)), np.zeros(n, dtype=bool)
        self.received, self._counts = np.zeros(n, dtype=np.int64), np.ones(n, dtype=bool)
        self.rejected: list[dict[str, int]] = []

    def open(self, wiring: Wiring) -> None:
        """Make the law. ControllerError with its place if it raises."""
        n = len(self._options)
        self.answers = np.zeros((n, len(wiring.commands)))
        self.fresh[:], self.received[:], self._counts[:] = False, 0, True
        self.rejected = [{} for _ in range(n)]
        self._controller.make(replace(wiring, worlds=n), stacked(self._options))

    def call(self, time: float, signals: np.ndarray) -> None:
        """Let it answer signals (n, ns), an array that it may keep. Anything but commands is counted and ignored."""
        found = self._controller(time, signals)
        if found is None:
            return
        try:
            answers = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError):
            return self._reject(np.ones(len(self.fresh), dtype=bool), "are not numbers")
        if answers.shape != self.answers.shape:
            text = f"have shape {answers.shape}, not (worlds, commands), {self.answers.shape}"
            return self._reject(np.ones(len(self.fresh), dtype=bool), text)
        good: np.ndarray = np.all(np.isfinite(answers), axis=1)
        if not good.all():
            self._reject(~good, "are not finite")
        self.answers[good] = answers[good]
        self.fresh |= good
        self.received += good & self._counts

    def leave(self, world: int) -> None:
        """The run of a world has ended: what it answers there counts no longer."""
        self._counts[world] = False

    def close(self) -> None:
        """Forget the law."""
        self._controller.forget()

    def _reject(self, worlds: np.ndarray, why: str) -> None:
        reason = f"commands of controller '{self.name}' {why}"
        for world in np.flatnonzero(worlds & self._counts):
            self.rejected[world][reason] = self.rejected[world].get(reason, 0) + 1


class ArrayDevice:
    """A controller over arrays with one world, as a device of a run by itself."""

    def __init__(self, name: str, factory: Factory, options: Mapping[str, Any]) -> None:
        self.name, self.link = name, Link()
        self._law = ArrayController(name, factory, [options])

    def open(self, wiring: Wiring) -> None:
        """Make the law. ControllerError with its place if it raises."""
        self.link = Link()
        self._law.open(wiring)
        self.link.rejected = self._law.rejected[0]

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        """Call the law."""
        self.link.sent += 1
        self._law.call(time, signals[None].copy())
        self.link.received = int(self._law.received[0])

    def receive(self, time: float, commands: np.ndarray) -> bool:
        """The answer to the last message."""
        if not self._law.fresh[0]:
            return False
        commands[:] = self._law.answers[0]
        self._law.fresh[0], self.link.last_time = False, time
        return True

    def answer(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        """As `receive`: the law has already answered, or it never will."""
        return self.receive(time, commands)

    def close(self) -> None:
        """Forget the law."""
        self._law.close()


def stacked(options: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Options of all worlds: numbers (n,), lists of numbers (n, k), of lists (n, k, l); other values are shared.

    ArgumentError where other values differ, or lists have other lengths.
    """
    if len({form_of(each) for each in options}) > 1:
        raise ArgumentError("options of a controller over arrays may differ between worlds in numbers alone.")
    return {key: _stacked([each[key] for each in options]) for key in options[0]}


def _stacked(values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, Mapping):
        return {key: _stacked([value[key] for value in values]) for key in first}
    return np.array(values, dtype=np.float64) if _are_numbers(first) else first


def form_of(option: Any) -> Hashable:
    """The part of the options that worlds of one batch must have in common: everything but numbers."""
    if isinstance(option, Mapping):
        return tuple((key, form_of(value)) for key, value in option.items())
    if _are_numbers(option):
        return ("numbers", np.shape(option))
    return tuple(form_of(value) for value in option) if isinstance(option, (list, tuple)) else (option,)


def _are_numbers(value: Any) -> bool:
    """Whether it is a number, or a regular list of numbers; true and false do not count as numbers."""
    if isinstance(value, (list, tuple)):
        shapes = {np.shape(each) if _are_numbers(each) else None for each in value}
        return len(shapes) == 1 and None not in shapes
    return isinstance(value, (int, float)) and not isinstance(value, bool)
