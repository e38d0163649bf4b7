"""How threads share the groups of a batch."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import limberjack as lj
from limberjack.engine.api.world_lanes import Lanes
from limberjack.engine.api.world_threads import Share, Threads
from limberjack.engine.model.build import build

PLANT = build(lj.load(Path(__file__).resolve().parents[3] / "examples" / "four_bar.yaml"))


def shared(groups: int, threads: int) -> Threads:
    return Threads(Lanes(8 * groups, 8), PLANT, threads)


@pytest.mark.parametrize("seconds", [0.0, 1e-6, 5e-4, 3e-3, 0.1, float("inf")])
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("groups", [1, 2, 3, 5, 16, 64, 1000])
def test_each_group_is_taken_once(groups, threads, seconds):
    taken: list[int] = []
    lanes = shared(groups, threads)

    def run(thread: int, share: Share) -> None:
        assert 0 <= thread < len(lanes.works)
        first, last = lanes.parts[share.parts][0], lanes.parts[share.parts][-1]
        assert (first.groups.start, last.groups.stop) == (share.groups.start, share.groups.stop)
        taken.extend(range(share.groups.start, share.groups.stop))

    lanes.all(run, seconds)
    assert sorted(taken) == list(range(groups))


def test_little_work_is_one_share_of_the_calling_thread():
    shares = []
    shared(64, 4).all(lambda thread, share: shares.append((thread, share.groups, threading.get_ident())), 1e-5)
    assert shares == [(0, slice(0, 64), threading.get_ident())]


def test_a_thread_with_slow_worlds_is_relieved_of_half_its_groups():
    """The other thread takes all shares but one before the first is done."""
    rest, late = threading.Event(), 30.0
    taken = {0: 0, 1: 0}

    def run(thread: int, share: Share) -> None:
        taken[thread] += share.groups.stop - share.groups.start
        if sum(taken.values()) == 64:
            rest.set()
        if share.groups.start == 0:
            assert rest.wait(late)

    shared(64, 2).all(run)
    assert sorted(taken.values()) == [16, 48]


def test_an_error_of_any_thread_is_raised_after_the_others_are_done():
    begun, done = threading.Event(), []

    def run(thread: int, share: Share) -> None:
        if thread == 1:
            begun.set()
            raise ValueError("a reason")
        assert begun.wait(30.0)
        done.append(share)

    threads = shared(64, 2)
    with pytest.raises(ValueError, match="a reason"):
        threads.all(run)
    assert sum(share.groups.stop - share.groups.start for share in done) == 48
