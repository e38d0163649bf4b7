"""How commands are added to the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def command(commands: Any, name: str, work: Callable[[argparse.Namespace], int | None], text: str) -> Any:
    """Add a command; `work` does it and may return the exit code."""
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(work=work)
    return parser
