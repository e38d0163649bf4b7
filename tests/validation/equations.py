"""Equations as pictures inside a page: Matplotlib sets them, so that they need no script, no font and no network."""

from __future__ import annotations

import base64
import html
import io
import re
from functools import cache

import matplotlib
from matplotlib import mathtext
from matplotlib.font_manager import FontProperties

#: size of the letters, pt
_SIZE = 13.0


@cache
def picture(tex: str) -> str:
    """A formula as an image in SVG, with its text for those who cannot see it. ValueError where it cannot be set."""
    stream = io.StringIO()
    with matplotlib.rc_context({"mathtext.fontset": "stix", "svg.fonttype": "path", "svg.hashsalt": tex}):
        mathtext.math_to_image(f"${tex}$", stream, prop=FontProperties(size=_SIZE), format="svg")
    found = stream.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", found[found.index("<svg") :], flags=re.S)
    data = base64.b64encode(svg.encode()).decode()
    return f'<img class="formula" alt="{html.escape(tex)}" src="data:image/svg+xml;base64,{data}">'
