"""Addresses: their forms, which are local, and one engine to an ipc path."""

from __future__ import annotations

import pytest

from limberjack.bridge.endpoints import Endpoints, IpcGuard, as_seen_from, check_binding, is_local, split
from limberjack.bridge.errors import EndpointError


def test_streams_lie_beside_the_request_address():
    assert Endpoints.derive("tcp://127.0.0.1:5555").topics == "tcp://127.0.0.1:5557"
    assert Endpoints.derive("ipc:///tmp/a").state == "ipc:///tmp/a.state"
    assert Endpoints.derive("tcp://127.0.0.1:*").state == "tcp://127.0.0.1:*"
    assert Endpoints.derive("tcp://[::1]:7000", topics="ipc:///tmp/t").topics == "ipc:///tmp/t"
    with pytest.raises(EndpointError, match="below 65534"):
        Endpoints.derive("tcp://127.0.0.1:65535")


@pytest.mark.parametrize(
    "wrong",
    ["", "127.0.0.1:5555", "udp://127.0.0.1:1", "inproc://x", "tcp://", "tcp://host", "tcp://host:", "tcp://:5",
     "tcp://host:70000", "tcp://host:-1", "tcp://host:²", "ipc://", "ipc:///" + "x" * 120],
)  # fmt: skip
def test_wrong_forms_are_refused(wrong):
    with pytest.raises(EndpointError):
        split(wrong)


def test_a_model_in_the_place_of_an_address_is_reported():
    with pytest.raises(EndpointError, match="'arm.yaml' is a model.*'limberjack run arm.yaml --real-time'"):
        split("arm.yaml")


@pytest.mark.parametrize(
    ("endpoint", "local"),
    [("tcp://127.0.0.1:1", True), ("tcp://127.9.9.9:1", True), ("tcp://localhost:1", True),
     ("tcp://[::1]:1", True),
     ("ipc:///tmp/x", True), ("tcp://0.0.0.0:1", False), ("tcp://*:1", False), ("tcp://eth0:1", False),
     ("tcp://localhost.example.com:1", False), ("tcp://[::]:1", False), ("tcp://10.0.0.1:1", False)],
)  # fmt: skip
def test_only_loopback_and_ipc_are_local(endpoint, local):
    assert is_local(endpoint) is local
    check_binding(endpoint, keyed=True)
    if not local:
        with pytest.raises(EndpointError):
            check_binding(endpoint, keyed=False)


def test_a_stream_on_every_interface_is_found_at_the_host_that_was_reached():
    assert as_seen_from("tcp://0.0.0.0:5556", "tcp://10.0.0.7:5555") == "tcp://10.0.0.7:5556"
    assert as_seen_from("tcp://127.0.0.1:5556", "tcp://127.0.0.1:5555") == "tcp://127.0.0.1:5556"
    assert as_seen_from("ipc:///tmp/s", "tcp://10.0.0.7:5555") == "ipc:///tmp/s"


def test_the_guard_takes_a_path_once_and_gives_it_back(endpoint, folder):
    guard = IpcGuard(endpoint)
    with pytest.raises(EndpointError, match="in use by another engine"):
        IpcGuard(endpoint)
    guard.release()
    IpcGuard(endpoint).release()
    assert list(folder.iterdir()) == []


def test_a_mistyped_path_costs_no_file(folder):
    file = folder / "notes.txt"
    file.write_text("precious")
    with pytest.raises(EndpointError, match="is not a socket"):
        IpcGuard(f"ipc://{file}")
    assert file.read_text() == "precious"
    with pytest.raises(EndpointError, match="a folder that exists"):
        IpcGuard(f"ipc://{folder}/missing/e")
