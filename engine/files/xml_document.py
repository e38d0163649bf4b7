"""XML text to a small tree of elements that know their lines; hostile XML is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.sax import SAXException, SAXParseException, handler
from xml.sax.xmlreader import AttributesImpl

import defusedxml.sax
from defusedxml.common import DefusedXmlException

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import read_bytes
from limberjack.engine.files.numbers import usable

#: MJCF nests a body in its parent, so a long chain is deep; nothing here recurses
MAX_DEPTH = 2000
MAX_ELEMENTS = 60_000
#: attributes of all elements, about: each has one "="
MAX_ATTRIBUTES = 300_000
_PLAIN = "Give a plain robot description"


@dataclass
class Element:
    """One element: tag, attributes, children, and its place ("arm.urdf:12")."""

    tag: str
    attributes: dict[str, str]
    place: str
    children: list[Element] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The element as a user would look for it."""
        name = self.attributes.get("name")
        return f"{self.tag} '{name}'" if name is not None else f"<{self.tag}>"

    def all(self, tag: str) -> Iterator[Element]:
        """Direct children of this tag."""
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> Element | None:
        """The only direct child of this tag, or None. Two are an error."""
        found = list(self.all(tag))
        if len(found) > 1:
            found[1].fail(f"<{self.tag}> has {len(found)} elements <{tag}>", f"Keep one <{tag}>")
        return found[0] if found else None

    def text(self, attribute: str) -> str:
        """A required attribute that is not empty."""
        value = self.attributes.get(attribute, "").strip()
        if not value:
            self.fail(f"attribute '{attribute}' is missing or empty", f'Write <{self.tag} {attribute}="…">')
        return value

    def number(self, attribute: str, default: float | None = None) -> float:
        """One finite number; required when there is no default."""
        if default is not None and attribute not in self.attributes:
            return default
        return self.numbers(attribute, 1)[0]

    def vector(self, attribute: str, default: tuple[float, float, float]) -> tuple[float, ...]:
        """Three finite numbers."""
        return self.numbers(attribute, 3) if attribute in self.attributes else default

    def fail(self, what: str, remedy: str) -> NoReturn:
        """Raise a ModelError at this element."""
        raise ModelError(what, where=f"{self.place}, {self.label}", remedy=remedy)

    def numbers(self, attribute: str, count: int) -> tuple[float, ...]:
        """A required attribute of ``count`` finite numbers."""
        words = self.text(attribute).split()
        try:
            values = tuple(float(word) for word in words)
        except ValueError:
            values = ()
        if len(values) != count or not usable(values) or "_" in "".join(words):
            shown = self.attributes[attribute][:60]
            wanted = "one finite number" if count == 1 else f"{count} finite numbers"
            self.fail(f"attribute '{attribute}' is \"{shown}\", not {wanted}", f"Write {wanted}")
        return values


def read_xml(path: Path) -> Element:
    """The root element of a file; ModelError for DTDs, entities, deep nesting and large files."""
    builder = _Builder(str(path))
    content = read_bytes(path)
    _check_amount(content, builder)
    try:
        defusedxml.sax.parseString(content, builder, forbid_dtd=True)
    except SAXParseException as error:
        where = f"{path}:{error.getLineNumber()}"
        raise ModelError(f"not well-formed XML: {error.getMessage()}", where=where, remedy="Fix the XML") from None
    except DefusedXmlException:
        what = "document type definitions and entities are refused: they can hide hostile content"
        raise ModelError(what, where=builder.here, remedy="Remove the <!DOCTYPE …> part") from None
    except (SAXException, LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"unreadable XML: {error}", where=builder.here, remedy="Write the file as UTF-8") from None
    return builder.root()


def _check_amount(content: bytes, builder: _Builder) -> None:
    """Refuse before parsing what cannot but be too large. Each element has one or two "<"; comments may have some."""
    for sign, most, what in ((b"<", 4 * MAX_ELEMENTS, "tags"), (b"=", MAX_ATTRIBUTES, "attributes")):
        if content.count(sign) > most:
            raise ModelError(f"the XML has more than {most} {what}", where=builder.here, remedy=_PLAIN)


class _Builder(handler.ContentHandler):
    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file
        self._open: list[Element] = []
        self._root: Element | None = None
        self._count = 0

    @property
    def here(self) -> str:
        """File and line of the parser."""
        locator = getattr(self, "_locator", None)
        line = locator.getLineNumber() if locator else None
        return f"{self._file}:{line}" if line else self._file

    def root(self) -> Element:
        """The root element, once the text has been parsed."""
        if self._root is None:
            raise ModelError("the file has no XML element", where=self._file, remedy="Give a URDF or MJCF file")
        return self._root

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        self._count += 1
        element = Element(name, dict(attrs.items()), self.here)
        if len(self._open) >= MAX_DEPTH or self._count > MAX_ELEMENTS:
            what = f"the XML is nested deeper than {MAX_DEPTH} or has more than {MAX_ELEMENTS} elements"
            element.fail(what, _PLAIN)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def endElement(self, name: str) -> None:
        self._open.pop()
