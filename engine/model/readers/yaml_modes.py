"""The modes of a flexible body in a YAML model: its file of modal data, and what of it the model takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.elements.facts import values
from limberjack.engine.model.elements.flexible import Flexible
from limberjack.engine.model.readers.schema import BodySpec
from limberjack.engine.modes.data import ModalData
from limberjack.engine.modes.integrals import integrals
from limberjack.engine.modes.modal import Integrals
from limberjack.engine.modes.modal_file import read_modal_data


def read_modes(index: int, spec: BodySpec, document: Document) -> tuple[Integrals, list[str]]:
    """The modal integrals of a body, and what to warn of. ModelError for a file that cannot be read, and for nodes it
    does not have."""
    wanted, path = Flexible(**values(Flexible, spec.flexible)), ("bodies", index, "flexible")
    data = _read(wanted, document, path)
    inboard = wanted.inboard or data.inboard or None
    attachments = [name for name in data.interface if name != inboard]
    attachments = wanted.attachments if wanted.attachments is not None else attachments
    if wanted.damping is not None:
        data = replace(data, damping=np.full(data.modes, wanted.damping))
    try:
        made = integrals(data, inboard, attachments, wanted.modes, wanted.variant, wanted.geometric)
        return made, _findings(wanted, data, spec.name, document, path)
    except ArgumentError as error:
        remedy = (
            f"'{wanted.file}' has {data.modes} modes, and the interface nodes {', '.join(data.interface) or 'none'}"
        )
        raise ModelError(str(error).rstrip("."), where=document.place(path), remedy=remedy) from None


def _findings(
    wanted: Flexible, data: ModalData, name: str, document: Document, path: tuple[str | int, ...]
) -> list[str]:
    """Stiffening that is asked for, but of which the file says nothing."""
    if not wanted.geometric or wanted.variant == "linearized" or not data.modes:
        return []
    if data.foreshortening is not None or data.stress is not None:
        return []
    return [
        f"{document.place(path)}: '{name}' has no geometric stiffening: '{wanted.file}' holds no geometric data, so "
        "it softens when it spins or carries an axial load. Give the description `stress` "
        "(docs/how-to/modes.md), or say `geometric: false`."
    ]


def _read(wanted: Flexible, document: Document, path: tuple[str | int, ...]) -> ModalData:
    file = Path(document.file).parent / wanted.file
    if not file.is_file():
        what = f"the file '{wanted.file}' does not exist beside the model"
        remedy = "Make it with `limberjack modes`, or give its path from the model file's folder"
        raise ModelError(what, where=document.place((*path, "file")), remedy=remedy)
    return read_modal_data(file)
