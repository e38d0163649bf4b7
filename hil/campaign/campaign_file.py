"""Campaign file to a checked `Campaign`."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import read_bytes
from limberjack.engine.files.yaml_document import read_document
from limberjack.engine.model.archive import MOST_BYTES
from limberjack.engine.model.readers.schema_errors import Dialect, validated
from limberjack.hil.campaign.schema import MOST_RUNS, CampaignSpec, EvenSpec, Scalar, VarySpec

PAGE = "docs/how-to/campaigns.md"
_DIALECT = Dialect(CampaignSpec, PAGE)


@dataclass(frozen=True)
class Campaign:
    """A campaign and where it was read.

    spec : its fields;  file, scenario : absolute paths
    """

    spec: CampaignSpec
    file: Path
    scenario: Path

    @property
    def total(self) -> int:
        """Number of runs."""
        return self.spec.runs * math.prod(len(values) for values in self.grids().values())

    def grids(self) -> dict[str, Sequence[Scalar]]:
        """Path → values of those that are varied on a grid."""
        return {path: grid_values(vary) for path, vary in self.spec.vary.items() if vary.grid is not None}

    def digest(self) -> str:
        """SHA-256 of campaign, scenario and model file. ModelError if the scenario is not YAML."""
        content = read_document(self.scenario).root.plain()
        model = self.scenario.parent / str(content.get("model", "")) if isinstance(content, dict) else self.scenario
        files = [self.file, self.scenario, *([model] if model.is_file() else [])]
        return hashlib.sha256(
            b"".join(hashlib.sha256(read_bytes(file, MOST_BYTES)).digest() for file in files)
        ).hexdigest()


def grid_values(vary: VarySpec) -> Sequence[Scalar]:
    """The values of a grid; evenly spaced ones are first + k (last - first) / (count - 1)."""
    grid = vary.grid
    if isinstance(grid, EvenSpec):
        step = grid.last - grid.first
        return [grid.first + k * step / (grid.count - 1) for k in range(grid.count - 1)] + [grid.last]
    return grid or ()


def load_campaign(path: Path | str) -> Campaign:
    """Read and check a campaign file; its scenario must be there, and is checked when it is run.

    ModelError with file, line and field path for whatever is wrong with it.
    """
    file = Path(path).resolve()
    document = read_document(Path(path))
    if not isinstance(document.root.content, dict):
        remedy = f"Begin with 'limberjack_campaign: 1'; see {PAGE}"
        raise ModelError("the file is not a mapping of fields", where=document.place(()), remedy=remedy)
    for field, kind, command in (("limberjack_scenario", "scenario", "hil"), ("limberjack", "model", "run")):
        if field in document.root.content and "limberjack_campaign" not in document.root.content:
            remedy = f"Pass it to 'limberjack {command}', or give a campaign; see {PAGE}"
            raise ModelError(f"this is a {kind}, not a campaign", where=document.place((field,)), remedy=remedy)
    spec = validated(CampaignSpec, document, _DIALECT)
    campaign = Campaign(spec, file, file.parent / spec.scenario)
    if not campaign.scenario.is_file():
        raise ModelError(
            f"there is no scenario {spec.scenario}",
            where=document.place(("scenario",)),
            remedy=f"Give its path from {file.parent}",
        )
    if campaign.total > MOST_RUNS:
        what = f"runs and grids make {campaign.total} runs, more than {MOST_RUNS}"
        raise ModelError(what, where=document.place(("vary",)), remedy="Use fewer values")
    return campaign
