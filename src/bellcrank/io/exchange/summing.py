"""Messages that say the same of different items, joined into one line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...model.spec.problems import names

ALIKE = 4  # lines that are still printed one by one
SHOWN = 4  # names of the others
_QUOTED = re.compile(r'"([^"]*)"')
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def summed(lines: Iterable[str]) -> list[str]:
    """Lines that differ in names and numbers alone are represented by the first of them, and by what the others are about.

    A robot of 700 muscles would else need 700 lines to say that muscles are not simulated.
    """
    groups: dict[str, list[str]] = {}
    for line in lines:
        groups.setdefault(_NUMBER.sub("0", _QUOTED.sub('""', line)), []).append(line)
    return [text for group in groups.values() for text in (group if len(group) <= ALIKE else [_one(group)])]


def _one(group: list[str]) -> str:
    first, *rest = group
    about = [found[1] for line in rest if (found := _QUOTED.search(line))]
    others = names(about, SHOWN) if len(about) == len(rest) else f"{len(rest)} more"
    return f"{first}; likewise {others}"
