"""HTML pages of the documentation: style, tables, a line chart; self-contained and without scripts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import numpy as np

_STYLE = """
:root { --ink: #1f2a44; --soft: #5d6782; --line: #d9dce4; --paper: #ffffff; --tint: #f6f4ee; --accent: #2f6690;
  --chip: #e7eef4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaf2; --soft: #a5aec4; --line: #37415a; --paper: #171d2c;
  --tint: #1f2739; --accent: #81b4d8; --chip: #26344a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto,
  "Helvetica Neue", "DejaVu Sans", sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
header { border-bottom: 1px solid var(--line); padding-bottom: 1.2rem; margin-bottom: 1.5rem; }
h1 { font-size: 2.1rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; }
p, li { max-width: 46rem; }
a { color: var(--accent); }
.lead { color: var(--soft); margin: 0 0 .9rem; }
.chip { display: inline-block; background: var(--chip); border-radius: 1rem; padding: .1rem .75rem;
  margin: 0 .35rem .35rem 0; font-size: .85rem; }
figure { margin: 1.2rem 0; } figure img { max-width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .4rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .38rem .7rem; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; white-space: nowrap; } tbody tr:nth-child(odd) { background: var(--tint); }
td.number { text-align: right; white-space: nowrap; } td code { white-space: nowrap; }
code, pre { font-family: ui-monospace, "Cascadia Mono", Menlo, "DejaVu Sans Mono", monospace; font-size: .88em; }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: .5rem; padding: .9rem 1.1rem;
  overflow-x: auto; }
details { margin: .8rem 0; } summary { cursor: pointer; font-weight: 600; padding: .3rem 0; }
summary span { color: var(--soft); font-weight: 400; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 12px; }
svg .grid { stroke: var(--line); }
"""
_COLORS = ("#2f6690", "#d1783c", "#4a7c59", "#9e5a63", "#81a4cd", "#e09f3e")
#: the chart: width, height, left, right, top and bottom margins, pixels
_W, _H, _LEFT, _RIGHT, _TOP, _BOTTOM = 900, 300, 64, 230, 14, 40


def escape(text: str) -> str:
    """A text as HTML shows it."""
    return html.escape(text)


def code(text: str) -> str:
    """A name or a value."""
    return f"<code>{escape(text)}</code>"


def page(title: str, body: str) -> bytes:
    """A whole page."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    ).encode()


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()) -> str:
    """A table of HTML cells; `numeric` columns are set flush right."""
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    lines = []
    for row in rows:
        cells = (
            f'<td class="number">{cell}</td>' if i in numeric else f"<td>{cell}</td>" for i, cell in enumerate(row)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(lines)
    return f'<div class="wide"><table>\n<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def section(title: str, *parts: str) -> str:
    """A headed part of a page."""
    return f"<h2>{escape(title)}</h2>\n" + "\n".join(parts)


def folded(title: str, remark: str, body: str, *, is_open: bool = False) -> str:
    """A part that the reader can unfold."""
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{escape(title)} <span>{escape(remark)}</span></summary>\n{body}\n</details>"


def chart(times: np.ndarray, curves: Sequence[tuple[str, np.ndarray]], unit: str) -> str:
    """Curves (name, values) over time as an SVG picture, at most as many as there are colours."""
    shown = curves[: len(_COLORS)]
    values = np.concatenate([y for _, y in shown])
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-12 * max(1.0, abs(high)):
        low, high = low - 1.0, high + 1.0
    last = float(times[-1]) or 1.0

    def x(t: float) -> str:
        return f"{_LEFT + (_W - _LEFT - _RIGHT) * t / last:.1f}"

    def y(value: float) -> str:
        return f"{_H - _BOTTOM - (_H - _TOP - _BOTTOM) * (value - low) / (high - low):.1f}"

    parts = [f'<svg viewBox="0 0 {_W} {_H}" width="{_W}" height="{_H}" role="img">']
    for i in range(5):
        level, time = low + (high - low) * i / 4, last * i / 4
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_W - _RIGHT}" y1="{y(level)}" y2="{y(level)}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y(level)}" text-anchor="end" dy="4">{level:.3g}</text>')
        parts.append(f'<text x="{x(time)}" y="{_H - _BOTTOM + 18}" text-anchor="middle">{time:.3g}</text>')
    parts.append(f'<text x="{x(last / 2)}" y="{_H - 4}" text-anchor="middle">time, s</text>')
    parts.append(f'<text x="14" y="{_H / 2}" text-anchor="middle" transform="rotate(-90 14 {_H / 2})">{unit}</text>')
    for i, (name, curve) in enumerate(shown):
        places = " ".join(f"{x(float(t))},{y(float(value))}" for t, value in zip(times, curve))
        parts.append(f'<polyline points="{places}" fill="none" stroke="{_COLORS[i]}" stroke-width="2"/>')
        row = _TOP + 10 + 20 * i
        left = _W - _RIGHT + 14
        parts.append(
            f'<line x1="{left}" x2="{left + 18}" y1="{row}" y2="{row}" stroke="{_COLORS[i]}" stroke-width="3"/>'
        )
        parts.append(
            f'<text x="{left + 26}" y="{row + 4}">{escape(name if len(name) < 28 else name[:27] + "…")}</text>'
        )
    return "\n".join([*parts, "</svg>"])
