"""A mechanism written in Python: the same Spec as a model file gives.

    m = Mechanism("pendulum", duration=5.0)
    m.parameter("L", 1.0)
    m.point("tip", ("=L", 0, 0))
    m.rod("arm", "pivot", "tip", mass=2.0)
    m.joint("hinge", "revolute", "ground", "arm", point="pivot", axis="y")
    model = m.build()

A number may be a formula, ``"=L*cos(a)"``, or have a unit, ``"120 mm"``; a place is the name of a point, (x, y, z),
``in_body("arm", (x, y, z))`` or a construction (geometry/places.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import ModelError
from .building.build import build
from .geometry import gear_specs
from .geometry.compound import Compound
from .geometry.mesh_solid import MeshSolid, integrals_of
from .model import Model
from .python.laws import BY_KEY as LAWS_BY_KEY
from .python.laws import law
from .spec import elements, laws, measures, shapes
from .spec.fields import XYZ, Construction, InBody, fields_of
from .spec.laws import LawSpec, StateSpec
from .spec.spec import AssemblySpec, BodySpec, CopySpec, InitialSpec, JointSpec, Mesh, ParameterSpec, PointSpec, Spec, TurnSpec
from .spec.values import (
    ONE,
    Axis,
    End,
    Pairs,
    Value,
    Vector,
    Where3,
    direction,
    make,
    names,
    number,
    one_of,
    place,
    principal_or_rows,
    text,
    triple,
)

ORDER = {section: i for i, section in enumerate(dict.fromkeys(cls.section for cls in elements.ELEMENT_SPECS))}


# --- laws of motion


def rate(rate: Value, start: Value = 0.0) -> laws.RateLaw:
    """start + rate t"""
    return make(laws.RateLaw, rate=rate, start=start)


def polynomial(*coefficients: Value) -> laws.PolynomialLaw:
    """c0 + c1 t + c2 t^2 + ..."""
    return make(laws.PolynomialLaw, polynomial=coefficients)


def sine(amplitude: Value, frequency: Value, phase: Value = 0.0, offset: Value = 0.0) -> laws.SineLaw:
    """offset + amplitude sin(2 pi frequency t + phase)"""
    return make(laws.SineLaw, amplitude=amplitude, frequency=frequency, phase=phase, offset=offset)


def table(rows: Pairs, outside: str = "error", interpolation: str = "cubic") -> laws.TableLaw:
    """A curve through rows of time and coordinate; "cubic", a natural spline, has continuous accelerations."""
    return make(laws.TableLaw, table=rows, outside=outside, interpolation=interpolation)


def _laws(motion: Any) -> tuple[tuple[str, LawSpec], ...]:
    """One law without a name, or laws by coordinate: a mapping that has no key of a law."""
    if isinstance(motion, Mapping) and not any(key in LAWS_BY_KEY for key in motion):
        return tuple((text(coordinate), law(given)) for coordinate, given in motion.items())
    return (("", law(motion)),)


PARTS: dict[str, type[Any]] = {"": shapes.MassProperties, **{cls.shape: cls for cls in shapes.SOLIDS}}


def part(shape: str, **given: Any) -> Any:
    """A shape of a compound body: "rod", "cylinder", "box" or "sphere", with the arguments of the methods of these names."""
    if shape not in PARTS or not shape:
        raise ModelError(f"{shape!r} is not a shape. Choose from {', '.join(name for name in PARTS if name)}.")
    known = [field.attribute for field in fields_of(PARTS[shape])]
    for key in given:
        if key not in known:
            raise ModelError(f'a {shape} has no "{key}". It has {", ".join(known)}.')
    return make(PARTS[shape], **given)


def _group(joint: str, first: Mapping[str, int]) -> int:
    copy = joint.rpartition(".")[0]
    return first[copy] if copy else -1


def _arrow(given: tuple[str, Axis]) -> measures.Arrow:
    if not isinstance(given, tuple) or len(given) != 2:
        raise ModelError(f"{given!r} is not a direction on a body. Give (body, direction).")
    return measures.Arrow(text(given[0]), direction(given[1]))


def _turn(given: Any) -> TurnSpec:
    if not isinstance(given, tuple) or len(given) not in (2, 3) or given[0] not in XYZ:
        raise ModelError(f'turn is {given!r}. Give ("z", angle), or ("z", angle, point of the axis), of "x", "y" or "z".')
    made: TurnSpec = make(TurnSpec, **dict(zip(("axis", "angle", "about"), given, strict=False)))
    return made


class Parts:
    """The part that a mechanism and an assembly have in common."""

    def __init__(self) -> None:
        self._lists: dict[str, list[Any]] = {}

    def _add(self, field: str, item: Any) -> None:
        self._lists.setdefault(field, []).append(item)

    def _item(self, field: str, cls: type[Any], given: dict[str, Any]) -> None:
        """Adds an item made of the arguments of a method, which have the names of its fields."""
        arguments = {key: value for key, value in given.items() if key not in ("self", "name")}
        if arguments.get("motion") is not None:
            arguments["motion"] = law(arguments["motion"])
        self._add(field, make(cls, given["name"], **arguments))

    def _parts(self) -> dict[str, Any]:
        found = {field: tuple(items) for field, items in self._lists.items()}
        found["elements"] = tuple(sorted(found.get("elements", ()), key=lambda item: ORDER[item.section]))
        found["gears"] = tuple(sorted(found.get("gears", ()), key=lambda item: gear_specs.GEARS.index(type(item))))
        starts = found.get("initial", ())
        first = {copy: i for i, copy in reversed(list(enumerate(start.joint.rpartition(".")[0] for start in starts)))}
        found["initial"] = tuple(sorted(starts, key=lambda start: _group(start.joint, first)))  # as files group them
        return found

    def parameter(self, name: str, value: Value) -> None:
        self._item("parameters", ParameterSpec, locals())

    def table(
        self,
        name: str,
        rows: Pairs | None = None,
        *,
        x: Vector | None = None,
        y: Vector | None = None,
        values: Sequence[Vector] | None = None,
        interpolation: str | None = None,
        outside: str = "error",
    ) -> None:
        """A table that formulas call by its name: rows of x and value, or of two arguments with values for each x and y."""
        self._item("tables", laws.TableSpec, locals())

    def point(self, name: str, position: Vector | InBody | Construction) -> None:
        self._item("points", PointSpec, locals())

    # --- bodies

    def body(self, name: str, mass: Value, center: Where3 | None = None, inertia: Any = None, mesh: Mesh | None = None) -> None:
        """Mass, centre and inertia about it: three principal moments or three rows; a point mass without inertia."""
        rows = shapes.NO_INERTIA if inertia is None else principal_or_rows(inertia)
        shape = shapes.MassProperties(number(mass), None if center is None else place(center), rows)
        self._add_body(name, shape, mesh)

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
        self._solid(shapes.Rod, locals())

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
        self._solid(shapes.Cylinder, locals())

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
        self._solid(shapes.Box, locals())

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
        self._solid(shapes.Sphere, locals())

    def compound(
        self,
        name: str,
        parts: Sequence[Any],
        *,
        holes: Sequence[Any] = (),
        density: Value | None = None,
        mesh: Mesh | None = None,
    ) -> None:
        """A body of several shapes, of which holes are taken away: each made by ``part("box", center=..., size=...)``."""
        groups = [group if isinstance(group, Sequence) else (group,) for group in (parts, holes)]
        found = [tuple(one_of(tuple(PARTS.values()), shape) for shape in group) for group in groups]
        self._add_body(name, Compound(found[0], found[1], None if density is None else number(density)), mesh)

    def from_mesh(
        self,
        name: str,
        file: str,
        *,
        density: Value | None = None,
        mass: Value | None = None,
        scale: Value = 1.0,
        at: Where3 = (0.0, 0.0, 0.0),
        folder: str | Path = ".",
    ) -> None:
        """A body with the mass properties of a closed mesh, whose file is in the folder of the model."""
        shape = make(MeshSolid, file=file, scale=scale, at=at, density=density, mass=mass)
        self._add_body(name, replace(shape, integrals=integrals_of(Path(folder) / shape.file)), None)

    def _solid(self, cls: type[Any], given: dict[str, Any]) -> None:
        measures = {key: value for key, value in given.items() if key not in ("self", "name", "mesh")}
        self._add_body(given["name"], make(cls, **measures), given["mesh"])

    def _add_body(self, name: str, shape: Any, mesh: Mesh | None) -> None:
        self._add("bodies", BodySpec(text(name), shape, None if mesh is None else one_of((Mesh,), mesh)))

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
        motion: Any = None,
        motion_axis: Axis | None = None,
        cut: bool | None = None,
        child_point: Where3 | None = None,
    ) -> None:
        """``motion``: one law in one of the forms of model.python.laws, or laws by the names of coordinates; a spherical or
        free joint turns about motion_axis.

        ``cut``: whether it is the joint of its loop that is cut; the program's choice unless given.
        ``child_point``: where a joint that is cut is on the child, if its loop is open in the design position.
        """
        given = {"axis": axis, "axis2": axis2, "pitch": pitch, "armature": armature, "cut": cut, "child_point": child_point}
        spec = None
        if motion is not None:
            spec = laws.MotionSpec(_laws(motion), None if motion_axis is None else direction(motion_axis))
        item = make(JointSpec, name, kind=kind, parent=parent, child=child, point=point, motion=spec, **given)
        self._add("joints", item)

    def start(self, joint: str, q: Value | Vector | None = None, v: Value | Vector | None = None) -> None:
        """The coordinates and velocities of a joint at t = 0."""
        many = [None if x is None else (x,) if isinstance(x, ONE) else x for x in (q, v)]
        self._add("initial", make(InitialSpec, joint, q=many[0], v=many[1]))

    # --- constraints besides joints

    def distance(self, name: str, start: End, end: End, length: Value | None = None, *, motion: Any = None) -> None:
        """Two points, each (body, place), keep their distance, which is as designed unless given, or follows a law."""
        self._item("constraints", elements.DistanceSpec, locals())

    def point_on_line(self, name: str, start: End, end: End, axis: Axis) -> None:
        """The end stays on the line through the start along the axis, fixed to the body of the start."""
        self._item("constraints", elements.PointOnLineSpec, locals())

    def point_on_plane(
        self, name: str, start: End, end: End, axis: Axis, offset: Value | None = None, *, motion: Any = None
    ) -> None:
        """axis . (end - start) = offset, which is as designed unless given, or follows a law; the axis moves with the start."""
        self._item("constraints", elements.PointOnPlaneSpec, locals())

    def perpendicular(self, name: str, start: End, end: End, axis: Axis, axis2: Axis) -> None:
        """The axis, which moves with the body of the start, and axis2, which moves with that of the end, stay perpendicular."""
        self._item("constraints", elements.PerpendicularSpec, locals())

    def coincident(self, name: str, start: End, end: End) -> None:
        """Two points, each (body, place), stay in one place."""
        self._item("constraints", elements.CoincidentSpec, locals())

    def coupler(
        self,
        name: str,
        joints: Sequence[str],
        factors: Sequence[Value] | None = None,
        *,
        ratio: Value | None = None,
        offset: Value | None = None,
        motion: Any = None,
        table: Pairs | None = None,
        outside: str = "error",
        interpolation: str = "cubic",
    ) -> None:
        """sum of factor * coordinate = offset; or of two joints, first = ratio * second or table(second) (+ offset).

        It loads no bearings; gear, rack and belt do.
        """
        self._item("couplers", elements.CouplerSpec, locals())

    def gear(
        self,
        name: str,
        bodies: Sequence[str],
        *,
        radii: Sequence[Value] | None = None,
        teeth: Sequence[Value] | None = None,
        module: Value | None = None,
        internal: bool = False,
        pressure_angle: Value = gear_specs.TWENTY_DEGREES,
        helix_angle: Value = 0.0,
        point: Where3 | None = None,
    ) -> None:
        """Two toothed wheels, on parallel axes or as bevel gears on axes that meet; the tooth force loads the bearings."""
        self._item("gears", gear_specs.GearSpec, locals())

    def rack(
        self,
        name: str,
        pinion: str,
        rack: str,
        point: Where3,
        *,
        pressure_angle: Value = gear_specs.TWENTY_DEGREES,
        helix_angle: Value = 0.0,
    ) -> None:
        """A pinion and a rack that slides; ``point`` is on the rack's pitch line, and the radius follows from it."""
        self._item("gears", gear_specs.RackSpec, locals())

    def belt(
        self,
        name: str,
        bodies: Sequence[str],
        radii: Sequence[Value],
        *,
        crossed: bool = False,
        tension: Value | None = None,
        point: Where3 | None = None,
    ) -> None:
        """A belt or chain around two pulleys; its two sides load the bearings."""
        self._item("gears", gear_specs.BeltSpec, locals())

    # --- user-defined states

    def state(self, name: str, rate: Value, initial: Value = 0.0, *, unit: str = "") -> None:
        """A number that changes at a rate (constant, a formula, a function), integrated with the motion; forces may use it."""
        self._item("states", StateSpec, locals())

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
        self._item("elements", elements.JointSpring, locals())

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
        interpolation: str = "pchip",
        only: str | None = None,
    ) -> None:
        """A spring and damper between two points, each (body, place); only = "push" or "pull" makes it one-sided."""
        self._item("elements", elements.LineSpring, locals())

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
        self._item("elements", elements.SumSpring, locals())

    def sum_damper(self, name: str, joints: Sequence[str], factors: Sequence[Value], damping: Value) -> None:
        """A damper on the sum of factor * coordinate over some joints."""
        self._item("elements", elements.SumDamper, locals())

    def damper(self, name: str, joint: str, damping: Value, *, coordinate: str | None = None) -> None:
        self._item("elements", elements.JointDamper, locals())

    def line_damper(self, name: str, start: End, end: End, damping: Value) -> None:
        self._item("elements", elements.LineDamper, locals())

    def friction(
        self,
        name: str,
        joint: str,
        effort: Value | None = None,
        *,
        velocity: Value | None = None,
        stiffness: Value | None = None,
        damping: Value = 0.0,
        coordinate: str | None = None,
        coefficient: Value | None = None,
        radius: Value | None = None,
    ) -> None:
        """Smooth; with a stiffness one that holds; with a coefficient one that grows with the joint's reaction."""
        self._item("elements", elements.FrictionSpec, locals())

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
        self._item("elements", elements.StopSpec, locals())

    def line_stop(
        self,
        name: str,
        start: End,
        end: End,
        stiffness: Value,
        *,
        lower: Value | None = None,
        upper: Value | None = None,
        damping: Value = 0.0,
    ) -> None:
        """Limits of the distance between two points, each (body, place)."""
        self._item("elements", elements.LineStop, locals())

    def cable(
        self, name: str, start: End, end: End, stiffness: Value, *, damping: Value = 0.0, length: Value | None = None
    ) -> None:
        """A cable between two points, which pulls where it is longer than its length, and else is slack."""
        self._item("elements", elements.CableSpec, locals())

    def actuator(self, name: str, start: End, end: End, force: Value) -> None:
        """A tension between two points: a number, or a formula over the time, coordinates, measures and inputs."""
        self._item("elements", elements.ActuatorSpec, locals())

    def contact(
        self,
        name: str,
        body: str,
        point: Where3,
        stiffness: Value,
        *,
        plane: tuple[str, Where3, Axis] | None = None,
        cylinder: tuple[str, Where3, Axis, Value] | None = None,
        inside: bool = False,
        radius: Value = 0.0,
        law: str = "hunt_crossley",
        exponent: Value | None = None,
        damping: Value = 0.0,
        friction: Value = 0.0,
        friction_velocity: Value = 0.01,
    ) -> None:
        """A ball or point against a plane (body, point, normal) or a cylinder (body, point, axis, radius)."""
        given = {key: value for key, value in locals().items() if key not in ("inside", "plane", "cylinder")}
        for key, what, names_ in (
            ("plane", plane, ("body", "point", "normal")),
            ("cylinder", cylinder, ("body", "point", "axis", "radius")),
        ):
            if what is not None and (not isinstance(what, tuple) or len(what) != len(names_)):
                raise ModelError(f'{key} of "{name}" is {what!r}. Give ({", ".join(names_)}).')
        flat = None if plane is None else make(elements.PlaneSpec, **dict(zip(("body", "point", "normal"), plane, strict=True)))
        keys = ("body", "point", "axis", "radius")
        tube = (
            None if cylinder is None else make(elements.CylinderSpec, **dict(zip(keys, cylinder, strict=True)), inside=inside)
        )
        self._item("elements", elements.ContactSpec, given | {"plane": flat, "cylinder": tube})

    def tyre(
        self,
        name: str,
        body: str,
        point: Where3,
        radius: Value,
        stiffness: Value,
        *,
        damping: Value = 0.0,
        up: Axis = "z",
        forward: Axis = "x",
        road: Pairs | None = None,
        interpolation: str = "pchip",
        outside: str = "clamp",
        friction: Value = 0.0,
        friction_velocity: Value = 0.05,
        traction: Value = 0.0,
    ) -> None:
        """A tyre on a road, whose height is a table over the place along forward."""
        self._item("elements", elements.TyreSpec, locals())

    def motor(
        self,
        name: str,
        joint: str,
        effort: Value | None = None,
        *,
        table: Pairs | None = None,
        outside: str = "error",
        interpolation: str = "pchip",
        input: str | None = None,
        gain: Value = 1.0,
        coordinate: str | None = None,
    ) -> None:
        """An effort: constant, a formula, a table of time, or an input."""
        self._item("elements", elements.MotorSpec, locals())

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
        self._item("elements", elements.BushingSpec, locals())

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
        self._item("elements", elements.ForceSpec, locals())

    # --- measures

    def measure_position(
        self,
        name: str,
        body: str,
        point: Where3,
        component: str | None = None,
        *,
        relative_to: End | None = None,
        axes: str | None = None,
    ) -> None:
        """Position of a point; ``relative_to`` another one, (body, point), in the ``axes`` of a body."""
        self._item("measures", measures.PositionMeasure, locals())

    def measure_distance(self, name: str, start: End, end: End, *, rate: bool = False) -> None:
        self._item("measures", measures.DistanceMeasure, locals())

    def measure_coordinate(self, name: str, joint: str, coordinate: str | None = None, *, rate: bool = False) -> None:
        self._item("measures", measures.CoordinateMeasure, locals())

    def measure_angle(
        self, name: str, start: tuple[str, Axis], end: tuple[str, Axis], *, axis: Axis | None = None, rate: bool = False
    ) -> None:
        """Between two directions, each (body, direction); with an ``axis`` on the first body it has a sign."""
        arrows = [_arrow(given) for given in (start, end)]
        about = None if axis is None else direction(axis)
        self._add("measures", measures.AngleMeasure(text(name), arrows[0], arrows[1], about, one_of((bool,), rate)))

    def measure_velocity(
        self,
        name: str,
        body: str,
        point: Where3,
        relative_to: End | None = None,
        component: str | None = None,
        *,
        axes: str | None = None,
        observer: str | None = None,
    ) -> None:
        self._item("measures", measures.VelocityMeasure, locals())

    def measure_acceleration(
        self,
        name: str,
        body: str,
        point: Where3,
        relative_to: End | None = None,
        component: str | None = None,
        *,
        axes: str | None = None,
        observer: str | None = None,
    ) -> None:
        self._item("measures", measures.AccelerationMeasure, locals())

    def measure_reaction(self, name: str, joint: str, component: str | None = None, *, axes: str = "world") -> None:
        """Reaction of the parent on the child: "fx" to "mz", "force", "moment" or all; in "world", "parent" or "child" axes."""
        self._item("measures", measures.ReactionMeasure, locals())

    def measure_force(self, name: str, element: str, component: str | None = None, *, coordinate: str | None = None) -> None:
        """Force of an element, constraint or coupler, or of the drive of a joint, along ``coordinate`` if it has several."""
        self._item("measures", measures.ForceMeasure, locals())

    def measure_formula(self, name: str, value: str, unit: str = "") -> None:
        self._item("measures", measures.FormulaMeasure, locals())


class Mechanism(Parts):
    """A mechanism written in Python: add its bodies, joints and forces; ``build`` checks them and returns the Model."""

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
        self.name, self.gravity, self.inputs = name, triple(gravity), names(inputs, "inputs")
        self.duration = None if duration is None else number(duration)
        self.step = None if step is None else number(step)
        self._assemblies: dict[str, Parts] = {}
        self._copies: list[CopySpec] = []

    def assembly(self, name: str) -> Parts:
        """A part that is described once and copied: add to what is returned as to the mechanism itself."""
        if text(name) in self._assemblies:
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
        turn: tuple[str, Value] | tuple[str, Value, Vector] | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> None:
        """Mirrored in the coordinate ``mirror``, turned by ``(axis, angle)`` or ``(axis, angle, point of the axis)``, moved."""
        turned = None if turn is None else _turn(turn)
        numbers = {} if parameters is None else one_of((Mapping,), parameters)
        given = tuple(make(ParameterSpec, key, value=value) for key, value in numbers.items())
        mirrored = None if mirror is None else text(mirror)
        self._copies.append(CopySpec(text(name), text(of), triple(offset), mirrored, turned, given))

    @property
    def spec(self) -> Spec:
        return Spec(
            self.name,
            **self._parts(),
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
