"""Forces of a model as MJCF has them: tendons between points and over joints, actuators with and without a control.

Springs, dampers and friction on one coordinate are attributes of its joint (writer.py); so is the spring on the turn of a
ball, which is found here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....model import Element
from ...exchange.export import Array, closed, numbers, tag
from .servos import Servo, Terms

if TYPE_CHECKING:
    from ..writer import Writing


class Forces:
    """Lines of <tendon> and <actuator>; ``gravcomp`` and ``springs`` (N m/rad, of balls and free joints) go to the bodies."""

    def __init__(self, writing: Writing) -> None:
        self.writing, self.model, self.export = writing, writing.model, writing.export
        self.tendons: list[str] = []
        self.gravcomp: dict[int, float] = {}
        self.springs: dict[int, float] = {}
        self.pushes: list[str] = []  # actuators without control
        self._between_bodies()
        for element in self.export.sums:
            self.tendons += self._elastic_sum(element)
        for i, force in writing.lifted.items():
            if np.abs(force).max() > 1e-12 * np.abs(self.model.gravity).max(initial=0.0):
                name = f"{self.export.name(self.model.joint_names[i])}_weight"
                self._push(name, i, np.zeros(3), force, np.zeros(3), world=True)
        self.actuators = [*self._inputs(), *self._constants(), *self.pushes]

    # --- between bodies

    def _between_bodies(self) -> None:
        pulls = {}  # of free bodies to where they are by design
        for e in (e for e in self.model.elements if not e.live):
            if e.kind == "spring_damper":
                self.tendons += self._tendon(e)
            elif e.kind == "force":
                self._constant_force(e)
            elif e.kind == "bushing" and self._pulls_home(e):
                pulls[e.body_b] = e
            elif e.kind == "bushing":
                self.export.cannot.append(f'"{e.name}", a bushing')
            elif e.kind == "turning_spring":
                self._turning_spring(e)
        for i in [i for i in self.springs if self.model.joints[i].kind == "free" and self.model.parents[i] < 0]:
            pull = pulls.pop(i, None)  # MuJoCo has one stiffness for both
            if pull is None or pull.values["kx"] != self.springs[i]:
                self.export.cannot.append(f'the spring of the free joint "{self.model.joint_names[i]}"')
        self.export.cannot += [f'"{e.name}", a bushing' for e in pulls.values()]

    def _turning_spring(self, e: Element) -> None:
        """The spring of the ball joint between the two bodies."""
        for child, parent in ((e.body_b, e.body_a), (e.body_a, e.body_b)):
            if child >= 0 and self.model.parents[child] == parent and self.model.joints[child].kind in ("spherical", "free"):
                self.springs[child] = self.springs.get(child, 0.0) + e.values["stiffness"]
                return
        self.export.cannot.append(f'"{e.name}", a spring on the turn between bodies that no ball joins')

    def _pulls_home(self, e: Element) -> bool:
        """Whether a bushing holds the origin of a free body to its place by design, the same in all directions."""
        i, k = e.body_b, e.values
        if e.body_a >= 0 or i < 0 or self.model.joints[i].kind != "free" or self.model.parents[i] >= 0:
            return False
        alone = k["kx"] == k["ky"] == k["kz"] and not any(x for name, x in k.items() if name not in ("kx", "ky", "kz"))
        return alone and not any(e.point_b) and np.allclose(e.point_a, self.export.offset(i), rtol=1e-15, atol=1e-15)

    def _tendon(self, e: Element) -> list[str]:
        stiffness, length, preload = e.values["stiffness"], e.values["length"], e.values["preload"]
        rest = length - preload / stiffness if stiffness else 0.0
        if e.table is not None or (preload and not stiffness) or rest < 0:
            self.export.cannot.append(f'"{e.name}", whose force is not that of a linear spring with a length at rest')
            return []
        name = self.export.name(e.name)
        ends = [
            self.writing.site(f"{name}_{k}", body, np.array(p))
            for k, (body, p) in enumerate(((e.body_a, e.point_a), (e.body_b, e.point_b)), 1)
        ]
        spring = numbers(rest) if stiffness else None
        damping = given(e.values["damping"])
        head = tag("spatial", name=name, stiffness=given(stiffness), springlength=spring, damping=damping)
        return [f"{head}>", *(closed("site", site=end) for end in ends), "</spatial>"]

    def _constant_force(self, e: Element) -> None:
        """A unit of bias along a gear: in world axes relative to a site of the world, else in those of the body."""
        model, lifted, i = self.model, self.writing.lifted, e.body_a
        force, moment = (np.array([e.values[f"{letter}{c}"] for c in "xyz"]) for letter in "fm")
        weight = -self.writing.mass[i] * model.gravity
        share = float(force @ weight / (weight @ weight)) if weight.any() else 0.0
        pure = bool(e.values["world"]) and not moment.any()
        central = pure and np.allclose(e.point_a, self.writing.center[i], rtol=0, atol=1e-15)
        if central and np.allclose(share * weight, force, rtol=1e-15, atol=0):
            self.gravcomp[i] = self.gravcomp.get(i, 0.0) + share
        elif i in lifted and pure and not np.any(e.point_a):
            lifted[i] = lifted[i] + force
        else:
            self._push(self.export.name(e.name), i, np.array(e.point_a), force, moment, world=bool(e.values["world"]))

    def _push(self, name: str, body: int, at: Array, force: Array, moment: Array, *, world: bool) -> None:
        point = self.writing.site(f"{name}_point", body, at)
        fixed = self.writing.site(f"{name}_world", -1, np.zeros(3)) if world else None
        head = tag("general", name=name, site=point, refsite=fixed, gear=numbers([*force, *moment]))
        self.pushes.append(f'{head} gainprm="0" biastype="affine" biasprm="1 0 0"/>')

    # --- on joints

    def _elastic_sum(self, e: Element) -> list[str]:
        """A fixed tendon: its length is the sum of factor * qpos."""
        stiffness = e.values.get("stiffness", 0.0)
        names = [(self.writing.part_name(i, dof), factor) for i, dof, factor in e.terms]
        rest = e.values["rest"] + e.values["preload"] / stiffness + self._at_zero(e.terms) if stiffness else None
        if rest is not None and rest < 0:  # MuJoCo has no negative lengths: so all signs are reversed
            names, rest = [(name, -factor) for name, factor in names], -rest
        spring = None if rest is None else numbers(rest)
        values = {"stiffness": given(stiffness), "springlength": spring, "damping": given(e.values.get("damping", 0.0))}
        return self._fixed(self.export.name(e.name), names, **values)

    def _fixed(self, name: str, factors: list[tuple[str, float]], **values: str | None) -> list[str]:
        terms = [closed("joint", joint=joint, coef=numbers(factor)) for joint, factor in factors]
        return [f"{tag('fixed', name=name, **values)}>", *terms, "</fixed>"]

    def _inputs(self) -> list[str]:
        """One actuator for each input, in their order."""
        lines = []
        for k, name in enumerate(self.model.inputs):
            if k in self.export.servos:
                lines.append(self._servo(self.export.name(name), self.export.servos[k]))
                continue
            where = {key: f.inputs[k] for key, f in self.export.forces.items() if k in f.inputs}
            lines.append(self._actuator(self.export.name(name), where))
        return [line for line in lines if line]

    def _servo(self, name: str, servo: Servo) -> str:
        """force = gain u + b0 + b1 l + b2 l' along the length l of a joint, or of a tendon over several."""
        factors = [(self.writing.part_name(i, dof), factor) for i, dof, factor in servo.terms]
        target = {"joint": factors[0][0], "gear": None if factors[0][1] == 1 else numbers(factors[0][1])}
        if len(factors) > 1:
            self.tendons += self._fixed(f"{name}_tendon", factors)
            target = {"tendon": f"{name}_tendon"}
        bias = [servo.constant + servo.stiffness * self._at_zero(servo.terms), -servo.stiffness, -servo.damping]
        law = {"gainprm": numbers(servo.gain), "biastype": "affine", "biasprm": " ".join(map(numbers, bias))}
        return closed("general", name=name, **target, **law)

    def _at_zero(self, terms: Terms) -> float:
        """Sum of factor * qpos0."""
        references = self.writing.references
        return sum(factor * references.get(self.model.joint_names[i], (0.0,))[0] for i, _, factor in terms)

    def _actuator(self, name: str, where: dict[tuple[int, int], float]) -> str:
        rows = {i for i, _ in where}
        if not where:
            self.export.cannot.append(f'the input "{name}", which acts on nothing')
            return ""
        ((i, dof), gain), *_ = where.items()
        if len(rows) == 1 and self.model.joints[i].quaternion is not None:
            return self._on_quaternion(name, i, {dof: gain for (_, dof), gain in where.items()})
        if any(self.model.joints[i].quaternion is not None for i in rows):
            self.export.cannot.append(f'the input "{name}", which acts on several joints, balls among them')
            return ""
        if len(where) == 1:
            return closed("motor", name=name, joint=self.writing.part_name(i, dof), gear=numbers(gain))
        self.tendons += self._fixed(f"{name}_tendon", [(self.writing.part_name(i, d), c) for (i, d), c in where.items()])
        return closed("motor", name=name, tendon=f"{name}_tendon")

    def _on_quaternion(self, name: str, i: int, gains: dict[int, float]) -> str:
        """A motor on a ball; on a free body one at a site, since MuJoCo's forces along a free joint have the world's axes."""
        free, joint = self.model.joints[i].kind == "free", self.export.name(self.model.joint_names[i])
        gear = np.zeros(6)
        gear[list(gains)] = list(gains.values())
        if free and self.model.parents[i] < 0:
            return closed("motor", name=name, site=self.writing.site(f"{name}_site", i, np.zeros(3)), gear=numbers(gear))
        if free and gear[:3].any():
            self.export.cannot.append(f'the input "{name}", which pushes along the axes of a body that floats on another')
            return ""
        turn = self.export.axes(i).T @ (gear[3:] if free else gear[:3])
        called = f"{joint}_turn" if free else joint
        return closed("motor", name=name, joint=called, gear=numbers([*turn, 0, 0, 0]))

    def _constants(self) -> list[str]:
        """Constant efforts that are not part of a spring."""
        lines = []
        for (i, dof), f in self.export.forces.items():
            if f.constant and not f.stiffness:
                name = f"{self.model.v_names[int(self.model.v_index[i]) + dof]}_effort"
                if self.model.joints[i].quaternion is not None:
                    self.export.cannot.append(f'the constant effort on joint "{self.model.joint_names[i]}"')
                    continue
                head = tag("general", name=name, joint=self.writing.part_name(i, dof))
                lines.append(f'{head} gainprm="0" biastype="affine" biasprm="{numbers(f.constant)} 0 0"/>')
        return lines


def given(value: float) -> str | None:
    return numbers(value) if value else None
