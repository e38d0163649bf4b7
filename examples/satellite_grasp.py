"""A space manipulator grasps a tumbling satellite, moves it and pushes it off; writes results/satellite_grasp/.

python examples/satellite_grasp.py [FOLDER] [--process]

The arm of satellite_grasp.yaml steers its gripper by resolved rates: v_gripper = J_g dθ/dt with the Jacobian of a free
base, which gives way so that momentum stays zero. At the grapple fixture the weld `grasp` is closed; the impact
takes the relative motion away. The joints brake, swing the satellite to another place, speed it up along the gripper's
axis and let go. The weld's forces and gap, energy and momentum are logged and plotted.

With --process the engine runs in a process of its own and the controller talks to it over ZeroMQ: the same numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import limberjack as lj
from limberjack.bridge import Client
from limberjack.bridge.process import EngineProcess

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MODEL = Path(__file__).resolve().parent / "satellite_grasp.yaml"
#: a controller cycle and the whole mission, s
PERIOD, DURATION = 0.02, 64.0
#: the approach: largest speed (m/s) and turning rate (rad/s), time to get there (s), gain (1/s), how far before the
#: fixture it waits (m)
FASTEST, TURNING, START, GAIN, STANDOFF = 0.10, 0.05, 3.0, 0.6, 0.30
#: speed of the last stretch, m/s, and the distance at which the weld is commanded to close, m
CLOSING, CONTACT = 0.030, 0.010
#: durations of braking, of the swing and of the push, s; speed of the push, m/s
BRAKE, SWING, PUSH, PUSH_SPEED = 4.0, 24.0, 3.0, 0.10
#: where the arm swings the satellite: joint angles, rad
BERTH = np.array([0.6, 0.0, -1.5, 2.2, -0.6, 0.0, 0.0])
APPROACH, CLOSE_IN, BRAKING, SWINGING, PUSHING, DRIFT = PHASES = (
    "approach",
    "close in",
    "brake",
    "swing",
    "push",
    "drift",
)


@dataclass(frozen=True)
class Sample:
    """The engine at one time: coordinates, velocities, and the sensors by name."""

    time: float
    q: np.ndarray
    v: np.ndarray
    output: dict[str, float]


#: set commands, take n steps, return where that leads
Step = Callable[[int, dict[str, float]], Sample]


class Mission:
    """Joint commands from the state, phase by phase.

    rate : commanded joint rates (7,), rad/s; reference : commanded angles (7,), rad; closed : command of the weld
    """

    def __init__(self, system: lj.System) -> None:
        self.dynamics = lj.Dynamics(system)
        self.joints = [actuator.name for actuator in system.actuators]
        self.columns = [system.velocity_names.index(name) for name in self.joints]
        self.base = [i for i, name in enumerate(system.velocity_names) if name.startswith("satellite.")]
        places = [system.coordinate_names.index(name) for name in self.joints]
        self.reference, self.rate = system.q0[places], np.zeros(len(places))
        self.phase, self.closed, self.gap = APPROACH, False, STANDOFF
        self._enter(APPROACH, 0.0)

    def command(self, sample: Sample) -> dict[str, float]:
        """Commands for the next period."""
        self.rate = self._rate(sample)
        self.reference = self.reference + PERIOD * self.rate
        angles = dict(zip(self.joints, self.reference.tolist(), strict=True))
        rates = {f"{name}.rate": rate for name, rate in zip(self.joints, self.rate.tolist(), strict=True)}
        return {**angles, **rates, "grasp.closed": float(self.closed)}

    def _enter(self, phase: str, time: float) -> None:
        self.phase, self._began, self._first = phase, time, (self.reference, self.rate)

    def _rate(self, sample: Sample) -> np.ndarray:
        """Joint rates of the present phase; goes on to the next phase when this one is done."""
        if self.phase in (APPROACH, CLOSE_IN):
            return self._to_fixture(sample)
        duration = {BRAKING: BRAKE, SWINGING: SWING, PUSHING: PUSH, DRIFT: BRAKE}[self.phase]
        s = min((sample.time - self._began + PERIOD) / duration, 1.0)
        start, rate = self._first
        if self.phase == SWINGING:
            rate = 30.0 * s * s * (1.0 - s) ** 2 / duration * (BERTH - start)
        elif self.phase == PUSHING:
            rate = s * self._push(sample)
        else:
            rate = (1.0 - s) * rate
        if s == 1.0 and self.phase != DRIFT:
            following = PHASES[PHASES.index(self.phase) + 1]
            self.closed = following != DRIFT
            self.rate = rate
            self._enter(following, sample.time)
        return np.asarray(rate)

    def _to_fixture(self, sample: Sample) -> np.ndarray:
        """Rates towards a point before the grapple fixture, on its axis; close to it, on into the fixture."""
        dynamics, q, v = self.dynamics, sample.q, sample.v
        (R, p), (R_t, p_t) = dynamics.pose("grasp_point", q), dynamics.pose("grapple", q)
        fixture = dynamics.velocity("grapple", q, v)
        ahead, turn = p_t - self.gap * R_t[:, 0] - p, rotation_vector(R_t @ R.T)
        if self.phase == APPROACH and np.linalg.norm(ahead) < 0.02 and np.linalg.norm(turn) < 0.02:
            self._enter(CLOSE_IN, sample.time)
        inward = CLOSING if self.phase == CLOSE_IN else 0.0
        self.gap -= PERIOD * inward
        if np.linalg.norm(p_t - p) < CONTACT:
            self.closed = True
            self._enter(BRAKING, sample.time)
        carried = fixture[3:] + np.cross(fixture[:3], p + ahead - p_t) + inward * R_t[:, 0]
        turning, speed = fixture[:3] + limited(GAIN * turn, TURNING), carried + limited(GAIN * ahead, FASTEST)
        started = min(1.0, sample.time / START)
        return np.asarray(started * np.linalg.pinv(self._free_base_jacobian(q)) @ np.concatenate([turning, speed]))

    def _free_base_jacobian(self, q: np.ndarray) -> np.ndarray:
        """J_g (6, 7) of the grasp point: the base gives way, M_bb v_b + M_bm dθ/dt = 0."""
        J, M = self.dynamics.jacobian("grasp_point", q), self.dynamics.mass_matrix(q)
        b, m = self.base, self.columns
        return np.asarray(J[:, m] - J[:, b] @ np.linalg.solve(M[np.ix_(b, b)], M[np.ix_(b, m)]))

    def _push(self, sample: Sample) -> np.ndarray:
        """Joint rates that move the gripper along its axis, as seen from the base, without turning it."""
        R, _ = self.dynamics.pose("grasp_point", sample.q)
        J = self.dynamics.jacobian("grasp_point", sample.q)[:, self.columns]
        return np.asarray(np.linalg.pinv(J) @ np.concatenate([np.zeros(3), PUSH_SPEED * R[:, 0]]))


def limited(vector: np.ndarray, most: float) -> np.ndarray:
    """The vector, shortened to a length of at most `most`."""
    return vector * min(1.0, most / max(float(np.linalg.norm(vector)), 1e-12))


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """Axis times angle of a rotation of less than half a turn."""
    axis = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = float(np.linalg.norm(axis))
    return axis * (np.arctan2(sine, 0.5 * (np.trace(R) - 1.0)) / sine if sine > 1e-9 else 1.0)


@dataclass
class Log:
    """One row a cycle of every column, and when each phase began."""

    columns: dict[str, np.ndarray]
    begins: dict[str, float]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def across(self, phase: str) -> tuple[int, int]:
        """Rows before and after the first step of a phase."""
        after = int(np.searchsorted(self["time"], self.begins[phase] + 0.5 * PERIOD))
        return after - 1, after


def fly(system: lj.System, step: Step, duration: float = DURATION, heard: Callable[[float], None] | None = None) -> Log:
    """The mission in an engine that stands at its start; `heard` gets the share that is done."""
    mission, cycle = Mission(system), round(PERIOD / system.dt)
    sample, rows, begins = step(0, {}), [], {APPROACH: 0.0}
    for _ in range(round(duration / PERIOD)):
        rows.append(_row(mission, sample))
        command = mission.command(sample)
        begins.setdefault(mission.phase, sample.time)
        sample = step(cycle, command)
        if heard:
            heard(sample.time / duration)
    rows.append(_row(mission, sample))
    return Log({name: np.array([row[name] for row in rows]) for name in rows[0]}, begins)


def _row(mission: Mission, sample: Sample) -> dict[str, Any]:
    dynamics, q, v = mission.dynamics, sample.q, sample.v
    arm, fixture = dynamics.velocity("grasp_point", q, v), dynamics.velocity("grapple", q, v)
    lever = dynamics.pose("grapple", q)[1] - dynamics.pose("grasp_point", q)[1]
    wrench = np.array([sample.output[f"grasp_load.{part}"] for part in ("nx", "ny", "nz", "fx", "fy", "fz")])
    return {
        "time": sample.time,
        "angles": q[7 : 7 + len(mission.joints)].copy(),
        "reference": mission.reference,
        "distance": np.linalg.norm(lever),
        "speed": np.linalg.norm(fixture[3:] - arm[3:] - np.cross(arm[:3], lever)),
        "turning": np.linalg.norm(fixture[:3] - arm[:3]),
        "moment": np.linalg.norm(wrench[:3]),
        "force": np.linalg.norm(wrench[3:]),
        "gap": sample.output["grasp_gap"],
        "closed": sample.output["grasped"],
        "loss": sample.output["grasp_loss"],
        "kinetic": dynamics.energy(q, v)[0],
        "momentum": dynamics.momentum(q, v),
    }


def inside(system: lj.System) -> Step:
    """An engine in this process."""
    simulation = lj.Simulation(system)

    def step(n: int, command: dict[str, float]) -> Sample:
        for name, value in command.items():
            simulation.command[name] = value
        simulation.step(n)
        output = dict(zip(simulation.output_names, simulation.output_vector.tolist(), strict=True))
        return Sample(simulation.time, simulation.q, simulation.v, output)

    return step


def remote(client: Client) -> Step:
    """An engine in another process."""

    def step(n: int, command: dict[str, float]) -> Sample:
        state = client.step(n, command=command) if n else client.reset()
        return Sample(state.time, state.q, state.v, dict(state.output))

    return step


def report(log: Log) -> list[str]:
    """What happened, line by line."""
    before, after = log.across(BRAKING)
    let_go = log.across(DRIFT)[0]
    drift = np.abs(log["momentum"] - log["momentum"][0]).max(axis=0)
    whole = np.abs(log["momentum"]).max(axis=0)
    held = slice(after, let_go + 1)
    return [
        f"grasp at {log.begins[BRAKING]:.2f} s: {log['speed'][before] * 1e3:.1f} mm/s and "
        f"{np.rad2deg(log['turning'][before]):.3f} °/s taken away, {log['loss'][after]:.4f} J lost",
        f"held for {log.begins[DRIFT] - log.begins[BRAKING]:.1f} s: force up to {log['force'][held].max():.1f} N, "
        f"moment up to {log['moment'][held].max():.1f} N·m, gap at most {log['gap'][held].max():.1e}",
        f"released at {log.begins[DRIFT]:.2f} s; the satellite leaves with {log['speed'][-1] * 1e3:.1f} mm/s",
        f"momentum: linear changed by {drift[3:].max():.1e} of {whole[3:].max():.2f} N·s, angular by "
        f"{drift[:3].max():.1e} of {whole[:3].max():.2f} N·m·s",
    ]


def plot(log: Log, names: list[str], path: Path) -> Path:
    """Joints, relative motion, the weld's load and gap, energy, momentum; phases in the background."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 10.0), layout="constrained")
    axes = figure.subplots(3, 2, sharex=True)
    figure.suptitle("A space manipulator grasps, moves and releases a tumbling satellite", fontweight="bold")
    for panel, draw in zip(axes.flat, (_joints, _relative, _load, _gap, _energy, _momentum), strict=True):
        draw(panel, log)
        _phases(panel, log)
        panel.grid(alpha=0.3)
    for i, name in enumerate(names):
        axes[0, 0].lines[2 * i].set_label(name)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), ncols=len(names), fontsize=9, loc="outside lower center")
    for panel in axes[-1]:
        panel.set_xlabel("time / s")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    return path


def _phases(panel: Axes, log: Log) -> None:
    """Every other phase shaded, names on top."""
    begins = [*log.begins.values(), log["time"][-1]]
    for i, name in enumerate(log.begins):
        if i % 2:
            panel.axvspan(begins[i], begins[i + 1], color="black", alpha=0.05, lw=0)
        middle = 0.5 * (begins[i] + begins[i + 1])
        wide = begins[i + 1] - begins[i] > 0.12 * begins[-1]
        panel.annotate(
            name,
            (middle, 0.98),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="top",
            fontsize=8,
            color="0.35",
            rotation=0 if wide else 90,
        )
    panel.set_xlim(0.0, begins[-1])


def _joints(panel: Axes, log: Log) -> None:
    for i, angles in enumerate(np.rad2deg(log["angles"]).T):
        panel.plot(log["time"], angles, color=f"C{i}")
        panel.plot(log["time"], np.rad2deg(log["reference"][:, i]), color="black", lw=0.8, dashes=(4, 4))
    panel.set_title("joint angles (dashed: command)", loc="left")
    panel.set_ylabel("deg")
    panel.margins(y=0.2)


def _relative(panel: Axes, log: Log) -> None:
    for name, label, style in (
        ("distance", "distance / m", "0.6"),
        ("speed", "speed / (m/s)", "C0"),
        ("turning", "turning rate / (rad/s)", "C1"),
    ):
        panel.semilogy(log["time"], np.maximum(log[name], 1e-17), color=style, label=label)
    panel.set_title("fixture relative to gripper", loc="left")
    panel.set_ylabel("m, m/s, rad/s")
    panel.set_ylim(1e-16, 1e4)
    panel.legend(loc="lower left", fontsize=9)


def _load(panel: Axes, log: Log) -> None:
    panel.plot(log["time"], log["force"], label="force / N")
    panel.plot(log["time"], log["moment"], label="moment / (N·m)")
    panel.set_title("what the weld carries", loc="left")
    panel.set_ylabel("N, N·m")
    panel.margins(y=0.2)
    panel.legend(loc="center left", fontsize=9)


def _gap(panel: Axes, log: Log) -> None:
    held = log["closed"] > 0.5
    panel.semilogy(log["time"], np.where(held, np.maximum(log["gap"], 1e-18), np.nan), color="C2")
    panel.set_title("gap of the closed weld", loc="left")
    panel.set_ylabel("m or rad")
    panel.set_ylim(1e-15, 1e-9)


def _energy(panel: Axes, log: Log) -> None:
    panel.plot(log["time"], log["kinetic"], color="C3")
    _, after = log.across(BRAKING)
    panel.annotate(
        f"impact: {log['loss'][after]:.3f} J lost",
        (log.begins[BRAKING], log["kinetic"][after]),
        xytext=(-60, 60),
        textcoords="offset points",
        arrowprops={"arrowstyle": "->", "color": "0.3"},
        fontsize=9,
    )
    panel.set_title("kinetic energy of all bodies", loc="left")
    panel.set_ylabel("J")
    panel.margins(y=0.2)


def _momentum(panel: Axes, log: Log) -> None:
    change = log["momentum"] - log["momentum"][0]
    for label, part in (("linear / (N·s)", slice(3, 6)), ("angular / (N·m·s)", slice(0, 3))):
        panel.semilogy(log["time"][1:], np.maximum(np.linalg.norm(change[1:, part], axis=1), 1e-17), label=label)
    panel.set_title("change of total momentum", loc="left")
    panel.set_ylabel("magnitude")
    panel.set_ylim(1e-13, 1e-6)
    panel.legend(loc="lower right", fontsize=9)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("results/satellite_grasp"))
    parser.add_argument("--process", action="store_true", help="the engine in a process of its own, over ZeroMQ")
    options = parser.parse_args()
    system = lj.load(MODEL)
    if options.process:
        with EngineProcess(system) as engine, engine.client() as client:
            log = fly(system, remote(client))
    else:
        log = fly(system, inside(system))
    print("\n".join(report(log)))
    print(f"plot {plot(log, [a.name for a in system.actuators], options.folder / 'satellite_grasp.png')}")


if __name__ == "__main__":
    main()
