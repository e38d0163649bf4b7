"""Pages of reports: one self-contained HTML file, with pictures inside."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.figure import Figure

#: a long name may be broken into lines after these
_PARTS = re.compile(r"([.\[/_=,])(?=[^\W\d])")
_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2733; background: #f4f6f8; margin: 0; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 20px 60px; }
h1 { font-size: 26px; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 18px; margin: 34px 0 10px; }
h3 { font-size: 15px; margin: 14px 0 4px; overflow-wrap: anywhere; }
header { display: flex; gap: 16px; align-items: center; flex-wrap: wrap; }
.badge { font-weight: 700; padding: 3px 14px; border-radius: 14px; color: #fff; white-space: nowrap; }
.passed { background: #1a7f4b; } .failed { background: #b3261e; } .undecided { background: #7a5a00; }
.said { white-space: pre-wrap; overflow-wrap: anywhere; }
section { background: #fff; border: 1px solid #dde3e9; border-radius: 8px; padding: 4px 16px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; color: #5b6875; }
th, td { padding: 6px 14px 6px 0; border-top: 1px solid #e8ecf0; vertical-align: top; }
tr:first-child th, tr:first-child td { border-top: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.rho { padding-left: 8px; text-align: right; } .faint { color: #7b8794; }
svg { display: block; width: 100%; min-width: 640px; height: auto; margin: 10px 0; } p { max-width: 75ch; }
"""


def write_page(path: Path, title: str, parts: Iterable[str]) -> None:
    """Write a page. parts : of its body, as HTML; empty ones are left out"""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escaped(title)}</title>'
    body = "\n".join(part for part in parts if part)
    page = f"<head>{head}<style>{_STYLE}</style></head>\n<body><main>\n{body}\n</main></body>"
    path.write_text(f'<!doctype html>\n<html lang="en">{page}</html>\n', encoding="utf-8")


def heading(name: str, word: str, kind: str) -> str:
    """The page's name beside a badge. kind : passed, failed or undecided, its colour"""
    return f'<header><h1>{escaped(name)}</h1><span class="badge {kind}">{escaped(word)}</span></header>'


def table(rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """Rows of plain text under their heads."""
    head = "<tr>" + "".join(f"<th>{escaped(name)}</th>" for name in heads) + "</tr>" if heads else ""
    body = "".join("<tr>" + "".join(f"<td>{broken(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{head}{body}</table>"


def picture(figure: Figure) -> str:
    """A figure as SVG inside the page."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg")
    found = stream.getvalue()
    return found[found.index("<svg") :]


def broken(text: str) -> str:
    """As `escaped`, of a name that may be broken into lines after its parts."""
    return escaped(_PARTS.sub("\\1\u200b", text)).replace("\u200b", "<wbr>")


def escaped(text: str) -> str:
    """Plain text as HTML."""
    return html.escape(text)
