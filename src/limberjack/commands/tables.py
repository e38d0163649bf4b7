"""Tables of the commands."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table


def new_table(title: str, *columns: str, folding: tuple[int, ...] = ()) -> Table:
    """An empty table. folding : indices of text columns that are wrapped on a narrow terminal; others are not
    wrapped, so that numbers stay whole as long as there is room."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for place, column in enumerate(columns):
        folds = place in folding
        table.add_column(column, no_wrap=not folds, overflow="fold" if folds else "ellipsis")
    return table
