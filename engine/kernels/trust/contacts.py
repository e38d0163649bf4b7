"""Contacts of a foreign Plant: slices of pairs, touches and links, and shapes that can touch."""

from __future__ import annotations

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.trust.inside import fits
from limberjack.engine.tables import contacts as ct

_FIRST, _SECOND, _TOUCHES = (tuple(numbers) for numbers in zip(*((a, b, n) for (a, b), n in ct.TOUCHES.items())))


@kernel
def _touches(first, second):
    """How many touches a pair of shapes has, 0 for one that cannot touch."""
    for i in range(len(_TOUCHES)):
        if _FIRST[i] == first and _SECOND[i] == second:
            return _TOUCHES[i]
    return 0


@kernel
def trust_contacts(c, plant):
    """Slices lie inside, and pairs have as many touches as their shapes."""
    parts = plant.contacts
    for i in range(c[ct.C_CONTACTS]):
        if not fits(parts.contact_int[i, ct.CI_PAIR], parts.contact_int[i, ct.CI_PAIRS], c[ct.C_PAIRS]):
            return False
    for i in range(c[ct.C_PAIRS]):
        pair = parts.pair_int[i]
        first, second = parts.collider_int[pair[ct.PA_A], ct.CO_SHAPE], parts.collider_int[pair[ct.PA_B], ct.CO_SHAPE]
        touches = _touches(first, second)
        if touches == 0 or pair[ct.PA_TOUCHES] != touches or not fits(pair[ct.PA_TOUCH], touches, c[ct.C_TOUCHES]):
            return False
        if not fits(pair[ct.PA_WALK], pair[ct.PA_WALKS], c[ct.C_CONTACT_WALK]):
            return False
    return True
