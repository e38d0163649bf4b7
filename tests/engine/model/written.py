"""Files that tests of MJCF write."""

import pytest


@pytest.fixture
def write(tmp_path):
    def write_text(text):
        path = tmp_path / "model.xml"
        path.write_text(text)
        return path

    return write_text
