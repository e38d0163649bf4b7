"""Tables of the commands."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import TextType

#: cells of a number that an element does not have, or that does nothing
_NOTHING = {"0", "-", ""}


class FittingTable(Table):
    """A table that adapts to a narrow terminal: it leaves out columns that say nothing, then wraps text between words.

    sparing : heads of the columns that may be left out, when all their cells are 0 or -
    """

    sparing: tuple[str, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shown = self if self.fits(console, options) else self._narrowed(options.max_width)
        yield from Table.__rich_console__(shown, console, options)

    def fits(self, console: Console, options: ConsoleOptions | None = None) -> bool:
        """Whether there is room for the whole table without wrapped text."""
        options = options or console.options
        needed = Measurement.get(console, options.update(width=10_000), self).maximum
        return needed <= options.max_width

    def _narrowed(self, width: int) -> FittingTable:
        """The same table without the columns that say nothing, its words whole."""
        kept = [column for column in self.columns if not self._says_nothing(column)]
        table = _empty(self.title)
        for column in kept:
            table.add_column(column.header, no_wrap=column.no_wrap, overflow=column.overflow)
        for row in zip(*(column.cells for column in kept), strict=True):
            table.add_row(*row)
        table._keep_words(width)
        return table

    def _says_nothing(self, column: Column) -> bool:
        return str(column.header) in self.sparing and all(str(cell) in _NOTHING for cell in column.cells)

    def _keep_words(self, width: int) -> None:
        """Let no word of a wrapped column be broken, or, without room for all words, none of the first column."""
        fixed = [column for column in self.columns if column.no_wrap]
        wrapped = [column for column in self.columns if not column.no_wrap]
        room = width - 2 - 3 * len(self.columns) - sum(_longest(column, whole=True) for column in fixed)
        words = {id(column): _longest(column) for column in wrapped}
        if sum(words.values()) <= room:
            for column in wrapped:
                column.min_width = words[id(column)]
        elif self.columns and (first := _longest(self.columns[0])) <= width // 2:
            self.columns[0].min_width = first


def _longest(column: Column, *, whole: bool = False) -> int:
    """Letters of the longest word, or of the longest cell if whole, of a column and its head."""
    texts = [str(cell) for cell in (column.header, *column.cells)]
    return max((len(part) for text in texts for part in ([text] if whole else text.split())), default=0)


def _empty(title: TextType | None) -> FittingTable:
    return FittingTable(title=title, title_justify="left", box=SIMPLE_HEAD)


def new_table(title: str, *columns: str, folding: tuple[int, ...] = (), sparing: tuple[int, ...] = ()) -> FittingTable:
    """An empty table. folding : indices of text columns that are wrapped on a narrow terminal; others are not
    wrapped, so that numbers stay whole as long as there is room. sparing : indices of the columns that a narrow
    terminal does not get if all their cells are 0 or -"""
    table = _empty(title)
    for place, column in enumerate(columns):
        folds = place in folding
        table.add_column(column, no_wrap=not folds, overflow="fold" if folds else "ellipsis")
    table.sparing = tuple(columns[place] for place in sparing)
    return table
