"""How Yamcs finds the acknowledgement of a telecommand among the packets: XTCE verifiers in its own terms."""

from __future__ import annotations

from limberjack.bridge.telemetry.ccsds.packets import ACCEPTED, DONE, FAILED, REFUSED, VERIFICATION
from limberjack.bridge.telemetry.ccsds.xtce_parts import Element, add

#: where the command history of Yamcs keeps the sequence count that its PusCommandPostprocessor gave
_COUNT = "/yamcs/cmdHist/ccsds-seqcount"
_LONGEST_WAIT = "PT10S"


def add_verifiers(command: Element) -> None:
    """Stages of a telecommand: accepted, complete, and failed with the reason."""
    verifiers = add(command, "VerifierSet")
    _verifier(verifiers, "AcceptedVerifier", "Accepted", (ACCEPTED,))
    _verifier(verifiers, "CompleteVerifier", "Completed", (DONE,))
    failed = _verifier(verifiers, "FailedVerifier", "Failed", (REFUSED, FAILED))
    add(failed, "ReturnParmRef", parameterRef="text")


def _verifier(verifiers: Element, kind: str, name: str, subtypes: tuple[int, ...]) -> Element:
    verifier = add(verifiers, kind, name=name)
    conditions = add(add(verifier, "BooleanExpression"), "ANDedConditions")
    _condition(conditions, "packet_service", VERIFICATION)
    _condition(conditions, "request_sequence_count", _COUNT)
    either = add(conditions, "ORedConditions") if len(subtypes) > 1 else conditions
    for subtype in subtypes:
        _condition(either, "packet_subtype", subtype)
    add(verifier, "CheckWindow", timeToStopChecking=_LONGEST_WAIT, timeWindowIsRelativeTo="commandRelease")
    return verifier


def _condition(parent: Element, parameter: str, wanted: int | str) -> None:
    """Parameter equals a number, or another parameter."""
    condition = add(parent, "Condition")
    add(condition, "ParameterInstanceRef", parameterRef=parameter)
    add(condition, "ComparisonOperator", "==")
    if isinstance(wanted, str):
        add(condition, "ParameterInstanceRef", parameterRef=wanted)
    else:
        add(condition, "Value", str(wanted))
