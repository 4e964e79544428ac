"""Nodes of the clique tree of a block (plan.nodes.blocks), in condensed form.   EQUATIONS 3.10, "Overlapping loops"

A node shares the joints x of a separator with its parent and reports x = T (y; 1) with a quadratic form in its own
y; at the inner node these joints are given by y. All is homogeneous, with the motion A of a base that moves at the end:

    u = E (w; 1)                  w: joints that nobody gives, then y of the children (E: unit rows, and rows of T)
    W (w; 1) = 0                  closures, and joints that two nodes give: they must agree
    w = N (y; 1)                  those y that do not move the separator first
    H = F^T H F + sum N_k^T H_k N_k,   F = E N        form over (y; 1; A); N_k: rows of N for the children

The first y are minimised, z = -K (y; 1; A); the others are the y of the condensed form that is reported.

code   meaning
H      [D -d U^T; -d^T . P^T; U P I]: what motion takes, 1/2 (y; 1; A)^T H (y; 1; A)     (node_forms.Form)
tail   size of (1; A), or of 1 alone where the base does not matter
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...numbers import Number
from ...spatial import ArticulatedInertia, Force, Matrix, Symmetric, Vector
from ..nodes import Node


def eliminate_condensed(node: Node, H: Any, among: Sequence[int], *, watch: bool = False, least: Number | None = None) -> None:
    """Put in the condensed forms of the children, satisfy the equations, and minimise all but what moves the separator.

    H: form over (u; 1; A), or over some of the coordinates ``among`` which are all that take something.
    """
    tail = H.rows - len(among)
    forms = [node.condensed_form(k, (node.form_rows[k], y + 1), (y + tail, y + tail)) for k, y in enumerate(node.form_sizes)]
    T = [form[0] for form in forms]
    found = equations(node, T).solutions(tail, directions=watch, least=least)
    node.report_pivot(found.pivot)
    if watch:
        _note_rows(node, T, found)
    N = sorted_for(node, T, found.N, tail)
    F = joints(node, T, N, range(len(node.dofs)))
    form = H.congruent(_selected(node, F, N, among, tail))
    for k, (_, H_k) in enumerate(forms):
        form = form.plus_congruent(H_k, of_child(node, k, N, tail))
    _minimise(node, form, F, N, tail)


def children_of(node: Any) -> list[tuple[Sequence[int], int]]:
    """For each child: the coordinates of this node that it shares, and the size of its y."""
    return list(zip(node.shared, node.form_sizes, strict=True))


def given_by(shared: Sequence[Sequence[int]]) -> dict[int, tuple[int, int]]:
    """The child that supplies a coordinate, and its number there: the first that could."""
    given: dict[int, tuple[int, int]] = {}
    for k, own in enumerate(shared):
        for i, j in enumerate(own):
            given.setdefault(j, (k, i))
    return given


def conflicts(shared: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Coordinates that a second child gives: which child, its number there, ours."""
    given = given_by(shared)
    return [(k, i, j) for k, own in enumerate(shared) for i, j in enumerate(own) if given[j] != (k, i)]


def free_joints(node: Any) -> list[int]:
    """Coordinates that no child gives."""
    given = given_by(node.shared)
    return [j for j in range(len(node.dofs)) if j not in given]


def first_of(node: Any, k: int) -> int:
    """The place in w at which the y of a child begin."""
    return len(free_joints(node)) + sum(node.form_sizes[:k])


def of_child(node: Any, k: int, N: Any, tail: int) -> Any:
    """N_k: rows of N for (y; 1; A) of a child."""
    first, size, end = first_of(node, k), node.form_sizes[k], N.rows - tail
    if first + size == end:
        return N.part(range(first, N.rows), range(N.columns))
    rows = node.empty(size + tail, N.columns)
    rows.put(0, 0, N.part(range(first, first + size), range(N.columns)))
    rows.put(size, 0, N.part(range(end, N.rows), range(N.columns)))
    return rows


def joints(node: Any, T: Sequence[Any], N: Any, wanted: range) -> Any:
    """F = E N, of some coordinates; N: motions of (w; 1), or of (w; 1; A)."""
    size, given = len(free_joints(node)) + sum(node.form_sizes), given_by(node.shared)
    F = node.empty(len(wanted), N.columns)
    places = {j: place for place, j in enumerate(free_joints(node))}
    for at, place, count in runs([(j - wanted.start, places[j]) for j in wanted if j in places]):
        F.put(at, 0, N.part(range(place, place + count), range(N.columns)))
    for k, T_k in enumerate(T):
        own = [(j - wanted.start, given[j][1]) for j in node.shared[k] if j in wanted and given[j][0] == k]
        N_k: Any = of_child(node, k, N, N.rows - size) if own else None
        for at, i, count in runs(sorted(own)):
            moved = T_k.part(range(i, i + count), range(T_k.columns)) @ N_k.part(range(T_k.columns), range(N.columns))
            F.put(at, 0, moved)
    return F


def runs(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Pairs of numbers that both go up by one from pair to pair, as (first, first, count)."""
    found: list[tuple[int, int, int]] = []
    for i, j in pairs:
        if found and (i, j) == (found[-1][0] + found[-1][2], found[-1][1] + found[-1][2]):
            found[-1] = (found[-1][0], found[-1][1], found[-1][2] + 1)
        else:
            found.append((i, j, 1))
    return found


def equations(node: Any, T: Sequence[Any]) -> Any:
    """W of W (w; 1) = 0, those that were found to be independent: closures first, then where two children give a coordinate."""
    free, given, count = free_joints(node), given_by(node.shared), len(node.rows)
    size = len(free) + sum(node.form_sizes)
    W = node.zeros(len(node.equations), size + 1)
    for at, row in enumerate(node.rows):
        for place, j in enumerate(free):
            W[at, place] = row[j]
        W[at, size] = row[-1]
    for k, T_k in enumerate(T if count else ()):
        G = [[row[j] if given[j] == (k, i) else 0.0 for i, j in enumerate(node.shared[k])] for row in node.rows]
        x, y = len(node.shared[k]), node.form_sizes[k]
        felt = node.matrix(G, x) @ T_k.part(range(x), range(y + 1))
        W.put(0, first_of(node, k), felt.part(range(count), range(y)))
        for at in range(count):
            W[at, size] = W[at, size] + felt[at, y]
    places = conflicts(node.shared)
    for at, equation in enumerate(node.equations[count:], start=count):
        later, i, j = places[equation - count]
        for sign, (k, number) in ((1.0, given[j]), (-1.0, (later, i))):
            y = node.form_sizes[k]
            W.put(at, first_of(node, k), T[k].part(range(number, number + 1), range(y)), negative=sign < 0)
            W[at, size] = W[at, size] + sign * T[k][number, y]
    return W


def sorted_for(node: Any, T: Sequence[Any], N: Any, tail: int) -> Any:
    """N with y turned so that only its last entries move the separator, unless it has as many coordinates as there are y."""
    y = N.columns - tail
    if node.separator >= y:
        return N
    return N.turned_from(joints(node, T, N, range(node.separator)).part(range(node.separator), range(y)))


def _selected(node: Any, F: Any, N: Any, among: Sequence[int], tail: int) -> Any:
    """Rows of F for some coordinates, and for (1; A)."""
    rows = node.empty(len(among) + tail, N.columns)
    for at, j, count in runs(list(enumerate(among))):
        rows.put(at, 0, F.part(range(j, j + count), range(N.columns)))
    rows.put(len(among), 0, N.part(range(N.rows - tail, N.rows), range(N.columns)))
    return rows


def _note_rows(node: Node, T: Sequence[Any], found: Any) -> None:
    """Directions among the joints: E d, which does not depend on how the y of the children are turned from step to step.

    Where two children must agree on a joint, the motion of their own joints is added: E d alone has the same sign on either
    side of a position in which both cease to move that joint.
    """
    count, D = len(node.rows), found.directions
    ways = joints(node, T, D, range(len(node.dofs)))
    directions = [ways.column(k) for k in range(D.columns)]
    for k, (shared, y) in enumerate(children_of(node)):
        if node.form_rows[k] > len(shared):
            first = first_of(node, k)
            own = T[k].part(range(len(shared), node.form_rows[k]), range(y)) @ D.part(range(first, first + y), range(D.columns))
            for i in range(count, D.columns):
                directions[i] += own.column(i)
    node.note_rows(directions, found.pivots)


def _minimise(node: Node, form: Any, F: Any, N: Any, tail: int) -> None:
    """The y beyond those that are kept take the values that cost least; all others of the node follow from those kept."""
    keep, size = node.kept_unknowns, N.rows - tail
    z = form.rows - tail - keep
    K, S = form.eliminated(z)
    needed = range(0 if node.carriers else node.separator, len(node.dofs))
    moves = F.part(needed, range(F.columns)), N.part(range(size - sum(node.form_sizes), size), range(N.columns))
    node.F, node.N = (_with_least(M, z, K) for M in moves)
    if node.has_parent:
        node.report_condensed_form(F.part(range(node.reported), range(z, z + keep + 1)), S)
    elif tail > 1:
        node.report(*_message(S))


def _with_least(M: Any, z: int, K: Any) -> Any:
    """Motions of (y; 1; A), from those of (z; y; 1; A)."""
    rows = range(M.rows)
    return M.part(rows, range(z, M.columns)).minus_product(M.part(rows, range(z)), K) if z else M


def _message(S: Any) -> tuple[ArticulatedInertia, Force]:
    """The message of a form over (1; A)."""
    I = [[S[1 + i, 1 + j] if i <= j else 0.0 for j in range(6)] for i in range(6)]  # noqa: E741
    felt = ArticulatedInertia(
        Symmetric(I[0][0], I[0][1], I[0][2], I[1][1], I[1][2], I[2][2]),
        Matrix(*(Vector(*I[i][3:]) for i in range(3))),
        Symmetric(I[3][3], I[3][4], I[3][5], I[4][4], I[4][5], I[5][5]),
    )
    P = [S[1 + k, 0] for k in range(6)]
    return felt, Force(Vector(*P[:3]), Vector(*P[3:]))


def unknowns_condensed(node: Node) -> list[Number]:
    """u of the node, with y from the parent; children get theirs. Joints of the separator are
    left out where no other node needs the motion of a body."""
    keep, F, N = node.kept_unknowns, node.F, node.N
    known = node.empty(F.columns, 1)
    if node.has_parent:
        known.put(0, 0, node.given_unknowns(keep))
    known[keep, 0] = 1.0
    if F.columns > keep + 1:
        A = node.base_acceleration
        for k, x in enumerate((*A.w, *A.v)):
            known[keep + 1 + k, 0] = x
    if node.children:
        found, start = N @ known, 0
        for k, size in enumerate(node.form_sizes):
            node.send_unknowns(k, found.part(range(start, start + size), range(1)))
            start += size
    return [0.0] * (len(node.dofs) - F.rows) + (F @ known).column(0)
