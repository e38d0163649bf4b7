"""Directives that make reference pages from declarations: the command line's parsers, the JSON Schemas of files."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: bounds of this size only keep numbers finite
ANY = 1e30
#: file → the module that has its schema
SCHEMAS = {
    "model": "limberjack.engine.model.readers.schema",
    "modes": "limberjack.engine.modes.description",
    "scenario": "limberjack.hil.scenario.schema",
    "campaign": "limberjack.hil.campaign.schema",
}


def table(head: Iterable[str], rows: Iterable[Iterable[list[nodes.Node]]], widths: tuple[int, ...]) -> nodes.table:
    """A table of rows of nodes under a head of words."""
    group = nodes.tgroup(cols=len(widths))
    group += [nodes.colspec(colwidth=width) for width in widths]
    top, body = nodes.thead(), nodes.tbody()
    top += row([nodes.Text(word)] for word in head)
    body += [row(cells) for cells in rows]
    group += [top, body]
    whole = nodes.table(classes=["generated"])
    whole += group
    return whole


def words(text: str) -> list[nodes.Node]:
    """A description: what stands in backticks is code; links, which are the guides', are their words."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    parts = plain.split("`")
    return [nodes.literal(text=part) if i % 2 else nodes.Text(part) for i, part in enumerate(parts) if part]


def row(cells: Iterable[list[nodes.Node]]) -> nodes.row:
    """A row of inline nodes."""
    made = nodes.row()
    for cell in cells:
        entry, paragraph = nodes.entry(), nodes.paragraph()
        paragraph += cell
        entry += paragraph
        made += entry
    return made


def section(title: str, identifier: str) -> nodes.section:
    """A section that links can point to."""
    made = nodes.section(ids=[identifier], names=[identifier])
    made += nodes.title(title, "", nodes.literal(text=title))
    return made


class Commands(SphinxDirective):
    """Every command of `limberjack`, with its arguments and options."""

    def run(self) -> list[nodes.Node]:
        from limberjack.cli import _parser

        (commands,) = [a for a in _parser()._actions if isinstance(a, argparse._SubParsersAction)]
        return [part for name, parser in commands.choices.items() for part in self._command(name, parser)]

    def _command(self, name: str, parser: argparse.ArgumentParser) -> Iterator[nodes.Node]:
        made = section(f"limberjack {name}", f"command-{name}")
        self.state.document.note_explicit_target(made)
        text = (parser.description or "") % {"prog": parser.prog}
        made += nodes.paragraph(text=f"{text[:1].upper()}{text[1:]}.")
        usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
        made += nodes.literal_block(usage, usage, language="text", classes=["usage"])
        shown = [a for a in parser._actions if a.help != argparse.SUPPRESS and a.dest != "help"]
        if shown:
            rows = ([[nodes.literal(text=_spelled(a))], words(_help(a, parser))] for a in shown)
            made += table(("argument", "meaning"), rows, (30, 70))
        yield made


def _spelled(action: argparse.Action) -> str:
    """How an argument is typed."""
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper())
    words = " ".join(value) if isinstance(value, tuple) else str(value)
    if not action.option_strings:
        return words
    return ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {words}")


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    """The text of an argument, with its values put in."""
    return (action.help or "") % {**vars(action), "prog": parser.prog}


class Schema(SphinxDirective):
    """The fields of one kind of file: name, type, default, text."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        kind = self.arguments[0]
        schema = json.loads(import_module(SCHEMAS[kind]).json_schema())
        made = [fields(schema)]
        for name, part in sorted(schema.get("$defs", {}).items()):
            if "properties" in part:
                below = section(name, f"{kind}-{name}".lower())
                self.state.document.note_explicit_target(below)
                if "description" in part:
                    below += nodes.paragraph(text=" ".join(part["description"].split()))
                below += fields(part)
                made.append(below)
        return made


def fields(part: dict[str, Any]) -> nodes.table:
    """The properties of an object."""
    needed = part.get("required", [])
    rows = (
        [
            [nodes.literal(text=name)],
            [nodes.Text(kind_of(known))],
            [nodes.Text("required" if name in needed else default_of(known))],
            words(known.get("description", "")),
        ]
        for name, known in part["properties"].items()
    )
    return table(("field", "type", "default", "meaning"), rows, (18, 22, 12, 48))


def default_of(known: dict[str, Any]) -> str:
    """The value of a field that is left out; nothing where it is nothing."""
    value = known.get("default")
    return "" if value is None or value in ([], {}) else json.dumps(value, ensure_ascii=False)


def kind_of(known: dict[str, Any]) -> str:
    """The type of a value in words, with its bounds."""
    if "$ref" in known:
        return str(known["$ref"].rpartition("/")[2])
    if "anyOf" in known or "oneOf" in known:
        kinds = dict.fromkeys(kind_of(one) for one in known.get("anyOf", known.get("oneOf", [])))
        return " or ".join(kind for kind in kinds if kind != "null")
    if "const" in known:
        return json.dumps(known["const"])
    if "enum" in known:
        return ", ".join(map(str, known["enum"]))
    if known.get("type") == "array":
        return f"list of {kind_of(known['items'])}" if isinstance(known.get("items"), dict) else "list"
    names = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    given = {word: known[word] for word in names if abs(known.get(word, ANY)) < ANY}
    bounds = ", ".join(f"{names[word]} {value:g}" for word, value in given.items())
    return f"{known.get('type', 'any')} {bounds}".strip()


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("commands", Commands)
    app.add_directive("file-schema", Schema)
    return {"parallel_read_safe": True}
