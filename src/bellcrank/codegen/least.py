"""Reactions of least norm, where equations are redundant and reactions not unique.

Multipliers u with G^T u = 0 are self-stresses: forces that the joints of a loop hold against each other, and that nothing
else feels. With lambda any multiplier, N the self-stresses (columns) and w the wrenches of *all* joints and closures, which
are affine in the multipliers, those are taken for which

    sum over joints of |force|^2 + |moment|^2 / L^2  is least:    lambda + N z,   z = -C^+ w(lambda),   C = dw/dz

with every wrench taken at its joint's point, the effort of the joint included. L is the size of the mechanism in its design
position. The answer is then a property of the mechanism, and not of the joint at which a loop was cut. Loops that share
no joint do not feel each other, so that this is done block by block: a self-stress of each block at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..formulations import QUANTITIES
from ..model import Model
from ..model.order import outward_order
from ..topology.blocks import find_blocks, make_graph
from ..topology.closing import row_scales

if TYPE_CHECKING:
    from .closed_dynamics import ClosedDynamics

Array = NDArray[np.float64]
Index = NDArray[np.intp]

MOST_AT_ONCE = 4_000_000  # numbers of the Jacobians of the states that are treated together

TAKES_PART = 1e-6  # of the largest wrench of a self-stress, moments over L


class Loop(NamedTuple):
    """A block of loops: its equations, and the wrenches of its joints and closures among all of them."""

    equations: Index
    wrenches: Index


class States(NamedTuple):
    """States (B, ...) in which multipliers are wanted; times (B,), inputs (B, inputs)."""

    q: Array
    v: Array
    tau: Array
    t: Array
    inputs: Array


def least_multipliers(
    dynamics: ClosedDynamics, multipliers: Array, ranks: NDArray[np.int64], given: dict[str, Any], t: ArrayLike, inputs: Any
) -> Array:
    """The multipliers (..., m) for which the reactions of all joints are of least norm; ``ranks``: of G, of each state."""
    m = multipliers.shape[-1]
    if (ranks == m).all() or dynamics.model.nv == 0:
        return multipliers
    flat, of_each = multipliers.reshape(-1, m).copy(), np.broadcast_to(ranks, multipliers.shape[:-1]).reshape(-1)
    states = _states(dynamics.model, given, t, inputs, len(flat))
    loops = _loops(dynamics)
    part = max(1, MOST_AT_ONCE // (m * dynamics.model.nv))
    finite = np.isfinite(flat).all(axis=1)
    for rank in np.unique(of_each[finite]):
        places = np.flatnonzero(finite & (of_each == rank))
        for at in (places[k : k + part] for k in range(0, len(places), part)):
            chosen = States(*(x[at] for x in states))
            flat[at] = _least(dynamics, loops, flat[at], int(rank), chosen)
    return flat.reshape(multipliers.shape)


def _states(model: Model, given: dict[str, Any], t: ArrayLike, inputs: Any, count: int) -> States:
    def rows(x: Any, width: int) -> Array:
        x = np.zeros(width) if x is None else np.asarray(x, dtype=np.float64)
        return np.broadcast_to(x.reshape(-1, width) if width else np.zeros((1, 0)), (count, width))

    when = np.broadcast_to(np.asarray(t, dtype=np.float64).reshape(-1), (count,))
    q, v, tau = rows(given["q"], model.nq), rows(given["v"], model.nv), rows(given["tau"], model.nv)
    return States(q, v, tau, when, rows(inputs, len(model.inputs)))


def shared_reactions(dynamics: ClosedDynamics, rank: int, q: ArrayLike, t: float) -> tuple[str, ...]:
    """Names of the joints and closures that a self-stress loads at one state: their reactions are not unique."""
    model = dynamics.model
    at = _states(model, {"q": q, "v": None, "tau": None}, t, None, 1)
    loops = _loops(dynamics)
    idle = _self_stresses(dynamics, loops, rank, at)
    none = np.zeros((1, int(model.closure_index[-1])))
    names = [*model.joint_names, *(closure.name for closure in model.closures)]
    loaded = set()
    for loop, C in zip(loops, _slopes(dynamics, loops, idle, none, np.zeros((1, model.nv)), at), strict=True):
        sizes = np.abs(C[0]).max(axis=1, initial=0.0).reshape(-1, 6).max(axis=1)
        loaded |= set(loop.wrenches[::6][sizes > TAKES_PART * sizes.max(initial=0.0)] // 6)
    return tuple(name for k, name in enumerate(names) if k in loaded)


def _least(dynamics: ClosedDynamics, loops: list[Loop], multipliers: Array, rank: int, states: States) -> Array:
    idle = _self_stresses(dynamics, loops, rank, states)
    a = dynamics._evaluate(dynamics._program, {"q": states.q, "v": states.v, "tau": states.tau}, states.t, states.inputs)
    before = _wrenches(dynamics, multipliers, a, states)
    least = multipliers.copy()
    for loop, N, C in zip(loops, idle, _slopes(dynamics, loops, idle, multipliers, a, states), strict=True):
        z = -np.linalg.pinv(C) @ before[:, loop.wrenches, None]
        least[:, loop.equations] += (N @ z)[:, :, 0]
    return least


def _slopes(
    dynamics: ClosedDynamics, loops: list[Loop], idle: list[Array], multipliers: Array, a: Array, states: States
) -> list[Array]:
    """C of each block (B, wrenches, k): what a unit of each of its self-stresses adds to its wrenches."""
    before = _wrenches(dynamics, multipliers, a, states)
    size = np.abs(multipliers).max(axis=1, initial=1.0)[:, None]  # of a self-stress, so that differences keep their digits
    slopes = [np.zeros((len(N), len(loop.wrenches), N.shape[2])) for loop, N in zip(loops, idle, strict=True)]
    for k in range(max((N.shape[2] for N in idle), default=0)):
        pushed = multipliers.copy()
        of_blocks = [(loop, N, C) for loop, N, C in zip(loops, idle, slopes, strict=True) if k < N.shape[2]]
        for loop, N, _ in of_blocks:
            pushed[:, loop.equations] += size * N[:, :, k]
        change = (_wrenches(dynamics, pushed, a, states) - before) / size
        for loop, _, C in of_blocks:
            C[:, :, k] = change[:, loop.wrenches]
    return slopes


def _self_stresses(dynamics: ClosedDynamics, loops: list[Loop], rank: int, states: States) -> list[Array]:
    """N of each block: (B, equations, k), as multipliers."""
    scale = row_scales(dynamics.model, dynamics.plan.length)
    G = dynamics.closure_jacobian(states.q, t=states.t) * scale[:, None]
    return [scale[loop.equations, None] * N for loop, N in zip(loops, _null_spaces(G, loops, rank), strict=True)]


def _null_spaces(G: Array, loops: list[Loop], rank: int) -> Iterator[Array]:
    """Of each block, an orthonormal basis (B, equations, k) of the null space of G^T; their ranks add up to ``rank``."""
    factors = []
    for loop in loops:
        rows = G[:, loop.equations]
        U, s, _ = np.linalg.svd(rows[:, :, np.abs(rows).max(axis=(0, 1), initial=0.0) > 0])
        parts = s / np.where(s[:, :1] > 0, s[:, :1], 1.0) if s.shape[1] else s
        factors.append((U, np.median(parts, axis=0)))
    least = np.sort(np.concatenate([parts for _, parts in factors]))[::-1]
    limit = least[rank - 1] if 0 < rank <= len(least) else np.inf
    for U, parts in factors:
        yield U[:, :, int((parts >= limit).sum()) :]


def _wrenches(dynamics: ClosedDynamics, multipliers: Array, a: Array, states: States) -> Array:
    """(B, 6 (joints + closures)): forces, and moments over L, of all joints and closures; of a coupler its effort."""
    model = dynamics.model
    given = {"q": states.q, "v": states.v, "a": a, "lambda": multipliers}
    raw = dynamics._evaluate(QUANTITIES["closed_reactions"], given, states.t, states.inputs)
    tree = dynamics._frames.reactions(dynamics._evaluate(QUANTITIES["poses"], {"q": states.q}, states.t), raw, True)
    closing = dynamics._closing(states.q, states.v, multipliers, states.t)[..., :6].copy()
    for k, closure in enumerate(model.closures):
        if closure.kind == "coupler":
            effort = 3 if _angular(model, closure.terms[0]) else 0
            closing[:, k, effort] = multipliers[:, model.closure_index[k]]
    together = np.concatenate([tree, closing], axis=1) / np.repeat([1.0, size_of(model)], 3)
    return together.reshape(len(multipliers), -1)


def _angular(model: Model, term: tuple[int, int, float]) -> bool:
    return model.joints[term[0]].v_units[term[1]] == "rad/s"


def _loops(dynamics: ClosedDynamics) -> list[Loop]:
    model, tree = dynamics.model, dynamics.plan.tree
    found = []
    for block in find_blocks(make_graph(model, tree)):
        if block.closures:
            rows = [np.arange(*model.closure_index[[k, k + 1]]) for k in block.closures]
            items = [*(tree.order[i] for i in block.bodies), *(model.n + k for k in block.closures)]
            wrenches = (6 * np.array(items)[:, None] + np.arange(6)).reshape(-1)
            found.append(Loop(np.concatenate(rows), wrenches))
    return found


@lru_cache(maxsize=64)
def size_of(model: Model) -> float:
    """L: root mean square distance of all joints from their middle, in the design position; 1 m where all of them meet."""
    origins = np.zeros((model.n + 1, 3))  # the last row is ground
    for i in outward_order(model.parents):
        origins[i] = origins[model.parents[i]] + model.position[i]
    held = [i for i, joint in enumerate(model.joints) if joint.kind != "free"]
    ends = [origins[c.body_a] + np.array(c.point_a) for c in model.closures if c.kind != "coupler"]
    points = np.vstack([origins[held].reshape(-1, 3), *ends])
    size = float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))
    return size if size > 0 else 1.0
