"""Lowest eigenmodes of K x = ω² M x: dense for small systems, SciPy's shift-invert Lanczos for sparse ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from limberjack.engine.algebra.eigenbases import clusters, fixed
from limberjack.engine.common.errors import ModelError

#: up to so many degrees of freedom the dense solver is used
MOST_DENSE = 400
#: modes that are computed besides: those of the last frequency that counts must all be there
BESIDE = 4
#: motions without strain of a structure that floats
RIGID = 6
#: strain energy beside the sizes of its terms, below which a motion has none: rounding leaves up to 2e-16 of them
NO_STRAIN = 2e-15


@dataclass(frozen=True, eq=False)
class Problem:
    """Sparse K and M (d, d) of a structure.

    units : (d,) factors that make displacements of all freedoms lengths, rotations far smaller ones than translations:
        what distinguishes modes of one frequency (`eigenbases.py`)
    floats : whether it has six motions without strain, the rigid ones
    held : whether the user holds it; where : the structure; both for messages
    """

    K: Any
    M: Any
    units: np.ndarray
    floats: bool
    held: bool
    where: str

    def part(self, freedoms: np.ndarray) -> Problem:
        """The problem with all other freedoms held."""
        K, M = (matrix[freedoms][:, freedoms] for matrix in (self.K, self.M))
        return Problem(K, M, self.units[freedoms], False, self.held, self.where)


def lowest_modes(problem: Problem, count: int, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """ω² ascending and mass-normalised modes (d, count), the rigid ones of a structure that floats among them;
    K - shift M must be positive definite.

    Massless degrees of freedom are allowed: they follow without inertia. Modes of one frequency, whole or cut off by
    the count, are in the basis of `eigenbases`. ModelError if K - shift M is singular, or for more modes than the
    structure has.
    """
    K, M = problem.K, problem.M
    squares, modes = np.zeros(0), np.zeros((K.shape[0], 0))
    wanted = count + BESIDE
    while wanted <= K.shape[0] // 3 and K.shape[0] > MOST_DENSE:
        squares, modes = _lanczos(problem, wanted, shift)
        if any(count <= part.start for part in clusters(squares, rounding_of(problem, modes))):
            break
        wanted *= 2
    else:
        squares, modes = _dense((K - shift * M).toarray(), M.toarray(), shift, problem)
    if len(squares) < count:
        what = f"{count} modes are asked for, but only {len(squares)} have mass"
        raise ModelError(what, where=problem.where, remedy=f"Ask for at most {len(squares)}, or give more nodes mass")
    if np.any(rounding_of(problem, modes[:, RIGID if problem.floats else 0 : count]) >= 1.0):
        raise _singular(problem)
    squares, modes = fixed(squares, modes, problem.units[:, None] * modes, rounding_of(problem, modes))
    return squares[:count], modes[:, :count]


def _dense(shifted: np.ndarray, M: np.ndarray, shift: float, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """From M x = λ (K - shift M) x, λ = 1/(ω² - shift), which stands massless freedoms (λ = 0)."""
    from scipy.linalg import LinAlgError, eigh

    try:
        inverse, vectors = eigh(M, shifted)
    except LinAlgError:
        raise _singular(problem) from None
    massive = inverse > 1e-14 * inverse[-1]
    inverse, vectors = inverse[massive][::-1], vectors[:, massive][:, ::-1]
    return 1.0 / inverse + shift, vectors / np.sqrt(inverse)


def _lanczos(problem: Problem, count: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh

    K, M = problem.K, problem.M
    start = np.random.default_rng(0).standard_normal(K.shape[0])
    try:
        squares, modes = eigsh(K.tocsc(), k=count, M=M.tocsc(), sigma=shift, which="LM", v0=start)
    except ArpackNoConvergence as error:
        what = f"the eigensolver found {len(error.eigenvalues)} of {count} modes"
        raise ModelError(what, where=problem.where, remedy="Ask for fewer modes") from None
    except (RuntimeError, ArpackError):
        raise _singular(problem) from None
    order = np.argsort(squares)
    modes = modes[:, order]
    with np.errstate(invalid="ignore"):  # of a singular problem
        return squares[order], modes / np.sqrt(np.einsum("ir,ir->r", modes, M @ modes))


def rounding_of(problem: Problem, modes: np.ndarray) -> np.ndarray:
    """(n,) the share of each mode's strain energy, and ω², that rounding may have made: at most 1, then all of it."""
    energy = np.einsum("ir,ir->r", modes, problem.K @ modes)
    terms = NO_STRAIN * np.einsum("ir,ir->r", np.abs(modes), abs(problem.K) @ np.abs(modes))
    strained = energy > terms
    return np.where(strained, terms / np.where(strained, energy, 1.0), 1.0)


def _singular(problem: Problem) -> ModelError:
    if not problem.held:
        what = "the structure can move without strain beyond its six rigid motions"
        remedy = "Give every member stiffness, and connect its parts"
    else:
        what = "the structure can move without strain beyond what its supports allow (its stiffness matrix is singular)"
        remedy = "Hold it at a node with all six freedoms, give every member stiffness, and connect its parts"
    return ModelError(
        what, where=problem.where, remedy=f"{remedy}; if the elements are much finer than bending needs, use fewer"
    )
