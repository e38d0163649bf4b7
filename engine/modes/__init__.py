"""Flexible bodies from finite elements: modal data, their file, the integrals that the dynamics needs, reductions.

Modal data and integrals need numpy only; beams, matrices and reductions need SciPy: pip install "limberjack[modes]".
"""

from limberjack.engine.modes.data import ModalData
from limberjack.engine.modes.integrals import integrals
from limberjack.engine.modes.modal import Attachment, Integrals
from limberjack.engine.modes.modal_fields import Stress
from limberjack.engine.modes.modal_file import read_modal_data, write_modal_data

__all__ = ["Attachment", "Integrals", "ModalData", "Stress", "integrals", "read_modal_data", "write_modal_data"]
