"""The laws of one touch: its normal force, given the effect of all other forces, and its friction.

A force f along the normal and the velocity u at the end of the step are tied by u = r + A f, A = h W of the touch with
itself. The penetration there is δ = -(g + m (u - u₀)), g and u₀ those without contact forces.

compliant       f = (1 - θ) N₀ + θ N(u),    N(u) = k δ^p (1 - a u)      (Hunt and Crossley 1975; Hertz: p = 3/2)
                N₀ is N at the end of the last step; θ = ½, of second order, where the step resolves the contact, and
                (Euler: 0), and 1, which damps, where it does not: z = h² W dN/dδ,  θ = ½ + ½ z² / (1 + z²)
                A force f that holds over the step does the work ½ h f (u₋ + u), u₋ the velocity at its start. It
                returns no more than the E that it took up before: f ≤ 2 E / (h (u₋ + u)) where u₋ + u > 0
nearly rigid    f = (u₁ - r) / (A + ε A) ≥ 0: u₁ makes the gap vanish or rebounds; the share ε is left. Of deep overlaps
                f has an upper bound (`push_out.py`)
friction        |f_t| ≤ µ f, and f_t makes the tangential velocity vanish or opposes it: the least of
                ½ f_t* A f_t + r* f_t in a disc. Sticking is exact: nothing creeps

N falls with u and is convex, so that Newton's method comes from one side and needs no bounds.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import contacts as t

#: of nearly rigid contacts: compliance as a share of the bodies' own, and number of steps in which a penetration decays
SOFT, FADE = 1e-3, 20.0
#: responses below this share of that of the mass of all bodies do not make nearly rigid contacts any stiffer: a touch
#: near the axis of a hinge would have to bear its torque with a force without bounds
LEVER = 1e-3
#: directions in which a body's response is below this share of that in others, or of that of the mass of all bodies,
#: count as immovable: a touch on the axis of a hinge answers with what rounding leaves
STILL = 1e-12
#: the response across, as a share of that along, below which friction across stays near what it was
_FLAT = 1e-6
#: friction below this is none: squares of less, and of what bounds it, leave the range of numbers, N or N·m
NOTHING = 1e-60
#: steps of Newton's method: each almost doubles the number of correct digits
_STEPS = 30
_DIGITS = 1e-15


@kernel
def _power(x, p):
    """x^p for x ≥ 0 and a multiple p of ½, 1 to 3: products and a root have the same bits everywhere."""
    product, left = x, p - 1.0
    for _ in range(2):
        if left >= 1.0:
            product, left = product * x, left - 1.0
    return product * math.sqrt(x) if left > 0.0 else product


@kernel
def law_force(law, depth, speed):
    """N of a compliant contact."""
    left = 1.0 - law[t.K_DISSIPATION] * speed
    if depth <= 0.0 or left <= 0.0:
        return 0.0
    return law[t.K_STIFFNESS] * _power(depth, law[t.K_EXPONENT]) * left


@kernel
def law_slope(law, depth, speed, move):
    """-dN/du where N is not 0."""
    k, p, a = law[t.K_STIFFNESS], law[t.K_EXPONENT], law[t.K_DISSIPATION]
    lower = _power(depth, p) / depth
    return k * lower * (p * move * (1.0 - a * speed) + a * depth)


@kernel
def stiffness(law, depth):
    """dN/dδ of slow motion."""
    p = law[t.K_EXPONENT]
    if p == 1.0:
        return law[t.K_STIFFNESS]
    return 0.0 if depth <= 0.0 else law[t.K_STIFFNESS] * p * _power(depth, p) / depth


@kernel
def depth_at(active, gap, speed):
    """Penetration at the end of the step with this normal velocity there."""
    return -(gap + active[t.AC_MOVE] * (speed - active[t.AC_FREE]))


@kernel
def compliant_force(law, active, gap, before, r, A):
    """f of a compliant contact; before: (1 - θ) N₀."""
    share, u = active[t.AC_SHARE], r + A * before
    for _ in range(_STEPS):
        depth = depth_at(active, gap, u)
        force = law_force(law, depth, u)
        if force == 0.0:
            break
        rest = u - r - A * (before + share * force)
        step = rest / (1.0 + A * share * law_slope(law, depth, u, active[t.AC_MOVE]))
        u -= step
        if abs(step) <= _DIGITS * abs(u) or rest >= 0.0:
            break
    return before + share * law_force(law, depth_at(active, gap, u), u)


@kernel
def stored(law, depth):
    """Work that a compliant contact stores at a penetration, without dissipation, over its stiffness."""
    return _power(depth, law[t.K_EXPONENT]) * depth / (law[t.K_EXPONENT] + 1.0) if depth > 0.0 else 0.0


@kernel
def most_returned(active, r, A):
    """The largest f of a compliant contact that returns no more work than it took up: f (u₋ + r + A f) = 2 E / h."""
    b, power = active[t.AC_CAME] + r, active[t.AC_STORED]
    root = math.sqrt(b * b + 4.0 * A * power)
    return 2.0 * power / (b + root) if b > 0.0 else 0.5 * (root - b) / A


@kernel
def rigid_force(active, r, A):
    """f of a nearly rigid contact; 0 between bodies that cannot move along the normal."""
    if not active[t.AC_SOFT] > 0.0:
        return 0.0
    force = max(0.0, (active[t.AC_AIM] - r) / (A + active[t.AC_SOFT]))
    return active[t.AC_MOST] if force > active[t.AC_MOST] else force  # NaN stays


@kernel
def _held(a, b, c, x, y, s):
    """-(A + s)⁻¹ [x; y] of the symmetric A = [[a, b], [b, c]]."""
    d = (a + s) * (c + s) - b * b
    return (b * y - (c + s) * x) / d, (b * x - (a + s) * y) / d


@kernel
def _flat(a, b, c, x, y, f, g):
    """(A + ρ n nᵀ, [x; y] - ρ n nᵀ [f; g]) where A hardly answers along n, as of bodies that move about one axis only.

    There velocities are rounding, and so would the force be: ρ keeps it near what it was, [f; g].
    """
    trace, flat = a + c, _FLAT * (a + c)
    p, q = (-b, a) if a >= c else (-c, b)  # across the larger column
    more = (flat - max(0.0, (a * c - b * b) / trace)) / (p * p + q * q)
    along = more * (p * f + q * g)
    return a + more * p * p, b + more * p * q, c + more * q * q, x - along * p, y - along * q


@kernel
def friction(a, b, c, x, y, most, light, before):
    """f_t in the disc of radius `most` for velocities [x; y] without it, A = [[a, b], [b, c]]; light: AC_LIGHT; before:
    f_t so far.

    Beyond the disc f_t = -(A + s)⁻¹ r with |f_t| = most; Newton's method in s for 1 / |f_t|, which is concave, begins
    at 0 and stays below (Moré and Sorensen 1983).
    """
    if not a + c > STILL * light:  # bodies that cannot move need no force
        return 0.0, 0.0
    if a * c - b * b < _FLAT * (a + c) * (a + c):
        a, b, c, x, y = _flat(a, b, c, x, y, before[0], before[1])
    f, g = _held(a, b, c, x, y, 0.0)
    square = f * f + g * g
    if square <= most * most:
        return f, g
    if most <= NOTHING:
        return 0.0, 0.0
    s = 0.0
    for _ in range(_STEPS):
        length = math.sqrt(f * f + g * g)
        if length <= most * (1.0 + 1e-15):
            break
        p, q = _held(a, b, c, f, g, s)  # -(A + s)⁻¹ f = d f / d s
        s += length * length / -(f * p + g * q) * (length - most) / most
        f, g = _held(a, b, c, x, y, s)
    length = math.sqrt(f * f + g * g)
    return f * most / length, g * most / length
