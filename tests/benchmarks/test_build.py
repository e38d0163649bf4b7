"""Building peers: the cache, and every way it can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import peer_build
from benchmarks.peer_build import PeerUnavailableError, load_peer

pytest.importorskip("ziglang")


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of sources with a cache of its own."""
    monkeypatch.setattr(peer_build, "HERE", tmp_path)
    monkeypatch.setattr(peer_build.platformdirs, "user_cache_dir", lambda _: str(tmp_path / "cache"))
    (tmp_path / "good.c").write_text('__attribute__((visibility("default"))) int answer(void) { return 42; }\n')
    (tmp_path / "bad.c").write_text("int answer(void) { return forty_two; }\n")
    return tmp_path


def test_built_once_then_taken_from_the_cache(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    assert load_peer("good.c", ["ziglang"], [], said.append).answer() == 42
    assert len(said) == 1
    assert "good.c" in said[0]

    def refuse(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(peer_build, "_compile", refuse)
    assert load_peer("good.c", ["ziglang"], [], said.append).answer() == 42
    assert len(said) == 1
    with pytest.raises(AssertionError, match="compiled again"):
        load_peer("good.c", ["ziglang"], ["-DOTHER"])


def test_compile_error_is_reported(workshop: Path) -> None:
    with pytest.raises(PeerUnavailableError, match=r"bad\.c did not compile: .*forty_two"):
        load_peer("bad.c", ["ziglang"], [])
    assert not list(workshop.rglob("*.so"))


def test_missing_package_is_named(workshop: Path) -> None:
    with pytest.raises(PeerUnavailableError, match="no-such-package is not installed"):
        load_peer("good.c", ["ziglang", "no-such-package"], [])


def test_a_library_that_does_not_load_is_reported(workshop: Path) -> None:
    library = peer_build._place("good.c", ["ziglang"], [])
    library.parent.mkdir(parents=True)
    library.write_text("not a library")
    with pytest.raises(PeerUnavailableError, match="does not load"):
        load_peer("good.c", ["ziglang"], [])
