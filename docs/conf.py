"""The documentation site: `make site` builds it to build/site, with every warning an error."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "src"), str(HERE / "_ext")]

project = "Limberjack"
author = "The Limberjack authors"
copyright = f"2026, {author}. Apache License 2.0"
release = version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.graphviz",
    "sphinx_design",
    "sphinx_copybutton",
    "generated",
]
exclude_patterns = ["_static", "_ext"]
nitpicky = False  # types of signatures point to NumPy, whose pages are not on this disk
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# Tutorials are pages with a notebook's header. Each runs in a folder of its own; an error ends the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 900  # the first cell that steps compiles the engine, if nothing has yet
nb_merge_streams = True
os.environ["COLUMNS"] = "110"  # how wide commands write their tables

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
python_maximum_signature_line_length = 100
autoclass_content = "class"
default_role = "code"

graphviz_output_format = "svg"
html_theme = "furo"
html_title = f"Limberjack {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

_MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def as_graphviz(flowchart: str) -> str:
    """The subset of Mermaid that tests/architecture.py writes, as a directive that needs no script in the browser."""
    nodes = re.findall(r"^ +([\w.]+)\[(\w+)\]$", flowchart, re.MULTILINE)
    arrows = re.findall(r"^ +([\w.]+) --> ([\w.]+)$", flowchart, re.MULTILINE)
    lines = [f'"{name}" [label="{text}"];' for name, text in nodes] + [f'"{a}" -> "{b}";' for a, b in arrows]
    style = 'bgcolor="transparent"; node [shape=box, style=filled, fillcolor="#f4f4f4"]; edge [color="#808080"];'
    return "```{graphviz}\ndigraph {\n" + style + "\n" + "\n".join(lines) + "\n}\n```"


def draw_flowcharts(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the flowcharts that code hosts draw."""
    source[0] = _MERMAID.sub(lambda match: as_graphviz(match[1]), source[0])


_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_ENTRY = re.compile(r"^([^\W\d][\w, .()+*→]*?) : (.*)$")


def as_markup(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text: heads are underlined, `name : text` is an entry of a list; |x| stays what it is."""
    made: list[str] = []
    inside = False
    for line, ahead in zip(lines, [*lines[1:], ""]):
        entry = _ENTRY.match(line)
        goes_on = inside and line.startswith("    ")
        if bool(entry) != inside and not goes_on:
            made.append("")
        if ahead.startswith("---"):
            made += [f"**{line}**", ""]
        elif not line.startswith("---"):
            made.append(f"- `{entry[1]}` : {entry[2]}" if entry else f"  {line.strip()}" if goes_on else line)
        inside = bool(entry) or goes_on
    made += declared(thing) if what == "class" else []
    lines[:] = [line.replace("|", "\\|") for line in made]


def declared(thing: object) -> list[str]:
    """The fields of an element with unit, default and text, from its declaration."""
    from limberjack.engine.model.elements.facts import facts_of, facts_of_any

    if not facts_of_any(thing):
        return []
    facts = [(known.name, known.fact) for known in facts_of(thing)]
    texts = [_LINK.sub(r"\1", fact.text).replace("*", r"\*") for _, fact in facts]
    rows = [f"- `{name}` : {text}{', ' * bool(fact.unit)}{fact.unit}" for (name, fact), text in zip(facts, texts)]
    return ["", *rows, ""]


def short_names(app: Sphinx, what: str, name: str, thing: object, options: object, *signature: str | None) -> object:
    """Type aliases by their names in signatures."""
    return tuple(part and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", part) for part in signature)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-signature", short_names)
    app.add_lexer("hex", TextLexer)  # of the protocol's byte dumps
    app.connect("autodoc-process-docstring", as_markup)
    app.connect("source-read", draw_flowcharts)
