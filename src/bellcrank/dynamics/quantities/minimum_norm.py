"""Reactions of least norm, where equations are redundant and reactions not unique.

Multipliers u with G^T u = 0 are self-stresses: forces that the joints of a loop hold against each other, and that nothing
else feels. With lambda any multipliers, w the wrenches of *all* joints and closures, which are affine in the multipliers, and
C = dw/dlambda, those are taken for which

    sum over joints of |force|^2 + |moment|^2 / L^2  is least:    lambda + u,   |w + C u|^2 least with G^T u = 0

with every wrench taken at its joint's point, the effort of the joint included. L is the size of the mechanism in its design
position. The answer is then a property of the mechanism, and not of the joint at which a loop was cut.

Loops that share no joint do not feel each other. Small blocks of loops are treated one by one, for many states at once, with
u = N z, N the null space by singular values. Where a block is large, all of it is solved for as a sparse system,

    [C^T C   G ] [u ]   [-C^T w]
    [G^T   -eps] [nu] = [   0  ]      eps = rank_tolerance^2: weaker equations count as redundant.

The wrench of a closure loads the joints of its cycle only, so that C is sparse.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...model import Closure, Model
from ...model.order import ancestors, outward_order
from ...numbers.variable import as_array
from ...plan.closures import row_scales
from ...plan.nodes.blocks import find_blocks, make_graph
from ..evaluation import Array, Evaluation, OrZero
from ..output_frames import joint_points
from .forces import closure_wrenches, joint_wrenches

Index = NDArray[np.intp]

MOST_AT_ONCE = 10_000_000  # numbers of the matrices of the states that are treated together
LARGE = 30  # equations of a block that is solved for as a sparse system
TAKES_PART = 1e-6  # of the largest wrench of a self-stress, moments over L


class States(NamedTuple):
    """States (B, ...) in which multipliers are wanted; times (B,), inputs (B, inputs)."""

    q: Array
    v: Array
    tau: Array
    t: Array
    inputs: Array

    @classmethod
    def of(cls, dyn: Evaluation, given: dict[str, Any], t: ArrayLike, inputs: OrZero) -> States:
        rows, _ = dyn.checked(given)
        count = len(rows["q"])
        return cls(rows["q"], rows["v"], rows["tau"], dyn.time_rows(t, count)[:, 0], dyn.input_rows(inputs, count))


def eased(
    dyn: Evaluation, multipliers: Array, ranks: NDArray[np.int64], given: dict[str, Any], t: ArrayLike, inputs: OrZero
) -> Array:
    """The multipliers (..., m) for which the reactions of all joints are of least norm; ``ranks``: of G, of each state."""
    model, m = dyn.model, multipliers.shape[-1]
    if (ranks == m).all() or model.nv == 0:
        return multipliers
    flat, of_each = multipliers.reshape(-1, m).copy(), np.broadcast_to(ranks, multipliers.shape[:-1]).reshape(-1)
    states = States.of(dyn, given, t, inputs)
    part = max(1, MOST_AT_ONCE // (m * (model.nv + 6 * (model.n + len(model.closures)))))
    finite = np.isfinite(flat).all(axis=1)
    for rank in np.unique(of_each[finite]):
        places = np.flatnonzero(finite & (of_each == rank))
        for at in (places[k : k + part] for k in range(0, len(places), part)):
            stressed = Stressed(dyn, States(*(x[at] for x in states)))
            flat[at] += stressed.easing(stressed.wrenches(flat[at]), int(rank))
    return flat.reshape(multipliers.shape)


def loaded_by_self_stresses(dyn: Evaluation, rank: int, q: ArrayLike, t: float) -> tuple[str, ...]:
    """Names of the joints and closures that a self-stress loads at one state: their reactions are not unique."""
    model = dyn.model
    stressed = Stressed(dyn, States.of(dyn, {"q": q, "v": None, "tau": None}, t, None))
    sizes = stressed.loaded(rank)
    loaded = sizes > TAKES_PART * sizes.max(initial=0.0)
    for closure in (closure for k, closure in enumerate(model.closures) if loaded[model.n + k]):
        for action in closure.actions:  # bearings share what teeth share
            loaded[sorted(_inward(model, action.body_a) ^ _inward(model, action.body_b))] = True
    names = [*model.joint_names, *(closure.name for closure in model.closures)]
    return tuple(name for name, takes_part in zip(names, loaded, strict=True) if takes_part)


def _inward(model: Model, body: int) -> set[int]:
    """A body and all that carry it."""
    found = set()
    while body >= 0:
        found.add(body)
        body = int(model.parents[body])
    return found


class Stressed:
    """Self-stresses of a mechanism in B states, and what they add to the wrenches of its joints and closures (items)."""

    def __init__(self, dyn: Evaluation, states: States) -> None:
        self.dyn, self.model, self.states = dyn, dyn.model, states
        self.metric = np.repeat([1.0, size_of(self.model)], 3)
        self.scale = row_scales(self.model, dyn.plan.length)
        self.G = dyn.closure_jacobian(states.q, t=states.t) * self.scale[:, None]

    # --- the wrenches

    def wrenches(self, multipliers: Array) -> Array:
        """w (B, items, 6): forces, and moments over L; of couplers and gears their efforts, not what these do to bearings."""
        dyn, at, model = self.dyn, self.states, self.model
        a = dyn.evaluate(dyn.program, {"q": at.q, "v": at.v, "tau": at.tau}, at.t, at.inputs)
        coupled = [k for k, closure in enumerate(model.closures) if closure.kind == "coupler"]
        felt = multipliers.copy()
        felt[:, model.closure_index[coupled]] = 0.0
        tree = joint_wrenches(dyn, {"q": at.q, "v": at.v, "a": a, "lambda": felt}, at.t, at.inputs, effort=True)
        closing = closure_wrenches(dyn, at.q, at.v, multipliers, t=at.t)
        for k in coupled:
            closing[:, k] = 0.0
            closing[:, k, coupler_place(model, model.closures[k])] = multipliers[:, model.closure_index[k]]
        return np.concatenate([tree, closing], axis=1) / self.metric

    @cached_property
    def C(self) -> Array:
        """dw/dlambda (B, items, 6, m), for multipliers in the scaled units of G."""
        model, own = self.model, self._own()
        positions, rotations = self.dyn.poses(self.states.q, t=self.states.t)
        points = joint_points(model, positions, rotations)
        C = np.zeros((len(own), model.n + len(model.closures), 6, len(self.scale)))
        for k, closure in enumerate(model.closures):
            first, last = model.closure_index[[k, k + 1]]
            values = own[:, k, :, : last - first] * self.scale[first:last]
            C[:, model.n + k, :, first:last] = values
            if closure.kind == "coupler":
                continue
            b, at = closure.body_b, np.array(closure.point_b)
            at = at if b < 0 else positions[:, b] + rotations[:, b] @ at
            for joint, sign in _cycle(model, k):
                arm = np.broadcast_to(at, points[:, joint].shape) - points[:, joint]
                moments = values[:, 3:] + np.cross(arm[:, :, None], values[:, :3], axis=1)
                C[:, joint, :, first:last] = sign * np.concatenate([values[:, :3], moments], axis=1)
        C /= self.metric[:, None]
        return C

    def _own(self) -> Array:
        """(B, closures, 6, 6): the wrench of each closure on its second body, for a unit of each of its multipliers."""
        model, at = self.model, self.states
        own = np.zeros((len(at.q), len(model.closures), 6, 6))
        sizes = np.diff(model.closure_index)
        for i in range(int(sizes.max())):
            unit = np.zeros(int(model.closure_index[-1]))
            unit[model.closure_index[:-1][sizes > i] + i] = 1.0
            own[..., i] = closure_wrenches(self.dyn, at.q, at.v, np.tile(unit, (len(at.q), 1)), t=at.t)
        for k, closure in enumerate(model.closures):
            if closure.kind == "coupler":
                own[:, k] = 0.0
                own[:, k, coupler_place(model, closure), 0] = 1.0
        return own

    # --- the self-stresses

    def easing(self, w: Array, rank: int) -> Array:
        """u (B, m): what has to be added to the multipliers so that wrenches w become those of least norm."""
        loops = loop_blocks(self.dyn)
        if max(len(equations) for equations, _ in loops) > LARGE:
            return self.scale * np.array([self._sparse(k, w[k].reshape(-1)) for k in range(len(w))])
        u = np.zeros((len(w), len(self.scale)))
        for (equations, items), N in zip(loops, self.null_spaces(loops, rank), strict=True):
            CN = self._dense(equations, items) @ N
            CN_T = np.swapaxes(CN, 1, 2)
            z = np.linalg.solve(CN_T @ CN, -CN_T @ w[:, items].reshape(len(w), -1, 1))
            u[:, equations] = (N @ z)[:, :, 0]
        return self.scale * u

    def loaded(self, rank: int) -> Array:
        """(items,) largest wrench that self-stresses bring to each in the first state; of large blocks, a random one."""
        loops = loop_blocks(self.dyn)
        sizes = np.zeros(self.model.n + len(self.model.closures))
        if max(len(equations) for equations, _ in loops) > LARGE:
            return np.asarray(np.abs(self.C[0] @ self._sparse(0, None)).max(axis=1))
        for (equations, items), N in zip(loops, self.null_spaces(loops, rank), strict=True):
            CN = np.abs(self._dense(equations, items)[0] @ N[0])
            sizes[items] = CN.reshape(len(items), 6, -1).max(axis=(1, 2), initial=0.0)
        return sizes

    def _dense(self, equations: Index, items: Index) -> Array:
        """C of a block (B, 6 items, equations)."""
        return self.C[:, items][..., equations].reshape(len(self.G), -1, len(equations))

    def null_spaces(self, loops: list[tuple[Index, Index]], rank: int) -> Iterator[Array]:
        """N of each block (B, equations, k), orthonormal: G^T N = 0.

        No rank is decided here: ``rank``, of all of G, was found with the multipliers (spatial.rank), and the blocks share it,
        the strongest singular values first.
        """
        factors = []
        for equations, _ in loops:
            rows = self.G[:, equations]
            U, s, _ = np.linalg.svd(rows[:, :, np.abs(rows).max(axis=(0, 1), initial=0.0) > 0])
            parts = s / np.where(s[:, :1] > 0, s[:, :1], 1.0) if s.shape[1] else s
            factors.append((U, np.median(parts, axis=0)))
        strengths = np.sort(np.concatenate([parts for _, parts in factors]))[::-1]
        limit = strengths[rank - 1] if 0 < rank <= len(strengths) else np.inf
        for U, parts in factors:
            yield U[:, :, int((parts >= limit).sum()) :]

    def _sparse(self, k: int, w: Array | None) -> Array:
        """u in state k, by the sparse system; without w a random self-stress."""
        from scipy.sparse import block_array, csc_array, eye_array
        from scipy.sparse.linalg import splu

        G = csc_array(self.G[k])
        m, n = G.shape
        C = csc_array(self.C[k].reshape(-1, m))
        if w is None:
            A, right = csc_array(eye_array(m)), np.random.default_rng(3).normal(size=m)
        else:
            A, right = csc_array(C.T @ C), -(C.T @ w)
        eps = self.dyn.plan.tolerance**2 * abs(G).max() ** 2 / max(abs(A).max(), 1e-300)
        system = csc_array(block_array([[A, G], [G.T, -eps * eye_array(n)]]))
        full = np.concatenate([right, np.zeros(n)])
        lu = splu(system)
        x = lu.solve(full)
        x += lu.solve(full - system @ x)
        return np.asarray(x[:m])


def coupler_place(model: Model, closure: Closure) -> int:
    """The place of a coupler's effort in its wrench: a force, as that of teeth and belts is, or a moment."""
    row, dof, _ = closure.terms[0]
    return 3 if not closure.mesh and model.joints[row].v_units[dof] == "rad/s" else 0


def _cycle(model: Model, k: int) -> list[tuple[int, float]]:
    """Joints of the tree between the bodies of a closure, and the sign with which they carry its wrench."""
    closure = model.closures[k]
    up_a, up_b = ancestors(model.parents, closure.body_a), ancestors(model.parents, closure.body_b)
    both = set(up_a) & set(up_b)
    signed = [*((row, -1.0) for row in up_b if row not in both), *((row, 1.0) for row in up_a if row not in both)]
    turned = model.turned or (False,) * model.n
    return [(row, -sign if turned[row] else sign) for row, sign in signed]


def loop_blocks(dyn: Evaluation) -> list[tuple[Index, Index]]:
    """The equations of each block of loops, and its items: joints, then closures."""
    model, tree = dyn.model, dyn.plan.tree
    found = []
    for block in find_blocks(make_graph(model, tree)):
        if block.closures:
            equations = np.concatenate([np.arange(*model.closure_index[[k, k + 1]]) for k in block.closures])
            items = [*(tree.order[i] for i in block.bodies), *(model.n + k for k in block.closures)]
            found.append((equations, np.array(items, dtype=np.intp)))
    return found


@lru_cache(maxsize=64)
def size_of(model: Model) -> float:
    """L: root mean square distance of all joints from their middle, in the design position; 1 m where all of them meet."""
    size = math.sqrt(mean_square(model))
    return size if size > 0 else 1.0


def mean_square(model: Model) -> Any:
    """L^2, over any number."""
    origins = np.zeros((model.n + 1, 3), dtype=np.asarray(model.position).dtype)  # the last row is ground
    for i in outward_order(model.parents):
        origins[i] = origins[model.parents[i]] + model.position[i]
    held = [i for i, joint in enumerate(model.joints) if joint.kind != "free"]
    ends = [origins[c.body_a] + as_array(c.point_a) for c in model.closures if c.kind != "coupler"]
    points = np.vstack([origins[held].reshape(-1, 3), *ends])
    return ((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()
