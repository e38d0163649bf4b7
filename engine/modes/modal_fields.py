"""What modal data consist of: nodes with their masses, mode shapes at the nodes, modal mass and stiffness.

All quantities are SI and in the axes of the data's frame unless a field says "node axes".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.common.arguments import index_of


@dataclass(frozen=True, eq=False)
class Stress:
    """Geometric (stress) stiffness of the body under unit loads, in modal coordinates; each (n, n) block symmetric.

    Loads are nodal forces, m the nodal mass, r the position in the data's frame, e the unit vectors:

    acceleration : (3, n, n), N/(m/s²): loads m e_i
    angular : (3, n, n), N/(rad/s²): loads m e_i × r
    centrifugal : (3, 3, n, n), N/(rad/s)²: loads m (δ_ij r - ½ (e_i r_j + e_j r_i))
    nodes : (k,) indices of the nodes that carry a unit force each
    force : (k, 3, n, n), 1/m: load e_i at these nodes
    """

    acceleration: np.ndarray
    angular: np.ndarray
    centrifugal: np.ndarray
    nodes: np.ndarray
    force: np.ndarray


@dataclass(frozen=True, eq=False)
class ModalFields:
    """The parts of modal data. N nodes, n modes.

    name, source : the body; where the modes come from, in words
    kind : "cantilever" (held at `inboard`), "craig-bampton" (held at `inboard`, with static modes of the interface)
        or "free-free"
    inboard : name of the node that the modes hold, "" for free-free modes
    interface : names of the nodes where other bodies may be attached
    node_ids : (N,) int64, unique;  node_names : N names, unique, "" for nodes that only have an id
    positions : (N, 3) m;  axes : (N, 3, 3), R (data ← node)
    masses : (N,) kg;  centres : (N, 3) m, centre of mass from the node, node axes
    inertias : (N, 3, 3) kg·m², about the node, node axes
    shapes : (N, 6, n), Π of every node: [rotation; translation] per unit modal coordinate, data axes
    mass, stiffness : (n, n) SI, M_ff, K;  damping : (n,) ratios of the eigenmodes of (K, M_ff)
    rigid, participation : (6, 6), (6, n), SI, or None: spatial inertia about the data's origin and B M Π (003, eq. 25)
        of a mass matrix that was not lumped; they replace the nodal sums of zeroth order
    foreshortening : (N, 3, n, n) or None: G, second-order displacement ½ η* G η of every node, symmetric in η
    stress : stress stiffness of unit loads instead of foreshortening, or None
    lines : (E, 2) indices of nodes that drawings join, or None
    """

    name: str
    source: str
    kind: str
    inboard: str
    interface: tuple[str, ...]
    node_ids: np.ndarray
    node_names: tuple[str, ...]
    positions: np.ndarray
    axes: np.ndarray
    masses: np.ndarray
    centres: np.ndarray
    inertias: np.ndarray
    shapes: np.ndarray
    mass: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    rigid: np.ndarray | None = None
    participation: np.ndarray | None = None
    foreshortening: np.ndarray | None = None
    stress: Stress | None = None
    lines: np.ndarray | None = None

    @property
    def modes(self) -> int:
        """Number of modes n."""
        return int(self.shapes.shape[2])

    def labels(self) -> list[str]:
        """Name of every node, or its id as text."""
        return [name or str(identity) for name, identity in zip(self.node_names, self.node_ids)]

    def node(self, label: str) -> int:
        """Index of a node. label : its name or id. UnknownNameError for one that is not there"""
        return index_of("node of the modal data", str(label), self.labels())
