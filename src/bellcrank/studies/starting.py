"""The first state of a run as a function of a design, and its derivatives.

What the model's file, or the caller, gives keeps its value, which may itself depend on the design; the others follow, so that
the loops stay closed: G dq = -dPhi/dp, and for velocities the rate of that. Where the loops leave more freedom than is given,
the others move as little as they can, in the metric of the kinetic energy. Velocities are the smallest change y of the given,

    M y + A^T lambda = 0,   A y = r,   A = G B,   B the velocities that are not given

and so the derivative has, besides the smallest dy that corrects the rates, a part N z along N, the motions that loops leave:

    N^T M N z = -N^T (dM y + dA^T lambda)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..assembly.loops import HeldCoordinates, Loops
from ..assembly.minimum_norm import smallest_changes
from ..assembly.newton import metric
from ..assembly.start import start_of
from ..dynamics.derivatives.by_design import design_of
from ..dynamics.differentiation import Changes, derivatives
from ..dynamics.dynamics import Dynamics
from ..dynamics.transposition import adjoint
from ..errors import DynamicsError, warn
from ..formulations import QUANTITIES
from ..model.manifold import rate_matrix, turning_joints
from ..spatial.rank import null_space

Array = NDArray[np.float64]

UNCHANGED = 1e-12  # of the velocities
MISSED = 1e-6  # of the typical length, for a change by all of a parameter: more than this is not rounding


def first_tangents(
    dynamics: Dynamics, start: dict[str, Array], given: dict[str, Any], changes: Changes, written: Mapping[str, Array]
) -> tuple[Array, Array]:
    """dq and dv of the first state, (nq, parameters) and (nv, parameters).

    ``given``: what the caller said of q and v; ``written``: derivatives of the start as the model's file has it.
    """
    model, count = dynamics.model, changes.parameters
    dq = _written(written.get("given_q"), given["q"], model.nq, count)
    dv = _written(written.get("given_v"), given["v"], model.nv, count)
    if not model.closures:
        return dq, dv
    loops, q, t = Loops(dynamics), start["q"], float(start["t"])
    asked = start_of(dynamics, given["q"], given["v"], None)
    turned, basis = rate_matrix(model, q), held_basis(loops, asked.held, q)
    left = _left(dynamics, start, changes, dq, dv, 0)
    dq = dq + turned @ followed(loops, q, t, basis, left)
    if not isinstance(given["q"], np.ndarray | list | tuple):
        _warn_of_freedom(loops, q, t, basis, left)
    free = np.diag(loops.units)[:, ~asked.held_v]
    dv = dv + followed(loops, q, t, free, _left(dynamics, start, changes, dq, dv, 1))
    chosen = ChosenVelocities.at(loops, start, asked.v, free)
    return dq, dv if chosen is None else dv + chosen.along(dynamics, q, t, changes, dq)


@dataclass(frozen=True)
class ChosenVelocities:
    """Velocities that were chosen as the smallest change, among those with which the loops stay closed."""

    loops: Loops
    B: Array  # velocities that are not given, in units of their own
    y: Array
    M: Array
    A: Array
    N: Array

    @classmethod
    def at(cls, loops: Loops, start: dict[str, Array], given: Array, B: Array) -> ChosenVelocities | None:
        """None where there was nothing to choose."""
        q, t, y = start["q"], float(start["t"]), B.T @ ((start["v"] - given) / loops.units**2)
        if loops.model.kinematic or np.abs(y).max(initial=0.0) <= UNCHANGED * np.abs(start["v"]).max(initial=0.0):
            return None
        A = loops.G(q, t) @ B
        N = null_space(A, loops.tolerance)
        return cls(loops, B, y, metric(loops, q, B, t), A, N) if N.shape[1] else None

    def along(self, dynamics: Dynamics, q: Array, t: float, changes: Changes, dq: Array) -> Array:
        """Derivatives of that choice, (nv, parameters)."""
        nv, count, zero = self.loops.model.nv, changes.parameters, np.zeros((1, self.loops.model.nv))
        rows, along = {"q": q[None], "v": zero}, {"q": dq[None], "v": np.zeros((1, nv, count))}

        def changed(name: str, output: str) -> Array:
            program = QUANTITIES[name]
            seeds = {x: along[x] for x in along if x in program.inputs}
            how = Changes(count, seeds, changes.tangents, changes.data)
            given = {x: rows[x] for x in rows if x in program.inputs}
            return derivatives(dynamics, program, given, how, t)[output].along[0].reshape(-1, nv, count)

        dM, dG = changed("mass_matrix", "M"), changed("closure_jacobian", "G")
        momenta = np.einsum("ijp,j->ip", dM, self.B @ self.y) + np.einsum("rjp,r->jp", dG, self.pulls)
        return -self.freed(momenta)

    def back(self, dynamics: Dynamics, q: Array, t: float, bar_v: Array) -> tuple[Array, list[dict[str, Array]]]:
        """The transpose of ``along``: adjoints of q, (nq,), and of the data, from that of v."""
        rows, bar_q, data = {"q": q[None], "v": np.zeros((1, self.loops.model.nv))}, np.zeros(len(q)), []
        pushed = -self.freed(bar_v)
        seeds = {
            "mass_matrix": {"M": np.outer(pushed, self.B @ self.y)},
            "closure_jacobian": {"G": np.outer(self.pulls, pushed)},
        }
        for name, seed in seeds.items():
            of = {output: x.reshape(1, -1) for output, x in seed.items()}
            found = adjoint(dynamics, QUANTITIES[name], rows, of, ("q",), t)
            bar_q += found.inputs["q"][0]
            data.append(found.data)
        return bar_q, data

    @property
    def pulls(self) -> Array:
        """lambda, of the equations as they stand, (m,)."""
        return np.asarray(np.linalg.lstsq(self.A.T, -self.M @ self.y, rcond=None)[0] * self.loops.rows)

    def freed(self, momenta: Array) -> Array:
        """B N (N^T M N)^-1 N^T B^T, which is symmetric: velocities by momenta, along the motions that the loops leave."""
        BN = self.B @ self.N
        return np.asarray(BN @ np.linalg.solve(self.N.T @ self.M @ self.N, BN.T @ momenta))


def _warn_of_freedom(loops: Loops, q: Array, t: float, B: Array, left: Array) -> None:
    """Positions that are not given and that the loops leave free have come there by a search, from the design position."""
    moved = np.abs(left * loops.rows[:, None]).max(initial=0.0) > MISSED * loops.length
    if moved and B.shape[1] and null_space(loops.G(q, t) @ B, loops.tolerance).shape[1]:
        warn(
            f"the start of {loops.model.name!r}: its loops leave more freedom than [initial] gives. Derivatives are those of "
            "the smallest motion that keeps the loops closed; a changed model may start elsewhere: give more coordinates"
        )


def _written(along: Array | None, given: Any, size: int, count: int) -> Array:
    """Derivatives of what the model's file gives; what the caller gives does not depend on the design."""
    if along is None or given is not None:
        return np.zeros((size, count))
    return np.array(along)


def held_basis(loops: Loops, held: HeldCoordinates, q: Array) -> Array:
    if not any(at.free for at in turning_joints(loops.model)):
        return np.diag(loops.units)[:, ~held.v]
    return np.asarray(held.basis(q, loops.units).toarray())


def _left(dynamics: Dynamics, start: dict[str, Array], changes: Changes, dq: Array, dv: Array, which: int) -> Array:
    """The changes of the errors of the closures (0), or of their rates (1), with the parameters, (m, parameters)."""
    rows = {"q": start["q"][None], "v": start["v"][None]}
    along = Changes(changes.parameters, {"q": dq[None], "v": dv[None]}, changes.tangents, changes.data)
    return derivatives(dynamics, QUANTITIES["closure"], rows, along, float(start["t"]))["closure"].along[0, which::2]


def followed(loops: Loops, q: Array, t: float, B: Array, left: Array) -> Array:
    """The smallest displacements along columns of B that correct what is left of the equations, (nv, parameters)."""
    found, missed = smallest_displacements(loops, q, t, B, left)
    sizes = np.abs(left * loops.rows[:, None]).max(axis=0, initial=0.0)
    must_follow(loops, np.abs(missed).max(axis=0, initial=0.0), sizes)
    return found


def smallest_displacements(loops: Loops, q: Array, t: float, B: Array, left: Array) -> tuple[Array, Array]:
    """The same, unchecked, and what is left then, in units of the equations: (m, parameters)."""
    rows, scale = loops.G(q, t) @ B, loops.rows[:, None]
    if not B.shape[1]:
        return np.zeros((loops.model.nv, left.shape[1])), np.zeros_like(left)
    M = metric(loops, q, B, t) if not loops.model.kinematic else None
    found = smallest_changes(rows, -left * scale, M)
    return np.asarray(B @ found), rows @ found + left * scale


def must_follow(loops: Loops, missed: Array, sizes: Array) -> None:
    """For each parameter: what its change leaves open of the equations, and how large their change is."""
    if missed.max(initial=0.0) > MISSED * (loops.length + sizes.max(initial=0.0)):
        names = design_of(loops.dynamics).names
        raise DynamicsError(
            f"the start of {loops.model.name!r} has no derivative by {names[int(np.argmax(missed))]!r}: what is held there "
            "does not leave the loops free to follow a change of it. The start is at a dead centre, or too much is held; begin "
            "elsewhere, or hold less."
        )
