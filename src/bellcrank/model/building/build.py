"""From what the user wrote to a Model: judge every item, grow the tree from ground, fill the arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...joints import Joint, State, turned_round
from ...numbers.variable import as_array, as_number, length_of, on_constants, values_of
from ..geometry.gears import TreeRows
from ..measures.measure import Measure
from ..measures.signals import Names, make_signals, make_tables
from ..model import Model
from ..motion import PrescribedMotion
from ..parameters.written import Written
from ..source import Limits
from ..spec.assemblies import expand
from ..spec.problems import Problems
from ..spec.shapes import ORIGIN, MassProperties
from ..spec.spec import InitialSpec, LimitsSpec, Spec
from .checks import (
    armature_of,
    check_bodies,
    check_far_side,
    check_initial,
    check_initial_once,
    check_joint,
    check_names,
    check_time,
)
from .closures import make_closures
from .cuts import check_cuts
from .forces import make_elements, make_states
from .measures import Named, make_measures
from .motions import make_motion
from .references import ItemError, ModelRows
from .resistance import unresisted
from .resolve import resolve
from .tree import SpanningTree, spanning_tree

Array = NDArray[np.float64]


def build(spec: Spec, problems: Problems | None = None) -> Model:
    """The model of a spec; raises ModelError with everything that is wrong.

    ``problems`` holds what a reader has found already. What it blames is not checked again, only placed in the tree.
    """
    problems = Problems() if problems is None else problems
    unique = check_names(spec, problems)
    model = build_resolved(resolve(expand(spec, problems), problems), problems, unique=unique)
    object.__setattr__(model, "written", Written(spec))
    return model


def build_resolved(spec: Spec, problems: Problems, *, unique: bool = True) -> Model:
    """The model of a spec that has numbers only, and no copies of assemblies; it keeps no spec."""
    return Model(**model_fields(spec, problems, unique=unique))


def model_fields(spec: Spec, problems: Problems, *, unique: bool = True) -> dict[str, Any]:
    """The fields of the model of such a spec; numbers may depend on a design."""
    check_time(spec.duration, spec.step, problems, spec.where)
    bodies = check_bodies(spec, problems)
    joints = _check_joints(spec, problems)
    tree = _grow(spec, problems) if unique else None
    rows = None
    if tree is not None:
        check_cuts(spec, tree, problems)
        _check_far_sides(spec, tree, joints, problems)
        if len(bodies) == len(spec.bodies) and len(joints) == len(spec.joints):
            rows = _Rows(spec, tree, [bodies[name] for name in tree.carried], joints, problems)
    problems.raise_if_any()
    assert rows is not None  # whatever prevents the rows has left its problem
    return rows.fields()


def _check_joints(spec: Spec, problems: Problems) -> dict[str, Joint]:
    """The joints that can be made, by name, and what [initial] says of them."""
    made = {}
    for item in spec.joints:
        joint = None if problems.blames(item.name) else check_joint(item, problems)
        if joint is not None:
            made[item.name] = joint
    known = {item.name: item for item in spec.joints}
    check_initial_once(spec, problems)
    for start in spec.initial:
        check_initial(start, made, known, problems)
    return made


def _grow(spec: Spec, problems: Problems) -> SpanningTree | None:
    empty = not spec.bodies or not spec.joints
    if empty and not problems:
        problems.add("the model is empty. Give it one body and one joint at least.", spec.where)
    if empty or not all(joint.parent and joint.child for joint in spec.joints):
        return None  # the reader has said why
    return spanning_tree(spec, problems)


def _check_far_sides(spec: Spec, tree: SpanningTree, joints: Mapping[str, Joint], problems: Problems) -> None:
    for item, turned in zip((spec.joints[j] for j in tree.joints), tree.reversed, strict=True):
        if turned and item.name in joints:
            check_far_side(item, joints[item.name], problems)


def _turned(spec: Spec, tree: SpanningTree, joints: Mapping[str, Joint]) -> list[Joint]:
    """Joints from the inboard body outward; the coordinates keep the meaning that the user wrote."""
    made = [joints[spec.joints[j].name] for j in tree.joints]
    return [turned_round(joint) if far else joint for joint, far in zip(made, tree.reversed, strict=True)]


class _Rows:
    """The rows of the model: joint i, and the body that it carries; and what closes loops between them."""

    def __init__(
        self, spec: Spec, tree: SpanningTree, bodies: Sequence[MassProperties], joints: Mapping[str, Joint], problems: Problems
    ) -> None:
        self.spec, self.tree, self.joints = spec, tree, _turned(spec, tree, joints)
        self.items = [spec.joints[j] for j in tree.joints]
        points = as_array([item.point for item in self.items])
        origins = np.vstack([points, np.zeros(3)])  # the last row, index -1, is ground
        self.position = _between(origins[np.array(tree.inboard)], points)
        self.mass = as_array([body.mass for body in bodies])
        self.center = _centers(bodies, points)
        self.inertia = as_array([body.inertia for body in bodies])
        self.armature = [armature_of(item, joint.nv) for item, joint in zip(self.items, self.joints, strict=True)]
        self.motions = self._motions(problems)
        names = self._names(joints, origins)
        placed = TreeRows(tree.inboard, self.joints, points, [item.name for item in self.items], self.driven)
        closures = make_closures(spec, tree, joints, names, placed, problems)
        self.closures = closures or ()
        if closures is not None:
            self._check_resistance(problems)
        self.elements = (*make_elements(spec, names, problems), *make_states(spec, names, problems))
        self.inputs = (*spec.inputs, *names.loads)
        self.states = [(item.name, State(unit=item.unit)) for item in spec.states]
        tables = make_tables(spec, problems)
        self.measures = make_measures(spec, names, self._named(), tables, problems)
        self.signals: tuple[Measure, ...] = ()
        if not problems:
            known = Names(self._named(), {measure.name: measure for measure in self.measures}, tables)
            self.signals = make_signals(names.live, known, self.measures, problems)

    def _named(self) -> Named:
        return Named(
            **self._rows(),
            driven=[*self.driven, *(False for _ in self.states)],
            closures=self.closures,
            elements=self.elements,
            inputs=self.inputs,
        )

    def _rows(self) -> dict[str, Any]:
        """Names and joints: those of the tree, then user-defined states, each a row without a body."""
        alone, reversed_ = len(self.states), self.tree.reversed
        return {
            "joint_names": (*(item.name for item in self.items), *(name for name, _ in self.states)),
            "body_names": (*self.tree.carried, *(f"state {name}" for name, _ in self.states)),
            "parents": (*self.tree.inboard, *[-1] * alone),
            "joints": (*self.joints, *(joint for _, joint in self.states)),
            "turned": (*reversed_, *[False] * alone) if any(reversed_) else (),
        }

    def _names(self, joints: Mapping[str, Joint], origins: Array) -> ModelRows:
        spec, tree = self.spec, self.tree
        placed = spec.elements or spec.measures or spec.constraints or spec.couplers or spec.gears or tree.closing
        return ModelRows(
            joints={item.name: i for i, item in enumerate(self.items)},
            closing={spec.joints[j].name: k for k, j in enumerate(tree.closing)},
            bodies=tree.row_of,
            kinds=joints,
            origins=origins.tolist() if placed else [],
            driven={item.name for item in spec.joints if item.motion is not None},
            inputs=spec.inputs,
            written={item.name: item for item in spec.joints},
        )

    def _motions(self, problems: Problems) -> list[PrescribedMotion | None]:
        motions: list[PrescribedMotion | None] = [None] * len(self.joints)
        for i, item in enumerate(self.items):
            if item.motion is not None:
                try:
                    motions[i] = make_motion(item, self.joints[i], self.position[i].tolist())
                except ItemError as error:
                    problems.add(f'joint "{item.name}": {error}', item.where.at("motion"), item.name)
        return motions

    @property
    def driven(self) -> list[bool]:
        return [item.motion is not None for item in self.items]

    def _check_resistance(self, problems: Problems) -> None:
        position, mass, center, inertia = (values_of(x) for x in (self.position, self.mass, self.center, self.inertia))
        armature: Any = [values_of(x) for x in self.armature]
        given = position, mass, center, inertia, armature, self.driven
        tied = {row for closure in self.closures for row in (closure.body_a, closure.body_b, *(t[0] for t in closure.terms))}
        known = () if self.spec.source is None else self.spec.source.undetermined
        for i, massless, *_ in unresisted(self.tree.inboard, self.joints, *given, tied):
            item, body = self.items[i], self.tree.carried[i]
            if item.name in known:
                continue
            if massless:
                what = f'body "{body}" has no mass, nor has anything beyond it, but joint "{item.name}" lets it move'
                remedy = "Give it a mass, give the joint an armature, or make it fixed."
            else:
                what = f'body "{body}" has no inertia in a direction in which joint "{item.name}" lets it move'
                remedy = "Give it inertia (a rod: a radius), give the joint an armature, or choose another joint."
            problems.add(f"{what}: its acceleration is undetermined. {remedy}", item.where, item.name)

    def fields(self) -> dict[str, Any]:
        """The fields of the model."""
        q, v = self._initial()
        free = np.array([joint.kind == "free" for joint in self.joints])
        alone = len(self.states)
        return {
            "name": self.spec.name,
            **self._rows(),
            "position": _and_zeros(np.where(free[:, None], 0.0, self.position), alone),
            "mass": _and_zeros(self.mass, alone),
            "center": _and_zeros(self.center, alone),
            "inertia": _and_zeros(self.inertia, alone),
            "armature": as_array([*(x for of_joint in self._moving(self.armature) for x in of_joint), *[1.0] * alone]),
            "gravity": as_array(self.spec.gravity),
            "given_q": as_array(q),
            "given_v": as_array(v),
            "duration": None if self.spec.duration is None else as_number(self.spec.duration),
            "step": None if self.spec.step is None else as_number(self.spec.step),
            "motions": (*self.motions, *[None] * alone) if any(self.driven) else (),
            "elements": self.elements,
            "inputs": self.inputs,
            "measures": self.measures,
            "signals": self.signals,
            "closures": self.closures,
            "limits": self._limits(),
            "held_q": self._held("q"),
            "held_v": self._held("v"),
            "source": self.spec.source,
        }

    def _limits(self) -> tuple[Limits | None, ...]:
        given = [None if item.limits is None else limits_of(item.limits) for item in self.items]
        return (*given, *[None] * len(self.states)) if any(given) else ()

    def _moving(self, rows: Sequence[Any]) -> list[Any]:
        """The rows of the joints that are not driven."""
        return [row for row, driven in zip(rows, self.driven, strict=True) if not driven]

    def _held(self, what: str) -> tuple[str, ...]:
        """Joints whose coordinates, or velocities, [initial] gives."""
        moving = {item.name for item in self._moving(self.items)}
        return tuple(s.joint for s in self.spec.initial if getattr(s, what) is not None and s.joint in moving)

    def _initial(self) -> tuple[list[float], list[float]]:
        written = {start.joint: start for start in self.spec.initial}
        q: list[float] = []
        v: list[float] = []
        rows = list(zip(self.items, self.joints, self.position, strict=True))
        for item, joint, offset in self._moving(rows):
            start = written.get(item.name, InitialSpec(item.name))
            q.extend(_initial_q(joint, start.q, offset))
            v.extend(start.v if start.v is not None else (0.0,) * joint.nv)
        return q, [*v, *(as_number(item.initial) for item in self.spec.states)]


def _and_zeros(rows: Array, count: int) -> Array:
    """Rows of user-defined states are zero."""
    return rows if count == 0 else np.concatenate([rows, np.zeros((count, *rows.shape[1:]))])


def limits_of(item: LimitsSpec) -> Limits:
    """The numbers of limits whose formulas have been evaluated."""
    lower, upper, velocity, effort = (
        None if x is None else as_number(x) for x in (item.lower, item.upper, item.velocity, item.effort)
    )
    return Limits(lower, upper, velocity, effort)


def _centers(bodies: Sequence[MassProperties], origins: Array) -> Array:
    """Centres of mass from the bodies' origins; zero for a body without mass that gives none."""
    given = np.array([body.center is not None for body in bodies])
    return np.where(given[:, None], _between(origins, as_array([body.center or ORIGIN for body in bodies])), 0.0)


def _between(starts: Array, ends: Array) -> Array:
    """Vectors from points to points of the world; equal coordinates leave no rounding, so that equal parts are equal."""
    size = 4 * np.finfo(float).eps * np.maximum(np.abs(values_of(starts)), np.abs(values_of(ends)))
    return on_constants(lambda away: np.where(np.abs(away) <= size, 0.0, away), ends - starts)


def _initial_q(joint: Joint, q: Any, offset: Array) -> list[float]:
    """The initial q as written, quaternions normalised; else the design position, which is its point for a free joint."""
    if q is None:
        design = list(joint.neutral)
        return [*offset.tolist(), *design[3:]] if joint.kind == "free" else design
    if joint.quaternion is None:
        return list(q)
    k = joint.quaternion
    unit = as_array(q[k : k + 4]) / length_of(q[k : k + 4])
    return [*q[:k], *unit.tolist(), *q[k + 4 :]]
