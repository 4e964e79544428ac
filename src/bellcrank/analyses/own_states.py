"""Positions of rest with user-defined states: positions and states at which nothing accelerates and no state changes.

    F(d, z) = (accelerations, rates) = 0        d displacements that the loops allow, z the states

by Newton's method. Of a step so much is taken as makes the next one shorter, a test that depends on no unit of an equation
(after P. Deuflhard, Newton Methods for Nonlinear Problems, 3.3; with the matrix there, since formulas may have kinks), and all
of it a few times where no part does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import DynamicsError
from ..kernels.threads import interruptible
from ..wording import argument, counted
from .linear import Matrices, state_matrices
from .stiffness import Conditions
from .ties import Ties

Array = NDArray[np.float64]

EXACT = 1e-12  # of a step, beside 1 and the size of the state
PARTS = 0.5 ** np.arange(10)
JUMPS = 8  # steps that make the next one longer
UNSOLVED = 1e-8  # of an equation, beside the terms that it has
LONGEST_TURN = 1.0  # rad or m in one step
GROWING = 1e-9  # of the largest root: what is less is rounding


class Rest(NamedTuple):
    q: Array
    v: Array  # zero but for the states
    residual: Array  # accelerations and rates that are left
    unstable: tuple[str, ...]
    iterations: int


def rest_with_states(dyn: Dynamics, q: Array, given: Conditions, most: int) -> Rest:
    """The position of rest, searched from q and from the states at the start."""
    model, ties = dyn.model, Ties(dyn, given.t)
    own = list(model.state_places)
    q, v = ties.start(q), np.zeros(model.nv)
    v[own] = model.given_v[own]
    jumps = 0
    for iteration in range(1, most + 1):
        F, about = _at(dyn, q, v, given)
        size = np.concatenate([np.ones(len(about.placed)), 1.0 + np.abs(v[own])])
        step = _step(about, own, F, size)
        if np.abs(step / size).max(initial=0.0) < EXACT:
            if _unsolved(about, own, F, size):
                break
            return Rest(q, v, F, _unstable(dyn, about), iteration)
        (q, v), shorter = _taken(dyn, ties, (q, v), given, about, step, size)
        jumps += not shorter
        if jumps > JUMPS:
            break
    worst = int(np.argmax(np.abs(F)))
    raise DynamicsError(
        f"model {model.name!r} found no equilibrium in {counted(iteration, 'step')}: {model.v_names[worst]!r} still changes at "
        f"{F[worst]:.4g} per second. Does a state integrate what never becomes zero? Else begin elsewhere ({argument('q0')})."
    )


def _at(dyn: Dynamics, q: Array, v: Array, given: Conditions) -> tuple[Array, Matrices]:
    F = dyn.acceleration(q, v, given.tau, t=given.t, inputs=given.inputs)
    return F, state_matrices(dyn, q, v, given)


def _columns(about: Matrices, own: list[int]) -> list[int]:
    """The columns of A for displacements and states, without those for velocities."""
    n = len(about.placed)
    return [*range(n), *(n + about.chosen.index(k) for k in own)]


def _scaled(about: Matrices, own: list[int], size: Array) -> tuple[Array, Array]:
    """The matrix with equations and unknowns of one size, and what its rows were divided by."""
    J = about.A[len(about.placed) :, _columns(about, own)] * size
    rows = np.abs(J).max(axis=1, initial=0.0)
    rows[rows == 0] = 1.0
    return J / rows[:, None], rows


def _unsolved(about: Matrices, own: list[int], F: Array, size: Array) -> bool:
    """Whether an equation is left that no unknown changes."""
    return bool((np.abs(F[about.chosen] / _scaled(about, own, size)[1]) > UNSOLVED).any())


def _step(about: Matrices, own: list[int], F: Array, size: Array) -> Array:
    """Displacements of the placed degrees of freedom, then changes of the states."""
    J, rows = _scaled(about, own, size)
    step = size * np.linalg.lstsq(J, -F[about.chosen] / rows, rcond=1e-12)[0]
    longest = np.abs(step[: len(about.placed)]).max(initial=0.0)
    return np.asarray(step * min(1.0, LONGEST_TURN / longest) if longest > 0 else step)


def _taken(
    dyn: Dynamics, ties: Ties, state: tuple[Array, Array], given: Conditions, about: Matrices, step: Array, size: Array
) -> tuple[tuple[Array, Array], bool]:
    """The state after the best part of a step, and whether the next step will be shorter."""
    (q, v), own, n = state, list(dyn.model.state_places), len(about.placed)
    displacement = about.C[: dyn.model.nv, :n]
    tried: list[tuple[float, int, tuple[Array, Array]]] = []
    for part in PARTS:
        new_q, new_v = ties.moved(q, displacement @ (part * step[:n])), v.copy()
        new_v[own] += part * step[n:]
        F = None if new_q is None else dyn.acceleration(new_q[None], new_v[None], given.tau, t=given.t, inputs=given.inputs)[0]
        if F is None or new_q is None or not np.isfinite(F).all():
            continue
        following = _step(state_matrices(dyn, new_q, new_v, given), own, F, size)
        tried.append((float(np.linalg.norm(following / size)), len(tried), (new_q, new_v)))
        if tried[-1][0] <= (1 - part / 4) * np.linalg.norm(step / size):
            break
    if not tried:
        return state, False
    best = min(tried)
    shorter = bool(best[0] < (1 - 1e-3) * np.linalg.norm(step / size))
    return (best if shorter else tried[0])[2], shorter


def _unstable(dyn: Dynamics, about: Matrices) -> tuple[str, ...]:
    """The directions that move most along roots that grow."""
    roots, vectors = interruptible(np.linalg.eig, about.A)
    names = [dyn.model.v_names[k] for k in (*about.placed, *about.chosen)]
    away = np.flatnonzero(roots.real > GROWING * np.abs(roots).max(initial=0.0))
    return tuple(dict.fromkeys(names[int(np.argmax(np.abs(vectors[:, k])))] for k in away))
