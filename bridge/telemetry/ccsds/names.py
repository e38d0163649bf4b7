"""Names of quantities in formats that allow fewer characters than the dictionary."""

from __future__ import annotations

import re
from collections.abc import Iterable


def plain_names(ids: Iterable[str]) -> dict[str, str]:
    """Identifier → name of letters, digits and _, each once: "q.elbow" → "q_elbow", a second one "q_elbow_2"."""
    names: dict[str, str] = {}
    used: set[str] = set()
    for id in ids:
        base = name = re.sub(r"[^A-Za-z0-9_]", "_", id)
        number = 1
        while name in used:
            number += 1
            name = f"{base}_{number}"
        used.add(name)
        names[id] = name
    return names
