"""Aggregation sub-graphs (001 §4, §9): which bodies become one node so that their loops lie inside it.

A loop's sub-graph are the bodies between those it joins and the last body that carries them all, which stays outside.
It satisfies the Aggregation Condition (induced, one parent outside) and is the smallest that does. Two that share a
body have one carrier within or above the other, so that their union satisfies it again; disjoint ones stay apart, also
where one carries the other (the split choice of 001, figure 4).
"""

from __future__ import annotations

from collections.abc import Sequence


def united(sets: Sequence[Sequence[int]]) -> list[list[int]]:
    """Indices of the sets, those that are connected by shared members together, by their first one."""
    root = list(range(len(sets)))

    def find(i: int) -> int:
        while root[i] != i:  # paths only get shorter
            root[i] = root[root[i]]
            i = root[i]
        return i

    owner: dict[int, int] = {}
    for i, members in enumerate(sets):
        for member in members:
            other = find(owner.setdefault(member, i))
            root[max(other, find(i))] = min(other, find(i))
    groups: dict[int, list[int]] = {}
    for i in range(len(sets)):
        groups.setdefault(find(i), []).append(i)
    return list(groups.values())
