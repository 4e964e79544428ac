"""Nodes of a block that is taken apart (topology.blocks), in image form.   EQUATIONS 3.10, "Overlapping loops"

A node that hangs on another one by a separator x of shared joints reports x = T y + c with a quadratic form in its own y; at
the inner node the equations x - T y = c join the closures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..numbers import Number, minimum
from ..spatial import ArticulatedInertia, Force, Vector
from ..spatial.small import NullSpace, factored, null_space, reflected, reflection, substituted
from .base import Node
from .node_forms import Sums, dot, gains, total
from .node_places import Rows


class Image(NamedTuple):
    """What a node reports to the one that it hangs on: x = T y + c of the separator, and a Form in y (and the base)."""

    T: tuple[tuple[Number, ...], ...]  # a row for each coordinate of the separator
    c: tuple[Number, ...]
    D: tuple[tuple[Number, ...], ...]
    d: tuple[Number, ...]
    U: tuple[Force, ...]
    I: ArticulatedInertia  # noqa: E741
    P: Force


def eliminate_apart(
    node: Node,
    I: ArticulatedInertia,  # noqa: E741
    sums: Sums,
    *,
    lookout: bool = False,
    least: Number | None = None,
) -> None:
    """Put in the images of the nodes that hang here, satisfy the equations, and minimise all but what moves the separator."""
    images = [node.image(k) for k in range(node.children)]
    E, e0, conflicts = substitution(node, [(image.T, image.c) for image in images])
    rows = [*(put_in(row, E, e0) for row in node.rows), *conflicts]
    chosen = [rows[k] for k in node.equations]
    size = len(E[0]) if E else 0
    space = null_space([row[:-1] for row in chosen], [row[-1] for row in chosen], size, directions=lookout, least=least)
    node.report_pivot(space.pivot)
    if lookout:
        _note_rows(node, E, space)
    whole = _with_images(sums, E, e0, images, size)
    for image in images:
        I = I + image.I  # noqa: E741
    reduced = _in_null_space(whole, space)
    x = [[dot(E[j], N_a) for N_a in space.N] for j in range(node.separator)]
    B = turned_for(x, [list(N_a) for N_a in space.N], reduced)
    _minimise(node, B, list(space.k0), reduced, I, E, e0)


def _note_rows(node: Node, E: Rows, space: NullSpace) -> None:
    """Directions among the joints: E d, which does not depend on how the y of the images are turned from step to step."""
    count = len(node.rows)
    ways = [[dot(row, d) for row in E] for d in space.directions[:count]]
    pivots = list(space.pivots[:count])
    for pivot in space.pivots[count:]:  # of images that must agree: the last row answers for them
        pivots[-1:] = [minimum(x, pivot) for x in pivots[-1:]]
    node.note_rows(ways, pivots)


def substitution(node: Any, images: Sequence[Any]) -> tuple[Rows, list[Number], Rows]:
    """u = E w + e0 with w = (coordinates that no image gives, y of the images); where two images give one, they must agree.

    A conflict is a row over u and w, here over w with its right-hand side.
    """
    n = len(node.dofs)
    given: dict[int, int] = {}
    for k, shared in enumerate(node.shared):
        for j in shared:
            given.setdefault(j, k)
    free = [j for j in range(n) if j not in given]
    starts = [len(free)]
    for T, _ in images:
        starts.append(starts[-1] + (len(T[0]) if T else 0))
    E: Rows = [[0.0] * starts[-1] for _ in range(n)]
    e0: list[Number] = [0.0] * n
    conflicts: Rows = []
    for place, j in enumerate(free):
        E[j][place] = 1.0
    for k, (shared, (T, c)) in enumerate(zip(node.shared, images, strict=True)):
        for j, row, c_j in zip(shared, T, c, strict=True):
            if given[j] == k:
                E[j][starts[k] : starts[k + 1]] = row
                e0[j] = c_j
            else:
                other = list(E[j])
                other[starts[k] : starts[k + 1]] = [-x for x in row]
                conflicts.append([*other, c_j - e0[j]])
    return E, e0, conflicts


def put_in(row: Sequence[Number], E: Rows, e0: Sequence[Number]) -> list[Number]:
    """A row over u, with its right-hand side, as one over w."""
    size = len(E[0]) if E else 0
    new = [total(g * E[j][k] for j, g in enumerate(row[:-1])) for k in range(size)]
    return [*new, row[-1] - total(g * e0[j] for j, g in enumerate(row[:-1]))]


def _with_images(sums: Sums, E: Rows, e0: Sequence[Number], images: Sequence[Image], size: int) -> Sums:
    """The Form over w."""
    n, whole = len(E), Sums(size, sums.on_ground)
    D = [[sums.D[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
    rest = [sums.d[i] - dot(D[i], e0) for i in range(n)]
    DE = [[total(D[i][j] * E[j][k] for j in range(n)) for k in range(size)] for i in range(n)]
    for a in range(size):
        whole.d[a] = total(E[i][a] * rest[i] for i in range(n))
        for b in range(a + 1):
            whole.D[a][b] = total(E[i][a] * DE[i][b] for i in range(n))
    if not sums.on_ground:
        whole.P = sums.P
        for i, e in enumerate(e0):
            whole.P = whole.P + sums.U[i] * e
        for a in range(size):
            for i in range(n):
                whole.U[a] = whole.U[a] + sums.U[i] * E[i][a]
    start = size - sum(len(image.d) for image in images)
    for image in images:
        for a, d in enumerate(image.d):
            whole.d[start + a] = whole.d[start + a] + d
            for b in range(a + 1):
                whole.D[start + a][start + b] = whole.D[start + a][start + b] + image.D[a][b]
            if not sums.on_ground:
                whole.U[start + a] = whole.U[start + a] + image.U[a]
        if not sums.on_ground:
            whole.P = whole.P + image.P
        start += len(image.d)
    return whole


class Reduced(NamedTuple):
    """A Form in y, full square D."""

    D: Rows
    d: list[Number]
    U: list[Force]
    P: Force
    on_ground: bool


def _in_null_space(whole: Sums, space: NullSpace) -> Reduced:
    """w = N y + k0."""
    size = len(space.k0)
    D = [[whole.D[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)]
    rest = [whole.d[i] - dot(D[i], space.k0) for i in range(size)]
    DN = [[dot(D[i], N_a) for i in range(size)] for N_a in space.N]
    P, U = whole.P, []
    if not whole.on_ground:
        for u, k in zip(whole.U, space.k0, strict=True):
            P = P + u * k
        for N_a in space.N:
            total = Force.zero()
            for u, x in zip(whole.U, N_a, strict=True):
                total = total + u * x
            U.append(total)
    square = [[dot(N_a, DN_b) for DN_b in DN] for N_a in space.N]
    return Reduced(square, [dot(N_a, rest) for N_a in space.N], U, P, whole.on_ground)


def turned_for(x: Rows, B: Rows, form: Reduced) -> Rows:
    """Turn y by reflections so that only its first entries move the separator; x, B and the Form follow. No more y than the
    separator has coordinates: all of them are kept as they are."""
    for i in range(len(x) if len(x) < len(B) else 0):
        v, factor = reflection(x[i][i:])
        for rows in (x, form.D):
            for row in rows:
                row[i:] = reflected(v, factor, row[i:])
        columns = [reflected(v, factor, list(part)) for part in zip(*B[i:], strict=True)]
        B[i:] = [list(row) for row in zip(*columns, strict=True)]
        turned = [reflected(v, factor, list(part)) for part in zip(*form.D[i:], strict=True)]
        form.D[i:] = [list(row) for row in zip(*turned, strict=True)]
        form.d[i:] = reflected(v, factor, form.d[i:])
        if not form.on_ground:
            parts = [[u[side][k] for u in form.U[i:]] for side in (0, 1) for k in range(3)]
            new = [reflected(v, factor, part) for part in parts]
            form.U[i:] = [Force(Vector(*w[:3]), Vector(*w[3:])) for w in zip(*new, strict=True)]
    return B


def _minimise(
    node: Node,
    B: Rows,
    k0: list[Number],
    form: Reduced,
    I: ArticulatedInertia,  # noqa: E741
    E: Rows,
    e0: Sequence[Number],
) -> None:
    """w = B y + k0; the y beyond those that are kept take the values that cost least."""
    keep, size = node.kept_unknowns, len(B)
    later = range(keep, size)
    factors = factored([form.D[a][keep : a + 1] for a in later])
    free = substituted(factors, form.d[keep:])
    K = [substituted(factors, [form.D[a][b] for a in later]) for b in range(keep)]  # D_zz^-1 D_zb
    g = [] if form.on_ground else list(gains(factors, form.U[keep:]))
    J = [[x - total(B[a][i] * K[b][z] for z, a in enumerate(later)) for i, x in enumerate(B[b])] for b in range(keep)]
    c = [x + total(B[a][i] * free[z] for z, a in enumerate(later)) for i, x in enumerate(k0)]
    node.J, node.cw = tuple(tuple(row) for row in J), tuple(c)
    node.E, node.e0 = tuple(tuple(row) for row in E), tuple(e0)
    node.gw = ()  # where the base's motion does not matter
    P, U = form.P, list(form.U[:keep])
    if not form.on_ground:
        node.gw = tuple(_combined([B[a][i] for a in later], g) for i in range(len(k0)))
        for u, g_z, e in zip(form.U[keep:], g, free, strict=True):
            I, P = I.minus_outer(u, g_z), P + u * e  # noqa: E741
        for b in range(keep):
            U[b] = U[b] + _combined([-form.D[b][a] for a in later], g)
    if node.hangs:
        D = tuple(
            tuple(form.D[b][a] - total(form.D[b][z] * K[a][k] for k, z in enumerate(later)) for a in range(b + 1))
            for b in range(keep)
        )
        d = tuple(form.d[b] - total(form.D[b][z] * free[k] for k, z in enumerate(later)) for b in range(keep))
        T = tuple(tuple(dot(E[j], J[b]) for b in range(keep)) for j in range(node.separator))
        at = tuple(dot(E[j], c) + e0[j] for j in range(node.separator))
        node.report_image(Image(T, at, D, d, tuple(U), I, P))
    elif not form.on_ground:
        node.report(I, P)


def _combined(weights: Sequence[Number], forces: Sequence[Force]) -> Force:
    total = Force.zero()
    for weight, force in zip(weights, forces, strict=True):
        total = total + force * weight
    return total


def unknowns_apart(node: Node) -> list[Number]:
    """w = J y + c - g A, with y from the node that this one hangs on; nodes that hang here get theirs."""
    y = node.given_unknowns(node.kept_unknowns) if node.hangs else []
    w = [x + total(J_b[i] * y_b for J_b, y_b in zip(node.J, y, strict=True)) for i, x in enumerate(node.cw)]
    if node.gw:
        A = node.base_acceleration
        w = [x - A.dot(g) for x, g in zip(w, node.gw, strict=True)]
    start = len(w) - sum(node.image_sizes)
    for k, size in enumerate(node.image_sizes):
        node.send_unknowns(k, w[start : start + size])
        start += size
    return [dot(row, w) + e for row, e in zip(node.E, node.e0, strict=True)]
