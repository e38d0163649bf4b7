"""Operations that seed 003 §6 counts for ruthlessly linearised bodies: multiplications and additions together."""

from __future__ import annotations


def composite_body(bodies: int, modes: int) -> float:
    """R(k), M, C, T - C and the solution of a chain with one-dof hinges (003 §6.1)."""
    n, total = modes, bodies * (modes + 1)
    count = 0.0
    for k in range(1, bodies + 1):
        count += 48 * n + 90 + n * n + 48.5 * n + 116
        count += k * (12 * n * n + 34 * n + 13 + 11 * n * n + 24 * n + 13)
        count += 2 * n * n + 54 * n + 206 + 2 * n * n + 50 * n + 143
    count += total
    return count + total**3 / 6 + 1.5 * total**2 - 2 * total / 3 + total**3 / 6 + total**2 - 7 * total / 6


def articulated_body(bodies: int, modes: int) -> float:
    """Eqs. 62 and 63 for every body (003 §6.2), D_f inverted explicitly up to seven modes."""
    n = modes
    if n <= 7:
        factors = 5 / 6 * n**3 + 12.5 * n * n + 764 / 3 * n + 180 + 5 / 6 * n**3 + 10.5 * n * n + 548 / 3 * n + 161
    else:
        factors = 12 * n * n + 255 * n + 572 + 13 * n * n + 182 * n + 445
    sweeps = n * n + 25 * n + 49 + n * n + 24 * n + 50 + 18 * n + 52 + 19 * n + 42
    return bodies * (factors + sweeps)
