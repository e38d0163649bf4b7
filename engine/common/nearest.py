"""Which of many names a misspelt one may mean, at a bounded cost whatever the names are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import chain, islice

#: letters of a name that are compared, and names it is compared with
MOST_LETTERS, MOST_NAMES = 100, 2000


def nearest(given: object, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> list[str]:
    """Up to ``count`` names that resemble ``given``, best first; those that begin alike are looked at first."""
    text, names = str(given)[:MOST_LETTERS], list(known)
    alike = (name for name in names if name[:1] == text[:1])
    others = (name for name in names if name[:1] != text[:1])
    some = [name for name in islice(chain(alike, others), MOST_NAMES) if len(name) <= 2 * MOST_LETTERS]
    return difflib.get_close_matches(text, some, count, cutoff)
