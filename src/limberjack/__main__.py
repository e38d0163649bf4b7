"""`python -m limberjack`: the command line."""

from __future__ import annotations

from limberjack.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
