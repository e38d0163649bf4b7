"""modelDescription.xml of FMI 3.0."""

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
    numbers,
    root_attributes,
    serialised,
    text,
    type_attributes,
    unit_definitions,
    used_types,
)
from limberjack.fmu.variables.variable import Variable


def document(content: Content) -> bytes:
    """The file modelDescription.xml (FMI 3.0.2, section 2.4)."""
    root = ElementTree.Element("fmiModelDescription", root_attributes(content), instantiationToken=content.token)
    if content.has_model_exchange:
        ElementTree.SubElement(root, "ModelExchange", _capabilities(content))
    ElementTree.SubElement(root, "CoSimulation", _co_simulation(content))
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
        "canGetAndSetFMUState": flag(True),
        "canSerializeFMUState": flag(True),
        "providesDirectionalDerivatives": flag(embedded),
        "providesAdjointDerivatives": flag(embedded),
    }


def _co_simulation(content: Content) -> dict[str, str]:
    """Attributes of Co-Simulation."""
    return _capabilities(content) | {
        "canHandleVariableCommunicationStepSize": flag(not content.whole_steps),
        "fixedInternalStepSize": number(content.dt),
        "providesIntermediateUpdate": flag(True),
        "canReturnEarlyAfterIntermediateUpdate": flag(True),
        "hasEventMode": flag(False),
    }


def _add_types(root: ElementTree.Element, content: Content) -> None:
    types = used_types(content)
    if not types:
        return
    element = ElementTree.SubElement(root, "TypeDefinitions")
    for declared in types:
        names = {"name": declared.name, "description": declared.description}
        ElementTree.SubElement(element, "Float64Type", names | type_attributes(declared))


def _add_variable(parent: ElementTree.Element, content: Content, at: int, variable: Variable) -> None:
    attributes = {
        "name": variable.name,
        "valueReference": str(at),
        "description": text(variable.description),
        "causality": variable.causality,
        "variability": variable.variability,
    }
    initial = initial_of(variable)
    if initial and variable.causality != "input":  # it is the default there, and some importers refuse it when written
        attributes["initial"] = initial
    if variable.text:
        element = ElementTree.SubElement(parent, "String", attributes)
        ElementTree.SubElement(element, "Start", value=text(str(variable.start[0])))
        return
    if variable.boolean:
        attributes |= {"start": flag(bool(variable.start[0]))} if variable.start else {}
        ElementTree.SubElement(parent, "Boolean", attributes)
        return
    attributes |= float_attributes(variable)
    if variable.start:
        attributes["start"] = numbers([float(value) for value in variable.start])
    if variable.derivative_of:
        attributes["derivative"] = str(content.places[variable.derivative_of])
    element = ElementTree.SubElement(parent, "Float64", attributes)
    if variable.array:
        ElementTree.SubElement(element, "Dimension", start=str(variable.size))


def _add_structure(root: ElementTree.Element, content: Content) -> None:
    """<ModelStructure>: the order of the state derivatives here is that of the states in the binary."""
    structure = ElementTree.SubElement(root, "ModelStructure")
    writer = DependencyWriter(0)
    lists: tuple[tuple[str, tuple[int, ...], Dependencies], ...] = (
        ("Output", content.outputs, content.dependencies),
        ("ContinuousStateDerivative", content.derivatives, content.dependencies),
        ("InitialUnknown", content.initial_unknowns, content.initial_dependencies),
        ("EventIndicator", content.indicators, content.dependencies),
    )
    for name, unknowns, dependencies in lists:
        for at in unknowns:
            attributes = {"valueReference": str(at)} | writer.attributes(dependencies[at])
            ElementTree.SubElement(structure, name, attributes)
