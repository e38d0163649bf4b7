"""Orders of operators: their authors, their actions, and the rules that permit them."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from limberjack.bridge.errors import BridgeError
from limberjack.bridge.telemetry.sample import printable
from limberjack.bridge.telemetry.session import Session
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, ExitCode

#: action → what it does; `target` is a parameter, loop, hinge or fault where the text names one
ACTIONS = {
    "command": "set commands of drives, in `values`",
    "parameter": "set the parameter `target` to `value`; faults of sensors and actuators are parameters too",
    "attach": "close the loop `target`",
    "release": "open the loop `target`",
    "lock": "hold the hinge `target`",
    "unlock": "let the hinge `target` move",
    "fault": "begin the fault `target` of the scenario that a test bench runs",
    "clear": "end the fault `target` of that scenario",
    "pause": "pause the run of a test bench",
    "resume": "resume the run",
    "single_step": "run one frame, then pause",
    "abort": "end the run; its report gives the `reason`",
    "reset": "put the simulation back to its start",
    "give_up": "give the command lease to others",
    "acknowledge": "acknowledge the alarm of the quantity `target`, or all alarms where that is *",
    "shelve": "shelve the alarm of the quantity `target` for `value` seconds, with a `reason`",
    "unshelve": "end the shelving of the alarm of the quantity `target`",
}
#: of ACTIONS, what the gateway carries out itself
OF_ALARMS = ("acknowledge", "shelve", "unshelve")
ALL_ALARMS = "*"  # target of acknowledge
SHELVED_S = (1.0, 28800.0)  # shortest and longest time
_LONGEST_REASON = 200
ROLES = ("viewer", "operator")
#: actions on a run → request to the bench
RUN = {"pause": "pause", "resume": "resume", "single_step": "step", "abort": "abort"}
_WITHOUT_TARGET = ("reset", "give_up", *RUN)
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Actor:
    """The author of an order. outlet : "console"; name : a person, address or key; role : "viewer" or "operator"."""

    outlet: str
    name: str
    role: str = "viewer"

    def __str__(self) -> str:
        return f"{self.outlet}/{printable(self.name[:100])}"


@dataclass(frozen=True)
class Order:
    """An order: an action of ACTIONS.

    target : parameter, loop, hinge, fault or quantity in alarm;  values : command name → value
    value : of the parameter, or a duration, s;  reason : why an alarm is shelved, or a run is paused or ended
    before_ns : ns since 1970, after which the order must not be carried out
    """

    action: str
    target: str = ""
    value: float | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    before_ns: int | None = None

    def __str__(self) -> str:
        if self.action == "command":
            shown = [f"{name!s:.80} = {_short(value)}" for name, value in list(self.values.items())[:8]]
            text = "command " + ", ".join(shown) + (", …" if len(self.values) > len(shown) else "")
        else:
            tail = f" = {_short(self.value)}" if self.value is not None else ""
            if self.action == "shelve":
                tail = f" for {_short(self.value)} s: {self.reason!s:.{_LONGEST_REASON}}"
            elif self.reason:
                tail += f": {self.reason!s:.{_LONGEST_REASON}}"
            text = f"{self.action!s:.40} {self.target!s:.80}".strip() + tail
        return printable(text)


class OrderRefused(BridgeError):
    """An order that is not carried out; `code` says why.

    Of the gateway: "role", "not_allowed", "malformed", "unknown", "non_finite", "range", "busy", "lost", "late",
    "state"; of the engine: its own codes (docs/reference/protocol.md), as "lease"
    """

    exit_code = ExitCode.FAILED

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        super().__init__(text)

    def __reduce__(self) -> tuple:
        return type(self), (self.code, str(self))


@dataclass(frozen=True)
class Rule:
    """A permission: patterns (as of file names) of "outlet/name", of actions, of targets or command names.

    Targets are ignored for actions without one: reset and give_up.
    """

    who: str = "*"
    actions: tuple[str, ...] = ("*",)
    targets: tuple[str, ...] = ("*",)

    def fits(self, actor: Actor, order: Order) -> bool:
        """Whether it lets this actor do this."""
        names = list(order.values) if order.action == "command" else [order.target]
        names = [] if order.action in _WITHOUT_TARGET else names
        return (
            fnmatch.fnmatchcase(str(actor), self.who)
            and any(fnmatch.fnmatchcase(order.action, each) for each in self.actions)
            and all(any(fnmatch.fnmatchcase(name, each) for each in self.targets) for name in names)
        )


def permit(order: Order, actor: Actor, rules: Iterable[Rule]) -> None:
    """Raise OrderRefused unless the actor is an operator and a rule lets it do this."""
    if actor.role != "operator":
        text = f"{actor} is a {actor.role} and may only watch. Use the token of an operator."
        raise OrderRefused("role", text)
    if not any(rule.fits(actor, order) for rule in rules):
        text = f"{actor} may not {order}: no rule of this gateway allows it. Add one to `allow` in the gateway's file."
        raise OrderRefused("not_allowed", text)


def examine(order: Order, session: Session) -> None:
    """Raise OrderRefused for an order that the engine of this session could not carry out as it stands."""
    if order.action not in ACTIONS:
        raise OrderRefused("malformed", f"{order.action!r:.40} is not an action. Choose one of {', '.join(ACTIONS)}.")
    for name in (order.target, *order.values):
        if not isinstance(name, str) or len(name) > _LONGEST_NAME or not name.isprintable():
            text = f"{name!r:.40} is not a name; give printable text of at most {_LONGEST_NAME} characters."
            raise OrderRefused("malformed", text)
    try:
        if order.action == "command":
            _examine_command(order, session)
        elif order.action == "parameter":
            arguments.index_of("parameter", order.target, session.description.parameters)
            _finite(f"parameter {order.target}", order.value)
        elif order.action in ("fault", "clear"):
            arguments.index_of("fault", order.target, faults_of(session))
        elif order.action in OF_ALARMS:
            _examine_alarm(order, session)
        elif order.action in RUN:
            _examine_run(order, session)
        elif order.action not in ("reset", "give_up"):
            _examine_switch(order, session)
    except ArgumentError as error:
        raise OrderRefused("unknown", str(error)) from None


def _examine_command(order: Order, session: Session) -> None:
    names = session.description.names["command"]
    if not order.values:
        raise OrderRefused("malformed", "a command needs values: name and number of at least one.")
    for name, value in order.values.items():
        arguments.index_of("command", name, names)
        _finite(f"command {name}", value)
        known = session.dictionary[f"command.{name}"]
        if not known.low <= value <= known.high:
            text = f"command {name} cannot be {value:g} {known.unit}".rstrip()
            raise OrderRefused("range", f"{text}; the model allows {known.low:g} to {known.high:g}.")


def _examine_alarm(order: Order, session: Session) -> None:
    if not (order.action == "acknowledge" and order.target == ALL_ALARMS):
        session.dictionary.place(order.target)
    if order.action != "shelve":
        return
    _finite("the time of shelving", order.value)
    shortest, longest = SHELVED_S
    if not shortest <= (order.value or 0.0) <= longest:
        text = f"an alarm cannot be shelved for {order.value:g} s; give {shortest:g} to {longest:g} s."
        raise OrderRefused("range", text)
    reason = order.reason
    if not (isinstance(reason, str) and reason.strip() and reason.isprintable() and len(reason) <= _LONGEST_REASON):
        text = f"shelving an alarm needs a reason: printable text of at most {_LONGEST_REASON} characters."
        raise OrderRefused("malformed", text)


def _examine_run(order: Order, session: Session) -> None:
    if not isinstance(order.reason, str) or len(order.reason) > _LONGEST_REASON or not order.reason.isprintable():
        raise OrderRefused("malformed", f"a reason is printable text of at most {_LONGEST_REASON} characters.")
    if "bench" not in session.description.raw:
        raise OrderRefused(
            "unknown", f"this engine has no run to {order.action}. Only a test bench has: run a scenario."
        )
    if order.action == "abort" and not order.reason.strip():
        raise OrderRefused("malformed", "an abort needs a reason, which the report will contain. Give one.")


def faults_of(session: Session) -> list[str]:
    """Names of the faults of the scenario that a test bench runs; empty for an engine."""
    return [fault["name"] for fault in session.description.raw.get("bench", {}).get("faults", ())]


def _examine_switch(order: Order, session: Session) -> None:
    loops = [loop for loop in session.description.raw["loops"] if loop["switchable"]]
    if order.action in ("attach", "release"):
        arguments.index_of("switchable loop", order.target, [loop["name"] for loop in loops])
    else:
        arguments.index_of("lock of hinge", order.target, [loop["hinge"] for loop in loops if loop["hinge"]])


def _finite(what: str, value: float | None) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise OrderRefused("malformed", f"{what} needs a number, not {_short(value)}.")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise OrderRefused("non_finite", f"{what} cannot be {_short(value)}; give a finite number.")


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value!r:.40}"
