"""How the engine is compiled: one place for the jit options, the cache and the first-use message.

`kernel` marks a function that only other kernels call; `entry` marks one that Python calls, kept in an on-disk
cache. numba's cache does not see edits in other modules, so its directory carries a hash of all engine sources.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core import config, event

# Contraction to fused multiply-add is allowed, reassociation is not: results do not depend on vector width.
OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "boundscheck": False,
    "fastmath": {"contract", "nsz"},
    "nogil": True,
    # Without numba's run-time an allocation does not compile, and array views cost no reference counting.
    "_nrt": False,
}

kernel: Callable[[Callable], Callable] = numba.njit(forceinline=True, **OPTIONS)


@lru_cache(maxsize=1)
def cache_directory() -> Path:
    """Where compiled entries are kept: one directory for each state of the engine's sources."""
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parent
    for source in sorted(root.rglob("*.py")):
        digest.update(source.relative_to(root).as_posix().encode())
        digest.update(source.read_bytes())
    return Path(platformdirs.user_cache_dir("limberjack")) / "kernels" / digest.hexdigest()[:16]


def entry(function: Callable) -> Callable:
    """Compile `function` for calls from Python, cached on disk under `cache_directory`."""
    # numba reads its cache directory while decorating and offers no argument for it.
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_directory())
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    finally:
        config.CACHE_DIR = before


class CompileNotice(event.Listener):
    """Says on a terminal that kernels are being compiled, and how long it took; silent in a pipe."""

    def __init__(self) -> None:
        self.depth = 0
        self.started = 0.0
        self.seconds = 0.0

    def on_start(self, event: event.Event) -> None:
        self.depth += 1
        if self.depth == 1:
            self.started = time.perf_counter()

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.perf_counter() - self.started
            if sys.stderr.isatty():
                text = f"compiling engine kernels (first use only): {self.seconds:5.1f} s"
                print(f"\r{text}", end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        """End the line, if one was begun."""
        if self.seconds and sys.stderr.isatty():
            print(file=sys.stderr)
