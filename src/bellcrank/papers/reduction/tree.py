"""Forward dynamics of an opened tree, and of the loops on it: the paper's section 2 and the walk that all of its loops share.

Source: Critchley & Anderson (4)-(22), EQUATIONS 3.1. The paper's joints have no effort and no armature; both are here.

code     paper           shape     meaning
P        P_k^k           (6, n)    motion of body k for each unit of its speed
Ihat     I^ (hat)        (6, 6)    inertia of body k with everything outboard of it, joints free
Fhat     F^ (hat)        (6,)      force, likewise
Ahat     N A^ (hat)      (6,)      the part of the acceleration that is explicit in the udot's
M        M^ (hat)        (n, n)    inertia that the joint's own coordinate feels
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .opened import Link, Opened
from .report import massless
from .state import GROUND, Array, Mechanism


class LoopSolution(Protocol):
    """A loop whose bodies have been eliminated; called outward with the acceleration of its base."""

    def outward(self, Ahat_0: Array) -> tuple[list[Array], list[Array]]:
        """udot and Ahat of the links of the chain."""


class Recursion:
    """Quantities of all links while the walk goes inward, then outward."""

    def __init__(self, opened: Opened):
        self.opened = opened
        self.links = opened.links
        self.Ihat = [link.I.copy() for link in self.links]
        self.Fhat = [link.F for link in self.links]
        self.udot: list[Array] = [np.zeros(0)] * len(self.links)

    def add_to_base(self, base: int, inertia: Array, force: Array) -> None:
        if base != GROUND:
            self.Ihat[base] = self.Ihat[base] + inertia
            self.Fhat[base] = self.Fhat[base] + force

    def eliminate(self, k: int) -> None:
        """The inertia and force of body k as its parent feels them across the joint.         (13), (20)-(22)"""
        link, Ihat = self.links[k], self.Ihat[k]
        T, M = triangularization(link, Ihat, self.opened.mechanism)
        force = self.Fhat[k] - Ihat @ link.P @ np.linalg.solve(M, link.P.T @ self.Fhat[k] + link.tau)
        self.add_to_base(link.parent, T @ Ihat @ link.ST, link.ST.T @ force)

    def accelerate(self, k: int, Ahat_p: Array) -> Array:
        """(12), (4)"""
        link, carried = self.links[k], self.links[k].ST @ Ahat_p
        M = joint_inertia(link, self.Ihat[k], self.opened.mechanism)
        rest = link.tau + link.P.T @ (self.Fhat[k] - self.Ihat[k] @ carried)
        self.udot[k] = np.asarray(np.linalg.solve(M, rest), dtype=float)
        return carried + link.P @ self.udot[k]

    def by_coordinate(self) -> Array:
        """udot in the order of the model's v; what closures and fictitious joints do is left out."""
        a = np.zeros(self.opened.mechanism.model.nv)
        for link, udot in zip(self.links, self.udot, strict=True):
            for index, value in zip(link.index, udot, strict=True):
                if index >= 0:
                    a[index] = value
        return a


def joint_inertia(link: Link, Ihat: Array, mechanism: Mechanism) -> Array:
    """(13), and the armature."""
    M = link.P.T @ Ihat @ link.P + np.diag(link.J)
    if not (np.diag(M) > mechanism.nothing * mechanism.size(link.P) ** 2).all():
        raise massless(link.joint)
    return M


def triangularization(link: Link, Ihat: Array, mechanism: Mechanism) -> tuple[Array, Array]:
    """T^k and M^k.                                                                               (22), (13)"""
    M = joint_inertia(link, Ihat, mechanism)
    return link.ST.T @ (np.eye(6) - Ihat @ link.P @ np.linalg.solve(M, link.P.T)), M


def solve(opened: Opened, reduce_loop: Callable[[Recursion, int], LoopSolution]) -> Recursion:
    """Inward over trees and loops, then outward. A loop is taken as a whole, at its innermost body."""
    work = Recursion(opened)
    starts = {loop.chain[0]: i for i, loop in enumerate(opened.loops)}
    in_loop = {k for loop in opened.loops for k in loop.chain}
    solved: dict[int, Any] = {}
    for k in reversed(range(len(work.links))):
        if k in starts:
            solved[k] = reduce_loop(work, starts[k])
        elif k not in in_loop:
            work.eliminate(k)
    Ahat: dict[int, Array] = {GROUND: np.zeros(6)}
    for k, link in enumerate(work.links):
        if k in starts:
            loop = opened.loops[starts[k]]
            for j, udot, motion in zip(loop.chain, *solved[k].outward(Ahat[loop.base]), strict=True):
                work.udot[j], Ahat[j] = udot, motion
        elif k not in in_loop:
            Ahat[k] = work.accelerate(k, Ahat[link.parent])
    return work
