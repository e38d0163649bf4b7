"""`python -m benchmarks` is `limberjack bench`."""

import sys

from limberjack.cli import main

sys.exit(main(["bench", *sys.argv[1:]]))
