"""`limberjack monitor`: a running engine on a terminal, also over ssh."""

from __future__ import annotations

import argparse
import logging
import time

from rich.console import Console, Group
from rich.live import Live

from limberjack.bridge.errors import EngineTimeoutError
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.commands.monitor_board import Board, Picture
from limberjack.commands.monitor_keys import keyboard
from limberjack.commands.monitor_view import Choice, header, screen, table
from limberjack.engine.common.errors import ArgumentError

#: longest wait for the first sample, s
_FIRST_S = 20.0
_PAGE = 20


def monitor(options: argparse.Namespace) -> None:
    """Show an engine until q or Ctrl-C; on a pipe or with --once one table."""
    if not 0.1 <= options.rate <= 60.0:
        raise ArgumentError(f"--rate {options.rate:g}: give 0.1 to 60 pictures a second.")
    logging.getLogger("limberjack").addHandler(logging.NullHandler())  # notices show the messages of the log
    choice = Choice(tuple(options.show or ("*",)))
    gateway = Gateway(options.engine, keys=options.keys, key_name=options.key_name, most_hz=options.rate)
    board, console = Board(gateway.condition), Console()
    try:
        gateway.connect(options.wait)
        gateway.add(board)
        gateway.start()
        picture = _first(board, options.engine)
        _check(picture, choice)
        if options.once or not console.is_terminal:
            _print(console, picture, choice, options.engine)
        else:
            _follow(console, board, choice, options)
    finally:
        gateway.stop()


def _first(board: Board, engine: str) -> Picture:
    deadline = time.monotonic() + _FIRST_S
    while (picture := board.picture()) is None:
        if time.monotonic() > deadline:
            raise EngineTimeoutError(f"{engine} sent no sample within {_FIRST_S:g} s. Look at the engine.")
        time.sleep(0.01)
    return picture


def _check(picture: Picture, choice: Choice) -> None:
    """Raise ArgumentError for patterns that match no quantity."""
    if not choice.rows(picture):
        some = ", ".join(list(picture.dictionary.places)[:8])
        wanted = ", ".join(choice.patterns)
        raise ArgumentError(f"no quantity of '{picture.dictionary.model}' fits {wanted}. It has {some}, …")


def _print(console: Console, picture: Picture, choice: Choice, where: str) -> None:
    console.print(Group(header(picture, where), table(picture, choice.rows(picture), console.width)))


def _follow(console: Console, board: Board, choice: Choice, options: argparse.Namespace) -> None:
    """The live screen."""
    shown: Picture | None = None
    period = 1.0 / options.rate
    with keyboard() as pressed, Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            if shown is None or not choice.paused:
                shown = board.picture() or shown
            if shown is not None:
                live.update(screen(shown, choice, options.engine, console.width, console.height), refresh=True)
            for key in pressed.read(period):
                if not act(key, choice, shown):
                    return


def act(key: str, choice: Choice, picture: Picture | None) -> bool:
    """Act on a key; False when it ends the monitor."""
    if choice.entering is not None:
        _enter(key, choice)
        return True
    steps = {"up": -1, "down": 1, "page up": -_PAGE, "page down": _PAGE, "home": -(10**9), "end": 10**9}
    if key in steps:
        choice.first = max(0, choice.first + steps[key])
    elif key in ("tab", "back tab") and picture is not None:
        choice.next_group(picture, 1 if key == "tab" else -1)
    elif key == "/":
        choice.entering = ",".join(choice.patterns)
    elif key == "a":
        choice.alarms = not choice.alarms
    elif key == " ":
        choice.paused = not choice.paused
    return key != "q"


def _enter(key: str, choice: Choice) -> None:
    """A key while patterns are typed."""
    text = choice.entering or ""
    if key == "enter":
        wanted = tuple(part.strip() for part in text.split(",") if part.strip())
        choice.patterns, choice.entering, choice.first = wanted or ("*",), None, 0
    elif key == "escape":
        choice.entering = None
    elif key == "backspace":
        choice.entering = text[:-1]
    elif len(key) == 1 and len(text) < 200:
        choice.entering = text + key
