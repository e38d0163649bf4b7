"""Events of contacts: shapes touch, lift off, and loops close while they touch, as the State of a model shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from limberjack.engine.api.running import Stepped
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.system import System
from limberjack.engine.tables import contacts as at
from limberjack.engine.tables.loops import SW_CLOSED, SWITCH

Model = TypeVar("Model", bound=Stepped)

#: kinds of events
TOUCH, LIFT_OFF, CAPTURE = KINDS = "touch", "lift_off", "capture"
#: a loop that closes captures what touched at most so long ago, s: a probe may bounce when its latch closes
RECENT = 0.1


@dataclass(frozen=True)
class ContactEvent:
    """Something that a contact did.

    kind : "touch": shapes carry force that did not before; "lift_off": they no longer do; "capture": a loop that can be
        switched closed while shapes touch, or up to 0.1 s after
    source : name of the contact; of the loop for "capture"
    time : end of the first step in which it is so, s
    shapes : names of the two that touched first; none for "capture"
    speed : with which these approached at the start of the step in which they touched, along their normal, m/s
    force : largest norm of the contact's force, N: in the first step for "touch", until now otherwise
    lasted : since they touched, s
    contacts : names of those that touch; for "capture" those that captured
    """

    kind: str
    source: str
    time: float
    shapes: tuple[str, ...] = ()
    speed: float = 0.0
    force: float = 0.0
    lasted: float = 0.0
    contacts: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind == TOUCH:
            return f"{' and '.join(self.shapes)} touch at {self.speed:.4g} m/s"
        if self.kind == LIFT_OFF:
            return f"{' and '.join(self.shapes)} touched for {self.lasted:.4g} s, up to {self.force:.4g} N"
        return f"closed {self.lasted:.4g} s after {' and '.join(self.contacts)} touched, up to {self.force:.4g} N"


@dataclass
class _Touching:
    """What one contact does, from its first step to now."""

    event: ContactEvent
    force: float
    left: float | None = None  # when it lifted off, s


class ContactWatch:
    """Steps a simulation, and reports what its contacts do.

    It looks after every step, so that no impact is missed; of a step with substeps it sees the last one. Bits stay what
    `Simulation.step` gives. What touches when it begins does not touch again; how fast it came is not known then.

    tell : called with each event, in their order
    """

    def __init__(self, simulation: Stepped, tell: Callable[[ContactEvent], object]) -> None:
        self._simulation, self._report = simulation, tell
        plant, system = simulation.plant, simulation.system
        self._names = [contact.name for contact in system.contacts]
        self._touch = simulation.part("touch").reshape(-1, at.TOUCH)
        self._acts = self._touch[:, at.TO_ACTS]
        self._pairs, self._shapes = plant.sections["pair_int"], plant.touching
        counts = self._pairs[:, at.PA_TOUCHES]
        self._pair_of = np.repeat(np.arange(len(self._pairs)), counts)
        self._contact_of = self._pairs[self._pair_of, at.PA_CONTACT]
        self._signs = np.where(self._pairs[self._pair_of, at.PA_FLIP] == 1, -1.0, 1.0)
        self._bodies = {shape.name: shape.body for shape in system.shapes}
        self._loops = [loop.name for loop in system.loops if loop.switchable]
        self._closed_now = simulation.part("switch").reshape(-1, SWITCH)[:, SW_CLOSED]
        self._q, self._v = simulation.part("q"), simulation.part("v")
        self._before = self._q.tobytes(), self._v.tobytes()
        self._still = np.zeros(len(self._acts)).tobytes()
        self.begin()

    def begin(self) -> None:
        """Take the present state as it is: after a restore or a reset nothing has happened yet."""
        self._touching: dict[int, _Touching] = {}
        self._lately: dict[int, _Touching] = {}
        self._closed = self._closed_now.tobytes()
        for contact in self._acting():
            rows = self._rows(contact)
            shapes, force = self._shapes[self._pair_of[rows[0]]], self._force(contact)
            parts = float(self._acts[rows].max()) - 1.0
            since = self._simulation.time - parts * self._simulation.dt / self._simulation.substeps
            event = ContactEvent(TOUCH, self._names[contact], since, shapes, force=force)
            self._touching[contact] = _Touching(event, force)

    @property
    def touching(self) -> dict[str, ContactEvent]:
        """Contact that touches now → its touch, with the largest force and the time since, as of a lift-off."""
        return {each.event.source: self._until_now(LIFT_OFF, each) for each in self._touching.values()}

    def step(self, n: int = 1, ahead: int | None = None) -> None:
        """As `Simulation.step`, which raises; events before a step that fails have been reported."""
        simulation = self._simulation
        if not self._names:
            simulation.step(n, ahead)
            return
        left = n if ahead is None else ahead
        for done in range(n):
            self._before = self._q.tobytes(), self._v.tobytes()
            simulation.step(1, left - done)
            self.look()

    @property
    def busy(self) -> bool:
        """Whether something touches, or did lately, so that each step must be looked at."""
        return bool(self._touching or self._lately)

    def look_from(self, q: np.ndarray, v: np.ndarray) -> None:
        """After one step from q (nq,) and v (nv,) that somebody else took: report its events."""
        self._before = q.tobytes(), v.tobytes()
        self.look()

    def look(self) -> None:
        """After one step: report its events. Bytes are compared where nothing happens, which takes least time."""
        if self._touching or self._lately or self._acts.tobytes() != self._still:
            self._follow_touches()
        if self._closed_now.tobytes() != self._closed:
            self._follow_loops()

    def _follow_touches(self) -> None:
        acting = self._acting()
        for contact in acting:
            if contact not in self._touching:
                self._begin_touch(contact)
            else:
                known = self._touching[contact]
                known.force = max(known.force, self._force(contact))
        for contact in [contact for contact in self._touching if contact not in acting]:
            self._lift(contact)
        if self._lately:
            since = self._simulation.time - RECENT
            self._lately = {i: each for i, each in self._lately.items() if (each.left or 0.0) >= since}

    def _acting(self) -> list[int]:
        """Numbers of the contacts that touch now."""
        found: list[int] = np.unique(self._contact_of[self._acts > 0.0]).tolist()
        return found

    def _rows(self, contact: int) -> np.ndarray:
        """Touches of a contact that act now."""
        found: np.ndarray = np.flatnonzero((self._acts > 0.0) & (self._contact_of == contact))
        return found

    def _begin_touch(self, contact: int) -> None:
        self._lately.pop(contact, None)
        speed, shapes = max((self._approach(int(i)), self._shapes[self._pair_of[i]]) for i in self._rows(contact))
        name, force = self._names[contact], self._force(contact)
        event = ContactEvent(TOUCH, name, self._simulation.time, shapes, speed, force, 0.0, (name,))
        self._touching[contact] = _Touching(event, force)
        self._report(event)

    def _lift(self, contact: int) -> None:
        known = self._touching.pop(contact)
        known.left = self._simulation.time
        self._lately[contact] = known
        self._report(self._until_now(LIFT_OFF, known))

    def _follow_loops(self) -> None:
        """Report which loops closed, if anything touches."""
        before, self._closed = np.frombuffer(self._closed), self._closed_now.tobytes()
        closed = np.flatnonzero((self._closed_now > 0.5) & (before < 0.5)).tolist()
        by = list({**self._lately, **self._touching}.values())
        if not by:
            return
        now, first = self._simulation.time, min(by, key=lambda each: each.event.time)
        force, names = max(each.force for each in by), tuple(each.event.source for each in by)
        for loop in closed:
            lasted = now - first.event.time
            self._report(ContactEvent(CAPTURE, self._loops[loop], now, (), first.event.speed, force, lasted, names))

    def _until_now(self, kind: str, known: _Touching) -> ContactEvent:
        event, now = known.event, self._simulation.time
        lasted = now - event.time
        return ContactEvent(kind, event.source, now, event.shapes, event.speed, known.force, lasted, event.contacts)

    def _force(self, contact: int) -> float:
        """Norm of the force that a contact's sensor shows, N."""
        rows = self._rows(contact)
        forces = self._touch[rows, at.TO_FORCE : at.TO_FORCE + 3] * self._signs[rows, None]
        return float(np.linalg.norm(forces.sum(axis=0)))

    def _approach(self, place: int) -> float:
        """-n · (v_b - v_a) at a touch, from the velocities at the start of the step."""
        row, (a, b) = self._touch[place], self._shapes[self._pair_of[place]]
        point, normal = row[at.TO_POINT : at.TO_POINT + 3], row[at.TO_NORMAL : at.TO_NORMAL + 3]
        away = self._velocity(self._bodies[b], point) - self._velocity(self._bodies[a], point)
        return float(-normal @ away)

    def _velocity(self, body: str | None, point: np.ndarray) -> np.ndarray:
        """(3,) of the place of a body, m/s, inertial axes."""
        if body is None:
            return np.zeros(3)
        dynamics, (q, v) = self._simulation.dynamics, map(np.frombuffer, self._before)
        motion, (_, origin) = dynamics.velocity(body, q, v), dynamics.pose(body, q)
        found: np.ndarray = motion[3:] + np.cross(motion[:3], point - origin)
        return found


def until(simulation: Model, event: str | Callable[[Model], Any], most: int) -> Any:
    """As `Simulation.step_until`."""
    if isinstance(event, str):
        came, step = _awaited(simulation, event)
    else:
        came, step = partial(event, simulation), simulation.step
    for _ in range(most):
        if now := came():
            return now
        step()
    return came() or None


def _awaited(simulation: Stepped, event: str) -> tuple[Callable[[], ContactEvent | None], Callable[[], None]]:
    """What detects an event, and what steps until then."""
    kind, source = _known(simulation.system, *event.partition(" ")[::2])
    found: list[ContactEvent] = []

    def keep(event: ContactEvent) -> None:
        if event.kind == kind and source in ("", event.source):
            found.append(event)

    return (lambda: found[0] if found else None), ContactWatch(simulation, keep).step


def _known(system: System, kind: str, source: str) -> tuple[str, str]:
    """A kind of event and its source, "" for any. ArgumentError if the model can have no such event."""
    arguments.index_of("kind of contact event", kind, KINDS)
    if not system.contacts:
        raise ArgumentError(f"the model '{system.name}' has no contacts, so nothing can touch; give it `contacts`.")
    loops = [loop.name for loop in system.loops if loop.switchable]
    if kind == CAPTURE and not loops:
        raise ArgumentError(f"the model '{system.name}' has no loop that can be switched, so nothing can be captured.")
    if source:
        what = "loop that can be switched" if kind == CAPTURE else "contact"
        arguments.index_of(what, source, loops if kind == CAPTURE else [contact.name for contact in system.contacts])
    return kind, source
