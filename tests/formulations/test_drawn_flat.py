"""Mechanisms that are drawn in a singular position, and asked somewhere else: ranks are those of the motion, not of the drawing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations import CLOSED
from bellcrank.machine.in_python import run_plain

from .. import closed_reference as ref
from ..closed import between
from ..closed_linkages import Bar, ladder, lattice, linkage, n_four_bar, pinned
from ..closed_states import flowing

FLAT = -np.pi / 2  # lean at which rails and posts lie along the rungs and beams


def parallel_cranks(N, kind):
    """All cranks turn by one angle, the couplers back."""
    model = n_four_bar(N, kind, angle=0.0)
    q = np.where(np.array(model.parents) < 0, 1.0, -1.0)
    return model, 0.8 * q, 1.3 * q


def cells(N, kind):
    """Both rails of a cell turn alike, the rung back."""
    model = ladder(N, kind, lean=FLAT)
    way = np.tile([1.0, 1.0, -1.0], N)
    angles, speeds = (np.repeat(np.linspace(*ends, N), 3) for ends in ((0.6, 0.9), (1.0, -0.5)))
    return model, angles * way, speeds * way


def floors(rows, columns):
    """The posts of a floor turn alike, its beams back."""
    return lean(lattice(rows, columns, lean=FLAT))


def lean(model):
    way = np.array([1.0 if name.startswith("post") else -1.0 for name in model.body_names])
    floor = np.array([int(name.split("_")[1]) for name in model.body_names])
    return model, (0.7 + 0.1 * floor) * way, (1.0 - 0.3 * floor) * way


def mesh(seed, rows, columns):
    """A lattice with posts and beams of any length, with some beams left out, closed by hinges and balls, drawn along a line."""
    rng = np.random.default_rng(seed)
    height, place = rng.uniform(0.5, 1.5, rows), np.cumsum([0.0, *rng.uniform(0.5, 1.5, columns)])
    foot, bars, pairs = 0.0, [], []
    below = [-1] * (columns + 1)
    for j in range(rows):
        posts = range(len(bars), len(bars) + columns + 1)
        ends = [(x, 0.0, 0.0) for x in foot + place], [(x, 0.0, 0.0) for x in foot + height[j] + place]
        bars += [Bar(f"post{i}_{j}", below[i], *pair) for i, pair in enumerate(zip(*ends, strict=True))]
        for i in rng.choice(columns, max(1, columns - 1), replace=False):
            pairs.append((len(bars), posts[i + 1], np.array(ends[1][i + 1])))
            bars.append(Bar(f"beam{i}_{j}", posts[i], ends[1][i], ends[1][i + 1]))
        foot, below = foot + height[j], list(posts)
    model, origins = linkage(f"mesh {seed}", bars)
    return lean(pinned(model, origins, pairs, ("revolute", "spherical")[seed % 2]))


CASES = {f"{N} four-bars, {kind}": (parallel_cranks, N, kind) for N in (1, 3, 6, 14, 40) for kind in ("spherical",)}
CASES |= {"6 four-bars, revolute": (parallel_cranks, 6, "revolute")}
CASES |= {f"ladder of {N}": (cells, N, "spherical") for N in (1, 6, 20)}
CASES |= {f"lattice of {a} by {b}": (floors, a, b) for a, b in ((1, 2), (2, 3), (4, 4))}
CASES |= {f"mesh {seed}": (mesh, seed, 2 + seed % 2, 3) for seed in range(4)}


@pytest.mark.parametrize("name", CASES)
def test_accelerations_off_the_singular_position_of_the_drawing(name):
    """Within 1e-13 times the amplification of errors: sums over up to 80 equations."""
    make, *numbers = CASES[name]
    model, q, v = make(*numbers)
    state = {"q": q, "v": flowing(model, q, v, 0.0), "tau": np.zeros(model.nv)}
    expected = ref.closed(model, state | {"t": 0.0, "inputs": []})
    dynamics = bc.compile(model, "coordinate_reduction", optimisation=0)
    assert dynamics.plan.nodes.rank == expected.constraints.G.shape[0] - expected.solution.idle.shape[1]
    close = 1e-13 * expected.solution.amplification * np.abs(expected.a).max()
    for found in (run_plain(CLOSED["coordinate_reduction"], dynamics.plan, **state)["a"], dynamics.acceleration(**state)):
        assert np.abs(np.array(found, dtype=float) - expected.a).max() < close


@pytest.mark.parametrize("N", [1, 6])
def test_every_formulation_off_the_flat_position(N):
    model, q, v = parallel_cranks(N, "spherical")
    expected = ref.closed(model, {"q": q, "v": v, "tau": np.zeros(model.nv), "t": 0.0, "inputs": []})
    for formulation in ("coordinate_reduction", "canonical_momenta", "multipliers"):
        dynamics = bc.compile(model, formulation, optimisation=0)
        np.testing.assert_allclose(dynamics.acceleration(q, v), expected.a.astype(float), rtol=0, atol=1e-11)
        many = dynamics.acceleration(np.tile(q, (5, 1)), np.tile(v, (5, 1)))
        np.testing.assert_allclose(many, np.tile(expected.a.astype(float), (5, 1)), rtol=0, atol=1e-11)
    momenta = bc.compile(model, "canonical_momenta", optimisation=0)
    np.testing.assert_allclose(momenta.velocities(q, momenta.momenta(q, v)), v, atol=1e-12)


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def along_the_axes(order):
    """A ball, a slide, a universal and two cylindrical joints along the world's axes, closed by a cylindrical joint and a ball."""
    bars = [
        Bar("slide", -1, (0.0, 1.0, 1.0), (0.0, 2.0, 1.0), ("prismatic", Y)),
        Bar("ball", -1, (-2.0, 0.0, -2.0), (-2.0, 0.0, -1.0), "spherical"),
        Bar("cross", -1, (0.0, 2.0, 0.0), (0.0, 3.0, 0.0), ("universal", X, Y)),
        Bar("sleeve", 2, (-2.0, 0.0, -2.0), (-1.0, 0.0, -2.0), ("cylindrical", X)),
        Bar("pipe", 1, (1.0, 2.0, 2.0), (1.0, 3.0, 2.0), ("cylindrical", Y)),
    ]
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    model, origins = linkage(
        "along the axes", [bars[k]._replace(parent=place[bars[k].parent]) for k in order], (0.7, -1.3, -9.0)
    )
    ties = between("tie", place[3], place[1], np.array([2.0, -1.0, 2.0]), origins, "cylindrical", Z)
    return replace(model, closures=(ties, between("pin", place[0], place[2], np.array([2.0, 2.0, 2.0]), origins, "spherical")))


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 2, 0, 3, 1), (1, 3, 4, 0, 2), (2, 1, 0, 4, 3)])
def test_ranks_do_not_depend_on_the_order_of_the_joints(order):
    """All along its motion one equation is redundant that is not off the closures, however near: rounding must not count."""
    model = along_the_axes(order)
    state = {"q": np.array(model.initial_q), "v": np.zeros(model.nv), "tau": np.zeros(model.nv)}
    expected = ref.closed(model, state | {"t": 0.0, "inputs": []})
    plan = bc.compile(model, "coordinate_reduction", optimisation=0).plan
    assert plan.nodes.rank == 6 == len(expected.constraints.G) - expected.solution.idle.shape[1]
    found = np.array(run_plain(CLOSED["coordinate_reduction"], plan, **state)["a"], dtype=float)
    assert np.abs(found - expected.a).max() < 1e-13 * expected.solution.amplification * np.abs(expected.a).max()


def test_equations_that_are_dependent_at_a_regular_state_are_no_singular_position():
    """Two slides in a row and a cross, closed by a sleeve: one of the sleeve's equations is redundant. With the cross turned by
    a right angle, which takes another assembly, it is another one."""
    bars = [
        Bar("slide", -1, (2.0, -2.0, -1.0), (2.0, -1.0, -1.0), ("prismatic", Y)),
        Bar("slider", 0, (-2.0, 2.0, -1.0), (-2.0, 3.0, -1.0), ("prismatic", Y)),
        Bar("cross", -1, (-2.0, -2.0, -1.0), (-1.0, -2.0, -1.0), ("universal", X, Z)),
    ]
    model, origins = linkage("slides and a cross", bars, (0.7, -1.3, -9.0))
    model = replace(model, closures=(between("sleeve", 2, 1, np.array([2.0, 2.0, -1.0]), origins, "cylindrical", Z),))
    dynamics = bc.compile(model, optimisation=0)
    turned = np.array([0.0, -8.0, 0.0, -np.pi / 2])
    assert np.abs(dynamics.closure(turned, np.zeros(4))[0]).max() < 1e-15
    assert np.isfinite(dynamics.acceleration(model.initial_q, np.zeros(4))).all()
    with pytest.raises(
        bc.DynamicsError, match='loop through "sleeve", which is over-constrained, .* they depend on each other'
    ):
        dynamics.acceleration(turned, np.zeros(4))
    assert np.isfinite(bc.compile(model, "multipliers", optimisation=0).acceleration(turned, np.zeros(4))).all()
