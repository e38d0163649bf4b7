"""Matrices from files of every kind, with units, orders of freedoms, consistent masses, ties of node sets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from scipy.linalg import eigh

from limberjack.engine.common.errors import ModelError
from limberjack.engine.modes import integrals
from limberjack.engine.modes.describe import modal_data_of
from limberjack.engine.modes.effective_mass import effective_mass
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.integrals import modal_mass_matrix
from limberjack.engine.modes.matrix_files import read_matrix
from limberjack.engine.modes.reduction import Reduction, reduce_structure
from tests.engine.modes.test_beams import elbow

#: [rx ry rz x y z] of the structure to x y z rx ry rz of finite-element programs
COMMON = np.array([3, 4, 5, 0, 1, 2])

HEAD = """limberjack_modes: 1
name: thing
matrices: {{stiffness: "{K}", mass: "{M}", nodes: "{nodes}"{more}}}
interface: [{interface}]
reduction: {{kind: {kind}, {inboard}modes: 6, damping: 0.01}}
"""


def describe(folder, K="K.mtx", M="M.mtx", nodes="nodes.csv", more="", interface="", kind="cantilever", inboard="1"):
    text = HEAD.format(
        K=K, M=M, nodes=nodes, more=more, interface=interface, kind=kind, inboard=inboard and f"inboard: {inboard}, "
    )
    (folder / "thing.yaml").write_text(text)
    return folder / "thing.yaml"


def write_nodes(folder, positions):
    lines = [f"{i},{x!r},{y!r},{z!r}" for i, (x, y, z) in enumerate(positions.tolist(), start=1)]
    (folder / "nodes.csv").write_text("\n".join(["id,x,y,z", *lines]) + "\n")


@pytest.fixture(scope="module")
def beam():
    return frame_structure(elbow(4)), frame_structure(elbow(4), "consistent")


def common(structure, length=1.0, mass=1.0):
    """Matrices in the order x y z rx ry rz and in other units."""
    nodes = structure.stiffness.shape[0] // 6
    order = (6 * np.arange(nodes)[:, None] + COMMON).ravel()
    scale = scipy.sparse.diags(np.tile([1.0] * 3 + [1.0 / length] * 3, nodes))
    return [(scale @ A[order][:, order] @ scale / mass).tocsr() for A in (structure.stiffness, structure.mass)]


@pytest.mark.parametrize("kind", ["mtx", "npz", "dense", "hdf5", "hdf5-dense"])
def test_every_file_kind_gives_the_same_modes(tmp_path, beam, kind):
    structure = beam[0]
    K, M = common(structure)
    write_nodes(tmp_path, structure.positions)
    names = {"K": "K.mtx", "M": "M.mtx"}
    if kind == "mtx":
        scipy.io.mmwrite(tmp_path / "K.mtx", K, symmetry="symmetric", precision=17)
        scipy.io.mmwrite(tmp_path / "M.mtx", M, symmetry="general", precision=17)
    elif kind == "npz":
        scipy.sparse.save_npz(tmp_path / "K.npz", K)
        scipy.sparse.save_npz(tmp_path / "M.npz", M.tocoo())
        names = {"K": "K.npz", "M": "M.npz"}
    elif kind == "dense":
        np.savez(tmp_path / "both.npz", K=K.toarray(), M=M.toarray())
        names = {"K": "both.npz:K", "M": "both.npz:M"}
    else:
        h5py = pytest.importorskip("h5py", reason="h5py is not installed")
        with h5py.File(tmp_path / "both.h5", "w") as file:
            for name, matrix in (("K", K), ("M", M)):
                if kind == "hdf5-dense":
                    file[f"model/{name}"] = matrix.toarray()
                else:
                    for part in ("data", "indices", "indptr"):
                        file[f"model/{name}/{part}"] = getattr(matrix, part)
        names = {"K": "both.h5:model/K", "M": "both.h5:model/M"}
    data = modal_data_of(describe(tmp_path, **names))
    direct = reduce_structure(structure, Reduction("cantilever", "root", (), 6))
    np.testing.assert_allclose(data.frequencies(), direct.frequencies(), rtol=1e-8)
    np.testing.assert_allclose(data.masses, direct.masses, atol=1e-12)
    np.testing.assert_allclose(data.inertias, direct.inertias, atol=1e-12)
    np.testing.assert_allclose(data.centres, direct.centres, atol=1e-12)
    assert data.rigid is None  # the mass matrix is that of nodal bodies
    assert data.lines is not None  # members, for drawings: what the stiffness couples
    assert set(map(tuple, data.lines.tolist())) == {tuple(sorted(pair)) for pair in direct.lines.tolist()}


def test_units_of_millimetres_and_tonnes(tmp_path, beam):
    structure = beam[0]
    K, M = common(structure, length=1e-3, mass=1e3)
    write_nodes(tmp_path, structure.positions * 1e3)
    scipy.io.mmwrite(tmp_path / "K.mtx", K, precision=17)
    scipy.io.mmwrite(tmp_path / "M.mtx", M, precision=17)
    data = modal_data_of(describe(tmp_path, more=", units: {length: 0.001, mass: 1000}"))
    direct = reduce_structure(structure, Reduction("cantilever", "root", (), 6))
    np.testing.assert_allclose(data.frequencies(), direct.frequencies(), rtol=1e-8)
    np.testing.assert_allclose(data.masses, direct.masses, rtol=1e-9)
    np.testing.assert_allclose(data.inertias, direct.inertias, atol=1e-10)


def test_a_consistent_mass_matrix_gives_the_zeroth_order(tmp_path, beam):
    structure = beam[1]
    K, M = common(structure)
    write_nodes(tmp_path, structure.positions[: K.shape[0] // 6])
    scipy.io.mmwrite(tmp_path / "K.mtx", K, precision=17)
    scipy.io.mmwrite(tmp_path / "M.mtx", M, precision=17)
    data = modal_data_of(describe(tmp_path))
    B = structure.rigid_motions()
    whole = np.hstack([B, np.zeros((len(B), 6))])
    whole[:, 6:] = data.shapes.reshape(len(B), 6)
    np.testing.assert_allclose(modal_mass_matrix(integrals(data)), whole.T @ (structure.mass @ whole), atol=1e-9)
    assert data.masses.sum() == pytest.approx(structure.masses.sum(), rel=1e-12)
    assert np.linalg.eigvalsh(effective_mass(data).residual)[0] > -1e-9


def test_rows_in_any_order_by_a_file(tmp_path, beam):
    structure = beam[0]
    order = np.random.default_rng(3).permutation(structure.stiffness.shape[0])
    for name, A in (("K", structure.stiffness), ("M", structure.mass)):
        scipy.io.mmwrite(tmp_path / f"{name}.mtx", A[order][:, order], precision=17)
    names = ("rx", "ry", "rz", "x", "y", "z")
    (tmp_path / "rows.csv").write_text("node,freedom\n" + "".join(f"{i // 6 + 1},{names[i % 6]}\n" for i in order))
    (tmp_path / "rows.dof").write_text("".join(f"{i // 6 + 1}.{(4, 5, 6, 1, 2, 3)[i % 6]}\n" for i in order))
    write_nodes(tmp_path, structure.positions)
    direct = reduce_structure(structure, Reduction("cantilever", "root", (), 6))
    for rows in ("rows.csv", "rows.dof"):
        data = modal_data_of(describe(tmp_path, more=f", freedoms: {rows}"))
        np.testing.assert_allclose(data.frequencies(), direct.frequencies(), rtol=1e-8)
        np.testing.assert_allclose(np.abs(data.shapes), np.abs(direct.shapes), atol=1e-5)


def brick(n=(4, 1, 1), size=(1.0, 0.2, 0.3), E=1e7, nu=0.3, rho=1000.0):
    """A block of eight-node bricks: K, M (three freedoms a node) and positions; Gauss points 2 × 2 × 2."""
    grid = np.stack(np.meshgrid(*(np.arange(k + 1) for k in n), indexing="ij"), axis=-1).reshape(-1, 3)
    number = {tuple(p): i for i, p in enumerate(grid.tolist())}
    h = np.array(size) / n
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    lam, mu = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))
    D = np.diag([2 * mu] * 3 + [mu] * 3)
    D[:3, :3] += lam
    Ke, Me = np.zeros((24, 24)), np.zeros((24, 24))
    for g in (2 * corners - 1) / np.sqrt(3.0):
        s = 2 * corners - 1
        N = np.prod(1 + s * g, axis=1) / 8
        d = np.stack([s[:, i] * np.prod(np.delete(1 + s * g, i, 1), axis=1) / 8 * 2 / h[i] for i in range(3)])
        Bm = np.zeros((6, 24))
        for i in range(3):
            Bm[i, i::3] = d[i]
        for row, (i, j) in enumerate(((1, 2), (0, 2), (0, 1)), start=3):
            Bm[row, i::3], Bm[row, j::3] = d[j], d[i]
        weight = np.prod(h) / 8
        Ke += weight * Bm.T @ D @ Bm
        Me += weight * rho * np.kron(np.outer(N, N), np.eye(3))
    K, M = np.zeros((3 * len(grid),) * 2), np.zeros((3 * len(grid),) * 2)
    for cell in np.ndindex(*n):
        nodes = [number[tuple(np.array(cell) + c)] for c in corners]
        place = np.ravel([[3 * j, 3 * j + 1, 3 * j + 2] for j in nodes])
        K[np.ix_(place, place)] += Ke
        M[np.ix_(place, place)] += Me
    return K, M, grid * h


def write_brick(folder, K, M, positions):
    scipy.io.mmwrite(folder / "K.mtx", scipy.sparse.csr_matrix(K), precision=17)
    scipy.io.mmwrite(folder / "M.mtx", scipy.sparse.csr_matrix(M), precision=17)
    write_nodes(folder, positions)


def test_solids_with_tied_faces(tmp_path):
    """Faces that follow an interface node: held there, the modes are those of the solid with the face fixed."""
    K, M, positions = brick()
    write_brick(tmp_path, K, M, positions)
    root = [i + 1 for i in range(len(positions)) if positions[i, 0] == 0.0]
    tip = [i + 1 for i in range(len(positions)) if positions[i, 0] == 1.0]
    ties = f"{{name: root, nodes: {root}}}, {{name: tip, nodes: {tip}, position: [1.1, 0.1, 0.15]}}"
    more = ", freedoms: [x, y, z]"
    data = modal_data_of(describe(tmp_path, more=more, interface=ties, inboard="root"))
    free = [i for i in range(len(K)) if positions[i // 3, 0] > 0.0]
    # the tip face is rigid: six freedoms for it
    face = [i for i in free if positions[i // 3, 0] == 1.0]
    T = np.zeros((len(K), len(free) - len(face) + 6))
    for column, i in enumerate([i for i in free if i not in face]):
        T[i, column] = 1.0
    for i in face:
        r = positions[i // 3] - [1.1, 0.1, 0.15]
        T[i, -3 + i % 3] = 1.0
        T[i, -6:-3] = np.cross(np.eye(3), r)[:, i % 3]
    expected = np.sqrt(eigh(T.T @ K @ T, T.T @ M @ T, eigvals_only=True)[:6]) / 2 / np.pi
    np.testing.assert_allclose(data.frequencies(), expected, rtol=1e-9)
    made = integrals(data, "root", ["tip"])
    assert made.m == pytest.approx(1000.0 * 0.06)
    np.testing.assert_allclose(made.attachments[0].p0, [1.1, 0.0, 0.0], atol=1e-12)
    assert np.abs(made.attachments[0].Pr).max() > 0.0
    craig = modal_data_of(describe(tmp_path, more=more, interface=ties, inboard="root", kind="craig-bampton"))
    assert craig.modes == 12
    assert np.all(craig.frequencies()[:6] >= expected * (1.0 - 1e-9))  # a subspace bounds from above
    np.testing.assert_allclose(craig.frequencies()[:2], expected[:2], rtol=1e-4)
    plain = modal_data_of(describe(tmp_path, more=more, kind="free-free", inboard=""))
    expected = np.sqrt(eigh(K, M, eigvals_only=True)[6:12]) / 2 / np.pi
    np.testing.assert_allclose(plain.frequencies(), expected, rtol=1e-7)


def test_free_free_modes_keep_their_own_rest(tmp_path):
    K, M, positions = brick()
    write_brick(tmp_path, K, M, positions)
    data = modal_data_of(describe(tmp_path, more=", freedoms: [x, y, z]", kind="free-free", inboard=""))
    made = integrals(data)
    np.testing.assert_allclose(np.vstack([made.N0, made.S1]), 0.0, atol=1e-7)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f, K, M, p: describe(f, K="none.mtx"), "none.mtx: the file does not exist"),
        (lambda f, K, M, p: describe(f, K="K.dat"), "files that end in '.dat' are not known"),
        (lambda f, K, M, p: describe(f, more=", freedoms: [x, y]"), "have 90 rows"),
        (lambda f, K, M, p: describe(f, more=", freedoms: [x, x, y]"), "each once"),
        (lambda f, K, M, p: describe(f, more=", freedoms: [z, y, x]"), "resists rigid motions"),
        (lambda f, K, M, p: (write_brick(f, K, M[:-3, :-3], p), solid(f))[1], "mass matrix has"),
        (lambda f, K, M, p: (write_brick(f, K[:, :-1], M, p), solid(f))[1], "square matrix"),
        (lambda f, K, M, p: (write_brick(f, np.triu(K), M, p), solid(f))[1], "not symmetric"),
        (lambda f, K, M, p: (write_brick(f, K * np.nan, M, p), solid(f))[1], "not finite"),
        (lambda f, K, M, p: (write_brick(f, K + np.eye(len(K)) * 1e6, M, p), solid(f))[1], "resists rigid motions"),
        (lambda f, K, M, p: (write_brick(f, K, -M, p), solid(f))[1], "no positive masses"),
        (lambda f, K, M, p: ((f / "K.mtx").write_text("oops"), solid(f))[1], "cannot be read"),
        (lambda f, K, M, p: ((f / "nodes.csv").write_text("x,y,z\n"), solid(f))[1], "no column 'id'"),
        (lambda f, K, M, p: ((f / "nodes.csv").write_text("id,x,y,z\n1,2\n"), solid(f))[1], "2 of 4 cells"),
        (lambda f, K, M, p: ((f / "nodes.csv").write_text("id,x,y,z\n1,a,0,0\n"), solid(f))[1], "'a' is not a number"),
        (lambda f, K, M, p: solid(f, inboard="1"), "has no rotations"),
        (lambda f, K, M, p: solid(f, interface="{name: root, nodes: [1, 2, 99]}", inboard="root"), "no node 99"),
        (lambda f, K, M, p: solid(f, interface="{name: root, nodes: [1, 5, 9]}", inboard="root"), "lie in a line"),
        (lambda f, K, M, p: solid(f, inboard="77"), "no node of 'thing' is called '77'"),
        (lambda f, K, M, p: solid(f, interface="{name: a, nodes: [1, 2, 3]}, {name: b, nodes: [3, 4, 5]}",
                                  inboard="a"), "tied to two"),
    ],
)  # fmt: skip
def test_faults_of_files_are_reported(tmp_path, change, words):
    K, M, positions = brick()
    write_brick(tmp_path, K, M, positions)
    path = change(tmp_path, K, M, positions)
    if "have 90" in words:
        words = f"have {len(K)} rows"
    with pytest.raises(ModelError) as caught:
        modal_data_of(path)
    assert words in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def solid(folder, **options):
    return describe(folder, more=", freedoms: [x, y, z]", **options)


def test_several_arrays_need_a_name(tmp_path):
    np.savez(tmp_path / "a.npz", K=np.eye(2), M=np.eye(2))
    with pytest.raises(ModelError, match="Add ':' and one of: K, M"):
        read_matrix("a.npz", tmp_path)
    with pytest.raises(ModelError, match="no array 'k'"):
        read_matrix("a.npz:k", tmp_path)


def test_modal_data_and_integrals_need_no_scipy():
    """The rooms that the dynamics uses import without SciPy; the others say what to install."""
    code = (
        "import sys; sys.modules['scipy'] = None\n"
        "import limberjack.engine.modes as m\n"
        "from limberjack.engine.modes.structure import need_scipy\n"
        "from limberjack.engine.common.errors import MissingExtraError\n"
        "try: need_scipy()\n"
        "except MissingExtraError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert 'pip install "limberjack[modes]"' in done.stdout


def test_modes_of_a_frame_without_scipy_say_what_to_install(tmp_path):
    boom = Path(__file__).parents[3] / "examples" / "modes" / "boom.yaml"
    code = "import sys; sys.modules['scipy'] = None; from limberjack.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "modes", str(boom), "-o", str(tmp_path / "boom.npz")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done.stderr
    assert 'pip install "limberjack[modes]"' in done.stderr
    assert "Traceback" not in done.stderr
