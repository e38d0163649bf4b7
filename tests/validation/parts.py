"""Results of one part of a run, kept in a file for the report that a later part writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.validation.machine import about
from tests.validation.results import Case

#: what parts of one run may differ in
_FREE = ("time", "libraries")


def _of() -> dict[str, str]:
    """Whose results they are: of which sources, on which machine."""
    return {name: text for name, text in about().items() if name not in _FREE}


def write(file: Path, cases: Iterable[Case]) -> None:
    """Keep these results."""
    document = {"of": _of(), "cases": [asdict(case) for case in cases]}
    file.write_text(json.dumps(document), encoding="utf-8")


def read(file: Path) -> dict[str, Case]:
    """Results by test. Ends the run with a message if they are of other sources or of another machine."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        cases, of = [Case(**fields) for fields in document["cases"]], document["of"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise pytest.UsageError(f"{file} has no results of an earlier part: {error}") from None
    for name, text in _of().items():
        if of.get(name) != text:
            raise pytest.UsageError(f"{file} is of another {name}: {of.get(name)}, this run is of {text}")
    return {case.name: case for case in cases}
