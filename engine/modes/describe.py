"""A description file (YAML) to modal data: read, build the structure, reduce, select."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import ValidationError

from limberjack.engine.algebra.ranks import first_smallest
from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.common.names import some_names
from limberjack.engine.files.yaml_document import Document, read_document
from limberjack.engine.modes.calculix import calculix_results
from limberjack.engine.modes.data import ModalData
from limberjack.engine.modes.description import (
    BeamSpec,
    DescriptionSpec,
    FrameSpec,
    MassSpec,
    MaterialSpec,
    NodeSpec,
    SectionSpec,
    TieSpec,
    vector,
)
from limberjack.engine.modes.description_errors import description_error
from limberjack.engine.modes.effective_mass import choose_modes
from limberjack.engine.modes.frame import Beam, Frame, PointMass
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.matrices import matrix_structure, tied
from limberjack.engine.modes.matrix_stress import deck_steps, matrix_stress, structure_loads
from limberjack.engine.modes.nastran import nastran_results
from limberjack.engine.modes.reduction import Reduction, reduce_structure
from limberjack.engine.modes.results import result_loads, results_modal_data
from limberjack.engine.modes.structure import Structure

Named = TypeVar("Named", NodeSpec, MaterialSpec, SectionSpec)


def read_description(path: str | Path) -> tuple[DescriptionSpec, Document]:
    """The checked description and its lines. ModelError with file, line, field, cause and remedy."""
    document = read_document(Path(path))
    content = document.root.plain()
    if not isinstance(content, dict):
        remedy = "Begin with 'limberjack_modes: 1'; see docs/how-to/modes.md"
        raise ModelError("the file is not a mapping of fields", where=document.place(()), remedy=remedy)
    if "limberjack" in content and "limberjack_modes" not in content:
        remedy = "Give the description of a flexible body; see docs/how-to/modes.md"
        raise ModelError(
            "this is a model, not a description of modes", where=document.place(("limberjack",)), remedy=remedy
        )
    try:
        return DescriptionSpec.model_validate(content), document
    except ValidationError as error:
        raise description_error(error, document) from None


def modal_data_of(path: str | Path) -> ModalData:
    """The modal data that a description asks for.

    Raises ModelError for what the file or the files it names have wrong, MissingExtraError without SciPy.
    """
    spec, document = read_description(path)
    how = spec.reduction
    try:
        data = _reduced(spec, document)
        if how.select.effective_mass > 0.0 or how.select.below is not None:
            data = choose_modes(data, how.select.effective_mass, how.select.below or np.inf)
    except ArgumentError as error:
        raise ModelError(str(error).removesuffix("."), where=document.place(("reduction",))) from None
    except ModelError as error:
        raise _placed(error, document) from None
    return data


def write_unit_loads(path: str | Path, out: str | Path) -> int:
    """Write the static steps whose stresses a description's `stress` names; returns how many. ModelError, OSError."""
    spec, document = read_description(path)
    inboard = "" if spec.reduction.inboard is None else str(spec.reduction.inboard)
    ties = [item for item in spec.interface if isinstance(item, TieSpec)]
    folder = Path(document.file).parent
    try:
        if not inboard or (spec.calculix is None and spec.matrices is None):
            what = "unit loads are those of a CalculiX mesh that is held at an inboard node"
            remedy = "Give results or matrices of CalculiX, and cantilever or Craig-Bampton modes"
            raise ModelError(what, where=document.place(("reduction",)), remedy=remedy)
        if spec.calculix is not None:
            found = calculix_results(spec.calculix, folder)
            assert found.deck is not None
            steps, (names, loads) = found.deck, result_loads(found, ties, inboard)
        else:
            assert spec.matrices is not None
            structure = matrix_structure(spec.name, spec.matrices, folder)
            steps, (names, loads) = (
                deck_steps(spec.matrices, structure, folder),
                structure_loads(structure, ties, inboard),
            )
        steps.write(Path(out), names, loads)
    except ModelError as error:
        raise _placed(error, document) from None
    return len(names)


def _reduced(spec: DescriptionSpec, document: Document) -> ModalData:
    """All modes that are asked for, computed or read."""
    how, folder = spec.reduction, Path(document.file).parent
    names = tuple(item.name if isinstance(item, TieSpec) else str(item) for item in spec.interface)
    ties = [item for item in spec.interface if isinstance(item, TieSpec)]
    if spec.calculix is not None:
        return results_modal_data(spec.name, calculix_results(spec.calculix, folder), ties, names, how)
    if spec.nastran is not None:
        return results_modal_data(spec.name, nastran_results(spec.nastran, folder), ties, names, how)
    inboard = "" if how.inboard is None else str(how.inboard)
    request = Reduction(how.kind, inboard, names, how.modes, how.damping)
    return reduce_structure(_structure(spec, ties, document), request)


def _structure(spec: DescriptionSpec, ties: list[TieSpec], document: Document) -> Structure:
    """The structure before reduction."""
    if spec.frame is not None:
        _no_ties(spec, document)
        return frame_structure(frame_of(spec.name, spec.frame, document), spec.frame.mass)
    assert spec.matrices is not None
    folder, inboard = Path(document.file).parent, spec.reduction.inboard
    loose = matrix_structure(spec.name, spec.matrices, folder)
    stress = matrix_stress(spec.matrices, loose, ties, "" if inboard is None else str(inboard), folder)
    return replace(tied(loose, ties), stress=stress)


def _placed(error: ModelError, document: Document) -> ModelError:
    """The error with the description's file in front, if it names no file itself."""
    if not error.where.startswith(("frame '", "structure '", "interface", "mass matrix", "modal data '")):
        return error
    return ModelError(error.what, where=f"{document.file}, {error.where}", remedy=error.remedy)


def _no_ties(spec: DescriptionSpec, document: Document) -> None:
    for i, item in enumerate(spec.interface):
        if isinstance(item, TieSpec):
            what = "nodes of a frame turn themselves, so that no set of nodes needs to be tied"
            raise ModelError(
                what,
                where=document.place(("interface", i)),
                remedy="Name a node of the frame; join it to others by stiff beams",
            )


def frame_of(name: str, spec: FrameSpec, document: Document) -> Frame:
    """The frame with beams that know their lines. ModelError for names that are not there or given twice."""
    for group in ("nodes", "materials", "sections"):
        seen: set[str] = set()
        for i, item in enumerate(getattr(spec, group)):
            if item.name in seen:
                where = document.place(("frame", group, i, "name"))
                raise ModelError(f"two {group} are called '{item.name}'", where=where, remedy="Rename one")
            seen.add(item.name)
    parts = _Parts(spec)
    return Frame(
        name,
        tuple(node.name for node in spec.nodes),
        np.array([node.position for node in spec.nodes], dtype=float),
        tuple(_beam(i, beam, parts, document) for i, beam in enumerate(spec.beams)),
        tuple(_mass(i, mass, parts, document) for i, mass in enumerate(spec.masses)),
    )


class _Parts:
    """Nodes, materials and sections by name."""

    def __init__(self, spec: FrameSpec) -> None:
        self.nodes = {item.name: item for item in spec.nodes}
        self.materials = {item.name: item for item in spec.materials}
        self.sections = {item.name: item for item in spec.sections}


def _beam(i: int, beam: BeamSpec, spec: _Parts, document: Document) -> Beam:
    place = ("frame", "beams", i)
    section = _find(spec.sections, beam.section, "section", document.place((*place, "section"))).section()
    material = _find(spec.materials, beam.material, "material", document.place((*place, "material"))).material()
    ends = (
        _find(spec.nodes, beam.inboard, "node", document.place((*place, "from"))),
        _find(spec.nodes, beam.to, "node", document.place((*place, "to"))),
    )
    if beam.up is None and (section.y != section.z or section.shear_y != section.shear_z):
        what = f"the section '{beam.section}' bends differently about its two axes, but 'up' is missing"
        raise ModelError(what, where=document.place(place), remedy="Give up: the direction of the section's z axis")
    along = vector(ends[1].position) - vector(ends[0].position)
    up = np.eye(3)[first_smallest(np.abs(along))] if beam.up is None else vector(beam.up)
    return Beam((ends[0].name, ends[1].name), section, material, up, beam.elements, document.place(place))


def _find(items: Mapping[str, Named], name: str, kind: str, where: str) -> Named:
    if name in items:
        return items[name]
    remedy = f"Use one of: {some_names(items)}"
    raise ModelError(f"there is no {kind} '{name}'", where=where, remedy=remedy)


def _mass(i: int, mass: MassSpec, spec: _Parts, document: Document) -> PointMass:
    place = ("frame", "masses", i)
    _find(spec.nodes, mass.node, "node", document.place((*place, "node")))
    inertia = vector(mass.inertia) if isinstance(mass.inertia, list) else mass.inertia.matrix()  # type: ignore[arg-type]
    if np.abs(inertia - inertia.T).max() > 1e-9 * np.abs(inertia).max() or np.linalg.eigvalsh(inertia)[0] < -1e-12:
        what = "the inertia is not that of a body: it must be symmetric, without negative principal moments"
        raise ModelError(what, where=document.place((*place, "inertia")), remedy="Correct the moments of inertia")
    return PointMass(mass.node, mass.mass, vector(mass.com), inertia)
