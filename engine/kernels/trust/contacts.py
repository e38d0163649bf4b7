"""Contacts of a foreign Plant: slices of pairs, touches and links, and shapes that can touch."""

from __future__ import annotations

from limberjack.engine.algebra.bounds import fits
from limberjack.engine.compile.kernel import kernel
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
def _links_inside(slices, links, least, most, end):
    """Whether slices lie inside the links, are not too long, and their links are below an end."""
    for i in range(slices.shape[0]):
        first, count = slices[i, ct.ML_FIRST], slices[i, ct.ML_COUNT]
        if not fits(first, count, links.shape[0]) or count < least or count > most:
            return False
        for j in range(first, first + count):
            if links[j] < 0 or links[j] >= end:
                return False
    return True


@kernel
def _trust_meshes(c, parts):
    """Meshes have corners, and their faces and corners know each other; height fields have whole rows."""
    corners, faces = c[ct.C_MESH_CORNERS], c[ct.C_MESH_FACES]
    for i in range(c[ct.C_COLLIDERS]):
        if ct.MESH <= parts.collider_int[i, ct.CO_SHAPE] <= ct.HEIGHT_FIELD:
            if corners == 0 or parts.mesh_int[i, ct.ML_COUNT] < 1:
                return False
            if not fits(parts.mesh_int[i, ct.ML_FIRST], parts.mesh_int[i, ct.ML_COUNT], corners):
                return False
        if parts.collider_int[i, ct.CO_SHAPE] == ct.HEIGHT_FIELD:
            across, count = parts.mesh_int[i, ct.ML_ACROSS], parts.mesh_int[i, ct.ML_COUNT]
            if across < 2 or count < 2 * across or (count // across) * across != count:
                return False
    most = c[ct.C_MESH_LINKS]
    return (
        _links_inside(parts.corner_int, parts.mesh_link, 0, most, faces)
        and _links_inside(parts.face_int, parts.mesh_link, 3, ct.MOST_CORNERS, corners)
        and _links_inside(parts.sector_int, parts.mesh_link, 0, most, corners)
    )


@kernel
def trust_contacts(c, plant):
    """Whether slices lie inside, meshes are complete, and pairs have as many touches as their shapes."""
    parts = plant.contacts
    if not _trust_meshes(c, parts):
        return False
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
