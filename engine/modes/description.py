"""The YAML description that `limberjack modes` reads, as pydantic models; docs/how-to/modes.md explains it."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from limberjack.engine.files.schema_values import (
    InertiaMatrix,
    Listed,
    Model,
    Name,
    NonNegative,
    Positive,
    Vector3,
    schema_text,
)
from limberjack.engine.modes import frame

Freedom = Literal["x", "y", "z", "rx", "ry", "rz"]
Count = Annotated[int, Field(ge=1, le=frame.MOST_ELEMENTS)]


class NodeSpec(Model):
    """A named node of a frame."""

    name: Name = Field(description="unique")
    position: Vector3 = Field(description="m")


class MaterialSpec(Model):
    """An isotropic material."""

    name: Name
    young: Positive = Field(description="Young's modulus, N/m²")
    poisson: Annotated[float, Field(gt=-1.0, le=0.5)] | None = Field(default=None, description="Poisson's ratio")
    shear: Positive | None = Field(default=None, description="shear modulus, N/m², instead of Poisson's ratio")
    density: NonNegative = Field(description="kg/m³")

    @model_validator(mode="after")
    def _one_shear(self) -> MaterialSpec:
        if (self.poisson is None) == (self.shear is None):
            raise ValueError("give either poisson or shear")
        return self

    def material(self) -> frame.Material:
        """As numbers."""
        shear = self.shear if self.poisson is None else self.young / (2.0 * (1.0 + self.poisson))
        assert shear is not None
        return frame.Material(self.young, shear, self.density)


class GeneralSection(Model):
    """A cross-section by its properties; y and z are the section's axes, z towards `up`."""

    name: Name
    type: Literal["general"]
    area: Positive = Field(description="m²")
    y: Positive = Field(description="second moment ∫ z² dA, bending about y, m⁴")
    z: Positive = Field(description="second moment ∫ y² dA, bending about z, m⁴")
    torsion: Positive = Field(description="torsion constant, m⁴")
    shear_y: NonNegative = Field(default=0.0, description="effective shear area along y, m² (default 0: no shear)")
    shear_z: NonNegative = Field(default=0.0, description="effective shear area along z, m² (default 0: no shear)")

    def section(self) -> frame.Section:
        """As numbers."""
        return frame.Section(self.area, self.y, self.z, self.torsion, self.shear_y, self.shear_z)


class _Shape(Model):
    name: Name
    shear: bool = Field(default=False, description="whether the beam yields to shear: Timoshenko (default false)")


class RectangleSection(_Shape):
    """A full rectangle."""

    type: Literal["rectangle"]
    width: Positive = Field(description="along y, m")
    height: Positive = Field(description="along z, m")

    def section(self) -> frame.Section:
        """As numbers."""
        return frame.rectangle(self.width, self.height, self.shear)


class TubeSection(_Shape):
    """A circle, or a circular tube."""

    type: Literal["tube"]
    outer: Positive = Field(description="outer radius, m")
    inner: NonNegative = Field(default=0.0, description="inner radius, m (default 0: a full circle)")

    @model_validator(mode="after")
    def _wall(self) -> TubeSection:
        if self.inner >= self.outer:
            raise ValueError(f"the inner radius {self.inner:g} is not below the outer radius {self.outer:g}")
        return self

    def section(self) -> frame.Section:
        """As numbers."""
        return frame.tube(self.outer, self.inner, self.shear)


class BoxSection(_Shape):
    """A thin-walled rectangular tube."""

    type: Literal["box"]
    width: Positive = Field(description="outer, along y, m")
    height: Positive = Field(description="outer, along z, m")
    wall: Positive = Field(description="thickness of the wall, m")

    @model_validator(mode="after")
    def _wall(self) -> BoxSection:
        if 2.0 * self.wall >= min(self.width, self.height):
            raise ValueError(f"the wall {self.wall:g} is half of the box or more")
        return self

    def section(self) -> frame.Section:
        """As numbers."""
        return frame.box(self.width, self.height, self.wall, self.shear)


SectionSpec = Annotated[GeneralSection | RectangleSection | TubeSection | BoxSection, Field(discriminator="type")]


class BeamSpec(Model):
    """A straight member."""

    inboard: Name = Field(alias="from", description="name of a node")
    to: Name = Field(description="name of another node")
    section: Name
    material: Name
    up: Vector3 | None = Field(
        default=None, description="direction of the section's z axis; needed unless y and z are alike"
    )
    elements: Count = Field(default=8, description="equal elements it is cut into (default 8)")


class MassSpec(Model):
    """A rigid body at a node."""

    node: Name
    mass: NonNegative = Field(description="kg")
    com: Vector3 = Field(default=[0.0, 0.0, 0.0], description="centre of mass from the node, m (default [0, 0, 0])")
    inertia: InertiaMatrix = Field(description="about the centre of mass, kg·m²; zeros for a point mass")


class FrameSpec(Model):
    """A frame of beams."""

    mass: Literal["lumped", "consistent"] = Field(default="lumped", description="kind of mass matrix (default lumped)")
    nodes: Listed[NodeSpec] = Field(min_length=2)
    materials: Listed[MaterialSpec] = Field(min_length=1)
    sections: Listed[SectionSpec] = Field(min_length=1)
    beams: Listed[BeamSpec] = Field(min_length=1)
    masses: Listed[MassSpec] = Field(default=[])


class UnitsSpec(Model):
    """Units of a finite-element model, in SI; time in s."""

    length: Positive = Field(description="unit of length, m: 0.001 for mm")
    mass: Positive = Field(description="unit of mass, kg: 1000 for t")


Three = Annotated[list[Name], Field(min_length=3, max_length=3)]


class CentrifugalSpec(Model):
    """Stress stiffness under the loads m (δ_ij r - ½ (e_i r_j + e_j r_i)), each a file."""

    xx: Name
    yy: Name
    zz: Name
    xy: Name
    xz: Name
    yz: Name

    def files(self) -> list[str]:
        """In the order of the unit loads."""
        return [self.xx, self.yy, self.zz, self.xy, self.xz, self.yz]


class StressSpec(Model):
    """Stress stiffness matrices of the body, held at its inboard node under unit loads, in the matrices' units."""

    acceleration: Three = Field(description="files for x, y, z: loads m e_i")
    angular: Three = Field(description="files for x, y, z: loads m e_i × r, r from the origin")
    centrifugal: CentrifugalSpec
    forces: dict[Name, Three] = Field(default={}, description="by interface node: files for unit forces x, y, z")

    def files(self) -> list[str]:
        """All of them in the order of the unit loads."""
        forces = [name for three in self.forces.values() for name in three]
        return [*self.acceleration, *self.angular, *self.centrifugal.files(), *forces]


class MatricesSpec(Model):
    """Mass and stiffness matrices of any program."""

    stiffness: Name = Field(description="file: .mtx, .npz[:array], .h5:dataset")
    mass: Name = Field(description="file: .mtx, .npz[:array], .h5:dataset")
    nodes: Name = Field(description="file: .csv with id,x,y,z, or an array (N, 3)")
    freedoms: Listed[Freedom] | Name = Field(
        default_factory=lambda: list[Freedom](("x", "y", "z", "rx", "ry", "rz")),
        description="order at every node, or file with a node and a freedom for each row (default x, y, z, rx, ry, rz)",
    )
    stress: StressSpec | Name | None = Field(
        default=None,
        description="geometric stiffness: matrices, or the .dat file of CalculiX with the steps that "
        "`limberjack modes --unit-loads` writes (default: no geometric data)",
    )
    units: UnitsSpec = UnitsSpec(length=1.0, mass=1.0)


class CalculixSpec(Model):
    """Modes that CalculiX has computed."""

    results: Name = Field(description=".frd file of a *FREQUENCY step with *NODE FILE, U")
    density: Positive | dict[str, Positive] | None = Field(
        default=None, description="of the solids, kg/m³ in units of the file: one, or by name of the material"
    )
    masses: Name | None = Field(default=None, description="instead of density: .csv with node,mass")
    stress: Name | None = Field(
        default=None,
        description=".dat file of the steps that `limberjack modes --unit-loads` writes (default: no geometric data)",
    )
    units: UnitsSpec = UnitsSpec(length=1.0, mass=1.0)

    @model_validator(mode="after")
    def _one_mass(self) -> CalculixSpec:
        if (self.density is None) == (self.masses is None):
            raise ValueError("give either density or masses")
        return self


class NastranSpec(Model):
    """Modes that Nastran has computed."""

    model: Name = Field(description=".bdf or .dat file: grid, masses")
    results: Name = Field(description=".op2 file of SOL 103 with eigenvectors, normalised to the mass")
    masses: Name | None = Field(default=None, description=".csv with node,mass (default: lumped from the model)")
    units: UnitsSpec = UnitsSpec(length=1.0, mass=1.0)


class TieSpec(Model):
    """An interface node that a set of nodes follows rigidly."""

    name: Name
    nodes: Listed[int] = Field(min_length=3, description="ids of the nodes it holds")
    position: Vector3 | None = Field(default=None, description="m (default: the middle of the nodes)")


class SelectSpec(Model):
    """Which of the computed modes are kept."""

    effective_mass: Annotated[float, Field(ge=0.0, lt=1.0)] = Field(
        default=0.0, description="least fraction of the body's mass or inertia in some direction (default 0: all)"
    )
    below: Positive | None = Field(default=None, description="highest frequency, Hz (default: all)")


class ReductionSpec(Model):
    """Which modes are computed."""

    kind: Literal["cantilever", "craig-bampton", "free-free"]
    inboard: Name | int | None = Field(default=None, description="node that the modes hold; not for free-free")
    modes: Annotated[int, Field(ge=0, le=1000)] = Field(description="number of eigenmodes")
    damping: NonNegative | Listed[NonNegative] = Field(description="damping ratio of all modes, or of each")
    select: SelectSpec = SelectSpec()


class DescriptionSpec(Model):
    """A flexible body to be reduced to modes."""

    limberjack_modes: Literal[1] = Field(description="version of this format")
    name: Name
    frame: FrameSpec | None = None
    matrices: MatricesSpec | None = None
    calculix: CalculixSpec | None = None
    nastran: NastranSpec | None = None
    interface: Listed[Name | int | TieSpec] = Field(
        default=[], description="nodes where other bodies attach: names, ids, or sets of nodes to tie"
    )
    reduction: ReductionSpec

    @model_validator(mode="after")
    def _one_source(self) -> DescriptionSpec:
        if sum(source is not None for source in (self.frame, self.matrices, self.calculix, self.nastran)) != 1:
            raise ValueError("the body needs one source: frame, matrices, calculix or nastran")
        return self


def json_schema() -> str:
    """The JSON Schema of the description."""
    return schema_text(DescriptionSpec, "Limberjack modal description")


def vector(values: list[float]) -> np.ndarray:
    """As an array of floats."""
    return np.array(values, dtype=float)
