"""Loops and couplers as MJCF's equality constraints, which MuJoCo keeps softly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....model import Closure
from ...exchange.export import closed, numbers, tag
from ...exchange.imported import quaternion_of

if TYPE_CHECKING:
    from ..writer import Writing

OPEN = 1e-9  # m: from there on the points of a joint that closes a loop are apart in the design position


def equalities(writing: Writing, tendons: list[str]) -> list[str]:
    """Lines of <equality>; couplers of more than two coordinates, and rods, add a tendon."""
    lines: list[str] = []
    for closure in writing.model.closures:
        name = writing.export.name(closure.name)
        if closure.motion is not None:
            writing.export.cannot.append(f'the prescribed motion of "{closure.name}"')
        elif closure.curve is not None or closure.driven_terms:
            what = "a driven joint" if closure.driven_terms else "a table"
            writing.export.cannot.append(f'"{closure.name}", which couples {what}')
        elif closure.kind == "coupler":
            lines += _coupler(writing, closure, name, tendons)
        elif closure.kind == "distance":
            lines += _distance(writing, closure, name, tendons)
        elif closure.joint is not None and closure.joint.mjcf_loop is not None:
            lines += _joint(writing, closure, name)
        else:
            what = closure.kind if closure.joint is None else f"a {closure.joint.kind} joint"
            writing.export.cannot.append(f'"{closure.name}", {what} that closes a loop')
    return lines


def _joint(writing: Writing, closure: Closure, name: str) -> list[str]:
    """Points that are held together: one of a ball, two on the axis of a hinge; or a weld."""
    assert closure.joint is not None
    export = writing.export
    sides = [(closure.body_a, np.array(closure.point_a)), (closure.body_b, np.array(closure.point_b))]
    (a, at_a), (b, at_b) = sides if closure.body_a >= 0 else sides[::-1]
    is_open = bool(np.abs(export.origin(a) + at_a - export.origin(b) - at_b).max() > OPEN)
    ends = {f"body{k}": writing.body_names[body] if body >= 0 else None for k, body in ((1, a), (2, b))}
    if closure.joint.mjcf_loop == "weld":
        R, anchor = export.axes(a), numbers(export.axes(b).T @ at_b)
        turn = quaternion_of(R.T @ export.axes(b))
        pose = numbers([*(R.T @ at_a), *turn]) if is_open else None
        return [closed("weld", name=name, **ends, relpose=pose, anchor=anchor if is_open else None)]
    axis = np.array(closure.joint.axis or (0.0, 0.0, 0.0))
    points = [(name, 0.0)] if closure.joint.mjcf_loop == "ball" else [(f"{name}_1", 0.0), (f"{name}_2", 1.0)]
    if not is_open:
        return [closed("connect", name=n, anchor=numbers(export.axes(a).T @ (at_a + x * axis)), **ends) for n, x in points]
    held = [[writing.site(f"{n}_{k}", body, at + x * axis) for k, (body, at) in enumerate(sides, 1)] for n, x in points]
    return [closed("connect", name=n, site1=one, site2=two) for (n, _), (one, two) in zip(points, held, strict=True)]


def _coupler(writing: Writing, closure: Closure, name: str, tendons: list[str]) -> list[str]:
    parts = [(writing.part_name(i, dof), factor) for i, dof, factor in closure.terms]
    if len(parts) == 1:
        value = numbers(closure.value / parts[0][1])
        return [closed("joint", name=name, joint1=parts[0][0], polycoef=f"{value} 0 0 0 0")]
    if len(parts) == 2:
        (first, a), (second, b) = parts
        polynomial = f"{numbers(closure.value / a)} {numbers(-b / a)} 0 0 0"
        return [closed("joint", name=name, joint1=first, joint2=second, polycoef=polynomial)]
    terms = [closed("joint", joint=joint, coef=numbers(factor)) for joint, factor in parts]
    tendons += [f"{tag('fixed', name=f'{name}_tendon')}>", *terms, "</fixed>"]
    return [closed("tendon", name=name, tendon1=f"{name}_tendon", polycoef=f"{numbers(closure.value)} 0 0 0 0")]


def _distance(writing: Writing, closure: Closure, name: str, tendons: list[str]) -> list[str]:
    """A straight tendon whose length is what it is at qpos0, and somewhat more or less."""
    export = writing.export
    sides = ((closure.body_a, np.array(closure.point_a)), (closure.body_b, np.array(closure.point_b)))
    ends = [writing.site(f"{name}_{k}", body, at) for k, (body, at) in enumerate(sides, 1)]
    there = [export.origin(body) + at for body, at in sides]
    more = closure.value - float(np.linalg.norm(there[1] - there[0]))
    tendons += [f"{tag('spatial', name=f'{name}_rod')}>", *(closed("site", site=end) for end in ends), "</spatial>"]
    polynomial = f"{numbers(more if abs(more) > 1e-15 else 0.0)} 0 0 0 0"
    return [closed("tendon", name=name, tendon1=f"{name}_rod", polycoef=polynomial)]
