"""Writes a model as MJCF: the same bodies and names, in the frames of the file that it came from, if it was one.

A body without mass between two joints is not a body in MuJoCo, which wants mass wherever something moves: its joint becomes one
more joint of the body beyond.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ...model import Model
from ..exchange.export import Array, Export, JointForces, along, closed, equal, indented, numbers, principal, tag
from ..exchange.imported import quaternion_of
from ..exchange.looks import looks_by_body
from .looks import Looks
from .written.closures import equalities
from .written.forces import Forces, given

MOST_NESTED = 496  # bodies inside each other: MuJoCo reads 500 elements so, with those around and in the last
LEAST = 1e-14  # kg m2: MuJoCo wants every principal moment of a moving body to be more than 1e-15
Named = tuple[str, str, Array | None]  # name, type, axis in the design position


def write(model: Model, *, partial: bool = False, folder: Path | None = None) -> tuple[str, list[str]]:
    """The text, and what it leaves out; raises ModelError for what MJCF cannot express, unless ``partial``.

    Looks are written for a file in a ``folder``, from which meshes are named.
    """
    writing = Writing(model, folder)
    text = indented(writing.document())
    return text, writing.export.finish(partial=partial)


class Writing:
    def __init__(self, model: Model, folder: Path | None = None) -> None:
        self.model, self.export = model, Export(model, "mjcf")
        self.looks, self.seen = looks_by_body(self.export, folder), Looks(self.export, folder)
        self.sites: dict[int, list[str]] = {}
        self.taken: set[str] = set()
        self.body_names = self._body_names()
        self.references = {} if model.source is None or model.source.format != "mjcf" else dict(model.source.references)
        self.mass, self.center, self.inertia = np.array(model.mass), np.array(model.center), np.array(model.inertia)
        self.lifted: dict[int, Array] = {}  # forces at the origins of free bodies
        for i, joint in enumerate(model.joints):
            if joint.kind == "free" and not model.driven[i] and model.parents[i] < 0:
                self._without_armature(i, model.armature[model.v_index[i] :][:6])

    def _body_names(self) -> list[str]:
        """The names there, where "world" is taken."""
        names, other = [self.export.name(name) for name in self.model.body_names], "world_body"
        while other in names:
            other += "_"
        if "world" in names:
            self.export.lost.append(f'the name of body "world", which is MuJoCo\'s own: it is "{other}" there')
        return [other if name == "world" else name for name in names]

    def document(self) -> list[str]:
        model = self.model
        for name, body, at in self.export.points():
            self.site(self.export.name(name), body, at)
        self.acting = Forces(self)
        equality = equalities(self, self.acting.tendons)
        bodies = [*self.seen.geoms(self.looks.get(-1, []), np.eye(3)), *self._bodies()]
        assets = self.seen.assets
        lines = [
            f"{tag('mujoco', model=model.name)}>",
            '<compiler angle="radian" autolimits="true" inertiafromgeom="false"/>',
            closed("option", gravity=numbers(model.gravity)),
            *(["<asset>", *assets, "</asset>"] if assets else []),
            "<worldbody>",
            *self.sites.get(-1, []),
            *bodies,
            "</worldbody>",
        ]
        for section, inside in (
            ("tendon", self.acting.tendons),
            ("equality", equality),
            ("actuator", self.acting.actuators),
            ("keyframe", self._key()),
        ):
            lines += [f"<{section}>", *inside, f"</{section}>"] if inside else []
        return [*lines, "</mujoco>"]

    def _without_armature(self, i: int, armature: Array) -> None:
        """MuJoCo adds armature to all six directions of a free body: along them it is a mass at the origin without weight.

        So that mass is taken from the body, and its weight given back as a force.
        """
        a = float(armature[3])
        if not a and not armature.any():
            return
        if armature[:3].any() or not equal(armature[3:].tolist()) or self.mass[i] <= a:
            self.export.cannot.append(f'the armature of the free joint "{self.model.joint_names[i]}"')
            return
        mass, center = self.mass[i] - a, self.mass[i] * self.center[i] / (self.mass[i] - a)
        J = self.inertia[i] + self.mass[i] * _spread(self.center[i]) - mass * _spread(center)
        if np.linalg.eigvalsh(J)[0] < 0:
            self.export.cannot.append(f'the armature of the free joint "{self.model.joint_names[i]}"')
            return
        self.mass[i], self.center[i], self.inertia[i] = mass, center, J
        self.lifted[i] = a * np.array(self.model.gravity)

    # --- bodies

    def _bodies(self) -> list[str]:
        lines: list[str] = []
        todo: list[int | None] = [*reversed(self.export.children[-1])]
        deep = deepest = 0
        while todo:  # None closes a body
            i = todo.pop()
            deep += 1 if i is not None else -1
            deepest = max(deep, deepest)
            if i is None:
                lines.append("</body>")
                continue
            rows = self._chain(i)
            lines += self._body(rows)
            todo += [None, *reversed(self.export.children[rows[-1]])]
        if deepest > MOST_NESTED:
            self.export.never.append(
                f"{deepest} bodies one on the other: they are nested there, and MuJoCo reads {MOST_NESTED}"
            )
        return lines

    def _chain(self, i: int) -> list[int]:
        """Rows that are one body of MuJoCo: those without mass, and the one beyond them."""
        rows = [i]
        while self._weightless(rows[-1]) and len(self.export.children[rows[-1]]) == 1:
            beyond = self.export.children[rows[-1]][0]
            parts = [self.model.joints[k].mjcf for k in (*rows, beyond)]
            words = {word for part in parts for word, _ in part or ()}
            turning = sum("rad/s" in self.model.joints[k].v_units for k in (*rows, beyond))
            if not all(parts) or "free" in words or ("ball" in words and turning > 1):
                break
            rows.append(beyond)
        return rows

    def _weightless(self, i: int) -> bool:
        return not self.mass[i] and not self.inertia[i].any() and i not in self.sites and self.model.joints[i].nv > 0

    def _body(self, rows: list[int]) -> list[str]:
        export, model, last = self.export, self.model, rows[-1]
        outer, R = export.axes(model.parents[rows[0]]), export.axes(last)
        offset = sum((export.offset(i) for i in rows), np.zeros(3))
        turn = None if np.array_equal(R, outer) else numbers(quaternion_of(outer.T @ R))
        lines = [
            f"{tag('body', name=self.body_names[last], pos=numbers(outer.T @ offset), quat=turn, gravcomp=self._lift(last))}>"
        ]
        lines += self._inertial(last)
        back = np.zeros(3)
        joints: list[str] = []
        for i in reversed(rows):
            joints = [*self._joint(i, R, R.T @ back), *joints]
            back = back - export.offset(i)
        return [*lines, *joints, *self._geoms(rows, R), *self.sites.get(last, [])]

    def _geoms(self, rows: list[int], R: Array) -> list[str]:
        """The geoms of the bodies that are one there; those without mass are drawn where they are by design."""
        lines, back = [], np.zeros(3)
        for i in reversed(rows):
            moved = [replace(look, position=(*(np.array(look.position) + back).tolist(),)) for look in self.looks.get(i, [])]
            lines += self.seen.geoms(moved, R)
            back = back - self.export.offset(i)
        return lines

    def _lift(self, i: int) -> str | None:
        return numbers(self.acting.gravcomp[i]) if i in self.acting.gravcomp else None

    def _inertial(self, i: int) -> list[str]:
        model, R = self.model, self.export.axes(i)
        if not self.mass[i] and not self.inertia[i].any():
            if model.joints[i].nv and all(model.joints[k].nv for k in self.export.children[i]):
                self.export.never.append(f'body "{model.body_names[i]}", which moves and has no mass')
            return []
        moments, axes = principal(self.inertia[i])
        given = numbers(np.maximum(moments, LEAST))
        if moments[0] < 0 or moments[0] + moments[1] < moments[2] * (1 - 1e-9):
            self.export.never.append(f'body "{model.body_names[i]}", whose inertia no body can have')
        place, turn = R.T @ self.center[i], quaternion_of(R.T @ axes)
        mass = numbers(self.mass[i])
        return [closed("inertial", pos=numbers(place), quat=numbers(turn), mass=mass, diaginertia=given)]

    def _joint(self, i: int, R: Array, at: Array) -> list[str]:
        """One joint of ours as one or several of MuJoCo's."""
        model, joint = self.model, self.model.joints[i]
        name = self.export.name(model.joint_names[i])
        if joint.mjcf is None:
            self.export.never.append(f'joint "{name}", a {joint.kind}')
            return []
        if joint.kind == "free" and model.parents[i] >= 0:
            return self._floating(i, name, R)
        if len(joint.mjcf) == 1:
            kind, axis = joint.mjcf[0]
            return [self._one(i, slice(0, joint.nv), name, kind, numbers(R.T @ along(joint, axis)) if axis else None, at)]
        return [
            self._one(i, slice(k, k + 1), f"{name}_{joint.v_names[k]}", kind, numbers(R.T @ along(joint, axis)), at)
            for k, (kind, axis) in enumerate(joint.mjcf)
        ]

    def _floating(self, i: int, name: str, R: Array) -> list[str]:
        """A free joint on a moving body, which MuJoCo does not have: slides along the axes of the parent, and a ball."""
        offset, forces = self.export.offset(i), [self.export.forces.get((i, k), JointForces()) for k in range(3)]
        if not equal([f.damping for f in forces]) or not equal([f.friction for f in forces]):
            self.export.cannot.append(f'the damping or friction of joint "{name}", which differs between its directions')
        if self.model.armature[self.model.v_index[i] :][:3].any():
            self.export.cannot.append(f'the armature of the free joint "{name}" along its slides')
        slides = [
            self._one(i, slice(k, k + 1), f"{name}_{'xyz'[k]}", "slide", numbers(R.T[:, k]), np.zeros(3), float(offset[k]))
            for k in range(3)
        ]
        return [*slides, self._one(i, slice(3, 6), f"{name}_turn", "ball", None, np.zeros(3))]

    def _one(
        self, i: int, dofs: slice, name: str, kind: str, axis: str | None, at: Array, reference: float | None = None
    ) -> str:
        model, single = self.model, dofs.stop - dofs.start == 1
        forces = [self.export.forces.get((i, k), JointForces()) for k in range(dofs.start, dofs.stop)]
        damping, friction = (self._same(name, what, [getattr(f, what) for f in forces]) for what in ("damping", "friction"))
        if reference is None:
            reference = self.references.get(model.joint_names[i], (0.0,))[0] if single else 0.0
        stiffness = forces[0].stiffness if single else self.acting.springs.get(i, 0.0)
        rest = forces[0].constant / stiffness + reference if stiffness and single else None
        span, effort = self._limits(i, reference) if single else (None, None)
        attributes = {
            "pos": numbers(at) if at.any() and kind != "free" else None,
            "axis": axis,
            "ref": given(reference),
            "stiffness": given(stiffness),
            "springref": None if rest is None else numbers(rest),
            "damping": given(damping),
            "frictionloss": given(friction),
            "armature": given(self._armature(i, dofs, name, kind)),
            "range": span,
            "actuatorfrcrange": effort,
        }
        return closed("joint", name=name, type=kind, **attributes)

    def _same(self, name: str, what: str, values: list[float]) -> float:
        """MuJoCo has one number for all directions of a joint."""
        if not equal(values):
            self.export.cannot.append(f'the {what} of joint "{name}", which differs between its directions')
        return values[0]

    def _armature(self, i: int, dofs: slice, name: str, kind: str) -> float:
        """The armature; of a free body only the turning part: _without_armature has judged the other."""
        if self.model.driven[i]:
            return 0.0
        values = self.model.armature[int(self.model.v_index[i]) :][dofs].tolist()
        return self._same(name, "armature", values[3:] if kind == "free" else values)

    def _limits(self, i: int, reference: float) -> tuple[str | None, str | None]:
        limits = self.model.limits[i] if self.model.limits else None
        if limits is None:
            return None, None
        both = limits.lower is not None and limits.upper is not None
        span = numbers([limits.lower + reference, limits.upper + reference]) if both else None  # type: ignore[operator]
        return span, numbers([-limits.effort, limits.effort]) if limits.effort else None

    def site(self, name: str, body: int, at: Array) -> str:
        """A site on a body, -1 = the world; its name."""
        free, count = name, 2
        while free in self.taken:
            free, count = f"{name}_{count}", count + 1
        self.taken.add(free)
        place = numbers(self.export.axes(body).T @ at)
        turn = None if np.array_equal(self.export.axes(body), np.eye(3)) else numbers(quaternion_of(self.export.axes(body).T))
        self.sites.setdefault(body, []).append(closed("site", name=free, pos=place, quat=turn))
        return free

    def part_name(self, i: int, dof: int) -> str:
        """The name there of the joint along one of our directions."""
        joint, name = self.model.joints[i], self.export.name(self.model.joint_names[i])
        return name if joint.nv == 1 else f"{name}_{joint.v_names[dof]}"

    # --- the start

    def _key(self) -> list[str]:
        model = self.model
        if (
            self.export.cannot
            or self.export.never
            or (np.array_equal(model.given_q, self._design()) and not model.given_v.any())
        ):
            return []
        qpos, qvel = model.to_mujoco(model.given_q, model.given_v)
        return [closed("key", name="start", qpos=numbers(qpos), qvel=numbers(qvel))]

    def _design(self) -> Array:
        q = np.array(self.model.neutral_q)
        for i, joint in enumerate(self.model.joints):
            if joint.kind == "free" and not self.model.driven[i]:
                q[self.model.q_index[i] :][:3] = self.export.offset(i)
        return q


def _spread(c: Array) -> Array:
    """Inertia of a unit mass at c about the origin: c.c 1 - c c^T."""
    return np.asarray(c @ c * np.eye(3) - np.outer(c, c))
