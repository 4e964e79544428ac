"""Where many runs begin: from rows that are given, or at the starts of their designs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...assembly import start_rows, wanted
from ...dynamics.dynamics import Dynamics
from ...errors import StateError, warn
from ...machine.steps.cuts.known import first_anchors
from ..arguments import named_inputs, or_default, with_unit_quaternions
from .designs import RunDesigns

Array = NDArray[np.float64]


class First(NamedTuple):
    """Where runs begin: rows of q, v, tau, u, and of designs; why a run cannot start, or None."""

    state: dict[str, Array]
    problems: tuple[str | None, ...]
    p: Array | None = None


def given_starts(dynamics: Dynamics, given: dict[str, Any]) -> tuple[dict[str, Array], tuple[str | None, ...]]:
    """Rows of equal number, a single one repeated, that satisfy the loops; and why a run cannot start, or None."""
    model = dynamics.model
    q, v = (wanted(dynamics, name, given[name]) for name in ("q", "v"))
    rows, count = _rows(dynamics, given, {"q": q.rows, "v": v.rows})
    unit = replace(q, rows=with_unit_quaternions(model, q.rows))
    first = start_rows(dynamics, unit.repeated(count), v.repeated(count))
    for note in first.notes:
        warn(f"model {model.name!r}: {note}")
    start = _all_rows(rows | {"q": first.q, "v": first.v}, count)
    if model.stictions:
        start["u"] = np.hstack([start["u"], first_anchors(model, first.q, first.v)])
    return start, _told(first.problems)


def design_starts(dynamics: Dynamics, designs: RunDesigns, given: dict[str, Any], p: Array, times: Array) -> First:
    """The starts of the designs' models; of trees, q and v that are given instead."""
    model = dynamics.model
    given_state = {name: given[name] for name in ("q", "v") if given[name] is not None}
    if given_state and model.closures:
        raise StateError(
            "runs of different designs with closed loops start where their models say: make what differs a parameter, such as "
            f"{'initial.' + model.joint_names[0] + '.v.0'!r}, instead of giving {' and '.join(given_state)}"
        )
    asked = {name: wanted(dynamics, name, given[name]) for name in given_state}
    rows, count = _rows(dynamics, given, {**{name: x.rows for name, x in asked.items()}, "p": p})
    p = np.ascontiguousarray(np.broadcast_to(p, (count, p.shape[1])))
    q, v, problems = designs.design.lane_starts.find(p)
    start = _all_rows({**rows, "q": q, "v": v}, count)
    known = {"q": model.q_names, "v": model.v_names}
    start |= {name: x.over(start[name], known[name]) for name, x in asked.items()}
    start["q"] = with_unit_quaternions(model, start["q"]) if "q" in asked else start["q"]
    own = designs.own(p, np.zeros((count, 0)), float(times[0]), float(times[-1])) if model.stictions else None
    if own is not None:
        start["u"] = np.hstack([start["u"], first_anchors(model, start["q"], start["v"], own.reach)])
    return First(start, _told(problems), p)


def _rows(dynamics: Dynamics, given: dict[str, Any], others: dict[str, Array]) -> tuple[dict[str, Array], int]:
    """Efforts and inputs as rows, and how many runs there are with what else is given."""
    model = dynamics.model
    tau = np.atleast_2d(dynamics.array("tau", or_default(given["tau"], np.zeros(model.nv))))
    u = np.asarray(or_default(named_inputs(model, given["u"]), np.zeros(len(model.inputs))), dtype=np.float64)
    rows = {**others, "tau": tau, "inputs": np.atleast_2d(u)}
    counts = {len(x) for x in rows.values()} - {1}
    if len(counts) > 1 or rows["inputs"].shape[1] != len(model.inputs):
        shapes = ", ".join(f"{name} {x.shape}" for name, x in rows.items())
        raise StateError(f"the rows do not match: {shapes}; model {model.name!r} has inputs {model.inputs}")
    count = counts.pop() if counts else 1
    if count == 0:
        raise StateError("there is nothing to run: q, v, tau, inputs or parameters have no rows")
    return {"tau": tau, "u": np.atleast_2d(u)}, count


def _told(problems: Sequence[str | None]) -> tuple[str | None, ...]:
    if not any(problems):
        return tuple(problems)
    return tuple(problem and f"cannot start: {problem}" for problem in problems)


def _all_rows(rows: dict[str, Array], count: int) -> dict[str, Array]:
    return {name: np.ascontiguousarray(np.broadcast_to(x, (count, x.shape[1]))) for name, x in rows.items()}
