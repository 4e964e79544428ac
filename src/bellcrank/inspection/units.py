"""Numbers that look like degrees or millimetres, where radians and metres are meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..model import Model

TURNS = 4 * np.pi  # rad: two turns; a larger angle is more often one in degrees
ENDLESS = 1000.0  # rad: limits that stand for none
HUGE = 500.0  # m
LARGE, THIN = 20.0, 0.05  # m, kg/m: longer than a room, and lighter than a rope


def _angles(model: Model) -> Iterator[str]:
    """Starts, stops, limits and springs at rest; a screw may well turn often."""
    for what, value in _starts(model):
        if abs(value) > TURNS:
            yield _in_degrees(f"{what} starts at", value)
    for what, value in (*_of_elements(model), *_limits(model)):
        if TURNS < abs(value) < ENDLESS:
            yield _in_degrees(f"{what} is", value)


def _in_degrees(what: str, value: float) -> str:
    turns = abs(value) / (2 * np.pi)
    return f'{what} {value:.4g} rad, {turns:.3g} turns: angles are in rad. If degrees are meant, write "=deg({value:g})"'


def _starts(model: Model) -> Iterator[tuple[str, float]]:
    units = [unit if joint.kind != "screw" else "" for _, joint in model.moving_joints for unit in joint.q_units]
    for name, unit, value in zip(model.q_names, units, model.given_q.tolist(), strict=True):
        if unit == "rad":
            yield f'"{name}"', value


def _of_elements(model: Model) -> Iterator[tuple[str, float]]:
    """Positions in rad that elements on joints have: ends of stops, rests of springs."""
    for e in model.elements:
        joint = model.joints[e.joint] if e.joint >= 0 else None
        if joint is None or e.terms or joint.kind == "screw" or joint.v_units[e.dof] != "rad/s":
            continue
        for key in ("lower", "upper", "rest"):
            if key in e.values:
                yield f'{key} of "{e.name}"', e.values[key]


def _limits(model: Model) -> Iterator[tuple[str, float]]:
    for name, joint, limits in zip(model.joint_names, model.joints, model.limits, strict=False):
        if limits is None or joint.kind != "revolute":
            continue
        for key, value in (("lower", limits.lower), ("upper", limits.upper)):
            if value is not None:
                yield f'the {key} limit of "{name}"', value


def _lengths(model: Model) -> Iterator[str]:
    """A remark on lengths whose median inside bodies is unusual; where the model stands in the world does not matter."""
    inside = np.concatenate([model.center, model.position[np.asarray(model.parents) >= 0]])
    lengths = np.linalg.norm(inside, axis=1)
    usual = float(np.median(lengths[lengths > 0])) if lengths.any() else 0.0
    mass = float(model.mass.sum())
    if usual > HUGE or (usual > LARGE and mass < THIN * usual):
        yield (
            f"{usual:.4g} m is usual between joints and centres of mass here, with {mass:.4g} kg in all: lengths are in m. "
            "If millimetres are meant, divide them by 1000"
        )


def _gravity(model: Model) -> Iterator[str]:
    g = float(np.linalg.norm(model.gravity))
    if g > 1000:
        yield f"gravity is {g:.4g} m/s2: lengths are in m, and 9.81 m/s2 is usual on Earth"


KINDS: tuple[Callable[[Model], Iterator[str]], ...] = (_angles, _lengths, _gravity)
