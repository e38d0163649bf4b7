"""`limberjack validate`: the tests are in the repository, not in the installed package."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from limberjack.engine.common.errors import ArgumentError, ExitCode, MissingExtraError
from limberjack.version import __version__

#: top of the repository, if this file is in one
_TOP = Path(__file__).resolve().parents[3]


def validate(options: argparse.Namespace) -> ExitCode:
    """Run the tests of the validation report, and write the report; see docs/how-to/validation.md.

    FAILED unless the report passes. ArgumentError outside of the repository, MissingExtraError without a package.
    """
    if not (_TOP / "tests" / "validation" / "contents.py").is_file():
        raise ArgumentError(
            "the tests are not in the installed package. Check out Limberjack's repository at version "
            f'{__version__} and run there: pip install -e ".[test,validation]", then limberjack validate.'
        )
    for package, extra in (("pytest", "test"), ("weasyprint", "validation")):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError("the validation report", package, extra)
    folder = options.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    selected = "validation and not long" if options.quick else "validation"
    command = [sys.executable, "-m", "pytest", "-q", "-m", selected, f"--validation-report={folder}"]
    command += ["--validation-pdf", *_files()]
    paths = [str(_TOP / "src"), os.environ.get("PYTHONPATH", "")]  # of children: this Limberjack, installed or not
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(command, cwd=_TOP, env=environment, check=False)
    return ExitCode.DONE if done.returncode == 0 else ExitCode.FAILED


def _files() -> list[str]:
    """The files of the report's tests, so that pytest reads no others; the report lists missing ones."""
    sys.path.insert(0, str(_TOP))
    from tests.validation.contents import contents

    files = dict.fromkeys(test.partition("::")[0] for test in contents().tests)
    return [file for file in files if (_TOP / file).is_file()]
