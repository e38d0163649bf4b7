"""`make release`: build everything that is published, and check it.

python .ci/release.py [--rehearse] [--folder dist]

NOTICE must name every package that pip installs with it. The source archive is built twice and compared byte by byte.
A wheel is built from the tree for each platform, and one for this platform from the archive, which must be the same to
the last byte. Each wheel has licences, a valid bill of materials and metadata that PyPI accepts. A rehearsal builds for
this platform only, lets the tree have changes, and only reports what NOTICE lacks.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

import check_wheel
import notices
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))
from limberjack.engine.compile import targets  # noqa: E402, the tree's, not an installed one


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def inconsistencies(version: str) -> list[str]:
    """Where the version stands otherwise, and what is not committed."""
    found = []
    heading = re.search(r"^## (.*)$", read("CHANGELOG.md"), re.M)
    if heading is None or not heading[1].startswith(version):
        found.append(f"CHANGELOG.md: the first heading is '{heading and heading[1]}'; name the release '{version}'")
    if subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT):
        found.append("the tree has changes; commit them")
    return found


def build(source: Path, kind: str, folder: Path, **environment: str) -> Path:
    """One sdist or wheel, its path."""
    before = set(folder.glob("*"))
    shutil.rmtree(source / "build", ignore_errors=True)
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", str(folder), str(source)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{kind} of {source}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    (made,) = set(folder.glob("*")) - before
    print(f"built {made.name}, {made.stat().st_size / 1e6:.1f} MB", flush=True)
    return made


def same(first: Path, second: Path, what: str) -> None:
    if first.read_bytes() != second.read_bytes():
        sys.exit(f"{what}: {first} and {second} differ")
    print(f"{what}: equal, byte by byte", flush=True)


def check_bill(wheel: Path) -> None:
    """The wheel's bill of materials is CycloneDX."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".cdx.json")]
        error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(archive.read(name).decode())
    if error:
        sys.exit(f"{wheel.name}: {name} is no CycloneDX: {error}")


def main() -> int:
    parser = argparse.ArgumentParser(description="build and check a release")
    parser.add_argument("--rehearse", action="store_true", help="this platform only, from a tree that may have changes")
    parser.add_argument("--folder", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    project = tomllib.loads(read("pyproject.toml"))["project"]
    if yaml.safe_load(read("CITATION.cff"))["version"] != project["version"]:
        sys.exit(f"CITATION.cff: the version is not '{project['version']}'")
    if not options.rehearse and (found := inconsistencies(project["version"])):
        sys.exit("\n".join(found))
    if absent := notices.missing():
        text = f"NOTICE does not name {', '.join(absent)}"
        sys.exit(text) if not options.rehearse else print(text, flush=True)
    date = subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True)
    os.environ["SOURCE_DATE_EPOCH"] = date.strip()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        publish(options.folder, Path(scratch), rehearse=options.rehearse)
    return 0


def publish(folder: Path, scratch: Path, *, rehearse: bool) -> None:
    """Everything into the folder, checked."""
    archive = build(ROOT, "sdist", folder)
    again = scratch / "again"
    again.mkdir()
    same(archive, build(ROOT, "sdist", again), "two source archives")
    with tarfile.open(archive) as packed:
        packed.extractall(scratch, filter="data")
    brought = targets.host() if rehearse else "all"
    for platform in (targets.host(),) if rehearse else tuple(targets.TARGETS):
        wheel = build(ROOT, "wheel", folder, LIMBERJACK_WHEEL=platform, LIMBERJACK_PLATFORMS=brought)
        if check_wheel.main(str(wheel)):
            sys.exit(f"{wheel.name} is not as expected")
        check_bill(wheel)
        if platform == targets.host():
            source = scratch / archive.name.removesuffix(".tar.gz")
            nothing = {} if rehearse else {"XDG_CACHE_HOME": str(scratch / "cache")}  # compiled again
            second = build(source, "wheel", again, LIMBERJACK_WHEEL=platform, LIMBERJACK_PLATFORMS=brought, **nothing)
            same(wheel, second, "wheels of the tree and of the source archive")
    files = sorted(folder.iterdir())
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, files)], check=True)
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
