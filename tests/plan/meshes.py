"""Random meshes of loops, mechanisms without the cuts that their files name, and their random spanning trees."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from bellcrank.formulations import CLOSED
from bellcrank.model import Mechanism, Model, outward_order
from bellcrank.model.building.build import build
from bellcrank.model.building.resolve import resolve
from bellcrank.model.building.tree import _linkage, _Search, _with_coordinates
from bellcrank.model.spec.assemblies import expand
from bellcrank.model.spec.elements import MotorSpec
from bellcrank.model.spec.items import Attachment
from bellcrank.model.spec.problems import Problems
from bellcrank.model.spec.spec import Spec
from bellcrank.papers.operations import count_program
from bellcrank.plan.cuts.cutting import _blocks
from bellcrank.plan.cuts.effort import effort

GROUND = -1


def operations(model: Model) -> int:
    """Additions and multiplications of one evaluation, the loops closed as they are drawn."""
    return count_program(model, CLOSED["coordinate_reduction"], "plane", True, np.array(model.neutral_q)).total


# the same mechanism with other cuts ----------------------------------------------------------------------------------


def without_cuts(model: Model) -> Spec:
    """What the file of a model says of bodies, joints and motors, as numbers, without its cuts; copies of assemblies too."""
    spec = resolve(expand(model.spec, Problems()), Problems())
    return replace(
        spec,
        bodies=tuple(replace(body, name=_plain(body.name)) for body in spec.bodies),
        joints=tuple(
            replace(j, name=_plain(j.name), parent=_plain(j.parent), child=_plain(j.child), cut=None) for j in spec.joints
        ),
        constraints=tuple(
            replace(item, name=_plain(item.name), start=_on(item.start), end=_on(item.end)) for item in spec.constraints
        ),
        couplers=tuple(replace(c, name=_plain(c.name), joints=tuple(map(_plain, c.joints))) for c in spec.couplers),
        initial=tuple(replace(start, joint=_plain(start.joint)) for start in spec.initial),
        elements=tuple(
            replace(e, name=_plain(e.name), joint=_plain(e.joint)) for e in spec.elements if isinstance(e, MotorSpec)
        ),
        **dict.fromkeys(("parameters", "points", "measures", "assemblies", "copies"), ()),
    )


def _plain(name: str) -> str:
    return name.replace(".", "_")


def _on(end: Attachment) -> Attachment:
    return replace(end, body=_plain(end.body))


def estimated(model: Model) -> float:
    """What plan.cuts.effort says of a model."""
    spec = model.spec
    search = _Search(spec, ["ground", *(body.name for body in spec.bodies)])
    rank = {joint.name: k for k, joint in enumerate(spec.joints)}
    carried = dict(zip(model.body_names, (rank[name] for name in model.joint_names), strict=True))
    tree = tuple(carried[body.name] for body in spec.bodies)
    blocks = _blocks(_linkage(spec, search, set(tree)), tree)
    return sum(effort(block.linkage, block.of(tree)) for block in blocks)


def with_cuts(spec: Spec, cuts: Sequence[int]) -> Model:
    return build(replace(spec, joints=tuple(replace(j, cut=True) if k in cuts else j for k, j in enumerate(spec.joints))))


def written(model: Model) -> Spec:
    """A generated mechanism as a user would write it, without cuts."""
    origin = np.zeros((model.n + 1, 3))
    for i in outward_order(model.parents):
        origin[i] = origin[model.parents[i]] + model.position[i]
    names = (*model.body_names, "ground")
    m = Mechanism(model.name, gravity=tuple(model.gravity))
    for i, name in enumerate(model.body_names):
        m.body(name, model.mass[i], tuple(origin[i] + model.center[i]), inertia=[tuple(row) for row in model.inertia[i]])
        _joint(m, model.joint_names[i], model.joints[i], (names[model.parents[i]], name), origin[i])
    for tie in model.closures:
        _joint(m, tie.name, tie.joint, (names[tie.body_a], names[tie.body_b]), origin[tie.body_a] + tie.point_a)
    return m.build().spec


def _joint(m: Mechanism, name: str, joint: Any, bodies: tuple[str, str], point: Any) -> None:
    m.joint(name, joint.kind, *bodies, tuple(point), axis=joint.axis, axis2=joint.axis2)


def permuted(spec: Spec, seed: int) -> Spec:
    """The joints in another order."""
    joints = list(spec.joints)
    random.Random(seed).shuffle(joints)
    return replace(spec, joints=tuple(joints))


def random_trees(spec: Spec, count: int, seed: int = 0) -> list[Model]:
    """Different spanning trees that keep the joints of which the user needs coordinates (Kruskal, with random weights).

    Trees that turn a ball or a universal joint round, which other programs could not read, are not compared.
    """
    rng = random.Random(seed)
    found: dict[frozenset[int], Model] = {}
    for _ in range(20 * count):
        cuts = _random_cuts(spec, rng)
        if cuts not in found:
            found[cuts] = with_cuts(spec, cuts)
        if sum(map(_as_written, found.values())) == count:
            break
    return [model for model in found.values() if _as_written(model)]


def _as_written(model: Model) -> bool:
    return not any(joint.turned for joint in model.joints)


def _random_cuts(spec: Spec, rng: random.Random) -> frozenset[int]:
    kept = _with_coordinates(spec) | {e.joint for e in spec.elements if isinstance(e, MotorSpec)}
    order = sorted(range(len(spec.joints)), key=lambda k: (spec.joints[k].name not in kept, rng.random()))
    leader: dict[str, str] = {}

    def find(body: str) -> str:
        while leader.get(body, body) != body:
            body = leader[body]
        return body

    cuts = set()
    for k in order:
        a, b = find(spec.joints[k].parent), find(spec.joints[k].child)
        leader[a] = b if a != b else leader.get(a, a)
        cuts |= {k} if a == b else set()
    return frozenset(cuts)


# random meshes -------------------------------------------------------------------------------------------------------


@cache
def mesh(seed: int) -> Spec:
    """In a plane, of hinges and some slides, or in space, of hinges, balls, cylindrical and universal joints; all joints move."""
    rng = np.random.default_rng(seed)
    while True:
        drawn = _drawn(rng, planar=seed % 2 == 0)
        if drawn is not None:
            return drawn


def _drawn(rng: np.random.Generator, planar: bool) -> Spec | None:
    loops = int(rng.integers(2, 6 if planar else 4))
    n = 2 * loops + int(rng.integers(1, 4 if planar else 3))
    edges = _edges(rng, n, loops)
    if edges is None:
        return None
    joints = [(*_kind(rng, planar), _point(rng, planar), *edges[k]) for k in rng.permutation(len(edges))]
    if not _all_move(joints, n, planar):
        return None
    m = Mechanism("mesh", gravity=(0, -9.81, 0))
    for i in range(n):
        m.body(f"b{i}", 1.0, _point(rng, planar), inertia=_inertia(rng, planar))
    names = {GROUND: "ground"} | {i: f"b{i}" for i in range(n)}
    for k, (kind, axis, axis2, point, a, b) in enumerate(joints):
        m.joint(f"j{k}", kind, names[a], names[b], point, axis=axis, axis2=axis2)
    return m.build().spec


def _edges(rng: np.random.Generator, n: int, loops: int) -> list[tuple[int, int]] | None:
    """A random tree, and ties between bodies of it that are not next to each other."""
    parent = [GROUND] + [i - 1 if rng.random() < 0.6 else int(rng.integers(-1, i)) for i in range(1, n)]
    path: list[set[int]] = []
    for i, p in enumerate(parent):
        path.append({*(path[p] if p >= 0 else ()), i})
    path.append(set())  # of ground, -1
    far = 7 if rng.random() < 0.7 else n
    near = [(a, b) for a in range(-1, n) for b in range(a + 1, n) if 3 <= len(path[a] ^ path[b]) <= far]
    if len(near) < loops:
        return None
    return [(parent[i], i) for i in range(n)] + [near[k] for k in rng.choice(len(near), loops, replace=False)]


def _kind(rng: np.random.Generator, planar: bool) -> tuple[str, Any, Any]:
    if planar:
        angle = rng.uniform(0, 2 * np.pi)
        slide = rng.random() < 0.1
        return ("prismatic", (np.cos(angle), np.sin(angle), 0.0), None) if slide else ("revolute", (0.0, 0.0, 1.0), None)
    kind = str(rng.choice(["revolute", "spherical", "cylindrical", "universal"], p=[0.35, 0.35, 0.15, 0.15]))
    axis, other = rng.normal(size=3), rng.normal(size=3)
    return kind, None if kind == "spherical" else tuple(axis), tuple(np.cross(axis, other)) if kind == "universal" else None


def _point(rng: np.random.Generator, planar: bool) -> tuple[float, float, float]:
    x, y, z = rng.uniform(-2, 2, 3)
    return float(x), float(y), 0.0 if planar else float(z)


def _inertia(rng: np.random.Generator, planar: bool) -> list[tuple[float, ...]]:
    turn = np.eye(3) if planar else np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = turn @ np.diag(rng.uniform(0.1, 0.2, 3)) @ turn.T
    return [tuple(row) for row in (inertia + inertia.T) / 2]


def _all_move(joints: Sequence[Any], n: int, planar: bool) -> bool:
    """Whether no joint is locked and no equation redundant, as drawn: V_b - V_a = sum of screws times rates."""
    screws = [(k, screw) for k, joint in enumerate(joints) for screw in _screws(joint)]
    A = np.zeros((6 * len(joints), 6 * n + len(screws)))
    for k, (*_, a, b) in enumerate(joints):
        for body, sign in ((a, -1.0), (b, 1.0)):
            if body >= 0:
                A[6 * k : 6 * k + 6, 6 * body : 6 * body + 6] = sign * np.eye(6)
    for column, (k, screw) in enumerate(screws, start=6 * n):
        A[6 * k : 6 * k + 6, column] = -screw
    _, s, V = np.linalg.svd(A)
    rates = V[int((s > 1e-9 * s[0]).sum()) :, 6 * n :]
    freedoms = len(screws) - (3 if planar else 6) * (len(joints) - n)
    return len(rates) == freedoms > 0 and bool((np.abs(rates).max(axis=0) > 1e-6).all())


def _screws(joint: Any) -> Iterator[np.ndarray]:
    kind, axis, axis2, point, *_ = joint
    turns = {"spherical": list(np.eye(3)), "prismatic": [], "universal": [axis, axis2]}.get(kind, [axis])
    for turn in turns:
        unit = np.array(turn) / np.linalg.norm(turn)
        yield np.concatenate([unit, np.cross(point, unit)])
    if kind in ("prismatic", "cylindrical"):
        yield np.concatenate([np.zeros(3), np.array(axis) / np.linalg.norm(axis)])
