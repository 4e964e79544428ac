"""An optimum as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...wording import counted
from .problem import Limit
from .searching import keeps

if TYPE_CHECKING:
    from .optimum import Optimum


SHOWN = 30  # parameters; the others are counted


def asked_of(limit: Limit) -> str:
    """A constraint in words."""
    low, high = f"{limit.lower:.6g}", f"{limit.upper:.6g}"
    if limit.lower == limit.upper:
        return f"asked to be {low}"
    if not math.isfinite(limit.upper):
        return f"asked to be at least {low}"
    return f"asked to be between {low} and {high}" if math.isfinite(limit.lower) else f"asked to be at most {high}"


def report(found: Optimum) -> str:
    width = max(len("parameter"), *(len(name) for name in found.names))
    state = "interrupted; the best so far" if found.interrupted else "converged" if found.success else "not converged"
    lines = [f"{found.problem.study.name}: {state}, cost {found.first_cost:.6g} -> {found.cost:.6g}"]
    starts = int(found.problem.study.search.starts)
    lines.append(f"  by {found.method}, {counted(found.gradients, 'gradient')}, {counted(starts, 'start')}")
    if len(found.searches) > 1:
        lines.append(f"  {found.reached} of the {len(found.searches)} searches ended there")
    infeasible = found.infeasible
    if infeasible:
        lines.append(f"  {counted(len(infeasible), 'design')} infeasible; the last one: {infeasible[-1].reason}")
    play = [f"  {x:10.3g}" for x in found.flatness.play] if found.knows_flatness else [""] * len(found.names)
    lines.append(
        f"  {'parameter':{width}}  {'start':>12}  {'best':>12}  {'min':>10}  {'max':>10}{'        play' if play[0] else ''}"
    )
    rows = zip(found.names, found.first.x, found.best.x, found.problem.lower, found.problem.upper, play, strict=True)
    table = [f"  {name:{width}}  {a:12.6g}  {b:12.6g}  {low:10.4g}  {high:10.4g}{by}" for name, a, b, low, high, by in rows]
    lines += table if len(table) <= SHOWN else [*table[: SHOWN // 2], f"  ... {len(table) - SHOWN} more", *table[-SHOWN // 2 :]]
    for limit, value in zip(found.problem.limits, found.best.limits, strict=True):
        lines.append(f"  {limit.title} = {value:.6g}, {asked_of(limit)}{'' if keeps(limit, value) else ': not kept'}")
    if play[0]:
        lines.append("  play: how far a parameter can be moved, while the others follow, until the cost rises by 1 %")
    for one in found.active:
        lines.append(f"  active: {one.side} of {one.name} at {one.limit:.6g}, multiplier {one.multiplier:.4g}")
    if not found.success and not found.interrupted:
        lines += [f"  start {one.start}: {one.message}" for one in found.searches[:3] if not one.success]
        if not found.kept:
            lines.append("  the constraints are not kept: loosen them, or start from another design")
    return "\n".join([*lines, *(f"  {note}" for note in found.notes)])
