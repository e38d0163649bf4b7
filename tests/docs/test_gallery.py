"""The gallery shows every example."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: what the scripts share
SHARED = {"recording.py"}


def test_the_gallery_names_every_example():
    text = (ROOT / "docs/tutorials/gallery.md").read_text(encoding="utf-8")
    names = {path.name for path in (ROOT / "examples").iterdir() if not path.name.startswith("__")} - SHARED
    assert sorted(name for name in names if name not in text) == []
