"""modelDescription.xml of FMI 2.0."""

from __future__ import annotations

from xml.etree import ElementTree

from limberjack.fmu.description.content import (
    Content,
    Dependencies,
    DependencyWriter,
    experiment_element,
    flag,
    float_attributes,
    initial_of,
    log_categories,
    number,
    root_attributes,
    serialised,
    text,
    type_attributes,
    unit_definitions,
    used_types,
)
from limberjack.fmu.variables.variable import Variable

#: FMI 2 numbers variables from 1 in references inside the file (section 2.2.7); value references start at 0
_FIRST = 1


def document(content: Content) -> bytes:
    """The file modelDescription.xml (FMI 2.0.5, section 2.2)."""
    root = ElementTree.Element("fmiModelDescription", root_attributes(content), guid=content.token)
    if content.has_model_exchange:
        root.set("numberOfEventIndicators", str(len(content.indicators)))
        attributes = _capabilities(content) | {"completedIntegratorStepNotNeeded": flag(True)}
        ElementTree.SubElement(root, "ModelExchange", attributes)
    variable_step = {"canHandleVariableCommunicationStepSize": flag(not content.whole_steps)}
    attributes = _capabilities(content) | variable_step
    ElementTree.SubElement(root, "CoSimulation", attributes)
    units = unit_definitions(content)
    if units is not None:
        root.append(units)
    _add_types(root, content)
    root.append(log_categories())
    root.append(experiment_element(content.experiment))
    variables = ElementTree.SubElement(root, "ModelVariables")
    for at, variable in enumerate(content.variables):
        _add_variable(variables, content, at, variable)
    _add_structure(root, content)
    return serialised(root)


def _capabilities(content: Content) -> dict[str, str]:
    """Attributes that both interface types have."""
    embedded = content.coupling == "embedded"
    return {
        "modelIdentifier": content.identifier,
        "needsExecutionTool": flag(not embedded),
        "canBeInstantiatedOnlyOncePerProcess": flag(False),
        "canNotUseMemoryManagementFunctions": flag(True),
        "canGetAndSetFMUstate": flag(True),
        "canSerializeFMUstate": flag(True),
        "providesDirectionalDerivative": flag(embedded),
    }


def _add_types(root: ElementTree.Element, content: Content) -> None:
    types = used_types(content)
    if not types:
        return
    element = ElementTree.SubElement(root, "TypeDefinitions")
    for declared in types:
        simple = ElementTree.SubElement(element, "SimpleType", name=declared.name, description=declared.description)
        ElementTree.SubElement(simple, "Real", type_attributes(declared))


def _add_variable(parent: ElementTree.Element, content: Content, at: int, variable: Variable) -> None:
    attributes = {
        "name": variable.name,
        "valueReference": str(at),
        "description": text(variable.description),
        "causality": variable.causality,
        "variability": variable.variability,
    }
    initial = initial_of(variable)
    if initial and variable.causality != "input":  # FMI 2 forbids `initial` at inputs
        attributes["initial"] = initial
    scalar = ElementTree.SubElement(parent, "ScalarVariable", attributes)
    if variable.text:
        ElementTree.SubElement(scalar, "String", start=text(str(variable.start[0])))
        return
    if variable.boolean:
        given = {"start": flag(bool(variable.start[0]))} if variable.start else {}
        ElementTree.SubElement(scalar, "Boolean", given)
        return
    real = float_attributes(variable)
    if variable.start:
        real["start"] = number(float(variable.start[0]))
    if variable.derivative_of:
        real["derivative"] = str(content.places[variable.derivative_of] + _FIRST)
    ElementTree.SubElement(scalar, "Real", real)


def _add_structure(root: ElementTree.Element, content: Content) -> None:
    """<ModelStructure>: the order of the state derivatives here is that of the states in the binary."""
    structure = ElementTree.SubElement(root, "ModelStructure")
    writer = DependencyWriter(_FIRST)
    lists: tuple[tuple[str, tuple[int, ...], Dependencies], ...] = (
        ("Outputs", content.outputs, content.dependencies),
        ("Derivatives", content.derivatives, content.dependencies),
        ("InitialUnknowns", content.initial_unknowns, content.initial_dependencies),
    )
    for name, unknowns, dependencies in lists:
        if not unknowns:
            continue  # an empty list is not allowed
        element = ElementTree.SubElement(structure, name)
        for at in unknowns:
            attributes = {"index": str(at + _FIRST)} | writer.attributes(dependencies[at])
            ElementTree.SubElement(element, "Unknown", attributes)
