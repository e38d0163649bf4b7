"""How the engine is compiled: one place for the jit options, the cache and the first-use message.

`kernel` marks a function that only other kernels call and that becomes part of each of them; `entry` marks one that
Python calls, kept in an on-disk cache; `routine.py` has a third kind, for long code that several entries call. numba's
cache does not see edits in other modules, so its directory carries a hash of the kernels' sources.
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
from numba.core import event
from numba.core.caching import NullCache

from limberjack.engine.compile.inner_code import InnerCompiler

# Contraction to fused multiply-add is allowed, reassociation is not: results do not depend on vector width.
OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "boundscheck": False,
    "fastmath": {"contract", "nsz"},
    "nogil": True,
    # Without numba's run-time an allocation does not compile, and array views cost no reference counting.
    "_nrt": False,
}

# numba makes the module's settings at run time, out of a type checker's sight.
config: Any = numba.config

#: for what compiled code alone calls: no shells for calls from Python and C, which take every array apart
UNWRAPPED: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# Kernels have no machine code of their own (inner_code.py).
_INNER: dict[str, Any] = {**OPTIONS, **UNWRAPPED, "pipeline_class": InnerCompiler}
kernel: Callable[[Callable], Callable] = numba.njit(forceinline=True, **_INNER)
#: a kernel that Python calls as well
formula: Callable[[Callable], Callable] = numba.njit(forceinline=True, **OPTIONS)


#: the rooms that kernels and the tables they read are made in
_ROOMS = ("algebra", "compile", "kernels", "tables")


def kernel_sources() -> list[Path]:
    """The modules that kernels are made of: all of the rooms that have any."""
    engine = Path(__file__).resolve().parents[1]
    made = (path for room in _ROOMS for path in sorted((engine / room).rglob("*.py")))
    return [path for path in made if path.name != "__init__.py"]


@lru_cache(maxsize=1)
def cache_directory() -> Path:
    """Where compiled entries are kept: one directory for each state of the sources that kernels are made of."""
    digest, engine = hashlib.sha256(), Path(__file__).resolve().parents[1]
    for source in kernel_sources():
        digest.update(source.relative_to(engine).as_posix().encode())
        digest.update(source.read_bytes())
    return Path(platformdirs.user_cache_dir("limberjack")) / "kernels" / digest.hexdigest()[:16]


def cached(function: Callable, **options: Any) -> Any:
    """numba's dispatcher of `function`, with its code cached on disk under `cache_directory`."""
    # numba reads its cache directory while decorating and offers no argument for it.
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_directory())
    try:
        return numba.njit(cache=True, **OPTIONS, **options)(function)
    finally:
        config.CACHE_DIR = before


def entry(function: Callable) -> Callable:
    """Compile `function` for calls from Python."""
    compiled: Callable = cached(function)
    return compiled


class _CompileNotice(event.Listener):
    """Shows the seconds spent in the compiler on a terminal as they pass; elsewhere one line tells of it."""

    def __init__(self, terminal: bool) -> None:
        self._terminal = terminal
        self._depth = 0
        self._started = 0.0
        self._told = False
        self._long = False

    def on_start(self, event: event.Event) -> None:
        if self._depth == 0:
            self._started = time.perf_counter()
            self._long = not isinstance(event.data["dispatcher"]._cache, NullCache)  # the others take no time
        self._depth += 1
        self._show("\r")

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        self._show("\n" if self._depth == 0 else "\r")

    def _show(self, end: str) -> None:
        text = "compiling for this processor, once (a minute or so)"  # with the seconds less than 80 columns
        if not self._long:
            return
        if self._terminal:
            text += f": {time.perf_counter() - self._started:5.1f} s"
            print(text, end=end, file=sys.stderr, flush=True)
        elif not self._told:
            print(text, file=sys.stderr, flush=True)
        self._told = True


@lru_cache(maxsize=1)
def announce_compilation() -> None:
    """From now on say on standard error that kernels are being compiled, and on a terminal for how long."""
    event.register("numba:compile", _CompileNotice(sys.stderr.isatty()))  # type: ignore[no-untyped-call]
