"""Tables of the commands."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table


def new_table(title: str, *columns: str) -> Table:
    """An empty table whose cells are not wrapped."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table
