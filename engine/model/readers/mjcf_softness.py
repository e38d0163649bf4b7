"""What a compiled MJCF model says of contacts without a counterpart here: how soft they are, and act apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from limberjack.engine.model.readers.mjcf_contacts import is_overridden

#: MuJoCo's own values of solref and solimp
_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)


def unread_laws(model: Any, mujoco: Any, pairs: Iterable[tuple[int, int]]) -> list[str]:
    """A text for each part of the law of these pairs of geoms that is left out; a <pair> has a law of its own."""
    own = {tuple(sorted((int(model.pair_geom1[k]), int(model.pair_geom2[k])))): k for k in range(model.npair)}
    named = sorted({own[pair] for pair in pairs if pair in own})
    geoms = sorted({i for pair in pairs if pair not in own for i in pair})
    if not (named or geoms):
        return []
    if is_overridden(model, mujoco):
        option = model.opt
        soft = _is_soft(option.o_solref, option.o_solimp)
        margin, uneven = float(option.o_margin), _is_uneven(option.o_friction)
    else:
        soft = any(_is_soft(model.geom_solref[i], model.geom_solimp[i]) for i in geoms)
        soft |= any(_is_soft(model.pair_solref[k], model.pair_solimp[k]) for k in named)
        apart = [model.geom_margin[i] + model.geom_margin[j] for i, j in pairs if (i, j) not in own]
        margin = float(max([*apart, *model.pair_margin[named]]))
        uneven = any(_is_uneven(model.pair_friction[k]) for k in named)
    texts = {
        "solref and solimp of contacts are ignored: contacts are nearly rigid": soft,
        f"margin of contacts is ignored: shapes rest up to {margin:g} m nearer than in MuJoCo": margin > 0.0,
        "friction that differs along two directions: the lesser acts along both": uneven,
    }
    return [text for text, present in texts.items() if present]


def _is_soft(solref: np.ndarray, solimp: np.ndarray) -> bool:
    """Whether a contact is not as soft as MuJoCo's default."""
    return not (np.array_equal(solref, _SOLREF) and np.array_equal(solimp, _SOLIMP))


def _is_uneven(friction: np.ndarray) -> bool:
    """Whether sliding or rolling friction is not the same along both tangents."""
    return bool(friction[0] != friction[1] or friction[3] != friction[4])
