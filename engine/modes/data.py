"""Modal data of a flexible body: nodes with their masses, mode shapes at the nodes, modal mass and stiffness.

The finite-element body is a set of nodal rigid bodies (003, eqs. 1, 2) whose small deformation is Π η (003, eq. 3).
All quantities are SI and in the axes of the data's frame unless a field says "node axes".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.algebra.eigenbases import own_modes
from limberjack.engine.common.arguments import vector
from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.common.names import repeated
from limberjack.engine.files.numbers import LARGEST
from limberjack.engine.modes.modal_fields import ModalFields, Stress
from limberjack.engine.modes.reference import in_body_frame

KINDS = ("cantilever", "craig-bampton", "free-free")
#: largest relative asymmetry of a matrix that must be symmetric
SYMMETRY = 1e-6
#: smallest eigenvalue of a matrix that must not be negative, relative to its largest
NEGATIVE = 1e-9


@dataclass(frozen=True, eq=False)
class ModalData(ModalFields):
    """What a modal-data file holds, checked: ModelError where the parts do not fit. Fields: those of `ModalFields`."""

    def __post_init__(self) -> None:
        _Check(self).all()

    def frequencies(self) -> np.ndarray:
        """(n,) Hz, of the eigenmodes of (K, M_ff), ascending."""
        return np.asarray(np.sqrt(np.maximum(self.eigenmodes()[0], 0.0)) / (2.0 * np.pi))

    def eigenmodes(self) -> tuple[np.ndarray, np.ndarray]:
        """ω² (n,) ascending and Φ (n, n) with Φ* M_ff Φ = 1, Φ* K Φ = ω²; of one ω² by the rule of `eigenbases`."""
        return own_modes(self.stiffness, self.mass)

    def basis(self, inboard: str | None = None, modes: int | Sequence[int] | None = None) -> np.ndarray:
        """T (k, k): the chosen modal coordinates of this data are η = T q, q those of a body in a model.

        q are the coordinates `boom.modes.1`, `boom.modes.2`, …: those of the eigenmodes of (K, M_ff), of unit
        modal mass, ascending.

        inboard, modes : as the model says; None: the node that the modes hold, and all. ArgumentError
        """
        held = inboard or self.inboard
        chosen = selected_modes(modes, self.modes)
        body = in_body_frame(self, self.node(held) if held else None, chosen)
        return own_modes(self.stiffness[np.ix_(chosen, chosen)], body.mass)[1]

    def coordinates_of(
        self, motion: ArrayLike, inboard: str | None = None, modes: int | Sequence[int] | None = None
    ) -> np.ndarray:
        """Coordinates q (k,) of a body in a model (`boom.modes.1`, …) for a motion given in terms of this data.

        motion : modal coordinates η (n,) of this data, SI, where those of modes that are left out are ignored; or
            small motions (N, 6) of all nodes, rad and m, [rotation; translation] in the data's axes, to which the
            chosen modes are fitted, every node weighted by its mass and inertia. Rates are converted in the same way
        inboard, modes : as for `basis`

        ArgumentError for another shape, or if masses do not distinguish the modes.
        """
        chosen = selected_modes(modes, self.modes)
        given = np.asarray(motion)
        if given.shape == (len(self.shapes), 6):
            eta = self._fitted(vector("motion", given, given.shape), chosen)
        else:
            eta = vector("motion", given, (self.modes,))[chosen]
        return np.linalg.solve(self.basis(inboard, modes), eta)

    def _fitted(self, motion: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Modal coordinates (k,) whose motion is nearest to that of the nodes (N, 6)."""
        spread = np.sqrt(np.maximum(np.trace(self.inertias, axis1=1, axis2=2), 0.0) / 3.0)
        weights = np.repeat(np.stack([spread, np.sqrt(self.masses)], axis=1), 3, axis=1)
        shapes = (weights[:, :, None] * self.shapes[:, :, chosen]).reshape(-1, len(chosen))
        eta, _, rank, _ = np.linalg.lstsq(shapes, (weights * motion).ravel())
        if rank < len(chosen):
            what = "the nodes with mass cannot distinguish the modes"
            raise ArgumentError(f"{what}; give modal coordinates ({self.modes},) instead of motions of nodes.")
        return np.asarray(eta)


def selected_modes(selection: int | Sequence[int] | None, modes: int) -> np.ndarray:
    """Indices of chosen modes: None is all, a number the first ones, a sequence their indices. ArgumentError."""
    if selection is None:
        return np.arange(modes)
    if isinstance(selection, (int, np.integer)) and not isinstance(selection, bool):
        if not 0 <= selection <= modes:
            raise ArgumentError(f"modes is {selection}, but the data has {modes}; give 0 to {modes}.")
        return np.arange(int(selection))
    chosen = np.asarray(selection)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise ArgumentError(f"modes is {selection!r:.60}; give a number of modes or a list of indices.")
    chosen = chosen.astype(np.int64)
    wrong = [int(i) for i in chosen if not 0 <= i < modes]
    if wrong or len(set(chosen.tolist())) < chosen.size:
        what = f"mode {wrong[0]} does not exist" if wrong else "a mode is chosen twice"
        raise ArgumentError(f"modes: {what}; the data has the modes 0 to {modes - 1}.")
    return chosen


class _Check:
    """Every fault of modal data, with its field and index."""

    def __init__(self, data: ModalData) -> None:
        self._data = data

    def all(self) -> None:
        data = self._data
        if data.kind not in KINDS:
            self._fail("kind", f"unknown kind of modes {data.kind!r}", f"Use one of: {', '.join(KINDS)}")
        self._shapes()
        self._names()
        for field in ("mass", "stiffness", "inertias", "rigid", "foreshortening"):
            if getattr(data, field) is not None:
                self._symmetric(field)
        self._not_negative()
        for i in range(len(data.masses)):
            if np.abs(data.axes[i] @ data.axes[i].T - np.eye(3)).max() > 1e-6 or np.linalg.det(data.axes[i]) < 0.0:
                self._fail(f"axes[{i}]", "is not a rotation matrix", "Give right-handed orthonormal axes as columns")

    def _fail(self, field: str, what: str, remedy: str) -> None:
        raise ModelError(what, where=f"modal data '{self._data.name}', {field}", remedy=remedy)

    def _shapes(self) -> None:
        data = self._data
        if np.ndim(data.shapes) != 3 or not len(data.shapes):
            self._fail("shapes", f"has the shape {np.shape(data.shapes)}", "Give (nodes, 6, modes), at least one node")
        nodes, n = len(data.shapes), data.shapes.shape[2]
        expected = {
            "node_ids": (nodes,), "positions": (nodes, 3), "axes": (nodes, 3, 3), "masses": (nodes,),
            "centres": (nodes, 3), "inertias": (nodes, 3, 3), "shapes": (nodes, 6, n), "mass": (n, n),
            "stiffness": (n, n), "damping": (n,), "rigid": (6, 6), "participation": (6, n),
            "foreshortening": (nodes, 3, n, n),
        }  # fmt: skip
        for field, shape in expected.items():
            if getattr(data, field) is not None:
                self._array(field, getattr(data, field), shape)
        if (data.rigid is None) != (data.participation is None):
            self._fail("rigid", "is given without participation, or the reverse", "Give both or neither")
        if data.lines is not None:
            self._lines(data.lines, nodes)
        if data.stress is not None:
            k = len(np.atleast_1d(data.stress.nodes))
            shapes = ((3, n, n), (3, n, n), (3, 3, n, n), (k,), (k, 3, n, n))
            for item, shape in zip(fields(Stress), shapes):
                self._array(f"stress.{item.name}", getattr(data.stress, item.name), shape)
            if data.foreshortening is not None:
                self._fail("stress", "is given beside foreshortening", "Keep one: both describe the same stiffening")

    def _lines(self, lines: np.ndarray, nodes: int) -> None:
        self._array("lines", lines, (len(np.atleast_1d(lines)), 2))
        if lines.dtype.kind not in "iu" or np.any((lines < 0) | (lines >= nodes)):
            self._fail("lines", "holds a value that is not a node index", f"Give whole numbers from 0 to {nodes - 1}")

    def _array(self, field: str, value: np.ndarray, shape: tuple[int, ...]) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
            self._fail(field, "is not an array of numbers", f"Give numbers of shape {shape}")
        if value.shape != shape:
            self._fail(field, f"has the shape {value.shape}", f"Give {shape}, to match the mode shapes and the nodes")
        bad = np.argwhere(~(np.abs(value) <= LARGEST))
        if len(bad):
            place = ", ".join(map(str, bad[0]))
            self._fail(f"{field}[{place}]", f"is {value[tuple(bad[0])]:g}", "Give finite numbers")

    def _names(self) -> None:
        data = self._data
        if len(data.node_names) != len(data.shapes):
            self._fail("node_names", f"has {len(data.node_names)} entries", f"Give {len(data.shapes)}, '' for no name")
        labels = data.labels()
        twice = repeated(labels)
        if twice is not None:
            self._fail("node_names", f"two nodes are called '{twice}'", "Give every node its own name and id")
        known = set(labels)
        for field, names in (("interface", data.interface), ("inboard", (data.inboard,) if data.inboard else ())):
            for name in names:
                if name not in known:
                    self._fail(field, f"there is no node '{name}'", "Name nodes of the data")
        if data.stress is not None and np.any((data.stress.nodes < 0) | (data.stress.nodes >= len(labels))):
            self._fail("stress.nodes", "is not an index of a node", f"Give 0 to {len(labels) - 1}")

    def _symmetric(self, field: str) -> None:
        value = getattr(self._data, field)
        difference = np.abs(value - np.swapaxes(value, -1, -2))
        if difference.size and difference.max() > SYMMETRY * np.abs(value).max():
            self._fail(field, "is not symmetric", "Symmetrise it, or check that rows and columns have the same order")

    def _not_negative(self) -> None:
        data = self._data
        least = np.linalg.eigvalsh(data.mass) if data.modes else np.ones(1)
        if least[0] <= NEGATIVE * least[-1]:
            remedy = "Leave out modes that are combinations of others, and modes without mass"
            self._fail("mass", f"is not positive definite (smallest eigenvalue {least[0]:.3g})", remedy)
        stiffness = np.linalg.eigvalsh(data.stiffness) if data.modes else np.ones(1)
        if stiffness[0] < -1e-6 * abs(stiffness[-1]):
            self._fail("stiffness", f"has the negative eigenvalue {stiffness[0]:.3g}", "Give a stable structure")
        for field in ("masses", "damping"):
            values = getattr(data, field)
            if np.any(values < 0.0):
                i = int(np.argmin(values))
                self._fail(f"{field}[{i}]", f"is {values[i]:g}", "Give 0 or more")
        for i, inertia in enumerate(central_inertias(data.masses, data.centres, data.inertias)):
            least = np.linalg.eigvalsh(inertia)
            if least[0] < -1e-9 * max(abs(data.inertias[i]).max(), abs(inertia).max(), 1e-300):
                remedy = "Give the inertia about the node, at least that of its mass at its centre"
                self._fail(f"inertias[{i}]", "is smaller than that of the mass at its centre", remedy)


def central_inertias(masses: np.ndarray, centres: np.ndarray, inertias: np.ndarray) -> np.ndarray:
    """(N, 3, 3) inertias about the centres of mass, J - m (c² 1 - c c*)."""
    squares = np.einsum("ji,ji->j", centres, centres)[:, None, None] * np.eye(3)
    return np.asarray(inertias - masses[:, None, None] * (squares - centres[:, :, None] * centres[:, None, :]))
