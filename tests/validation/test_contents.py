"""What the report is about fits the repository: tests, files, papers and evidence that it names are there."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from limberjack.engine.tables.hinge_types import HINGE_TYPES
from tests.validation.contents import ROOT, contents, means
from tests.validation.equations import picture

CONTENTS = contents()


@cache
def functions(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_every_test_that_is_named_is_there():
    named = [test.partition("[")[0].split("::") for test in CONTENTS.tests]
    gone = [f"{file}::{name}" for file, name in named if not (ROOT / file).is_file() or name not in functions(file)]
    assert gone == []


@pytest.mark.parametrize("name", CONTENTS.models)
def test_a_page_names_papers_and_files_that_are_there_and_equations_that_can_be_set(name):
    model = CONTENTS.models[name]
    assert set(model.sources) <= set(CONTENTS.papers)
    assert [path for path in model.code if not (ROOT / path).exists()] == []
    assert all(picture(equation.tex).startswith("<img ") for equation in model.equations)
    assert len(set(model.tests)) == len(model.tests)


def test_every_hinge_type_has_a_page():
    pages = {name.removeprefix("hinge-") for name in CONTENTS.models if name.startswith("hinge-")}
    assert pages - {"forces"} == set(HINGE_TYPES) - {"fixed"}


def test_every_paper_is_cited_and_all_evidence_is_shown():
    assert set(CONTENTS.papers) == {paper for model in CONTENTS.models.values() for paper in model.sources}
    evidence = {name for standard in CONTENTS.standards for answer in standard.answers for name in answer.evidence}
    assert evidence <= set(CONTENTS.models) | set(CONTENTS.promises)
    assert not set(CONTENTS.models) & set(CONTENTS.promises)
    met = [answer for standard in CONTENTS.standards for answer in standard.answers if answer.status == "met"]
    assert all(answer.evidence for answer in met)


def test_factors_are_those_of_the_standard():
    assert [factor.title for factor in CONTENTS.factors] == [
        "Data pedigree",
        "Verification",
        "Validation",
        "Input pedigree",
        "Uncertainty characterization",
        "Results robustness",
        "M&S history",
        "M&S process and product management",
    ]


def test_a_part_of_the_parameters_chooses_cases():
    assert means("a.py::test_x", "a.py::test_x[embed-1]")
    assert means("a.py::test_x[embed", "a.py::test_x[four-embed]")
    assert not means("a.py::test_x[embed", "a.py::test_x[four-force]")
    assert not means("a.py::test_x", "a.py::test_xy")
