"""Files that tests of model formats write."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def writes(default: str) -> Any:
    """A fixture: write(text, name) writes a file, by default of this name, and returns its path."""

    @pytest.fixture
    def write(tmp_path: Path) -> Callable[..., Path]:
        def write_text(text: str, name: str = default) -> Path:
            path = tmp_path / name
            path.write_text(text)
            return path

        return write_text

    return write
