"""Whether NOTICE names every package that pip installs with Limberjack, also those that other packages need.

python .ci/notices.py: lists what is missing. It reads the metadata of installed packages, so it needs an environment
with all extras for users.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
#: extras for developers and tests; nobody installs them with the product
OURS = {"test", "dev", "docs", "bench"}

#: requirements of an installed package, as its metadata has them
Requires = Callable[[str], list[str]]


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required() -> list[str]:
    """What pyproject.toml requires: always, and for extras for users."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [names for extra, names in project["optional-dependencies"].items() if extra not in OURS]
    return [entry for entries in (project["dependencies"], *extras) for entry in entries]


def installed(name: str) -> list[str]:
    """Requirements of a package; none of one that is not installed."""
    try:
        return importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []


def all_needed(entries: Iterable[str], requires: Requires = installed) -> dict[str, str]:
    """Each package that these requirements bring here → the one that needs it, "" for the requirements themselves."""
    found: dict[str, str] = {}
    waiting = [(Requirement(entry), "") for entry in entries]
    while waiting:
        requirement, by = waiting.pop()
        name = plain(requirement.name)
        if name == "limberjack" or name in found:
            continue
        found[name] = by
        extras = requirement.extras or {""}
        for each in map(Requirement, requires(requirement.name)):
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append((each, name))
    return found


def named() -> set[str]:
    """The packages that NOTICE names."""
    lines = (ROOT / "NOTICE").read_text(encoding="utf-8").splitlines()
    return {plain(match[1]) for line in lines if (match := re.match(r"  ([\w.-]+) +\S", line))}


def missing() -> list[str]:
    """What NOTICE should name and does not."""
    known = named()
    return [
        f"{name} ({by or 'pyproject.toml'})" for name, by in sorted(all_needed(required()).items()) if name not in known
    ]


if __name__ == "__main__":
    if absent := missing():
        sys.exit(f"NOTICE does not name {', '.join(absent)}; add each with its licence.")
    print("NOTICE names every package that is installed here")
