"""Numbers of an MJCF model: entries that are not numbers, and the digits to which positions were rounded.

nan is MuJoCo's own mark of what is not given, and would be read as that.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Problems, Where
from ..exchange.markup import XmlElement
from ..exchange.numerals import all_finite, digits, numerals
from .files import Document

WORDS = {"name", "class", "childclass", "model", "prefix", "key", "value", "file"}  # attributes that are never numbers
OF_OTHERS = {"numeric", "text", "tuple", "config"}  # elements whose numbers mean nothing to MuJoCo


PLACES = {"pos", "quat", "axis", "axisangle", "xyaxes", "zaxis", "euler", "anchor", "relpose"}
ROUNDED = range(5, 9)  # significant digits: fewer are typed by hand and exact, more are as good as exact


def rounding(documents: Sequence[Document]) -> float:
    """Relative rounding of places and directions, 5e-6 of six digits; zero where they do not look rounded.

    A program rounds all numbers that it writes to the digits that the longest has; short ones are exact, or end with zeros.
    """
    texts = (
        text
        for document in documents
        for node in document.root.walk()
        for key, text in node.attributes.items()
        if key in PLACES and numerals(text)
    )
    most = max((digits(word) for text in texts for word in text.split()), default=0)
    return float(f"5e-{most}") if most in ROUNDED else 0.0


def check_numbers(documents: Sequence[Document]) -> None:
    """Raises ModelError for numbers that are not finite; ranges may be without end."""
    problems = Problems()
    nodes = [node for document in documents for node in document.root.walk()]
    named = {node.attributes[key] for node in nodes for key in ("name", "class") if key in node.attributes}  # "inf" may be one
    for document in documents:
        for node in document.root.walk():
            for key, text in node.attributes.items() if node.tag not in OF_OTHERS else ():
                if key in WORDS or text in named:
                    continue
                values = numerals(text)
                endless = "range" in key and values is not None and not any(x != x for x in values)
                if values is not None and not all_finite(values) and not endless:
                    where = Where(document.name, node.line)
                    problems.add(f'{key} of <{node.tag}>{_called(node)} is "{text}". Give finite numbers.', where)
    problems.raise_if_any()


def _called(node: XmlElement) -> str:
    return f' "{node.attributes["name"]}"' if node.attributes.get("name") else ""
