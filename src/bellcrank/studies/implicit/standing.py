"""A design whose model's own drivers stand still, as drive and equilibrium take them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from ...analyses.motions.kinematics import frozen, with_still_closures
from ...design import Design
from ...model import Closure, Law, Model, PrescribedMotion
from ...model.parameters.recording import over_numbers
from ...numbers import sincos
from ...numbers.spline import spline


def standing(design: Design, t: float, *, joints: bool = True) -> Design:
    """The design of the model with its driven closures, and its driven ``joints``, standing still as at t."""
    model, over = design.base, design.recording.model
    if not (any(closure.motion for closure in model.closures) or (joints and any(model.motions))):
        return design
    changed: dict[str, Any] = {item.name: getattr(over, item.name) for item in fields(Model)}
    changed["closures"] = tuple(_still(closure, t) for closure in over.closures)
    if joints:
        changed["motions"] = tuple(motion and _at(motion, t) for motion in over.motions)
    return design.of_model(frozen(model, t) if joints else with_still_closures(model, t), over_numbers(changed))


def _still(closure: Closure, t: float) -> Closure:
    return closure if closure.motion is None else replace(closure, motion=_at(closure.motion, t))


def _at(motion: PrescribedMotion, t: float) -> PrescribedMotion:
    return replace(motion, laws=tuple(Law("polynomial", (value(law, t),)) for law in motion.laws))


def value(law: Law, t: float) -> Any:
    """A law at a time, on any number."""
    if law.kind == "sum":
        return sum((value(part, t) for part in law.parts[1:]), start=value(law.parts[0], t))
    if law.kind == "polynomial":
        total: Any = 0.0
        for c in reversed(law.values):
            total = total * t + c
        return total
    if law.kind == "sine":
        offset, amplitude, frequency, phase = law.values
        return offset + amplitude * sincos(2 * np.pi * frequency * t + phase)[0]
    if law.kind == "formula":
        return law.of_time(t)
    assert law.table is not None
    return spline(law.table.rows, 0.0, float(len(law.table.x)), law.table.lookup, t).value
