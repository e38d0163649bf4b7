"""The tree of bodies: every parent exists, no body hangs on itself, base to tip order."""

from __future__ import annotations

from collections.abc import Sequence

from limberjack.engine.common.names import in_short, some_names
from limberjack.engine.model.places import Locate, plain_locate, refuse
from limberjack.engine.model.system import Body


def order_bodies(bodies: Sequence[Body], locate: Locate = plain_locate) -> tuple[Body, ...]:
    """The bodies base to tip, depth first, children in the order given; so every subtree is contiguous.

    Raises ModelError for a parent that does not exist and for a cycle. Body names must be unique.
    """
    children = _children(bodies, locate)
    ordered: list[Body] = []
    stack = list(reversed(children.get(None, [])))
    while stack:  # every body is pushed at most once: it has one parent
        body = stack.pop()
        ordered.append(body)
        stack.extend(reversed(children.get(body.name, [])))
    if len(ordered) < len(bodies):
        _refuse_cycle(bodies, {body.name for body in ordered}, locate)
    return tuple(ordered)


def _children(bodies: Sequence[Body], locate: Locate) -> dict[str | None, list[Body]]:
    names = {body.name for body in bodies}
    children: dict[str | None, list[Body]] = {}
    for body in bodies:
        parent = body.hinge.parent
        if parent is not None and parent not in names:
            what = f"hinge '{body.hinge.name}' of body '{body.name}' hangs on '{parent}', which does not exist"
            refuse(body.hinge, "parent", what, f"Name one of: {some_names(names)}, or the world", locate)
        children.setdefault(parent, []).append(body)
    return children


def _refuse_cycle(bodies: Sequence[Body], reached: set[str], locate: Locate) -> None:
    by_name = {body.name: body for body in bodies}
    body = next(body for body in bodies if body.name not in reached)
    visited: dict[str, None] = {}
    while body.name not in visited:  # at most one visit a body
        visited[body.name] = None
        body = by_name[body.hinge.parent or ""]
    chain = list(visited)
    cycle = [*chain[chain.index(body.name) :], body.name]
    shown = in_short(list(reversed(cycle)), " ← ")
    what = f"the bodies form a cycle and none of them is connected to the world: {shown}"
    refuse(body.hinge, "parent", what, "Connect one of them to the world, or to a body that is", locate)
