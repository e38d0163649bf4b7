"""The console on which commands print."""

from __future__ import annotations

from rich.console import Console

#: wide enough for every table, so that piped or redirected output loses no digits
PIPED_WIDTH = 500


def open_console() -> Console:
    """The terminal at its own width; for other outputs a fixed width at which no table is cut.

    Names of a model are printed literally: brackets in them are not markup.
    """
    console = Console(markup=False)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    return console
