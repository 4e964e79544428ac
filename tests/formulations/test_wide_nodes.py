"""Wide nodes keep their matrices in memory: the same numbers as unrolled, in every program over nodes; large meshes and loops."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.dynamics.node_ranks import plan_nodes
from bellcrank.formulations import CANONICAL, QUANTITIES, WITH_MULTIPLIERS
from bellcrank.kernels.processor import lane_count
from bellcrank.machine.adjoint.kernel import AdjointKernel
from bellcrank.machine.in_python import run_plain
from bellcrank.machine.kernel import Kernel
from bellcrank.plan import make_plan
from bellcrank.plan.long_loops import choice
from bellcrank.plan.nodes import signatures as nodes

from ..closed_linkages import Bar, lattice, linkage, pinned
from ..closed_states import displaced, moving

LANES = lane_count()

VELOCITIES = QUANTITIES["project_velocities:minimum_norm_blocks"]
PROGRAMS = {  # positions go the way of velocities
    "accelerations, multipliers and powers": WITH_MULTIPLIERS["coordinate_reduction"],
    "velocities": VELOCITIES,
    "velocities in the metric of mass": QUANTITIES["project_velocities:mass_blocks"],
    "momenta": CANONICAL["canonical_momenta"],
}


def planned(model, widest):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes, "LARGEST_PART", widest)
        patch.setattr(choice, "along_bodies", lambda *_: np.inf)
        plan = make_plan(model)
        return replace(plan, nodes=plan_nodes(plan, np.array(model.given_q), 0.0))


@lru_cache
def floating_mesh():
    """A mesh in space, afloat, with a pendulum on it: joints that two nodes give, unknowns that do not move the separator, a base
    that moves, bodies that carry others."""
    model = lattice(2, 2, afloat=True, spatial=True)
    plan = planned(replace(model, inertia=model.inertia + 0.1 * np.eye(3)), 1)  # not as slender: better conditioned
    assert [s.in_memory for s in plan.nodes.signatures].count(False) == 2  # the raft's joint, the pendulum's
    return plan


@lru_cache
def states():
    """LANES states, slightly off the closures, with efforts and momenta."""
    model, rng = floating_mesh().model, np.random.default_rng(4)
    near = [moving(model, seed, reach=0.1) for seed in range(LANES)]
    given = {name: np.array([state[name] for state in near]) for name in ("q", "v", "tau")}
    given["q"] = np.array([displaced(model, q, 1e-3 * rng.normal(size=model.nv)) for q in given["q"]])
    given["v"] = given["v"] + 0.01 * rng.normal(size=given["v"].shape)
    return given | {"p": rng.normal(size=given["v"].shape)}


def evaluated(kernel, given):
    """Buffers after the last state."""
    kernel.batch({name: np.ascontiguousarray(given[name]) for name in kernel.program.inputs}, threads=1)
    return kernel._free[-1].arrays


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("lanes", [1, LANES])
def test_matrices_in_memory_give_the_same_as_numbers_one_by_one(name, lanes):
    """Rounding differs: measured up to 3e-14 of the largest, and 2e-13 where the result is a difference."""
    program, plan, given = PROGRAMS[name], floating_mesh(), states()
    kernel = Kernel(plan, replace(program, scratch=tuple(program.outputs)[1:], optimisation=0), lanes)
    found = evaluated(kernel, given)
    expected = run_plain(replace(program, scratch=()), plan, **{x: given[x][-1] for x in program.inputs})
    for output, size in ((x, kernel.widths[x]) for x in program.outputs):
        values, wanted = found[f"buffer:{output}"].reshape(-1, lanes)[:size, -1], np.array(expected[output], dtype=float)
        np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max(initial=1e-300), err_msg=output)


def test_the_lookout_for_singularities_sees_the_same():
    """Directions of the equations and their pivots, which the projection of velocities leaves for the time loop."""
    model = lattice(2, 2)
    state = moving(model, 5, reach=0.2)
    given = {name: state[name][None] for name in ("q", "v")}
    wide, unrolled = (evaluated(Kernel(planned(model, widest), VELOCITIES, 1), given) for widest in (3, 100))
    for name in ("left", "rows"):
        assert unrolled[name].any()
        np.testing.assert_allclose(wide[name], unrolled[name], atol=1e-13)


def test_routines_on_matrices_go_back_as_numbers_one_by_one_do():
    """From the adjoints of accelerations, multipliers and powers, and of velocities, to those of what they depend on."""
    model, rng = lattice(1, 2, afloat=True), np.random.default_rng(8)
    state = moving(model, 2, reach=0.2)
    for name in ("accelerations, multipliers and powers", "velocities in the metric of mass"):
        program = replace(PROGRAMS[name], scratch=(), optimisation=0)
        inputs = {x: state.get(x, np.ones(model.nv))[None] for x in program.inputs}
        seeds, found = {}, []
        for widest in (1, 100):
            kernel = AdjointKernel(planned(model, widest), program, program.inputs)
            seeds = seeds or {x: rng.normal(size=(1, kernel.widths[x])) for x in program.outputs if x != "residual"}
            found.append(kernel.run(inputs, seeds)[1])
        for x, expected in found[1].items():
            assert expected.any()
            np.testing.assert_allclose(found[0][x], expected, rtol=0, atol=1e-11 * np.abs(expected).max(), err_msg=x)


def arch(N):
    """One loop: a half circle of hinged bars from ground to ground."""
    points = [np.array([np.cos(a), np.sin(a), 0.0]) * N / np.pi for a in np.linspace(np.pi, 0.0, N + 1)]
    model, origins = linkage(f"arch of {N}", [Bar(f"bar{k}", k - 1, points[k], points[k + 1]) for k in range(N)])
    return pinned(model, origins, [(N - 1, -1, points[-1])])


def agrees_with_the_multipliers(dynamics, tolerance):
    assert any(signature.in_memory for signature in dynamics.plan.nodes.signatures)
    model, rng = dynamics.model, np.random.default_rng(3)
    state = model.given_q, rng.normal(size=model.nv), rng.normal(size=model.nv)
    a, expected = dynamics.acceleration(*state), bc.compile(model, "multipliers").acceleration(*state)
    np.testing.assert_allclose(a, expected, rtol=0, atol=tolerance * np.abs(expected).max())
    return True


def test_a_mesh_of_eight_by_eight_cells_agrees_with_the_multipliers():
    """Measured: 2e-14."""
    dynamics = bc.compile(lattice(8, 8))
    assert dynamics.formulation == "coordinate_reduction" and agrees_with_the_multipliers(dynamics, 1e-12)


def test_one_long_loop_in_one_piece_agrees_with_the_multipliers(monkeypatch):
    """Measured: 3e-12; the mass matrix of so long a chain has a condition number of 1e6."""
    monkeypatch.setattr(choice, "along_bodies", lambda *_: np.inf)
    assert bc.compile(arch(20)).formulation == "multipliers:joint"
    assert bc.compile(arch(8)).formulation == "coordinate_reduction"
    assert agrees_with_the_multipliers(bc.compile(arch(20), "coordinate_reduction"), 1e-10)
