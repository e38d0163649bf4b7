"""What the dynamics know of a flexible body: its modal integrals and the nodes that something hangs on.

`engine/modes/` makes them from finite elements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Attachment:
    """A node where a hinge, force or sensor sits, in the body frame F, with n modes. name : of the node

    R0 : (3, 3) rotation R (F ← node), undeformed;  p0 : (3,) m;  Pr, Pt : (3, n) rotation and translation per mode, SI
    G : (3, n, n), SI, second-order displacement:  p = p0 + Pt η + ½ η* G η,  R = Exp(Pr η) R0
    """

    name: str
    R0: np.ndarray
    p0: np.ndarray
    Pr: np.ndarray
    Pt: np.ndarray
    G: np.ndarray


@dataclass(frozen=True, eq=False)
class Outline:
    """What drawings show of a flexible body: N of its nodes, in the body frame F.

    p : (N, 3) m, undeformed;  Pr, Pt : (N, 3, n) rotation and translation per mode
    lines : (E, 2) places in p of the nodes that lines join
    """

    p: np.ndarray
    Pr: np.ndarray
    Pt: np.ndarray
    lines: np.ndarray


@dataclass(frozen=True, eq=False)
class Integrals:
    """Modal integrals of a body about the origin of its frame F, in F's axes; n modes, SI.

    m : kg;  s0 : (3,) kg·m;  J0 : (3, 3) kg·m²
    S1 : (3, n), SI;  S2 : (3, n, n), SI, symmetric in the modes
    J1 : (n, 3, 3), SI;  J2 : (n, n, 3, 3), SI
    N0 : (3, n), SI;  N1 : (3, n, n), SI, [:, r, s] for η̇_r and η_s
    Mff, K, C : (n, n), SI, modal mass, stiffness and damping
    attachments : nodes where something sits;  outline : for drawings; no part of the dynamics
    """

    m: float
    s0: np.ndarray
    J0: np.ndarray
    S1: np.ndarray
    S2: np.ndarray
    J1: np.ndarray
    J2: np.ndarray
    N0: np.ndarray
    N1: np.ndarray
    Mff: np.ndarray
    K: np.ndarray
    C: np.ndarray
    attachments: tuple[Attachment, ...]
    outline: Outline | None = None
