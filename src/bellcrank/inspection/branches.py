"""Which velocities of a configuration a motion follows: the second order of the equations that close loops, block by block.

A motion q(t) with velocity v has an acceleration a with G a = gamma(v), where gamma is quadratic in v. A redundant combination u
of the equations, u^T G = 0, therefore asks for

    u^T gamma(v) = v^T C_u v = 0        for all velocities with G v = 0

In a regular configuration every C_u vanishes there: equations that are redundant everywhere ask for nothing. Where one does
not, the velocities that a motion follows are a cone:

change point    the cone is no linear space: branches of the motion meet in it
shaky           the cone spans less than G v = 0 does: to the rest no motion belongs
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..assembly.loops import Loops
from .blocks import Block

Array = NDArray[np.float64]

LARGEST = 24  # free motions of a block
VANISHES = 1e-6  # of lengths, per rad^2: forms
REST = 1e-3  # of a velocity of length one: what Newton's method leaves where no motion follows
SPANS = 1e-3
STARTS = 8  # of Newton's method, for each free motion
MOST = 60  # iterations; each halves what is left where only rest is possible


@dataclass(frozen=True)
class Branches:
    """Of one block.

    block
    parting   (rows,)       shares of the equations in what is demanded in second order
    followed  (columns, k)  velocities that motions follow, of length one; those in which most coordinates move come first
    meet      whether branches of the motion meet
    shaky     (columns, d)  velocities that no motion follows
    """

    block: Block
    parting: Array
    followed: Array
    meet: bool
    shaky: Array

    @property
    def regular(self) -> bool:
        return not self.meet and not self.shaky.shape[1]


def branches(loops: Loops, q: Array, t: float, block: Block) -> Branches | None:
    """None for a block that is too large to be asked."""
    d = block.motions.shape[1]
    if d != block.mobility or d > LARGEST:
        return None
    forms, parting = _forms(loops, q, t, block)
    if not len(forms):
        return Branches(block, parting, block.motions, False, np.zeros((len(block.columns), 0)))
    cone = _cone(forms, d)
    U, s, _ = np.linalg.svd(cone, full_matrices=True)
    rank = int((s > SPANS * s.max(initial=0.0)).sum()) if cone.size else 0
    inside = U[:, :rank]
    within = np.abs(np.einsum("ia,kij,jb->kab", inside, forms, inside)).max(initial=0.0)
    followed = _most_moving(block.motions @ cone)
    return Branches(block, parting, followed, within > VANISHES * loops.length, block.motions @ U[:, rank:])


def _most_moving(velocities: Array) -> Array:
    """Where a coordinate rests, the loops through it may stay singular: velocities in order of their smallest parts."""
    moving = np.log(np.abs(velocities) + REST).sum(axis=0)
    return np.asarray(velocities[:, np.argsort(-moving, kind="stable")])


def _forms(loops: Loops, q: Array, t: float, block: Block) -> tuple[Array, Array]:
    """Independent ones of the C_u, (k, d, d) in coordinates of the block's free motions; and the shares of the equations."""
    d, k = block.motions.shape[1], block.stresses.shape[1]
    if not d or not k:
        return np.zeros((0, d, d)), np.zeros(len(block.rows))
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    x = np.array([np.eye(d)[i] + (np.eye(d)[j] if i != j else 0.0) for i, j in pairs])
    values = _demanded(loops, q, t, block, x) @ block.stresses
    C = np.zeros((k, d, d))
    for (i, _), value in zip([p for p in pairs if p[0] == p[1]], values[[p[0] == p[1] for p in pairs]], strict=True):
        C[:, i, i] = value
    for (i, j), value in zip(pairs, values, strict=True):
        if i != j:
            C[:, i, j] = C[:, j, i] = 0.5 * (value - C[:, i, i] - C[:, j, j])
    U, s, V = np.linalg.svd(C.reshape(k, d * d), full_matrices=False)
    count = int((s > VANISHES * loops.length).sum())
    return (s[:count, None] * V[:count]).reshape(count, d, d), np.abs(block.stresses @ U[:, :count]).max(axis=1, initial=0.0)


def _demanded(loops: Loops, q: Array, t: float, block: Block, x: Array) -> Array:
    """The part of gamma that is quadratic in the velocities: drives stand still; (B, rows)."""
    v = np.zeros((len(x), loops.model.nv))
    v[:, block.columns] = (x @ block.motions.T) * loops.units[block.columns]
    both = np.vstack([v, -v, np.zeros((1, v.shape[1]))])
    gamma = loops.dynamics.closure_bias(np.tile(q, (len(both), 1)), both, t=t) * loops.rows
    there, back = gamma[: len(v)], gamma[len(v) : -1]
    return np.asarray(0.5 * (there + back) - gamma[-1])[:, block.rows]


def _cone(forms: Array, d: int) -> Array:
    """Velocities of length one with x^T C x = 0 for all forms, found by Newton's method from random ones; (d, found)."""
    rng, found = np.random.default_rng(11), []
    for start in rng.normal(size=(STARTS * d, d)):
        x = start / np.linalg.norm(start)
        for _ in range(MOST):
            slopes = forms @ x
            x = x - 0.5 * np.linalg.lstsq(slopes, slopes @ x, rcond=1e-12)[0]
        size = float(np.linalg.norm(x))
        if size > REST:
            found.append(x / size)
    return np.array(found).reshape(-1, d).T
