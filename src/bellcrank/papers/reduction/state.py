"""A model at one state as the paper writes it: bodies and closures as numpy arrays, about centres of mass.

code        paper         shape    meaning, in the ground's axes, angular part first
parent      p[k]                   the body that carries body k; -1 = N, the ground
x                         (3,)     centre of mass
ST          (S^k)^T       (6, 6)   carries motions from the parent's centre of mass to this body's
P           P_k^k         (6, n)   motion for each unit of the joint's n generalized speeds
c                         (6,)     A_t^k = (S^k)^T A_t^p + c: what velocities and prescribed motions bring about
I, Q        I^k           (6, 6)   inertia; applied and gyroscopic forces (F^k = Q - I^k A_t^k)
tau, J                    (n,)     effort and armature of the joint: the paper has neither

A closure is Phi_a A^a + Phi_b A^b = gamma (EQUATIONS 1.6). It says nothing about motions of a and b together, so that
Phi_a = -Phi_b S_ab^T.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program, reference_point
from ...formulations.base import Closure, Walk
from ...formulations.loops.multipliers import closing, from_centroid
from ...machine.in_python import InPython
from ...model import Model
from ...plan import Plan, make_plan
from ...plan.closures import CLOSURE_TABLE
from ...spatial import ArticulatedInertia, Force, Matrix, Motion
from ...spatial.vector import ZERO

Array = NDArray[np.float64]
GROUND = -1
ROUNDING = 1e-13  # of the largest inertia


@dataclass(frozen=True)
class Body:
    name: str
    joint: str
    parent: int
    x: Array
    ST: Array
    P: Array
    c: Array
    I: Array  # noqa: E741
    Q: Array
    tau: Array
    J: Array
    first: int  # of the joint's entries in v
    coordinates: tuple[str, ...]


@dataclass(frozen=True)
class Tie:
    """A closure. ``terms`` of a coupler: body, coordinate of its joint, factor; ``point``: where others are attached."""

    name: str
    first: int  # of its equations
    a: int
    b: int
    Phi_a: Array
    Phi_b: Array
    gamma: Array
    point: Array
    coordinates: tuple[str, ...]  # that it leaves free
    terms: tuple[tuple[int, int, float], ...] = ()


@dataclass(frozen=True)
class Mechanism:
    """Bodies with parents before children, closures in the order of the model; a length that is typical of the model."""

    model: Model
    bodies: list[Body]
    ties: list[Tie]
    length: float

    @cached_property
    def weights(self) -> Array:
        """A motion of comparable angular and linear parts: 1 rad, and the typical length."""
        return np.array([1.0, 1.0, 1.0, self.length, self.length, self.length])

    @cached_property
    def nothing(self) -> float:
        """An inertia, felt by a motion of such a size, that can only be rounding."""
        D = np.diag(self.weights)
        return ROUNDING * max((float(np.linalg.norm(D @ body.I @ D)) for body in self.bodies), default=0.0)

    def size(self, P: Array) -> Array:
        """Lengths of motions in units of the weights."""
        return np.asarray(np.linalg.norm(P / self.weights[:, None], axis=0))

    def x(self, k: int) -> Array:
        return np.zeros(3) if k == GROUND else self.bodies[k].x

    def shift(self, a: int, b: int) -> Array:
        """(aS^b)^T: from the motion of a to that of a body at b's centre of mass that is rigidly tied to a."""
        return shift(self.x(b) - self.x(a))

    def name(self, k: int) -> str:
        return "ground" if k == GROUND else self.bodies[k].name

    def ancestors(self, k: int) -> list[int]:
        """k, its parent, ..., the ground."""
        path = [k]
        while path[-1] != GROUND:
            path.append(self.bodies[path[-1]].parent)
        return path


def cross(r: Array) -> Array:
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def shift(r: Array) -> Array:
    """[1 0; -r~ 1]: motions at a point that is seen at r."""
    ST = np.eye(6)
    ST[3:, :3] = -cross(r)
    return ST


def metric(r: Array, length: float) -> Array:
    """Motions at the point r away, displacements divided by a typical length: what makes radians and metres comparable."""
    return np.diag([1.0, 1.0, 1.0, 1 / length, 1 / length, 1 / length]) @ shift(r)


@lru_cache(maxsize=4)
def _plan(model: Model) -> Plan:
    return make_plan(model)


def at_state(model: Model, q: Array, v: Array, tau: Array, t: float, inputs: Array) -> Mechanism:
    """Run the outward pass of Kang & Yoon about centres of mass, in Python, and collect what it finds."""
    plan = _plan(model)
    given = {"q": list(q), "v": list(v), "tau": list(tau), "t": [t], "u": list(inputs)}
    points: list[Array] = []
    walk = InPython(plan, Program("mechanism", partial(_outward, points=points), ("q", "v", "tau"), {}, forces=True), given)
    walk.run()
    bodies: list[Body] = []
    for k, row in enumerate(plan.tree.order):
        bodies.append(_body(model, walk, bodies, k, row))
    place = plan.tree.place
    return Mechanism(model, bodies, _ties(model, walk, bodies, place, points), plan.length)


def _outward(walk: Walk, points: list[Array]) -> None:
    ground = reference_point.State(Matrix.identity(), ZERO, ZERO, ZERO, ZERO, ZERO)
    walk.outward(partial(reference_point.kinematics, walk.gravity, reference_point.centroid), base=ground)

    def equations(closure: Closure) -> Any:
        points.append(np.array(closure.j.p, dtype=float))
        return closing(from_centroid, (0.0, 0.0), closure)

    walk.closures(equations)


def _body(model: Model, walk: InPython, bodies: list[Body], k: int, row: int) -> Body:
    seen, parent = walk.body(k), walk.plan.tree.parent[k]
    r = np.array(seen.shift, dtype=float)
    joint, first, n = model.joints[row], int(model.v_index[row]), len(seen.B2)
    P = np.array([_six(S) for S in seen.B2]).reshape(-1, 6).T
    return Body(
        name=model.body_names[row],
        joint=model.joint_names[row],
        parent=parent,
        x=r if parent == GROUND else bodies[parent].x + r,
        ST=shift(r),
        P=P,
        c=_six(seen.D),
        I=_inertia(seen.M),
        Q=_six(seen.Q),
        tau=np.array(seen.effort, dtype=float),
        J=np.array(seen.armature, dtype=float),
        first=first,
        coordinates=model.v_names[first : first + n] if joint.nv else (),
    )


def _ties(model: Model, walk: InPython, bodies: list[Body], place: dict[int, int], points: list[Array]) -> list[Tie]:
    attachments: dict[tuple[int, int], Array] = {}  # by equation and body
    forces = np.array(walk.values("attachments"), dtype=float).reshape(-1, 6)
    for (row, body, _), force in zip(walk.plan.loads.closing.attachments.tolist(), forces, strict=True):
        attachments[row, body] = force
    ties = []
    starts = dict(
        zip(
            (c.name for c in model.closures),
            walk.plan.loads.closing.table[:, CLOSURE_TABLE.index("attachment")].tolist(),
            strict=True,
        )
    )
    for closure, first, point in zip(model.closures, model.closure_index.tolist(), points, strict=False):
        rows = range(first, first + closure.rows)
        gamma = np.array([walk.row(r, "right") for r in rows], dtype=float)
        a, b = place[closure.body_a], place[closure.body_b]
        if closure.kind == "coupler":
            terms = tuple((place[row], dof, factor) for row, dof, factor in closure.terms)
            if closure.curve is not None and not closure.curve_driven:
                last, slope = len(terms) - 1, walk.values("slopes")[starts[closure.name] + len(terms) - 1]
                terms = (*terms[:last], (*terms[last][:2], terms[last][2] + float(slope)))
            nothing = np.zeros((1, 6))
            ties.append(Tie(closure.name, first, GROUND, GROUND, nothing, nothing, gamma, point, (), terms))
            continue
        x_a, x_b = (np.zeros(3) if k == GROUND else bodies[k].x for k in (a, b))
        between = shift(x_b - x_a)
        if b != GROUND:
            Phi_b = np.array([attachments[r, b] for r in rows]).reshape(-1, 6)
            Phi_a = -Phi_b @ between
        else:
            Phi_a = np.array([attachments[r, a] for r in rows]).reshape(-1, 6)
            Phi_b = -Phi_a @ np.linalg.inv(between)
        ties.append(Tie(closure.name, first, a, b, Phi_a, Phi_b, gamma, point, _left_free(closure)))
    return ties


def _left_free(closure: Any) -> tuple[str, ...]:
    """Names for what a closure leaves free: those of its joint, or numbers."""
    n = 6 - closure.rows
    if closure.joint is not None:
        names = closure.joint.v_names if closure.motion is None else ()
        return tuple(f"{closure.name}.{name}" if name else closure.name for name in names)
    return tuple(f"{closure.name}.{k + 1}" for k in range(n))


def _six(x: Motion | Force) -> Array:
    return np.array([*x[0], *x[1]], dtype=float)


def _inertia(M: ArticulatedInertia) -> Array:
    A, B, m = (np.array([list(row) for row in block.rows()], dtype=float) for block in (M.A, M.B, M.M))
    return np.block([[A, B], [B.T, m]])
