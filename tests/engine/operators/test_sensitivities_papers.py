"""The sensitivity equations (41) to (48) as the papers print them, with the corrections that numbers ask for.

They hold for an observer in inertial axes and hinges of one degree of freedom without armature. Corrected here:

* (41a), (41b), (44f) print ≥ or < where the first operator must be ≤ (the hinge's own body and all beyond it);
  (41b) lacks the turning of what is not between the two bodies: it is φ Hd φ + Hs φ - φ Hi.
* (42), (43): for a sliding hinge Hd φ M - M φ* Hd becomes Δ φ M + M φ* Δ*, with Δ = Hd + Hv; so in (43).
* (45), (46) of the hinge paper carry a term E_phi Hv φ P. It counts the sliding of the articulated body in front of the
  hinge, so λ must not count it there again: its λ has E_phi (Hv P⁺ + P⁺ Hv*) E_phi* on the right of (43).
* (44c), (44d) need (Hs - Hv) for Hs where hinges slide, (44f) + E_phi Hv.
* Armature, which the papers do not have, makes H tau_bar ≠ 0: E_phi must then stand before tau_bar λ in (45), (46).
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

import limberjack as lj
from limberjack.engine.operators import Operator, Operators
from limberjack.engine.operators.sensitivities import Sensitivity
from limberjack.engine.operators.sensitivities_mass import log_det_gradient
from tests.engine.operators.test_sensitivities import OPERATORS, TOLERANCE, well_conditioned
from tests.engine.random_systems import random_state, trees

ROTARY, SIMPLE = ("revolute",), ("revolute", "prismatic", "helical", "fixed")


def drawn(tree: tuple[lj.System, np.random.Generator]) -> tuple[Operators, Sensitivity]:
    """Operators and the derivative along one velocity."""
    system, rng = tree
    ops = Operators(system, random_state(system, rng)[0])
    assume(well_conditioned(ops))
    return ops, Sensitivity(ops, system.velocity_names[int(rng.integers(system.nv))])


def holds(derivative: Operator, formula: Operator) -> None:
    a, b = derivative.to_array(), formula.to_array()
    assert np.max(np.abs(a - b)) <= TOLERANCE * max(1.0, float(np.max(np.abs(a))))


def seen(ops: Operators, d: Sensitivity, name: str) -> Operator:
    return d.seen_from_ground(getattr(d, name), OPERATORS[name](ops))


@given(trees(types=SIMPLE, armature=False))
@settings(max_examples=40, deadline=None)
def test_kinematics_and_masses(tree):
    ops, d = drawn(tree)
    H, E_phi, phi, M, Delta = ops.H, ops.E_phi, ops.phi, ops.M, d.Delta
    holds(seen(ops, d, "E_phi"), d.Hi * E_phi - E_phi * d.Hs + E_phi * d.Hv)
    holds(seen(ops, d, "phi"), phi * d.Hd * phi + d.Hs * phi - phi * d.Hi + phi * E_phi * d.Hv * phi)
    holds(seen(ops, d, "H_star"), d.Hs * H.T)
    holds(seen(ops, d, "M"), d.Hi * M - M * d.Hi)
    holds(d.mass_matrix, H * phi * (Delta * phi * M + M * phi.T * Delta.T) * phi.T * H.T)


@given(trees(types=SIMPLE, armature=False))
@settings(max_examples=40, deadline=None)
def test_articulated_bodies(tree):
    ops, d = drawn(tree)
    P, H, G, tau, tau_bar, E_psi, Delta = ops.P, ops.H, ops.G, ops.tau, ops.tau_bar, ops.E_psi, d.Delta
    lam, D_inv = d.lambda_, ops.D.inverse()
    holds(lam - E_psi * lam * E_psi.T, Delta * P + P * Delta.T)
    holds(d.D, H * lam * H.T)
    holds(d.D_inverse, -D_inv * H * lam * H.T * D_inv)
    holds(seen(ops, d, "G"), tau_bar * lam * H.T * D_inv + (d.Hs - d.Hv) * G)
    holds(seen(ops, d, "tau"), tau_bar * lam * H.T * D_inv * H + (d.Hs - d.Hv) * tau - tau * d.Hs)
    holds(seen(ops, d, "tau_bar"), -seen(ops, d, "tau"))
    holds(seen(ops, d, "E_psi"), d.Hi * E_psi - E_psi * d.Hs + ops.E_phi * d.Hv - E_psi * lam * H.T * D_inv * H)


@given(trees(types=ROTARY, armature=False))
@settings(max_examples=40, deadline=None)
def test_innovations_factors_of_rotary_hinges(tree):
    ops, d = drawn(tree)
    H, phi, psi, K, P, D_inv = ops.H, ops.phi, ops.psi, ops.K, ops.P, ops.D.inverse()
    lam, tau_bar, factor = d.lambda_, ops.tau_bar, ops.I - H * psi * K
    holds(ops.E_psi.lyapunov(d.Hd * P - P * d.Hd), lam)
    holds(d.innovations, H * phi * (d.Hd * (phi - ops.I) * P + tau_bar * lam) * H.T * D_inv)
    holds(d.innovations_inverse, -H * psi * (d.Hd * phi * K + tau_bar * lam * H.T * D_inv) * factor)


@given(trees(types=SIMPLE, armature=False))
@settings(max_examples=40, deadline=None)
def test_innovations_factors_with_sliding_hinges(tree):
    ops, d = drawn(tree)
    H, phi, psi, K, G, P, D_inv = ops.H, ops.phi, ops.psi, ops.K, ops.G, ops.P, ops.D.inverse()
    slid = d.Hv * ops.P_plus + ops.P_plus * d.Hv.T
    lam = ops.E_psi.lyapunov(d.Hd * P - P * d.Hd + ops.E_phi * slid * ops.E_phi.T)
    tau_bar, factor, E_phi = ops.tau_bar, ops.I - H * psi * K, ops.E_phi
    turned, slides = d.Hd * (phi - ops.I) * P, E_phi * d.Hv * phi * P
    holds(d.innovations, H * phi * (turned + slides + tau_bar * lam) * H.T * D_inv)
    turned, slides = d.Hd * phi * K, E_phi * d.Hv * phi * G
    holds(d.innovations_inverse, -H * psi * (turned + slides + tau_bar * lam * H.T * D_inv) * factor)


@given(trees(types=("revolute", "fixed"), armature=True))
@settings(max_examples=40, deadline=None)
def test_fixman_gradient(tree):
    """(48) holds with armature as well."""
    ops, _ = drawn(tree)
    gradient = log_det_gradient(ops)
    for expected, name in zip(gradient, ops.velocity_names):
        body = next(b.name for b in ops.system.bodies if name in b.hinge.velocity_names)
        H_tilde = Sensitivity(ops, name).Hd[body]
        trace = 2 * np.trace(ops.P[body] @ ops.Upsilon[body] @ H_tilde)
        assert trace == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(1.0, np.max(np.abs(gradient))))
