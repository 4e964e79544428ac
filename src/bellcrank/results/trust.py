"""Whether a run can be trusted: whether its energy adds up, and whether all of its numbers are finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..wording import argument, counted

if TYPE_CHECKING:
    from .run import Run

TRUSTED = 1e-3  # energy error from which on a run is doubted
REPORTED = ("kinetic", "potential", "storage", "forces", "drives", "reactions")  # when they are first computed
_SHOWN = 3


def energy_error(run: Run) -> float:
    """Largest imbalance of the energy over the largest energy that flows: see Run.energy_error."""
    parts = [run.values(name) for name in ("kinetic", "potential", "stored")]
    balance, work = run.values("balance"), run.values("work")
    if balance.size == 0 or not np.isfinite(balance[0]):
        return float("nan")
    largest = np.nanmax(np.abs(balance), initial=0.0)
    size = sum(np.abs(part) for part in parts) + np.abs(work).sum(axis=1)
    rounding = 16 * np.finfo(float).eps * np.nanmax(size, initial=0.0)
    flows = [np.nanmax(parts[0]), run.settings.get("peak_kinetic") or 0.0, np.nanmax(np.abs(work), initial=0.0)]
    flows += [np.nanmax(part) - np.nanmin(part) for part in parts[1:]]
    return float(largest / max(*flows, rounding)) if largest > rounding else 0.0


def energy_doubt(error: float | None) -> str | None:
    """The reason why a run with this energy error is not to be trusted, or None."""
    if error is None or not error >= TRUSTED:
        return None
    return (
        f"the energy balance does not close: its error is {error:.2g} of the energy that flows: do not trust this run. Take "
        f"shorter steps ({argument('max_step')}), or {argument('method', 'dopri5')} with a tighter {argument('rtol')}"
    )


def not_finite(run: Run, name: str) -> str | None:
    """A text that says which entries of a quantity are not finite; None if all are. Samples reported before are left out.

    Those are in singular positions, where nothing determines accelerations and reactions, or have states that are not finite.
    """
    values = run.values(name)
    if np.isfinite(values).all():
        return None
    from .quantities import NAMES, QUANTITIES  # xarray takes longer to import than a short run takes

    time = run.values("time")
    known = np.isin(time, [at for at, _ in run.settings.get("undetermined") or ()])
    if name not in ("q", "v", "a"):  # what follows from a state that is not finite is not either
        known = known | ~np.isfinite(np.hstack([run.values(part) for part in ("q", "v", "a")])).all(axis=1)
    bad = ~np.isfinite(values) & ~known.reshape(-1, *[1] * (values.ndim - 1))
    if not bad.any():
        return None
    samples = np.flatnonzero(bad.reshape(len(time), -1).any(axis=1))
    more = f" and {counted(len(samples) - 1, 'other sample')}" if len(samples) > 1 else ""
    dims = QUANTITIES[name].dims
    whose = ""
    if len(dims) > 1 and dims[1] in NAMES:
        places = np.flatnonzero(bad.any(axis=tuple(k for k in range(bad.ndim) if k != 1)))
        names = [getattr(run.labels, NAMES[dims[1]])[k] for k in places[:_SHOWN]]
        whose = f" of {', '.join(map(repr, names))}{' and others' if len(places) > _SHOWN else ''}"
    return f"{QUANTITIES[name].meaning}{whose} at t = {time[samples[0]]:.6g} s{more}"
