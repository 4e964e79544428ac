"""Collects everything that is wrong with a model, so that the user can correct it all at once."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence

from ...errors import BellcrankError, ModelError
from .items import NOWHERE, Where

LISTED = 100  # problems printed; the rest is counted
SUGGESTIONS = 20  # close matches looked up; each costs a pass over all known names
SEARCHED = 5000  # names looked through for a close match


class Problems:
    """A list of complaints, in the order of the file's lines.

    ``about`` names the body, joint or point complained of. Later checks ask ``blames`` and leave such an item alone: its
    values are placeholders, and a second complaint about them would only mislead.
    """

    def __init__(self, of: str = "model", kind: type[BellcrankError] = ModelError) -> None:
        self._of, self._kind = of, kind
        self._found: list[tuple[int, str]] = []
        self._blamed: set[str] = set()
        self._suggestions = 0

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, text: str, where: Where = NOWHERE, about: str | None = None) -> None:
        place = str(where)
        self._found.append((where.line or 0, f"{place}: {text}" if place else text))
        self.blame(about)

    def blame(self, name: str | None) -> None:
        """Marks an item whose trouble comes from one that is complained of already."""
        if name is not None:
            self._blamed.add(name)

    def blames(self, name: str) -> bool:
        return name in self._blamed

    def suggest(self, name: str, known: Collection[str]) -> str:
        """A remedy for a misspelt name: ``Did you mean "elbow"?``, or what there is to choose from."""
        self._suggestions += 1
        if self._suggestions > SUGGESTIONS or len(known) > SEARCHED:
            return ""
        close = difflib.get_close_matches(name, known, n=1)
        if close:
            return f' Did you mean "{close[0]}"?'
        return f" Choose from: {names(sorted(known))}." if known else ""

    def raise_if_any(self) -> None:
        if not self._found:
            return
        texts = [text for _, text in sorted(self._found, key=lambda item: item[0])]
        if len(texts) == 1:
            raise self._kind(texts[0])
        rest = len(texts) - LISTED
        more = [f"... and {rest} more."] if rest > 0 else []
        raise self._kind("\n  ".join([f"{len(texts)} problems in this {self._of}:", *texts[:LISTED], *more]))


def names(items: Collection[str], limit: int = 12) -> str:
    """Names in quotes, the first few of many."""
    shown = ", ".join(f'"{item}"' for item in list(items)[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"


def brief(value: object, limit: int = 60) -> str:
    """A value as it can stand in a message."""
    try:
        text = repr(value)
    except ValueError:  # of an integer with thousands of digits
        return f"a value of type {type(value).__name__} that is too large to be shown"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def refusal(lines: Sequence[str], remedy: str, limit: int = 20) -> ModelError:
    """An error of several lines, the first few of many, and what to do."""
    shown = [*lines[:limit], *([f"... and {len(lines) - limit} more."] if len(lines) > limit else [])]
    return ModelError("\n  ".join([*shown, remedy]))
