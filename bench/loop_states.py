"""Mechanisms of N closed loops, and closed states of them. Public names only: bench/versions.py runs older sources, too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import bellcrank as bc
from bellcrank.model import Model, generators

Array = NDArray[np.float64]
States = tuple[Array, Array, Array]  # q, v, tau


def in_step(model: Model, pattern: list[int], groups: int, count: int) -> States:
    """Parallelograms: the joints of a group turn by one angle, as the signs of the pattern say."""
    rng = np.random.default_rng(0)
    angle, speed = rng.uniform(-0.5, 0.5, (count, groups)), rng.uniform(-1, 1, (count, groups))
    signs = np.array(pattern)
    q, v = ((x[:, :, None] * signs).reshape(count, -1) for x in (angle, speed))
    return q, v, rng.uniform(-1, 1, (count, model.nv))


def four_bar_states(model: Model, N: int, count: int) -> States:
    return in_step(model, [1, -1] * N + [1], 1, count)


def ladder_states(model: Model, N: int, count: int) -> States:
    return in_step(model, [1, -1, 1], N, count)


def spatial_states(model: Model, N: int, count: int) -> States:
    """States of one cell, closed by projection, drawn for each cell anew: cells are equal, and closed by themselves."""
    rng = np.random.default_rng(0)
    cell = bc.compile(generators.spatial_ladder(1))
    q, v = rng.uniform(-0.4, 0.4, (count, cell.model.nv)), rng.uniform(-1, 1, (count, cell.model.nv))
    q, v = cell.projected(q, v, steps=30)
    good = np.flatnonzero((np.abs(cell.closure(q, v)[0]).max(axis=1) < 1e-13) & (np.abs(q).max(axis=1) < 1.0))
    drawn = rng.choice(good, (count, N))
    return q[drawn].reshape(count, -1), v[drawn].reshape(count, -1), rng.uniform(-1, 1, (count, model.nv))


def lattice_states(model: Model, N: int, count: int) -> States:
    """Posts of a row have one angle in the world, beams stay level."""
    rng = np.random.default_rng(0)
    angle, speed = rng.uniform(-0.2, 0.2, (count, N)), rng.uniform(-1, 1, (count, N))
    signs = np.array([1.0] * (N + 1) + [-1.0] * N)

    def relative(x: Array) -> Array:
        posts, beams = np.diff(x, axis=1, prepend=0.0), x
        chosen = np.where(signs > 0, posts[:, :, None], beams[:, :, None])
        return (chosen * signs).reshape(count, -1)

    return relative(angle), relative(speed), rng.uniform(-1, 1, (count, model.nv))


def rope_states(model: Model, N: int, count: int) -> States:
    """Near the one in which ropes or rings hang, closed by projection."""
    rng, dyn = np.random.default_rng(0), bc.compile(model)
    q, v = rng.uniform(-0.05, 0.05, (count, model.nv)), rng.uniform(-1, 1, (count, model.nv))
    q, v = dyn.projected(q, v, steps=20)
    return q, v, rng.uniform(-1, 1, (count, model.nv))


FAMILIES: dict[str, tuple[Callable[[int], Model], Callable[[Model, int, int], States]]] = {
    "N-four-bar": (generators.n_four_bar, four_bar_states),
    "ladder": (generators.ladder, ladder_states),
    "spatial ladder": (generators.spatial_ladder, spatial_states),
    "rope ladder": (lambda N: generators.rope_ladder(N, 12), rope_states),
    "hooked rings": (lambda N: generators.hooked_rings(N, 50), rope_states),
    "lattice": (lambda N: generators.lattice(N, N), lattice_states),
}
SIDES = (1, 2, 4, 8, 16)  # of the lattice
