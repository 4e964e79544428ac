"""Writes a model as URDF: links in the frames of the file that it came from, if it was one.

A universal or cylindrical joint is two joints with a link without mass between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...model import Model
from ..exchange.export import Array, Export, JointForces, along, closed, equal, indented, numbers, roll_pitch_yaw, tag
from ..exchange.looks import looks_by_body
from ..exchange.states import unlimited
from .reader import across
from .written_looks import visuals

GRAVITY = (0.0, 0.0, -9.81)


def write(model: Model, *, partial: bool = False, folder: Path | None = None) -> tuple[str, list[str]]:
    """The text, and what it leaves out; raises ModelError for what URDF cannot express, unless ``partial``.

    Looks are written for a file in a ``folder``, from which meshes are named.
    """
    writing = _Writing(model, folder)
    text = indented(writing.document())
    return text, writing.export.finish(partial=partial)


class _Writing:
    def __init__(self, model: Model, folder: Path | None) -> None:
        self.model, self.export = model, Export(model, "urdf")
        imported = model.source is not None and model.source.format == "urdf"
        self.references = dict(model.source.references) if model.source is not None and imported else {}
        for i, joint in enumerate(model.joints):
            if joint.kind == "planar" and not imported:  # whose x lies on the x of its frame
                z, x = np.array(joint.axis), np.array(joint.axis2)
                self.export.R[i] = np.column_stack([x, np.cross(z, x), z])
        self.looks = looks_by_body(self.export, folder)
        self._check()

    def _check(self) -> None:
        """Notes everything that a URDF cannot express."""
        model, cannot = self.model, self.export.cannot
        if not np.array_equal(model.gravity, GRAVITY):
            cannot.append(f"gravity ({numbers(model.gravity)}): every URDF is read with {numbers(GRAVITY)}")
        for e in model.elements:
            if e.terms:
                cannot.append(f'"{e.name}", which acts on several joints at once')
            elif e.joint < 0 and e.closure < 0:
                cannot.append(f'"{e.name}", a force between bodies')
        for (i, _), f in self.export.forces.items():
            name = model.joint_names[i]
            if f.stiffness or f.constant:
                cannot.append(f'springs or constant efforts on joint "{name}"')
            if f.inputs:
                given = ", ".join(model.inputs[k] for k in f.inputs)
                cannot.append(f'the input {given} on joint "{name}"')
        for i in range(model.n):
            if not model.driven[i] and model.armature[model.v_index[i] :][: model.joints[i].nv].any():
                cannot.append(f'the armature of joint "{model.joint_names[i]}"')

    def document(self) -> Iterator[str]:
        model = self.model
        root = "world"
        while root in model.body_names:
            root += "_"
        yield '<?xml version="1.0" encoding="utf-8"?>'
        yield f"{tag('robot', name=model.name)}>"
        seen = list(visuals(self.looks.get(-1, []), np.eye(3), self.export))
        yield from [f"{tag('link', name=root)}>", *seen, "</link>"] if seen else [closed("link", name=root)]
        for i in range(model.n):
            yield from self._link(i)
        mimics = self._mimics()
        for i in range(model.n):
            parent = root if model.parents[i] < 0 else self.export.name(model.body_names[model.parents[i]])
            yield from self._joint(i, parent, mimics)
        yield "</robot>"

    def _link(self, i: int) -> Iterator[str]:
        model, R = self.model, self.export.axes(i)
        head = tag("link", name=self.export.name(model.body_names[i]))
        seen = list(visuals(self.looks.get(i, []), R, self.export))
        massless = not model.mass[i] and not model.inertia[i].any()
        if massless:
            yield from [f"{head}>", *seen, "</link>"] if seen else [f"{head}/>"]
            return
        J = R.T @ model.inertia[i] @ R
        entries = {f"i{'xyz'[a]}{'xyz'[b]}": numbers(J[a, b]) for a in range(3) for b in range(a, 3)}
        yield f"{head}>"
        yield "<inertial>"
        yield closed("origin", xyz=numbers(R.T @ model.center[i]), rpy="0 0 0")
        yield closed("mass", value=numbers(model.mass[i]))
        yield closed("inertia", **entries)
        yield "</inertial>"
        yield from seen
        yield "</link>"

    def _joint(self, i: int, parent: str, mimics: dict[tuple[int, int], str]) -> Iterator[str]:
        model, joint = self.model, self.model.joints[i]
        name, child = self.export.name(model.joint_names[i]), self.export.name(model.body_names[i])
        outer, R = self.export.axes(model.parents[i]), self.export.axes(i)
        place = (numbers(outer.T @ self._offset(i)), numbers(roll_pitch_yaw(outer.T @ R)))
        if joint.urdf is None:
            self.export.never.append(f'joint "{name}", which is {joint.kind}')
            return
        if len(joint.urdf) > 1:
            yield from self._several(i, name, parent, child, place, R)
            return
        kind, letter = joint.urdf[0]
        kind = "continuous" if kind == "revolute" and unlimited(model, i) else kind
        axis = R.T @ along(joint, letter) if letter else None
        if joint.kind == "planar" and axis is not None:
            self._check_plane(i, R, axis)
        yield from self._one(i, range(joint.nv), name, kind, parent, child, place, axis, mimics.get((i, 0), ""))

    def _check_plane(self, i: int, R: Array, axis: Array) -> None:
        if np.abs(across(R, axis) - np.array(self.model.joints[i].axis2)).max() > 1e-12:
            self.export.cannot.append(f'the x axis of the planar joint "{self.model.joint_names[i]}"')

    def _offset(self, i: int) -> Array:
        if self.model.joints[i].kind == "free":
            return np.array(self.references.get(self.model.joint_names[i], (0.0, 0.0, 0.0)))
        return self.export.offset(i)

    def _several(self, i: int, name: str, parent: str, child: str, place: tuple[str, str], R: Array) -> Iterator[str]:
        """One joint of ours as joints one after the other, with links without mass between them."""
        joint = self.model.joints[i]
        for k, (kind, axis) in enumerate(joint.urdf or ()):
            after = child if k == joint.nv - 1 else f"{child}_{joint.v_names[k]}"
            if after != child:
                yield closed("link", name=after)
            own = f"{name}_{joint.v_names[k]}"
            yield from self._one(i, range(k, k + 1), own, kind, parent, after, place, R.T @ along(joint, axis), "")
            parent, place = after, ("0 0 0", "0 0 0")

    def _one(
        self,
        i: int,
        dofs: range,
        name: str,
        kind: str,
        parent: str,
        child: str,
        place: tuple[str, str],
        axis: Array | None,
        mimic: str,
    ) -> Iterator[str]:
        yield f"{tag('joint', name=name, type=kind)}>"
        yield closed("parent", link=parent)
        yield closed("child", link=child)
        yield closed("origin", xyz=place[0], rpy=place[1])
        if axis is not None:
            yield closed("axis", xyz=numbers(axis))
        yield from self._limit(i, kind)
        forces = [self.export.forces.get((i, k), JointForces()) for k in dofs]
        if not equal([f.damping for f in forces]) or not equal([f.friction for f in forces]):
            self.export.cannot.append(f'the damping or friction of joint "{name}", which differs between its directions')
        if forces and (forces[0].damping or forces[0].friction):
            yield closed("dynamics", damping=numbers(forces[0].damping), friction=numbers(forces[0].friction))
        if mimic:
            yield mimic
        yield "</joint>"

    def _limit(self, i: int, kind: str) -> Iterator[str]:
        limits = self.model.limits[i] if self.model.limits else None
        if kind not in ("revolute", "continuous", "prismatic") or (limits is None and kind == "continuous"):
            return
        given: dict[str, Any] = {"effort": 0.0, "velocity": 0.0}
        if kind != "continuous":
            given |= {"lower": -1e308, "upper": 1e308}  # without limits of its own a slide goes anywhere
        for key in ("lower", "upper", "effort", "velocity"):
            value = None if limits is None else getattr(limits, key)
            given |= {key: value} if value is not None else {}
        yield closed("limit", **{key: numbers(value) for key, value in given.items()})

    def _mimics(self) -> dict[tuple[int, int], str]:
        """Couplers of two coordinates: the first follows the second."""
        found: dict[tuple[int, int], str] = {}
        model = self.model
        for closure in model.closures:
            good = closure.kind == "coupler" and len(closure.terms) == 2 and closure.motion is None and closure.curve is None
            good = good and all(model.joints[i].nv == 1 for i, _, _ in closure.terms)
            if not good or (closure.terms[0][0], 0) in found:
                self.export.cannot.append(f'"{closure.name}", which closes a loop')
                continue
            (first, _, a), (second, _, b) = closure.terms
            multiplier, offset = numbers(-b / a), numbers(closure.value / a)
            other = self.export.name(model.joint_names[second])
            found[(first, 0)] = closed("mimic", joint=other, multiplier=multiplier, offset=offset)
        return found
