"""Copies of assemblies: everything in an assembly is described once, then mirrored, turned, moved and renamed.

A name in an assembly means its own thing of that name, or else the model's. In the copy ``left_leg`` the body ``thigh`` is
``left_leg.thigh``. A mirrored mechanism has the same coordinates: equal q give mirrored poses. So arrows (offsets, slides,
forces) are mirrored, and what turns (axes of hinges, moments) is mirrored and reversed. A formula is evaluated in the
assembly as it was described: what it takes from a place or vector of the copy is moved, turned and mirrored back.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from typing import Any

from ...joints import JOINTS
from ...joints.derived import reversed_in_a_mirror
from ..geometry.compound import Compound
from ..geometry.mesh_solid import MeshSolid
from ..parameters.expressions import Formula, derived
from .elements import BushingSpec
from .fields import AXES, XYZ, Between, Construction, InBody, Place, Scalar, Triple, Visitor, map_fields
from .items import GROUND
from .problems import Problems
from .shapes import Box
from .spec import LISTS, AssemblySpec, BodySpec, CopySpec, InitialSpec, JointSpec, ParameterSpec, Spec, TurnSpec


def expand(spec: Spec, problems: Problems) -> Spec:
    """The spec without assemblies: every copy in its place, at the end of the lists."""
    if not spec.copies:
        return dataclasses.replace(spec, assemblies=()) if spec.assemblies else spec
    known = {assembly.name: assembly for assembly in spec.assemblies}
    lists: dict[str, list[Any]] = {field: list(getattr(spec, field)) for field in LISTS}
    said = {start.joint for start in spec.initial}
    for copy in spec.copies:
        if copy.of not in known:
            text = f'copy "{copy.name}" is of "{copy.of}", which is not an assembly.{problems.suggest(copy.of, known)}'
            problems.add(text, copy.where.at("of"), copy.name)
            continue
        for field, items in _copied(copy, known[copy.of], problems).items():
            lists[field] += [item for item in items if not (isinstance(item, InitialSpec) and item.joint in said)]
    changes: dict[str, Any] = {field: tuple(items) for field, items in lists.items()}
    return dataclasses.replace(spec, assemblies=(), copies=(), **changes)


def _copied(copy: CopySpec, assembly: AssemblySpec, problems: Problems) -> dict[str, list[Any]]:
    named = [item.name for field in LISTS if field not in ("initial", "parameters") for item in getattr(assembly, field)]
    visit = _Copying(copy, set(named), {item.name for item in assembly.parameters}, _geometry(assembly, set(named)))
    given = {item.name: item for item in copy.parameters}
    for name, item in given.items():
        if name not in visit.parameters:
            text = f'copy "{copy.name}" gives the parameter "{name}", which "{assembly.name}" does not have.'
            problems.add(f"{text}{problems.suggest(name, visit.parameters)}", item.where, copy.name)
    kinds = {joint.name: joint for joint in assembly.joints}
    found: dict[str, list[Any]] = {}
    for field in LISTS:
        found[field] = [_copy(item, visit, given, kinds, problems) for item in getattr(assembly, field)]
    return found


def _copy(item: Any, visit: _Copying, given: dict[str, ParameterSpec], joints: dict[str, JointSpec], problems: Problems) -> Any:
    if isinstance(item, ParameterSpec) and item.name in given:
        return dataclasses.replace(given[item.name], name=visit.called(item.name))
    if problems.blames(item.name):
        problems.blame(visit.called(item.name))
    new = map_fields(_with_axes(item, visit, problems), item.path, visit)
    if isinstance(item, InitialSpec):
        new = _start(new, joints.get(item.joint), visit)
        return dataclasses.replace(new, joint=visit.rename(item.joint))
    if isinstance(item, JointSpec) and visit.mirror is not None:
        new = _turned(new, visit, problems)
    if visit.mirror is not None and hasattr(item, "helix_angle"):
        new = dataclasses.replace(new, helix_angle=negated(new.helix_angle))
    return dataclasses.replace(new, name=visit.called(item.name))


def _with_axes(item: Any, visit: _Copying, problems: Problems) -> Any:
    """In a copy that is turned, what has the world's axes unless it is given others gets them, to be turned with it."""
    if isinstance(item, BodySpec):
        _check_mesh(item, visit, problems)
        shape = _with_axes(item.shape, visit, problems)
        return item if shape is item.shape else dataclasses.replace(item, shape=shape)
    if visit.turn is None:
        return item
    if isinstance(item, Compound):
        parts, holes = (tuple(_with_axes(x, visit, problems) for x in group) for group in (item.parts, item.holes))
        return dataclasses.replace(item, parts=parts, holes=holes)
    if isinstance(item, Box | BushingSpec):
        if (item.axis is None) != (item.axis2 is None):
            what = "box" if isinstance(item, Box) else "bushing"
            text = f'the copy "{visit.copy.name}" is turned, and a {what} in it has one of axis and axis2. Give both.'
            problems.add(text, visit.copy.where, visit.copy.name)
        elif item.axis is None:
            return dataclasses.replace(item, axis=AXES["z"], axis2=AXES["x"])
    return item


def _check_mesh(body: BodySpec, visit: _Copying, problems: Problems) -> None:
    """The file of a mesh is read as it is."""
    solid = isinstance(body.shape, MeshSolid)
    if not (solid and (visit.turn is not None or visit.mirror is not None)) and (body.mesh is None or visit.turn is None):
        return
    how = "mirrored" if visit.turn is None else "turned"
    text = f'body "{body.name}" has a mesh, which cannot be {how} with the copy "{visit.copy.name}".'
    remedy = "Remove the mesh, or describe this body without an assembly."
    problems.add(f"{text} {remedy}", body.where, visit.called(body.name))


def _turned(joint: JointSpec, visit: _Copying, problems: Problems) -> JointSpec:
    """Axes that have been mirrored as arrows; those of rotations are reversed as well."""
    if _reversed_axes(joint) is None:
        coordinates = " and ".join(JOINTS[joint.kind].q_names)
        text = f'joint "{joint.name}" is {joint.kind} and cannot be mirrored, since its {coordinates} change their sense.'
        problems.add(f"{text} Use a revolute and a prismatic joint.", joint.where, visit.called(joint.name))
    changes: dict[str, Any] = {name: _negative(getattr(joint, name)) for name in _reversed_axes(joint) or ()}
    if joint.pitch is not None:
        changes["pitch"] = negated(joint.pitch)
    return dataclasses.replace(joint, **changes)


def _reversed_axes(joint: JointSpec) -> list[str] | None:
    """Names of the given axes that a mirror reverses; None where no axes of this kind of joint make its mirror image."""
    names = reversed_in_a_mirror(JOINTS[joint.kind]) if joint.kind in JOINTS else ()
    return None if names is None else [name for name in names if getattr(joint, name) is not None]


def _start(start: InitialSpec, joint: JointSpec | None, visit: _Copying) -> InitialSpec:
    """A ball's quaternion and angular velocity turn; a free body's place and velocity are arrows besides."""
    if joint is None or joint.kind not in ("spherical", "free"):
        return start
    q, v = start.q, start.v
    if joint.kind == "spherical":
        q = (q[0], *visit.carried(q[1:], "axial")) if q and len(q) == 4 else q
        v = visit.carried(v, "axial") if v and len(v) == 3 else v
    else:
        if q and len(q) == 7:
            place = visit.carried(q[:3], "polar")
            place = visit.moved(place) if joint.parent == GROUND else place
            q = (*place, q[3], *visit.carried(q[4:], "axial"))
        v = (*visit.carried(v[:3], "polar"), *visit.carried(v[3:], "axial")) if v and len(v) == 6 else v
    return dataclasses.replace(start, q=q, v=v)


def _geometry(assembly: AssemblySpec, local: Collection[str]) -> dict[str, str]:
    """The vectors of an assembly by path: "place", "polar" or "axial"."""
    found = _Geometry(local)
    for field in LISTS:
        for item in getattr(assembly, field):
            map_fields(item, item.path, found)
    for joint in assembly.joints:
        for key in _reversed_axes(joint) or ():
            if f"{joint.path}.{key}" in found.turns:
                found.turns[f"{joint.path}.{key}"] = "axial"
    return found.turns


class _Geometry(Visitor):
    def __init__(self, local: Collection[str]) -> None:
        self.local = local
        self.turns: dict[str, str] = {}

    def triple(self, path: str, value: Triple, turns: str) -> Triple:
        if turns:
            self.turns[path] = turns
        return value

    def place(self, path: str, value: Place) -> Place:
        name = value.body if isinstance(value, InBody) else value
        if not isinstance(name, str) or name in self.local:  # else it stays where the model has it
            self.turns[path] = "place"
        return super().place(path, value) if isinstance(value, Construction) else value


class _Copying(Visitor):
    def __init__(
        self, copy: CopySpec, local: Collection[str], parameters: Collection[str], geometry: Mapping[str, str]
    ) -> None:
        self.copy, self.local, self.parameters, self.geometry = copy, local, parameters, geometry
        self.mirror = XYZ.index(copy.mirror) if copy.mirror in XYZ else None
        self.turn = None if copy.turn is None else Turn(copy.turn)
        about = (0.0, 0.0, 0.0) if copy.turn is None else copy.turn.about
        back = about if self.turn is None else self.turn.of(about)
        x, y, z = (added(added(a, b), negated(c)) for a, b, c in zip(copy.offset, about, back, strict=True))
        self.shift = x, y, z  # offset + about - R about

    def called(self, name: str) -> str:
        return f"{self.copy.name}.{name}"

    def rename(self, name: str) -> str:
        return self.called(name) if name in self.local else name

    def _in_formula(self, name: str) -> str:
        """``L`` is a parameter, ``thigh.length`` begins with the name of an item."""
        if name in self.parameters or name.partition(".")[0] in self.local:
            return self.called(name)
        return name

    def _as_described(self, name: str) -> str:
        """A name in a formula; components of the copy's vectors are moved and mirrored back."""
        new = self._in_formula(name)
        vector, _, component = name.rpartition(".")
        turns = self.geometry.get(vector)
        if turns is None or component not in XYZ or name in self.parameters:
            return new
        axis, beginning = XYZ.index(component), new.rpartition(".")[0]
        own: list[Scalar] = [derived(f"{beginning}.{c}") for c in XYZ]
        if turns == "place":
            own = [added(x, negated(shift)) for x, shift in zip(own, self.shift, strict=True)]
        back = own[axis] if self.turn is None else self.turn.back(own)[axis]
        new = back.text if isinstance(back, Formula) else repr(float(back))
        return f"(-({new}))" if self._reversed(axis, turns) else f"({new})"

    def _reversed(self, axis: int, turns: str) -> bool:
        """An arrow changes its sign along the mirror's normal, a rotation across it."""
        return self.mirror is not None and (axis == self.mirror) != (turns == "axial")

    def scalar(self, path: str, value: Scalar) -> Scalar:
        return value.renamed(self._as_described, self.rename) if isinstance(value, Formula) else value

    def formula(self, path: str, value: Formula) -> Formula:
        return value.renamed(self._in_formula, self.rename)

    def name(self, path: str, to: str, value: str) -> str:
        if to == "coordinate" and value.rpartition(".")[0] in self.local:
            return self.called(value)
        return self.rename(value)

    def triple(self, path: str, value: Triple, turns: str) -> Triple:
        return self.carried(super().triple(path, value, turns), turns)

    def place(self, path: str, value: Place) -> Place:
        new = super().place(path, value)
        return new if isinstance(new, str | InBody | Construction) else self.moved(new)

    def inertia(self, path: str, value: Any) -> Any:
        """R I R^T: its columns, then its rows, are carried as arrows are."""
        rows = super().inertia(path, value)
        if self.mirror is None and self.turn is None:
            return rows
        columns = [self.carried(column, "polar") for column in zip(*rows, strict=True)]
        return tuple(self.carried(row, "polar") for row in zip(*columns, strict=True))

    def carried(self, value: Any, turns: str) -> Triple:
        """A vector mirrored and turned."""
        if not turns:
            return value
        x, y, z = (negated(a) if self._reversed(i, turns) else a for i, a in enumerate(value))
        return (x, y, z) if self.turn is None else self.turn.of((x, y, z))

    def moved(self, value: Triple) -> Triple:
        x, y, z = (added(a, b) for a, b in zip(value, self.shift, strict=True))
        return x, y, z


class Turn:
    """A turn about x, y or z, over numbers and formulas; right angles are exact."""

    def __init__(self, given: TurnSpec) -> None:
        self.axis, angle = XYZ.index(given.axis if given.axis in XYZ else "z"), given.angle  # else it is blamed
        if isinstance(angle, Formula) and not angle.names:
            angle = angle.evaluate({})
        self.cos: Scalar
        self.sin: Scalar
        if isinstance(angle, Formula):
            self.cos, self.sin = derived(f"cos({angle.text})"), derived(f"sin({angle.text})")
        else:
            self.cos, self.sin = (round(x, 15) if abs(x - round(x)) < 1e-15 else x for x in (math.cos(angle), math.sin(angle)))

    def of(self, v: Any, sense: float = 1.0) -> Triple:
        """(cos v_i - sin v_j, sin v_i + cos v_j) of the two components across the axis."""
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        sine = self.sin if sense > 0 else negated(self.sin)
        made = list(v)
        made[i] = added(product(self.cos, v[i]), negated(product(sine, v[j])))
        made[j] = added(product(sine, v[i]), product(self.cos, v[j]))
        return made[0], made[1], made[2]

    def back(self, v: Any) -> Triple:
        return self.of(v, -1.0)


def negated(value: Scalar) -> Scalar:
    return derived(f"-({value.text})") if isinstance(value, Formula) else 0.0 - value


def _negative(value: Any) -> Any:
    if isinstance(value, Between):
        return Between(value.end, value.start)
    x, y, z = value
    return negated(x), negated(y), negated(z)


def added(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(a, Formula) and not isinstance(b, Formula):
        return a + b
    if b == 0 or a == 0:
        return a if b == 0 else b
    return derived(" + ".join(f"({_text(x)})" for x in (a, b)))


def product(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(a, Formula) and not isinstance(b, Formula):
        return a * b + 0.0
    for x, other in ((a, b), (b, a)):
        if not isinstance(x, Formula) and x in (0.0, 1.0):
            return 0.0 if x == 0 else other
    return derived(f"({_text(a)})*({_text(b)})")


def _text(x: Scalar) -> str:
    return x.text if isinstance(x, Formula) else repr(float(x))
