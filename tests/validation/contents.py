"""What the report is about, read from the files beside this one: models, promises, standards and the tests of each.

Figures and verdicts never stand here; they come from the run.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

#: a test function and, after "[", a part of the names of those of its cases that are meant: file::function[part
_TEST = re.compile(r"^tests/(\w+/)*test_\w+\.py::test_\w+(\[\S+)?$")

Text = Annotated[str, Field(min_length=1)]
Test = Annotated[str, Field(pattern=_TEST)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Equation(_Part):
    """tex : a formula that Matplotlib sets;  text : what it says, where it does not speak for itself"""

    tex: Text
    text: str = ""


class Model(_Part):
    """A page of a physical model. sources : name in papers.yaml → equations, tables or pages there"""

    title: Text
    summary: Text
    equations: list[Equation] = Field(min_length=1)
    symbols: str = ""
    sources: dict[str, str] = Field(min_length=1)
    code: list[Text] = Field(min_length=1)
    assumptions: list[Text] = Field(min_length=1)
    range: list[Text] = Field(min_length=1)
    open: list[Text] = Field(default=[], description="what no test here shows")
    tests: list[Test] = Field(min_length=1)


class Promise(_Part):
    """A requirement that the product sets itself."""

    requirement: Text
    tests: list[Test] = Field(min_length=1)


class Factor(_Part):
    """A credibility factor of NASA-STD-7009: what it asks, what there is for it, what the user adds."""

    title: Text
    asks: Text
    here: Text
    user: Text
    models: bool = Field(default=False, description="whether the pages of models are evidence for it")
    promises: dict[str, Promise] = {}


class Answer(_Part):
    """A question of a standard. evidence : promises and models whose results in this run bear the answer"""

    clause: Text
    asks: Text
    status: Literal["met", "in part", "user"]
    answer: Text
    evidence: list[Text] = []


class Standard(_Part):
    title: Text
    about: Text
    answers: list[Answer] = Field(min_length=1)


class Chapter(_Part):
    title: Text
    models: list[Text] = Field(min_length=1)


class Contents(_Part):
    """All that the report is about, in its order."""

    chapters: list[Chapter]
    models: dict[str, Model]
    factors: list[Factor]
    standards: list[Standard]
    papers: dict[str, str]

    @property
    def promises(self) -> dict[str, Promise]:
        """Every promise by its name."""
        return {name: promise for factor in self.factors for name, promise in factor.promises.items()}

    @property
    def tests(self) -> list[str]:
        """Every test that a page or a promise names, once."""
        parts: list[Model | Promise] = [*self.models.values(), *self.promises.values()]
        return list(dict.fromkeys(test for part in parts for test in part.tests))


@cache
def contents() -> Contents:
    """The files as they are. ValueError where one does not fit the others."""
    chapters = [Chapter(**fields) for fields in _read("chapters")]
    listed = [name for chapter in chapters for name in chapter.models]
    there = {path.stem for path in (HERE / "models").glob("*.yaml")}
    if len(listed) != len(set(listed)) or set(listed) != there:
        raise ValueError(f"chapters.yaml and models/ differ by {sorted(there ^ set(listed)) or 'a name given twice'}")
    return Contents(
        chapters=chapters,
        models={name: Model(**_read(f"models/{name}")) for name in listed},
        factors=[Factor(**fields) for fields in _read("promises")],
        standards=[Standard(**fields) for fields in _read("standards")],
        papers=_read("papers"),
    )


def _read(name: str) -> Any:
    return yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))


def means(test: str, case: str) -> bool:
    """Whether a test of the contents means this case of a run. case : pytest's node id"""
    function, bracket, part = test.partition("[")
    head, _, parameters = case.partition("[")
    return head == function and (not bracket or part in parameters)
