"""Limits reports of frequent events: the first few are reported one by one, the rest in one sentence per second."""

from __future__ import annotations

from collections import Counter


class Limiter:
    """Counts by kind. most : of each kind that are reported one by one between two calls of `rest`"""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen: Counter[str] = Counter()

    def admits(self, kind: str) -> bool:
        """Whether one more of this kind is reported; it is counted in any case."""
        self._seen[kind] += 1
        return self._seen[kind] <= self._most

    def rest(self) -> dict[str, int]:
        """Kind → how many were not reported since the last call; begins again."""
        left = {kind: count - self._most for kind, count in self._seen.items() if count > self._most}
        self._seen.clear()
        return left
