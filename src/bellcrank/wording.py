"""Wording of messages: arguments of Python or options of a command; singular or plural."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

PYTHON, OPTIONS, STUDY = "python", "options", "study"  # in whose terms remedies are given
_terms: ContextVar[str] = ContextVar("terms", default=PYTHON)


def argument(name: str, value: str | bool | None = None) -> str:
    """An argument as a remedy names it: ``on_singular="pass"`` in Python, ``--on-singular pass`` while a command runs, and
    ``on_singular = "pass" in [run]`` while a command works on a study."""
    terms = _terms.get()
    if terms == OPTIONS:
        option = f"--{name.replace('_', '-')}"
        return f"{option} {value}" if isinstance(value, str) else option
    if terms == STUDY:
        written = str(value).lower() if isinstance(value, bool) else f'"{value}"'
        return f"{name} in [run]" if value is None else f"{name} = {written} in [run]"
    return name if value is None else f"{name}={value}" if isinstance(value, bool) else f'{name}="{value}"'


@contextmanager
def in_terms_of(terms: str) -> Iterator[None]:
    """Let messages name options of the command line, or what a study file has, not arguments of functions."""
    token = _terms.set(terms)
    try:
        yield
    finally:
        _terms.reset(token)


def counted(count: int, one: str, several: str | None = None) -> str:
    """``1 sample``, ``2 samples``; ``counted(3, "body", "bodies")``."""
    return f"{count} {one if count == 1 else several or one + 's'}"


def duration_words(seconds: float) -> str:
    """About how long: ``about 3 minutes``."""
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds > 2 * size:
            return f"about {seconds / size:.0f} {unit}"
    return f"about {seconds:.1g} s" if seconds < 10 else f"about {seconds:.0f} s"


def did_you_mean(name: object, known: Collection[str]) -> str:
    """`` (did you mean 'elbow'?)``, or nothing where no known name is similar."""
    near = difflib.get_close_matches(str(name), known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def printed(table: Any) -> str:
    """What rich would print of a table, as plain text."""
    from .terminal import PlainConsole

    console = PlainConsole(highlight=False, width=120)
    with console.capture() as capture:
        console.print(table)
    return capture.get().rstrip("\n")


def together(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
