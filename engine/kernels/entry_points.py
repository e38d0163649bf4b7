"""Every compiled function that Python calls: an entry <name> for each function <name>_entry of these rooms."""

from __future__ import annotations

from limberjack.engine.compile.library import Library, load


def entries() -> Library:
    """The entries; each takes (ints, floats, work, …) as its docstring says. The first call loads the library."""
    return load()
