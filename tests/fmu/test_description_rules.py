"""Rules of FMI 2.0.5 and 3.0.2 on model descriptions, read from the XML alone."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from limberjack.fmu.description.content import Content
from tests.fmu import contents

ALL = [(name, *kind) for name in contents.MODELS for kind in contents.KINDS]


class Read:
    """A model description, with every reference as a place in the list of variables."""

    def __init__(self, made: Content) -> None:
        self.root = ElementTree.fromstring(contents.document(made))
        self.fmi2 = self.root.get("fmiVersion") == "2.0"
        elements = list(self.root.find("ModelVariables"))
        self.variables = (
            [dict(element.attrib) | dict(element[0].attrib) for element in elements]
            if self.fmi2
            else [dict(element.attrib) for element in elements]
        )
        self.kinds = [(element[0] if self.fmi2 else element).tag for element in elements]
        self.sizes = [math.prod(int(d.get("start")) for d in element.findall("Dimension")) for element in elements]
        for variable, element in zip(self.variables, elements):
            if self.fmi2:
                variable["start"] = element[0].get("start")
            elif element.find("Start") is not None:
                variable["start"] = element.find("Start").get("value")

    def place(self, reference: str) -> int:
        return int(reference) - self.fmi2

    def unknowns(self, fmi3: str, fmi2: str) -> list[tuple[int, list[int], list[str]]]:
        """(place, places of the knowns, their kinds) of a list of the model structure."""
        structure = self.root.find("ModelStructure")
        if self.fmi2:
            found = structure.find(fmi2)
            entries = [] if found is None else list(found)
        else:
            entries = structure.findall(fmi3)
        return [
            (
                self.place(entry.get("index" if self.fmi2 else "valueReference")),
                [self.place(text) for text in entry.get("dependencies").split()],
                entry.get("dependenciesKind").split(),
            )
            for entry in entries
        ]

    def lists(self) -> dict[str, list[tuple[int, list[int], list[str]]]]:
        names = {
            "outputs": ("Output", "Outputs"),
            "derivatives": ("ContinuousStateDerivative", "Derivatives"),
            "initial": ("InitialUnknown", "InitialUnknowns"),
            "indicators": ("EventIndicator", "no such list"),
        }
        return {name: self.unknowns(*tags) for name, tags in names.items()}

    def states(self) -> list[int]:
        """Places of the states, in the order of their derivatives."""
        return [self.place(self.variables[at]["derivative"]) for at, _, _ in self.lists()["derivatives"]]


@pytest.fixture(params=ALL, ids=lambda p: "-".join(p))
def made(request):
    return contents.content(*request.param)


def test_start_values_stand_exactly_where_initial_asks_for_them(made):
    read = Read(made)
    for variable in read.variables:
        causality, initial = variable["causality"], variable.get("initial")
        has_start = variable.get("start") is not None
        if causality == "independent":
            assert initial is None
            assert not has_start
        elif causality == "input":
            assert initial is None  # exact is the default, and some importers refuse it written
            assert has_start
        else:
            assert has_start == (initial == "exact"), variable
        if causality == "parameter":
            assert initial == "exact"
            assert variable["variability"] in ("fixed", "tunable")


def test_names_and_value_references_are_unique_and_in_order(made):
    read = Read(made)
    names = [variable["name"] for variable in read.variables]
    assert len(set(names)) == len(names)
    assert [int(variable["valueReference"]) for variable in read.variables] == list(range(len(names)))
    assert names[0] == "time"
    assert [v["causality"] for v in read.variables].count("independent") == 1


def test_the_lists_of_the_model_structure_are_complete(made):
    read = Read(made)
    lists = {name: [at for at, _, _ in entries] for name, entries in read.lists().items()}
    for places in lists.values():
        assert len(set(places)) == len(places)
    outputs = [at for at, v in enumerate(read.variables) if v["causality"] == "output"]
    assert lists["outputs"] == outputs
    expected = {at for at in outputs if read.variables[at]["initial"] == "calculated"}
    for derivative, state in zip(lists["derivatives"], read.states(), strict=True):
        expected |= {at for at in (derivative, state) if read.variables[at]["initial"] == "calculated"}
    assert lists["initial"] == sorted(expected)


def test_states_are_q_then_v_with_the_systems_start(made):
    read, system = Read(made), made.system
    states = read.states()
    if not made.has_model_exchange:
        assert states == []
        return
    start = [float(text) for at in states for text in read.variables[at]["start"].split()]
    assert np.array_equal(start, np.concatenate([system.q0, system.v0]))
    for at in states:
        assert read.variables[at]["causality"] in ("output", "local")
        assert read.variables[at]["variability"] == "continuous"


def test_dependencies_name_knowns_in_ascending_order_with_a_kind_each(made):
    read = Read(made)
    states = set(read.states())
    inputs = {at for at, v in enumerate(read.variables) if v["causality"] == "input"}
    parameters = {at for at, v in enumerate(read.variables) if v["causality"] == "parameter"}
    exact = {at for at, v in enumerate(read.variables) if v.get("initial") == "exact"}
    running = inputs | states | {0} | (set() if read.fmi2 else parameters)
    for name, entries in read.lists().items():
        knowns = inputs | exact | {0} if name == "initial" else running
        for _, places, kinds in entries:
            assert places == sorted(set(places))
            assert set(places) <= knowns
            assert len(kinds) == len(places)
            assert set(kinds) <= {"dependent", "constant"}


def test_units_types_and_ranges_hold_together(made):
    read = Read(made)
    shown = {u.get("name"): {d.get("name") for d in u.findall("DisplayUnit")} for u in read.root.iter("Unit")}
    types = {element.get("name") for element in read.root.find("TypeDefinitions")}
    names = {variable["name"] for variable in read.variables}
    assert not types & names
    for variable in read.variables:
        if "unit" in variable:
            assert variable["unit"] in shown
        if "displayUnit" in variable:
            assert variable["displayUnit"] in shown[variable["unit"]]
        if "declaredType" in variable:
            assert variable["declaredType"] in types
        low, high = float(variable.get("min", "-inf")), float(variable.get("max", "inf"))
        assert low < high
        if variable.get("start") and ("min" in variable or "max" in variable):
            assert all(low <= float(text) <= high for text in variable["start"].split())


def test_numbers_read_back_to_the_same_bits(made):
    read = Read(made)
    for variable, given, kind in zip(read.variables, made.variables, read.kinds, strict=True):
        if given.start and kind in ("Real", "Float64"):
            assert tuple(float(text) for text in variable["start"].split()) == given.start


def test_indicators_are_counted(made):
    read = Read(made)
    if read.fmi2:
        expected = str(len(made.indicators)) if made.has_model_exchange else None
        assert read.root.get("numberOfEventIndicators") == expected
    else:
        assert len(read.lists()["indicators"]) == len(made.indicators)
    for at in made.indicators:
        assert made.variables[at].causality == "local"


def test_array_dimensions(made):
    read = Read(made)
    for given, size in zip(made.variables, read.sizes, strict=True):
        assert size == given.size  # the product of no dimensions is 1
    if made.fmi == "2.0":
        assert not list(read.root.iter("Dimension"))


def test_log_categories_are_those_of_the_binaries(made):
    shim = (contents.SHIM / "instance.h").read_text()
    used = set(re.findall(r'#define CATEGORY_\w+ "(\w+)"', shim))
    assert {category.get("name") for category in Read(made).root.iter("Category")} == used


@pytest.mark.parametrize("kind", contents.KINDS, ids="-".join)
def test_capabilities(kind):
    made = contents.content("space_manipulator", *kind)
    root = Read(made).root
    cs, me = root.find("CoSimulation"), root.find("ModelExchange")
    assert cs.get("canHandleVariableCommunicationStepSize") == ("true" if kind[2] == "embedded" else "false")
    assert cs.get("needsExecutionTool") == ("true" if kind[2] == "process" else "false")
    assert (me is None) == (kind[2] == "process")
    derivatives = "providesDirectionalDerivative" + ("" if kind[0] == "2.0" else "s")
    assert cs.get(derivatives) == ("true" if kind[2] == "embedded" else "false")
    state = "canGetAndSetFMU" + ("state" if kind[0] == "2.0" else "State")
    assert cs.get(state) == "true"
    if kind[0] == "3.0":
        assert float(cs.get("fixedInternalStepSize")) == made.dt
