"""`limberjack hil`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from limberjack.commands.arguments import check_processors
from limberjack.commands.console import open_console
from limberjack.commands.countdown import Countdown
from limberjack.commands.tables import new_table
from limberjack.engine.model.load import load
from limberjack.hil.contact_load import ContactLoad, contact_load
from limberjack.hil.frame_times import FrameStatistics, Spread
from limberjack.hil.probe import NEARLY, Probe, equal_steps, probe
from limberjack.hil.realtime_rights import RealtimeRights, Right


def rights_of(options: argparse.Namespace) -> RealtimeRights:
    """The privileges that the command line requests."""
    check_processors(options.cpu or ())
    return RealtimeRights(options.priority, tuple(options.cpu or ()), options.lock_memory)


def hil(options: argparse.Namespace, load_options: dict[str, Any]) -> int:
    """Probe a model on this machine; exit code 1 if the model itself cannot be run."""
    placing = rights_of(options)
    console = open_console()
    system = load(options.file, **load_options)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)

    with Countdown() as countdown:
        found = probe(system, rate_hz=options.rate, seconds=options.seconds, placing=placing, say=countdown.say)
    show_rights(console, found.outcome.rights, found.outcome.margin_ns)
    show_statistics(console, f"{system.name} at {found.rate_hz:g} Hz", found.outcome.frames.statistics(), found)
    if found.outcome.reason != "completed":
        console.print(f"the run ended: {found.outcome.reason}. {found.outcome.text}")
        return 1
    _show_trials(console, found)
    loaded = contact_load(system, 1.0 / (equal_steps(system, found.rate_hz) * found.rate_hz), placing=placing)
    if loaded is not None:
        _show_contacts(console, loaded)
    if options.out is not None:
        _plot(found, system.name, options.out / "frames.png")
        console.print(f"histograms: {options.out / 'frames.png'}")
    return 0


def show_rights(console: Console, rights: tuple[Right, ...], margin_ns: int) -> None:
    """The requested privileges, and whether the machine granted them."""
    table = new_table("requested privileges", "what", "", "", folding=(2,))
    for right in rights:
        table.add_row(right.name, "granted" if right.granted else "refused", right.text)
    if margin_ns:
        table.add_row("spin before a deadline", "measured", f"{1e-3 * margin_ns:.0f} µs")
    console.print(table)


def show_statistics(console: Console, title: str, statistics: FrameStatistics, probed: Probe | None = None) -> None:
    """Print the times of frames as a table, beside those of an empty loop if that was probed."""
    table = new_table(f"{title}, {statistics.frames} frames", "µs", "p50", "p99", "p99.9", "max")
    rows = [
        ("work", statistics.compute),
        ("end of work after the deadline", statistics.finish),
        ("start after the deadline", statistics.lateness),
        ("jitter", statistics.jitter),
    ]
    if probed is not None:
        bare = probed.bare.statistics()
        rows += [("empty loop: start after the deadline", bare.lateness), ("empty loop: jitter", bare.jitter)]
    for name, spread in rows:
        table.add_row(name, *_microseconds(spread))
    console.print(table)
    text = f"overruns {statistics.overruns}, most in a row {statistics.most_consecutive}, skipped {statistics.skipped}"
    empty = f"; empty loop: overruns {probed.bare.overruns}" if probed is not None else ""
    factor = f"real-time factor {statistics.real_time_factor:.4f}, least slack {1e6 * statistics.least_slack:.1f} µs"
    console.print(f"{text}; {factor}{empty}")


def _show_trials(console: Console, found: Probe) -> None:
    table = new_table("other rates", "Hz", "frames", "overruns", "work p99 / µs", "end p99.9 / µs", "real-time factor")
    for trial in reversed(found.trials):
        at = trial.statistics
        numbers = f"{at.frames}", f"{at.overruns}", f"{1e6 * at.compute.p99:.1f}", f"{1e6 * at.finish.p999:.1f}"
        table.add_row(f"{trial.rate_hz:g}", *numbers, f"{at.real_time_factor:.4f}")
    console.print(table)
    most = found.outcome.frames.statistics().compute.p999
    console.print(
        f"work of 999 of 1000 frames at {found.rate_hz:g} Hz: {1e6 * most:.1f} µs, which fits {1 / most:.4g} Hz"
    )
    for text, rate in (("without overrun", found.highest_hz), (f"with at most {NEARLY:.1%}", found.nearly_hz)):
        console.print(f"highest rate tried {text}: {'none' if rate is None else f'{rate:g} Hz'}")


def _show_contacts(console: Console, loaded: ContactLoad) -> None:
    """Print the time of a step with overlapping shapes."""
    said = f"contacts: {loaded.touching} of {loaded.most} points overlap, {loaded.acting} carry force"
    if loaded.text:
        console.print(f"contacts: a step with all shapes overlapping could not be timed. {loaded.text}")
        return
    p50, p99, p999, most = _microseconds(loaded.spread)
    console.print(f"{said}, a step takes {p50} µs (p99 {p99}, p99.9 {p999}, max {most})")


def _microseconds(spread: Spread) -> tuple[str, ...]:
    return tuple(f"{1e6 * value:.2f}" for value in (spread.p50, spread.p99, spread.p999, spread.max))


def _plot(found: Probe, name: str, path: Path) -> None:
    from limberjack.hil.frame_times_plot import frames_figure

    frames = found.outcome.frames
    frames_figure(frames, f"{name}, {frames.frames} frames at {found.rate_hz:g} Hz", found.bare).savefig(path, dpi=110)
