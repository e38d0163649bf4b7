"""Which bodies are aggregated (001 §4, §9), parts of systems with loops, names of blocks and messages."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Loop
from limberjack.engine.operators import DiagonalDynamics, Operators, Sensitivity
from limberjack.engine.operators.sensitivities_mass import log_det, log_det_gradient, mass_matrix_gradient
from tests.engine.kernels.loops.mechanisms.bars import four_bar
from tests.engine.kernels.loops.mechanisms.parts import assembled, pin, rod, turning
from tests.engine.operators.parts import same

ANGLE = 0.4


def ladder(*, shared: bool = False, tail: bool = True) -> lj.System:
    """Two parallelograms one on the coupler of the other, and a tail on the upper one; or sharing a rocker."""
    L = 1.0

    def bar(name: str, parent: str | None, x: float, y: float, angle: float):
        return turning(name, parent, (x, y), rod(1.0, (L, 0)), angle)

    low = [
        bar("left", None, 0, 0, ANGLE),
        bar("plate", "left", L, 0, -ANGLE),
        bar("right", None, L, 0, ANGLE),
    ]
    loops = [pin("lower", "plate", (L, 0), "right", (L, 0))]
    if shared:
        low += [bar("plate2", "right", L, 0, -ANGLE), bar("far", None, 2 * L, 0, ANGLE)]
        return assembled("shared", low, [*loops, pin("second", "plate2", (L, 0), "far", (L, 0))], "embed")
    high = [
        bar("left2", "plate", 0, 0, 0.9),
        bar("plate2", "left2", L, 0, -0.9),
        bar("right2", "plate", L, 0, 0.9),
    ]
    end = [bar("tail", "plate2", 0.5 * L, 0, 0.3)] if tail else []
    return assembled("ladder", [*low, *high, *end], [*loops, pin("upper", "plate2", (L, 0), "right2", (L, 0))], "embed")


def nodes(system: lj.System, **options) -> set[str]:
    return set(Operators(system, system.q0, **options).block_names)


def test_loop_on_a_loop_is_split():
    """Figure 4 (1): two nodes rather than one; the upper one hangs on a body inside the lower one."""
    system = ladder()
    o = Operators(system, system.q0)
    assert o.block_names == ("left+plate+right", "left2+plate2+right2", "tail")
    assert len(o.velocity_names) == 3
    assert set(o.E_phi.blocks) == {(0, 1), (1, 2)}


def test_loops_that_share_a_body_are_one_node():
    """Figure 4 (3)."""
    assert nodes(ladder(shared=True)) == {"left+plate+right+plate2+far"}


def test_loop_across_trees_that_stand_on_the_ground():
    """Figure 4 (2): all ancestors of both ends, several base bodies."""
    assert nodes(four_bar("embed")) == {"crank+coupler+rocker"}


def test_loop_to_the_ground():
    """The node hangs on the ground; here it is a triangle, which does not move."""
    system = four_bar(theta=0.9)
    tip = Operators(system, system.q0, embed=()).pose("coupler")
    end = tip.position + tip.rotation @ np.array([0.5, 0, 0])
    loop = dataclasses.replace(pin("pin", "coupler", (0.5, 0), None, end, "point"), method="force")
    o = Operators(dataclasses.replace(system, loops=(loop,)), system.q0, embed=["pin"])
    assert o.block_names == ("crank+coupler", "rocker")
    assert o.velocity_names == ("rocker",)


def test_hinge_of_a_body_on_its_ancestor():
    """The root of the smallest tree is the ancestor: it stays outside."""
    system = ladder()
    far = pin("own", "left2", (0, 0), "left", (1, 0))
    closed = dataclasses.replace(system, loops=(dataclasses.replace(far, method="force"),))
    assert nodes(closed, embed=["own"]) == {"left", "right", "plate+left2", "plate2", "right2", "tail"}


def test_children_of_several_bodies_of_a_node():
    system = ladder()
    more = [*system.bodies, turning("arm", "left", (0.5, 0), rod(1.0, (0.2, 0)), 0.1)]
    system = assembled("more", more, system.loops, "embed")
    o = Operators(system, system.q0)
    block = o.block_names.index("left+plate+right")
    assert {j for i, j in o.E_phi.blocks if i == block} == {
        o.block_names.index("arm"),
        o.block_names.index("left2+plate2+right2"),
    }


def test_blocks_by_name():
    system = ladder()
    o = Operators(system, system.q0, 0.0 * system.v0)
    tree = Operators(system, system.q0, embed=())
    assert o.M["plate"].shape == (6, 6)
    assert o.M["left+plate+right"].shape == (18, 18)
    same(o.M["plate"], tree.M["plate"])
    assert not o.M["plate", "left"].any()
    assert o.phi["plate", "tail"].shape == (6, 6)
    assert o.phi["left+plate+right", "tail"].shape == (18, 6)
    assert o.H["left+plate+right", "right"].shape == (1, 6)
    assert o.V["plate"].shape == (6,)
    assert o.D[o.velocity_names[0]].shape == (1, 1)
    assert o.X["plate", "left+plate+right"].shape == (1, 1)


def test_your_own_operator_on_a_body_of_a_node():
    system = ladder()
    o = Operators(system, system.q0)
    load = o.diagonal({"plate": 0.5 * o.M["plate"]}, "load")
    same(load["plate"], 0.5 * o.M["plate"])
    assert not load["left"].any()
    heavier = o.H * o.phi * (o.M + load) * o.phi.T * o.H.T
    assert np.trace(heavier.to_array()) > np.trace((o.H * o.phi * o.M * o.phi.T * o.H.T).to_array())


def test_parts():
    """What leads out of a part is cut: loops as hinges."""
    system = ladder()
    assert nodes(system, bodies=["left", "plate", "right"]) == {"left+plate+right"}
    assert nodes(system, bodies=["left", "plate"]) == {"left", "plate"}
    assert nodes(system, bodies=["plate", "left2", "plate2", "right2"]) == {"plate", "left2+plate2+right2"}
    upper = ["left2", "plate2", "right2", "tail"]
    part, whole = (Operators(system, system.q0, bodies=chosen) for chosen in (["plate", *upper], None))
    masses = [(o.H * o.phi * o.M * o.phi.T * o.H.T).to_array() for o in (part, whole)]
    names = [name for name in part.velocity_names if name in upper]
    blocks = [
        mass[np.ix_(at, at)]
        for mass, o in zip(masses, (part, whole), strict=True)
        for at in [[o.velocity_names.index(name) for name in names]]
    ]
    assert len(names) == 2
    same(*blocks)


def test_complex_steps():
    """Operators are analytic in q, X too: its rate from (61) and from a complex step along the motion."""
    system, step = four_bar("embed", theta=0.8, rate=1.5), 1e-30
    o = Operators(system, system.q0, system.v0)
    moved = Operators(system, system.q0 + 1j * step * system.v0)
    rate = moved.X.to_array().imag / step
    same(rate, o.X_dot)
    assert moved.velocity_names == o.velocity_names


def test_loops_by_name():
    system = ladder()
    assert nodes(system, embed=["lower"]) == {"left+plate+right", "left2", "plate2", "right2", "tail"}
    assert nodes(system, embed=[]) == set(system.body_names)
    assert nodes(system, embed=(name for name in ["upper"])) == nodes(system, embed=["upper"])
    assert [loop.name for loop in Operators(system, system.q0, embed=["lower"]).loops.forced] == ["upper"]


def test_representations():
    system = ladder()
    o = Operators(system, system.q0)
    assert repr(o) == "<Operators of 'ladder': 7 bodies, 3 velocities that keep 2 loops closed>"
    names = ", ".join(o.velocity_names)
    velocities, bodies = f"3 independent velocities of 'ladder' ({names})", "7 bodies in 3 nodes of 'ladder'"
    assert repr(o.H) == f"<H: the {velocities} × the {bodies}>"
    assert repr(o.embeddings[0]).startswith("<left+plate+right closed by lower: 3 velocities, 1 independent (")


def open_loop():
    system = four_bar("embed")
    Operators(system, system.q0 + 0.05)


def inconsistent_velocities():
    system = four_bar("embed", rate=1.0)
    _ = Operators(system, system.q0, system.v0 + np.array([0.0, 0.5, 0.0])).beta


def rates_of_rates():
    system = four_bar("embed", rate=1.0)
    _ = Operators(system, system.q0 + 0j, system.v0).X_dot


def other_velocities():
    system = ladder()
    one = Operators(system, system.q0)
    return one.H * Operators(system, system.q0, embed=["lower"]).H.T


MESSAGES = {
    "open": (open_loop, r"q leaves loop 'pin' open by .* m: give coordinates that close it, .* embed=\(\)"),
    "velocities": (inconsistent_velocities, "the velocities open the loops: .* limberjack.assemble"),
    "complex": (rates_of_rates, "q must be real"),
    "names": (lambda: nodes(four_bar("embed"), embed=["pim"]), "no closed loop of these bodies is called 'pim'; did"),
    "text": (lambda: nodes(four_bar("embed"), embed="pin"), "embed is 'pin'; give a list of names of loops"),
    "outside": (lambda: nodes(ladder(), embed=["upper"], bodies=["left", "plate", "right"]), "called 'upper'"),
    "mixed": (other_velocities, "cannot multiply"),
    "body": (lambda: Operators(ladder(), ladder().q0).M["plato"], "no body is called 'plato'; did you mean 'plate'"),
    "diagonal": (lambda: Operators(ladder(), ladder().q0).diagonal({"left+plate+right": np.eye(18)}), "no body"),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    wrong, message = MESSAGES[case]
    with pytest.raises(lj.ArgumentError, match=message):
        wrong()


@pytest.mark.parametrize("what", [lambda o: Sensitivity(o, "tail"), mass_matrix_gradient, log_det_gradient])
def test_sensitivities_are_of_trees(what):
    system = ladder()
    with pytest.raises(
        lj.ArgumentError, match=r"aggregated node depends on all coordinates of its loops \(lower, upper\)"
    ):
        what(Operators(system, system.q0, system.v0))
    what(Operators(system, system.q0, system.v0, embed=()))


def test_log_det():
    system = ladder()
    o = Operators(system, system.q0)
    mass = (o.H * o.phi * o.M * o.phi.T * o.H.T).to_array()
    assert log_det(o) == pytest.approx(np.linalg.slogdet(mass)[1], rel=1e-12)
    assert np.isclose(2 * np.log(np.diag(DiagonalDynamics(o).root.to_array())).sum(), log_det(o))


def test_a_loop_without_rows():
    """A free hinge forbids nothing: its node has all its velocities."""
    system = four_bar("embed")
    hinge = dataclasses.replace(system.loops[0].hinge, type="free", axes=np.zeros((0, 3)))
    loose = dataclasses.replace(system, loops=(dataclasses.replace(system.loops[0], hinge=hinge, method="force"),))
    assert isinstance(loose.loops[0], Loop)
    assert len(Operators(loose, system.q0, embed=["pin"]).velocity_names) == 3
