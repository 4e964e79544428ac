"""What can be asked of closed loops: errors and Jacobian of the closures, multipliers, reactions, projection."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import StateError
from ..formulations import QUANTITIES
from ..machine.steps.programs import MASS, MINIMUM_NORM, projections
from .closing_joints import closing_coordinates, closing_efforts
from .evaluation import Array, Evaluation
from .minimum_norm import least_multipliers, shared_reactions

MOST_ENTRIES = 1_000_000  # of the Jacobian of all closures, for what needs it as a whole


class Blocks(NamedTuple):
    """Of every block of coordinate_reduction (or part of a large one): (nodes,), or (B, nodes).

    pivot     how far it is from losing an equation: the smallest part of an equation that is new, over the root of the sum of
              squares of all; 0 at a singular position
    error     largest error of the equations that close its loops, m or rad
    residual  what accelerations leave of the equations that were found redundant, m/s2 or rad/s2
    """

    pivot: Array
    error: Array
    residual: Array


class ClosedDynamics(Evaluation):
    """The half of Dynamics that is about closures; arguments and results as there."""

    def closure(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Array, Array]:
        """Errors of the equations that close the loops, and their rates: (m,) each, in the order of model.closure_index."""
        flat = self._evaluate(QUANTITIES["closure"], {"q": q, "v": v}, t)
        rows = flat.reshape(*flat.shape[:-1], self.plan.loads.closing.rows, 2)
        return rows[..., 0], rows[..., 1]

    def closing_coordinates(self, q: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """Coordinates of the joints that close loops, in the order of model.closing_names; angles between -pi and pi."""
        return closing_coordinates(self.model, *self.poses(q, t=t))

    def closure_bias(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """gamma in G a = gamma, the equations that close the loops for accelerations; (m,)."""
        return self._evaluate(QUANTITIES["closure_right"], {"q": q, "v": v}, t)

    def closure_jacobian(self, q: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """G, the derivatives of the equations that close the loops with respect to velocities; (m, nv)."""
        flat = self._evaluate(QUANTITIES["closure_jacobian"], {"q": q, "v": None}, t)
        return flat.reshape(*flat.shape[:-1], self.plan.loads.closing.rows, self.model.nv)

    def multipliers(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
    ) -> Array:
        """Lagrange multipliers of the equations that close the loops: the force on the bodies is +G^T lambda; (m,).

        Where equations are redundant they are not unique, and those are given for which the reactions of all joints are of
        least norm (least.py), except by "coordinate_reduction" for models with more than MOST_ENTRIES entries in their
        Jacobian: there those of the closures alone are, or, in blocks that are taken apart, what it found redundant has none.
        """
        if self.plan.nodes is not None:
            return self._block_multipliers({"q": q, "v": v, "tau": tau}, t, inputs)
        given = {"q": q, "v": v, "tau": tau}
        flat = self._evaluate(QUANTITIES["multipliers"], given, t, inputs)
        rows = flat.reshape(*flat.shape[:-1], self.plan.loads.closing.rows, 3)
        return least_multipliers(self, rows[..., 0], (rows[..., 1] > 0).sum(axis=-1), given, t, inputs)

    def _block_multipliers(self, given: dict[str, Any], t: ArrayLike, inputs: ArrayLike | None) -> Array:
        """Through the nodes, in linear time."""
        nodes = self.plan.nodes
        assert nodes is not None
        a = self._evaluate(self._program, given, t, inputs)
        found = self._evaluate(QUANTITIES["block_multipliers"], given | {"a": a}, t, inputs)
        if found.shape[-1] * self.model.nv > MOST_ENTRIES:
            return found
        return least_multipliers(self, found, np.full(found.shape[:-1], nodes.rank), given, t, inputs)

    def closure_pivots(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """How much each equation adds to those before it, as a part of what it could; 0 for a redundant one; (m,)."""
        flat = self._evaluate(QUANTITIES["multipliers"], {"q": q, "v": v, "tau": None}, t)
        return flat.reshape(*flat.shape[:-1], self.plan.loads.closing.rows, 3)[..., 1]

    def blocks(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
    ) -> Blocks:
        """How the blocks of coordinate_reduction are at a state, or at each of many."""
        if self.plan.nodes is None:
            raise StateError(f"blocks are those of formulation 'coordinate_reduction', not of {self.formulation!r}")
        given = {
            "q": np.atleast_2d(q),
            "v": np.atleast_2d(v),
            "tau": tau,
        }  # a batch: it does not raise where a block is singular
        flat = self._evaluate(QUANTITIES["blocks"], given, t, inputs)
        rows = flat.reshape(len(flat), self.plan.nodes.count, 3)
        rows = rows if np.ndim(q) > 1 or np.ndim(v) > 1 else rows[0]
        return Blocks(np.sqrt(np.maximum(np.nan_to_num(rows[..., 0]), 0.0)), rows[..., 1], rows[..., 2])

    def closure_reactions(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
        axes: Literal["world", "child"] = "world",
    ) -> Array:
        """Wrench on the second body of each closure, a joint's child, at its point: force, then moment; (c, 6).

        In the world's axes or the child's. That of a driven joint has the effort of its drive in it.
        """
        world = self.closure_wrenches(q, v, self.multipliers(q, v, tau, t=t, inputs=inputs), t=t)
        return self._in_axes(world, axes, q, t, [closure.body_b for closure in self.model.closures])

    def closure_wrenches(self, q: ArrayLike, v: ArrayLike, multipliers: Array, *, t: ArrayLike = 0.0) -> Array:
        """The same for given multipliers, in world axes."""
        rows = self._closing(q, v, multipliers, t)
        world = rows[..., :6].reshape(*rows.shape[:-1], 2, 3) @ self._frames.G_rotation.T
        return np.asarray(world.reshape(*rows.shape[:-1], 6))

    def shared_reactions(self, q: ArrayLike, *, t: float = 0.0) -> tuple[str, ...]:
        """Joints and closures whose reactions are not unique, since loops have redundant equations; at one state.

        What is redundant can share a load in many ways: reactions, closure_reactions and multipliers give the one in which
        the reactions of all joints are of least norm. For models with more than MOST_ENTRIES entries in their Jacobian all
        joints are named.
        """
        m = int(self.model.closure_index[-1])
        if self.plan.nodes is not None:
            rank = self.plan.nodes.rank
        else:
            rank = int((self.closure_pivots(q, np.zeros(self.model.nv), t=t) > 0).sum()) if m else 0
        if rank == m or self.model.nv == 0:
            return ()
        if m * self.model.nv > MOST_ENTRIES:
            return (*self.model.joint_names, *(closure.name for closure in self.model.closures))
        return shared_reactions(self, rank, q, t)

    def closure_efforts(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
    ) -> Array:
        """Efforts that keep driven closures going: forces of rods, efforts of joints, along what their laws prescribe."""
        given: dict[str, Any] = {"t": t, "inputs": inputs}
        wrenches = self.closure_reactions(q, v, tau, **given)
        return closing_efforts(self.model, *self.poses(q, t=t), wrenches, self.multipliers(q, v, tau, **given))

    def closure_powers(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
    ) -> Array:
        """Power that each closure brings; nothing unless it is driven; (c,)."""
        return self._closing(q, v, self.multipliers(q, v, tau, t=t, inputs=inputs), t)[..., 6]

    def _closing(self, q: ArrayLike, v: ArrayLike, multipliers: Array, t: ArrayLike) -> Array:
        flat = self._evaluate(QUANTITIES["closing_reactions"], {"q": q, "v": v, "lambda": multipliers}, t)
        return flat.reshape(*flat.shape[:-1], len(self.model.closures), 7)

    def projected(
        self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0, steps: int = 1, metric: str = MINIMUM_NORM
    ) -> tuple[Array, Array]:
        """The state moved onto the closures by the smallest change, by steps of Newton's method.

        Smallest in the norm of the coordinates ("minimum_norm", lengths scaled) or in that of the kinetic energy ("mass").
        """
        if metric not in (MINIMUM_NORM, MASS):
            raise StateError(f"metric is {metric!r}: use {MINIMUM_NORM!r} or {MASS!r}")
        q, v = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
        programs = projections(metric, self.plan)
        for _ in range(steps):
            q = q + self.rates(q, self._evaluate(programs["positions"], {"q": q, "v": v}, t))
        return q, v + self._evaluate(programs["velocities"], {"q": q, "v": v}, t)

    def least_change(self, q: ArrayLike, *, t: ArrayLike = 0.0, metric: str = MINIMUM_NORM) -> Array:
        """The smallest displacement, as a velocity for unit time, that closes the loops to first order; (nv,)."""
        return self._evaluate(projections(metric, self.plan)["positions"], {"q": q, "v": None}, t)
