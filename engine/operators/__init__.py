"""The operator workbench: the spatial operators of the papers, typed as they are written.

ops = Operators(system, q)
H, phi, M = ops.H, ops.phi, ops.M
mass_matrix = H * phi * M * phi.T * H.T
"""

from limberjack.engine.operators.algebra import Operator
from limberjack.engine.operators.blocks import BlockOperator, PropagationOperator
from limberjack.engine.operators.compliance import ComplianceOperator
from limberjack.engine.operators.diagonal import DiagonalDynamics
from limberjack.engine.operators.loop_forces import LoopForces
from limberjack.engine.operators.sensitivities import Sensitivity
from limberjack.engine.operators.vectors import StackedVector
from limberjack.engine.operators.workbench import Operators

__all__ = [
    "BlockOperator",
    "ComplianceOperator",
    "DiagonalDynamics",
    "LoopForces",
    "Operator",
    "Operators",
    "PropagationOperator",
    "Sensitivity",
    "StackedVector",
]
