"""Closing and releasing loops of a running simulation."""

from __future__ import annotations

import numpy as np

from limberjack.engine.api.impact import Impact
from limberjack.engine.api.running import Running
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.plant import split
from limberjack.engine.model.system import Loop
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.reports import (
    FLAT,
    REPORT,
    RP_COUNT,
    RP_DISTANCE,
    RP_IMPULSE,
    RP_LOSS,
    RP_STATUS,
    SWITCH_FAR,
)


def out_of_reach(loop: Loop, distance: float) -> str:
    """Why a loop whose frames are so far apart, m, cannot be closed."""
    return (
        f"loop '{loop.name}' is out of reach: its frames are {distance:.6g} m apart and it closes within "
        f"{loop.reach:g} m. Bring them nearer, or give the loop more 'reach'."
    )


def so_already(name: str, closed: bool) -> str:
    """Why a loop is neither closed nor released."""
    return f"loop '{name}' is {'closed' if closed else 'open'} already."


class Topology:
    """The loops of a simulation by name: whether they are closed, and how to change that."""

    def __init__(self, simulation: Running, work: np.ndarray, state: np.ndarray) -> None:
        """work, state : the simulation's own vectors."""
        self._simulation, self._model = simulation, (simulation.plant.ints, simulation.plant.floats, work, state)
        self._scratch = split(work, layout.work_sections(simulation.plant.ints))
        self._loops = {loop.name: i for i, loop in enumerate(simulation.system.loops)}
        self._report = np.zeros(REPORT)

    def closed(self, name: str) -> bool:
        """Whether a loop is closed now."""
        row = self._row(name)
        return row is None or bool(row[lp.SW_CLOSED] > 0.5)

    def losses(self) -> dict[str, float]:
        """Kinetic energy that each loop took when it last closed while running, J; 0 before it did."""
        return {name: float(row[lp.SW_LOSS]) for name in self._loops if (row := self._row(name)) is not None}

    def switch(self, name: str, close: bool) -> Impact:
        """Close or release a loop at once, and set its command to that. A refusal changes nothing.

        Where it is so already and its command says otherwise, only the command changes.
        """
        place, report = self._place(name), self._report
        if self._row(name) is None:
            raise ArgumentError(
                f"loop '{name}' is always closed and cannot be {'attached' if close else 'released'}; write "
                "'switchable: true' at the loop."
            )
        if close == self.closed(name) and close == self._commanded(place):
            raise ArgumentError(so_already(name, close))
        entries().switch_loop(*self._model, place, close, report)
        loop = self._simulation.system.loops[place]
        if report[RP_STATUS] == SWITCH_FAR:
            raise ArgumentError(out_of_reach(loop, report[RP_DISTANCE]))
        return Impact(
            name,
            self._simulation.time,
            float(report[RP_LOSS]),
            self._impulse(loop),
            float(report[RP_DISTANCE]),
        )

    def lock_of(self, hinge: str) -> str:
        """The name of the lock of a hinge that can be switched."""
        system = self._simulation.system
        arguments.index_of("hinge", hinge, [body.hinge.name for body in system.bodies])
        for loop in system.loops:
            if loop.type == "lock" and loop.locked == hinge and loop.switchable:
                return loop.name
        raise ArgumentError(
            f"hinge '{hinge}' has no lock that can be switched; declare one among the model's loops: "
            f"{{name: {hinge}_lock, type: lock, hinge: {hinge}, switchable: true, closed: false}}."
        )

    def why_open(self, place: int) -> str:
        """Words about the loop that a step could not close, from what the kernels left in Work."""
        loop = self._simulation.system.loops[place]
        text = f"loop '{loop.name}' cannot be closed again"
        height = float(self._scratch["frame"][place, lp.F_D + 2])
        if loop.wheel is not None and loop.wheel.shape == "disc" and height < FLAT * loop.wheel.radius:
            return f"{text}: its disc fell flat, where it has no lowest point,"
        count = int(self._simulation.plant.sections["loop_int"][place, lp.L_ROWS])
        residual = float(np.abs(self._scratch["row_work"][place, lp.R_RESIDUAL : lp.R_RESIDUAL + count]).max(initial=0))
        return f"{text}, {residual:.3g} (m or rad) are left"

    def _place(self, name: str) -> int:
        if not isinstance(name, str) or name not in self._loops:
            arguments.index_of("loop", name, self._loops)
        return self._loops[name]

    def _commanded(self, place: int) -> bool:
        """Whether the command of a loop that can be switched asks to close it."""
        command = int(self._simulation.plant.sections["loop_int"][place, lp.L_COMMAND])
        return bool(self._simulation.part("command")[command] > 0.5)

    def _row(self, name: str) -> np.ndarray | None:
        """The loop's part of the State, a view; None for one that is always closed."""
        place = int(self._simulation.plant.sections["loop_int"][self._place(name), lp.L_SWITCH])
        return None if place < 0 else self._simulation.part("switch").reshape(-1, lp.SWITCH)[place]

    def _impulse(self, loop: Loop) -> np.ndarray | float:
        found = self._report[RP_IMPULSE : RP_IMPULSE + int(self._report[RP_COUNT])]
        return found.copy() if loop.joins or len(found) > 1 else float(found[0])
