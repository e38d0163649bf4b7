"""plant.bin: damaged, cut, extended or impossible files are refused with a log line, whatever byte it is."""

from __future__ import annotations

import dataclasses
import os
import struct

import pytest

from tests.fmu import shim_model as toy
from tests.fmu.shim_build import CO_SIMULATION, OK, Fmu
from tests.fmu.shim_model import HEADER_BYTES, PlantData, sealed, with_row


@pytest.fixture
def opened(shim_library, tmp_path):
    """The log's only error after opening a file with this content, or None where it opened."""

    def open_(content: bytes) -> str | None:
        (tmp_path / "plant.bin").write_bytes(content)
        fmu = Fmu(shim_library, 3, CO_SIMULATION, str(tmp_path), logging=False)
        if fmu.c:
            fmu.free()
            return None
        (message,) = fmu.errors()
        return message

    return open_


def test_the_good_file_opens(opened):
    assert opened(PlantData().packed()) is None


def test_flipped_bytes_are_refused_wherever_they_are(opened):
    good = PlantData().packed()
    for at in [*range(HEADER_BYTES), *range(HEADER_BYTES, len(good), 7)]:
        bad = bytearray(good)
        bad[at] ^= 0x40
        assert opened(bytes(bad)) is not None, at


def test_a_flipped_byte_is_reported_as_damage(opened):
    good = bytearray(PlantData().packed())
    good[-9] ^= 1
    message = opened(bytes(good))
    assert "plant.bin' is damaged" in message
    assert "unpack the FMU again, or export it again" in message


@pytest.mark.parametrize("size", [0, 1, 7, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 8, -1])
def test_cut_files(opened, size):
    assert "plant.bin" in opened(PlantData().packed()[:size])


def test_a_pipe_is_no_file_and_blocks_nobody(shim_library, tmp_path):
    os.mkfifo(tmp_path / "plant.bin")
    fmu = Fmu(shim_library, 3, CO_SIMULATION, str(tmp_path))
    assert not fmu.c
    assert "cannot open" in fmu.errors()[0]


def test_an_extended_file(opened):
    assert "was cut or extended" in opened(PlantData().packed() + bytes(8))


def test_no_file(shim_library, tmp_path):
    fmu = Fmu(shim_library, 3, CO_SIMULATION, str(tmp_path))
    assert fmu.c is None
    assert "cannot open" in fmu.errors()[0]
    (tmp_path / "plant.bin").mkdir()
    fmu = Fmu(shim_library, 3, CO_SIMULATION, str(tmp_path))
    assert fmu.c is None
    assert "plant.bin" in fmu.errors()[0]


HUGE = 2**64 - 8
WRONG = {
    "magic": (PlantData(magic=b"PK\3\4\0\0\0\0"), "does not start like"),
    "version": (PlantData(version=1), "format 1, this binary reads format 2"),
    "coupling": (PlantData(coupling=7), "coupling 7"),
    "process": (PlantData(coupling=1), "coupled to an engine process"),
    "dt zero": (PlantData(dt=0.0), "impossible"),
    "dt nan": (PlantData(dt=float("nan")), "impossible"),
    "integrator": (PlantData(integrator=9), "impossible"),
    "substeps": (PlantData(substeps=0), "impossible"),
    "token": (PlantData(token=b"x" * 40), "token is not terminated"),
    "texts": (PlantData(texts_end=b"x"), "texts are not terminated"),
    "counts": (PlantData(ints=(1, 2, 3, *PlantData().ints[3:])), "disagree on the lengths"),
    "few ints": (PlantData(ints=(1, 2)), "disagree on the lengths"),
    "many ints": (PlantData(ints=(*PlantData().ints, 0)), "disagree on the lengths"),
    "many floats": (PlantData(floats=(*toy.FLOATS, 0.0)), "disagree on the lengths"),
    "state": (PlantData(state=(*toy.START, 0.0)), "disagree on the lengths"),
    "many switches": (PlantData(state=(*toy.START, *(0.0,) * 32), loops=1), "disagree on the lengths"),
    "half a switch": (PlantData(state=(*toy.START, *(0.0,) * 8), loops=1), "disagree on the lengths"),
    "other loops": (PlantData(loops=1, ints=PlantData().ints), "disagree on the lengths"),
    "work": (PlantData(counts={"n_work": 2**40}), "impossible"),
    "little work": (PlantData(counts={"n_work": 23}), "disagree on the lengths"),
    "n_q": (PlantData(counts={"n_q": HUGE}), "lengths of its state"),
    "n_loops": (PlantData(counts={"n_loops": HUGE}), "lengths of its state"),
    "n_ints": (PlantData(counts={"n_ints": HUGE}), "section 'ints'"),
    "n_variables": (PlantData(counts={"n_variables": 10**6}), "section 'variables'"),
    "most variables": (PlantData(counts={"n_variables": HUGE}), "too many variables"),
    "texts_bytes": (PlantData(counts={"texts_bytes": 10**6}), "section 'texts'"),
    "no texts": (PlantData(counts={"texts_bytes": 0}), "texts are not terminated"),
    "at_floats": (PlantData(counts={"at_floats": HUGE}), "section 'floats'"),
    "at_state": (PlantData(counts={"at_state": HEADER_BYTES + 1}), "section 'state'"),
    "at_labels": (PlantData(counts={"at_labels": 0}), "section 'labels'"),
    "region": (with_row("angle", region=11), "variable 1"),
    "offset": (with_row("angle", offset=5), "variable 1"),
    "huge offset": (with_row("angle", offset=2**64 - 1), "variable 1"),
    "count": (with_row("q", count=6), "lies outside the model"),
    "no count": (with_row("angle", count=0), "variable 1"),
    "parameter": (with_row("mass", offset=len(toy.FLOATS)), "lies outside the model"),
    "indicators twice": (with_row("energy", region=toy.SWITCH, offset=0, count=8), "makes no sense"),
    "causality": (with_row("angle", causality=5), "makes no sense"),
    "type": (with_row("angle", boolean=True), "makes no sense"),
    "wide Boolean": (with_row("tau", boolean=True), "makes no sense"),
    "range": (with_row("mass", low=2.0, high=1.0), "makes no sense"),
    "nominal": (with_row("angle", nominal=0.0), "makes no sense"),
    "nan nominal": (with_row("rate", nominal=float("nan")), "makes no sense"),
    "nan range": (with_row("mass", low=float("nan")), "makes no sense"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_with_right_checksums(opened, name):
    data, word = WRONG[name]
    assert word in opened(data.packed())


def test_names_and_labels_outside_the_texts(opened):
    good = PlantData().packed()
    at_variables, at_labels = struct.unpack_from("<QQ", good, HEADER_BYTES - 24)
    for at, word in [(at_variables + 64 + 28, "variable 1 makes no sense"), (at_labels + 4, "label 1")]:
        bad = bytearray(good)
        struct.pack_into("<I", bad, at, 2**31)
        assert word in opened(sealed(bytes(bad)))


def test_a_model_without_variables(opened):
    assert opened(dataclasses.replace(PlantData(), rows=()).packed()) is None


def test_the_refusal_leaves_the_library_usable(shim_library, tmp_path):
    bad = Fmu(shim_library, 3, CO_SIMULATION, str(tmp_path))
    assert bad.c is None
    good = Fmu(shim_library, 3, CO_SIMULATION, str(PlantData().write(tmp_path / "resources")))
    assert good.start() == OK
    good.free()
