"""The `limberjack` command, also as `python -m limberjack`."""

from __future__ import annotations

import sys


def main() -> int:
    """Entry point of the command; returns the exit code. Ctrl-C while it imports ends it without a traceback."""
    try:
        from limberjack.cli import main as work

        return work()
    except KeyboardInterrupt:
        print("stopped by the user", file=sys.stderr)
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
