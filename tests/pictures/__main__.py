"""`python -m tests.pictures [NAME ...]`: make pictures of the documentation, in build/pictures.

Without names: all but those that show times of the machine, whose pages have tables of the same run. Needs the extras
test, bench, robots and console, and Chromium for pictures of pages. Compare them with docs/images, then copy them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.pictures.makers import MAKERS, ROOT, make


def main() -> None:
    known = [name for maker in MAKERS for name in maker.pictures]
    parser = argparse.ArgumentParser(prog="python -m tests.pictures", description="make pictures of the documentation")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of docs/images (default: all but measured times)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "pictures", help="folder of the pictures")
    parser.add_argument("--list", action="store_true", help="list the names, and make nothing")
    options = parser.parse_args()
    if options.list:
        print("\n".join(sorted(known)))
        return
    if unknown := sorted(set(options.names) - set(known)):
        parser.error(f"nothing makes {', '.join(unknown)}; --list lists what can be made")
    for maker in MAKERS:
        wanted = bool(set(options.names) & set(maker.pictures)) if options.names else not maker.measured
        if not wanted:
            continue
        for path in make(maker, options.out.resolve()):
            print(f"wrote {path}", flush=True)


if __name__ == "__main__":
    main()
