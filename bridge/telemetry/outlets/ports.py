"""Ports of outlets that speak without keys, and so listen on this machine only."""

from __future__ import annotations

from limberjack.engine.common.errors import ArgumentError


def loopback_port(option: str, text: str) -> int:
    """The port that the text of an option names, 0 for any free one. ArgumentError."""
    if text.isascii() and text.isdigit() and int(text) <= 65535:
        return int(text)
    raise ArgumentError(
        f"{option} {text}: give a port alone, 0 to 65535. It listens on 127.0.0.1, since whoever reaches it needs no "
        "key; from another machine go through ssh -L."
    )
