"""The wheel holds exactly one top-level package, with its type marker and models, no tests and no benchmarks."""

from __future__ import annotations

import sys
import zipfile

REQUIRED = {
    "limberjack/__init__.py",
    "limberjack/py.typed",
    "limberjack/cli.py",
    "limberjack/engine/api/simulation.py",
    "limberjack/engine/model/load.py",
    "limberjack/bridge/client.py",
    "limberjack/bridge/console/static/index.html",
    "limberjack/fmu/export.py",
    "limberjack/fmu/shim/fmi3.c",
    "limberjack/engine/native/kernels.h",
    "limberjack/engine/native/limberjack.h",
    "limberjack/engine/native/limberjack.pc.in",
    "limberjack/examples/joint_controller/modelDescription.xml",
    "limberjack/hil/__init__.py",
    "limberjack/hil/code/messages.h.in",
    "limberjack/examples/controllers/balance_tcp.m",
    "limberjack/examples/controllers/cart_messages.h",
    "limberjack/examples/starts/arm.yaml",
    "limberjack/examples/space_manipulator.yaml",
    "limberjack/examples/modes/boom.yaml",
    "limberjack/examples/modes/cassini_bus.npz",
    "limberjack/LICENSE",
}

#: in the folder of metadata
METADATA = ("licenses/LICENSE", "licenses/NOTICE", "sboms/limberjack.cdx.json")
#: what is compiled, under names with hashes
COMPILED = ("limberjack/engine/compile/binaries/limberjack_kernels-", "limberjack/fmu/brought/")


def main(path: str) -> int:
    """Print what is wrong with the wheel; exit code 1 if anything is."""
    names = set(zipfile.ZipFile(path).namelist())
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    problems = [f"missing: {name}" for name in sorted(REQUIRED - names)]
    problems += [f"nothing in {folder}" for folder in COMPILED if not any(name.startswith(folder) for name in names)]
    problems += [f"missing: {name}" for name in METADATA if not any(n.endswith(f".dist-info/{name}") for n in names)]
    problems += [f"unexpected top level: {top}" for top in sorted(tops - {"limberjack"})]
    outside = ("/test_", "/tests/", "/benchmarks/")
    problems += [f"not for the wheel: {name}" for name in sorted(names) if any(part in name for part in outside)]
    print("\n".join(problems) if problems else f"{path.rsplit('/', 1)[-1]}: {len(names)} files, as expected")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
