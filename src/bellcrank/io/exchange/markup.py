"""XML from untrusted files: a plain tree with line numbers, without entities, namespaces or anything that opens other files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from ...errors import ModelError

DEEPEST = 500  # elements inside each other; readers that recurse would run out of stack


@dataclass
class XmlElement:
    """An element: its tag as written, prefix and all."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[XmlElement] = field(default_factory=list)
    text: str = ""

    def walk(self) -> Iterator[XmlElement]:
        """This element and all inside it, in the order of the file."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def all(self, tag: str) -> list[XmlElement]:
        return [child for child in self.children if child.tag == tag]

    def write(self) -> str:
        """The element as text, without comments, every element in the line where it was."""
        parts: list[str] = []
        _write(self, parts, 1)
        return "".join(parts)


def _write(node: XmlElement, parts: list[str], line: int) -> int:
    """Adds an element, given the line that has been reached; returns the one reached then."""
    given = "".join(f" {key}={quoteattr(value)}" for key, value in node.attributes.items())
    closed = "" if node.children or node.text else "/"
    parts.append("\n" * (node.line - line) + f"<{node.tag}{given}{closed}>{escape(node.text)}")
    line = max(line, node.line)
    if closed:
        return line
    for child in node.children:
        line = _write(child, parts, line)
    parts.append(f"</{node.tag}>")
    return line


def is_markup(data: bytes) -> bool:
    """Whether a file begins as XML does, in UTF-8 or UTF-16."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<" or data[:2] in (b"\xff\xfe", b"\xfe\xff")


def parse(data: bytes, file: str) -> XmlElement:
    """The root of a document; raises ModelError for what is not XML, or tries to define entities."""
    begins = len(data) - len(data.lstrip())
    building = _Building(file, data.count(b"\n", 0, begins))
    try:
        building.parser.Parse(data[begins:], True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise ModelError(f"{file}, line {building.line}: not XML: {reason}. Correct the text there or just before.") from None
    except ModelError:
        raise
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        raise ModelError(f"{file}: its encoding is not known: {error}. Save it as UTF-8.") from None
    assert building.root is not None
    return building.root


class _Building:
    def __init__(self, file: str, above: int) -> None:
        self.file, self.above = file, above  # blank lines above the text
        self.root: XmlElement | None = None
        self.open: list[XmlElement] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.words
        self.parser.StartDoctypeDeclHandler = self.doctype

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber + self.above

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        node = XmlElement(tag, attributes, self.line)
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)
        if len(self.open) > DEEPEST:
            raise ModelError(f"{self.file}, line {node.line}: more than {DEEPEST} elements inside each other.")

    def end(self, tag: str) -> None:
        self.open.pop()

    def words(self, text: str) -> None:
        self.open[-1].text += text.strip()

    def doctype(self, name: str, *_: object) -> NoReturn:
        raise ModelError(
            f"{self.file}, line {self.line}: it declares a document type (<!DOCTYPE {name}>), which could define entities or "
            "open other files. Remove the declaration."
        )
