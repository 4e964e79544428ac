"""RCR, recursive coordinate reduction: the last m_i coordinates of each loop are dependent.

Source: Critchley & Anderson, section 3, cited as (n), with the misprints of EQUATIONS 3.5 corrected and the base of the loop as
in EQUATIONS 3.4. A loop's bodies are its own: loops may hang on each other's bodies, but not share any.

code          paper               shape     meaning
p             p_i                           virtual terminal body, just inboard of the innermost dependent coordinate
to_n          (kS^n)^T            (6, 6)    carries motions of body k to the phantom, in the metric W
from_0        (0S^k)^T            (6, 6)    carries motions of the base to body k
a             (kS^n)^T P_k        (6, n)    how coordinate k moves the phantom
R, Q          R^k, Q^k            (6, 6)    projector on what outboard dependents leave of the closure; 1/(a^T R a)
X, W          X^k, W^k            (6, 6)    0V^k = W^k 0V^{k-1} + X^k 0V_t^n
Y, Z          Y^k, Z^k            (6, 6)    0V^k = Y^k 0V^p + Z^k 0V_t^n
y, z          -                   (n, 6)    the same for the speed itself: u_k = y 0V^p + z 0V_t^n
At_n          0A_t^n              (6,)      what velocities make of the phantom's motion relative to the base
I_k0, I_k     I^{k;0}, 0I^k       (6, 6)    what coordinate k feels of the base's motion, of its own motion
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from ...spatial.rank import rank
from ...wording import argument
from .opened import Link, Loop
from .report import Choice, SingularChoice
from .state import GROUND, Array
from .tree import Recursion, triangularization

U, ZERO = np.eye(6), np.zeros((6, 6))


class Chain:
    """One loop with what its bodies feel of the trees and loops that hang on them."""

    def __init__(self, work: Recursion, number: int):
        loop: Loop = work.opened.loops[number]
        self.number, self.loop, self.work = number, loop, work
        self.links: list[Link] = [work.links[k] for k in loop.chain]
        self.I = [work.Ihat[k] for k in loop.chain]
        self.F = [work.Fhat[k] for k in loop.chain]
        self.n = len(self.links)
        self.to_n = [loop.W] * self.n
        for k in reversed(range(self.n - 1)):
            self.to_n[k] = self.to_n[k + 1] @ self.links[k + 1].ST
        self.from_0 = [self.links[0].ST]
        for link in self.links[1:]:
            self.from_0.append(link.ST @ self.from_0[-1])
        self.a = [to_n @ link.P for to_n, link in zip(self.to_n, self.links, strict=True)]
        base_At = np.zeros(6) if loop.base == GROUND else work.links[loop.base].At
        self.At_n = loop.W @ (self.links[-1].At - self.from_0[-1] @ base_At)  # (24), (25)

    @property
    def moving(self) -> list[int]:
        """Places of links with a coordinate; driven joints and welds have none."""
        return [k for k in range(self.n) if self.links[k].P.shape[1]]

    @property
    def rank(self) -> int:
        """m_i, the number of independent equations."""
        columns = [self.a[k] / np.linalg.norm(self.a[k]) for k in self.moving]
        return rank(np.hstack(columns), unit=1.0) if columns else 0

    def name(self, k: int) -> str:
        return self.links[k].coordinates[0]


class Dependence(NamedTuple):
    """For each link: X, W, and the row -Q a^T R with which a dependent speed follows from the closure."""

    X: list[Array]
    W: list[Array]
    row: list[Array]
    choices: list[Choice]


def last(chain: Chain) -> set[int]:
    """The last m_i coordinates."""
    return set(chain.moving[len(chain.moving) - chain.rank :])


def closure(chain: Chain, dependents: Collection[int], threshold: float) -> Dependence:
    """The closure from the phantom inward: dependent speeds, one by one.         (26)-(40); (66), (76), (77)"""
    X, W, row = [ZERO] * chain.n, [link.ST for link in chain.links], [np.zeros((0, 6))] * chain.n
    R = U
    choices: list[Choice] = []
    for k in sorted(dependents, reverse=True):
        link, a = chain.links[k], chain.a[k]
        pivot = float(np.linalg.norm(R @ a) / np.linalg.norm(a))
        choices.append(Choice(chain.name(k), pivot))
        if not pivot > threshold:
            raise SingularChoice(_singular(chain, dependents, choices, threshold), chain.number)
        Q = np.linalg.inv(a.T @ R @ a)  # (34)
        row[k] = -Q @ a.T @ R
        X[k] = link.P @ row[k]  # (40)
        W[k] = link.ST + X[k] @ chain.to_n[k] @ link.ST  # (39)
        R = R @ (U - a @ Q @ a.T @ R)  # (36)
    return Dependence(X, W, row, choices)


def _singular(chain: Chain, dependents: Collection[int], choices: list[Choice], threshold: float) -> str:
    names = ", ".join(chain.name(k) for k in sorted(dependents))
    *before, worst = choices
    others = ", ".join(choice.name for choice in reversed(before)) + (" do" if len(before) > 1 else " does")
    return (
        f'loop "{chain.loop.name}": the coordinates {names} cannot be dependent together. {worst.name} moves the end of the '
        f"loop only as {others}: its pivot is {worst.pivot:.1e}, and more than {threshold:g} is needed. Name others with "
        f'{argument("variant", "acs")}, or use {argument("variant", "gcl")} or "body", which find their own.'
    )


class Rcr:
    """A loop of which all bodies outboard of p are dependent."""

    def __init__(self, chain: Chain, dependence: Dependence, dependents: Collection[int], base_rule: str):
        self.chain, self.dependence = chain, dependence
        self.p = min(dependents, default=chain.n) - 1  # place of p_i, -1: the base itself
        self.Y, self.Z = [U] * chain.n, [ZERO] * chain.n
        self.y, self.z = [np.zeros((0, 6))] * chain.n, [np.zeros((0, 6))] * chain.n
        self.kinematics()
        self.inboard = Inboard(chain, self.p, *self.outboard(), base_rule)

    def kinematics(self) -> None:
        """Dependent bodies in terms of p.                                        (41)-(44)"""
        Y, Z = U, ZERO
        for k in range(self.p + 1, self.chain.n):
            link, row = self.chain.links[k], self.dependence.row[k]
            to_n = self.chain.to_n[k] @ link.ST
            self.y[k], self.z[k] = row @ to_n @ Y, row @ (to_n @ Z + U)  # (33)
            Y, Z = self.dependence.W[k] @ Y, self.dependence.X[k] + self.dependence.W[k] @ Z
            self.Y[k], self.Z[k] = Y, Z

    def outboard(self) -> tuple[Felt, Felt]:
        """Sums over the dependent bodies: at p, and at the base.                 (53)-(55), EQUATIONS 3.4"""
        at_p, at_0 = Felt.nothing(), Felt.nothing()
        for k in range(self.p + 1, self.chain.n):
            link, I_k, Y, S = self.chain.links[k], self.chain.I[k], self.Y[k], self.chain.from_0[k]
            F = self.chain.F[k] - I_k @ self.Z[k] @ self.chain.At_n
            effort = link.tau - link.J * (self.z[k] @ self.chain.At_n)
            y = self.y[k]
            at_p += Felt(Y.T @ I_k @ S, Y.T @ I_k @ Y + y.T @ np.diag(link.J) @ y, Y.T @ F + y.T @ effort)
            at_0 += Felt(S.T @ I_k @ S, ZERO, S.T @ F)
        return at_p, at_0

    def outward(self, Ahat_0: Array) -> tuple[list[Array], list[Array]]:
        """(59), then (33) and (45)."""
        udot, motion, at_p = self.inboard.outward(Ahat_0)
        for k in range(self.p + 1, self.chain.n):
            udot.append(self.y[k] @ at_p + self.z[k] @ self.chain.At_n)
            motion.append(self.chain.from_0[k] @ Ahat_0 + self.Y[k] @ at_p + self.Z[k] @ self.chain.At_n)
        return udot, motion


class Felt(NamedTuple):
    """I^{k;0}, 0I^k, F^k of (57)."""

    I_k0: Array
    I_k: Array
    F: Array

    @classmethod
    def nothing(cls) -> Felt:
        return cls(ZERO, ZERO, np.zeros(6))

    def __add__(self, other: Felt) -> Felt:  # type: ignore[override]
        return Felt(self.I_k0 + other.I_k0, self.I_k + other.I_k, self.F + other.F)


class Inboard:
    """The independent coordinates p .. 1 of a loop, and what its base feels.

    base_rule "symmetric" is EQUATIONS 3.4. "literal" is the paper's sentence after (64), that the base follows (20)-(22): right
    only where the base does not move.
    """

    def __init__(self, chain: Chain, p: int, at_p: Felt, at_0: Felt, base_rule: str):
        self.chain, self.p = chain, p
        self.felt: list[Felt] = [at_p] * (p + 1)
        base_I, base_F = at_0.I_k0, at_0.F
        felt = at_p
        for k in range(p, -1, -1):
            link, S = chain.links[k], chain.from_0[k]
            felt += Felt(chain.I[k] @ S, chain.I[k], chain.F[k])
            self.felt[k] = felt
            T, M = triangularization(link, felt.I_k, chain.work.opened.mechanism)  # (63), (64)
            u = np.linalg.solve(M, link.P.T @ felt.F + link.tau)
            base_I = base_I + S.T @ chain.I[k] @ S - felt.I_k0.T @ link.P @ np.linalg.solve(M, link.P.T @ felt.I_k0)
            base_F = base_F + S.T @ chain.F[k] - felt.I_k0.T @ link.P @ u
            force = link.ST.T @ (felt.F - felt.I_k @ link.P @ u)
            felt = Felt(T @ felt.I_k0, T @ felt.I_k @ link.ST, force)  # (60)-(62)
        if base_rule == "literal":
            base_I, base_F = felt.I_k0, felt.F
        chain.work.add_to_base(chain.loop.base, base_I, base_F)

    def outward(self, Ahat_0: Array) -> tuple[list[Array], list[Array], Array]:
        """udot and Ahat of 1 .. p, and 0Ahat^p.                                   (59)"""
        udots: list[Array] = []
        motions: list[Array] = []
        relative: Array = np.zeros(6)
        for k in range(self.p + 1):
            link, felt = self.chain.links[k], self.felt[k]
            carried = link.ST @ relative
            M = link.P.T @ felt.I_k @ link.P + np.diag(link.J)
            rest = link.tau + link.P.T @ (felt.F - felt.I_k0 @ Ahat_0 - felt.I_k @ carried)
            udots.append(np.asarray(np.linalg.solve(M, rest), dtype=float))
            relative = carried + link.P @ udots[-1]
            motions.append(self.chain.from_0[k] @ Ahat_0 + relative)
        return udots, motions, relative
