"""Texts in the files of OpenC3 COSMOS."""

from __future__ import annotations


def quoted(text: str) -> str:
    """A text in double quotes; what would end it, or be run as a template, is replaced."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return '"' + plain.replace("\\", "/").replace('"', "'").replace("<%", "< %") + '"'
