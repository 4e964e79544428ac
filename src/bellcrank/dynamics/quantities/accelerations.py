"""Accelerations by the ways that Dynamics.acceleration chooses from: a direct call of machine code, or a variant in Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import BellcrankError, DynamicsError
from ...kernels.processor import lane_count
from ...model.spec.problems import names as named
from ...wording import argument
from ..evaluation import Array, Evaluation, OrZero

if TYPE_CHECKING:
    from ...papers.reduction.report import Reduced

DirectCall = Callable[..., bool]


def direct_call(dyn: Evaluation) -> tuple[DirectCall, tuple[str, ...]]:
    """f(q, v, tau, *extras, out), which declines by False, and the extras: of t and u, those that this model reads.

    Code that is not optimised waits until it is asked for, and variants need none: there the call declines always.
    """
    if _is_undetermined(dyn):
        return partial(require_determined, dyn), ()
    if dyn.optimisation == 0 or dyn.planned.variant is not None:
        return decline, ()
    kernel = dyn.kernel(dyn.program, 1)
    return kernel.single() or decline, kernel.program.inputs[3:]


def direct_batch(dyn: Evaluation) -> DirectCall:
    """A function that evaluates accelerations of rows of states, in lanes of machine code."""
    if _is_undetermined(dyn):
        return partial(require_determined, dyn)
    if dyn.optimisation == 0 or dyn.planned.variant is not None:
        return decline
    return dyn.kernel(dyn.program, lane_count()).many() or decline


def decline(*arguments: Any) -> bool:
    """Stands in place of a direct call, where there is none."""
    return False


def _is_undetermined(dyn: Evaluation) -> bool:
    return dyn.model.kinematic or bool(dyn.planned.undetermined)


def require_determined(dyn: Evaluation, *arguments: Any) -> bool:
    """Also in place of an acceleration: raises if no state determines it, since some joints move nothing that has mass."""
    model = dyn.model
    if dyn.planned.undetermined:
        raise DynamicsError(f"model {model.name!r} has no accelerations, and no runs: {dyn.planned.undetermined}.")
    if not model.kinematic:
        return False
    assert model.source is not None
    raise DynamicsError(
        f"model {model.name!r} has no accelerations, and no runs: it was loaded for kinematics, and the joints "
        f"{named(model.source.undetermined, 6)} move nothing that has mass. Give their bodies masses and load it without "
        f"{argument('massless', 'kinematics')} (in a .toml file: without undetermined in [source]). "
        "It can be assembled and driven."
    )


def by_variant(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, tau: OrZero, t: ArrayLike, inputs: OrZero, status: NDArray[Any] | None = None
) -> Array:
    """Accelerations by a variant of Critchley & Anderson's, state by state in Python; NaN where a batch has no answer."""
    given, batched = dyn.checked({"q": q, "v": v, "tau": tau})
    count = len(given["q"])
    states = zip(*given.values(), dyn.time_rows(t, count), dyn.input_rows(inputs, count), strict=True)
    if not batched:
        return np.asarray(reduced(dyn, *next(states)).a)
    rows, flags = np.full((count, dyn.model.nv), np.nan), np.zeros(count, dtype=int)
    for k, state in enumerate(states):
        try:
            rows[k] = reduced(dyn, *state).a
        except BellcrankError:
            flags[k] = 2 if all(np.isfinite(x).all() for x in state) else 1
    if status is not None:
        status[:] = flags
    return rows


def reduced(dyn: Evaluation, q: Array, v: Array, tau: Array, t: ArrayLike, inputs: Array) -> Reduced:
    """The accelerations of one state by a variant, with the coordinates that it took as dependent."""
    from ...papers.reduction import accelerate  # upward: the teaching variants are built on this layer

    variant = dyn.planned.variant
    assert variant is not None
    options: dict[str, Any] = {"dependents": variant.dependents, "fictitious": variant.fictitious}
    return accelerate(dyn.model, q, v, tau, t=float(np.ravel(t)[0]), inputs=inputs, variant=variant.name, **options)
