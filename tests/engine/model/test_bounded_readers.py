"""Readers look before they work: what a file is, how large, how much is in it. Work is counted, not timed.

Only where work cannot be counted, a generous bound of processor time stands in for it.
"""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import time
import zipfile
import zlib
from pathlib import Path

import msgpack
import numpy as np
import pytest

import limberjack as lj
from limberjack.addresses import read_key
from limberjack.bridge.console.access import read_tokens
from limberjack.bridge.telemetry.ccsds.schema import read_packets
from limberjack.bridge.telemetry.config import load_config
from limberjack.commands.record import read_csv
from limberjack.engine.common import nearest as near
from limberjack.engine.common.errors import ArgumentError, LimberjackError, ModelError
from limberjack.engine.files import schema_values, yaml_document
from limberjack.engine.files.bounded_file import MAX_BYTES, check_zip, read_bytes
from limberjack.engine.files.xml_document import MAX_ATTRIBUTES, MAX_ELEMENTS, read_xml
from limberjack.engine.files.yaml_document import MAX_VALUES, parse_document
from limberjack.engine.model import archive
from limberjack.engine.model.readers import schema_errors
from limberjack.engine.model.readers.schema import ModelSpec
from limberjack.engine.modes import read_modal_data
from limberjack.engine.modes.calculix import read_frd
from limberjack.engine.modes.calculix_stress import read_stresses
from limberjack.engine.modes.describe import read_description
from limberjack.engine.modes.matrix_files import read_matrix, read_nodes
from limberjack.engine.modes.nastran import check_includes
from limberjack.fmu.controller.unpacking import read as read_fmu
from limberjack.hil.campaign.campaign_file import load_campaign
from limberjack.hil.devices.can_codec import read_dbc
from limberjack.hil.devices.message_layout import read_layout
from limberjack.hil.record.compare import open_table
from limberjack.hil.record.mcap_file import McapFile
from limberjack.hil.scenario.scenario_file import load_scenario

HEAD = "limberjack: 1\nname: a\n"
#: processor time that nothing below may need, s: about ten times what it needs
MOST_S = 20.0

READERS = {
    "yaml": (lj.load, "m.yaml"),
    "urdf": (lj.load, "m.urdf"),
    "mjcf": (lj.load, "m.xml"),
    "archive": (lj.load, "m.ljm"),
    "modal data": (read_modal_data, "m.npz"),
    "description": (read_description, "m.yaml"),
    "matrix": (lambda path: read_matrix(path.name, path.parent), "m.mtx"),
    "numpy matrix": (lambda path: read_matrix(path.name, path.parent), "m.npy"),
    "nodes": (lambda path: read_nodes(path.name, path.parent), "m.csv"),
    "frd": (read_frd, "m.frd"),
    "dat": (read_stresses, "m.dat"),
    "bulk": (check_includes, "m.bdf"),
    "scenario": (load_scenario, "m.yaml"),
    "campaign": (load_campaign, "m.yaml"),
    "layout": (read_layout, "m.yaml"),
    "dbc": (read_dbc, "m.dbc"),
    "gateway": (load_config, "m.yaml"),
    "packets": (read_packets, "m.yaml"),
    "record": (open_table, "m.csv"),
    "mcap": (open_table, "m.mcap"),
    "replay": (McapFile, "m.mcap"),
    "parquet": (open_table, "m.parquet"),
    "log": (read_csv, "m.csv"),
    "key": (read_key, "m.key"),
    "tokens": (read_tokens, "m.tokens"),
    "fmu": (read_fmu, "m.fmu"),
}


@pytest.mark.parametrize("kind", ["named pipe", "folder", "socket", "device"])
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file_is_refused_at_once(reader, kind, tmp_path, monkeypatch):
    """Opening a named pipe would wait for ever: this test would then hang."""
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    read, name = READERS[reader]
    needed = {"dbc": "cantools", "fmu": "fmpy", "mcap": "mcap", "replay": "mcap", "parquet": "pyarrow"}
    if reader in needed:
        pytest.importorskip(needed[reader])
    if kind == "named pipe":
        os.mkfifo(name)
    elif kind == "folder":
        Path(name).mkdir()
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind(name)
    else:
        Path(name).symlink_to("/dev/zero")
    with pytest.raises(LimberjackError, match=f"not a file but a {kind}") as caught:
        read(Path(name))
    assert name in str(caught.value)


def test_a_file_that_grows_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "m.yaml"
    path.write_bytes(b"a" * 101)
    monkeypatch.setattr("limberjack.engine.files.bounded_file.size_of", lambda *args: 0)
    with pytest.raises(ModelError, match="larger than 100 bytes"):
        read_bytes(path, 100)


# --- YAML: work is bounded by keys and values, whatever the 16 MiB hold


def filled(unit: str, start: str = "") -> str:
    """As large as a file may be."""
    return start + unit * ((MAX_BYTES - len(start)) // len(unit))


FULL = {
    "a plain list": (filled("- 1\n"), f"more than {MAX_VALUES} keys and values"),
    "a flow list": (filled("1,", "["), f"more than {MAX_VALUES} keys and values"),
    "mappings": (filled("{a: 1},", "["), f"more than {MAX_VALUES} keys and values"),
    "unknown keys": ("".join(f"k{i}: 1\n" for i in range(900_000)), f"more than {MAX_VALUES} keys and values"),
    "a long key": (filled("abc", f"{HEAD}? ") + "\n: 1\n", "unknown field 'abcabc"),
    "tags": (filled("%TAG !a! b\n"), "tags are not allowed"),
    "anchors": (filled("- &a 1\n"), f"more than {MAX_VALUES} keys and values"),
    "comments": (filled("#\n"), "is empty"),
    "a scalar": (filled("x", f"{HEAD}bodies: "), "is not a list"),
}


@pytest.mark.parametrize("what", FULL)
def test_full_files_fail_early_with_the_right_limit(what, tmp_path):
    text, words = FULL[what]
    path = tmp_path / "m.yaml"
    path.write_text(text[:MAX_BYTES])
    start = time.process_time()
    with pytest.raises(ModelError, match=words) as caught:
        lj.load(path)
    assert time.process_time() - start < MOST_S
    assert len(str(caught.value)) < 1000


def test_reading_stops_at_the_limit(monkeypatch):
    """Of events of the parser hardly more are taken than keys and values are allowed."""
    taken = []
    parse = yaml_document.yaml.parse

    def counted(*args, **kwargs):
        for event in parse(*args, **kwargs):
            taken.append(None)
            yield event

    monkeypatch.setattr(yaml_document.yaml, "parse", counted)
    monkeypatch.setattr(yaml_document, "MAX_VALUES", 100)
    with pytest.raises(ModelError, match="more than 100 keys and values"):
        parse_document("[" + "1," * 10_000, "f")
    assert len(taken) < 110


def test_chains_of_aliases_count_as_depth():
    """Each alias nests one deeper than the one before; Python's own stack never decides."""
    chain = "a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 1200))
    with pytest.raises(ModelError, match="deeper than 32"):
        parse_document(chain, "f")
    parse_document("\n".join(chain.splitlines()[:30]), "f").root.plain()


@pytest.mark.parametrize("count", [10, 1000])
def test_only_shown_findings_are_put_into_words(count, monkeypatch):
    """However many keys are unknown, five are compared with the known ones, and the rest are counted."""
    asked = []
    monkeypatch.setattr(schema_errors, "nearest", lambda given, *rest: asked.append(given) or [])
    text = f"{HEAD}bodies: []\n" + "".join(f"k{i}: 1\n" for i in range(count))
    with pytest.raises(ModelError, match=f"and {count + 1 - 5} more"):
        schema_errors.validated(ModelSpec, parse_document(text, "f"))
    assert asked == [f"k{i}" for i in range(5)]


@pytest.mark.parametrize("group", ["bodies", "actuators", "wheels", "thrusters", "loops", "shapes"])
def test_a_long_list_of_wrong_entries_is_not_checked_to_its_end(group):
    """`{}` lacks several fields: findings would outnumber the values of the file."""
    text = f"{HEAD}{group}:\n" + "- {}\n" * 5000
    with pytest.raises(Exception) as caught:
        ModelSpec.model_validate(parse_document(text, "f").root.plain())
    assert 0 < caught.value.error_count() <= 10 * schema_values._PORTION


def test_places_in_long_lists_are_right(tmp_path):
    """The error for a mistake behind the first portion names its own line."""
    good = "- {name: b%d, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, hinge: {type: free, parent: world}}\n"
    text = f"{HEAD}bodies:\n" + "".join(good % i for i in range(777)) + "- {name: x, mass: heavy}\n"
    path = tmp_path / "m.yaml"
    path.write_text(text)
    with pytest.raises(ModelError, match=r"bodies\[777\]") as caught:
        lj.load(path)
    assert caught.value.where.startswith(f"{path}:781")


def test_names_are_suggested_at_a_bounded_cost(monkeypatch):
    seen = []
    real = near.difflib.get_close_matches
    monkeypatch.setattr(near.difflib, "get_close_matches", lambda *args: seen.append(args) or real(*args))
    known = [f"joint_{i}" for i in range(100_000)] + ["elbow"]
    assert near.nearest("elbwo", known) == ["elbow"]
    assert near.nearest("x" * 10**6, known) == []
    assert all(len(text) <= near.MOST_LETTERS and len(names) <= near.MOST_NAMES for text, names, *_ in seen)


def test_nothing_compares_names_without_bounds():
    root = Path(__file__).resolve().parents[3]
    folders = ("engine", "bridge", "fmu", "hil", "src/limberjack/commands")
    users = [p for folder in folders for p in (root / folder).rglob("*.py") if "import difflib" in p.read_text()]
    assert [path.name for path in users] == ["nearest.py"]


# --- XML


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot>" + "<a/>" * (MAX_ELEMENTS + 1) + "</robot>", f"more than {MAX_ELEMENTS} elements"),
        ("<robot>" + "<?a?>" * (4 * MAX_ELEMENTS + 1) + "</robot>", f"more than {4 * MAX_ELEMENTS} tags"),
        ("<robot " + "a='1' " * (MAX_ATTRIBUTES + 1) + "/>", f"more than {MAX_ATTRIBUTES} attributes"),
    ],
    ids=["elements", "instructions", "attributes"],
)
def test_xml_is_counted_before_it_is_parsed(text, words, tmp_path):
    path = tmp_path / "m.urdf"
    path.write_text(text)
    start = time.process_time()
    with pytest.raises(ModelError, match=words):
        read_xml(path)
    assert time.process_time() - start < MOST_S


def chain_of_mimics(last: str) -> str:
    """A thousand joints that follow each other; the first follows ``last``."""
    links = "".join(f'<link name="l{i}"/>' for i in range(1001))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l0"/><child link="l{i}"/>'
        f'<mimic joint="{f"j{i + 1}" if i < 1000 else last}"/></joint>'
        for i in range(1, 1001)
    )
    return f'<robot name="r">{links}{joints}</robot>'


def test_long_circles_are_found_and_reported_briefly(tmp_path):
    (tmp_path / "m.urdf").write_text(chain_of_mimics("j1"))
    with pytest.raises(ModelError, match=r"circle: j1 → j2 .*\(\d+ more\).* → j1\.") as caught:
        lj.load(tmp_path / "m.urdf")
    assert len(str(caught.value)) < 400
    body = "- {name: b%d, mass: 0, hinge: {type: fixed, parent: b%d}}\n"
    (tmp_path / "m.yaml").write_text(f"{HEAD}bodies:\n" + "".join(body % (i, (i + 1) % 1000) for i in range(1000)))
    with pytest.raises(ModelError, match=r"cycle .*\(\d+ more\)") as caught:
        lj.load(tmp_path / "m.yaml")
    assert len(str(caught.value)) < 500


def test_warnings_are_reported_briefly(tmp_path):
    """Unknown elements by kind, and of all findings the first hundred."""
    links = "".join(
        f'<link name="l{i}"><inertial><mass value="1"/><inertia ixx="9" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        f'</inertial></link><joint name="j{i}" type="fixed"><parent link="r"/><child link="l{i}"/></joint><x{i}/>'
        for i in range(300)
    )
    (tmp_path / "m.urdf").write_text(f'<robot name="r"><link name="r"/>{links}</robot>')
    with pytest.warns(lj.ModelWarning, match="and 221 more, in System.warnings") as caught:
        system = lj.load(tmp_path / "m.urdf")
    assert len(system.warnings) == 300 + 21
    assert len(str(caught[0].message).splitlines()) == 102
    assert any("280 more kinds of elements" in text for text in system.warnings)


# --- MJCF: every file that MuJoCo would open

BODY = '<worldbody><body><freejoint/><geom size="1"/></body></worldbody>'
NAMED = {
    "include": '<include file="F"/>',
    "mesh": '<asset><mesh name="a" file="F"/></asset>',
    "meshdir": '<compiler meshdir="sub"/><asset><mesh name="a" file="F"/></asset>',
    "assetdir": '<compiler assetdir="sub"/><asset><hfield name="a" file="F"/></asset>',
    "strippath": '<compiler meshdir="sub" strippath="true"/><asset><mesh name="a" file="x/F"/></asset>',
    "texture": '<asset><texture name="a" type="cube" fileup="F"/></asset>',
    "skin": '<asset><skin name="a" file="F"/></asset>',
    "model": '<asset><model name="a" file="F"/></asset>',
}


def mjcf(folder: Path, named: str) -> Path:
    (folder / "m.xml").write_text(f"<mujoco>{named}{BODY}</mujoco>")
    return folder / "m.xml"


@pytest.mark.parametrize("named", NAMED)
def test_mjcf_does_not_open_named_pipes(named, tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / ("sub/F" if "sub" in NAMED[named] else "F"))
    with pytest.raises(ModelError, match="not a file but a named pipe"):
        lj.load(mjcf(tmp_path, NAMED[named]))


def test_mjcf_does_not_open_large_files_or_pictures_that_unpack_to_more(tmp_path):
    pytest.importorskip("mujoco")
    with (tmp_path / "F").open("wb") as stream:
        stream.truncate(33 * 1024 * 1024)
    with pytest.raises(ModelError, match="larger than 32 MiB"):
        lj.load(mjcf(tmp_path, NAMED["mesh"]))
    picture = '<asset><texture name="a" type="2d" file="p.png"/></asset>'
    for size, data, words in ((40_000, b"", "40000 x 40000 points"), (10, b"\0" * 10**7, "unpacks to more")):
        (tmp_path / "p.png").write_bytes(png(size, data))
        with pytest.raises(ModelError, match=words):
            lj.load(mjcf(tmp_path, picture))
    (tmp_path / "p.png").write_bytes(png(2, (b"\0" + b"\7" * 8) * 2))
    with pytest.warns(lj.ModelWarning):
        assert lj.load(mjcf(tmp_path, picture)).nv == 6


def png(size: int, data: bytes) -> bytes:
    """A square picture of four channels that holds this data."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


# --- archives


def test_foreign_content_of_an_archive_is_not_unpacked(tmp_path, monkeypatch):
    """An array where a text belongs is refused at its first byte, and a tuple of too many parts at its length."""

    def forged(content: bytes) -> bytes:
        body = b"\x92" + msgpack.packb(archive._catalogue()) + content
        return archive._HEADER.pack(archive._MAGIC, 1, 0, len(body), hashlib.sha256(body).digest()) + body

    fields = len(archive._fields(archive.System))
    start = msgpack.Packer().pack_array_header(fields)
    with pytest.raises(ModelError, match=r"system\.name is b'\\xdd'"):
        archive.from_bytes(forged(start + b"\xdd\xff\xff\xff\xff" + b"\xc0" * 100), "f")
    monkeypatch.setattr(archive, "_MOST_ITEMS", 50)
    with pytest.raises(ModelError, match="60 values is longer than 50"):
        archive.from_bytes(forged(start + msgpack.packb("a") + msgpack.packb([""] * 60)), "f")


def test_a_zip_with_a_long_table_of_contents(tmp_path):
    path = tmp_path / "m.fmu"
    with zipfile.ZipFile(path, "w") as written:
        for i in range(200):
            written.writestr(f"{'x' * 100}{i}", "")
    check_zip(path, 1 << 30, 200)
    with pytest.raises(ModelError, match="more than 20 files"):
        check_zip(path, 1 << 30, 20)
    pytest.importorskip("fmpy")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr("modelDescription.xml", b" " * (65 << 20))
    with pytest.raises(LimberjackError, match="at most 64 MiB are read"):
        read_fmu(path)


def test_arrays_that_say_they_are_longer_than_they_are(tmp_path):
    """Nothing is set aside for what an array only claims to hold."""
    head = b"\x93NUMPY\x01\x00"
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
    text += b" " * (118 - len(text) - 1) + b"\n"
    array = head + struct.pack("<H", len(text)) + text + b"\0" * 80
    (tmp_path / "K.npy").write_bytes(array)
    with pytest.raises(ModelError):
        read_matrix("K.npy", tmp_path)
    for name in ("K.npz", "m.npz"):
        with zipfile.ZipFile(tmp_path / name, "w") as written:
            written.writestr("shapes.npy", array)
    with pytest.raises(ModelError, match=r"shape \(1000000, 1000000\), but is shorter"):
        read_matrix("K.npz", tmp_path)
    with pytest.raises(ModelError, match=r"shape \(1000000, 1000000\), but is shorter"):
        read_modal_data(tmp_path / "m.npz")
    market = "%%MatrixMarket matrix coordinate real general\n4000000 4000000 4000000000\n1 1 1.0\n"
    (tmp_path / "K.mtx").write_text(market)
    with pytest.raises(ModelError, match="4000000000 entries, but is shorter"):
        read_matrix("K.mtx", tmp_path)


def test_modal_data_of_another_kind_are_not_unpacked(tmp_path, monkeypatch):
    """The head is read first: what does not say that it holds modal data is left alone."""
    np.savez(tmp_path / "m.npz", format=np.array("pictures"), shapes=np.zeros((5, 6, 2)))
    read = []
    real = np.lib.npyio.NpzFile.__getitem__
    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", lambda self, name: read.append(name) or real(self, name))
    with pytest.raises(ModelError, match="does not say that it holds modal data"):
        read_modal_data(tmp_path / "m.npz")
    assert read == ["format"]


def test_files_that_bulk_data_include(tmp_path):
    (tmp_path / "a.bdf").write_text("GRID,1\nINCLUDE 'b.bdf'\n include pipe\n")
    (tmp_path / "b.bdf").write_text("INCLUDE 'a.bdf'\n")
    check_includes(tmp_path / "a.bdf")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelError, match="not a file but a named pipe"):
        check_includes(tmp_path / "a.bdf")


def test_a_dbc_file_of_more_than_a_mebibyte(tmp_path):
    pytest.importorskip("cantools")
    (tmp_path / "m.dbc").write_text(" " * ((1 << 20) + 1))
    with pytest.raises(ArgumentError, match="larger than 1 MiB"):
        read_dbc(tmp_path / "m.dbc")
