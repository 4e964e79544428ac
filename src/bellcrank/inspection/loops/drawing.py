"""The loops of a model as text: bodies, the joints between them, and the joint at which each loop is cut."""

from __future__ import annotations

from itertools import pairwise

from ...model import Closure, Model

LONGEST = 14  # joints of a loop that are shown


def loop_lines(model: Model) -> list[str]:
    """ground -[pivot]- crank -[pin]- coupler =[closing]= ground"""
    return [_loop(model, closure) for closure in model.closures]


def _loop(model: Model, closure: Closure) -> str:
    if closure.kind == "coupler":
        tied = [*closure.terms, *closure.driven_terms]
        terms = " ".join(f"{factor:+g} {_coordinate(model, row, dof)}" for row, dof, factor in tied if factor)
        if closure.curve is not None:
            row, dof, _ = (closure.driven_terms if closure.curve_driven else closure.terms)[-1]
            terms += f" - table({_coordinate(model, row, dof)})"
        return f"{closure.name}: {terms.removeprefix('+')} = {'a law' if closure.motion else format(closure.value, 'g')}"
    up_a, up_b = _way(model, closure.body_a), _way(model, closure.body_b)
    while len(up_a) > 1 and len(up_b) > 1 and up_a[-2] == up_b[-2]:
        up_a, up_b = up_a[:-1], up_b[:-1]
    longer, shorter = (up_b, up_a) if len(up_b) >= len(up_a) else (up_a, up_b)
    return f"{_chain(model, longer[::-1])} =[{closure.name}]= {_chain(model, shorter)}"


def _chain(model: Model, rows: list[int]) -> str:
    """Bodies along rows that are parent and child, one way or the other, with the joints between them."""
    names = ["ground" if row < 0 else model.body_names[row] for row in rows]
    joints = [model.joint_names[b if b >= 0 and model.parents[b] == a else a] for a, b in pairwise(rows)]
    text = names[0]
    links = [f" -[{joint}]- {name}" for joint, name in zip(joints, names[1:], strict=True)]
    if len(links) > LONGEST:
        links = [*links[: LONGEST // 2], f" ... {len(links) - LONGEST} more ...", *links[-LONGEST // 2 :]]
    return text + "".join(links)


def _way(model: Model, row: int) -> list[int]:
    """The body itself, its parent, ..., ground."""
    rows = [row]
    while rows[-1] >= 0:
        rows.append(model.parents[rows[-1]])
    return rows


def _coordinate(model: Model, row: int, dof: int) -> str:
    part = model.joints[row].v_names[dof]
    return f"{model.joint_names[row]}.{part}" if part else model.joint_names[row]
