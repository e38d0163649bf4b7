"""What a build says of itself: how far it is, and how long it still takes."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from limberjack.engine.compile import build


@pytest.mark.parametrize(
    ("elapsed", "new", "done", "text"),
    [
        (5.0, 0, 0, ""),
        (5.0, 4, 4, ""),
        (30.0, 25, 25, ", about 1:30 min to go"),
        (60.0, 10, 90, ", about 1:00 min to go"),
    ],
)
def test_how_long_a_build_still_takes(elapsed, new, done, text):
    """At the pace so far: 25 of 100 parts in 30 s; what was there before does not count."""
    assert build._left(elapsed, new, [Path("x")] * 100, done) == text


def test_a_build_shows_how_far_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "_LINE_S", 0.001)
    files = [tmp_path / str(place) for place in range(10)]
    monkeypatch.setattr(build, "_objects", lambda *_: files)
    ended, looks = threading.Event(), iter(range(100))

    def wait(limit_s: float) -> bool:
        look = next(looks)
        if look:
            files[look - 1].touch()
        return look > 9

    ended.wait = wait
    build._show(tmp_path / "begun", SimpleNamespace(name="here"), False, ended)
    lines = capsys.readouterr().err.splitlines()
    assert ": 0 %" in lines[1]
    assert ": 50 %, about 0:00 min to go" in lines[6]
