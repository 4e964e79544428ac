"""Linearization about a state: x' = x0' + A (x - x0) + B (u - u0),  y = y0 + C (x - x0) + D (u - u0).

x holds a displacement d (manifold.py) and the velocities; with the derivatives of the acceleration from dual numbers,

        [ Z      1     ]        [ 0        0          ]
    A = [              ]    B = [                     ]
        [ da/dd  da/dv ]        [ da/dtau  da/dinputs ]

Z is zero at rest and for all joints without a quaternion.

With closed loops the states are those of independent coordinates, S d and S v; the loops say the rest (ties.py):

    d = N y,  dv = N w + P y,      y' = S (dv + Z d),  w' = S (da/dd d + da/dv dv)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import DynamicsError, StateError
from ..extremes import in_our_errors
from ..kernels.threads import interruptible
from ..model import Model
from ..model.manifold import carried
from ..wording import did_you_mean
from .state import closed_state, compiled, conditions, position, vector
from .stiffness import Conditions
from .ties import Ties

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """A linear model of a mechanism near a state, with n degrees of freedom: nv of a tree, what loops leave of a closed one.

    A, B, C, D                 (2 n, 2 n), (2 n, inputs), (outputs, 2 n), (outputs, inputs)
    states                     "q of hinge": its displacement, along "ball.wx" for a quaternion; then "v of hinge"; then
                               user-defined states by their names, which add to the 2 n. With closed
                               loops only of independent coordinates; outputs may be of all
    inputs                     "tau of hinge", then the inputs of the model by their names
    outputs                    as asked for: "q of ...", "v of ...", "a of ...", and measures by their names
    rate                       (2 n,)  x' at the state itself; zero in equilibrium
    q, v                       the state
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    rate: Array
    q: Array
    v: Array

    @property
    def poles(self) -> NDArray[np.complex128]:
        """Eigenvalues of A in 1/s, slowest first."""
        values = interruptible(np.linalg.eigvals, self.A).astype(complex)
        return values[np.lexsort((values.imag, np.abs(values)))]

    def response(self, frequencies: ArrayLike) -> NDArray[np.complex128]:
        """Outputs over inputs at frequencies in Hz: C (s - A)^-1 B + D, s = 2 pi i f; shape (f, outputs, inputs)."""
        s = 2j * np.pi * np.atleast_1d(np.asarray(frequencies, dtype=float))
        found = [self.C @ np.linalg.solve(x * np.eye(len(self.A)) - self.A, self.B.astype(complex)) + self.D for x in s]
        return np.array(found, dtype=complex).reshape(len(s), *self.D.shape)

    def part(self, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None) -> StateSpace:
        """The linear model with only these inputs and outputs, in this order."""
        u = self.inputs if inputs is None else tuple(inputs)
        y = self.outputs if outputs is None else tuple(outputs)
        columns, rows = _places("input", u, self.inputs), _places("output", y, self.outputs)
        B, C, D = self.B[:, columns], self.C[rows], self.D[np.ix_(rows, columns)]
        return StateSpace(self.A, B, C, D, self.states, u, y, self.rate, self.q, self.v)

    def __repr__(self) -> str:
        return f"StateSpace({len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs)"


@in_our_errors(DynamicsError)
def linearize(
    model: Model,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    t: float = 0.0,
    outputs: Sequence[str] | None = None,
) -> StateSpace:
    """The linear model about a state, exact to rounding.

    q, v      the state; the model's start if not given
    tau, inputs, t   what acts there, and when
    outputs   names as "q of hinge", "v of hinge", "a of hinge", or "q", "v", "a" for all of these; measures, paths that every
              model has, "hinge.fx", and formulas over them; all q and v if not given

    A mechanism with closed loops is assembled first, if it does not close.
    """
    dyn = compiled(model)
    given = conditions(dyn, tau, inputs, t)
    at_q = None if q is None else position(dyn, q)
    at_q, at_v = closed_state(dyn, at_q, None if v is None else vector(dyn, "v", v), given.t)
    acceleration = dyn.acceleration(at_q, at_v, given.tau, t=given.t, inputs=given.inputs)
    about = state_matrices(dyn, at_q, at_v, given)
    names, moving = _names(model), model.nv - len(model.state_places)
    efforts = [*range(moving), *range(model.nv, about.B.shape[1])]
    wanted = ("q", "v") if outputs is None else [outputs] if isinstance(outputs, str) else outputs
    wanted = [name for one in wanted for name in names.get(one, (one,))]
    known = names["q"] + names["v"] + names["a"]
    measured = _measured(dyn, about, at_q, at_v, given, [name for name in wanted if name not in known], known)
    everything = StateSpace(
        A=about.A,
        B=about.B[:, efforts],
        C=np.vstack([about.C[:moving], about.C[model.nv :], measured[0]]),
        D=np.vstack([np.zeros((moving + model.nv, about.B.shape[1])), about.gains, measured[1]])[:, efforts],
        states=(*(names["q"][k] for k in about.placed), *(names["v"][k] for k in about.chosen)),
        inputs=names["tau"] + model.inputs,
        outputs=known + tuple(dict.fromkeys(name for name in wanted if name not in known)),
        rate=np.concatenate([at_v[about.placed], acceleration[about.chosen]]),
        q=at_q,
        v=at_v,
    )
    return everything.part(outputs=wanted)


def _names(model: Model) -> dict[str, tuple[str, ...]]:
    """Names of positions, velocities, accelerations and efforts; a user-defined state has its own name, and a rate."""
    moving = model.v_names[: model.nv - len(model.state_places)]
    found = {kind: tuple(f"{kind} of {name}" for name in moving) for kind in ("q", "v", "a", "tau")}
    return found | {
        "v": found["v"] + model.state_names,
        "a": found["a"] + tuple(f"{name}.rate" for name in model.state_names),
    }


def _measured(
    dyn: Dynamics, about: Matrices, q: Array, v: Array, given: Conditions, names: list[str], known: Sequence[str]
) -> tuple[Array, Array]:
    """C and D of measures."""
    names = list(dict.fromkeys(names))
    if not names:
        return np.zeros((0, about.C.shape[1])), np.zeros((0, about.B.shape[1]))
    _places("output", [name for name in names if " of " in name and not name.startswith("=")], known)
    J = dyn.measure_jacobians(q, v, given.tau, t=given.t, inputs=given.inputs, names=names)
    n = dyn.model.nv
    return J.dq @ about.C[:n] + J.dv @ about.C[n : 2 * n], np.hstack([J.dtau, J.dinputs])


class Matrices(NamedTuple):
    A: Array
    B: Array
    C: Array  # q, v and a of everything
    gains: Array  # (nv, inputs) of a
    N: Array
    chosen: list[int]  # degrees of freedom whose velocities are states, and user-defined states
    placed: list[int]  # those whose displacements are states too


def state_matrices(dyn: Dynamics, q: Array, v: Array, given: Conditions) -> Matrices:
    """About a state whose loops are closed."""
    model, ties = dyn.model, Ties(dyn, given.t)
    J = dyn.jacobians(q, v, given.tau, t=given.t, inputs=given.inputs)
    N, chosen = ties.basis(q), list(range(model.nv))
    if ties.any:
        chosen = ties.independent(q)
        N = N @ np.linalg.inv(N[chosen])
    P = ties.carried_velocities(q, v, N, chosen)
    n = len(chosen)
    zero, gains = np.zeros((model.nv, n)), np.hstack([J.dtau, J.dinputs])
    placed = [k for k in chosen if k not in model.state_places]
    kept = [*(chosen.index(k) for k in placed), *range(n, 2 * n)]
    displacement, velocity = np.hstack([N, zero])[:, kept], np.hstack([P, N])[:, kept]
    acceleration = J.dq @ displacement + J.dv @ velocity
    A = np.vstack([(velocity + carried(model, v) @ displacement)[placed], acceleration[chosen]])
    B = np.vstack([np.zeros((len(placed), gains.shape[1])), gains[chosen]])
    return Matrices(A, B, np.vstack([displacement, velocity, acceleration]), gains, N, chosen, placed)


def _places(what: str, wanted: Sequence[str], known: Sequence[str]) -> list[int]:
    for name in wanted:
        if name not in known:
            raise StateError(f"there is no {what} {name!r}{did_you_mean(name, known)}: use one of {', '.join(known)}")
    return [known.index(name) for name in wanted]
