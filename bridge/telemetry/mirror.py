"""A copy of the engine's simulation in the gateway, to compute quantities from a state without requests to the
engine."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import LimberjackError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.catalogue.catalogue import catalogue
from limberjack.engine.model.device_tables import carry_rotors
from limberjack.engine.model.plant import split
from limberjack.engine.model.system import System
from limberjack.engine.tables import plant as layout


class Mirror:
    """Energy, momentum and the motion of all nodes at states that an engine sent. Usable from several threads.

    simulation : of the engine's model; it never steps
    """

    def __init__(self, system: System) -> None:
        self.simulation = Simulation(system)
        self._places = np.array([number.place for number in catalogue(system, "energy", "momentum")])
        self._lock = threading.Lock()
        plant, state = self.simulation.plant, self.simulation.state  # a state of its own, for `survey`
        places = (self.simulation.state_layout[part] for part in ("q", "v", "drives"))
        self._parts = [state[at : at + size] for at, size in places]
        self._motion = state[layout.S_Q : layout.S_Q + system.nq + system.nv].view(np.uint8).data
        self._has_motors = len(plant.sections["motor_int"]) > 0
        self._survey = np.zeros(plant.surveyed_size)
        self._measure = entries().survey.bind(plant.ints, plant.floats, plant.new_work(), state, self._survey)
        self._looked = plant.new_work(), self.simulation.state  # for `met`, of its own
        self._met = split(self._looked[0], layout.work_sections(plant.ints))["met"]

    def survey(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(10 + 13 nodes,) at coordinates q (nq,) and velocities v (nv,), as `engine.outputs.survey_entry` has it."""
        with self._lock:
            self._parts[0][:], self._parts[1][:] = q, v
            self._look()
            return self._survey.copy()

    def _look(self) -> None:
        """Compute the survey. Rotors turn with their joints: the engine does not publish how they do."""
        if self._has_motors:
            carry_rotors(self.simulation.plant, *self._parts)
        self._measure()

    def met(self, q: np.ndarray) -> np.ndarray:
        """(touches, 16): where shapes of contacts may touch at coordinates q (nq,), laid out by tables/contacts.py."""
        plant, (work, state) = self.simulation.plant, self._looked
        with self._lock:
            state[layout.S_Q : layout.S_Q + len(q)] = q
            entries().gaps(plant.ints, plant.floats, work, state)
            return self._met.copy()

    def whole(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(10,): energies in J, angular momentum in N·m·s, linear momentum in N·s, in the dictionary's order."""
        whole: np.ndarray = self.survey(q, v)[self._places]
        return whole

    def fill(self, whole: np.ndarray, motion: memoryview) -> None:
        """Write what `whole` returns to an array (10,). motion : the bytes of q and v

        A gateway does this with each state. Between two states other programs empty the processor's caches, so that
        every further function that is called here takes ten times as long as in a loop: hence as few as possible.
        """
        with self._lock:
            self._motion[:] = motion
            self._look()
            self._survey.take(self._places, out=whole, mode="clip")

    def set_parameters(self, values: Mapping[str, float]) -> None:
        """Copy the engine's parameters; those that this model does not know are ignored."""
        with self._lock:
            for name, value in values.items():
                try:
                    self.simulation.parameters[name] = value
                except LimberjackError:
                    continue
