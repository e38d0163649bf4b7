"""`LinearModel`: A, B, C, D with names and units, poles, modes, frequency response, and a table to read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError

#: states named in a row of the table
_NAMED = 3
#: a state counts as standing still below this share of the fastest velocity, against rounding
_STILL = 1e-9


@dataclass(frozen=True, eq=False)
class Mode:
    """One real pole, or a pair of conjugate ones.

    pole : 1/s, imaginary part not negative
    frequency : |pole|, rad/s; damping : ratio, -Re(pole) / |pole|, negative for growth, 1 for a pole at zero
    shape (n,) : eigenvector over the states, in ratios to its largest entry
    rigid : indistinguishable from a pole at zero in this precision
    """

    pole: complex
    frequency: float
    damping: float
    shape: np.ndarray
    rigid: bool

    @property
    def hertz(self) -> float:
        """Frequency, Hz."""
        return self.frequency / (2.0 * math.pi)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """dx/dt = f + A x + B (u - u₀), y = y₀ + C x + D (u - u₀) for small x = [δq; δv] about a state.

    A (n, n), B (n, nu), C (ny, n), D (ny, nu) : SI, in the units of states, inputs and outputs. n = m + r with m
    displacements and r velocities: m = r = nv, with closed loops the number of independent velocities; rolling loops
    and custom cuts leave more displacements than velocities
    q (nq,), v (m,), u (nu,), y (ny,), vdot (r,) : state, inputs, outputs and accelerations that it is about, SI
    states, inputs, outputs : names; state_units, input_units, output_units : their units; name : of the model
    accuracy : error of A, as a share of its largest slope (unit: 1)
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state_units: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    name: str
    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    vdot: np.ndarray
    y: np.ndarray
    accuracy: float = 100.0 * float(np.finfo(float).eps)

    @property
    def rate(self) -> np.ndarray:
        """f (n,): how fast the state itself moves, [v; vdot]; zero at an equilibrium."""
        return np.concatenate([self.v, self.vdot])

    def is_equilibrium(self, tolerance: float = 1e-6) -> bool:
        """Whether no velocity and no acceleration there exceeds `tolerance` (rad/s, m/s, rad/s², m/s²)."""
        return bool(np.abs(self.rate).max(initial=0.0) <= arguments.positive("tolerance", tolerance))

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues of A (n,), 1/s, slowest first."""
        return self._eigen[0]

    def modes(self) -> tuple[Mode, ...]:
        """A Mode for each real pole and each pair of conjugate ones, slowest first."""
        poles, vectors = self._eigen
        return tuple(self._mode(complex(pole), vectors[:, i]) for i, pole in enumerate(poles) if pole.imag >= 0.0)

    def response(self, frequencies: ArrayLike) -> np.ndarray:
        """G(jω) = C (jω - A)⁻¹ B + D, complex (k, ny, nu).

        frequencies (k,) : rad/s

        Raises ArgumentError for a frequency at which A has an undamped pole.
        """
        given = np.atleast_1d(np.asarray(frequencies))
        omega = arguments.vector("frequencies", given, given.shape)
        if omega.ndim != 1:
            raise ArgumentError(f"frequencies has shape {omega.shape}; give one row of numbers.")
        left = 1j * omega[:, None, None] * np.eye(len(self.A)) - self.A
        try:
            return np.asarray(
                self.C @ np.linalg.solve(left, np.broadcast_to(self.B, (len(omega), *self.B.shape))) + self.D
            )
        except np.linalg.LinAlgError as error:
            raise ArgumentError(
                "one of the frequencies is that of an undamped pole; the response is infinite."
            ) from error

    @cached_property
    def _eigen(self) -> tuple[np.ndarray, np.ndarray]:
        poles, vectors = np.linalg.eig(self.A)
        order = np.lexsort((poles.imag, poles.real, np.abs(poles)))
        return poles[order].astype(complex), vectors[:, order].astype(complex)

    def _mode(self, pole: complex, vector: np.ndarray) -> Mode:
        shape = vector / vector[np.argmax(np.abs(vector))]
        frequency = abs(pole)
        # A double pole at zero is split by about the root of the error of A.
        rigid = frequency**2 <= self.accuracy * float(np.linalg.norm(self.A, 2))
        return Mode(pole, frequency, -pole.real / frequency if frequency else 1.0, shape, rigid)

    def leading_states(self, mode: Mode, most: int = _NAMED) -> tuple[str, ...]:
        """The displacements that move most in a mode, by name, the largest first."""
        size = np.abs(mode.shape[: len(self.v)])
        order = np.argsort(-size, kind="stable")[:most]
        return tuple(self.states[i] for i in order if size[i] > 0.1 * size.max(initial=_STILL))

    def __str__(self) -> str:
        """What it is about, and a table of the modes."""
        at = "equilibrium" if self.is_equilibrium() else "no equilibrium"
        if at != "equilibrium" and len(self.vdot):
            i, j = int(np.argmax(np.abs(self.v))), int(np.argmax(np.abs(self.vdot)))
            rate = self.states[len(self.v) + j]
            at += f": d({self.states[i]})/dt = {self.v[i]:.3g}, d({rate})/dt = {self.vdot[j]:.3g}"
        head = f"{self.name}: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs; {at}"
        rows = [("pole, 1/s", "frequency, Hz", "damping", "moves most")]
        for mode in self.modes():
            if not mode.rigid:
                real, imaginary = mode.pole.real, mode.pole.imag
                pole = f"{real:.4g} ± {imaginary:.4g}j" if imaginary else f"{real:.4g}"
                rows.append((pole, f"{mode.hertz:.4g}", f"{mode.damping:.4f}", ", ".join(self.leading_states(mode))))
        rigid = sum(1 + (mode.pole.imag != 0.0) for mode in self.modes() if mode.rigid)
        if rigid:
            rows.append(("0", "0", "–", f"{rigid} poles: rigid motion"))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = ["  ".join([*(cell.rjust(w) for cell, w in zip(row, widths)), row[3]]) for row in rows]
        return "\n".join([head, *lines])
