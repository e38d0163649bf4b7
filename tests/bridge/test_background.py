"""Work in a thread: begun, ended, begun again; who waits for its end hears whether it came."""

from __future__ import annotations

import threading

from limberjack.bridge.background import Background


def test_work_begins_ends_and_begins_again():
    begun = threading.Semaphore(0)

    def work() -> None:
        begun.release()
        background.stopping.wait()

    background = Background("test", work)
    assert background.stop()
    for _ in range(2):
        background.start()
        assert begun.acquire(timeout=20.0)
        assert any(thread.name == "test" and thread.daemon for thread in threading.enumerate())
        assert background.stop()
        assert background.stop()
        assert not any(thread.name == "test" for thread in threading.enumerate())


def test_work_that_does_not_end_is_reported():
    let = threading.Event()
    background = Background("test", lambda: let.wait(20.0) and None)
    background.start()
    assert not background.stop(0.05)
    let.set()
    assert background.stop(20.0)
