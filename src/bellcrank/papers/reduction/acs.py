"""ACS, arbitrary selection of dependent coordinates: independent ones may lie between the dependent ones.

Source: Critchley & Anderson, section 4, cited as (n), corrected as in EQUATIONS 3.2 and 3.3. The coordinates f_i .. l_i
that are independent although a dependent one is inboard of them are solved for together, at a cost of n_I^3.

code          paper               shape       meaning, beside those of rcr.py
between       f_i .. l_i                      places of the independent coordinates outboard of p
H             H^k K_i             (6, n_I)    0V^k = Y^k 0V^p + Z^k 0V_t^n + H u_I
h             -                   (n, n_I)    the same for the speed itself
M_M           M_M                 (n_I, n_I)  their mass matrix                                        (97)
I_M0, I_Mp    I_M^0, I_M^p        (n_I, 6)    what they feel of the base's motion, of that of p        (92), (93)
F_M           F_M                 (n_I,)                                                               (94)
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from .rcr import ZERO, Chain, Dependence, Felt, Inboard, U
from .report import massless
from .state import Array


class Acs:
    def __init__(self, chain: Chain, dependence: Dependence, dependents: Collection[int], base_rule: str):
        self.chain, self.dependence = chain, dependence
        self.p = min(dependents, default=chain.n) - 1
        self.between = [k for k in chain.moving if k > self.p and k not in dependents]
        n_I = len(self.between)
        self.Y, self.Z, self.H = [U] * chain.n, [ZERO] * chain.n, [np.zeros((6, n_I))] * chain.n
        self.y, self.z = [np.zeros((0, 6))] * chain.n, [np.zeros((0, 6))] * chain.n
        self.h = [np.zeros((0, n_I))] * chain.n
        self.kinematics()
        self.sums()
        self.inboard = Inboard(chain, self.p, *self.outboard(), base_rule)

    def kinematics(self) -> None:
        """(72)-(81); the closure sees the independent coordinates outboard of k through their a."""
        Y, Z, H = U, ZERO, np.zeros((6, len(self.between)))
        for k in range(self.p + 1, self.chain.n):
            link, row = self.chain.links[k], self.dependence.row[k]
            to_n = self.chain.to_n[k] @ link.ST
            seen = self._outboard_columns(k)
            if k in self.between:
                self.y[k], self.z[k] = np.zeros((1, 6)), np.zeros((1, 6))
                self.h[k] = np.eye(len(self.between))[[self.between.index(k)]]
            else:
                self.y[k], self.z[k], self.h[k] = row @ to_n @ Y, row @ (to_n @ Z + U), row @ (to_n @ H + seen)  # (67)
            Y, Z, H = link.ST @ Y + link.P @ self.y[k], link.ST @ Z + link.P @ self.z[k], link.ST @ H + link.P @ self.h[k]
            self.Y[k], self.Z[k], self.H[k] = Y, Z, H

    def _outboard_columns(self, k: int) -> Array:
        """(jS^n)^T P_j in the column of every independent descendant j of k.                          (73)"""
        seen = np.zeros((6, len(self.between)))
        for column, j in enumerate(self.between):
            if j > k:
                seen[:, column] = self.chain.a[j][:, 0]
        return seen

    def sums(self) -> None:
        """(92)-(97), with L = sum Y^kT I^k H^k of (100)-(102)."""
        n_I = len(self.between)
        self.M_M, self.I_M0, self.I_Mp = np.zeros((n_I, n_I)), np.zeros((n_I, 6)), np.zeros((n_I, 6))
        self.F_M, self.L = np.zeros(n_I), np.zeros((6, n_I))
        for k in range(self.p + 1, self.chain.n):
            I_k, H, h, J = self.chain.I[k], self.H[k], self.h[k], np.diag(self.chain.links[k].J)
            F, effort = self._forces(k)
            self.M_M += H.T @ I_k @ H + h.T @ J @ h
            self.I_M0 += H.T @ I_k @ self.chain.from_0[k]
            self.I_Mp += H.T @ I_k @ self.Y[k] + h.T @ J @ self.y[k]
            self.F_M += H.T @ F + h.T @ effort
            self.L += self.Y[k].T @ I_k @ H + self.y[k].T @ J @ h
        mechanism = self.chain.work.opened.mechanism
        size = np.concatenate([np.zeros(0), *(mechanism.size(self.chain.links[k].P) for k in self.between)])
        if n_I and not np.linalg.eigvalsh(self.M_M / np.outer(size, size))[0] > mechanism.nothing:
            raise massless(", ".join(self.chain.name(k) for k in self.between))

    def _forces(self, k: int) -> tuple[Array, Array]:
        link, At_n = self.chain.links[k], self.chain.At_n
        return self.chain.F[k] - self.chain.I[k] @ self.Z[k] @ At_n, link.tau - link.J * (self.z[k] @ At_n)

    def outboard(self) -> tuple[Felt, Felt]:
        """At p, (100)-(102), and at the base, EQUATIONS 3.4."""
        gain = np.linalg.solve(self.M_M, np.column_stack([self.I_M0, self.I_Mp, self.F_M]))
        to_0, to_p, force = gain[:, :6], gain[:, 6:12], gain[:, 12]
        at_p = Felt(-self.L @ to_0, -self.L @ to_p, -self.L @ force)
        at_0 = Felt(-self.I_M0.T @ to_0, ZERO, -self.I_M0.T @ force)
        for k in range(self.p + 1, self.chain.n):
            I_k, Y, y, S = self.chain.I[k], self.Y[k], self.y[k], self.chain.from_0[k]
            F, effort = self._forces(k)
            inertia = Y.T @ I_k @ Y + y.T @ np.diag(self.chain.links[k].J) @ y
            at_p += Felt(Y.T @ I_k @ S, inertia, Y.T @ F + y.T @ effort)
            at_0 += Felt(S.T @ I_k @ S, ZERO, S.T @ F)
        return at_p, at_0

    def outward(self, Ahat_0: Array) -> tuple[list[Array], list[Array]]:
        """(59), then all of f_i .. l_i together, (99), then the dependents, (67)."""
        udot, motion, at_p = self.inboard.outward(Ahat_0)
        u_I = -np.linalg.solve(self.M_M, self.I_M0 @ Ahat_0 + self.I_Mp @ at_p - self.F_M)
        for k in range(self.p + 1, self.chain.n):
            known = self.chain.At_n
            udot.append(self.y[k] @ at_p + self.z[k] @ known + self.h[k] @ u_I)
            motion.append(self.chain.from_0[k] @ Ahat_0 + self.Y[k] @ at_p + self.Z[k] @ known + self.H[k] @ u_I)
        return udot, motion


def chosen(chain: Chain) -> set[int]:
    """Dependents where none are named: the phantom's, then one by one whatever moves the loop's end most beside the others.

    EQUATIONS 3.6, alternative selection: a column-pivoted elimination of the a_k. Of equals the outermost is taken."""
    taken = {k for k in chain.moving if chain.links[k].phantom}
    R = U - _projector([chain.a[k] for k in sorted(taken)])
    while len(taken) < chain.rank:
        rest = [k for k in chain.moving if k not in taken]
        size = {k: float(np.linalg.norm(R @ chain.a[k]) / np.linalg.norm(chain.a[k])) for k in rest}
        taken.add(max(rest, key=lambda k: (round(size[k], 9), k)))
        R = U - _projector([chain.a[k] for k in sorted(taken)])
    return taken


def _projector(columns: list[Array]) -> Array:
    Q = np.linalg.qr(np.hstack(columns))[0] if columns else np.zeros((6, 0))
    return np.asarray(Q @ Q.T)


def named(chain: Chain, names: Collection[str]) -> set[int]:
    """Places of the coordinates that the user wants dependent; the massless phantom's are so in any case."""
    return {k for k in chain.moving if chain.links[k].phantom or chain.name(k) in names}
