"""Every joint of a mechanism, of the tree or closing a loop, as equations between two bodies that move freely otherwise.

Source: Huang et al. (22)-(33) as corrected in EQUATIONS 5.1 and 5.2. Each equation is bilinear in two vectors u and w,

    phi = u . w - value    or    phi = b . (u x w)

u is the way x from the joint's point on a to that on b, or an axis fixed to a; w is x, an axis fixed to b or one of the world.

joint           equations, z the joint's axis, b two directions normal to z on a
spherical       x . e_k                                                       (22), (23)
parallel axes   b . (z_a x z_b)       two rows of (27), which has rank two
on the axis     b . (z_a x x)         two rows of (31)
no turn         x_a . y_b                                                     (33)

Only directions that a joint forbids have a reaction: EQUATIONS 5.2, item 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...constraints import Frame, Given, Law
from ...errors import StateError
from ...joints import closing_equations
from ...model import Closure, Model
from ...plan.closures import closing_axes
from ...spatial import Matrix, Vector
from ...spatial.vector import ZERO
from ...wording import argument
from .maximal import apply, cross

Array = NDArray[np.float64]
Ints = NDArray[np.intp]

# Places in the pool of vectors of a tie: x, axes of a, axes of b, axes of the world.
X = 0
A, B, WORLD = (1, 2, 3), (4, 5, 6), (7, 8, 9)

Row = tuple[int, int, int]  # u, w, and b or -1

PRODUCTS = [*((X, e) for e in WORLD), (X, X), *((a, w) for a in A for w in (X, *B))]


def rows_of(kind: str) -> list[Row] | None:
    """The closing equations of a kind of joint or tie, each the product of two vectors; None if one is not, as of a screw.

    Which two is seen in numbers. A pair that holds w across a's x and y stands for two rows of z x w.
    """
    if kind == "coupler":
        return None
    pools = np.random.default_rng(3).normal(size=(3, 10, 3))
    products = {pair: np.abs((pools[:, pair[0]] * pools[:, pair[1]]).sum(1)) for pair in PRODUCTS}
    found = []
    for errors in np.abs([_errors(kind, pool) for pool in pools]).T:
        same = [pair for pair, values in products.items() if np.abs(errors - values).max() < 1e-12]
        if not same:
            return None
        found += same
    return [(A[2], w, u) if u in A[:2] and {(A[0], w), (A[1], w)} <= set(found) else (u, w, -1) for u, w in found]


def _errors(kind: str, pool: Array) -> list[float]:
    """The closing equations, which should be zero, where the vectors of a tie are those of the pool."""

    def columns(places: tuple[int, int, int]) -> Matrix:
        return Matrix(*[Vector(*row) for row in pool[list(places)].T.tolist()])

    i, j = Frame(columns(A), ZERO, ZERO, ZERO), Frame(columns(B), Vector(*pool[X].tolist()), ZERO, ZERO)
    return [equation.error for equation in closing_equations(kind, i, j, Given(columns(WORLD), Law(0.0), 1.0))]


class PlacedBodies(NamedTuple):
    """The vectors of all ties (k, 10, 3), and the arms from the bodies' centres to the joints' points (k, 3)."""

    pool: Array
    arm_a: Array
    arm_b: Array


class Wrenches(NamedTuple):
    """Wrenches of the equations, at the bodies' centres in world axes: force on b (on a the opposite), moments; (m, 3)."""

    force: Array
    moment_a: Array
    moment_b: Array


@dataclass(frozen=True)
class Ties:
    """Bodies are rows, n = ground; points are given from the bodies' centres, in body axes."""

    names: tuple[str, ...]
    a: Ints
    b: Ints
    point_a: Array
    point_b: Array
    axes: Array  # (k, 3, 3) columns, on both bodies
    tie: Ints  # of each row
    u: Ints
    w: Ints
    across: Ints  # b, or -1
    value: Array
    scale: Array  # makes rows comparable: lengths
    first: Ints  # row of each tie, and the number of rows

    def placed(self, r: Array, R: Array) -> PlacedBodies:
        """The ties at the bodies' centres r (n + 1, 3) and axes R (n + 1, 3, 3), ground last."""
        arm_a, arm_b = apply(R[self.a], self.point_a), apply(R[self.b], self.point_b)
        pool = np.empty((len(self.a), 10, 3))
        pool[:, X] = r[self.b] + arm_b - r[self.a] - arm_a
        pool[:, A] = np.swapaxes(R[self.a] @ self.axes, 1, 2)
        pool[:, B] = np.swapaxes(R[self.b] @ self.axes, 1, 2)
        pool[:, WORLD] = np.eye(3)
        return PlacedBodies(pool, arm_a, arm_b)

    def errors(self, at: PlacedBodies, pool: Array | None = None) -> Array:
        """phi of all rows, in metres; with vectors u and w of another ``pool``."""
        given = at.pool if pool is None else pool
        u, w = given[self.tie, self.u], given[self.tie, self.w]
        return self.scale * ((u * self._with_b(at, w)).sum(1) - self.value)

    def _with_b(self, at: PlacedBodies, w: Array) -> Array:
        """w, or w x b: u . (w x b) = b . (u x w)."""
        b = at.pool[self.tie, self.across]
        return np.where((self.across >= 0)[:, None], cross(w, b), w)

    def wrenches(self, at: PlacedBodies, pool: Array | None = None) -> Wrenches:
        """Rows of the Jacobian; with vectors u and w of another ``pool``, but the arms and axes that turn of ``at``."""
        given = at.pool if pool is None else pool
        u, w = given[self.tie, self.u], given[self.tie, self.w]
        b = at.pool[self.tie, self.across]
        along_u, along_w = self._with_b(at, w), np.where((self.across >= 0)[:, None], cross(b, u), u)
        along_u, along_w = self.scale[:, None] * along_u, self.scale[:, None] * along_w
        ways = (self.u == X)[:, None], (self.w == X)[:, None], (self.w >= B[0])[:, None] & (self.w <= B[2])[:, None]
        force = np.where(ways[0], along_u, 0.0) + np.where(ways[1], along_w, 0.0)
        turned_a = np.where(ways[0], 0.0, cross(at.pool[self.tie, self.u], along_u))
        turned_b = np.where(ways[2], cross(at.pool[self.tie, self.w], along_w), 0.0)
        moment_a = turned_a - cross(at.arm_a[self.tie], force)
        return Wrenches(force, moment_a, turned_b + cross(at.arm_b[self.tie], force))

    def reactions(self, at: PlacedBodies, wrenches: Wrenches, multipliers: Array) -> Array:
        """Wrench on b at its point, force then moment; (k, 6)."""
        force, moment = np.zeros((2, len(self.a), 3))
        np.add.at(force, self.tie, multipliers[:, None] * wrenches.force)
        np.add.at(moment, self.tie, multipliers[:, None] * wrenches.moment_b)
        return np.hstack([force, moment - cross(at.arm_b, force)])

    def names_of(self, share: Array, least: float = 0.1) -> tuple[str, ...]:
        """Ties that have more than a small share in a vector over the rows."""
        parts = np.zeros(len(self.a))
        np.add.at(parts, self.tie, share**2)
        return tuple(name for name, x in zip(self.names, parts, strict=True) if x > least**2 * parts.max())


def all_ties(model: Model, length: float) -> Ties:
    """Joints of the tree in the model's order, then the closures."""
    refuse(model)
    closures = [*_tree(model), *model.closures]
    center = np.vstack([model.center, np.zeros(3)])
    a, b = (np.array([getattr(c, end) for c in closures], dtype=np.intp) for end in ("body_a", "body_b"))
    of_kind = {kind: rows_of(kind) or [] for kind in {_kind(c) for c in closures}}
    rows = [(k, *row) for k, c in enumerate(closures) for row in of_kind[_kind(c)]]
    tie, u, w, across = (
        (np.array(column, dtype=np.intp) for column in zip(*rows, strict=True)) if rows else np.zeros((4, 0), int)
    )
    values = [0.0 if c.joint is not None else c.value**2 if c.kind == "distance" else c.value for c in closures]
    return Ties(
        names=tuple(c.name for c in closures),
        a=np.where(a < 0, model.n, a),
        b=np.where(b < 0, model.n, b),
        point_a=np.array([c.point_a for c in closures]) - center[a],
        point_b=np.array([c.point_b for c in closures]) - center[b],
        axes=np.array([closing_axes(c) for c in closures]),
        tie=tie,
        u=u,
        w=w,
        across=across,
        value=np.array(values)[tie],
        scale=np.array([_scale(closures[k], (i, j), length) for k, i, j, _ in rows]),
        first=np.cumsum([0, *(len(of_kind[_kind(c)]) for c in closures)]).astype(np.intp),
    )


def _kind(closure: Closure) -> str:
    return closure.kind if closure.joint is None else closure.joint.kind


def _scale(closure: Closure, vectors: tuple[int, int], length: float) -> float:
    if closure.kind == "distance":
        return 1 / (2 * closure.value)
    return 1.0 if X in vectors else length


def _tree(model: Model) -> Iterator[Closure]:
    for i, joint in enumerate(model.joints):
        yield Closure(model.joint_names[i], "joint", model.parents[i], i, tuple(model.position[i]), joint=joint)


def refuse(model: Model) -> None:
    """Refuses what this method cannot do, in the user's names."""
    instead = f"use {argument('method', 'rattle')}"
    if model.state_places:
        raise StateError(
            f'reaction_taylor does not support user-defined states, and "{model.state_names[0]}" is one: {instead}'
        )
    for closure in [*_tree(model), *model.closures]:
        if rows_of(_kind(closure)) is None:
            raise StateError(f'reaction_taylor does not support {_kind(closure)}, and "{closure.name}" is one: {instead}')
    for name, driven in [*zip(model.joint_names, model.driven, strict=True), *((c.name, c.motion) for c in model.closures)]:
        if driven:
            raise StateError(f'reaction_taylor does not support prescribed motions, and "{name}" has one: {instead}')
    if model.armature.any():
        name = model.v_names[int(np.flatnonzero(model.armature)[0])]
        raise StateError(f'reaction_taylor does not support armature, and "{name}" has {model.armature.max():g}: {instead}')
    for name, mass in zip(model.body_names, model.mass, strict=True):
        if not mass > 0:
            raise StateError(f'reaction_taylor moves every body by itself, and "{name}" has no mass: {instead}')
