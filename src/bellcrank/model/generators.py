"""Generated mechanisms: chains, trees and closed loops of any size for tests and benchmarks, the same for a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..joints import JOINTS, Joint, make_joint
from .closure import Closure
from .humanoid import humanoid
from .manifold import turning_joints
from .model import Model

Array = NDArray[np.float64]

__all__ = [
    "chain", "humanoid", "ladder", "lattice", "n_four_bar", "pin_joint_chain", "random_state", "random_tree", "spatial_ladder",
]  # fmt: skip

KINDS = ("revolute", "prismatic", "spherical", "fixed")


def chain(n: int, seed: int = 0, kind: str = "revolute") -> Model:
    """n bodies in a row, each on the one before by a joint of one kind, with general axes, offsets and inertias."""
    rng = np.random.default_rng(seed)
    return _random_model(f"chain of {n}", list(range(-1, n - 1)), [kind] * n, rng)


def pin_joint_chain(n: int, *, perpendicular: bool = False, seed: int = 0) -> Model:
    """The chain of the papers' operation counts: general twists and offsets, full inertia tensors.

    Axes turn about the common normals (world x), which are parallel in the design position, so that the coordinates are
    the Denavit-Hartenberg angles themselves. The base frame is on the first joint. ``perpendicular``: twists of a right
    angle, and no offset along the common normals.
    """
    rng = np.random.default_rng(seed)
    twist = np.cumsum(np.full(n, np.pi / 2) if perpendicular else rng.uniform(0.4, 1.1, n))
    axes = np.stack([np.zeros(n), -np.sin(twist), np.cos(twist)], axis=1)
    if perpendicular:
        axes = np.round(axes)  # exact zeros, however long the chain
    normal = 0.0 if perpendicular else rng.uniform(0.1, 0.3, (n, 1))
    position = normal * np.array([1.0, 0.0, 0.0]) + rng.uniform(0.1, 0.3, (n, 1)) * axes
    base = _random_model(f"pin-joint chain of {n}", list(range(-1, n - 1)), ["revolute"] * n, rng)
    joints = tuple(make_joint("revolute", axis=axis) for axis in axes)
    return replace(base, joints=joints, position=position, gravity=np.array([1.0, 2.0, -9.0]))


def random_tree(
    n: int,
    seed: int,
    kinds: Sequence[str] = KINDS,
    *,
    free_root: bool = False,
    armature: bool = False,
    shuffle: bool = False,
) -> Model:
    """n bodies on branches of mixed joints.

    Three bodies of five continue the branch before them, the others start a new one anywhere. ``shuffle`` lists the rows
    in any order, so that parents may come after their children.
    """
    rng = np.random.default_rng(seed)
    parents = [-1] + [i - 1 if rng.random() < 0.6 else int(rng.integers(0, i)) for i in range(1, n)]
    chosen = [str(rng.choice(list(kinds))) for _ in range(n)]
    if free_root:
        chosen[0] = "free"
    if shuffle:
        parents, chosen = _shuffled(parents, chosen, rng)
    return _random_model(f"tree of {n}", parents, chosen, rng, armature=armature)


def _shuffled(parents: list[int], chosen: list[str], rng: np.random.Generator) -> tuple[list[int], list[str]]:
    order = rng.permutation(len(parents)).tolist()
    place = {old: new for new, old in enumerate(order)}
    return [place.get(parents[old], -1) for old in order], [chosen[old] for old in order]


def random_state(model: Model, seed: int = 0) -> tuple[Array, Array]:
    """Any q, with unit quaternions, and any v, of order one."""
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-1, 1, model.nq), rng.uniform(-1, 1, model.nv)
    for at in turning_joints(model):
        q[at.quaternion] = _unit(rng, 4)
    return q, v


def _random_model(
    name: str, parents: list[int], kinds: list[str], rng: np.random.Generator, *, armature: bool = False
) -> Model:
    n = len(parents)
    joints = [_random_joint(kind, rng) for kind in kinds]
    position = rng.uniform(-0.3, 0.3, (n, 3))
    position[[joint.kind == "free" for joint in joints]] = 0.0
    mass = rng.uniform(0.5, 2.0, n)
    nv = sum(joint.nv for joint in joints)
    return Model(
        name=name,
        joint_names=tuple(f"joint{i + 1}" for i in range(n)),
        body_names=tuple(f"body{i + 1}" for i in range(n)),
        parents=tuple(parents),
        joints=tuple(joints),
        position=position,
        mass=mass,
        center=rng.uniform(-0.1, 0.1, (n, 3)),
        inertia=np.array([_random_inertia(m, rng) for m in mass]),
        armature=rng.uniform(0.0, 0.1, nv) if armature else np.zeros(nv),
        gravity=np.array([0.0, 0.0, -9.81]),
        given_q=np.array([x for joint in joints for x in joint.neutral], dtype=float),
        given_v=np.zeros(nv),
    )


def _random_joint(kind: str, rng: np.random.Generator) -> Joint:
    if kind not in JOINTS or not JOINTS[kind].has_axis:
        return make_joint(kind)
    axis = _unit(rng, 3)
    axis2 = np.cross(axis, _unit(rng, 3)) if JOINTS[kind].needs_axis2 else None
    pitch = float(rng.uniform(0.05, 0.2)) if JOINTS[kind].needs_pitch else None
    return make_joint(kind, axis=axis, axis2=axis2, pitch=pitch)


def _unit(rng: np.random.Generator, size: int) -> Array:
    a = rng.normal(size=size)
    return np.asarray(a / np.linalg.norm(a))


def _random_inertia(mass: float, rng: np.random.Generator) -> Array:
    """Full tensor of three pairs of point masses on turned axes: such a body exists, so its inertia is possible."""
    spread = mass * rng.uniform(0.03, 0.1, 3) ** 2
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    inertia = turn @ np.diag(spread.sum() - spread) @ turn.T
    return np.asarray((inertia + inertia.T) / 2)


# Closed loops: bars of 1 m and 1 kg ------------------------------------------------------------------------------------------

_SPIN = 1e-3  # kg m2, of a bar about its own line
_RIGHT = np.array([1.0, 0.0, 0.0])  # a rung, and the way from one crank to the next


class _Bar(NamedTuple):
    """A bar from its inboard joint, at ``start`` on its parent (a row, -1 = ground), ``along`` in the design position.

    No place in the world: equal cells of a long mechanism are then equal to the last digit, and share their code.
    """

    name: str
    parent: int
    start: Array
    along: Array
    joint: Joint


class _Tie(NamedTuple):
    """The joint that closes a loop, at the ends of two bars; ``a`` is the parent, ``b`` the child, by their rows.

    ``point``: where on the parent, unless at its end.
    """

    name: str
    a: int
    b: int
    joint: Joint
    point: Sequence[float] | None = None


def n_four_bar(N: int) -> Model:
    """N four-bars side by side in the x-y plane: N + 1 cranks on ground, N couplers between their tips; one dof.

    Each coupler hangs on the crank before it, and a hinge on the next crank closes the loop. The cranks turn as one: their
    coordinates are one angle, those of the couplers its negative.
    """
    _at_least_one(N)
    hinge, crank = make_joint("revolute", axis=(0, 0, 1)), np.array([np.cos(1.1), np.sin(1.1), 0.0])
    bars = [_Bar("crank0", -1, np.zeros(3), crank, hinge)]
    ties = []
    for k in range(1, N + 1):
        row = len(bars)
        bars.append(_Bar(f"coupler{k}", 2 * k - 2, crank, _RIGHT, hinge))
        bars.append(_Bar(f"crank{k}", -1, k * _RIGHT, crank, hinge))
        ties.append(_Tie(f"pin{k}", row, row + 1, hinge))
    return _linkage(f"N-four-bar, N = {N}", bars, ties, gravity=(0.0, -9.81, 0.0))


def ladder(N: int) -> Model:
    """N equal cells in series in the x-y plane: two rails hinged to the rung before, and a rung; N dof.

    The rung hangs on the left rail, and a hinge on the right one closes the loop. In a cell both rails turn by one angle
    against the rung before, and the rung by its negative against the left rail.
    """
    hinge = make_joint("revolute", axis=(0, 0, 1))
    rail = np.array([-np.sin(0.3), np.cos(0.3), 0.0])
    return _cells(f"ladder of {N}", N, rail, (hinge, hinge, hinge, hinge), gravity=(0.0, -9.81, 0.0))


def spatial_ladder(N: int) -> Model:
    """As the ladder, in space: left rails and rungs on hinges of general directions, right rails on universal joints, closed
    by balls; N dof.

    A loop has seven freedoms, one more than it takes to close, and its three equations are independent.
    """
    rail = np.array([0.2, 0.3, 0.9])
    rail /= np.linalg.norm(rail)
    across = np.cross(rail, [0.6, -0.7, 0.4])
    left = make_joint("revolute", axis=(0.3, 0.9, -0.2))
    right = make_joint("universal", axis=across, axis2=np.cross(rail, across))
    rung = make_joint("revolute", axis=(-0.2, 0.8, 0.5))
    joints = left, right, rung, make_joint("spherical")
    return _cells(f"spatial ladder of {N}", N, rail, joints, gravity=(0.0, 0.0, -9.81))


def lattice(rows: int, columns: int) -> Model:
    """Cells side by side and on top of each other in the x-y plane, hinged at all corners; as many dof as rows.

    Rows of posts on the posts below, the lowest on ground; a beam hangs on each post but the last of a row, and a hinge on the
    next post closes the loop. Rows lean to and fro. The posts of a row turn as one; its beams stay level.
    """
    _at_least_one(min(rows, columns))
    hinge = make_joint("revolute", axis=(0, 0, 1))
    bars: list[_Bar] = []
    ties = []
    below = [(-1, k * _RIGHT) for k in range(columns + 1)]  # what carries the next posts, and where
    for j in range(rows):
        post, first = np.array([-np.sin(0.3) * (-1) ** j, np.cos(0.3), 0.0]), len(bars)
        bars += [_Bar(f"post{k + 1}_{j + 1}", *below[k], post, hinge) for k in range(columns + 1)]
        for k in range(columns):
            ties.append(_Tie(f"pin{k + 1}_{j + 1}", len(bars), first + k + 1, hinge))
            bars.append(_Bar(f"beam{k + 1}_{j + 1}", first + k, post, _RIGHT, hinge))
        below = [(first + k, post) for k in range(columns + 1)]
    return _linkage(f"lattice of {rows} by {columns}", bars, ties, gravity=(0.0, -9.81, 0.0))


def polygon(n: int, *, spatial: bool = False) -> Model:
    """One loop of n bars that stands on ground, the last side of a regular polygon; n - 2 dof, n - 3 in space.

    In the x-y plane the bars are hinged to each other and to ground. In space every
    second hinge lies nearly in the plane of the polygon, across its bar, and a ball closes the loop.
    """
    if n < (6 if spatial else 3):
        raise ModelError(f"n is {n}: give the number of bars, {6 if spatial else 3} at least")
    angles = 2 * np.pi * (np.arange(n) + 1) / (n + 1)
    along = np.column_stack([-np.cos(angles), np.sin(angles), np.zeros(n)])
    axes = [(0.0, 0.0, 1.0) if not spatial or k % 2 else tuple(np.cross(along[k], (0.2, 0.1, 1.0))) for k in range(n)]
    bars = [
        _Bar(f"bar{k + 1}", k - 1, along[k - 1] if k else np.zeros(3), along[k], make_joint("revolute", axis=axes[k]))
        for k in range(n)
    ]
    closing = make_joint("spherical") if spatial else make_joint("revolute", axis=(0, 0, 1))
    ties = [_Tie("pin", -1, n - 1, closing, tuple(along.sum(axis=0)))]
    return _linkage(f"{'spatial ' if spatial else ''}polygon of {n} bars", bars, ties, gravity=(0.0, -9.81, 0.0))


def rope_ladder(N: int, links: int) -> Model:
    """N rungs on two ropes, each of so many links from rung to rung, hung up by the first two links; in the x-y plane.

    The left rope carries the rung, and the last link of the right one is hinged to its end, which closes the loop. At rest the
    links hang in a gentle zigzag, so that no rope is straight.
    """
    _at_least_one(min(N, links))
    hinge = make_joint("revolute", axis=(0, 0, 1))
    lean = [np.array([0.1 * (-1) ** k, -np.sqrt(0.99), 0.0]) for k in range(links)]
    bars: list[_Bar] = []
    ties, base = [], -1
    for k in range(N):
        ends = []
        for side, start in (("left", np.zeros(3)), ("right", _RIGHT)):
            parent, at = base, start
            for j, way in enumerate(lean):
                bars.append(_Bar(f"{side}{k + 1}_{j + 1}", parent, at, way, hinge))
                parent, at = len(bars) - 1, way
            if side == "left":
                bars.append(_Bar(f"rung{k + 1}", parent, lean[-1], _RIGHT, hinge))
            ends.append(len(bars) - 1)
        ties.append(_Tie(f"knot{k + 1}", ends[0], ends[1], hinge))
        base = ends[0]
    return _linkage(f"rope ladder of {N} rungs, {links} links", bars, ties, gravity=(0.0, -9.81, 0.0))


def hooked_rings(N: int, links: int) -> Model:
    """N rings of so many links, a regular polygon each, hung on each other by bars in the x-y plane: ring, bar, ring, ...

    A ring hangs on its bar (the first one on ground) by the joint of its first link; the last link closes it. The next
    bar hangs on the link half-way round.
    """
    _at_least_one(N)
    if links < 4:
        raise ModelError(f"links is {links}: a ring has four at least")
    hinge = make_joint("revolute", axis=(0, 0, 1))
    angles = 2 * np.pi * np.arange(links) / links
    along = np.column_stack([np.cos(angles), -np.sin(angles), np.zeros(links)])
    down = np.array([0.0, -1.0, 0.0])
    bars: list[_Bar] = []
    ties, parent, at = [], -1, np.zeros(3)
    for k in range(N):
        first = len(bars)
        for j, way in enumerate(along):
            bars.append(
                _Bar(f"link{k + 1}_{j + 1}", parent if j == 0 else len(bars) - 1, at if j == 0 else along[j - 1], way, hinge)
            )
        ties.append(_Tie(f"lock{k + 1}", first, len(bars) - 1, hinge, (0.0, 0.0, 0.0)))
        if k < N - 1:
            half = first + links // 2
            bars.append(_Bar(f"bar{k + 1}", half, along[links // 2], down, hinge))
            parent, at = len(bars) - 1, down
    return _linkage(f"{N} hooked rings of {links} links", bars, ties, gravity=(0.0, -9.81, 0.0))


def _cells(name: str, N: int, rail: Array, joints: tuple[Joint, Joint, Joint, Joint], *, gravity: Sequence[float]) -> Model:
    """Cells of a left rail, a rung and a right rail, with joints of the left rail, the right rail, the rung, and to close."""
    _at_least_one(N)
    on_left, on_right, on_rail, closing = joints
    bars: list[_Bar] = []
    ties, base = [], -1
    for k in range(N):
        row = len(bars)
        bars.append(_Bar(f"left{k + 1}", base, np.zeros(3), rail, on_left))
        bars.append(_Bar(f"rung{k + 1}", row, rail, _RIGHT, on_rail))
        bars.append(_Bar(f"right{k + 1}", base, _RIGHT, rail, on_right))
        ties.append(_Tie(f"pin{k + 1}", row + 1, row + 2, closing))
        base = row + 1
    return _linkage(name, bars, ties, gravity)


def _at_least_one(N: int) -> None:
    if N < 1:
        raise ModelError(f"N is {N}: give the number of loops, one at least")


def _linkage(name: str, bars: Sequence[_Bar], ties: Sequence[_Tie], gravity: Sequence[float]) -> Model:
    along = np.array([bar.along for bar in bars])
    nv = sum(bar.joint.nv for bar in bars)
    return Model(
        name=name,
        joint_names=tuple(f"{bar.name}_joint" for bar in bars),
        body_names=tuple(bar.name for bar in bars),
        parents=tuple(bar.parent for bar in bars),
        joints=tuple(bar.joint for bar in bars),
        position=np.array([bar.start for bar in bars]),
        mass=np.ones(len(bars)),
        center=along / 2,
        inertia=np.array([_bar_inertia(x) for x in along]),
        armature=np.zeros(nv),
        gravity=np.array(gravity),
        given_q=np.zeros(nv),
        given_v=np.zeros(nv),
        closures=tuple(
            Closure(
                tie.name,
                "joint",
                tie.a,
                tie.b,
                _point(along[tie.a] if tie.point is None else np.array(tie.point)),
                _point(along[tie.b]),
                joint=tie.joint,
            )
            for tie in ties
        ),
    )


def _bar_inertia(along: Array) -> Array:
    """1/12 kg m2 across a bar of 1 m and 1 kg, a little about its own line."""
    line = np.outer(along, along)
    return np.asarray((np.eye(3) - line) / 12 + _SPIN * line)


def _point(x: Array) -> tuple[float, float, float]:
    return float(x[0]), float(x[1]), float(x[2])
