"""Reading a model file of bounded size."""

from __future__ import annotations

from pathlib import Path

from limberjack.engine.errors import ModelError

MAX_BYTES = 16 * 1024 * 1024


def read_bytes(path: Path) -> bytes:
    """The content of a file of at most 16 MiB; ModelError if it cannot be read or is larger."""
    try:
        if not path.is_file():
            what = "is not a file" if path.exists() else "does not exist"
            raise ModelError(f"the file {what}", where=str(path), mend="Check the path")
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"cannot read the file: {error}", where=str(path), mend="Check path and rights") from None
    if len(content) > MAX_BYTES:
        what = f"the file is larger than {MAX_BYTES // 1024**2} MiB"
        raise ModelError(what, where=str(path), mend="Give a model file; meshes and logs belong elsewhere")
    return content
