"""Histograms of the times of frames."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from limberjack.hil.frame_times import FrameLog, Histogram

#: bars for each power of ten
_BARS_A_DECADE = 12


def frames_figure(frames: FrameLog, title: str, bare: FrameLog | None = None) -> Figure:
    """Work, finish, lateness and jitter of all frames on logarithmic axes, the period as a line.

    bare : frames of a loop without a simulation, drawn behind
    """
    figure = Figure(figsize=(11, 7), layout="constrained")
    figure.suptitle(title, fontsize=13, fontweight="bold", parse_math=False)
    panels = [
        ("work of a frame", frames.compute, None),
        ("end of the work after the deadline", frames.finish, None),
        ("start after the deadline", frames.lateness, bare.lateness if bare else None),
        ("jitter: |time between starts − period|", frames.jitter, bare.jitter if bare else None),
    ]
    for axis, (label, histogram, behind) in zip(figure.subplots(2, 2).flat, panels, strict=True):
        _bars(axis, histogram, "C0", "frames")
        if behind is not None:
            _bars(axis, behind, "C1", "empty loop")
        axis.axvline(1e-3 * frames.period_ns, color="C3", ls="--", lw=1, label="period")
        axis.set(xscale="log", yscale="log", xlabel=f"{label} / µs", ylabel="frames", ylim=(0.7, None))
        axis.grid(alpha=0.3)
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _bars(axis: Axes, histogram: Histogram, colour: str, label: str) -> None:
    """Counts in equal steps of the logarithm, from 10 ns; p99 as a thin line."""
    values, counts = histogram.bins()
    top = max(np.log10(max(histogram.most, 1000)), 3.0)
    edges = 10.0 ** np.arange(1.0, top + 2.0 / _BARS_A_DECADE, 1.0 / _BARS_A_DECADE)
    heights, _ = np.histogram(np.clip(values, edges[0], None), bins=edges, weights=counts)
    axis.stairs(heights, 1e-3 * edges, fill=True, alpha=0.5, color=colour, label=label)
    axis.axvline(1e-3 * histogram.percentile(99.0), color=colour, lw=1, label=f"{label}, p99")
