"""engine/NOTATION.md says what the code does: names exist, stored quantities are what the table calls them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.build import build
from limberjack.engine.model.frames import assemble
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.hinge_types import HINGE_TYPES
from tests.engine.dense import skew, turn
from tests.engine.random_systems import MOVING, random_state, random_system
from tests.engine.single_body import X, Y, Z, one_body

ENGINE = Path(layout.__file__).parents[1]
TEXT = (ENGINE / "NOTATION.md").read_text(encoding="utf-8")
SYM = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def test_it_fits_on_a_page():
    assert len(TEXT.splitlines()) <= 90


def test_every_code_name_in_it_exists():
    names = {word for span in re.findall(r"`([^`]+)`", TEXT) for word in re.findall(r"\b[A-Z]_[A-Z]+\b", span)}
    assert len(names) > 10
    for name in names:
        assert hasattr(layout, name), name
    for file in re.findall(r"`([\w/]+\.py)`", TEXT):
        assert (ENGINE / file).is_file(), file


def symmetric(numbers: np.ndarray) -> np.ndarray:
    out = np.zeros((3, 3))
    for (i, j), value in zip(SYM, numbers):
        out[i, j] = out[j, i] = value
    return out


def rigid(body: np.ndarray) -> np.ndarray:
    """M = [[I, h~], [-h~, m]] of a Plant row."""
    h = skew(body[layout.B_H : layout.B_H + 3])
    return np.block([[symmetric(body[layout.B_I :]), h], [-h, body[layout.B_M] * np.eye(3)]])


def motion_cross(V: np.ndarray) -> np.ndarray:
    """V~ for motions; its negative transpose is that for forces."""
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])


class Swept:
    """Work after forward and after inverse dynamics of one random state."""

    def __init__(self, types: list[str], seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.system = random_system(types, rng, parents=[None, *range(len(types) - 1)])
        self.plant = build(self.system)
        self.q, self.v = random_state(self.system, rng)
        self.tau, self.vdot = rng.normal(size=(2, self.system.nv))
        model = self.plant.ints, self.plant.floats
        self.forward, self.inverse = self.plant.new_work(), self.plant.new_work()
        entries().forward_dynamics(*model, self.forward, self.q, self.v, self.tau, False, self.vdot)
        entries().inverse_dynamics(*model, self.inverse, self.q, self.v, self.vdot, False, self.tau.copy())

    def section(self, work: np.ndarray, name: str) -> np.ndarray:
        start = 0
        for section, rows, columns in layout.work_sections(self.plant.ints):
            if section == name:
                return work[start : start + rows * columns].reshape(rows, columns)
            start += rows * columns
        raise AssertionError(name)

    def row(self, work: np.ndarray, k: int, start: int, length: int = 6) -> np.ndarray:
        return self.section(work, "rows")[k + 1, start : start + length]


@pytest.mark.parametrize("hinge_type", MOVING)
def test_stored_sweeps(hinge_type):
    """f = P α + z with P = M + Σ φ P⁺ φ*, z = b + Σ φ z⁺ from W_ALPHA, A_I A_H A_M, A_Z and, elsewhere, W_F."""
    swept = Swept([hinge_type, "universal", "revolute"], HINGE_TYPES[hinge_type].code)
    for k in (0, 1):
        M = rigid(swept.plant.sections["body"][k])
        V, alpha = (swept.row(swept.forward, k, at) for at in (layout.W_V, layout.W_ALPHA))
        acc = swept.section(swept.forward, "acc")[k + 1]
        H = acc[layout.A_H : layout.A_H + 9].reshape(3, 3)
        P = M + np.block([[symmetric(acc[layout.A_I :]), H], [H.T, symmetric(acc[layout.A_M :])]])
        z = -motion_cross(V).T @ M @ V + acc[layout.A_Z : layout.A_Z + 6]
        f = swept.row(swept.inverse, k, layout.W_F)
        np.testing.assert_allclose(P @ alpha + z, f, rtol=0, atol=1e-10 * np.abs(P).max() * np.abs(alpha).max())


@pytest.mark.parametrize("hinge_type", MOVING)
def test_alpha_is_the_derivative_of_the_numbers_and_carries_minus_g(hinge_type):
    """Classical acceleration of O_k = R (α_v + ω × v) + g, through the public `acceleration`."""
    swept = Swept([hinge_type, "revolute"], 30 + HINGE_TYPES[hinge_type].code)
    dynamics, system = lj.Dynamics(swept.system), swept.system
    frames = assemble(system)
    for k, body in enumerate(system.bodies):
        _, pose = frames.of_body[body.name]  # the user's body frame B in O_k
        V, alpha = (swept.row(swept.forward, k, at) for at in (layout.W_V, layout.W_ALPHA))
        R_WB, _ = dynamics.pose(body.name, swept.q)
        R = R_WB @ pose.rotation.T
        w, r = V[:3], pose.position
        point = alpha[3:] + np.cross(alpha[:3], r) + np.cross(w, V[3:] + np.cross(w, r))
        acceleration = dynamics.acceleration(body.name, swept.q, swept.v, swept.vdot)
        np.testing.assert_allclose(acceleration[:3], R @ alpha[:3], rtol=0, atol=1e-11 * (1 + np.abs(alpha).max()))
        expected = R @ point + system.gravity
        np.testing.assert_allclose(acceleration[3:], expected, rtol=0, atol=1e-11 * (1 + np.abs(alpha).max()))


@pytest.mark.parametrize("hinge_type", [t for t in MOVING if t not in ("revolute", "prismatic", "free")])
def test_h_star_is_stored_column_after_column(hinge_type):
    """V - φ* V(parent) = H* β of a body on the ground, H* read from G_H."""
    swept = Swept([hinge_type], 60 + HINGE_TYPES[hinge_type].code)
    nv = swept.system.nv
    H_star = swept.section(swept.forward, "gen")[0, layout.G_H : layout.G_H + 6 * nv].reshape(nv, 6).T
    V = swept.row(swept.forward, 0, layout.W_V)
    np.testing.assert_allclose(V, H_star @ swept.v, rtol=0, atol=1e-14 * (1 + np.abs(H_star).max()))


def test_planar_correction():
    """The table's p = R d with the rates of d: R* dp/dt = dd/dt + θ̇ z × d; ours: p = d, R* dp/dt = R* dd/dt."""
    angle, d, rate, d_rate = 0.7, np.array([0.3, -0.5, 0.0]), 1.3, np.array([0.2, 0.9, 0.0])
    R, h = turn(Z, angle), 1e-6
    p_rate = (turn(Z, angle + h * rate) @ (d + h * d_rate) - turn(Z, angle - h * rate) @ (d - h * d_rate)) / (2 * h)
    np.testing.assert_allclose(R.T @ p_rate, d_rate + rate * np.cross(Z, d), atol=1e-9)
    dynamics = lj.Dynamics(one_body("planar", [Z, X]))
    velocity = dynamics.velocity("body", [angle, *d[:2]], [rate, *d_rate[:2]])
    np.testing.assert_allclose(velocity, [0, 0, rate, *d_rate], atol=1e-15)


@pytest.mark.parametrize("angle", [-1.0, 0.0, 0.4, 5.0])
def test_rolling_correction(angle):
    """The table's position is R* (r θ, -r, 0): of O+ on the ground, seen from the wheel."""
    r, c, s = 0.35, np.cos(angle), np.sin(angle)
    table = np.array([r * angle * c - r * s, -r * angle * s - r * c, 0.0])
    R = turn(Z, angle)
    np.testing.assert_allclose(table, R.T @ [r * angle, -r, 0.0], atol=1e-15)
    centre = -R @ table
    _, p = lj.Dynamics(one_body("rolling", [Z, -X], radius=r)).pose("body", [angle])
    np.testing.assert_allclose(centre, p + r * Y, atol=1e-15)
