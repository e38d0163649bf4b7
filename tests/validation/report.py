"""The report's files: index.html, a page for each model, promises, standards, results.json, and all as one PDF."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from limberjack.hil.pages import heading, write_page
from tests.validation import model_page, overview, promise_pages
from tests.validation.contents import Contents
from tests.validation.layout import STYLE, badge_kind
from tests.validation.results import Findings, Run

TITLE = "Limberjack: validation report"
PDF = "validation.pdf"


def write(folder: Path, contents: Contents, run: Run, found: Findings, *, pdf: bool = False) -> str:
    """Write all files; returns what to say at the end of the run: why it does not pass, the verdict, where it is.

    pdf : the PDF as well
    """
    folder.mkdir(parents=True, exist_ok=True)
    pages = _pages(contents, run, found)
    for name, (title, body) in pages.items():
        links = [STYLE, '<p class="faint"><a href="index.html">Validation report</a></p>' if name != "index" else ""]
        write_page(folder / f"{name}.html", title, [*links, *body])
    (folder / "results.json").write_text(_json(_document(run, found)), encoding="utf-8")
    said = "\n".join([*found.reasons, f"validation {found.verdict}: {folder / 'index.html'}"])
    (folder / PDF).unlink(missing_ok=True)  # one of an earlier run
    if not pdf:
        return said
    from tests.validation.pdf import write_pdf

    write_pdf(folder / PDF, TITLE, {name: body for name, (_, body) in pages.items()}, run.about)
    return f"{said}, {folder / PDF}"


def _pages(contents: Contents, run: Run, found: Findings) -> dict[str, tuple[str, list[str]]]:
    """File → its title and body, in the report's order."""
    top = heading(TITLE, found.verdict, badge_kind(found.verdict))
    pages = {"index": (TITLE, [top, *overview.body(contents, run, found)])}
    for name, model in contents.models.items():
        pages[name] = (f"{model.title}: validation", model_page.body(name, contents, run, found))
    pages["promises"] = ("Promises: validation", promise_pages.promises(contents, found))
    pages["standards"] = ("Standards: validation", promise_pages.standards(contents, found))
    return pages


def _document(run: Run, found: Findings) -> dict[str, Any]:
    """The report for programs. `figures` of each case are those of tests/validation/figures.py."""
    return {
        "verdict": found.verdict,
        "restricted": run.restricted,
        "about": run.about,
        "models": {name: _section(found, name, shown) for name, shown in found.models.items()},
        "promises": {name: _section(found, name, shown) for name, shown in found.promises.items()},
    }


def _section(found: Findings, name: str, shown: Sequence[Any]) -> dict[str, Any]:
    return {"verdict": found.verdict_of(name), "tests": [asdict(one) for one in shown]}


def _json(document: Any) -> str:
    """Strict JSON: null for numbers that are not finite."""

    def finite(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: finite(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [finite(item) for item in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(finite(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
