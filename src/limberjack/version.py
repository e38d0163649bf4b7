"""The version of the installed distribution."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("limberjack")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"
