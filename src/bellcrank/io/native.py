"""Bellcrank's own model file: TOML, ``format = 1``.

Lengths, positions and axes are in the global frame, in the design position; SI units and radians.

    format = 1
    name, gravity, duration, step       gravity [0, 0, -9.81] unless given; step is the interval of the samples
    [points]        NAME = [x, y, z]                         a point below is one of these names, or [x, y, z]
    [bodies.NAME]   mass, center, inertia                    inertia about the centre (io/shapes.py), or one of
                    rod = { from, to, mass, radius }         thin without a radius
                    point_mass = { at, mass }
    [joints.NAME]   type, parent, child, point               bodies by name, or "ground"
                    axis                                     "x", "-y", ... or a vector of any length
                    armature                                 one number, or one for each direction
    [initial]       JOINT = q, or { q, v }                   quaternions w, x, y, z; free: x, y, z, quaternion

The text is parsed by tomllib: tomlkit, which will write files with their comments kept, takes 20 times as long to read and
more than linear time (9 s for 4,000 bodies), and it gives no line numbers either (lines.py).
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from ..errors import ModelError
from ..model import Model, Problems, Spec, Vector, build
from ..model.spec import BodySpec, InitialSpec, JointSpec, PointSpec
from .lines import key_lines
from .points import Points
from .shapes import read_shape
from .table import Source, Table, as_vector

FORMAT = 1
AXES: dict[str, Vector] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
AXES |= {f"-{name}": (0.0 - x, 0.0 - y, 0.0 - z) for name, (x, y, z) in AXES.items()}


def read(text: str, file: str) -> Model:
    """The model in a text; raises ModelError with all of its problems."""
    problems = Problems()
    spec = read_spec(text, file, problems)
    return build(spec, problems)


def read_spec(text: str, file: str, problems: Problems) -> Spec:
    """What the text says. Values that could not be read are placeholders, and their owners are blamed in ``problems``."""
    values, source = _parse(text, file, problems)
    top = Table(source, (), values)
    _check_format(top)
    points = Points.read(top)
    spec = Spec(
        name=top.text("name", "model"),
        bodies=tuple(_body(table, points) for table in _named(top, "bodies")),
        joints=tuple(_joint(table, points) for table in _named(top, "joints")),
        points=tuple(PointSpec(name, at, source.where(("points", name))) for name, at in points.known.items()),
        initial=tuple(_initial(top)),
        gravity=top.vector("gravity", (0.0, 0.0, -9.81)),
        duration=top.maybe_number("duration"),
        step=top.maybe_number("step"),
        where=top.where,
    )
    _close(top)
    return spec


def _parse(text: str, file: str, problems: Problems) -> tuple[dict[str, Any], Source]:
    try:
        values = tomllib.loads(text)
        return values, Source(file, key_lines(text), problems)
    except RecursionError:
        raise ModelError(f"{file}: arrays or tables are nested too deeply. A model needs three levels.") from None
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).rpartition(" (at ")
        line = re.match(r"line (\d+)", place)
        number = int(line[1]) if line else text.count("\n") + 1  # else "end of document"
        raise ModelError(f"{file}, line {number}: not TOML: {reason}. Mend the text there or just before.") from None
    except ValueError as error:
        raise ModelError(f"{file}: a number has too many digits: {error}.") from None


def _check_format(top: Table) -> None:
    """Nothing else can be understood in a file of another format, so this error comes alone."""
    value = top.get("format")
    place = top.source.where(("format",)) if "format" in top else top.source.file
    if value is None:
        raise ModelError(f"{place}: the file does not say its format. Begin it with: format = {FORMAT}")
    if value is True or value != FORMAT:
        raise ModelError(f"{place}: format is {value!r}. This version of Bellcrank reads format = {FORMAT}.")


def _named(top: Table, key: str) -> list[Table]:
    """The tables [bodies.*] or [joints.*]."""
    if not top.need(key, f"Describe at least one in [{key}.NAME]."):
        return []
    table = top.table(key)
    return list(table.items()) if table else []


def _body(table: Table, points: Points) -> BodySpec:
    shape = read_shape(table, points)
    table.close()
    return BodySpec(str(table.about), shape, table.where)


def _joint(table: Table, points: Points) -> JointSpec:
    for key in ("parent", "child"):
        table.need(key, f'Name a body, or "ground": {key} = "..."')
    table.need("type", 'Give one: type = "revolute"')
    table.need("point", "Say where the joint is: point = [x, y, z], or the name of a point.")
    joint = JointSpec(
        name=str(table.about),
        kind=table.text("type"),
        parent=table.text("parent"),
        child=table.text("child"),
        point=points.of(table, "point"),
        axis=_axis(table),
        armature=_armature(table),
        where=table.where,
    )
    table.close()
    return joint


def _axis(table: Table) -> Vector | None:
    """``"x"``, ``"-z"`` or a vector of any length."""
    value = table.get("axis")
    if value is None:
        return None
    axis = AXES.get(value) if isinstance(value, str) else as_vector(value)
    if axis is None:
        table.wrong("axis", '"x", "y", "z", "-x", "-y", "-z" or a vector [x, y, z]')
    return axis


def _armature(table: Table) -> float | tuple[float, ...]:
    """One number for every direction, or one each."""
    values = table.numbers("armature")
    if values is None:
        return 0.0
    return values if isinstance(table.get("armature"), list) else values[0]


def _initial(top: Table) -> list[InitialSpec]:
    """``shoulder = 0.3``, ``top = [w, x, y, z]`` or ``shoulder = { q = 0.3, v = 1.0 }``."""
    table = top.table("initial")
    if table is None:
        return []
    starts = []
    for joint, value in table.values.items():
        if isinstance(value, dict):
            inner = Table(top.source, ("initial", joint), value)
            starts.append(InitialSpec(joint, inner.numbers("q"), inner.numbers("v"), inner.where))
            inner.close()
        else:
            starts.append(InitialSpec(joint, table.numbers(joint), None, top.source.where(("initial", joint))))
    return starts


def _close(top: Table) -> None:
    if "parameters" in top:
        top.get("parameters")
        top.complain("[parameters] and expressions are not supported yet. Write the numbers where they are used.", "parameters")
    top.close()
