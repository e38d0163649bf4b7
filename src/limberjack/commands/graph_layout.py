"""Where the boxes of a graph of bodies go: the aggregated tree, base at the top, members of a group in its frame."""

from __future__ import annotations

from dataclasses import dataclass, field

from limberjack.engine.model.loops.plan import LoopPlan, Plan

#: pixels: characters of names, lines of text, space between boxes and inside frames; loops run down in slots beside
#: the boxes and across in lanes below them
CHARACTER, LINE, GAP, RISE, MARGIN, CAPTION, SLOT, LANE = 7.0, 16.0, 26.0, 44.0, 14.0, 34.0, 6.0, 18.0
LONGEST = 30


@dataclass
class Box:
    """One body, or the frame of a group around its members' boxes; x, y is the left upper corner, pixels.

    row : of the body, 0 the inertial frame, None for a group; lines : text in it; parts : boxes inside a frame;
    children : boxes that hang on this one or on a box inside it
    span : width and height of the space it takes up with these
    lanes : loops that run below the parts; ends : of loops at this body, each with a slot from `right` on
    """

    row: int | None
    lines: list[str]
    group: int | None = None
    parts: list[Box] = field(default_factory=list)
    children: list[Box] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    right: float = 0.0
    lanes: int = 0
    ends: int = 0
    span: tuple[float, float] = (0.0, 0.0)

    def everything(self) -> list[Box]:
        """This box, those inside it and all that hang on it; each before what it holds and carries."""
        found, waiting = list[Box](), [self]
        while waiting:  # every box is in one other
            box = waiting.pop()
            found.append(box)
            waiting += [*box.parts, *box.children]
        return found


def shorten(text: str) -> str:
    """Text that fits into a box."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def arrange(plan: Plan) -> Box:
    """All boxes with their places; the root is the inertial frame's."""
    merged: dict[int, list[str]] = {}
    for name, (row, _) in plan.tree.frames.of_body.items():
        merged.setdefault(row, []).append(name or "")
    bodies = [Box(0, ["inertial frame", *_others(merged[0], "")])]
    for row, link in enumerate(plan.tree.frames.links, start=1):
        hinge = link.body.hinge
        kind = hinge.type if hinge.name == link.body.name else f"{hinge.type} '{hinge.name}'"
        bodies.append(Box(row, [shorten(link.body.name), shorten(kind), *_others(merged[row], link.body.name)]))
    for loop in plan.loops:
        rows = ends_of(loop)
        for row in rows if len(rows) > 1 else ():
            bodies[row].ends += 1
    root = _hang(plan, bodies)
    boxes = root.everything()
    for box in reversed(boxes):
        _measure(box)
    root.x = root.y = MARGIN
    for box in boxes:
        _place(box)
    return root


def ends_of(loop: LoopPlan) -> list[int]:
    """Rows of the bodies that a loop joins, or whose hinges it constrains."""
    closure = loop.closure
    rows = [closure.a, closure.b] if closure.joins else [term.row for term in closure.terms]
    return list(dict.fromkeys(rows))


def _others(names: list[str], own: str) -> list[str]:
    """A line that names the bodies merged into one."""
    others = [name for name in names if name not in (own, "")]
    return [shorten("+ " + ", ".join(others))] if others else []


def _hang(plan: Plan, bodies: list[Box]) -> Box:
    """The aggregated tree: members of a group hang in its frame, the frame on the body that carries it."""
    group_of = {row: number for number, group in enumerate(plan.groups) for row in group.bodies}
    frames = [Box(None, [], number, lanes=len(group.loops)) for number, group in enumerate(plan.groups)]
    for number, group in enumerate(plan.groups):
        frames[number].lines = _caption(plan, number)
        _outermost(bodies, frames, group_of, group.parent).children.append(frames[number])
    for box, joint in zip(bodies[1:], plan.tree.joints):
        own, above = group_of.get(joint.body + 1), group_of.get(joint.parent)
        if own is None:
            _outermost(bodies, frames, group_of, joint.parent).children.append(box)
        elif above == own:
            bodies[joint.parent].children.append(box)
        else:
            frames[own].parts.append(box)
    return bodies[0]


def _outermost(bodies: list[Box], frames: list[Box], group_of: dict[int, int], row: int) -> Box:
    """The frame that a body is in, else the body."""
    return frames[group_of[row]] if row in group_of else bodies[row]


def _caption(plan: Plan, number: int) -> list[str]:
    group = plan.groups[number]
    names = [plan.system.velocity_names[v] for v in group.independent]
    count, rank = len(group.dependent) + len(group.independent), len(group.dependent)
    free = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    rows = f"{rank} row{'s' * (rank != 1)}"
    return [f"group {number + 1}: {count} velocities − {rows} = {count - rank}", f"independent: {free or 'none'}"]


def _measure(box: Box) -> None:
    """Size of a box, and width and height of the space for it and all that hang on it, whose own are known."""
    text = max(len(line) for line in box.lines) * CHARACTER + 2.0 * MARGIN
    box.width, box.height = text, LINE * len(box.lines) + 10.0
    if box.parts:
        box.width = max(_row_width(box.parts) + 2.0 * MARGIN, text)
        box.height = max(part.span[1] for part in box.parts) + CAPTION + 2.0 * MARGIN + LANE * box.lanes
    width, height = box.width, box.height
    if box.children:
        width = max(width, _row_width(box.children))
        height += RISE + max(child.span[1] for child in box.children)
    box.span = width + _slots(box), height


def _slots(box: Box) -> float:
    """Width of the space beside a box where loops run down."""
    return SLOT * (box.ends + 1) if box.ends else 0.0


def _row_width(boxes: list[Box]) -> float:
    return sum(box.span[0] for box in boxes) + GAP * (len(boxes) - 1)


def _place(box: Box) -> None:
    """Put a box into its space, whose left upper corner it knows, and give what hangs on it theirs."""
    left, width = box.x, box.span[0] - _slots(box)
    box.x, box.right = left + 0.5 * (width - box.width), left + width
    _place_row(box.parts, box.x + 0.5 * box.width, box.y + CAPTION + MARGIN)
    _place_row(box.children, left + 0.5 * width, box.y + box.height + RISE)


def _place_row(boxes: list[Box], centre: float, y: float) -> None:
    x = centre - 0.5 * _row_width(boxes)
    for box in boxes:
        box.x, box.y = x, y
        x += box.span[0] + GAP
