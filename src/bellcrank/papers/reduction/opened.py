"""Opening the loops with phantom bodies, so that every one of them closes onto one of its own ancestors.

Bodies and whatever ties two of them form a graph. A depth-first walk over it leaves no tie between two branches: each tie that
is not on the tree leads back to an ancestor, the loop's base. There the paper puts a phantom body n_i, a massless copy of the
base 0_i on the far side of that tie (figure 2). The walk may go against the direction of a joint, and over a closure:

    A^v = (uS^v)^T A^u + P u' + c   and, read backwards,   A^u = (vS^u)^T (A^v - P u' - c)

A closure is a joint whose P spans what its equations leave free: Phi_b P = 0, Phi_b c = gamma.

code        paper       meaning
chain       1 .. n_i    links of a loop, outward from its base; the last one is the phantom
base        0_i         link of the base body, -1 = ground
W                       motion of the phantom in a metric that compares radians and metres, at the point where the loop closes
At          A_t^k       what velocities bring about
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .state import GROUND, Array, Mechanism, Tie, metric

NOWHERE = -1  # in v: a coordinate of a closure or of a fictitious joint


@dataclass(frozen=True)
class Edge:
    """Joint or closure between two bodies: A^v = (uS^v)^T A^u + P u' + c."""

    name: str
    u: int
    v: int
    P: Array
    c: Array
    tau: Array
    J: Array
    index: tuple[int, ...]  # in v
    coordinates: tuple[str, ...]
    point: Array
    fictitious: bool = False

    def other(self, body: int) -> int:
        return self.v if body == self.u else self.u


@dataclass(frozen=True)
class Link:
    """A body of the opened tree with the joint that carries it. A joint of n coordinates may be n links, the first massless."""

    joint: str
    parent: int
    body: int
    phantom: bool
    x: Array
    ST: Array
    P: Array
    c: Array
    I: Array  # noqa: E741
    Q: Array
    tau: Array
    J: Array
    At: Array
    index: tuple[int, ...]
    coordinates: tuple[str, ...]

    @property
    def F(self) -> Array:
        """Applied forces and what is known of the inertia forces.                                       (7)"""
        return self.Q - self.I @ self.At


@dataclass(frozen=True)
class Loop:
    name: str  # of the tie that leads back to the base
    base: int
    chain: list[int]
    W: Array
    edges: list[int]
    bodies: list[int]  # base, then one after each edge but the last


@dataclass
class Opened:
    mechanism: Mechanism
    edges: list[Edge]
    links: list[Link] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)

    def body_name(self, link: int) -> str:
        return "ground" if link == GROUND else self.mechanism.name(self.links[link].body)


def graph(mechanism: Mechanism) -> list[Edge]:
    """The joints of the tree, then the closures."""
    edges = []
    for k, body in enumerate(mechanism.bodies):
        index = tuple(range(body.first, body.first + body.P.shape[1]))
        given = body.P, body.c, body.tau, body.J, index, body.coordinates
        edges.append(Edge(body.joint, body.parent, k, *given, point=body.x))
    for tie in mechanism.ties:
        if not tie.terms:
            edges.append(_closing_edge(mechanism, tie))
    return edges


def _closing_edge(mechanism: Mechanism, tie: Tie) -> Edge:
    W = metric(tie.point - mechanism.x(tie.b), mechanism.length)
    Phi = tie.Phi_b @ np.linalg.inv(W)
    rank = len(Phi)
    P = np.linalg.solve(W, np.linalg.svd(Phi)[2][rank:].T)
    c = np.asarray(np.linalg.solve(W, np.linalg.pinv(Phi) @ tie.gamma), dtype=float)
    n = P.shape[1]
    return Edge(tie.name, tie.a, tie.b, P, c, np.zeros(n), np.zeros(n), (NOWHERE,) * n, tie.coordinates, tie.point)


def directed(mechanism: Mechanism, edge: Edge, start: int) -> Edge:
    """The edge, read from the body ``start``."""
    if edge.u == start:
        return edge
    back = mechanism.shift(edge.v, edge.u)
    return replace(edge, u=edge.v, v=edge.u, P=-back @ edge.P, c=-back @ edge.c)


def open_loops(mechanism: Mechanism, edges: Sequence[Edge], *, first: Sequence[int] = (), split: bool = True) -> Opened:
    """Walk depth first; ``first``: edges that are taken before others. With ``split`` every link has one coordinate at most."""
    opened = Opened(mechanism, list(edges))
    chosen = {e: rank for rank, e in enumerate(first)}
    order = sorted(range(len(edges)), key=lambda e: (chosen.get(e, len(edges)), e))
    at: dict[int, list[int]] = {k: [] for k in range(GROUND, len(mechanism.bodies))}
    for e in order:
        for body in (edges[e].u, edges[e].v):
            at[body].append(e)
    used: set[int] = set()
    place = {GROUND: GROUND}
    came: dict[int, tuple[int, int]] = {}  # to a body: over which edge, from which body
    todo: list[tuple[int, Iterator[int]]] = [(GROUND, iter(at[GROUND]))]
    while todo:
        body, rest = todo[-1]
        e = next((e for e in rest if e not in used), NOWHERE)
        if e == NOWHERE:
            todo.pop()
            continue
        used.add(e)
        target = edges[e].other(body)
        link = _hang(opened, directed(mechanism, edges[e], body), place[body], target in place, split)
        if target in place:
            opened.loops.append(_loop(opened, edges, e, link, target, place[target], body, came))
        else:
            place[target], came[target] = link, (e, body)
            todo.append((target, iter(at[target])))
    return opened


def _hang(opened: Opened, edge: Edge, parent: int, phantom: bool, split: bool) -> int:
    """Append the links of an edge; the last one is the body, or the base's phantom."""
    mechanism, n = opened.mechanism, edge.P.shape[1]
    parts = [slice(k, k + 1) for k in range(n)] if split and n else [slice(0, n)]
    for k, part in enumerate(parts):
        last = k == len(parts) - 1
        known = GROUND if not last or phantom else edge.v
        ST, c = (mechanism.shift(edge.u, edge.v), edge.c) if k == 0 else (np.eye(6), np.zeros(6))
        At = c if parent == GROUND else ST @ opened.links[parent].At + c
        mass = mechanism.bodies[known] if known != GROUND else None
        opened.links.append(
            Link(
                joint=edge.name,
                parent=parent,
                body=edge.v,
                phantom=phantom,
                x=mechanism.x(edge.v),
                ST=ST,
                P=edge.P[:, part],
                c=c,
                I=np.zeros((6, 6)) if mass is None else mass.I,
                Q=np.zeros(6) if mass is None else mass.Q,
                tau=edge.tau[part],
                J=edge.J[part],
                At=At,
                index=edge.index[part],
                coordinates=edge.coordinates[part],
            )
        )
        parent = len(opened.links) - 1
    return parent


def _loop(
    opened: Opened,
    edges: Sequence[Edge],
    e: int,
    link: int,
    target: int,
    base: int,
    body: int,
    came: dict[int, tuple[int, int]],
) -> Loop:
    chain = []
    while link != base:
        chain.append(link)
        link = opened.links[link].parent
    ring, bodies = [e], [body]
    while bodies[-1] != target:
        over, before = came[bodies[-1]]
        ring.append(over)
        bodies.append(before)
    W = metric(edges[e].point - opened.mechanism.x(target), opened.mechanism.length)
    return Loop(edges[e].name, base, chain[::-1], W, ring[::-1], bodies[::-1])
