"""All formats in which the dictionary of a model can be written, for consoles and people."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from limberjack.engine.common.errors import ArgumentError

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.dictionary import Dictionary
    from limberjack.engine.api.simulation import Simulation


@dataclass(frozen=True)
class Subject:
    """What is exported.

    simulation : of the model, at rest;  dictionary : of it;  packets : file of CCSDS packet sets, None for the default
    """

    simulation: Simulation
    dictionary: Dictionary
    packets: Path | None = None


#: the text of a file, or of a folder's files by their path in it
Files = str | Mapping[str, str]


@dataclass(frozen=True)
class Export:
    """One format.

    name : as `limberjack dictionary --format` has it;  suffix : of its file; "" of one that is a folder
    help : one line;  factory : "module:function" below this package, which makes Files of a Subject
    uses_packets : whether a file of packet sets changes it
    """

    name: str
    suffix: str
    help: str
    factory: str
    uses_packets: bool = field(default=False, kw_only=True)

    def make(self, subject: Subject) -> Files:
        """The export. Raises ArgumentError for packets that this format does not have."""
        if subject.packets is not None and not self.uses_packets:
            raise ArgumentError(f"a dictionary in the format {self.name} has no packets; leave --packets out.")
        module, _, function = self.factory.partition(":")
        made: Callable[[Subject], Files] = getattr(importlib.import_module(module, __package__), function)
        return made(subject)


#: in the order of `limberjack dictionary --help`; a new format is a line here
EXPORTS = (
    Export("markdown", ".md", "tables for people", ".markdown:export"),
    Export("xtce", ".xml", "XTCE 1.2 of the CCSDS packets", "..ccsds.xtce:export", uses_packets=True),
    Export("openmct", ".json", "domain objects of NASA Open MCT", ".openmct:export"),
    Export("yamcs", "", "files of a Yamcs instance for the CCSDS packets", ".yamcs:export", uses_packets=True),
    Export("foxglove", ".json", "JSON Schemas of the Foxglove topics", "..outlets.rows:export"),
    Export("fprime", ".json", "JSON dictionary of F Prime's ground system", ".fprime:export"),
    Export("cosmos", "", "OpenC3 COSMOS plugin for the CCSDS packets", ".cosmos:export", uses_packets=True),
)


def export_of(name: str) -> Export:
    """The format of this name. ArgumentError with those that there are."""
    for export in EXPORTS:
        if export.name == name:
            return export
    raise ArgumentError(f"no format is called '{name}'; choose one of {', '.join(each.name for each in EXPORTS)}.")
