"""Whether two revisions make the same: `python -m tests.golden compare REVISION`, or `record FILE` and `diff A B`.

`compare` records REVISION from a checkout of its own and the working tree, and lists what differs; exit code 1 if
anything does. Bits depend on the processor and on numpy, so both are recorded on one machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _record(source: Path, out: Path, options: argparse.Namespace) -> None:
    """Run the recorder of this tree on the package in `source`."""
    command = [sys.executable, "-m", "tests.golden", "record", str(out), "--models", str(options.models)]
    command += ["--errors", str(options.errors)] + (["--exchange"] if options.exchange else [])
    path = os.pathsep.join([str(source / "src"), str(ROOT)])
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | {"PYTHONPATH": path})


def _diff(first: Path, second: Path) -> int:
    before, after = (json.loads(path.read_text()) for path in (first, second))
    changed = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    for name in changed[:100]:
        print(f"{name}\n  - {before.get(name)}\n  + {after.get(name)}")
    print(f"{len(before)} records, {len(changed)} differ")
    return 1 if changed else 0


def _compare(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        tree, before, after = (Path(scratch) / name for name in ("tree", "before.json", "after.json"))
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), options.revision], check=True, cwd=ROOT)
        try:
            _record(tree, before, options)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], check=True, cwd=ROOT)
        _record(ROOT, after, options)
        return _diff(before, after)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, argument in (("compare", "revision"), ("record", "file")):
        sub = verbs.add_parser(verb)
        sub.add_argument(argument)
        sub.add_argument("--models", type=int, default=150, help="random trees, and as many linkages")
        sub.add_argument("--errors", type=int, default=600, help="damaged files")
        sub.add_argument("--exchange", action="store_true", help="FMUs and messages of the examples too (minutes)")
    sub = verbs.add_parser("diff")
    sub.add_argument("first", type=Path)
    sub.add_argument("second", type=Path)
    options = parser.parse_args()
    if options.verb == "compare":
        return _compare(options)
    if options.verb == "diff":
        return _diff(options.first, options.second)
    from tests.golden.recorder import record

    made = record(options.models, options.errors, exchange=options.exchange)
    Path(options.file).write_text(json.dumps(made, indent=1, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
