"""The documentation inside an FMU: well-formed, complete, self-contained, safe against any name."""

from __future__ import annotations

import importlib.metadata
import json
from html.parser import HTMLParser

import numpy as np
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from limberjack.fmu.description import documentation, reference
from limberjack.fmu.description.pages import chart
from tests.fmu import contents

_VOID = {"meta", "img", "br", "line", "polyline"}
#: the places from which nothing but the FMU's own files may come
_REFERENCES = ("src", "href", "data", "poster")


class Page(HTMLParser):
    """Tags that are opened and closed in order, texts, references."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.references: list[str] = []
        self.feed(body.decode("utf-8"))
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.references += [value for name, value in attrs if name in _REFERENCES]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def files_of(name, *kind):
    made = contents.content(name, *kind)
    return made, documentation.files(made, reference.compute(made), b"PNG")


@pytest.mark.parametrize("kind", contents.KINDS, ids="-".join)
@pytest.mark.parametrize("name", contents.MODELS)
def test_the_page_is_well_formed_and_self_contained(name, kind):
    _, files = files_of(name, *kind)
    page = Page(files["documentation/index.html"])
    assert page.open == []
    assert "script" not in page.tags
    for target in page.references:
        assert f"documentation/{target}" in files, target
    for word in ("http:", "https:", "@import", "url("):
        assert word not in files["documentation/index.html"].decode()


@pytest.mark.parametrize("kind", contents.KINDS, ids="-".join)
def test_every_variable_body_and_hinge_is_listed(kind):
    made, files = files_of("awkward", *kind)
    page = Page(files["documentation/index.html"])
    for variable in made.variables:
        assert variable.name in page.text
    for body in made.system.bodies:
        assert body.name in page.texts
        assert body.hinge.name in page.texts
    assert "An <awkward> & 'quoted' model" in page.texts


def test_what_the_page_says_about_the_numerics():
    _, files = files_of("space_manipulator")
    text = Page(files["documentation/index.html"]).text
    for said in ("Runge-Kutta", "dt = 0.001 s", "0 to 10 s, step 0.01 s", "2110 kg", "Model Exchange", "14, 13"):
        assert said in text


def test_what_the_page_says_about_instruments_motors_and_valves():
    _, files = files_of("equipped")
    text = Page(files["documentation/index.html"]).text
    for said in (
        "Instruments, motors, valves",
        "is refused (discarded)",
        "noise.seed",
        "so there is no Model Exchange",
    ):
        assert said in text
    assert "Event indicators" not in text


def test_only_the_process_coupling_has_external_dependencies():
    _, embedded = files_of("space_manipulator")
    made, process = files_of("space_manipulator", "3.0", "arrays", "process")
    name = "documentation/externalDependencies.txt"
    assert name not in embedded
    text = process[name].decode()
    assert importlib.metadata.version("limberjack") in text
    for variable in made.variables:
        if variable.name.startswith("engine."):
            assert variable.name in text
    assert "Model Exchange" not in Page(process["documentation/index.html"]).text.replace("No Model Exchange", "")


def test_licences():
    _, embedded = files_of("plain")
    assert "compiler-rt" in embedded["documentation/licenses/license.txt"].decode()
    _, process = files_of("plain", "3.0", "arrays", "process")
    assert "Mozilla Public License" in process["documentation/licenses/libzmq.txt"].decode()
    assert "ISC" in process["documentation/licenses/libsodium.txt"].decode()


@pytest.mark.parametrize("coupling", ["embedded", "process"])
def test_the_bill_of_materials_is_cyclonedx_and_names_what_is_carried(coupling):
    _, files = files_of("plain", "3.0", "arrays", coupling)
    written = files["extra/org.limberjack/sbom.cdx.json"].decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(written) is None
    names = {component["name"] for component in json.loads(written)["components"]}
    assert {"limberjack", "compiler-rt"} <= names
    assert ({"libzmq", "libsodium"} <= names) == (coupling == "process")
    assert b"Version 2.0, January 2004" in files["documentation/licenses/apache-2.0.txt"]


def test_long_chains_do_not_nest():
    """A body's depth is an indentation with a bound, not a nesting of elements."""
    body = documentation.index(*_chain(400)).decode()
    page = Page(body.encode())
    assert page.open == []
    assert body.count("padding-left:17.6rem") > 300


def _chain(n):
    from limberjack.engine.model.system import Body, Hinge, Pose, System
    from limberjack.engine.model.validate import validate
    from limberjack.fmu.description.content import Content, default_experiment

    ahead = Pose(position=np.array([0.2, 0.0, 0.0]))
    hinges = (
        Hinge(f"h{i}", "revolute", f"b{i - 1}" if i else None, inboard=ahead, axes=np.eye(3)[1:2]) for i in range(n)
    )
    system = validate(System("chain", tuple(Body(f"b{i}", contents.SOLID, hinge) for i, hinge in enumerate(hinges))))
    made = Content(system, (), {}, {}, "chain", default_experiment(1e-3), 1e-3, "rk4")
    return made, reference.Reference(("time",), np.zeros((1, 1)), 0.05, 0.01)


@pytest.mark.parametrize("curve", [np.zeros(3), np.full(3, 1e9), np.array([-1.0, 0.0, 1e-30])])
def test_charts_of_constant_curves_stay_in_the_picture(curve):
    drawn = chart(np.array([0.0, 1.0, 2.0]), [("a", curve)], "rad")
    page = Page(drawn.encode())
    assert page.open == []
    points = drawn.split('points="')[1].split('"')[0].split()
    ys = [float(point.split(",")[1]) for point in points]
    assert all(0.0 <= y <= 300.0 for y in ys)
