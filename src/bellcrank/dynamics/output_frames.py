"""From the frames that the recursion runs in to those of the results: world axes, origins at the joints, the file's order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import Model
from ..plan import Plan

Array = NDArray[np.float64]


class OutputFrames:
    """K = (rotation, origin) of each body's computing frame in the user's body frame; G that of ground in the world."""

    def __init__(self, plan: Plan):
        place = np.argsort(plan.tree.order)
        self.K_rotation = plan.frames.rotation[place]
        self.K_origin = plan.frames.origin[place]
        self.G_rotation = plan.frames.ground_rotation
        self.G_origin = plan.frames.ground_origin
        self.model = plan.model
        self.drive_order = _drive_order(plan)

    def poses(self, raw: Array) -> tuple[Array, Array]:
        """Positions of the user's origins and rotations of the user's axes in the world, from rows r, R of each body."""
        rows = raw.reshape(*raw.shape[:-1], self.model.n, 12)
        R = rows[..., 3:].reshape(*rows.shape[:-1], 3, 3)
        rotations = self.G_rotation @ R @ np.swapaxes(self.K_rotation, -1, -2)
        origins = self.G_origin + rows[..., :3] @ self.G_rotation.T
        return origins - np.einsum("...ij,...j->...i", rotations, self.K_origin), rotations

    def drives(self, raw: Array) -> Array:
        """Efforts of the drives from the order of the walk to that of the file."""
        return raw[..., self.drive_order]

    def energy(self, raw: Array) -> tuple[Any, Any, Array, Array]:
        """Sums of the kinetic and potential energy, and both momenta, from rows T, U, P, L of each body."""
        rows = raw.reshape(*raw.shape[:-1], self.model.n, 8)
        lift = self.model.mass.sum() * (self.model.gravity @ self.G_origin)
        kinetic, potential = rows[..., 0].sum(axis=-1), rows[..., 1].sum(axis=-1) - lift
        linear = rows[..., 2:5].sum(axis=-2) @ self.G_rotation.T
        angular = rows[..., 5:].sum(axis=-2) @ self.G_rotation.T + np.cross(self.G_origin, linear)
        return kinetic, potential, linear, angular

    def reactions(self, raw_poses: Array, raw: Array, effort: bool) -> Array:
        """Wrenches of the parents on the children, moved from the computing origins to the joints' points."""
        positions, rotations = self.poses(raw_poses)
        rows = raw.reshape(*raw.shape[:-1], self.model.n, 12)
        chosen = rows[..., 6:] if effort else rows[..., :6]
        force, moment = chosen[..., :3] @ self.G_rotation.T, chosen[..., 3:] @ self.G_rotation.T
        arm = np.einsum("...ij,...j->...i", rotations, self.K_origin)
        wrenches = np.concatenate([force, moment + np.cross(arm, force)], axis=-1)
        return on_children(self.model, positions, rotations, wrenches)


def on_children(model: Model, positions: Array, rotations: Array, wrenches: Array) -> Array:
    """Wrenches on the bodies that joints carry, at their origins, as wrenches of the parents on the children.

    They differ for joints that are written from their far side, whose child is the inner body: there the opposite wrench
    acts, at the joint's point on that body.
    """
    rows = np.flatnonzero(model.turned)
    if not len(rows):
        return wrenches
    arm = (positions - joint_points(model, positions, rotations))[..., rows, :]
    force, moment = wrenches[..., rows, :3], wrenches[..., rows, 3:]
    wrenches = wrenches.copy()
    wrenches[..., rows, :] = -np.concatenate([force, moment + np.cross(arm, force)], axis=-1)
    return wrenches


def joint_points(model: Model, positions: Array, rotations: Array) -> Array:
    """The points at which reactions of the tree's joints are taken: on the child, as it is written; (..., n, 3)."""
    points = positions.copy()
    for row in np.flatnonzero(model.turned):
        inner, at = model.parents[row], model.position[row]
        points[..., row, :] = at if inner < 0 else positions[..., inner, :] + rotations[..., inner, :, :] @ at
    return points


def _drive_order(plan: Plan) -> NDArray[np.intp]:
    """The places in the walk's order of the driven degrees of freedom, which are in the file's order."""
    place = plan.tree.place
    order: list[int] = []
    for body, joint in enumerate(plan.model.joints):
        if plan.model.driven[body]:
            first = int(plan.loads.driven_index[place[body], 1])
            order += range(first, first + joint.nv)
    return np.array(order, dtype=np.intp)
