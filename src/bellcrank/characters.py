"""Characters of names that are not shown as they are."""

from __future__ import annotations

import unicodedata

KEPT = "\n\t\u200c\u200d"  # and what joins letters of some scripts


def visible(text: str) -> str:
    """A text with control characters, and those that turn the direction of writing, replaced by a mark.

    Names of models and files are in messages, and with such characters a name could move the cursor of a terminal, change
    colours or the title of its window.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c in KEPT or unicodedata.category(c) not in ("Cc", "Cf", "Cs") else "\N{REPLACEMENT CHARACTER}" for c in text
    )
