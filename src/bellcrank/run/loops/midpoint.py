"""Methods that keep loops closed within the equations of their steps (machine.steps.implicit.closed)."""

from __future__ import annotations

from ...model import Model

CLOSED_METHODS = ("implicit_midpoint", "midpoint4")


def closes_by_itself(method: str, model: Model) -> bool:
    """Whether steps of the method keep the loops of a model closed to rounding, so that nothing is projected."""
    return method in CLOSED_METHODS and bool(model.closures)
