"""An optimum as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wording import counted

if TYPE_CHECKING:
    from .optimum import Optimum


SHOWN = 30  # parameters; the others are counted


def report(found: Optimum) -> str:
    width = max(len("parameter"), *(len(name) for name in found.names))
    state = "interrupted; the best so far" if found.interrupted else "converged" if found.success else "not converged"
    lines = [f"{found.problem.study.name}: {state}, cost {found.first_cost:.6g} -> {found.cost:.6g}"]
    lines.append(f"  by {found.method}, {counted(found.gradients, 'gradient')}, {counted(len(found.searches), 'start')}")
    if len(found.searches) > 1:
        lines.append(f"  {found.reached} of the {len(found.searches)} searches ended there")
    infeasible = found.infeasible
    if infeasible:
        lines.append(f"  {counted(len(infeasible), 'design')} infeasible; the last one: {infeasible[-1].reason}")
    lines.append(f"  {'parameter':{width}}  {'start':>12}  {'best':>12}  {'min':>10}  {'max':>10}")
    rows = zip(found.names, found.first.x, found.best.x, found.problem.lower, found.problem.upper, strict=True)
    table = [f"  {name:{width}}  {a:12.6g}  {b:12.6g}  {low:10.4g}  {high:10.4g}" for name, a, b, low, high in rows]
    lines += table if len(table) <= SHOWN else [*table[: SHOWN // 2], f"  ... {len(table) - SHOWN} more", *table[-SHOWN // 2 :]]
    for limit, value in zip(found.problem.limits, found.best.limits, strict=True):
        lines.append(f"  {limit.title} = {value:.6g}, within {limit.lower:.6g} and {limit.upper:.6g}")
    for one in found.active:
        lines.append(f"  active: {one.side} of {one.name} at {one.limit:.6g}, multiplier {one.multiplier:.4g}")
    if not found.success and not found.interrupted:
        lines += [f"  start {one.start}: {one.message}" for one in found.searches[:3] if not one.success]
        if not found.kept:
            lines.append("  the constraints are not kept: loosen them, or start from another design")
    return "\n".join([*lines, *(f"  {note}" for note in found.notes)])
