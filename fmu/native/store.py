"""Files of the cache, which are there whole or not at all, however the process that writes them ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

#: stands beside files of which none is missing
COMPLETE = "complete"


def keep(path: Path, make: Callable[[], bytes]) -> Path:
    """The file, made if it is not there. One process at a time may write into its folder."""
    if not path.is_file():
        unfinished = path.with_name(f"{path.name}.unfinished")
        unfinished.write_bytes(make())
        os.replace(unfinished, path)
    return path
