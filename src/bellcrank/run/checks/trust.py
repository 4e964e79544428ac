"""Warnings after a run whose energy does not add up, or whose numbers are not all finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import BellcrankError, warn

if TYPE_CHECKING:
    from ...results import Run

MOST = 500  # samples whose energy is looked at


def doubt_energy(run: Run, lost: float) -> None:
    """Warn of a run whose energy does not add up.

    Not where impacts took some, since each of them is reported; nor of a run that stopped, since the reason says more and its
    summary doubts it as well.
    """
    if lost != 0.0 or run.stopped is not None:
        return
    from ...results import energy_doubt

    try:
        doubt = energy_doubt(run.thinned(MOST).energy_error)
    except BellcrankError:  # it has none, since its last states allow none
        return
    if doubt is not None:
        warn(f"model {run.labels.model!r}: {doubt}")


def with_missing(run: Run, problem: str | None) -> str | None:
    """The reason why a run stopped, with the samples that are not numbers; of a run that did not stop, a warning."""
    from ...results import not_finite

    missing = [found for name in ("q", "v", "a", "work") if (found := not_finite(run, name)) is not None]
    if not missing:
        return problem
    if problem is not None:
        return f"{problem} Not finite numbers are: {'; '.join(missing)}."
    warn(f"model {run.labels.model!r}: {'; '.join(missing)}: not finite numbers")
    return None
