"""GCL, general coupled loops: loops that share bodies, and fictitious joints that make a singular loop two coupled ones.

Source: Critchley & Anderson, section 5, (103)-(111), EQUATIONS 3.7. On bodies that loops i and j share, the paper writes the
acceleration in three terms, of the bases 0_i and 0_j and of the body relative to the inner base (107). Here the three are the
accelerations A^k, A^{0_i}, A^{0_j} themselves, which is a linear change of variables: no coefficients have to be redistributed
as in (111), and the base of the inner loop gets its symmetric update by itself (EQUATIONS 3.4).

    X = (A^k; A^0 of every open loop)      1/2 X^T H X - f^T X,   R (W (kS^n)^T A^k - W A^0 + ...) = 0       loop by loop

Inward, each joint is dependent as far as its loops still lack equations: the last coordinates of every loop. Where one of them
moves the loop's end only as joints outboard of it do, the choice is singular (figure 4). Then

    1. the loop is worked in the opposite direction;
    2. else a fictitious joint F is put between two of its bodies x and y (figures 5 and 8): the loop through F on one side of
       the ring and the loop through F on the other side are coupled; joints that were singular together end different loops.

F may move y against x in every way that the loop's joints can produce, and has no inertia: it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import StateError
from ...spatial.rank import factored, rank
from ...wording import argument
from .form import Form, NothingMoves, Step, Values, by_size, eliminated, equations, inertia, merged, substituted
from .opened import NOWHERE, Edge, Opened, directed, graph, open_loops
from .report import Choice, SingularChoice, massless
from .state import GROUND, Array, Mechanism

SEEN = 1e-9  # rows that are shorter say nothing


@dataclass(frozen=True)
class Representation:
    """How the loops were opened: the edges of the graph, those that the walk prefers, and what to say about it."""

    edges: tuple[Edge, ...]
    first: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()
    rings: tuple[frozenset[str], ...] = ()  # that have been changed already


@dataclass(frozen=True)
class Solution:
    a: Array
    choices: list[Choice]
    remarks: tuple[str, ...]


def accelerations(mechanism: Mechanism, threshold: float, between: tuple[int, int] | None = None) -> Solution:
    """``between``: two bodies that a fictitious joint is wanted between, whether it is needed or not."""
    plain = Representation(tuple(graph(mechanism)))
    if between is None:
        return _search(mechanism, plain, threshold)
    singular = SingularChoice("", 0)
    for wanted in _with_joint(mechanism, plain, between):
        try:
            return _search(mechanism, wanted, threshold)
        except SingularChoice as error:
            singular = error
    raise singular


def _with_joint(mechanism: Mechanism, plain: Representation, between: tuple[int, int]) -> list[Representation]:
    opened = open_loops(mechanism, plain.edges, split=False)
    for number, loop in enumerate(opened.loops):
        if set(between) <= set(loop.bodies):
            i, j = sorted(loop.bodies.index(body) for body in between)
            return list(with_fictitious(opened, number, i, j, plain))
    names = " and ".join(mechanism.name(body) for body in between)
    raise StateError(f"no loop has both {names}: a fictitious joint between them would close another loop.")


def _search(mechanism: Mechanism, tried: Representation, threshold: float) -> Solution:
    """A representation in which every pivot is above the threshold; singular loops are changed one after the other."""
    while True:
        try:
            return _solution(mechanism, tried, threshold)
        except SingularChoice as error:
            singular = error
        opened = open_loops(mechanism, tried.edges, first=tried.first, split=False)
        if _known(opened, singular.loop, tried):
            raise singular
        for other in alternatives(opened, singular.loop, tried):
            try:
                return _solution(mechanism, other, threshold)
            except SingularChoice as error:
                if not _known(open_loops(mechanism, other.edges, first=other.first, split=False), error.loop, other):
                    tried = other  # this loop is cured; another one is next
                    break
        else:
            raise SingularChoice(
                f"{singular} Neither the opposite direction nor one fictitious joint avoids that. Lower the threshold, or use "
                f"{argument('variant', 'body')}.",
                singular.loop,
            )


def _solution(mechanism: Mechanism, tried: Representation, threshold: float) -> Solution:
    a, choices = solved(open_loops(mechanism, tried.edges, first=tried.first, split=False), threshold)
    return Solution(a, choices, tried.remarks)


def _known(opened: Opened, number: int, tried: Representation) -> bool:
    """Whether a loop has been changed before, or has a fictitious joint."""
    edges = [tried.edges[e] for e in opened.loops[number].edges]
    return frozenset(edge.name for edge in edges) in tried.rings or any(edge.fictitious for edge in edges)


def alternatives(opened: Opened, number: int, tried: Representation) -> Iterator[Representation]:
    """The loop in the opposite direction, then with a fictitious joint between any two of its bodies."""
    loop = opened.loops[number]
    ring = frozenset(tried.edges[e].name for e in loop.edges)
    rings = (*tried.rings, ring)
    remark = f'loop "{loop.name}" is worked in the opposite direction'
    yield Representation(tried.edges, (loop.edges[-1], *tried.first), (*tried.remarks, remark), rings)
    n = len(loop.bodies)
    for distance in range(1, n):
        for i in range(n - distance):
            yield from with_fictitious(opened, number, i, i + distance, tried)


def with_fictitious(opened: Opened, number: int, i: int, j: int, tried: Representation) -> Iterator[Representation]:
    """A fictitious joint between the i-th and the j-th body of the loop, both ways round."""
    loop, name = opened.loops[number], opened.mechanism.name
    ring = frozenset(tried.edges[e].name for e in loop.edges)
    edges = (*tried.edges, fictitious(opened, number, i, j))
    remark = f'loop "{loop.name}" has a fictitious joint between {name(loop.bodies[i])} and {name(loop.bodies[j])}'
    for start in (loop.edges[0], loop.edges[-1]):
        yield Representation(edges, (len(edges) - 1, start, *tried.first), (*tried.remarks, remark), (*tried.rings, ring))


def fictitious(opened: Opened, number: int, i: int, j: int) -> Edge:
    """A joint from the i-th to the j-th body of a loop that allows whatever the loop's joints can do."""
    mechanism, loop = opened.mechanism, opened.loops[number]
    x, y = loop.bodies[i], loop.bodies[j]
    columns, c = [np.zeros((6, 0))], np.zeros(6)
    scale = mechanism.weights[:, None]
    for k, (body, e) in enumerate(zip(loop.bodies, loop.edges, strict=True)):
        edge = directed(mechanism, opened.edges[e], body)
        to_y = mechanism.shift(edge.v, y)
        P = to_y @ edge.P / scale
        columns.append(P / np.linalg.norm(P, axis=0))
        if i <= k < j:
            c = c + to_y @ edge.c
    motions = factored(np.hstack(columns))
    P = motions.U[:, : motions.rank] * scale
    n = P.shape[1]
    names = tuple(f"fictitious.{k + 1}" for k in range(n))
    return Edge("fictitious", x, y, P, c, np.zeros(n), np.zeros(n), (NOWHERE,) * n, names, mechanism.x(y), fictitious=True)


# The recursion ---------------------------------------------------------------------------------------------------------------


def solved(opened: Opened, threshold: float) -> tuple[Array, list[Choice]]:
    """Inward over all links, then outward."""
    sweep = Sweep(opened, threshold)
    for k in reversed(range(len(opened.links))):
        sweep.inward(k)
    a, values = np.zeros(opened.mechanism.model.nv), Values()
    for k, link in enumerate(opened.links):
        sweep.steps[k].back(values, np.zeros(sweep.steps[k].C.shape[1]))
        carried = link.ST @ values["A", link.parent] if link.parent != GROUND else 0.0
        values["A", k] = carried + link.P @ values["u", k] + link.c
        for index, value in zip(link.index, values["u", k], strict=True):
            if index != NOWHERE:
                a[index] = value
    return a, sweep.choices


class Sweep:
    def __init__(self, opened: Opened, threshold: float):
        self.opened, self.threshold = opened, threshold
        self.weights = opened.mechanism.weights
        self.messages: dict[int, list[Form]] = {k: [] for k in range(GROUND, len(opened.links))}
        self.steps: dict[int, Step] = {}
        self.choices: list[Choice] = []
        self.closing = {loop.chain[-1]: loop for loop in opened.loops}
        self.innermost: dict[int, int] = {}  # base of the loops through a link
        for loop in opened.loops:
            for k in loop.chain:
                self.innermost[k] = min(loop.base, self.innermost.get(k, loop.base))

    def inward(self, k: int) -> None:
        """Put (4) in and eliminate the joint; what is left goes to the parent.                     (60)-(64), (110), (111)"""
        link = self.opened.links[k]
        form = merged([inertia(("A", k), link.I, link.Q), *self.messages[k], *self._phantom(k)])
        new = {("u", k): link.P} | ({("A", link.parent): link.ST} if link.parent != GROUND else {})
        form = merged([substituted(form, ("A", k), new, link.c), inertia(("u", k), np.diag(link.J), link.tau)])
        scale = 1 / self.opened.mechanism.size(link.P)
        choice, sizes = by_size(form.columns([("u", k)]), scale, self.threshold, self.threshold)
        self._judge(k, form, sizes, len(choice.D))
        motions = {name: self.weights for name in form.sizes if name[0] == "A"}
        try:
            step = eliminated(form, [("u", k)], choice, ("none",), motions, SEEN, self.opened.mechanism.nothing)
        except NothingMoves:
            raise massless(link.joint) from None
        self.steps[k] = step
        self.messages[link.parent].append(step.after)

    def _phantom(self, k: int) -> list[Form]:
        """A^n - A^0 = 0, in the loop's metric.                                                     (24)"""
        loop = self.closing.get(k)
        if loop is None:
            return []
        columns = {("A", k): loop.W} | ({("A", loop.base): -loop.W} if loop.base != GROUND else {})
        return [equations(columns, np.zeros(6))]

    def _judge(self, k: int, form: Form, sizes: Array, dependent: int) -> None:
        """All of the joint's coordinates are dependent, or its loops have no equations left for joints further in."""
        link = self.opened.links[k]
        names = link.coordinates or (link.joint,)
        label = names[0] if len(names) == 1 else link.joint
        self.choices += [Choice(label, min(1.0, float(s))) for s in sizes[:dependent]]
        n = link.P.shape[1]
        if dependent == n or not len(form.e) or self._equations_left(k, form) <= dependent:
            return
        worst = float(sizes[dependent]) if len(sizes) > dependent else 0.0
        number = next(i for i, loop in enumerate(self.opened.loops) if k in loop.chain)
        outboard = [c for j in self.opened.loops[number].chain if j > k for c in self.opened.links[j].coordinates]
        as_others = f"{', '.join(outboard)} {'do' if len(outboard) > 1 else 'does'}"
        raise SingularChoice(
            f'loop "{self.opened.loops[number].name}": {label} moves the end of the loop only as {as_others}, so that '
            f"they cannot be dependent together: its pivot is {worst:.1e}, and more than {self.threshold:g} is needed.",
            number,
        )

    def _equations_left(self, k: int, form: Form) -> int:
        """How many independent equations the coordinates from here inward would have to satisfy."""
        links, opened = self.opened.links, self.opened
        bodies = [name for name in form.sizes if name[0] == "A"]  # the parent and open bases: all of them carry link k
        columns = [form.columns([("u", k)]) / opened.mechanism.size(links[k].P)]
        j = links[k].parent
        while j > self.innermost.get(k, j):
            P, scale = links[j].P, opened.mechanism.size(links[j].P)
            moved = np.zeros((len(form.e), P.shape[1]))
            for name in bodies:
                if j <= name[1]:  # parents come before children
                    arm = opened.mechanism.shift(links[j].body, links[name[1]].body)
                    moved += form.columns([name]) @ arm @ P
            columns.append(moved / scale)
            j = links[j].parent
        return rank(np.hstack(columns), unit=1.0)
