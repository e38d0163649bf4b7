"""The modal-data file: round trip, and every fault reported with file, array, cause and remedy."""

from __future__ import annotations

import contextlib
from dataclasses import fields, replace

import numpy as np
import pytest

from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes import ModalData, read_modal_data, write_modal_data
from limberjack.engine.modes.modal_file import FORMAT, UNITS
from tests.engine.modes.nodal import random_data, stress_of


def same(one: ModalData, two: ModalData) -> None:
    for item in fields(ModalData):
        if item.name != "stress":
            np.testing.assert_array_equal(getattr(one, item.name), getattr(two, item.name), err_msg=item.name)


def test_round_trip(tmp_path):
    data = random_data(1)
    whole = replace(data, rigid=np.eye(6), participation=np.ones((6, 3)))
    same(read_modal_data(write_modal_data(whole, tmp_path / "deep" / "a.npz")), whole)
    stressed = replace(data, foreshortening=None, stress=stress_of(data))
    again = read_modal_data(write_modal_data(stressed, tmp_path / "b.npz"))
    same(again, stressed)
    np.testing.assert_array_equal(again.stress.force, stressed.stress.force)
    assert [path.name for path in tmp_path.iterdir()] == ["deep", "b.npz"] or len(list(tmp_path.iterdir())) == 2


def test_optional_arrays_have_plain_defaults(tmp_path):
    path = write_modal_data(random_data(1), tmp_path / "a.npz")
    content = dict(np.load(path))
    for name in ("node_ids", "node_names", "axes", "centres", "inertias", "foreshortening"):
        del content[name]
    content |= {"interface": np.array(["1", "2"]), "inboard": np.array("1")}
    np.savez(path, **content)
    data = read_modal_data(path)
    assert data.labels() == ["1", "2", "3", "4", "5"]
    assert data.foreshortening is None


def edited(**changes):
    def edit(content):
        for name, value in changes.items():
            if value is None:
                del content[name]
            else:
                content[name] = value
        return content

    return edit


def with_value(name, place, value):
    def edit(content):
        content[name][place] = value
        return content

    return edit


@pytest.mark.parametrize(
    ("edit", "place", "words"),
    [
        (edited(format=None), "format", "does not say that it holds modal data"),
        (edited(version=np.array(2)), "version", "this version reads 1"),
        (edited(units=None), "units", "Add units"),
        (edited(units=np.array("kg")), "units", "not a JSON mapping"),
        (edited(units=np.array('{"positions": "mm"}')), "units", "must be in 'm'"),
        (edited(shapes=None), "shapes", "is missing"),
        (edited(extra=np.ones(2)), "extra", "is not an array of this format"),
        (edited(kind=np.array("clamped")), "kind", "cantilever"),
        (edited(kind=np.array(3)), "kind", "is not text"),
        (edited(node_names=np.arange(5)), "node_names", "not a list of names"),
        (edited(node_names=np.array(["a", "a", "", "", ""])), "node_names", "two nodes are called 'a'"),
        (edited(inboard=np.array("hub")), "inboard", "there is no node 'hub'"),
        (edited(interface=np.array(["tip"])), "interface", "there is no node 'tip'"),
        (edited(masses=np.ones(4)), "masses", "has the shape"),
        (edited(masses=np.array(["1"] * 5)), "masses", "not numbers"),
        (edited(shapes=np.ones((5, 3))), "shapes", "has the shape"),
        (edited(node_ids=np.full(5, 0.5)), "node_ids", "not whole"),
        (edited(participation=np.ones((6, 3))), "rigid", "without participation"),
        (edited(stress_force=np.ones((1, 3, 3, 3))), "stress_acceleration", "is missing"),
        (edited(mass=np.ones((3, 3))), "mass", "not positive definite"),
        (edited(stiffness=-np.eye(3)), "stiffness", "negative eigenvalue"),
        (with_value("shapes", (2, 1, 0), np.nan), "shapes[2, 1, 0]", "is nan"),
        (with_value("stiffness", (0, 1), 77.0), "stiffness", "is not symmetric"),
        (with_value("masses", 1, -1.0), "masses[1]", "Give 0 or more"),
        (with_value("inertias", 1, 0.0), "inertias[1]", "smaller than that of the mass"),
        (with_value("axes", 2, 1.0), "axes[2]", "not a rotation matrix"),
    ],
)
def test_faults_name_file_array_cause_and_remedy(tmp_path, edit, place, words):
    path = write_modal_data(random_data(1), tmp_path / "a.npz")
    np.savez(path, **edit(dict(np.load(path))))
    with pytest.raises(ModelError) as caught:
        read_modal_data(path)
    assert caught.value.where == f"{path}, {place}"
    assert words in str(caught.value)
    assert caught.value.remedy


def test_files_that_are_no_archives(tmp_path):
    data = random_data(1)
    with pytest.raises(ModelError, match=r"ends in \.npz"):
        write_modal_data(data, tmp_path / "a.h5")
    with pytest.raises(ModelError, match="does not exist"):
        read_modal_data(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(ModelError, match="not a readable NumPy archive"):
        read_modal_data(tmp_path / "text.npz")
    np.savez(tmp_path / "objects.npz", format=np.array([{}], dtype=object))
    with pytest.raises(ModelError, match="not a readable NumPy archive"):
        read_modal_data(tmp_path / "objects.npz")
    path = write_modal_data(data, tmp_path / "cut.npz")
    content = path.read_bytes()
    for end in (10, len(content) // 2, len(content) - 5):
        path.write_bytes(content[:end])
        with pytest.raises(ModelError, match="NumPy archive"):
            read_modal_data(path)
    rng = np.random.default_rng(0)
    for _ in range(40):  # a flipped byte is reported, or is where it means nothing
        damaged = bytearray(content)
        damaged[rng.integers(len(content))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        with contextlib.suppress(ModelError):
            read_modal_data(path)


def test_header_of_the_format_is_what_the_page_says(tmp_path):
    content = np.load(write_modal_data(random_data(1), tmp_path / "a.npz"))
    assert str(content["format"]) == FORMAT == "limberjack modal data"
    assert UNITS["positions"] == "m"
