"""What a method steps over: told before the run."""

from __future__ import annotations

from ...dynamics.dynamics import Dynamics
from ...errors import warn
from ...forces import FORCES
from ...machine.steps.cuts.known import known_surfaces, known_times
from ...model import Model
from ...wording import argument


def tell_uncut(model: Model, method: str, first: float, last: float) -> None:
    """Of a method that cuts no steps: stops, and tables over time that have knots inside the run."""
    names = (
        [element.name for element in model.elements if element.kind == "joint_stop"]
        if len(known_surfaces(model).places)
        else []
    )
    what = [f"stops ({', '.join(map(repr, names[:3]))}{', ...' if len(names) > 3 else ''})"] if names else []
    what += ["tables over time"] if len(known_times(model, first, last)) else []
    if what:
        warn(
            f"model {model.name!r} has {' and '.join(what)}, and {method} does not end its steps there: what happens within a "
            f"step may be missed. Give a short {argument('max_step')}, or use another method."
        )


def tell_unopened(dynamics: Dynamics, method: str) -> None:
    """Of a method, or a run in momenta, that does not look where contacts begin and where forces have kinks.

    Friction that holds is not named: it is drawn along at the end of every step, and only its work is less exact.
    """
    model, momenta = dynamics.model, dynamics.formulation.startswith("canonical")
    if dynamics.plan.loads.openings <= len(model.stictions):
        return
    names = [
        e.name
        for e in model.elements
        if e.live or (e.joint < 0 and (FORCES[e.kind].gates or (e.table is not None and FORCES[e.kind].watches_table)))
    ]
    listed = f"{', '.join(map(repr, names[:3]))}{', ...' if len(names) > 3 else ''}"
    what = "a run in momenta" if momenta else method
    remedy = argument("formulation", "auto") if momenta else argument("method", "dopri5")
    warn(
        f"model {model.name!r} has contacts, or formulas or tables with kinks ({listed}), and {what} does not end its steps "
        f"there: what happens within a step may be missed. Give a short {argument('max_step')}, or use {remedy}."
    )
