"""Sizes of a run's memory in machine code: what follows from the plan, the method, and the number of lanes.

A state is y = (q, v, works), or (q, p, works) where the kernel takes momenta. For one state each part is padded to whole
vectors of VECTOR numbers; with lanes every number is a vector of these, and there are no works. Anchors of friction that holds
come last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...integrate import RungeKutta
from ...model import Model
from ...model.manifold import scalar_coordinates, turning_joints
from ...plan import Plan
from ..arrays import plan_counts
from ..nodes.walk import block_width
from .cuts.corners import NEVER
from .cuts.known import Anchors, Surfaces, known_anchors, known_surfaces
from .implicit.kept_rows import count_of_rows, is_closed_midpoint
from .programs import DIRECTIONS, takes_momenta

Array = NDArray[np.float64]

VECTOR = 4  # doubles in a vector
TURNING = ("attitude", "spin", "position", "push")  # places in y of g, mu, x, l; the last two are -1 without a position


@dataclass(frozen=True)
class Layout:
    """Sizes of a run's memory."""

    plan: Plan
    called: dict[str, Program]
    method: RungeKutta
    lanes: int
    samples: int
    corners: int = 0
    parameters: int = 0  # by which the state is differentiated
    log: int = 0  # accepted steps that are written down before the host takes them over
    number: Any = np.float64  # a numpy type; other numbers than doubles take their steps in Python
    neighbours: int = VECTOR  # numbers of one state that stand in a vector
    grid: int = 0  # times at which samples could be taken in lanes of fixed steps

    @property
    def tangents(self) -> int:
        """Tangents of a chunk."""
        return self.called["kernel"].tangents

    @property
    def way(self) -> int:
        """Tangents of the openings along the motion."""
        return self.called["openings_along"].tangents if "openings_along" in self.called else 0

    @property
    def tangent_chunks(self) -> int:
        return -(-self.parameters // self.tangents) if self.tangents else 0

    @property
    def tangent_block(self) -> int:
        """Doubles of the tangents of a state, of one chunk."""
        return (self.model.nq + self.model.nv) * self.tangents

    @property
    def vector(self) -> int:
        """Doubles of a vector: of the lanes, or of neighbours in one state."""
        return self.lanes if self.lanes > 1 else self.neighbours

    def padded(self, count: int) -> int:
        """Doubles that so many numbers take, in whole vectors."""
        return (count if self.lanes > 1 else -(-count // self.vector)) * self.vector

    @property
    def model(self) -> Model:
        return self.plan.model

    @cached_property
    def counts(self) -> dict[str, int]:
        return plan_counts(self.plan)

    @cached_property
    def works(self) -> tuple[int, int, int]:
        """How many works there are of force elements, drives and driven closures; that of given efforts comes last."""
        model = self.model
        if self.lanes > 1 or self.tangents or self.log:
            return 0, 0, 0
        drives = sum(joint.nv for joint, driven in zip(model.joints, model.driven, strict=True) if driven)
        return len(model.elements), drives, len(model.closures) if self.plan.loads.closing.driven else 0

    @cached_property
    def v_start(self) -> int:
        return self.padded(max(self.model.nq, self.model.nv))  # displacements have the size of v (implicit/newton.py)

    @cached_property
    def w_start(self) -> int:
        return self.v_start + self.padded(self.model.nv)

    @cached_property
    def anchor_start(self) -> int:
        return self.w_start + (self.padded(sum(self.works) + 1) if self.lanes == 1 else 0)

    @cached_property
    def state(self) -> int:
        """Doubles of a state."""
        return self.t_start + self.tangent_chunks * self.tangent_block

    @property
    def t_start(self) -> int:
        return self.anchor_start + self.padded(len(self.anchors.places))

    @property
    def log_row(self) -> int:
        """Doubles that are written down of an accepted step: machine.adjoint.log."""
        slopes = len(self.method.c) * len(self.method.parts) if self.method.implicit else 0
        return VECTOR + self.w_start * (1 + slopes) + self.padded(self.kept_rows) * (1 + 2 * len(self.method.parts))

    @property
    def watched_rows(self) -> int:
        """How many rows the projection leaves for the watch: the closures' equations, and those that make nodes agree."""
        return self.counts["watched_rows"]

    @cached_property
    def row_width(self) -> int:
        """How many entries these rows have."""
        return self.model.nv if self.plan.nodes is None else block_width(self.plan)

    @cached_property
    def quaternions(self) -> NDArray[np.int64]:
        """Places of quaternions in q."""
        return np.array([at.quaternion.start for at in turning_joints(self.model)], dtype=np.int64)

    @cached_property
    def anchors(self) -> Anchors:
        return known_anchors(self.model)

    @cached_property
    def surfaces(self) -> Surfaces:
        """The surfaces; those of v only where v is integrated, and not p."""
        places, limits = known_surfaces(self.model, distinct=not self.plan.lane_designs)
        kept = places < (self.model.nq if takes_momenta(self.called) else np.inf)
        return Surfaces(places[kept], limits[kept])

    @cached_property
    def surface_places(self) -> NDArray[np.int64]:
        """Places in a state, where v begins with a vector of its own."""
        places, nq = self.surfaces.places, self.model.nq
        return np.where(places < nq, places, places - nq + self.v_start // self.lanes)

    @cached_property
    def gates(self) -> Array:
        return self.gates_of(np.tile(self.surfaces.limits, (self.lanes, 1)))

    def gates_of(self, limits: Array) -> Array:
        """Limits of each lane (lanes, surfaces) laid out as q and v are: see cuts.surfaces."""
        nq, nv = self.model.nq, self.model.nv
        layers = np.stack([Surfaces(self.surfaces.places, own).gates(nq + nv, NEVER) for own in limits], axis=-1)
        wide = np.full((*layers.shape[:2], self.w_start), NEVER)
        for start, part in ((0, layers[:, :, :nq]), (self.v_start, layers[:, :, nq:])):
            rows = part.reshape(*part.shape[:2], part.shape[2] * self.lanes)
            wide[..., start : start + rows.shape[2]] = rows
        return wide

    @cached_property
    def v_place(self) -> int:
        """Numbers of a state before its speeds."""
        return self.v_start // self.lanes

    def split(self, rows: Array) -> tuple[Array, Array, Array]:
        """q, v and anchors of rows of states of lanes."""
        nq, nv, v = self.model.nq, self.model.nv, self.v_place
        return rows[..., :nq], rows[..., v : v + nv], rows[..., v + nv :]

    @cached_property
    def turning(self) -> NDArray[np.int64]:
        """Places of quaternion joints in a state, in the order of TURNING."""
        rows = [
            [at.quaternion.start, self.v_place + at.angular.start]
            + ([at.position.start, self.v_place + at.linear.start] if at.free else [-1, -1])
            for at in turning_joints(self.model)
        ]
        return np.array(rows, dtype=np.int64).ravel()

    @cached_property
    def scalars(self) -> NDArray[np.int64]:
        """Places in q and in v of the coordinates whose rate is their velocity, in pairs."""
        return np.array(scalar_coordinates(self.model), dtype=np.int64).T.ravel()

    # Newton's method (implicit/newton.py) -------------------------------------------------------------------------

    @cached_property
    def order(self) -> int:
        """Order of the matrices: displacements alone, or all of a state with momenta."""
        if not self.method.implicit:
            return 0
        return self.w_start if takes_momenta(self.called) else self.model.nv

    @property
    def closed_midpoint(self) -> bool:
        return is_closed_midpoint(self.plan, self.method)

    @cached_property
    def kept_rows(self) -> int:
        """How many equations of closures the midpoint rule for closed loops holds."""
        return count_of_rows(self.plan) if self.closed_midpoint else 0

    @property
    def kept_row_width(self) -> int:
        """Doubles of a row of G, in whole vectors."""
        return self.padded(self.model.nv) if self.closed_midpoint else 0

    @cached_property
    def matrices(self) -> int:
        """Real ones that are factored; a complex one counts twice. Parts of a step of equal length share them; closed loops
        have one, for the part at hand."""
        parts = 1 if self.closed_midpoint else len(set(self.method.parts))
        return len(self.method.c) * parts if self.method.implicit else 0

    @property
    def stage_rows(self) -> int:
        """Doubles of a state at each stage of an implicit method."""
        return len(self.method.c) * self.state if self.method.implicit else 0

    def seeds(self, count: int) -> int:
        """Doubles of what the kernel of tangents is given along with the state."""
        return count * DIRECTIONS if self.method.implicit else 0

    def of_a_lane(self, count: int) -> int:
        """Doubles of a part of the state, where it is copied out of a lane for the kernel of tangents."""
        return count if self.method.implicit and self.lanes > 1 else 0
