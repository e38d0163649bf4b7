"""The verdict on whether a run kept pace with the clock, for every paced run."""

from __future__ import annotations

from limberjack.hil.executive import Outcome
from limberjack.hil.scenario.evidence import Verdict
from limberjack.hil.scenario.schema import PacingSpec

NAME = "real time of the run"
#: a frame may end so many frames too late, and where frames are short so many s, unless the scenario says otherwise
LATE_FRAMES, LATE_S = 10, 0.02


def judge_pace(pacing: PacingSpec, outcome: Outcome) -> list[Verdict]:
    """The verdict on a paced run, none on one in lockstep. Start-up frames are left out.

    value : share of the frames that overran;  bound : the allowed share
    """
    overruns, period = outcome.overruns, 1e-9 * outcome.frames.period_ns
    if overruns is None:
        return []
    frames = outcome.frames.frames - min(outcome.frames.frames, pacing.start_up_frames)
    most_late = max(LATE_FRAMES * period, LATE_S) if pacing.most_late_s is None else pacing.most_late_s
    allowed = f"at most {100.0 * pacing.overrun_share:.3g} % may, by at most {1e3 * most_late:.6g} ms"
    if frames == 0:
        after = f" after the {pacing.start_up_frames} of the start-up" if pacing.start_up_frames else ""
        text = f"no frame ran{after}, so none shows whether it keeps pace; {allowed}"
        return [Verdict(NAME, False, text, bound=pacing.overrun_share, undecided=True)]
    share, late = overruns.total / frames, 1e-9 * overruns.latest_ns
    passed = overruns.total <= pacing.overrun_share * frames and overruns.latest_ns <= round(1e9 * most_late)
    text = (
        f"{overruns.total} of {frames} frames overran ({100.0 * share:.3g} %), by up to {1e3 * late:.6g} ms; {allowed}"
    )
    if not passed:
        text += ". See the events 'overrun' for causes; pacing.overrun_share and pacing.most_late_s allow more"
    return [Verdict(NAME, passed, text, share, pacing.overrun_share)]
