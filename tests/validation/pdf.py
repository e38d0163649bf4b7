"""The report as one PDF with a table of contents, page numbers and links, made by WeasyPrint."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from weasyprint import HTML

from limberjack.hil.pages import escaped, write_page
from tests.validation.layout import STYLE

_PRINT = """<style>
@page { size: A4 landscape; margin: 16mm 12mm 16mm;
        @bottom-left { content: "FOOT"; font: 8pt sans-serif; color: #5b6875; }
        @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #5b6875; } }
body { background: #fff; font-size: 10pt; } main { max-width: none; padding: 0; }
h1 { font-size: 20pt; bookmark-level: 1; } h2 { font-size: 12pt; bookmark-level: 2; margin: 5mm 0 2mm; }
header { display: block; } header h1 { display: inline; margin-right: 6mm; } header .badge { vertical-align: 4pt; }
th, td { font-size: 8pt; padding: 2pt 7pt 2pt 0; } code { font-size: 7pt; } td .badge { font-size: 7pt; }
section { border: 0; padding: 0; overflow: visible; } .lead { font-size: 11pt; }
.part { break-before: page; } tr, .equation { break-inside: avoid; } a { color: inherit; text-decoration: none; }
.contents a::after { content: " " target-counter(attr(href), page); color: #5b6875; }
.contents ul { columns: 2; }
</style>"""
_TITLE = re.compile(r"<h1>(.*?)</h1>", re.S)


def write_pdf(path: Path, title: str, pages: Mapping[str, Sequence[str]], about: Mapping[str, str]) -> int:
    """All pages in their order, their links to each other as links inside the file; how many sheets they take."""
    foot = f"Limberjack {about.get('Limberjack', '')}, {about.get('revision', '')[:12]}, {about.get('time', '')}"
    first, *others = pages
    listed = "".join(
        f'<li><a href="#page-{name}">{_TITLE.findall("".join(pages[name]))[0]}</a></li>' for name in others
    )
    opening = [*pages[first], f'<div class="part contents"><h2>Contents</h2><ul>{listed}</ul></div>']
    body = [f'<div id="page-{first}">{"".join(opening)}</div>']
    body += [f'<div id="page-{name}" class="part">{"".join(pages[name])}</div>' for name in others]
    text = re.sub(r'href="(\w[\w-]*)\.html"', r'href="#page-\1"', "".join(body))
    text = re.sub(r'href="\w[\w-]*\.html#', 'href="#', text)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "report.html"
        write_page(whole, title, [STYLE, _PRINT.replace("FOOT", escaped(foot)), text])
        document = HTML(filename=whole).render()
    document.write_pdf(path)
    return len(document.pages)
