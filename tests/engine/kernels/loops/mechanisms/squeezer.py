"""Andrews' squeezer mechanism, seven bodies in the plane, one motor and one spring.

Parameters, initial values and the solution at 0.03 s as published: E. Hairer, G. Wanner, Solving Ordinary Differential
Equations II, section VII.7, and the Test Set for Initial Value Problem Solvers (Bari), problem "Andrews' squeezing
mechanism"; there the solution was computed to 14 digits.
"""

from __future__ import annotations

import numpy as np

import limberjack as lj
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import Dof, Node
from tests.engine.kernels.loops.mechanisms.parts import assembled, at, lamina, pin, sliding, turning

A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
#: point of body 3 that the spring pulls
D = (0.02, -0.018)
STIFFNESS, LENGTH, TORQUE = 4530.0, 0.07785, 0.033
NAMES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
START = (
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
)
#: accelerations at the start, rad/s²; those of the other angles are 0
START_RATES = {"beta": 14222.4439199541138705911625887, "theta": -10666.8329399655854029433719415}
END_TIME = 0.03
END = (
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805304,
    0.5347301163226948,
    1.048080741042263,
)


def squeezer(method: str | None = None, cut: str = "revolute", strut: float = 0.0) -> lj.System:
    """The mechanism with the motor as an actuator; with a strut of mass `strut` (kg) the spring acts on its slide."""
    angle = dict(zip(NAMES, START, strict=True))
    bodies = [
        turning("beta", None, (0, 0), lamina(0.04325, (0.00092, 0), 2.194e-6), angle["beta"]),
        turning("theta", "beta", (0.007, 0), lamina(0.00365, (-0.0115, 0), 4.410e-7), angle["theta"]),
        turning("gamma", None, B, lamina(0.02373, (0.01043, -0.01874), 5.255e-6), angle["gamma"]),
        turning("delta", None, A, lamina(0.07050, (0.02308, 0.00916), 1.169e-5), angle["delta"]),
        turning("phi", "delta", (0.04, 0), lamina(0.00706, (0, 0.01421 - 0.02), 5.667e-7), angle["phi"]),
        turning("epsilon", None, A, lamina(0.05498, (-0.00449, -0.01228), 1.912e-5), angle["epsilon"]),
        turning("omega", "epsilon", (0, -0.04), lamina(0.00706, (0.02 - 0.01421, 0), 5.667e-7), angle["omega"]),
    ]
    tips = {"gamma": (0, -0.035), "phi": (0, -0.02), "omega": (0.02, 0)}
    loops = [pin(f"tip {name}", "theta", (-0.028, 0), name, tip, cut) for name, tip in tips.items()]
    if strut:
        bodies += _strut(strut)
        loops.append(pin("spring end", "rod", (0, 0), "gamma", D, cut))
    return assembled(
        "squeezer",
        bodies,
        loops,
        method,
        np.zeros(3),
        nodes=(Node("D", "gamma", at(D)),),
        actuators=(Actuator("motor", "beta", initial=TORQUE),),
    )


def _strut(mass: float):
    """A case that turns about C and a rod that slides in it, with the spring along the slide."""
    dx, dy = spring_vector(START[2])
    half = lamina(0.5 * mass, (0, 0), 0.5 * mass * 1e-4)
    spring = Dof(stiffness=STIFFNESS, rest=LENGTH)
    case = turning("case", None, C, half, np.arctan2(dy, dx))
    return [case, sliding("rod", "case", (0, 0), (1, 0), half, np.hypot(dx, dy), dofs=(spring,))]


def spring_vector(gamma: float) -> np.ndarray:
    """From C to D, m."""
    c, s = np.cos(gamma), np.sin(gamma)
    return np.array([B[0] + c * D[0] - s * D[1] - C[0], B[1] + s * D[0] + c * D[1] - C[1]])


def torques(system: lj.System, q: np.ndarray) -> np.ndarray:
    """Motor and spring, as forces along the seven angles."""
    names = list(system.coordinate_names)
    tau = np.zeros(system.nv)
    tau[names.index("beta")] = TORQUE
    x, y = spring_vector(q[names.index("gamma")])
    length = np.hypot(x, y)
    pull = -STIFFNESS * (length - LENGTH) / length
    lever = np.array([x + C[0] - B[0], y + C[1] - B[1]])
    tau[names.index("gamma")] = pull * (lever[0] * y - lever[1] * x)
    return tau


def end(system: lj.System) -> np.ndarray:
    """The published angles at END_TIME in the system's order."""
    published = dict(zip(NAMES, END, strict=True))
    return np.array([published[name] for name in system.coordinate_names])
