"""How large an MJCF file becomes when MuJoCo expands it, found before MuJoCo sees it.

A line such as <replicate count="100000000"> would keep MuJoCo's compiler busy for hours (its time grows with the
square of the count) or exhaust the memory, and nothing can interrupt it.
"""

from __future__ import annotations

import math
from pathlib import Path

from limberjack.engine.files.xml_document import Element, read_xml
from limberjack.engine.model.readers.mjcf_assets import Assets

#: elements of a file after <replicate>, <composite>, <flexcomp>, <include> and <attach> have been expanded
MAX_EXPANDED = 20_000
#: numbers that one element may ask MuJoCo to set aside (height fields, textures, buffers)
MAX_SIZE = 20_000_000

_REPEATING = ("replicate", "composite", "flexcomp")
#: attributes of one element whose product is the amount of memory it asks for
_SIZES = {
    "hfield": ("nrow", "ncol"),
    "texture": ("width", "height"),
    "mesh": ("params",),
    "flexcomp": ("cellcount",),
    "flex": ("cellcount",),
}
_BUFFERS = ("nsample", "num", "nkey", "nuserdata", "njmax", "nconmax")


def check_size(path: Path) -> None:
    """Raise ModelError if the file, with all that it includes, expands beyond MAX_EXPANDED or MAX_SIZE, or names
    files that MuJoCo should not open (`mjcf_assets`)."""
    _Count(path).run()


class _Count:
    """Sum over all elements of how often each is made; every visit counts, so that cycles of files end too."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent
        self._files: dict[Path, Element] = {}
        self._models: dict[str, tuple[Element, Path]] = {}
        self._attached: list[tuple[Element, int]] = []
        self._waiting: list[tuple[Element, int, Path]] = [(self._read(path), 1, path.parent)]
        self._assets = Assets(path.parent)
        self._total = 0

    def run(self) -> None:
        while self._waiting or self._attached:
            while self._waiting:
                self._visit(*self._waiting.pop())
            attached, self._attached = self._attached, []
            for element, times in attached:  # only now are all <model> elements known
                model = self._models.get(element.attributes.get("model", ""))
                if model is not None:
                    self._add_file(model[0], times, model[1])
        self._assets.check()

    def _visit(self, element: Element, times: int, folder: Path) -> None:
        repeats = _product(element, "count") if element.tag in _REPEATING else 1
        self._total += times * max(1, repeats)
        if self._total > MAX_EXPANDED:
            what = f"the model expands to more than {MAX_EXPANDED} elements here"
            element.fail(what, "Lower the counts, or split the model")
        _check_memory(element)
        self._assets.see(element, folder)
        if element.tag == "include":
            self._add_file(element, times, folder)
        elif element.tag == "model":
            self._models[_model_name(element)] = (element, folder)
        elif element.tag == "attach":
            self._attached.append((element, times))
        self._waiting += [(child, times * repeats, folder) for child in element.children]

    def _add_file(self, element: Element, times: int, folder: Path) -> None:
        """Visit the file that an element names; a missing one is left for MuJoCo to report."""
        name = element.attributes.get("file", "")
        for file in dict.fromkeys((self._folder / name, folder / name)):
            if name and file.is_file():
                self._waiting.append((self._read(file), times, file.parent))

    def _read(self, path: Path) -> Element:
        key = path.resolve()
        if key not in self._files:
            self._files[key] = read_xml(path)
        return self._files[key]


def _model_name(element: Element) -> str:
    return element.attributes.get("name") or Path(element.attributes.get("file", "")).stem


def _check_memory(element: Element) -> None:
    asked = math.prod(_product(element, name) for name in _SIZES.get(element.tag, ()))
    for name in element.attributes:
        if name in _BUFFERS or name.startswith("nuser_"):
            asked = max(asked, _product(element, name))
    if asked > MAX_SIZE:
        element.fail(f"it asks for {asked} numbers, more than {MAX_SIZE}", "Lower its sizes")


def _product(element: Element, attribute: str) -> int:
    """Product of the numbers in an attribute, those below 1 taken as 1; 1 if it is absent."""
    words = element.attributes.get(attribute, "").split()
    try:
        return math.prod(max(1, math.ceil(float(word))) for word in words)
    except (ValueError, OverflowError):
        element.fail(f"attribute '{attribute}' is \"{' '.join(words)[:60]}\", not finite numbers", "Write numbers")
