"""What the report's pages have in common: badges, sections, cells, numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from limberjack.hil.pages import broken, escaped
from tests.validation.results import ELSEWHERE, FAILED, INCOMPLETE, PASSED

STYLE = """<style>
main { max-width: 1180px; }
h2 { page-break-after: avoid; break-after: avoid; }
th, td { font-size: 13.5px; overflow-wrap: anywhere; }
th, td.number { overflow-wrap: normal; }
td .badge { font-size: 12px; padding: 1px 9px; }
.elsewhere { background: #5b6875; }
.formula { max-width: 100%; display: block; margin: 12px 0 2px; }
.equation { margin: 8px 0 12px; } .equation p, .why { margin: 0; color: #5b6875; }
.lead { font-size: 17px; }
li { margin: 3px 0; max-width: 90ch; }
code { font-size: 12.5px; overflow-wrap: anywhere; }
</style>"""
_KINDS = {PASSED: "passed", FAILED: "failed", INCOMPLETE: "undecided", ELSEWHERE: "elsewhere"}


def badge_kind(verdict: str) -> str:
    """The colour of a verdict."""
    return _KINDS[verdict]


def badge(verdict: str) -> str:
    """A verdict, in its colour."""
    return f'<span class="badge {badge_kind(verdict)}">{verdict}</span>'


def section(title: str, *parts: str) -> str:
    """A titled box of HTML."""
    return f"<h2>{escaped(title)}</h2><section>{''.join(parts)}</section>"


def prose(text: str) -> str:
    """A plain text as HTML; what stands in backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped(text))


def bullets(texts: Iterable[str]) -> str:
    """A list of plain texts."""
    return "<ul>" + "".join(f"<li>{prose(text)}</li>" for text in texts) + "</ul>"


def rows(
    heads: Sequence[str], lines: Iterable[Sequence[str]], widths: Sequence[int], numbers: Iterable[int] = ()
) -> str:
    """A table whose cells are HTML. widths : of the columns, %;  numbers : columns that are aligned as numbers"""
    right = set(numbers)
    columns = "".join(f'<col style="width: {width}%">' for width in widths)

    def cell(column: int, text: str, kind: str) -> str:
        name = ' class="number"' if column in right else ""
        return f"<{kind}{name}>{text}</{kind}>"

    def line(cells: Sequence[str], kind: str) -> str:
        return "<tr>" + "".join(cell(column, text, kind) for column, text in enumerate(cells)) + "</tr>"

    head = f"<thead>{line([escaped(text) for text in heads], 'th')}</thead>"
    body = "".join(line(cells, "td") for cells in lines)
    return f"<table><colgroup>{columns}</colgroup>{head}<tbody>{body}</tbody></table>"


def test_name(test: str) -> str:
    """A test as a reader finds it: its sentence, and its file."""
    file, _, function = test.partition("::")
    function, bracket, part = function.partition("[")
    sentence = function.removeprefix("test_").replace("_", " ")
    only = f" ({escaped(part)})" if bracket else ""
    return f'{escaped(sentence)}{only}<br><code class="faint">{broken(file.removeprefix("tests/"))}</code>'


def percent(share: float) -> str:
    """The part of a tolerance that is used, with two digits."""
    return "0 %" if share == 0.0 else f"{100.0 * share:.2g} %" if share < 0.995 else f"{100.0 * share:.4g} %"


def number(value: float, digits: int = 5) -> str:
    """A number as short as it may be."""
    return f"{value:.{digits}g}"
