"""A joint controller as a client program: it drives a running engine along a trajectory and keeps the log.

Servo drives get position and rate; torque drives get the torque that the equations of motion require,
    tau = M dv/dt + bias - passive(reference),   dv/dt = reference + 2 w (rate error) + w² (position error),
with the accelerations of all undriven coordinates (a free base) solved from their own rows. In a model with loops the
drives share the load: the forward dynamics, which includes the loops, gives the same accelerations. Loops that take
commands, and thrusters, keep their initial state.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from limberjack.bridge import Client
from limberjack.bridge.pacing import place
from limberjack.commands.conservation import CONSERVED, STRAIN, momentum_conserved
from limberjack.commands.record import Record
from limberjack.commands.trajectory import Reference, drivable, for_system
from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.model.catalogue.catalogue import signal_names
from limberjack.engine.model.load import load
from limberjack.engine.model.system import System

#: bandwidth of the torque controller, rad/s
BANDWIDTH = 12.0
#: largest number of rows in the log of a run
SAMPLES = 1500


class Motion(Protocol):
    """The state of an engine as a controller reads it."""

    @property
    def time(self) -> float: ...

    @property
    def q(self) -> np.ndarray: ...

    @property
    def v(self) -> np.ndarray: ...


class Controller:
    """Commands for a System whose driven coordinates follow a trajectory."""

    def __init__(self, system: System, duration_s: float) -> None:
        self.system, self.dynamics = system, Dynamics(system)
        self.driven = [a.coordinate for a in drivable(system)]
        self.rows = np.array([system.velocity_names.index(name) for name in self.driven], dtype=int)
        self.places = np.array([system.coordinate_names.index(name) for name in self.driven], dtype=int)
        self.trajectory = for_system(system, duration_s)
        self.needs_torque = any(a.mode == "torque" for a in system.actuators)
        self.held = [
            *(value for loop in system.loops for value in loop.first_commands),
            *(thruster.initial for thruster in system.thrusters),
            *(value for element in system.elements for _, _, value in element.commands),
        ]

    def commands(self, state: Motion) -> tuple[np.ndarray, Reference]:
        """The command vector for a state, and the reference it follows."""
        reference = self.trajectory.at(state.time)
        torque = self._torque(state.q, state.v, reference) if self.needs_torque else np.zeros(len(self.driven))
        values: list[float] = []
        for actuator in self.system.actuators:
            if actuator.coordinate not in self.driven:
                values += [0.0] * len(actuator.command_names)
                continue
            i = self.driven.index(actuator.coordinate)
            position, rate = float(reference.position[i]), float(reference.rate[i])
            values += {"torque": [float(torque[i])], "servo": [position, rate, 0.0], "velocity": [rate, 0.0]}[
                actuator.mode
            ]
        return np.array([*values, *self.held]), reference

    def _torque(self, q: np.ndarray, v: np.ndarray, reference: Reference) -> np.ndarray:
        passive = self._friction(q, v, reference)
        error, rate_error = reference.position - q[self.places], reference.rate - v[self.rows]
        wanted = reference.acceleration + 2.0 * BANDWIDTH * rate_error + BANDWIDTH**2 * error
        if self.system.loops:
            return self._closed_torque(q, v, passive, wanted)
        M = self.dynamics.mass_matrix(q)
        h = self.dynamics.bias(q, v) - passive
        vdot = np.zeros(self.system.nv)
        vdot[self.rows] = wanted
        rest = np.setdiff1d(np.arange(self.system.nv), self.rows)
        if rest.size:
            known = M[np.ix_(rest, self.rows)] @ vdot[self.rows] + h[rest]
            vdot[rest] = -np.linalg.solve(M[np.ix_(rest, rest)], known)
        return np.asarray((M @ vdot + h)[self.rows])

    def _closed_torque(self, q: np.ndarray, v: np.ndarray, passive: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The smallest torques that come nearest to the wanted accelerations: dv/dt = free + A tau, loops included."""
        free = self.dynamics.forward(q, v, passive)
        A = np.empty((len(self.rows), len(self.rows)))
        for i, row in enumerate(self.rows):
            pushed = passive.copy()
            pushed[row] += 1.0
            A[:, i] = (self.dynamics.forward(q, v, pushed) - free)[self.rows]
        return np.asarray(np.linalg.lstsq(A, wanted - free[self.rows], rcond=1e-9)[0])

    def _friction(self, q: np.ndarray, v: np.ndarray, reference: Reference) -> np.ndarray:
        """Passive forces at the reference; at the measured rate, feedback of dry friction would chatter."""
        q, v = q.copy(), v.copy()
        q[self.places], v[self.rows] = reference.position, reference.rate
        return self.dynamics.passive(q, v)


def columns(system: System, outputs: tuple[str, ...]) -> list[str]:
    """Column names of the log."""
    return [
        *signal_names(system, "time", "q", "v", "tau"),
        *(f"reference.{a.coordinate}" for a in drivable(system)),
        *(f"output.{name}" for name in outputs),
        *(f"momentum.{c}" for c in ("Lx", "Ly", "Lz", "px", "py", "pz")),
        CONSERVED,
        "energy.kinetic",
        "energy.potential",
        *([STRAIN] if system.flexible_names else []),
    ]


def _energies(dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Kinetic and potential energy, and with flexible bodies their strain energy."""
    strain = dynamics.strain_energy(q)
    return np.array([*dynamics.energy(q, v), *([sum(strain.values())] if strain else [])])


def drive(client: Client, system: System, job: dict[str, Any]) -> None:
    """Run the trajectory in lockstep; progress goes to standard output, one number per line.

    job : duration_s, period_steps, folder, real_time (True: each cycle begins at its own time on the clock)
    """
    controller, dynamics = Controller(system, job["duration_s"]), Dynamics(system)
    about = client.describe()
    period_s = about.dt * job["period_steps"]
    cycles = max(1, round(job["duration_s"] / period_s))
    stride = max(1, -(-cycles // SAMPLES))
    record = Record(columns(system, about.names["outputs"]), cycles // stride + 2)
    conserved = float(momentum_conserved(system))
    state = client.reset()
    controller.commands(state)  # compiles before the run, since a paced run has no time for it
    start = time.monotonic()
    for cycle in range(cycles + 1):
        values, reference = controller.commands(state)
        if cycle % stride == 0 or cycle == cycles:
            whole = dynamics.momentum(state.q, state.v), conserved, _energies(dynamics, state.q, state.v)
            record.add(state.time, state.q, state.v, state.tau, reference.position, state.outputs, *whole)
            print(f"{cycle / cycles:.4f}", flush=True)
        if cycle < cycles:
            state = client.step(job["period_steps"], command=values)
        if job["real_time"]:
            time.sleep(max(0.0, start + min(cycle + 1, cycles) * period_s - time.monotonic()))
    record.write(Path(job["folder"]))


def main() -> int:
    """`python -m limberjack.commands.controller JOB` with the job as JSON (see `commands/drive.py`)."""
    job = json.loads(sys.argv[1])
    place(job["cpus"], None)
    system = load(job["model"], **job["load"])
    with Client(job["endpoint"], name="controller", timeout_s=job["timeout_s"], keys=job["keys"]) as client:
        drive(client, system, job)
    return 0


if __name__ == "__main__":
    sys.exit(main())
