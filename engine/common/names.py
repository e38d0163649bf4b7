"""Lists of names in messages, and names that are there twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def some_names(names: Collection[str], count: int = 12) -> str:
    """A short list of names for a message."""
    listed = sorted(names)[:count]
    more = len(names) - len(listed)
    return ", ".join(f"'{name}'" for name in listed) + (f" and {more} more" if more else "")


def repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before; None if all differ."""
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]


def in_short(names: Sequence[str], between: str, ends: int = 6) -> str:
    """Names in their order; of many, the first and the last few."""
    if len(names) <= 2 * ends:
        return between.join(names)
    return between.join([*names[:ends], f"({len(names) - 2 * ends} more)", *names[-ends:]])


def free_name(wanted: str, taken: set[str]) -> str:
    """``wanted``, or with a number behind it if it is taken; the result is then taken."""
    candidates = (wanted, *(f"{wanted}_{i}" for i in range(2, len(taken) + 3)))
    name = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(name)
    return name
