"""Derivatives with respect to a design, at a state: of accelerations, multipliers, reactions and measures.

Anderson & Hsu's recursion (EQUATIONS 2) on dual numbers: the value once, and beside it a vector of tangents, one for each
parameter; O(n) for a parameter, and no matrix is formed, with closed loops neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import StateError
from ...formulations import QUANTITIES
from ...machine.tangents.data import design_data
from ..differentiation import Changes, Derivative, derivatives, values_at
from ..evaluation import Array, Evaluation, OrZero, as_numbers
from ..quantities.measures import Measuring, measuring
from .shared_loads import ByDesign, design_changes

if TYPE_CHECKING:
    from ...design import Design

COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True)
class AtState:
    """Derivatives by the parameters of a design at one state, or at many: the last axis counts the parameters.

    a, da         acceleration, (nv,) and (nv, parameters)
    dlambda       (m, parameters) of the multipliers of the equations that close the loops
    dreactions    (n, 6, parameters) of the wrench of the parent on the child at each joint: force, moment, in the world's axes
    dmeasures     (columns, parameters) of the measures that the user wrote; ``measures(names)`` of others

    Of many states all have an axis in front. Each is computed when it is first asked for.
    """

    dyn: Evaluation
    rows: dict[str, Array]
    along: dict[str, Array]  # changes of q and v, (states or 1, size, parameters); none where they are kept
    p: Array | None
    t: ArrayLike
    inputs: OrZero
    batched: bool

    @property
    def parameters(self) -> tuple[str, ...]:
        return design_of(self.dyn).names

    def _changes(self, dyn: Evaluation, **more: Array) -> Changes:
        return design_changes(dyn, design_of(self.dyn), self.p, self.along | more)

    def _shaped(self, x: Array) -> Array:
        return x if self.batched else x[0]

    @cached_property
    def _acceleration(self) -> Derivative:
        found = derivatives(self.dyn, self.dyn.program, self.rows, self._changes(self.dyn), self.t, self.inputs)["a"]
        if not self.batched and not (np.isfinite(found.value).all() and np.isfinite(found.along).all()):
            raise self.dyn.refusal(self.rows | {"t": self.dyn.time_rows(self.t, 1)})
        return found

    @property
    def a(self) -> Array:
        return self._shaped(self._acceleration.value)

    @property
    def da(self) -> Array:
        return self._shaped(self._acceleration.along)

    @cached_property
    def _multipliers(self) -> Derivative:
        dyn = self.dyn
        if not dyn.model.closures:
            states = len(self.rows["q"])
            return Derivative(np.zeros((states, 0)), np.zeros((states, 0, len(self.parameters))))
        if dyn.plan.nodes is None:
            rows = derivatives(dyn, QUANTITIES["multipliers"], self.rows, self._changes(dyn), self.t, self.inputs)["solution"]
            kept = (rows.value[:, 1::3] > 0).sum(axis=1).min()
            found = Derivative(rows.value[:, ::3], rows.along[:, ::3])
        else:
            a, kept = self._acceleration, dyn.plan.nodes.rank
            changes = self._changes(dyn, a=a.along)
            given = self.rows | {"a": a.value}
            found = derivatives(dyn, QUANTITIES["block_multipliers"], given, changes, self.t, self.inputs)["lambda"]
        if kept == dyn.equations or not dyn.model.nv:
            return found
        a = self._acceleration
        along = {**self.along, "a": a.along}
        loops = ByDesign(dyn, design_of(dyn), self.rows | {"a": a.value}, along, self.p, self.t, self.inputs)
        return loops.least(found, [kept] * len(a.value))

    @property
    def dlambda(self) -> Array:
        return self._shaped(self._multipliers.along)

    @cached_property
    def dreactions(self) -> Array:
        model = self.dyn.model
        held = [k for k, joint in enumerate(model.joints) if joint.mechanical]  # user-defined states have none
        found = self.measures([f"{model.joint_names[k]}.{component}" for k in held for component in COMPONENTS])
        whole = np.zeros((*found.shape[:-2], model.n, 6, found.shape[-1]))
        whole[..., held, :, :] = found.reshape(*found.shape[:-2], len(held), 6, found.shape[-1])
        return whole

    @cached_property
    def dmeasures(self) -> Array:
        return self.measures(None)

    def measures(self, names: Sequence[str] | None) -> Array:
        """Derivatives of named measures, or of paths that every model has ("crank_pivot.fx"): (columns, parameters)."""
        return self._shaped(self.measured(measuring(self.dyn, names)).along)

    def measured(self, code: Measuring) -> Derivative:
        """Values and derivatives of measures, (states, columns) and (states, columns, parameters)."""
        rows, more = dict(self.rows), {}
        if code.moving:
            rows["a"], more["a"] = self._acceleration
        if code.pushed:
            rows["lambda"], more["lambda"] = self._multipliers
        found = derivatives(code.evaluation, code.program, rows, self._changes(code.evaluation, **more), self.t, self.inputs)
        value, along = found["measure"]
        return Derivative(value[:, code.columns], along[:, code.columns])


def sensitivity(
    dyn: Evaluation,
    q: ArrayLike,
    v: ArrayLike,
    tau: OrZero = None,
    *,
    p: ArrayLike | None = None,
    dq: ArrayLike | None = None,
    dv: ArrayLike | None = None,
    t: ArrayLike = 0.0,
    inputs: OrZero = None,
) -> AtState:
    """Exact derivatives by the parameters of the design that the dynamics was compiled for, at one state or at many.

    p         the design, (parameters,) or one for each state, (B, parameters); that of the model unless given
    dq, dv    derivatives of the state, (nq, parameters) and (nv, parameters), or (B, ...): then the results are total
              derivatives; partial ones at the same q and v unless given, also where the loops are not closed
    """
    design = design_of(dyn)
    if dyn.planned.variant is not None:
        raise StateError(
            "the variants in Python have no derivatives: compile coordinate_reduction without a variant, whose are the same"
        )
    rows, batched = dyn.checked({"q": q, "v": v, "tau": tau})
    states, count = len(rows["q"]), len(design.names)
    design_p = None if p is None else design.values(p)
    if design_p is not None and design_p.ndim == 2:
        rows, states, batched = _for_each_design(rows, states, batched, len(design_p)), max(states, len(design_p)), True
    along: dict[str, Array] = {}
    if dq is not None or dv is not None:
        sizes = {"q": dyn.model.nq, "v": dyn.model.nv}
        given = {"q": dq, "v": dv}
        along = {name: state_tangents(f"d{name}", given[name], states, sizes[name], count) for name in sizes}
    return AtState(dyn, rows, along, design_p, t, inputs, batched)


def acceleration_at(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, tau: OrZero, p: ArrayLike, t: ArrayLike, inputs: OrZero, status: Any = None
) -> Array:
    """dv/dt of a design p, or of one design for each state."""
    design = design_of(dyn)
    rows, batched = dyn.checked({"q": q, "v": v, "tau": tau})
    values = design.values(p)
    if values.ndim == 2:
        rows, batched = _for_each_design(rows, len(rows["q"]), batched, len(values)), True
    if batched:
        of_lanes = dyn.at_designs(design.rows(values, dyn.plan)[0], every=len(rows["q"]) if values.ndim == 1 else 1)
        return of_lanes.evaluate(dyn.program, rows, t, inputs, status)
    data = design_data(dyn.plan, design.arrays(values, dyn.plan))
    found = values_at(dyn, dyn.program, rows, data, t, inputs)["a"]
    if not np.isfinite(found).all():
        raise dyn.refusal(rows)
    return found[0]


def design_of(dyn: Evaluation) -> Design:
    design = dyn.planned.design
    if design is None:
        raise StateError(
            "the dynamics was compiled without a design: name what may change, design = bc.Design(model, [...]), and compile "
            "with bc.compile(model, design=design)"
        )
    return design


def _for_each_design(rows: dict[str, Array], states: int, batched: bool, designs: int) -> dict[str, Array]:
    if batched and states != designs and states != 1:
        raise StateError(f"p has {designs} designs, and there are {states} states: give one for each")
    return {name: np.ascontiguousarray(np.broadcast_to(x, (designs, x.shape[1]))) for name, x in rows.items()}


def state_tangents(name: str, given: ArrayLike | None, states: int, size: int, count: int) -> Array:
    """Given derivatives of a state, (states or 1, size, parameters)."""
    if given is None:
        return np.zeros((1, size, count))
    x = as_numbers(name, given)
    if x.shape not in ((size, count), (states, size, count)):
        raise StateError(f"{name} has shape {x.shape}; give ({size}, {count}), or ({states}, {size}, {count})")
    if not np.isfinite(x).all():
        raise StateError(f"{name} is not finite")
    return np.ascontiguousarray(x.reshape(-1, size, count))
