"""What drawings show of a flexible body: some of its nodes, how the modes move them, and the lines between them."""

from __future__ import annotations

import numpy as np

from limberjack.engine.modes.data import ModalData
from limberjack.engine.modes.modal import Outline
from limberjack.engine.modes.reference import BodyFrameData

#: nodes that a drawing shows, and numbers that it may take (16 MB): of finer bodies some nodes, without their lines
MOST_NODES, MOST_NUMBERS = 2000, 2_000_000


def outline(data: ModalData, body: BodyFrameData) -> Outline:
    """The outline in the body frame."""
    nodes = len(body.positions)
    most = max(1, min(MOST_NODES, MOST_NUMBERS // (6 * max(1, body.shapes.shape[2]))))
    held = [data.node(name) for name in data.interface]
    kept = np.arange(nodes) if data.lines is None else np.unique(np.array([*data.lines.ravel(), *held], dtype=int))
    nodes = len(kept)
    if nodes > most:  # what hangs on the body hangs on its interface
        kept = np.unique([*held[:most], *kept[np.linspace(0, nodes - 1, most).astype(int)]])
    lines = np.zeros((0, 2))
    if data.lines is not None and nodes <= most:
        lines = np.searchsorted(kept, data.lines).astype(float)
    return Outline(body.positions[kept], body.shapes[kept, :3], body.shapes[kept, 3:], lines)
