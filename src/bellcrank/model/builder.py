"""A mechanism written in Python: the same Spec as a model file gives.

    m = Mechanism("pendulum", duration=5.0)
    m.parameter("L", 1.0)
    m.point("tip", ("=L", 0, 0))
    m.rod("arm", "pivot", "tip", mass=2.0)
    m.joint("hinge", "revolute", "ground", "arm", point="pivot", axis="y")
    model = m.build()

A number may be a formula, ``"=L*cos(a)"``; a place the name of a point, (x, y, z), or ``in_body("arm", (x, y, z))``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import ModelError
from .building.build import build
from .model import Model
from .parameters.expressions import Formula, FormulaError
from .spec.elements import (
    ELEMENT_SPECS,
    BushingSpec,
    CouplerSpec,
    DistanceSpec,
    ForceSpec,
    FrictionSpec,
    JointDamper,
    JointSpring,
    LineDamper,
    LineSpring,
    MotorSpec,
    PointOnLineSpec,
    PointOnPlaneSpec,
    StopSpec,
    SumDamper,
    SumSpring,
)
from .spec.fields import (
    Direction,
    FormulaText,
    InBody,
    Inertia,
    Names,
    Number,
    Numbers,
    Position,
    Record,
    Rows,
    Triple,
    Vector3,
    fields_of,
)
from .spec.items import Attachment
from .spec.laws import LawSpec, MotionSpec, PolynomialLaw, RateLaw, SineLaw, TableLaw
from .spec.measures import (
    AngleMeasure,
    Arrow,
    CoordinateMeasure,
    DistanceMeasure,
    ForceMeasure,
    FormulaMeasure,
    PositionMeasure,
    VelocityMeasure,
)
from .spec.shapes import NO_INERTIA, Box, Cylinder, MassProperties, Rod, Shape, Sphere
from .spec.spec import AssemblySpec, BodySpec, CopySpec, InitialSpec, JointSpec, Mesh, ParameterSpec, PointSpec, Spec

Value = float | str | Formula  # a number, or a formula "=..."
Vector = Sequence[Value]
Where3 = str | Vector | InBody  # the name of a point, a vector, or a place in a body's frame
Axis = str | Vector  # "x", "-y", ... or a vector
End = tuple[str, Where3]  # a body, and a place on it
Pairs = Iterable[Sequence[Value]]

AXES: dict[str, Triple] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
AXES |= {"-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0)}
ORDER = {section: i for i, section in enumerate(dict.fromkeys(cls.section for cls in ELEMENT_SPECS))}


def in_body(body: str, at: Vector) -> InBody:
    """A place in the frame of a body."""
    return InBody(body, triple(at))


def number(value: Any) -> Any:
    """A float, or a formula from a text that begins with =."""
    if isinstance(value, Formula):
        return value
    if isinstance(value, str):
        if not value.lstrip().startswith("="):
            raise ModelError(f'"{value}" is no number. A formula begins with =.')
        try:
            return Formula(value.lstrip()[1:].strip())
        except FormulaError as error:
            raise ModelError(f'the formula "{value}": {error}.') from None
    try:
        return float(value) + 0.0
    except (TypeError, ValueError):
        raise ModelError(f"{value!r} is no number.") from None


def triple(value: Any) -> Triple:
    values = [] if isinstance(value, str) else [number(x) for x in value]
    if len(values) != 3:
        raise ModelError(f"{value!r} is no vector. Give three numbers.")
    x, y, z = values
    return x, y, z


def _place(value: Any) -> Any:
    return value if isinstance(value, str | InBody) else triple(value)


def _direction(value: Any) -> Triple:
    if isinstance(value, str) and value not in AXES:
        raise ModelError(f'"{value}" is no direction. Give "x", "-y" and so on, or a vector.')
    return AXES[value] if isinstance(value, str) else triple(value)


def _inertia(value: Any) -> Any:
    rows = list(value)
    if all(isinstance(x, Sequence) and not isinstance(x, str) for x in rows):
        return tuple(triple(row) for row in rows)
    x, y, z = triple(rows)
    return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)


def _record(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    body, where = value
    return Attachment(body, _place(where))


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(name, str) for name in value):
        raise ModelError(f"{value!r} are no names of joints. Give a list of texts.")
    return tuple(value)


CONVERT: dict[type[Any], Any] = {
    Number: number,
    Numbers: lambda value: number(value) if isinstance(value, str | float | int | Formula) else tuple(map(number, value)),
    Vector3: triple,
    Direction: _direction,
    Position: _place,
    Inertia: _inertia,
    FormulaText: number,
    Names: _names,
    Rows: lambda rows: tuple((number(x), number(y)) for x, y in rows),
    Record: _record,
}


def make(cls: type[Any], *head: Any, **given: Any) -> Any:
    """An item of a Spec from plain Python values; None leaves a field out."""
    values = {}
    for attribute, _, kind, _, _ in fields_of(cls):
        value = given.pop(attribute, None)
        if value is not None:
            values[attribute] = CONVERT.get(type(kind), lambda x: x)(value)
    assert not given, given
    return cls(*head, **values)


# --- laws of motion


def rate(rate: Value, start: Value = 0.0) -> RateLaw:
    """start + rate t"""
    return make(RateLaw, rate=rate, start=start)


def polynomial(*coefficients: Value) -> PolynomialLaw:
    """c0 + c1 t + c2 t^2 + ..."""
    return make(PolynomialLaw, polynomial=coefficients)


def sine(amplitude: Value, frequency: Value, phase: Value = 0.0, offset: Value = 0.0) -> SineLaw:
    """offset + amplitude sin(2 pi frequency t + phase)"""
    return make(SineLaw, amplitude=amplitude, frequency=frequency, phase=phase, offset=offset)


def table(rows: Pairs, outside: str = "error") -> TableLaw:
    """A spline through rows of time and coordinate."""
    return make(TableLaw, table=rows, outside=outside)


def _group(joint: str, first: Mapping[str, int]) -> int:
    copy = joint.rpartition(".")[0]
    return first[copy] if copy else -1


class Parts:
    """What a mechanism and an assembly have in common."""

    def __init__(self) -> None:
        self._lists: dict[str, list[Any]] = {}

    def _add(self, field: str, item: Any) -> None:
        self._lists.setdefault(field, []).append(item)

    def _parts(self) -> dict[str, Any]:
        found = {field: tuple(items) for field, items in self._lists.items()}
        found["elements"] = tuple(sorted(found.get("elements", ()), key=lambda item: ORDER[item.section]))
        starts = found.get("initial", ())
        first = {copy: i for i, copy in reversed(list(enumerate(start.joint.rpartition(".")[0] for start in starts)))}
        found["initial"] = tuple(sorted(starts, key=lambda start: _group(start.joint, first)))  # as files group them
        return found

    def parameter(self, name: str, value: Value) -> None:
        self._add("parameters", make(ParameterSpec, name, value=value))

    def point(self, name: str, position: Vector | InBody) -> None:
        self._add("points", make(PointSpec, name, position=position))

    # --- bodies

    def body(self, name: str, mass: Value, center: Where3 | None = None, inertia: Any = None, mesh: Mesh | None = None) -> None:
        """Mass, centre and inertia about it: three principal moments or three rows; a point mass without inertia."""
        rows = NO_INERTIA if inertia is None else _inertia(inertia)
        shape = MassProperties(number(mass), None if center is None else _place(center), rows)
        self._body(name, shape, mesh)

    def rod(
        self,
        name: str,
        start: Where3,
        end: Where3,
        *,
        mass: Value | None = None,
        radius: Value = 0.0,
        density: Value | None = None,
        mesh: Mesh | None = None,
    ) -> None:
        self._body(name, make(Rod, start=start, end=end, mass=mass, radius=radius, density=density), mesh)

    def cylinder(
        self,
        name: str,
        start: Where3,
        end: Where3,
        radius: Value,
        *,
        mass: Value | None = None,
        inner_radius: Value = 0.0,
        density: Value | None = None,
        mesh: Mesh | None = None,
    ) -> None:
        given = {"mass": mass, "inner_radius": inner_radius, "density": density}
        self._body(name, make(Cylinder, start=start, end=end, radius=radius, **given), mesh)

    def box(
        self,
        name: str,
        center: Where3,
        size: Vector,
        *,
        mass: Value | None = None,
        density: Value | None = None,
        axis: Axis | None = None,
        axis2: Axis | None = None,
        mesh: Mesh | None = None,
    ) -> None:
        given = {"mass": mass, "density": density, "axis": axis, "axis2": axis2}
        self._body(name, make(Box, center=center, size=size, **given), mesh)

    def sphere(
        self,
        name: str,
        center: Where3,
        radius: Value,
        *,
        mass: Value | None = None,
        density: Value | None = None,
        mesh: Mesh | None = None,
    ) -> None:
        self._body(name, make(Sphere, center=center, radius=radius, mass=mass, density=density), mesh)

    def _body(self, name: str, shape: Shape, mesh: Mesh | None) -> None:
        self._add("bodies", BodySpec(name, shape, mesh))

    # --- joints

    def joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        point: Where3,
        *,
        axis: Axis | None = None,
        axis2: Axis | None = None,
        pitch: Value | None = None,
        armature: Value | Vector = 0.0,
        motion: LawSpec | Mapping[str, LawSpec] | None = None,
        motion_axis: Axis | None = None,
        cut: bool | None = None,
        child_point: Where3 | None = None,
    ) -> None:
        """``motion``: one law, or laws by the names of coordinates; a spherical or free joint turns about motion_axis.

        ``cut``: whether it is the joint of its loop that is cut; the program's choice unless given.
        ``child_point``: where a joint that is cut is on the child, if its loop is open in the design position.
        """
        given = {"axis": axis, "axis2": axis2, "pitch": pitch, "armature": armature, "cut": cut, "child_point": child_point}
        spec = None
        if motion is not None:
            laws = tuple(motion.items()) if isinstance(motion, Mapping) else (("", motion),)
            spec = MotionSpec(laws, None if motion_axis is None else _direction(motion_axis))
        item = make(JointSpec, name, kind=kind, parent=parent, child=child, point=point, motion=spec, **given)
        self._add("joints", item)

    def start(self, joint: str, q: Value | Vector | None = None, v: Value | Vector | None = None) -> None:
        """The coordinates and velocities of a joint at t = 0."""
        many = [None if x is None else (x,) if isinstance(x, str | float | int | Formula) else x for x in (q, v)]
        self._add("initial", make(InitialSpec, joint, q=many[0], v=many[1]))

    # --- constraints besides joints

    def distance(self, name: str, start: End, end: End, length: Value | None = None, *, motion: LawSpec | None = None) -> None:
        """Two points, each (body, place), keep their distance, which is as designed unless given, or follows a law."""
        self._add("constraints", make(DistanceSpec, name, start=start, end=end, length=length, motion=motion))

    def point_on_line(self, name: str, start: End, end: End, axis: Axis) -> None:
        """The end stays on the line through the start along the axis, fixed to the body of the start."""
        self._add("constraints", make(PointOnLineSpec, name, start=start, end=end, axis=axis))

    def point_on_plane(
        self, name: str, start: End, end: End, axis: Axis, offset: Value | None = None, *, motion: LawSpec | None = None
    ) -> None:
        """axis . (end - start) = offset, which is as designed unless given, or follows a law; the axis moves with the start."""
        given = {"axis": axis, "offset": offset, "motion": motion}
        self._add("constraints", make(PointOnPlaneSpec, name, start=start, end=end, **given))

    def coupler(
        self,
        name: str,
        joints: Sequence[str],
        factors: Sequence[Value] | None = None,
        *,
        ratio: Value | None = None,
        offset: Value | None = None,
        motion: LawSpec | None = None,
    ) -> None:
        """sum of factor * coordinate = offset; or of two joints, first = ratio * second (+ offset)."""
        given = {"factors": factors, "ratio": ratio, "offset": offset, "motion": motion}
        self._add("couplers", make(CouplerSpec, name, joints=joints, **given))

    # --- force elements

    def spring(
        self,
        name: str,
        joint: str,
        stiffness: Value,
        *,
        rest: Value = 0.0,
        preload: Value = 0.0,
        coordinate: str | None = None,
    ) -> None:
        """A spring on a joint."""
        given = {"rest": rest, "preload": preload, "coordinate": coordinate}
        self._add("elements", make(JointSpring, name, joint=joint, stiffness=stiffness, **given))

    def line_spring(
        self,
        name: str,
        start: End,
        end: End,
        stiffness: Value | None = None,
        *,
        damping: Value = 0.0,
        length: Value | None = None,
        preload: Value = 0.0,
        table: Pairs | None = None,
        outside: str = "error",
    ) -> None:
        """A spring and damper between two points, each (body, place)."""
        given = {"damping": damping, "length": length, "preload": preload, "table": table, "outside": outside}
        self._add("elements", make(LineSpring, name, start=start, end=end, stiffness=stiffness, **given))

    def sum_spring(
        self,
        name: str,
        joints: Sequence[str],
        factors: Sequence[Value],
        stiffness: Value,
        *,
        rest: Value = 0.0,
        preload: Value = 0.0,
    ) -> None:
        """A spring on the sum of factor * coordinate over some joints: an elastic belt, a tendon."""
        given = {"stiffness": stiffness, "rest": rest, "preload": preload}
        self._add("elements", make(SumSpring, name, joints=joints, factors=factors, **given))

    def sum_damper(self, name: str, joints: Sequence[str], factors: Sequence[Value], damping: Value) -> None:
        """A damper on the sum of factor * coordinate over some joints."""
        self._add("elements", make(SumDamper, name, joints=joints, factors=factors, damping=damping))

    def damper(self, name: str, joint: str, damping: Value, *, coordinate: str | None = None) -> None:
        self._add("elements", make(JointDamper, name, joint=joint, damping=damping, coordinate=coordinate))

    def line_damper(self, name: str, start: End, end: End, damping: Value) -> None:
        self._add("elements", make(LineDamper, name, start=start, end=end, damping=damping))

    def friction(self, name: str, joint: str, effort: Value, *, velocity: Value = 0.01, coordinate: str | None = None) -> None:
        given = {"effort": effort, "velocity": velocity, "coordinate": coordinate}
        self._add("elements", make(FrictionSpec, name, joint=joint, **given))

    def stop(
        self,
        name: str,
        joint: str,
        stiffness: Value,
        *,
        lower: Value | None = None,
        upper: Value | None = None,
        damping: Value = 0.0,
        coordinate: str | None = None,
    ) -> None:
        given = {"lower": lower, "upper": upper, "damping": damping, "coordinate": coordinate}
        self._add("elements", make(StopSpec, name, joint=joint, stiffness=stiffness, **given))

    def motor(
        self,
        name: str,
        joint: str,
        effort: Value | None = None,
        *,
        table: Pairs | None = None,
        outside: str = "error",
        input: str | None = None,
        gain: Value = 1.0,
        coordinate: str | None = None,
    ) -> None:
        """A constant effort, a table of time, or an input."""
        given = {"table": table, "outside": outside, "input": input, "gain": gain, "coordinate": coordinate}
        self._add("elements", make(MotorSpec, name, joint=joint, effort=effort, **given))

    def bushing(
        self,
        name: str,
        parent: str,
        child: str,
        point: Where3,
        *,
        stiffness: Vector = (0.0, 0.0, 0.0),
        damping: Vector = (0.0, 0.0, 0.0),
        turning_stiffness: Vector = (0.0, 0.0, 0.0),
        turning_damping: Vector = (0.0, 0.0, 0.0),
        axis: Axis | None = None,
        axis2: Axis | None = None,
    ) -> None:
        given = {"stiffness": stiffness, "damping": damping, "axis": axis, "axis2": axis2}
        given |= {"turning_stiffness": turning_stiffness, "turning_damping": turning_damping}
        self._add("elements", make(BushingSpec, name, parent=parent, child=child, point=point, **given))

    def force(
        self,
        name: str,
        body: str,
        point: Where3,
        force: Vector = (0.0, 0.0, 0.0),
        moment: Vector = (0.0, 0.0, 0.0),
        *,
        axes: str = "world",
    ) -> None:
        self._add("elements", make(ForceSpec, name, body=body, point=point, force=force, moment=moment, axes=axes))

    # --- measures

    def measure_position(self, name: str, body: str, point: Where3, component: str | None = None) -> None:
        self._add("measures", make(PositionMeasure, name, body=body, point=point, component=component))

    def measure_distance(self, name: str, start: End, end: End) -> None:
        self._add("measures", make(DistanceMeasure, name, start=start, end=end))

    def measure_coordinate(self, name: str, joint: str, coordinate: str | None = None) -> None:
        self._add("measures", make(CoordinateMeasure, name, joint=joint, coordinate=coordinate))

    def measure_angle(self, name: str, start: tuple[str, Axis], end: tuple[str, Axis]) -> None:
        """Between two directions, each (body, direction)."""
        arrows = [Arrow(body, _direction(direction)) for body, direction in (start, end)]
        self._add("measures", AngleMeasure(name, arrows[0], arrows[1]))

    def measure_velocity(
        self, name: str, body: str, point: Where3, relative_to: End | None = None, component: str | None = None
    ) -> None:
        given = {"relative_to": relative_to, "component": component}
        self._add("measures", make(VelocityMeasure, name, body=body, point=point, **given))

    def measure_force(self, name: str, element: str, component: str | None = None, *, coordinate: str | None = None) -> None:
        """Of a force element, a constraint, a coupler, or of the drive of a joint, along ``coordinate`` if it has several."""
        given = {"element": element, "component": component, "coordinate": coordinate}
        self._add("measures", make(ForceMeasure, name, **given))

    def measure_formula(self, name: str, value: str) -> None:
        self._add("measures", make(FormulaMeasure, name, value=value))


class Mechanism(Parts):
    """Collects what a mechanism is made of; ``build`` judges it and makes the Model."""

    def __init__(
        self,
        name: str = "model",
        *,
        gravity: Vector = (0.0, 0.0, -9.81),
        duration: Value | None = None,
        step: Value | None = None,
        inputs: Sequence[str] = (),
    ) -> None:
        super().__init__()
        if not isinstance(name, str) or not name:
            raise ModelError(f"the name of a mechanism is {name!r}. Give a text.")
        self.name, self.gravity, self.inputs = name, triple(gravity), tuple(inputs)
        self.duration = None if duration is None else number(duration)
        self.step = None if step is None else number(step)
        self._assemblies: dict[str, Parts] = {}
        self._copies: list[CopySpec] = []

    def assembly(self, name: str) -> Parts:
        """A part that is described once and copied: add to what is returned as to the mechanism itself."""
        if name in self._assemblies:
            raise ModelError(f'there is an assembly "{name}" already.')
        self._assemblies[name] = Parts()
        return self._assemblies[name]

    def copy(
        self,
        name: str,
        of: str,
        *,
        offset: Vector = (0.0, 0.0, 0.0),
        mirror: str | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> None:
        given = tuple(make(ParameterSpec, key, value=value) for key, value in (parameters or {}).items())
        self._copies.append(CopySpec(name, of, triple(offset), mirror, given))

    @property
    def spec(self) -> Spec:
        empty: dict[str, Any] = {"bodies": (), "joints": ()}
        return Spec(
            self.name,
            **empty | self._parts(),
            gravity=self.gravity,
            duration=self.duration,
            step=self.step,
            inputs=self.inputs,
            assemblies=tuple(AssemblySpec(name, **parts._parts()) for name, parts in self._assemblies.items()),
            copies=tuple(self._copies),
        )

    def build(self) -> Model:
        """The model; raises ModelError with everything that is wrong."""
        return build(self.spec)
