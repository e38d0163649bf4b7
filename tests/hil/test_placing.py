"""Rights are asked for, reported and given back; a refusal stops nothing."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading

import pytest

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.clock import LEAST_MARGIN_NS, MOST_MARGIN_NS, MonotonicClock, measured_clock, oversleeps
from limberjack.hil.realtime_rights import RealtimeRights

ALL = RealtimeRights(priority=1, cpus=(0,), lock_memory=True)


def state():
    """What a run may change."""
    scheduler = os.sched_getscheduler(0), os.sched_getparam(0).sched_priority
    slack = ctypes.CDLL(None).prctl(30, 0, 0, 0, 0)
    return os.sched_getaffinity(0), scheduler, sys.getswitchinterval(), gc.isenabled(), slack


def test_everything_is_given_back():
    before = state()
    with ALL.held() as rights:
        assert not gc.isenabled()
        for right in rights:
            assert right.text
        granted = {right.name for right in rights if right.granted}
        assert granted >= {"thread switch interval", "garbage collector"}
        if "affinity" in granted:
            assert os.sched_getaffinity(0) == {0}
        if "SCHED_FIFO" in granted:
            assert os.sched_getscheduler(0) == os.SCHED_FIFO
    assert state() == before


def test_threads_that_may_hold_pythons_lock_get_a_priority_too():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        with RealtimeRights(priority=3, freeze=False).held() as rights:
            if next(right for right in rights if right.name == "SCHED_FIFO").granted:
                assert os.sched_getparam(thread.native_id).sched_priority == 2
        assert os.sched_getscheduler(thread.native_id) == os.SCHED_OTHER
    finally:
        done.set()
        thread.join()


def test_nothing_is_asked_unless_wanted():
    with RealtimeRights(freeze=False).held() as rights:
        assert {right.name for right in rights} == {"thread switch interval", "timer slack"}
        assert gc.isenabled()


def test_refusals_say_why_and_how_to_fix_them(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with RealtimeRights(priority=50, cpus=(4095,), freeze=False).held() as rights:
        refused = {right.name: right.text for right in rights if not right.granted}
    assert set(refused) == {"affinity", "SCHED_FIFO"}
    assert "choose from" in refused["affinity"]
    assert "rtprio" in refused["SCHED_FIFO"]


def test_memory_that_may_not_be_locked(monkeypatch):
    class Library:
        def mlockall(self, flags):
            ctypes.set_errno(12)
            return -1

        def prctl(self, *_):
            return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Library())
    with RealtimeRights(lock_memory=True, freeze=False).held() as rights:
        refused = {right.name: right.text for right in rights if not right.granted}
    assert set(refused) == {"timer slack", "locked memory"}
    assert "memlock" in refused["locked memory"]


@pytest.mark.parametrize("options", [{"priority": 0}, {"priority": 100}, {"cpus": (-1,)}])
def test_numbers_that_cannot_be(options):
    with pytest.raises(ArgumentError):
        RealtimeRights(**options)


def test_no_wait_ends_early():
    clock = MonotonicClock(50_000)
    for ahead in (-1_000_000, 0, 1_000, 60_000, 300_000):
        deadline = clock.now_ns() + ahead
        assert clock.wait_until(deadline) >= deadline


def test_the_margin_is_measured_and_bounded():
    assert oversleeps(5, 1e-4).min() >= 0
    assert LEAST_MARGIN_NS <= measured_clock(10**9).margin_ns <= MOST_MARGIN_NS
    assert measured_clock(20_000).margin_ns <= 10_000
