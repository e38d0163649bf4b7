"""Elements that the telemetry and the telecommand half of an XTCE document share."""

from __future__ import annotations

import xml.etree.ElementTree as tree
from collections.abc import Iterable, Mapping

SCHEMA = "http://www.omg.org/spec/XTCE/20180204"

Element = tree.Element


def add(parent: Element | None, tag: str, /, text: str | None = None, **attributes: str) -> Element:
    """An element, the last child of its parent."""
    element = tree.Element(tag, attributes)
    element.text = text
    if parent is not None:
        parent.append(element)
    return element


def unsigned_types(types: Element, what: str, widths: Iterable[int]) -> None:
    """Integer types u1, u2, … of these widths. what: "Parameter" or "Argument"."""
    for bits in widths:
        kind = add(types, f"Integer{what}Type", name=f"u{bits}", signed="false", sizeInBits=str(bits))
        add(kind, "IntegerDataEncoding", sizeInBits=str(bits), encoding="unsigned")


def enumeration(types: Element, what: str, name: str, bits: int, labels: Mapping[int, str]) -> None:
    """A type whose numbers have names."""
    kind = add(types, f"Enumerated{what}Type", name=name)
    add(kind, "IntegerDataEncoding", sizeInBits=str(bits), encoding="unsigned")
    listed = add(kind, "EnumerationList")
    for value, label in labels.items():
        add(listed, "Enumeration", value=str(value), label=label)
