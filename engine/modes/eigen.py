"""Lowest eigenmodes of K x = ω² M x: dense for small systems, SciPy's shift-invert Lanczos for sparse ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from limberjack.engine.errors import ModelError

#: up to so many degrees of freedom the dense solver is used
MOST_DENSE = 400
#: strain energy beside the sizes of its terms, below which a motion has none: rounding
NO_STRAIN = 1e-13


def lowest_modes(K: Any, M: Any, count: int, shift: float, where: str) -> tuple[np.ndarray, np.ndarray]:
    """ω² ascending and mass-normalised modes (d, count) of sparse K and M; K - shift M must be positive definite.

    Massless degrees of freedom are allowed: they follow without inertia. ModelError if K - shift M is singular, or
    for more modes than the structure has.
    """
    shifted = (K - shift * M).tocsc()
    if K.shape[0] <= MOST_DENSE or count > K.shape[0] // 3:
        squares, modes = _dense(shifted.toarray(), M.toarray(), shift, where)
        squares, modes = squares[:count], modes[:, :count]
    else:
        squares, modes = _lanczos(K, M, count, shift, where)
    if len(squares) < count:
        what = f"{count} modes are asked for, but only {len(squares)} have mass"
        raise ModelError(what, where=where, mend=f"Ask for at most {len(squares)}, or give more nodes mass")
    _check_strain(shifted, modes, where)
    return squares, modes * np.sign(modes[np.abs(modes).argmax(axis=0), np.arange(count)])


def _dense(shifted: np.ndarray, M: np.ndarray, shift: float, where: str) -> tuple[np.ndarray, np.ndarray]:
    """From M x = λ (K - shift M) x, λ = 1/(ω² - shift), which stands massless freedoms (λ = 0)."""
    from scipy.linalg import LinAlgError, eigh

    try:
        inverse, vectors = eigh(M, shifted)
    except LinAlgError:
        raise _singular(where) from None
    massive = inverse > 1e-14 * inverse[-1]
    inverse, vectors = inverse[massive][::-1], vectors[:, massive][:, ::-1]
    return 1.0 / inverse + shift, vectors / np.sqrt(inverse)


def _lanczos(K: Any, M: Any, count: int, shift: float, where: str) -> tuple[np.ndarray, np.ndarray]:
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh

    start = np.random.default_rng(0).standard_normal(K.shape[0])
    try:
        squares, modes = eigsh(K.tocsc(), k=count, M=M.tocsc(), sigma=shift, which="LM", v0=start)
    except ArpackNoConvergence as error:
        what = f"the eigensolver found {len(error.eigenvalues)} of {count} modes"
        raise ModelError(what, where=where, mend="Ask for fewer modes") from None
    except (RuntimeError, ArpackError):
        raise _singular(where) from None
    order = np.argsort(squares)
    modes = modes[:, order]
    return squares[order], modes / np.sqrt(np.einsum("ir,ir->r", modes, M @ modes))


def _check_strain(shifted: Any, modes: np.ndarray, where: str) -> None:
    energy = np.einsum("ir,ir->r", modes, shifted @ modes)
    terms = np.einsum("ir,ir->r", np.abs(modes), abs(shifted) @ np.abs(modes))
    if np.any(energy <= NO_STRAIN * terms):
        raise _singular(where)


def _singular(where: str) -> ModelError:
    what = "the structure can move without strain beyond what its supports allow (its stiffness matrix is singular)"
    mend = "Hold it at a node with all six freedoms, give every member stiffness, and connect its parts"
    return ModelError(what, where=where, mend=mend)
