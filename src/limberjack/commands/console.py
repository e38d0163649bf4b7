"""Where the commands print."""

from __future__ import annotations

from rich.console import Console

#: wide enough for every table: what is piped or redirected must not lose digits
PIPED_WIDTH = 500


def open_console() -> Console:
    """The terminal at its own width; anything else at a fixed width at which no table is cut.

    Names of a model go to it as they stand: brackets in them are no markup.
    """
    console = Console(markup=False)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    return console
