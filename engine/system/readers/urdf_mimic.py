"""URDF joints that mimic another: q = multiplier q_other + offset, a coupling of two coordinates."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from limberjack.engine.system.readers.xml_document import Element
from limberjack.engine.system.system import Loop, Term

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
        mend = "Remove <mimic>, make the joint fixed, or load with mimic='couple' or 'independent'"
        mimicking[0].fail(what, mend)
    if mimic == "independent":
        ignored = "<mimic> is ignored, the joint moves on its own"
        return {}, [f"{joint.place}, {joint.label}: {ignored}" for joint in mimicking]
    fixed = [joint.text("name") for joint in mimicking if joint.text("type") == "fixed"]
    followers = {joint.text("name"): _follower(joint, joints) for joint in mimicking if joint.text("name") not in fixed}
    for follower in followers.values():
        _refuse_circle(follower, followers)
    named = ", ".join(f"'{name}'" for name in fixed)
    return followers, [f"<mimic> has no effect on joints that are fixed: {named}"] * bool(fixed)


def start_of(name: str, followers: dict[str, Follower], starts: dict[str, float]) -> float:
    """Where a joint starts: with the joint that it follows, else as in ``starts``. There are no circles."""
    scale, shift = 1.0, 0.0
    while name in followers:
        follower = followers[name]
        scale, shift, name = scale * follower.multiplier, shift + scale * follower.offset, follower.leader
    return scale * starts[name] + shift


def _follower(joint: Element, joints: dict[str, Element]) -> Follower:
    name, kind, mimic = joint.text("name"), joint.text("type"), joint.one("mimic")
    assert mimic is not None  # read_mimics has looked
    leader = mimic.text("joint")
    if kind not in ONE_DOF_JOINTS:
        mimic.fail(f"the {kind} joint '{name}' cannot mimic another", f"Remove <mimic>, {_INSTEAD}")
    if leader == name:
        mimic.fail(f"joint '{name}' mimics itself", f"Name the joint it shall follow, {_INSTEAD}")
    if leader not in joints:
        close = difflib.get_close_matches(leader, joints, 1, cutoff=0.5)
        meant = f" (did you mean '{close[0]}'?)" if close else ""
        what = f"joint '{name}' mimics '{leader}', which does not exist{meant}"
        mimic.fail(what, f"Name a joint of this robot, {_INSTEAD}")
    if joints[leader].text("type") not in ONE_DOF_JOINTS:
        what = f"joint '{name}' mimics '{leader}', a {joints[leader].text('type')} joint, which has no single position"
        mimic.fail(what, f"Name a revolute, continuous or prismatic joint, {_INSTEAD}")
    return Follower(joint, leader, mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))


def _refuse_circle(follower: Follower, followers: dict[str, Follower]) -> None:
    chain = [follower.joint.text("name")]
    while follower.leader in followers:  # at most one visit a joint
        chain.append(follower.leader)
        if follower.leader in chain[:-1]:
            what = "joints mimic each other in a circle: " + " → ".join(chain)
            followers[chain[0]].joint.fail(what, f"Let one of them move freely, {_INSTEAD}")
        follower = followers[follower.leader]
