"""Trees with every joint, prescribed motions and every force element: random, and always the same for a seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.joints import JOINTS
from bellcrank.model import Element, Law, Model, PrescribedMotion, Table
from bellcrank.model.element import ELEMENTS
from bellcrank.model.generators import random_state, random_tree

KINDS = tuple(JOINTS)
LAWS = ("polynomial", "sine", "table")
ON_JOINTS = tuple(kind for kind in ELEMENTS if kind.startswith("joint_") and kind != "joint_stiction")  # it has a memory
NEEDS_COORDINATE = ("joint_spring", "joint_stop")


def loaded_tree(n: int, seed: int, kinds: tuple[str, ...] = KINDS, *, driven: float = 0.35, elements: bool = True) -> Model:
    """A tree in any order of rows, of which some joints are driven, with all elements that its joints take."""
    rng = np.random.default_rng([seed, n])
    model = replace(random_tree(n, seed, kinds, armature=True, shuffle=True), gravity=np.array([0.7, -1.3, -9.0]))
    model = drive(model, [rng.random() < driven for _ in range(n)], rng)
    return load(model, rng) if elements else model


def drive(model: Model, which: list[bool], rng: np.random.Generator) -> Model:
    """The model with some of its joints driven, by laws that take turns; fixed ones cannot be."""
    count, motions = int(rng.integers(3)), []
    for joint, wanted in zip(model.joints, which, strict=True):
        laws = []
        for _ in range(len(joint.law_names()) if wanted else 0):
            laws.append(law(LAWS[count % 3], rng))
            count += 1
        axis = tuple(unit(rng)) if joint.quaternion is not None else None
        motions.append(PrescribedMotion(tuple(laws), axis) if laws else None)
    free = [motion is None for motion in motions]
    q, v = (np.repeat(free, [getattr(joint, name) for joint in model.joints]) for name in ("nq", "nv"))
    parts = {"armature": model.armature[v], "given_q": model.given_q[q], "given_v": model.given_v[v]}
    return replace(model, motions=tuple(motions), **parts)


def law(kind: str, rng: np.random.Generator) -> Law:
    if kind == "polynomial":
        return Law(kind, tuple(rng.uniform(-1, 1, rng.integers(1, 6))))
    if kind == "sine":
        return Law(kind, (rng.uniform(-1, 1), rng.uniform(0.2, 0.8), rng.uniform(0.1, 0.4), rng.uniform(-3, 3)))
    return Law(kind, (), Table(tuple(np.linspace(-1.0, 3.0, 6)), tuple(rng.uniform(-1, 1, 6)), "clamp"))


def load(model: Model, rng: np.random.Generator) -> Model:
    """All elements on the first degree of freedom of free joints, and some between any two bodies."""
    elements = []
    for i, joint in enumerate(model.joints):
        if joint.nv and not model.driven[i]:
            dof = int(rng.integers(joint.nv))
            kinds = [kind for kind in ON_JOINTS if joint.quaternion is None or kind not in NEEDS_COORDINATE]
            elements += [on_joint(kind, i, dof, rng) for kind in kinds]
    for k in range(4):
        a, b = (int(x) for x in rng.choice(np.arange(-1, model.n), 2, replace=False))
        places: dict[str, Any] = {"point_a": tuple(rng.uniform(-1, 1, 3)), "point_b": tuple(rng.uniform(-1, 1, 3))}
        ends = {"body_a": a, "body_b": b, **places}
        table = Table(tuple(np.linspace(-4, 6, 7)), tuple(rng.uniform(-3, 3, 7)), "clamp") if k % 2 else None
        elements.append(Element(f"strut{k}", "spring_damper", values("spring_damper", rng), table=table, **ends))
        elements.append(Element(f"bush{k}", "bushing", values("bushing", rng), axes=rotation(rng) if k % 2 else None, **ends))
        push = values("force", rng) | {"world": float(k % 2)}
        elements.append(Element(f"push{k}", "force", push, body_a=max(a, 0), point_a=places["point_a"]))
    return replace(model, elements=tuple(elements), inputs=("u0", "u1"))


def on_joint(kind: str, joint: int, dof: int, rng: np.random.Generator) -> Element:
    given = values(kind, rng)
    if kind == "joint_stop":
        given |= {"lower": -0.3, "upper": 0.2}
    times = Table((-1.0, 0.0, 1.0, 3.0), tuple(rng.uniform(-1, 1, 4))) if kind == "joint_effort" and joint % 2 else None
    which = int(rng.integers(2)) if kind == "joint_input" else -1
    return Element(f"{kind}{joint}", kind, given, joint=joint, dof=dof, table=times, input=which)


def values(kind: str, rng: np.random.Generator) -> dict[str, float]:
    """Of order one."""
    return {name: float(rng.uniform(0.2, 2.0)) for name in ELEMENTS[kind]}


def unit(rng: np.random.Generator) -> np.ndarray:
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


def rotation(rng: np.random.Generator) -> Any:
    """Rows of a rotation matrix."""
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return tuple(map(tuple, R * np.sign(np.linalg.det(R))))


def moving(model: Model, seed: int) -> dict[str, Any]:
    """A state of order one, efforts, a time inside all tables, and inputs."""
    q, v = random_state(model, seed)
    rng = np.random.default_rng(seed)
    return {"q": q, "v": v, "tau": rng.uniform(-1, 1, model.nv), "t": 0.37, "inputs": rng.uniform(-1, 1, len(model.inputs))}


def every_joint_free() -> Model:
    """One joint of each kind, in a tree; a hinge with a sine below them all."""
    rng = np.random.default_rng(1)
    parents = (3, -1, 1, 1, 3, 0, 2, 6, 4)
    return twisted(load(drive(_tree(KINDS, parents, 5), [False, *[kind == "revolute" for kind in KINDS[1:]]], rng), rng))


def every_joint_driven() -> Model:
    """One driven joint of each kind that can move, and free hinges, sliders and a ball between them."""
    rng = np.random.default_rng(2)
    driven = [kind for kind in KINDS if kind != "fixed"]
    kinds = [*driven, "revolute", "prismatic", "spherical", "universal"]
    n = len(driven)
    parents = [-1, 0, n, 2, n + 1, 4, n + 2, n + 3, 1, 3, 5, 6]
    return twisted(load(drive(_tree(kinds, parents, 6), [True] * n + [False] * 4, rng), rng))


def twisted(model: Model) -> Model:
    """With a spring against a turn, which is not smooth after half a turn: at single states only, not in runs."""
    spring = Element("turn", "turning_spring", {"stiffness": 0.7}, body_a=0, body_b=model.n - 1)
    return replace(model, elements=(*model.elements, spring))


def _tree(kinds: Any, parents: Any, seed: int) -> Model:
    """Joints of the given kinds, with the axes, places and masses of random trees."""
    n = len(kinds)
    joints = tuple(random_tree(1, seed + k, (kind,)).joints[0] for k, kind in enumerate(kinds))
    like = random_tree(n, seed)
    nv = sum(joint.nv for joint in joints)
    return replace(
        like,
        name="every joint",
        joints=joints,
        parents=tuple(parents),
        position=like.position * [[joint.kind != "free"] for joint in joints],
        gravity=np.array([0.7, -1.3, -9.0]),
        armature=np.linspace(0.0, 0.1, nv),
        given_q=np.array([x for joint in joints for x in joint.neutral]),
        given_v=np.zeros(nv),
    )
