"""Writes a model as MJCF: the same bodies and names, in the frames of the file that it came from, if it was one.

A body without mass between two joints is no body in MuJoCo, which wants mass wherever something moves: its joint becomes one
more joint of the body beyond.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import Model
from .export import Array, Export, JointForces, equal, indented, numbers, principal, tag
from .imported import quaternion_of
from .mjcf_closures import equalities

LEAST = 1e-14  # kg m2: MuJoCo wants every principal moment of a moving body to be more than 1e-15
TURNING = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "free": "free"}
Named = tuple[str, str, Array | None]  # name, type, axis in the design position


def mjcf(model: Model, *, partial: bool = False) -> tuple[str, list[str]]:
    """The text, and what it leaves out; raises ModelError for what MJCF has no words for, unless ``partial``."""
    writing = Writing(model)
    text = indented(writing.document())
    return text, writing.export.finish(partial=partial)


class Writing:
    def __init__(self, model: Model) -> None:
        self.model, self.export = model, Export(model, "mjcf")
        self.sites: dict[int, list[str]] = {}
        self.taken: set[str] = set()
        self.world: list[str] = []
        self.references = {} if model.source is None or model.source.format != "mjcf" else dict(model.source.references)
        self.gravcomp: dict[int, float] = {}
        self.mass, self.center, self.inertia = np.array(model.mass), np.array(model.center), np.array(model.inertia)
        self.lifted: dict[int, Array] = {}  # forces at the origins of free bodies
        for i, joint in enumerate(model.joints):
            if joint.kind == "free" and not model.driven[i]:
                self._without_armature(i, model.armature[model.v_index[i] :][:6])

    def document(self) -> list[str]:
        model = self.model
        for name, body, at in self.export.points():
            self.site(self.export.name(name), body, at)
        tendons = self._body_forces()
        equality = equalities(self, tendons)
        actuators = [*self._actuators(tendons), *self._constants(), *self._constant_forces]
        bodies = self._bodies()
        lines = [
            f"{tag('mujoco', model=model.name)}>",
            '<compiler angle="radian" autolimits="true" inertiafromgeom="false"/>',
            f"{tag('option', gravity=numbers(model.gravity))}/>",
            "<worldbody>",
            *self.sites.get(-1, []),
            *bodies,
            "</worldbody>",
        ]
        for section, inside in (
            ("tendon", tendons),
            ("equality", equality),
            ("actuator", actuators),
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
        todo: list[tuple[int, int] | None] = [(i, i) for i in reversed(self.export.children[-1])]
        while todo:  # None closes a body
            entry = todo.pop()
            if entry is None:
                lines.append("</body>")
                continue
            rows = self._chain(entry[0])
            lines += self._body(rows)
            todo += [None, *((i, i) for i in reversed(self.export.children[rows[-1]]))]
        return lines

    def _chain(self, i: int) -> list[int]:
        """Rows that are one body of MuJoCo: those without mass, and the one beyond them."""
        rows = [i]
        while self._weightless(rows[-1]) and len(self.export.children[rows[-1]]) == 1:
            beyond = self.export.children[rows[-1]][0]
            kinds = [self.model.joints[k].kind for k in (*rows, beyond)]
            if "free" in kinds or "fixed" in kinds or (kinds.count("spherical") and len(kinds) > 1 and _turns(kinds)):
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
        name = export.name(model.body_names[last])
        lines = [f"{tag('body', name=name, pos=numbers(outer.T @ offset), quat=turn, gravcomp=self._lift(last))}>"]
        lines += self._inertial(last)
        back = np.zeros(3)
        joints: list[str] = []
        for i in reversed(rows):
            joints = [*self._joint(i, R, R.T @ back), *joints]
            back = back - export.offset(i)
        return [*lines, *joints, *self.sites.get(last, [])]

    def _lift(self, i: int) -> str | None:
        return numbers(self.gravcomp[i]) if i in self.gravcomp else None

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
        return [f"{tag('inertial', pos=numbers(place), quat=numbers(turn), mass=mass, diaginertia=given)}/>"]

    def _joint(self, i: int, R: Array, at: Array) -> list[str]:
        """One joint of ours as one or several of MuJoCo's."""
        model, joint = self.model, self.model.joints[i]
        name = self.export.name(model.joint_names[i])
        if joint.kind == "fixed":
            return []
        if joint.kind == "screw":
            self.export.never.append(f'joint "{name}", a screw')
            return []
        if joint.kind in TURNING:
            axis = None if joint.axis is None else numbers(R.T @ joint.axis)
            return [self._one(i, slice(0, joint.nv), name, TURNING[joint.kind], axis, at)]
        parts = several(joint)
        return [
            self._one(i, slice(k, k + 1), f"{name}_{part}", kind, numbers(R.T @ axis), at)
            for k, (part, kind, axis) in enumerate(parts)
        ]

    def _one(self, i: int, dofs: slice, name: str, kind: str, axis: str | None, at: Array) -> str:
        model, start = self.model, int(self.model.v_index[i])
        count = dofs.stop - dofs.start
        forces = [self.export.forces.get((i, k), JointForces()) for k in range(dofs.start, dofs.stop)]
        given = {what: [getattr(f, what) for f in forces] for what in ("stiffness", "damping", "friction")}
        given["armature"] = model.armature[start + dofs.start : start + dofs.stop].tolist() if not model.driven[i] else [0.0]
        single = {}
        for what, values in given.items():
            values = values[3:] if kind == "free" and what == "armature" else values
            if not equal(values):
                self.export.cannot.append(f'the {what} of joint "{name}", which differs between its directions')
            single[what] = values[0]
        reference = self.references.get(model.joint_names[i], (0.0,))[0]
        spring = single["stiffness"]
        if spring and count > 1:
            self.export.cannot.append(f'the spring of joint "{name}"')
        rest = forces[0].constant / spring + reference if spring else None
        limits = model.limits[i] if model.limits and count == 1 else None
        span, effort = None, None
        if limits is not None and limits.lower is not None and limits.upper is not None:
            span = numbers([limits.lower + reference, limits.upper + reference])
        if limits is not None and limits.effort:
            effort = numbers([-limits.effort, limits.effort])
        return (
            tag(
                "joint",
                name=name,
                type=kind,
                pos=numbers(at) if at.any() and kind != "free" else None,
                axis=axis,
                ref=_given(reference) if count == 1 else None,
                stiffness=_given(spring),
                springref=None if rest is None else numbers(rest),
                damping=_given(single["damping"]),
                frictionloss=_given(single["friction"]),
                armature=_given(single["armature"]),
                range=span,
                actuatorfrcrange=effort,
            )
            + "/>"
        )

    # --- forces

    def site(self, name: str, body: int, at: Array) -> str:
        """A site on a body, -1 = the world; its name."""
        free, count = name, 2
        while free in self.taken:
            free, count = f"{name}_{count}", count + 1
        self.taken.add(free)
        place = numbers(self.export.axes(body).T @ at)
        turn = None if np.array_equal(self.export.axes(body), np.eye(3)) else numbers(quaternion_of(self.export.axes(body).T))
        self.sites.setdefault(body, []).append(f"{tag('site', name=free, pos=place, quat=turn)}/>")
        return free

    def _body_forces(self) -> list[str]:
        """Springs between points as tendons; constant forces as actuators without control."""
        tendons: list[str] = []
        self._constant_forces: list[str] = []
        for e in self.model.elements:
            if e.kind == "spring_damper":
                tendons += self._tendon(e)
            elif e.kind == "force":
                self._constant_force(e)
            elif e.kind == "bushing":
                self.export.cannot.append(f'"{e.name}", a bushing')
        for e in self.export.sums:
            tendons += self._elastic_sum(e)
        for i, force in self.lifted.items():
            if np.abs(force).max() > 1e-12 * np.abs(self.model.gravity).max(initial=0.0):
                self._push(
                    f"{self.export.name(self.model.joint_names[i])}_weight", i, np.zeros(3), force, np.zeros(3), world=True
                )
        return tendons

    def _tendon(self, e: Any) -> list[str]:
        stiffness, length, preload = e.values["stiffness"], e.values["length"], e.values["preload"]
        rest = length - preload / stiffness if stiffness else 0.0
        if e.table is not None or (preload and not stiffness) or rest < 0:
            self.export.cannot.append(f'"{e.name}", whose force is not that of a linear spring with a length at rest')
            return []
        name = self.export.name(e.name)
        ends = [
            self.site(f"{name}_{k}", body, np.array(p))
            for k, (body, p) in enumerate(((e.body_a, e.point_a), (e.body_b, e.point_b)), 1)
        ]
        spring = numbers(rest) if stiffness else None
        damping = _given(e.values["damping"])
        head = tag("spatial", name=name, stiffness=_given(stiffness), springlength=spring, damping=damping)
        return [f"{head}>", *(f"{tag('site', site=end)}/>" for end in ends), "</spatial>"]

    def _elastic_sum(self, e: Any) -> list[str]:
        """A fixed tendon: its length is the sum of factor * qpos."""
        model, stiffness = self.model, e.values.get("stiffness", 0.0)
        names = [(self.part_name(i, dof), factor) for i, dof, factor in e.terms]
        zero = sum(factor * self.references.get(model.joint_names[i], (0.0,))[0] for i, _, factor in e.terms)
        rest = e.values["rest"] + e.values["preload"] / stiffness + zero if stiffness else None
        if rest is not None and rest < 0:  # MuJoCo has no negative lengths: the same tendon the other way round
            names, rest = [(name, -factor) for name, factor in names], -rest
        spring = None if rest is None else numbers(rest)
        given = {"stiffness": _given(stiffness), "springlength": spring, "damping": _given(e.values.get("damping", 0.0))}
        terms = [f"{tag('joint', joint=name, coef=numbers(factor))}/>" for name, factor in names]
        return [f"{tag('fixed', name=self.export.name(e.name), **given)}>", *terms, "</fixed>"]

    def _constant_force(self, e: Any) -> None:
        """A unit of bias along a gear: in world axes relative to a site of the world, else in those of the body."""
        model = self.model
        force, moment = (np.array([e.values[f"{letter}{c}"] for c in "xyz"]) for letter in "fm")
        weight = -self.mass[e.body_a] * model.gravity
        share = float(force @ weight / (weight @ weight)) if weight.any() else 0.0
        central = np.allclose(e.point_a, self.center[e.body_a], rtol=0, atol=1e-15) and not moment.any() and e.values["world"]
        if central and np.allclose(share * weight, force, rtol=1e-15, atol=0):
            self.gravcomp[e.body_a] = self.gravcomp.get(e.body_a, 0.0) + share
            return
        if e.body_a in self.lifted and not np.any(e.point_a) and not moment.any() and e.values["world"]:
            self.lifted[e.body_a] = self.lifted[e.body_a] + force
            return
        self._push(self.export.name(e.name), e.body_a, np.array(e.point_a), force, moment, world=bool(e.values["world"]))

    def _push(self, name: str, body: int, at: Array, force: Array, moment: Array, *, world: bool) -> None:
        point = self.site(f"{name}_point", body, at)
        fixed = self.site(f"{name}_world", -1, np.zeros(3)) if world else None
        head = tag("general", name=name, site=point, refsite=fixed, gear=numbers([*force, *moment]))
        self._constant_forces.append(f'{head} gainprm="0" biastype="affine" biasprm="1 0 0"/>')

    def _actuators(self, tendons: list[str]) -> list[str]:
        """One for each input, in their order."""
        lines = []
        for k, given in enumerate(self.model.inputs):
            where = {key: f.inputs[k] for key, f in self.export.forces.items() if k in f.inputs}
            lines.append(self._actuator(self.export.name(given), where, tendons))
        return [line for line in lines if line]

    def _actuator(self, name: str, where: dict[tuple[int, int], float], tendons: list[str]) -> str:
        model = self.model
        rows = {i for i, _ in where}
        if not where:
            self.export.cannot.append(f'the input "{name}", which acts on nothing')
            return ""
        ((i, dof), gain), *_ = where.items()
        if len(rows) == 1 and model.joints[i].kind in ("spherical", "free"):
            gear = np.zeros(6)
            gear[[d for _, d in where]] = list(where.values())
            if model.joints[i].kind == "free":  # along the axes of a site: those of a joint there are the world's
                return f"{tag('motor', name=name, site=self.site(f'{name}_site', i, np.zeros(3)), gear=numbers(gear))}/>"
            gear[:3] = self.export.axes(i).T @ gear[:3]
            return f"{tag('motor', name=name, joint=self.export.name(model.joint_names[i]), gear=numbers(gear))}/>"
        if any(model.joints[i].quaternion is not None for i in rows):
            self.export.cannot.append(f'the input "{name}", which acts on several joints, balls among them')
            return ""
        if len(where) == 1:
            return f"{tag('motor', name=name, joint=self.part_name(i, dof), gear=numbers(gain))}/>"
        terms = [f"{tag('joint', joint=self.part_name(i, d), coef=numbers(c))}/>" for (i, d), c in where.items()]
        tendons += [f"{tag('fixed', name=f'{name}_tendon')}>", *terms, "</fixed>"]
        return f"{tag('motor', name=name, tendon=f'{name}_tendon')}/>"

    def part_name(self, i: int, dof: int) -> str:
        """The name there of the joint along one of our directions."""
        joint, name = self.model.joints[i], self.export.name(self.model.joint_names[i])
        return name if joint.nv == 1 else f"{name}_{several(joint)[dof][0]}"

    def _constants(self) -> list[str]:
        """Constant efforts that are not part of a spring."""
        lines = []
        for (i, dof), f in self.export.forces.items():
            if f.constant and not f.stiffness:
                name = f"{self.model.v_names[int(self.model.v_index[i]) + dof]}_effort"
                if self.model.joints[i].quaternion is not None:
                    self.export.cannot.append(f'the constant effort on joint "{self.model.joint_names[i]}"')
                    continue
                head = tag("general", name=name, joint=self.part_name(i, dof))
                lines.append(f'{head} gainprm="0" biastype="affine" biasprm="{numbers(f.constant)} 0 0"/>')
        return lines

    def _key(self) -> list[str]:
        model = self.model
        if (
            self.export.cannot
            or self.export.never
            or (np.array_equal(model.initial_q, self._design()) and not model.initial_v.any())
        ):
            return []
        qpos, qvel = model.to_mujoco(model.initial_q, model.initial_v)
        return [f"{tag('key', name='start', qpos=numbers(qpos), qvel=numbers(qvel))}/>"]

    def _design(self) -> Array:
        q = np.array(self.model.neutral_q)
        for i, joint in enumerate(self.model.joints):
            if joint.kind == "free" and not self.model.driven[i]:
                q[self.model.q_index[i] :][:3] = self.export.offset(i)
        return q


def _turns(kinds: list[str]) -> bool:
    return sum(kind in ("spherical", "revolute", "universal", "cylindrical", "planar") for kind in kinds) > 1


def _spread(c: Array) -> Array:
    """Inertia of a unit mass at c about the origin: c.c 1 - c c^T."""
    return np.asarray(c @ c * np.eye(3) - np.outer(c, c))


def _given(value: float) -> str | None:
    return numbers(value) if value else None


def several(joint: Any) -> list[tuple[str, str, Array]]:
    """Joints of several directions, one by one: name, type, axis."""
    z = np.array(joint.axis)
    if joint.kind == "cylindrical":
        return [("angle", "hinge", z), ("slide", "slide", z)]
    x = np.array(joint.axis2)
    if joint.kind == "universal":
        return [("first", "hinge", z), ("second", "hinge", x)]
    return [("x", "slide", x), ("y", "slide", np.cross(z, x)), ("angle", "hinge", z)]
