"""The YAML format of campaigns as pydantic models; docs/how-to/campaigns.md explains it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from limberjack.engine.files.schema_values import Model, Name, Number, Positive, schema_text, shape_of

#: fields of which each varied quantity has one
KINDS = ("uniform", "normal", "choice", "grid")
MOST_RUNS = 1_000_000
MOST_VALUES = 10_000

Scalar = bool | int | Number | str
Scalars = Annotated[list[Scalar], Field(min_length=1, max_length=MOST_VALUES)]


class NormalSpec(Model):
    """A normal distribution, cut off at its bounds."""

    mean: Number
    sigma: Positive = Field(description="standard deviation before truncation")
    lower: Number | None = Field(default=None, description="default: no bound")
    upper: Number | None = Field(default=None, description="default: no bound")

    @model_validator(mode="after")
    def _ordered(self) -> NormalSpec:
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ValueError(f"lower is {self.lower:g}, not below upper, {self.upper:g}")
        return self


class EvenSpec(Model):
    """Values at even distances."""

    first: Number
    last: Number
    count: Annotated[int, Field(ge=2, le=MOST_VALUES)] = Field(description="values, first and last among them")


Grid = Annotated[Annotated[Scalars, Tag("list")] | Annotated[EvenSpec, Tag("mapping")], Discriminator(shape_of)]


class VarySpec(Model):
    """How one value is chosen."""

    uniform: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="[lower, upper], evenly distributed"
    )
    normal: NormalSpec | None = Field(default=None, description="normally distributed")
    choice: Scalars | None = Field(default=None, description="one of these, equally likely")
    grid: Grid | None = Field(default=None, description="all of these; several grids: all combinations")

    @model_validator(mode="after")
    def _one_kind(self) -> VarySpec:
        given = [name for name in KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            found = f"{' and '.join(given)} are given together" if given else "nothing is given"
            raise ValueError(f"{found}; give one of {', '.join(KINDS)}")
        if self.uniform is not None and self.uniform[0] >= self.uniform[1]:
            raise ValueError(f"the lower bound is {self.uniform[0]:g}, not below the upper, {self.uniform[1]:g}")
        return self


class CampaignSpec(Model):
    """A Limberjack campaign file."""

    limberjack_campaign: Literal[1] = Field(description="version of this format")
    name: Name
    description: str = Field(default="", description="for the plot")
    scenario: Name = Field(description="scenario file, beside the campaign unless the path is absolute")
    runs: Annotated[int, Field(ge=1, le=MOST_RUNS)] = Field(
        default=1, description="runs, with grids: of each combination (default 1)"
    )
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = Field(default=0, description="of all values and runs (default 0)")
    sampling: Literal["random", "latin_hypercube"] = Field(
        default="random", description="how numbers are drawn; latin_hypercube: one run in each of as many equal parts"
    )
    vary: dict[Name, VarySpec] = Field(default={}, description="path into the scenario → how its value is chosen")
    limit_s: Positive = Field(default=600.0, description="longest time of a run, s of wall time (default 600)")
    tries: Annotated[int, Field(ge=1, le=100)] = Field(
        default=3, description="how often a run is tried if its process dies or hangs (default 3)"
    )
    least_passed: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="minimum pass fraction of the campaign (default 1)"
    )


def json_schema() -> str:
    """The JSON Schema of the format."""
    return schema_text(CampaignSpec, "Limberjack campaign")
