"""The recursions of multibody dynamics as a Kalman filter and smoother; draws docs/images/estimation.png.

python examples/estimation_view.py [IMAGE]

The arm of space_manipulator.yaml is read from the gripper to the satellite as a linear process with one instant a body:
the state x is the spatial force that a hinge passes to its body, driven by white noise whose covariance is the body's
spatial inertia. Hinge forces T are noisy measurements of it. docs/explanation/estimation.md has the dictionary.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import limberjack as lj
from limberjack.engine.operators import BlockOperator, Operators, StackedVector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MODEL = Path(__file__).resolve().parent / "space_manipulator.yaml"
IMAGE = Path(__file__).resolve().parents[1] / "docs" / "images" / "estimation.png"
#: standard deviations below this are 0 but for rounding
ROUNDING = 1e-3
#: angles of the seven joints, rad: the booms bent, the wrist turned
POSTURE = np.array([0.4, 0.3, -1.2, 1.9, -0.7, 0.5, 0.2])


@dataclass
class Estimate:
    """What filter and smoother make of the measurements T; the covariances do not depend on them.

    z, z_plus, f : state predicted, filtered, smoothed; eps : innovations; alpha : adjoint of the smoother
    """

    z: StackedVector
    eps: StackedVector
    z_plus: StackedVector
    alpha: StackedVector
    f: StackedVector


def operators() -> Operators:
    """The operators of the arm in its posture."""
    system = lj.load(MODEL)
    return Operators(system, np.concatenate([[1.0, 0, 0, 0, 0, 0, 0], POSTURE]))


def draw(ops: Operators, rng: np.random.Generator) -> tuple[StackedVector, StackedVector]:
    """One history of the process: states x = φ w and measurements T = H x + n, w of covariance M, n of covariance J."""
    w = np.concatenate([_root(ops.M[k]) @ rng.normal(size=6) for k in ops.body_names])
    n = np.concatenate([np.sqrt(ops.J[k]) @ rng.normal(size=len(ops.J[k])) for k in ops.body_names])
    x = ops.phi * w
    return x, ops.H * x + n


def estimate(ops: Operators, T: StackedVector) -> Estimate:
    """Kalman filter, tip to base, then Bryson-Frazier smoother, base to tip: two sweeps each."""
    H, P, G, K, psi, D_inverse = ops.H, ops.P, ops.G, ops.K, ops.psi, ops.D.inverse()
    z = psi * (K * T)
    eps = T - H * z
    alpha = psi.T * (H.T * (D_inverse * eps))
    return Estimate(z, eps, z + G * eps, alpha, z + P * alpha)


def filtered_covariance(ops: Operators) -> BlockOperator:
    """Of the filter's error x - z⁺: P⁺ = P - G D G*."""
    return ops.P - ops.G * ops.D * ops.G.T


def smoothed_covariance(ops: Operators) -> BlockOperator:
    """Of the smoother's error x - f: P - P Υ P, for Υ is the covariance of α."""
    return ops.P - ops.P * ops.Upsilon * ops.P


def deviations(ops: Operators, covariance: BlockOperator, axis: np.ndarray) -> np.ndarray:
    """Standard deviation of the component along `axis` (6,), inertial axes, at each hinge, tip to base."""
    rows = [_along(ops, k, axis) for k in reversed(ops.body_names)]
    blocks = [covariance[k] for k in reversed(ops.body_names)]
    return np.sqrt([max(row @ block @ row, 0.0) for row, block in zip(rows, blocks)])


def component(ops: Operators, x: StackedVector, axis: np.ndarray) -> np.ndarray:
    """Component of stacked spatial forces along `axis` (6,), inertial axes, at each hinge, tip to base."""
    return np.array([_along(ops, k, axis) @ x[k] for k in reversed(ops.body_names)])


def plot(path: Path, seed: int = 0) -> Path:
    """States with their bands, the bands' widths, and innovations of one history."""
    from matplotlib.figure import Figure

    ops = operators()
    x, T = draw(ops, np.random.default_rng(seed))
    result, axis = estimate(ops, T), np.eye(6)[1]
    figure = Figure(figsize=(9.0, 9.5), layout="constrained")
    axes = figure.subplots(3, 1, height_ratios=[1.4, 1.0, 1.0])
    _draw_states(axes[0], ops, x, result, axis)
    _draw_deviations(axes[1], ops, axis)
    _draw_innovations(axes[2], ops, result)
    hinges = [body.hinge.name.replace("_", "\n") for body in reversed(ops.system.bodies)]
    for panel in axes[:2]:
        panel.set_xticks(range(len(hinges)), hinges)
    figure.suptitle("A seven-joint arm on a satellite as a Kalman filter: one instant a body, gripper to satellite")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    return path


def _draw_states(panel: Axes, ops: Operators, x: StackedVector, result: Estimate, axis: np.ndarray) -> None:
    k = np.arange(len(ops.body_names))
    bands = [
        (result.z_plus, filtered_covariance(ops), "C0", "filter"),
        (result.f, smoothed_covariance(ops), "C3", "smoother"),
    ]
    for shift, (states, covariance, colour, name) in zip((-0.07, 0.07), bands):
        values, spread = component(ops, states, axis), 2 * deviations(ops, covariance, axis)
        panel.errorbar(k + shift, values, spread, color=colour, marker="o", capsize=4, label=f"{name} ± 2σ")
    panel.plot(k, component(ops, x, axis), "k*", markersize=10, label="true state", zorder=3)
    panel.set(
        ylabel="moment through the hinge about\nthe satellite's y axis, √(kg·m²)",
        title="One history of the process and its estimates",
    )
    panel.legend(fontsize="small")
    panel.grid(alpha=0.3)


def _draw_deviations(panel: Axes, ops: Operators, axis: np.ndarray) -> None:
    k = np.arange(len(ops.body_names))
    curves = {
        "before any measurement: R, composite inertia": ops.R,
        "predicted: P, articulated inertia": ops.P,
        "filtered: P⁺": filtered_covariance(ops),
        "smoothed: P - PΥP": smoothed_covariance(ops),
    }
    for (label, covariance), style in zip(curves.items(), ("k:", "C2s--", "C0o-", "C3o-")):
        sigma = deviations(ops, covariance, axis)
        panel.semilogy(k, np.where(sigma > ROUNDING, sigma, np.nan), style, label=label)
    panel.text(k[-1], 1.1, "0: all six\ncomponents\nmeasured", ha="center", va="bottom", fontsize="small", color="C3")
    panel.set(ylabel="σ of that moment, √(kg·m²)", title="What each inertia is: a covariance")
    panel.set_ylim(0.8, 900)
    panel.legend(fontsize="small", ncols=2, loc="upper left")
    panel.grid(alpha=0.3)


def _draw_innovations(panel: Axes, ops: Operators, result: Estimate) -> None:
    order = [(name, i) for name in reversed(ops.body_names) for i in range(len(ops.D[name]))]
    whitened = {name: np.linalg.solve(_root(ops.D[name]), result.eps[name]) for name in ops.body_names}
    panel.axhspan(-2, 2, color="C0", alpha=0.12, label="± 2σ")
    panel.axhline(0, color="black", linewidth=0.8)
    panel.stem(range(len(order)), [whitened[name][i] for name, i in order], basefmt=" ")
    names = [n.split(".") for body in reversed(ops.system.bodies) for n in body.hinge.velocity_names]
    panel.set_xticks(range(len(order)), [n[-1].replace("_", "\n") for n in names], fontsize="small")
    panel.set(ylabel=r"$D^{-1/2}\,\epsilon$", title="Innovations, T - H z, in their own standard deviations: white")
    panel.legend(fontsize="small", loc="upper left")
    panel.grid(alpha=0.3)


def _along(ops: Operators, body: str, axis: np.ndarray) -> np.ndarray:
    """The row that takes a body's spatial force to its component along an inertial axis."""
    return np.asarray(np.kron(np.eye(2), ops.pose(body).rotation.T) @ axis)


def _root(covariance: np.ndarray) -> np.ndarray:
    return np.linalg.cholesky(covariance)


def main() -> None:
    path = plot(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGE)
    print(f"plot {path}")


if __name__ == "__main__":
    main()
