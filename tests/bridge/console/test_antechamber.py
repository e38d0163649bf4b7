"""The page at the console's address while the engine is made ready."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from limberjack.bridge.console.access import Address
from limberjack.bridge.console.antechamber import Antechamber
from limberjack.bridge.errors import EndpointError
from tests.bridge.console.asking import Asker

ROOT = Path(__file__).resolve().parents[3]


def test_it_answers_at_once_and_makes_room():
    with Antechamber(Address(port=0), "The engine is <b>compiled</b>") as chamber:
        ask = Asker(chamber.address.port)
        status, page, _ = ask("/?token=x")
        assert status == 200
        assert "&lt;b&gt;compiled" in page
        assert ask("/api/status")[:1] == (503,)
        assert "<b>compiled</b> … 0 s" in ask("/api/status")[1]
        assert ask("/", headers={"Host": "evil.example"})[0] == 403
        with pytest.raises(EndpointError, match="Choose another port"):
            Antechamber(chamber.address, "")
    chamber.close()
    with Antechamber(chamber.address, "again") as second:
        assert second.address == chamber.address


@pytest.mark.long
def test_the_page_becomes_the_console(browser):
    """The address answers before the engine is asked for anything, and fills by itself."""
    model = ROOT / "examples" / "space_manipulator.yaml"
    command = [sys.executable, "-m", "limberjack", "console", str(model), "--port", "0", "--rate", "50"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as served:
        try:
            assert served.stderr is not None
            first = served.stderr.readline()
            assert "opening" in first
            address = re.search(r"http://\S+/", first)
            assert address is not None
            status, page, _ = Asker(int(address[0].rpartition(":")[2].strip("/")))("/")
            assert status == 200
            assert "getting ready" in page
            page = browser.open(address[0])
            page.wait("limberjack.link.newest.size > 5")
            page.go("about:blank")
        finally:
            served.terminate()
            served.wait(20.0)
