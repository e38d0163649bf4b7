"""Every compiled function that Python calls: an entry <name> for each function <name>_entry of these rooms."""

from __future__ import annotations

from limberjack.engine.compile.library import Library, load


def entries() -> Library:
    """The entries; each takes (ints, floats, work, …), see its docstring. The library is loaded at the first call."""
    return load()
