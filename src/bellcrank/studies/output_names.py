"""Outputs of a study by their names: a measure or a formula over measures, and what is taken of it in time.

tip.x                     at all samples
tip.x@end                 at the end            tip.x@t=0.5       at a time
max(abs(hub.az))          the largest value, min(...) the smallest; rms(...), mean(...), integral(...) over the run
tip.x@lift_off            at the first crossing of an event              lift_off.time     when that is
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import ModelError, StateError
from ..model.parameters.expressions import derived, unknown_function

Taken = Literal["series", "at", "event", "event_time", "max", "min", "rms", "mean", "integral"]
OVER_TIME = ("max", "min", "rms", "mean", "integral")


@dataclass(frozen=True)
class Output:
    """An output. ``of``: a formula over measures; taken at ``time``, at an ``event``, or over all of the run."""

    name: str
    taken: Taken
    of: str = ""
    time: float | None = None
    event: str = ""

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(derived(self.of).names) if self.of else ()


def parsed(names: Sequence[str], events: Sequence[str], end: float) -> list[Output]:
    """The outputs, checked; ``end`` is the last time of the run."""
    return [_parsed(name, events, end) for name in must_be_names(names)]


def must_be_names(names: Sequence[str]) -> Sequence[str]:
    if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise StateError(f"outputs must be a list of names; it is {names!r}")
    return list(names)


def _parsed(name: str, events: Sequence[str], end: float) -> Output:
    text = name.strip()
    before, at, after = text.rpartition("@")
    if at:
        return _at(name, before, after.strip(), events, end)
    stem, _, last = text.rpartition(".")
    if last == "time" and stem in events:
        return Output(name, "event_time", event=stem)
    found = _over_time(text)
    if found:
        return _checked(Output(name, found[1], _formula(found[2])))  # type: ignore[arg-type]
    return _checked(Output(name, "series", text))


def _over_time(text: str) -> re.Match[str] | None:
    """max(...), rms(...) and such, with what is inside."""
    found = re.fullmatch(rf"({'|'.join(OVER_TIME)})\((.*)\)", text)
    return found if found and _closes_at_end(text) else None


def _at(name: str, of: str, when: str, events: Sequence[str], end: float) -> Output:
    whole = _over_time(of.strip())
    if whole and "," not in whole[2]:
        raise StateError(f"output {name!r}: {whole[1]}(...) is of the whole run. Leave out what stands behind @.")
    if when == "end":
        return _checked(Output(name, "at", of, end))
    if when in events:
        return _checked(Output(name, "event", of, event=when))
    found = re.fullmatch(r"t\s*=\s*(\S+)", when)
    try:
        time = float(found[1]) if found else None
    except ValueError:
        time = None
    if time is None:
        known = f"; events are {', '.join(events)}" if events else ""
        raise StateError(f"output {name!r} is taken at {when!r}: write @end, @t=0.5 or the name of an event{known}")
    if not 0 <= time <= end:
        raise StateError(f"output {name!r} is taken at t = {time:g} s, outside the run, which goes from 0 to {end:g} s")
    return _checked(Output(name, "at", of, time))


def _closes_at_end(text: str) -> bool:
    """Whether the first parenthesis is closed by the last one."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter == ")":
            return k == len(text) - 1
    return False


def _formula(text: str) -> str:
    return text.strip()


def _checked(output: Output) -> Output:
    try:
        for name, _ in derived(output.of).calls if output.of else ():
            unknown_function(name)
        found = output.measures
    except (ModelError, ValueError) as problem:
        raise StateError(f"output {output.name!r}: {problem}") from None
    if not found:
        raise StateError(f"output {output.name!r} names no measure")
    return output
