"""Names of another program in our one namespace: unique, without dots, and as they were wherever that is possible."""

from __future__ import annotations

from ...model.spec.items import GROUND, PARAMETERS


class FreeNames:
    """Gives out names, and remembers which had to change."""

    def __init__(self) -> None:
        self.taken: set[str] = {GROUND, PARAMETERS}
        self.changed: dict[str, str] = {}

    def take(self, wanted: str, kind: str) -> str:
        """``wanted``, or the most similar name that is free: with the kind of thing added, then a number."""
        name = clean(wanted) or kind
        candidate, count = name, 1
        while candidate in self.taken:
            candidate = f"{name}_{kind}" if count == 1 else f"{name}_{kind}_{count}"
            count += 1
        self.taken.add(candidate)
        if wanted and candidate != wanted:
            self.changed[candidate] = wanted
        return candidate


def clean(name: str) -> str:
    """Names are parts of paths such as ``base.x``: no dots; no blanks at the ends, nothing unprintable, no formulas."""
    found = "".join(letter if letter.isprintable() else "_" for letter in name.replace(".", "_")).strip()
    return f"_{found[1:]}" if found.startswith("=") else found
