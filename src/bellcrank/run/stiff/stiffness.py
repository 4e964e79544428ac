"""Detection of stiffness: a warning during the run names the method that takes longer steps, or the rest is left to that
method.

Machine code notices by itself (machine.steps.stiffness).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...errors import StiffnessWarning, warn
from ...wording import argument, duration_words

MANY = 10_000  # steps: a stiff run that has fewer to go will soon end, and is only noted
MANY_IN_PYTHON = 500  # where Python functions are called or events looked for at each


class Stiff(NamedTuple):
    """Since when a run is stiff, the rate at which its fastest motion dies out then (1/s), and which velocity that is."""

    time: float
    rate: float
    dof: str | None
    run: int | None = None  # of many


class Pace(NamedTuple):
    """The progress of a run: where it is, its step, its end; seconds of the clock for each step, if that is known."""

    t: float
    h: float
    end: float
    cost: float | None = None

    @property
    def left(self) -> float:
        """Steps, at their present length."""
        return (self.end - self.t) / self.h


@dataclass
class Stiffness:
    """The stiffness of one run: what was found, reported once."""

    model: str
    method: str
    remedy: str
    many: int = MANY
    switches: bool = False  # the rest of the run is left to a method for stiff models
    found: Stiff | None = None
    warned: bool = False
    left_at: float | None = None

    def notice(self, found: Stiff, pace: Pace) -> None:
        """Keep the first; warn, or leave the rest to another method, if what lies ahead takes many steps."""
        self.found = self.found or found
        if self.warned or self.left_at is not None or pace.left < self.many:
            return
        if self.switches:
            self.left_at = pace.t
            return
        self.warned = True
        which = "" if found.run is None else f" in run {found.run}"
        where = "" if found.dof is None else f", in {found.dof},"
        long = "" if pace.cost is None else f", which take {duration_words(pace.left * pace.cost)}"
        warn(
            f"model {self.model!r} is stiff{which}: from t = {found.time:.4g} s on its fastest motion{where} dies out at a "
            f"rate of {found.rate:.2g} 1/s, and {self.method} takes steps of {pace.h:.2g} s to stay stable, not for accuracy; "
            f"about {pace.left:.1g} of them remain{long}. {self.remedy}",
            StiffnessWarning,
        )


def remedy() -> str:
    """The method that continues a stiff run, in the user's terms."""
    return f"Use {argument('method', 'radau')}, whose steps follow the motion, or {argument('method', 'auto')}."
