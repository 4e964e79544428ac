"""Gauss' principle on a part of the mechanism: a quadratic form with linear equations, and its elimination step.

    1/2 X^T H X - f^T X -> min,   E X = e                               EQUATIONS 3.6

X holds named blocks: accelerations of bodies, of joints, and single numbers. The multipliers nu of the equations pull with
+E^T nu: H X - f = E^T nu. Eliminating a block y splits it, and the equations, as its Choice says,

    y = V_d eta_d + V_p w + V_f z        U = [U_d U_0] orthogonal,   U_d^T E_y [V_p V_f] = 0,   U_d^T E_y V_d = diag(D)

    eta_d = D^-1 U_d^T (e - E_x x)                   dependent: they use up the equations U_d
    w                                                pending: kept as single numbers, decided on further inward
    z                                                free: minimised now
    D nu_d = V_d^T (H X - f)_y - (U_0^T E_y V_d)^T nu_0        the multipliers, in the back-substitution

What is left of the equations, U_0, is compressed: those that say nothing any more are redundant and dropped, by the rule of
spatial.rank. Which directions of y are dependent, pending or free is another question: there both thresholds are given, and a
direction that counts little is decided on further inward, where more is known of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...spatial.rank import rank_of
from .state import Array

Name = tuple[Any, ...]  # what it is, and of which body
Values = dict[Name, Array]


@dataclass(frozen=True)
class Form:
    sizes: dict[Name, int]
    H: Array
    f: Array
    E: Array
    e: Array

    def at(self, names: Sequence[Name]) -> list[int]:
        """Places of some blocks in X."""
        starts, start = {}, 0
        for name, size in self.sizes.items():
            starts[name] = start
            start += size
        return [starts[name] + k for name in names for k in range(self.sizes[name])]

    def columns(self, names: Sequence[Name]) -> Array:
        return self.E[:, self.at(names)]

    def others(self, names: Sequence[Name]) -> list[Name]:
        return [name for name in self.sizes if name not in names]


def inertia(name: Name, H: Array, f: Array) -> Form:
    return Form({name: len(f)}, H, f, np.zeros((0, len(f))), np.zeros(0))


def equations(columns: Mapping[Name, Array], e: Array) -> Form:
    sizes = {name: block.shape[1] for name, block in columns.items()}
    n = sum(sizes.values())
    return Form(sizes, np.zeros((n, n)), np.zeros(n), np.hstack([*columns.values(), np.zeros((len(e), 0))]), e)


def merged(forms: Sequence[Form]) -> Form:
    """The sum; equations one below the other."""
    sizes: dict[Name, int] = {}
    for form in forms:
        sizes |= form.sizes
    n = sum(sizes.values())
    total = Form(sizes, np.zeros((n, n)), np.zeros(n), np.zeros((0, n)), np.zeros(0))
    rows, right = [total.E], [total.e]
    for form in forms:
        at = total.at(list(form.sizes))
        total.H[np.ix_(at, at)] += form.H
        total.f[at] += form.f
        E = np.zeros((len(form.e), n))
        E[:, at] = form.E
        rows.append(E)
        right.append(form.e)
    return Form(sizes, total.H, total.f, np.vstack(rows), np.concatenate(right))


def substituted(form: Form, old: Name, new: Mapping[Name, Array], known: Array) -> Form:
    """old = sum of new blocks + known. A new block may be in the form already: then its columns are added."""
    kept = form.others([old])
    sizes = {name: block.shape[1] for name, block in new.items()} | {name: form.sizes[name] for name in kept}
    after = Form(sizes, form.H, form.f, form.E, form.e)
    T, t = np.zeros((len(form.f), sum(sizes.values()))), np.zeros(len(form.f))
    T[np.ix_(form.at(kept), after.at(kept))] = np.eye(sum(form.sizes[name] for name in kept))
    for name, block in new.items():
        T[np.ix_(form.at([old]), after.at([name]))] += block
    t[form.at([old])] = known
    return Form(sizes, T.T @ form.H @ T, T.T @ (form.f - form.H @ t), form.E @ T, form.e - form.E @ t)


class Choice(NamedTuple):
    V_d: Array
    V_p: Array
    V_f: Array
    U_d: Array
    U_0: Array
    D: Array


class NothingMoves(ArithmeticError):
    """A free direction without mass."""


@dataclass(frozen=True)
class Step:
    """An elimination, kept for the back-substitution."""

    before: Form
    names: list[Name]
    after: Form
    choice: Choice
    K: Array  # y = K x' + k + V_f z
    k: Array
    z_x: Array  # z = z_0 - z_x x'
    z_0: Array
    C: Array  # equations that were kept, in terms of U_0
    residual: float

    def back(self, values: Values, nu: Array) -> Array:
        """Values of the eliminated blocks, and multipliers of the equations before the step."""
        x = stacked(values, list(self.after.sizes))
        y = self.K @ x + self.k + self.choice.V_f @ (self.z_0 - self.z_x @ x)
        start = 0
        for name in self.names:
            values[name] = y[start : start + self.before.sizes[name]]
            start += self.before.sizes[name]
        V_d, _, _, U_d, U_0, D = self.choice
        here = self.before.at(self.names)
        gradient = (self.before.H @ stacked(values, list(self.before.sizes)) - self.before.f)[here]
        nu_0 = self.C @ nu
        nu_d = (V_d.T @ gradient - (U_0.T @ self.before.E[:, here] @ V_d).T @ nu_0) / D
        return np.asarray(U_d @ nu_d + U_0 @ nu_0)


def stacked(values: Values, names: Sequence[Name]) -> Array:
    return np.concatenate([values[name] for name in names]) if names else np.zeros(0)


def eliminated(
    form: Form, names: list[Name], choice: Choice, pending: Name, weights: Mapping[Name, Array], rank: float, nothing: float
) -> Step:
    """One step. ``weights``: sizes of motions, for the decision whether an equation still says something;
    ``nothing``: an inertia that is none."""
    kept = form.others(names)
    y, x = form.at(names), form.at(kept)
    V_d, V_p, V_f, U_d, U_0, D = choice
    solved = V_d / D @ U_d.T
    K, k = np.hstack([-solved @ form.E[:, x], V_p]), solved @ form.e
    sizes = {name: form.sizes[name] for name in kept} | ({pending: V_p.shape[1]} if V_p.shape[1] else {})
    T, t = np.zeros((len(form.f), K.shape[1])), np.zeros(len(form.f))
    T[x, np.arange(len(x))], T[y], t[y] = 1.0, K, k
    H, f = T.T @ form.H @ T, T.T @ (form.f - form.H @ t)
    coupling = V_f.T @ (form.H @ T)[y]
    force = V_f.T @ (form.f - form.H @ t)[y]
    z_x, z_0 = _minimised(V_f.T @ form.H[np.ix_(y, y)] @ V_f, coupling, force, nothing)
    H, f = H - coupling.T @ z_x, f - coupling.T @ z_0
    E, e = U_0.T @ form.E @ T, U_0.T @ (form.e - form.E @ t)
    weight = np.concatenate([*(weights.get(name, np.ones(size)) for name, size in sizes.items()), np.zeros(0)])
    C, residual = _compressed(E * weight, e, rank)
    after = Form(sizes, H, f, C.T @ E, C.T @ e)
    return Step(form, names, after, choice, K, k, z_x, z_0, C, residual)


def _minimised(H: Array, coupling: Array, force: Array, nothing: float) -> tuple[Array, Array]:
    if not len(force):
        return coupling, force
    if not np.linalg.eigvalsh(H)[0] > nothing:
        raise NothingMoves
    scale = np.sqrt(np.diag(H))
    factor = cho_factor(H / np.outer(scale, scale))
    inverse = cho_solve(factor, np.column_stack([coupling, force]) / scale[:, None]) / scale[:, None]
    return inverse[:, :-1], inverse[:, -1]


def _compressed(E: Array, e: Array, rank: float) -> tuple[Array, float]:
    """Orthonormal combinations of equations that say something; what the others are violated by."""
    if not E.size:
        return np.zeros((len(e), 0)), float(np.linalg.norm(e))
    U, s, _ = np.linalg.svd(E)
    n = rank_of(s, rank, unit=1.0)
    return U[:, :n], float(np.linalg.norm(U[:, n:].T @ e))


def by_size(E_y: Array, scale: Array, threshold: float, zero: float) -> tuple[Choice, Array]:
    """Directions of y by how much the equations see of them: dependent above the threshold, free below zero, else pending.

    ``scale`` makes the columns of y comparable. Also returns the singular values."""
    m, n = E_y.shape
    if not E_y.size:
        nothing = np.zeros((n, 0))
        return Choice(nothing, nothing, np.diag(scale), np.zeros((m, 0)), np.eye(m), np.zeros(0)), np.zeros(0)
    U, s, Vt = np.linalg.svd(E_y * scale)
    V = Vt.T * scale[:, None]
    d, p = int((s > threshold).sum()), int((s > zero).sum())
    return Choice(V[:, :d], V[:, d:p], V[:, p:], U[:, :d], U[:, d:], s[:d]), s


def only_pending(E_p: Array, E_o: Array, zero: float, rank: float) -> Choice | None:
    """Pending numbers w: those that equations hold alone are solved, those that no equation holds are free, others stay.

    None where all of them stay."""
    m, n = E_p.shape
    U, s, _ = np.linalg.svd(E_o) if E_o.size else (np.eye(m), np.zeros(0), None)
    seen = rank_of(s, rank, unit=1.0)
    U_2, U_1 = U[:, :seen], U[:, seen:]
    A = U_1.T @ E_p
    U_a, s_a, Vt_a = np.linalg.svd(A) if A.size else (np.eye(A.shape[0]), np.zeros(0), np.eye(n))
    d = int((s_a > zero).sum())
    V_d, V_n = Vt_a[:d].T, Vt_a[d:].T
    B = U_2.T @ E_p @ V_n
    _, s_b, Vt_b = np.linalg.svd(B) if B.size else (None, np.zeros(0), np.eye(B.shape[1]))
    p = int((s_b > zero).sum())
    if p == n:
        return None
    U_d = U_1 @ U_a[:, :d]
    U_0 = np.hstack([U_2, U_1 @ U_a[:, d:]])
    return Choice(V_d, V_n @ Vt_b[:p].T, V_n @ Vt_b[p:].T, U_d, U_0, s_a[:d])
