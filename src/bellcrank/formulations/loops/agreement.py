"""Whether the equations that planning left out agree with the motion that the others determine.

Of equations that depend on each other coordinate reduction keeps some (dynamics.node_ranks). The others hold by themselves, as
long as they were rightly found redundant. At every state what they leave is compared with the terms of the node's equations,

    |D u - gamma|  <=  10 rank_tolerance S  +  what the error of the closures explains,       S = |A| + max (|G| |u| + |gamma|)

with the acceleration A of the base, at whose rounding errors the joints of a node that is locked tremble,
and where it is more the motion is not a number. A state that is off the closures by e, and off in its velocities by e', makes
redundant equations differ by about e/L S and e' sqrt(S/L), times the amplification of an ill-conditioned loop.

All equations are in metres (NodeClosure.scales); L is a typical length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...constraints import Equation
from ...numbers import Number, less, maximum, select
from ...spatial.rank import LENIENT
from ..base import Walk
from ..nodes import Node, Placed
from .multipliers import closing, from_origin
from .node_forms import total
from .node_places import among_joints, place_all

NAN = float("nan")
_NOTHING = 1e-300
_AMPLIFIED = 1e3  # how much of the error of a state may be felt

Terms = tuple[bool, Sequence[Number]]  # of an equation: whether it is checked; what adds up to zero


def agree(walk: Walk, node: Node) -> None:
    """Accelerations of a node are not numbers where its equations contradict each other."""
    if any(closure.checked for closure in node.closures):
        a = node.joint_values("a", whole=True)
        refuse(node, "a", a, disagreement(walk, node, a))


def refuse(node: Node, name: str, values: Sequence[Number], excess: Number) -> None:
    """Replaces outputs that were written by NaN where the excess is above zero."""
    node.output_joints(name, [select(less(excess, _NOTHING), x, NAN) for x in values])


def disagreement(walk: Walk, node: Node, a: Sequence[Number]) -> Number:
    """Above zero where accelerations contradict an equation that was left out."""
    places = place_all(node)
    speed = _AMPLIFIED * greatest(absolute(e.rate) * scale for e, scale in scaled_equations(node, places))
    share, spread = allowed_share(walk, node, places), speed * speed / walk.length
    return beyond(_terms(walk, node, places, a), share, spread, shaken(walk, node))


def shaken(walk: Walk, node: Node) -> Number:
    """Size of the motion of the base."""
    if node.on_ground:
        return 0.0
    w, v = node.base_acceleration
    return total(map(absolute, v)) + walk.length * total(map(absolute, w))


def allowed_share(walk: Walk, node: Node, places: Sequence[Placed]) -> Number:
    """The share that is allowed by the tolerance, and by how far the node's loops are open."""
    error = greatest(absolute(e.error) * scale for e, scale in scaled_equations(node, places))
    return LENIENT * node.tolerance + _AMPLIFIED * error / walk.length


def scaled_equations(node: Node, places: Sequence[Placed]) -> Iterator[tuple[Equation, Number]]:
    for closure in node.closures:
        yield from zip(closure.view(places[closure.a], places[closure.b]).equations, closure.scales, strict=True)


def beyond(equations: Sequence[Terms], share: Number, spread: Number, shaken: Number) -> Number:
    """Above zero if the terms of an equation that is checked add up to more than share S + sqrt(spread S)."""
    size = shaken + greatest(total(absolute(x) for x in terms) for _, terms in equations)
    left = greatest(absolute(total(terms)) for checked, terms in equations if checked)
    rest = maximum(left - share * size, 0.0)
    return rest * rest - spread * size


def _terms(walk: Walk, node: Node, places: Sequence[Placed], a: Sequence[Number]) -> list[Terms]:
    """Rows times accelerations, and what velocities and known accelerations bring."""
    found: list[Terms] = []
    for closure in node.closures:
        at_a, at_b, scales = places[closure.a], places[closure.b], closure.scales
        for k, (on_a, on_b, right) in enumerate(closing(from_origin, walk.baumgarte, closure.view(at_a, at_b))):
            row = among_joints(node, places, closure, on_a, on_b)
            terms = [g * x for g, x in zip(row, a, strict=True)] + [at_a.c.dot(on_a), at_b.c.dot(on_b), -right]
            found.append((k in closure.checked, [x * scales[k] for x in terms]))
    return found


def absolute(x: Number) -> Number:
    return maximum(x, -x)


def greatest(values: Iterable[Number]) -> Number:
    """The largest of some numbers, and of zero."""
    found: Number = 0.0
    for x in values:
        found = maximum(found, x)
    return found
