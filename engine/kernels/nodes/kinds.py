"""The kinds of nodes: a kind is a module of this room and its name in KINDS.

Its place in KINDS is its number in the column PATH, which plant files keep: a new kind comes last. A module says which
bodies its kind serves:

    HINGES           types of hinges that it serves; empty: all that no other kind serves
    FREE_ROOT        it serves them at the ground only, undamped, in models without loops and contacts
    KEEPS_ANGLES     its frame is kept as angles (`algebra/turns.py`) instead of a matrix
    KEEPS_AXIS       it may share the frame of its parent (`shared_frames.py`)
    ONE_VELOCITY     it has one velocity, with U, D⁻¹ and ε in its row (`articulated.py`)
    HAS_WORK         it has a row of work.gen
    DEFORMS          it is a link of a body that deforms; its modes, HAS_MODES, are its velocities

and offers functions of body k, of one signature for all kinds. They begin with `plant, work, k`:

    hinge_frame, hinge_in, hinge_out     R and p; φ*; φ
    hand                                 φ P φ* and φ z to the parent
    place, stand, rest                   frame and V(k); frame and H* alone; no velocity
    inward, outward                      articulated bodies: P⁺ and z⁺ to the parent; dβ/dt and α
    accelerate, trace                    α where dβ/dt is given; T = H f
    composite, write_columns             rows and columns of the mass matrix; columns of a Jacobian
    slope_columns, gain                  derivatives: columns of its velocities; G and D⁻¹
    solve_inward, solve_outward          derivatives: D⁻¹ ε; x and α (where `slopes/solve.py` does not serve)
    picked                               H z, of a kind with one velocity
    push, push_lanes, trace_entries      H* x; H* X; H z of eight rows
    cross_hinge, collect                 e = H z + c and z⁺, tip to base; e alone
    add_innovation, clear_innovation     ε += e f; ε = 0
    respond, answer                      ε and z⁺ of one force, tip to base; the answer to ε, base to tip
    largest_weight                       the largest D⁻¹ of its velocities
    trusted                              whether a row of a foreign Plant may be of this kind

A link of a body that deforms offers `place_link`, `inward_link`, `outward_link`, `accelerate_link`, `trace_link` and
`composite_link` instead (`dispatch_links.py`), and what the modes change in others: `deformed_inertia`, `add_force`,
`bias`. A kind leaves out what the default in `dispatch*.py` serves, and what no sweep asks of it.

The order of reads and sums decides which products the compiler contracts, and thus the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes import attachment, base, general, modal, prismatic, revolute
from limberjack.engine.tables.plant import PATH

KINDS: tuple[ModuleType, ...] = (revolute, prismatic, general, base, modal, attachment)

#: the number of each kind, by its name
NUMBERS = {kind.__name__.rpartition(".")[2]: number for number, kind in enumerate(KINDS)}

Kernel = Callable[..., Any]


@kernel
def nothing(plant, work, k, *given):
    """What a kind does that takes no part."""


@kernel
def last_two(plant, work, k, *given):
    """What a kind returns that changes nothing: the last two arguments."""
    return given[-2], given[-1]


def _is_of_nodes(function: Kernel) -> bool:
    """Whether a function is one of kernels, and not of the algebra below them."""
    return str(getattr(function, "py_func", function).__module__).startswith("limberjack.engine.kernels.")


def _among(numbers: list[int]) -> Kernel:
    """Whether a number of KINDS is one of these, which ascend: a test for each range of them."""
    first, last = numbers[0], numbers[0]
    while last + 1 in numbers:
        last += 1
    is_first = kernel(lambda path: path == first if first == last else first <= path and path <= last)
    if last == numbers[-1]:
        return is_first
    is_later = _among([number for number in numbers if number > last])
    return kernel(lambda path: is_first(path) or is_later(path))


def _either(numbers: list[int], chosen: Kernel, other: Kernel) -> Kernel:
    """The kernel that calls `chosen` for bodies of the kinds of these numbers, and `other` for the rest."""
    is_chosen = _among(numbers)

    def choose(plant, work, k, *given):  # type: ignore[no-untyped-def]
        if is_chosen(plant.topo[k, PATH]):
            return chosen(plant, work, k, *given)
        return other(plant, work, k, *given)

    return kernel(choose)


def _rank(numbers: list[int]) -> tuple[int, bool, int]:
    """The higher, the later kinds of these numbers are tested."""
    return len(numbers), any(getattr(KINDS[number], "HAS_MODES", False) for number in numbers), numbers[-1]


def by_kind(name: str, otherwise: Kernel | None = None) -> Kernel:
    """The kernel that calls, for body k, the function of this name of its kind.

    otherwise : for kinds without it; without `otherwise` sweeps do not ask them. The function that most kinds share
        comes last, without a test; among equals it is that of links with modes, as a body has more nodes than
        such links, and without these that of the last kind.
    """
    users: dict[Kernel, list[int]] = {}
    for number, kind in enumerate(KINDS):
        function = getattr(kind, name, otherwise)
        if function is not None and not _is_of_nodes(function):
            raise ValueError(f"'{name}' of the kind {kind.__name__} is a function that it imports; rename one of them")
        if function is not None:
            users.setdefault(function, []).append(number)
    result = max(users, key=lambda function: _rank(users[function]))
    rest = [function for function in users if function is not result]
    for function in reversed(rest):
        result = _either(users[function], function, result)
    return result


def flag(name: str) -> Kernel:
    """The kernel that says of a row of `topo` whether its kind sets this flag."""
    is_set = _among([number for number, kind in enumerate(KINDS) if getattr(kind, name, False)])
    return kernel(lambda topo: is_set(topo[PATH]))
