"""States of loops, locks and faults in words, for the command panel: a kind of message that browsers ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limberjack.bridge.fault_state import FaultState
from limberjack.bridge.telemetry.loop_states import LoopStates
from limberjack.bridge.telemetry.sample import Sample

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.gateway import Gateway


class Switches:
    """What can be switched in the model that runs."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway, session = gateway, gateway.session()
        self._states, self._groups = LoopStates(session), session.dictionary.groups

    def message(self, sample: Sample) -> dict[str, Any]:
        """Name → words: "closed", "waiting (reach 0.05 m, now 1.81 m)"; "active since 3 s, set by 'console'"."""
        none = slice(0, 0)
        q, v, command = (sample.vector[self._groups.get(name, none)] for name in ("q", "v", "command"))
        status = self._gateway.session().status
        faults = {each["name"]: _words(each) for each in status.get("faults", ())}
        return {"loops": self._states.states(q, v, command, status["closed"]), "faults": faults}


def _words(fault: dict[str, Any]) -> str:
    return str(FaultState(fault["active"], fault["by"], fault["since"]))
