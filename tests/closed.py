"""Closed mechanisms: random ones with everything that can close a loop, always the same for a seed.

Every loop closes in the design position: all axes parallel to the world's, all joints at zero, at the time zero.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.joints import JOINTS, make_joint
from bellcrank.model import Closure, Element, Law, Model, PrescribedMotion, Table
from bellcrank.model.generators import random_tree

from . import closed_reference as ref
from . import mechanisms
from .closed_states import Unfit

JOINT_KINDS = tuple(kind for kind in JOINTS if kind != "free")
GUIDES = ("distance", "point_on_line", "point_on_plane", "perpendicular", "coupler")
CLOSING = (*JOINT_KINDS, *GUIDES)
DRIVEN = tuple(f"driven {kind}" for kind in (*(k for k in JOINTS if k != "fixed"), "distance", "point_on_plane", "coupler"))
SOUND = 0.02  # smallest singular value of the rows, scaled to unit length, that a new closure may leave


def tree(n: int, seed: int, *, free_root: bool = False, driven: float = 0.0) -> Model:
    """A random tree of all joints; driven ones start at zero. Two of its branches begin at ground."""
    rng = np.random.default_rng([seed, n, 7])
    model = random_tree(n, seed, (*JOINT_KINDS, "revolute", "universal"), free_root=free_root, armature=True, shuffle=True)
    model = replace(model, gravity=np.array([0.7, -1.3, -9.0]))
    return drive(model, [rng.random() < driven for _ in range(n)], rng) if driven else model


def drive(model: Model, which: list[bool], rng: np.random.Generator) -> Model:
    like = mechanisms.drive(model, which, rng)
    motions = [m and replace(m, laws=tuple(law(rng) for _ in m.laws)) for m in like.motions]
    return replace(like, motions=tuple(motions))


def law(rng: np.random.Generator, start: float = 0.0) -> Law:
    """A law that has the value ``start`` at the time zero, and stays near it."""
    kind = str(rng.choice(mechanisms.LAWS))
    if kind == "polynomial":
        return Law(kind, (start, *rng.uniform(-0.3, 0.3, 3)))
    if kind == "sine":
        amplitude, phase = rng.uniform(0.1, 0.2), rng.uniform(-3, 3)
        return Law(kind, (start - amplitude * np.sin(phase), amplitude, rng.uniform(0.1, 0.4), phase))
    y = rng.uniform(-0.2, 0.2, 5)
    y[1] = 0.0
    return Law(kind, (), Table((-1.0, 0.0, 1.0, 2.0, 3.0), tuple(start + y), "clamp"))


def design_points(model: Model) -> np.ndarray:
    """Origins of all bodies in the design position, and of ground at the end."""
    rest = ref.reference.motion(ref.tree_of(model), model.given_q, np.zeros(model.nv), np.zeros(model.nv))
    return np.concatenate([rest.p[:, 0].astype(float), np.zeros((1, 3))])


def random_closure(model: Model, kind: str, name: str, rng: np.random.Generator) -> Closure:
    """Ties two random bodies, or couples two random joints, as they are in the design position."""
    kind, driven = kind.removeprefix("driven "), kind.startswith("driven ")
    if kind == "coupler":
        return _random_coupler(model, name, driven, rng)
    a, b = (int(x) for x in rng.choice(np.arange(-1, model.n), 2, replace=False))
    origins = design_points(model)
    at_a = origins[a] + rng.uniform(-0.3, 0.3, 3)
    at_b = at_a if kind in JOINTS else origins[b] + rng.uniform(-0.3, 0.3, 3)
    axis = mechanisms.unit(rng)
    given: dict[str, Any] = {}
    if kind in JOINTS:
        given["joint"] = random_tree(1, int(rng.integers(1000)), (kind,)).joints[0]
        if driven:
            turning = tuple(axis) if given["joint"].quaternion is not None else None
            given["motion"] = PrescribedMotion(tuple(law(rng) for _ in range(len(JOINTS[kind].law_names()))), turning)
        kind = "joint"
    elif kind == "distance":
        given["value"] = float(np.linalg.norm(at_b - at_a))
    elif kind == "point_on_plane":
        given |= {"axis": tuple(axis), "value": float(axis @ (at_b - at_a))}
    elif kind == "perpendicular":
        given |= {"axis": tuple(axis), "axis2": tuple(np.linalg.svd(axis[None])[2][1])}
    else:
        at_b = at_a + 0.3 * axis
        given["axis"] = tuple(axis)
    if driven and kind != "joint":
        given["motion"] = PrescribedMotion((law(rng, given["value"]),))
    points = {"point_a": tuple(at_a - origins[a]), "point_b": tuple(at_b - origins[b])}
    return Closure(name, kind, a, b, **points, **given)


def _random_coupler(model: Model, name: str, driven: bool, rng: np.random.Generator) -> Closure:
    rows = [i for i, joint in enumerate(model.joints) if joint.nv and joint.quaternion is None and not model.driven[i]]
    if not rows:
        raise Unfit(f"{model.name} has no joint to couple")
    chosen = rng.choice(rows, min(len(rows), 3), replace=False)
    terms = tuple((int(i), int(rng.integers(model.joints[i].nv)), float(rng.uniform(-2, 2))) for i in chosen)
    return Closure(name, "coupler", terms=terms, motion=PrescribedMotion((law(rng),)) if driven else None)


def close(model: Model, kind: str, rng: np.random.Generator, tries: int = 100) -> Model:
    """The model with one more closure, whose rows are independent of all others and leave three degrees of freedom, one at
    least inside its loop."""
    for _ in range(tries):
        closure = random_closure(model, kind, f"{kind.replace(' ', '_')}_{len(model.closures) + 1}", rng)
        tried = replace(model, closures=(*model.closures, closure))
        c = ref.constraints(tried, tried.given_q, np.zeros(tried.nv))
        G = c.G.astype(float)
        lengths = np.linalg.norm(G, axis=1)
        in_loop = (np.abs(G[-closure.rows :]).max(axis=0) > SOUND).sum()
        if len(G) > tried.nv - 3 or in_loop < closure.rows + 1 or lengths.min() < SOUND:
            continue
        if np.linalg.svd(G / lengths[:, None], compute_uv=False)[-1] > SOUND:
            assert np.abs(c.position).max() < 1e-14
            return tried
    raise Unfit(f"no {kind} closes {model.name}: try another seed")


def random_closed(
    n: int, seed: int, kinds: tuple[str, ...], *, free_root: bool = False, driven: float = 0.0, loads: bool = False
) -> Model:
    """A tree with closures of the given kinds between any of its bodies."""
    model = tree(n, seed, free_root=free_root, driven=driven)
    rng = np.random.default_rng([seed, n, 8])
    for kind in kinds:
        model = close(model, kind, rng)
    model = replace(model, name=f"closed tree of {n}, seed {seed}")
    return load(model, rng) if loads else model


def load(model: Model, rng: np.random.Generator) -> Model:
    """All elements on the joints of the tree, between bodies, and on every closing joint that is not driven."""
    model = mechanisms.load(model, rng)
    more: list[Element] = []
    for k, c in enumerate(model.closures):
        if c.joint is None or c.motion is not None or not c.joint.nv:
            continue
        kinds = [x for x in mechanisms.ON_JOINTS if c.joint.quaternion is None or x not in mechanisms.NEEDS_COORDINATE]
        for kind in kinds:
            element = mechanisms.on_joint(kind, k, int(rng.integers(c.joint.nv)), rng)
            more.append(replace(element, name=f"{kind}_of_{c.name}", joint=-1, closure=k))
    return replace(model, elements=(*model.elements, *more))


def doubled(model: Model) -> Model:
    """The model with all its closures twice: every second one is redundant."""
    again = tuple(replace(c, name=f"{c.name}_again") for c in model.closures)
    return replace(model, closures=(*model.closures, *again))


def between(name: str, a: int, b: int, point: Any, origins: np.ndarray, joint: str, axis: Any = None, **more: Any) -> Closure:
    """A closing joint at a point of the world in the design position."""
    points = {"point_a": tuple(np.asarray(point) - origins[a]), "point_b": tuple(np.asarray(point) - origins[b])}
    return Closure(name, "joint", a, b, **points, joint=make_joint(joint, axis, **more))
