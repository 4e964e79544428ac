"""Numbers as XML files write them: what a reader of C or of ROS takes, and nothing that only Python does (1_000)."""

from __future__ import annotations

import math
import re

_NUMERAL = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE | re.ASCII)
_MACRO = re.compile(r"\$[({]")


def numerals(text: str) -> list[float] | None:
    """The numbers of a text, also nan and inf; None if something in it is not a number."""
    words = text.split()
    return [float(word) for word in words] if all(_NUMERAL.fullmatch(word) for word in words) else None


def digits(word: str) -> int:
    """Significant digits of a number: 6 of -0.0123450."""
    mantissa = re.split("[eE]", word.lstrip("+-"))[0].replace(".", "").lstrip("0")
    return len(mantissa)


def all_finite(values: list[float]) -> bool:
    return all(math.isfinite(x) for x in values)


def is_macro(text: str) -> bool:
    """Whether a text has an expression of xacro in it: ${...} or $(...)."""
    return _MACRO.search(text) is not None
