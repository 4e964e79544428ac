"""Velocities of a singular configuration that a motion can follow: the second order of the loop equations, block by block.

Redundant combinations of the equations ask for quadratic forms of the velocities that vanish (singular.impacts.cone). In a
regular configuration the forms vanish by themselves, for all velocities with G v = 0. Where one does not, the velocities that
a motion follows are a cone:

change point    the cone is not a linear space: branches of the motion meet in it
shaky           the cone spans less than G v = 0 does: to the rest no motion belongs
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...assembly.loops import Loops
from ...plan.equation_blocks import EquationBlock
from ...singular.impacts.cone import independent, quadratic_forms, toward_cone
from ...spatial.rank import LENIENT

Array = NDArray[np.float64]

LARGEST = 24  # free motions of a block
REST = 1e-3  # of a velocity of length one
SPANS = 1e-3
STARTS, MOST_STARTS = 8, 64  # directions from which the cone is sought: for each free motion, and at most


@dataclass(frozen=True)
class Branches:
    """The branches of one block.

    block
    parting   (rows,)       shares of the equations in what is demanded in second order
    followed  (columns, k)  velocities that motions follow, of length one; those in which most coordinates move come first
    meet      whether branches of the motion meet
    shaky     (columns, d)  velocities that no motion follows
    """

    block: EquationBlock
    parting: Array
    followed: Array
    meet: bool
    shaky: Array

    @property
    def regular(self) -> bool:
        return not self.meet and not self.shaky.shape[1]


def branches(loops: Loops, q: Array, t: float, block: EquationBlock) -> Branches | None:
    """The branches of a block; None for a block that is too large."""
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
    return Branches(block, parting, followed, within > LENIENT * loops.tolerance * loops.length, block.motions @ U[:, rank:])


def _most_moving(velocities: Array) -> Array:
    """Where a coordinate rests, the loops through it may stay singular: velocities in order of their smallest parts."""
    moving = np.log(np.abs(velocities) + REST).sum(axis=0)
    return np.asarray(velocities[:, np.argsort(-moving, kind="stable")])


def _forms(loops: Loops, q: Array, t: float, block: EquationBlock) -> tuple[Array, Array]:
    """Independent ones of the C_u, (k, d, d) in coordinates of the block's free motions; and the shares of the equations."""
    d, k = block.motions.shape[1], block.stresses.shape[1]
    if not d or not k:
        return np.zeros((0, d, d)), np.zeros(len(block.rows))
    C = quadratic_forms(lambda x: _demanded(loops, q, t, block, x) @ block.stresses, d)
    forms, mixed = independent(C, LENIENT * loops.tolerance * loops.length)
    return forms, np.abs(block.stresses @ mixed).max(axis=1, initial=0.0)


def _demanded(loops: Loops, q: Array, t: float, block: EquationBlock, x: Array) -> Array:
    """The part of gamma that is quadratic in the velocities: drives stand still; (B, rows)."""
    v = np.zeros((len(x), loops.model.nv))
    v[:, block.columns] = (x @ block.motions.T) * loops.units[block.columns]
    both = np.vstack([v, -v, np.zeros((1, v.shape[1]))])
    gamma = loops.dynamics.closure_bias(np.tile(q, (len(both), 1)), both, t=t) * loops.rows
    there, back = gamma[: len(v)], gamma[len(v) : -1]
    return np.asarray(0.5 * (there + back) - gamma[-1])[:, block.rows]


def _cone(forms: Array, d: int) -> Array:
    """Directions of the cone near random ones; (d, found)."""
    starts = np.random.default_rng(11).normal(size=(min(STARTS * d, MOST_STARTS), d))
    found = [x for x in (toward_cone(forms, start) for start in starts) if x is not None]
    return np.array(found).reshape(-1, d).T
