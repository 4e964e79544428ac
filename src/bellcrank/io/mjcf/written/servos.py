"""Servo actuators as MJCF: the motor of an input, rejoined with the spring and the damper that the importer made of it.

MuJoCo limits the whole effort of the actuators of a joint (actuatorfrcrange), so that a servo written as a motor beside a
spring of the joint would be stopped at another effort, and settle elsewhere. Along s = sum of factor * q its force is

    gain u + constant - stiffness s - damping s'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ....model import Element, Model

PARTS = ("spring", "damping", "bias")  # INPUT_spring, ...: the names that the importer gives
SAME = 1e-12  # of a factor
Terms = tuple[tuple[int, int, float], ...]  # row, direction, factor


class Servo(NamedTuple):
    terms: Terms
    gain: float
    constant: float
    stiffness: float
    damping: float
    parts: tuple[str, ...]  # names of the elements that it is made of


def servos(model: Model) -> dict[int, Servo]:
    """The servos by their inputs."""
    named = {element.name: element for element in model.elements}
    found = {}
    for k, name in enumerate(model.inputs):
        parts = [named[f"{name}_{part}"] for part in PARTS if f"{name}_{part}" in named]
        motors = [element for element in model.elements if element.kind == "joint_input" and element.input == k]
        servo = _servo(model, motors, parts) if motors and parts else None
        if servo is not None:
            found[k] = servo
    return found


def _servo(model: Model, motors: list[Element], parts: list[Element]) -> Servo | None:
    """One law along one sum of coordinates; None where the parts act along different ones."""
    terms = _terms(parts[0])
    gains = {(motor.joint, motor.dof): motor.values["gain"] for motor in motors}
    if not all(_plain(model, element) for element in (*motors, *parts)) or len(gains) < len(motors):
        return None
    if any(_terms(part) != terms for part in parts) or set(gains) != {term[:2] for term in terms}:
        return None
    gain = gains[terms[0][:2]] / terms[0][2]
    if any(abs(gains[row, dof] - gain * factor) > SAME * abs(gain * factor) for row, dof, factor in terms):
        return None
    values = [dict(_law(part)) for part in parts]
    constant, stiffness, damping = (sum(law.get(key, 0.0) for law in values) for key in ("constant", "stiffness", "damping"))
    return Servo(terms, gain, constant, stiffness, damping, tuple(part.name for part in parts))


def _plain(model: Model, element: Element) -> bool:
    """Whether it acts on coordinates of the tree that are angles or lengths, by numbers."""
    known = element.kind in ("joint_input", "joint_spring", "joint_damper", "joint_effort")
    return (
        known
        and not element.live
        and element.closure < 0
        and element.table is None
        and model.joints[element.joint].quaternion is None
    )


def _terms(element: Element) -> Terms:
    return element.terms or ((element.joint, element.dof, 1.0),)


def _law(element: Element) -> Iterator[tuple[str, float]]:
    values = element.values
    if element.kind == "joint_spring":
        yield "stiffness", values["stiffness"]
        yield "constant", values["preload"] + values["stiffness"] * values["rest"]
    elif element.kind == "joint_damper":
        yield "damping", values["damping"]
    elif element.kind == "joint_effort":
        yield "constant", values["value"]
