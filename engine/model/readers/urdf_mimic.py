"""URDF joints that mimic another: q = multiplier q_other + offset, a coupling of two coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from limberjack.engine.common.names import in_short
from limberjack.engine.common.nearest import nearest
from limberjack.engine.files.xml_document import Element
from limberjack.engine.model.system import Loop, Term

Mimic = Literal["couple", "independent", "refuse"]
MIMICS: tuple[Mimic, ...] = ("couple", "independent", "refuse")
ONE_DOF_JOINTS = ("revolute", "continuous", "prismatic")
_INSTEAD = "or load with mimic='independent'"


@dataclass(frozen=True)
class Follower:
    """A joint that mimics another."""

    joint: Element
    leader: str
    multiplier: float
    offset: float

    def loop(self) -> Loop:
        """The coupling: q - multiplier q_leader = offset."""
        name = self.joint.text("name")
        share = (Term(self.leader, (-self.multiplier,)),) if self.multiplier else ()
        where = f"{self.joint.place}, {self.joint.label}"
        return Loop(f"{name}_mimic", "coupling", terms=(Term(name, (1.0,)), *share), offset=self.offset, where=where)


def read_mimics(joints: dict[str, Element], mimic: Mimic) -> tuple[dict[str, Follower], list[str]]:
    """The coupled joints by name, and texts about those that are not; ModelError for ones that cannot be coupled."""
    mimicking = [joint for joint in joints.values() if joint.one("mimic") is not None]
    if mimicking and mimic == "refuse":
        what = f"joint '{mimicking[0].text('name')}' mimics another joint"
        remedy = "Remove <mimic>, make the joint fixed, or load with mimic='couple' or 'independent'"
        mimicking[0].fail(what, remedy)
    if mimic == "independent":
        ignored = "<mimic> is ignored, the joint moves on its own"
        return {}, [f"{joint.place}, {joint.label}: {ignored}" for joint in mimicking]
    fixed = [joint.text("name") for joint in mimicking if joint.text("type") == "fixed"]
    followers = {joint.text("name"): _follower(joint, joints) for joint in mimicking if joint.text("name") not in fixed}
    _refuse_circles(followers)
    named = ", ".join(f"'{name}'" for name in fixed)
    return followers, [f"<mimic> has no effect on joints that are fixed: {named}"] * bool(fixed)


def started(followers: dict[str, Follower], starts: dict[str, float]) -> dict[str, float]:
    """Where joints start: those that follow another with it, the others as in ``starts``. There are no circles."""
    found = {name: start for name, start in starts.items() if name not in followers}
    for first in followers:
        chain = [first]
        while chain[-1] not in found:  # every joint is found once
            chain.append(followers[chain[-1]].leader)
        for name in reversed(chain[:-1]):
            follower = followers[name]
            found[name] = follower.multiplier * found[follower.leader] + follower.offset
    return found


def _follower(joint: Element, joints: dict[str, Element]) -> Follower:
    name, kind, mimic = joint.text("name"), joint.text("type"), joint.one("mimic")
    assert mimic is not None  # read_mimics has looked
    leader = mimic.text("joint")
    if kind not in ONE_DOF_JOINTS:
        mimic.fail(f"the {kind} joint '{name}' cannot mimic another", f"Remove <mimic>, {_INSTEAD}")
    if leader == name:
        mimic.fail(f"joint '{name}' mimics itself", f"Name the joint it shall follow, {_INSTEAD}")
    if leader not in joints:
        close = nearest(leader, joints, 1, cutoff=0.5)
        meant = f" (did you mean '{close[0]}'?)" if close else ""
        what = f"joint '{name}' mimics '{leader}', which does not exist{meant}"
        mimic.fail(what, f"Name a joint of this robot, {_INSTEAD}")
    if joints[leader].text("type") not in ONE_DOF_JOINTS:
        what = f"joint '{name}' mimics '{leader}', a {joints[leader].text('type')} joint, which has no single position"
        mimic.fail(what, f"Name a revolute, continuous or prismatic joint, {_INSTEAD}")
    return Follower(joint, leader, mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))


def _refuse_circles(followers: dict[str, Follower]) -> None:
    """ModelError if joints follow each other in a circle. Each joint is visited once."""
    sound: set[str] = set()
    for first in followers:
        chain: dict[str, None] = {}
        name = first
        while name in followers and name not in sound:
            if name in chain:
                circle = [*list(chain)[list(chain).index(name) :], name]
                what = "joints mimic each other in a circle: " + in_short(circle, " → ")
                followers[name].joint.fail(what, f"Let one of them move freely, {_INSTEAD}")
            chain[name] = None
            name = followers[name].leader
        sound |= set(chain)
