"""Long loops are eliminated along their own bodies, in linear time: the same numbers as in one node, in every program."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.dynamics.node_ranks import plan_nodes
from bellcrank.formulations import CANONICAL, CLOSED, QUANTITIES, WITH_MULTIPLIERS
from bellcrank.joints import make_joint
from bellcrank.kernels.processor import lane_count
from bellcrank.machine.in_python import InPython, run_plain
from bellcrank.machine.kernel import Kernel
from bellcrank.model import Closure, generators
from bellcrank.numbers import Dual
from bellcrank.papers.operations import count_program
from bellcrank.plan import make_plan
from bellcrank.plan.long_loops import choice

from ..closed_states import displaced, moving

LANES = lane_count()

PROGRAMS = {
    "accelerations, multipliers and powers": WITH_MULTIPLIERS["coordinate_reduction"],
    "velocities": QUANTITIES["project_velocities:minimum_norm_blocks"],
    "velocities in the metric of mass": QUANTITIES["project_velocities:mass_blocks"],
    "momenta": CANONICAL["canonical_momenta"],
}
ACCELERATIONS = CLOSED["coordinate_reduction"]


def planned(model, *, long):
    """With links wherever they can be, or nowhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "along_bodies", lambda *_: -np.inf if long else np.inf)
        plan = make_plan(model)
        plan = replace(plan, nodes=plan_nodes(plan, np.array(model.given_q), 0.0))
    assert plan.nodes.has_links == long
    return plan


def afloat(model):
    """The model on a raft that floats; the raft comes first."""
    free = make_joint("free")
    return replace(
        model,
        joint_names=("raft_joint", *model.joint_names),
        body_names=("raft", *model.body_names),
        parents=(-1, *(p + 1 for p in model.parents)),
        joints=(free, *model.joints),
        position=np.vstack([np.zeros(3), model.position]),
        mass=np.array([3.0, *model.mass]),
        center=np.vstack([[0.1, 0.2, -0.1], model.center]),
        inertia=np.concatenate([[np.diag([1.0, 1.2, 0.9])], model.inertia]),
        armature=np.array([*np.zeros(6), *model.armature]),
        given_q=np.array([*free.neutral, *model.given_q]),
        given_v=np.zeros(6 + model.nv),
        closures=tuple(replace(c, body_a=c.body_a + 1, body_b=c.body_b + 1) for c in model.closures),
    )


def with_ties(model):
    """A stay between two bars besides, and a pendulum on the third: loops that share joints, a body that carries others."""
    ends = (0.1, 0.0, 0.2), (0.0, 0.3, 0.0)
    length = np.linalg.norm(model.position[2:5].sum(axis=0) + ends[1] - np.array(ends[0]))
    stay = Closure("stay", "distance", 1, 4, *ends, value=float(length))
    return replace(
        model,
        joint_names=(*model.joint_names, "hook"),
        body_names=(*model.body_names, "pendulum"),
        parents=(*model.parents, 3),
        joints=(*model.joints, make_joint("universal", axis=(1, 0, 0), axis2=(0, 1, 0))),
        position=np.vstack([model.position, [0.0, 0.1, 0.2]]),
        mass=np.array([*model.mass, 0.7]),
        center=np.vstack([model.center, [0.0, 0.0, -0.4]]),
        inertia=np.concatenate([model.inertia, [np.diag([0.1, 0.1, 0.02])]]),
        armature=np.array([*model.armature, 0.0, 0.0]),
        given_q=np.array([*model.given_q, 0.0, 0.0]),
        given_v=np.zeros(model.nv + 2),
        closures=(*model.closures, stay),
    )


@lru_cache
def raft():
    model = afloat(with_ties(generators.polygon(8, spatial=True)))
    return replace(model, inertia=model.inertia + 0.05 * np.eye(3))  # not as slender: better conditioned


@lru_cache
def states():
    """LANES states, slightly off the closures, with efforts and momenta."""
    model, rng = raft(), np.random.default_rng(4)
    near = [moving(model, seed, reach=0.1) for seed in range(LANES)]
    given = {name: np.array([state[name] for state in near]) for name in ("q", "v", "tau")}
    given["q"] = np.array([displaced(model, q, 1e-3 * rng.normal(size=model.nv)) for q in given["q"]])
    given["v"] = given["v"] + 0.01 * rng.normal(size=given["v"].shape)
    return given | {"p": rng.normal(size=given["v"].shape)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_links_give_the_same_as_one_node(name):
    """Two loops that share joints on a raft, off the closures: measured up to 3e-14 of the largest."""
    program = replace(PROGRAMS[name], scratch=())
    given = {x: states()[x][-1] for x in program.inputs}
    found, expected = (run_plain(program, planned(raft(), long=long), **given) for long in (True, False))
    for output in program.outputs:
        values, wanted = np.array(found[output], dtype=float), np.array(expected[output], dtype=float)
        np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max(initial=1e-300), err_msg=output)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("lanes", [1, LANES])
def test_links_in_machine_code_give_the_same_as_in_python(name, lanes):
    """Every output, and what the watch of a time loop reads of each equation: its direction and its pivot."""
    program, plan, given = PROGRAMS[name], planned(raft(), long=True), states()
    kernel = Kernel(plan, replace(program, scratch=tuple(program.outputs)[1:], optimisation=0), lanes)
    kernel.batch({x: np.ascontiguousarray(given[x]) for x in program.inputs}, threads=1)
    arrays = kernel._free[-1].arrays
    evaluation = InPython(plan, replace(program, scratch=()), {x: list(given[x][-1]) for x in program.inputs})
    evaluation.run()
    compared = [(f"buffer:{x}", x, kernel.widths[x]) for x in program.outputs]
    if "velocities" in name:
        compared += [(f"{x}", x, plan.loads.closing.rows * size) for x, size in (("left", plan.nodes.width), ("rows", 10))]
    for buffer, output, size in compared:
        values = arrays[buffer].reshape(-1, lanes)[:size, -1]
        wanted = np.array(evaluation.values(output)[:size], dtype=float)
        np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max(initial=1e-300), err_msg=output)


def test_links_carry_derivatives():
    """Along a direction of q and v, by dual numbers: against differences of the same in one node, of order 4."""
    model, rng = generators.polygon(7), np.random.default_rng(3)
    q, v, way, push = (0.1 * rng.normal(size=model.nv) for _ in range(4))
    still = [0.0] * model.nv
    inputs = {"q": [Dual(x, [d]) for x, d in zip(q, way, strict=True)], "tau": still}
    inputs["v"] = [Dual(x, [d]) for x, d in zip(v, push, strict=True)]
    found = [x.tangents[0] for x in InPython(planned(model, long=True), ACCELERATIONS, inputs).run()["a"]]
    plan = planned(model, long=False)

    def beside(h):
        return np.array(run_plain(ACCELERATIONS, plan, q=q + h * way, v=v + h * push, tau=still)["a"])

    slopes = [(beside(h) - beside(-h)) / (2 * h) for h in (1e-3, 2e-3)]
    np.testing.assert_allclose(found, (4 * slopes[0] - slopes[1]) / 3, rtol=0, atol=1e-8 * np.abs(slopes[0]).max())


def operations(model):
    return count_program(model, ACCELERATIONS, "plane", True, np.array(model.given_q)).total


def test_every_further_bar_of_a_loop_takes_the_same():
    """224 additions and multiplications from 16 to 256 bars, to a thousandth; in one node the cube of the bars."""
    counts = {n: operations(generators.polygon(n)) for n in (16, 32, 256)}
    each = [(counts[b] - counts[a]) / (b - a) for a, b in ((16, 32), (32, 256))]
    np.testing.assert_allclose(each, 224, rtol=1e-3)


def test_the_cheaper_form_is_taken_loop_by_loop():
    """Short loops are one node each and long ones links, side by side; a ladder whose ropes are long takes no more for a link
    than one long loop does."""
    for n in (4, 5):
        assert not bc.compile(generators.polygon(n)).plan.nodes.has_links
    for n in (8, 24):
        assert bc.compile(generators.polygon(n)).plan.nodes.has_links
    mixed = bc.compile(with_ties(generators.polygon(24))).plan.nodes
    assert mixed.has_links
    eight = operations(generators.rope_ladder(8, 12)) / (8 * 25)
    assert eight < 230


@pytest.mark.parametrize("n", [24, 100])
def test_long_loops_move_as_the_multipliers_say(n):
    """To 1e-12: the loops stand on ground and are closed, with velocities that keep them so."""
    model = generators.polygon(n)
    dyn, other = bc.compile(model), bc.compile(model, "multipliers")
    assert dyn.formulation == "coordinate_reduction"
    q = np.array(model.given_q)
    v = dyn.projected(q, np.random.default_rng(2).normal(size=n))[1]
    a, wanted = dyn.acceleration(q, v), other.acceleration(q, v)
    np.testing.assert_allclose(a, wanted, rtol=0, atol=1e-12 * n * np.abs(wanted).max())


def test_a_long_loop_in_a_singular_position_says_so():
    """All bars in line: no equation across the line is left at first order."""
    model = generators.polygon(8)
    angles = np.arctan2(model.center[:, 1], model.center[:, 0])
    folded = np.diff(np.where(np.arange(8) % 2, np.pi, 0.0) - angles, prepend=0.0)
    dyn = bc.compile(model)
    assert dyn.plan.nodes.has_links
    assert dyn.blocks(folded, np.zeros(8)).pivot.min() < 1e-7
    assert not np.isfinite(dyn.acceleration(folded[None], np.zeros((1, 8)))).all()


def test_rings_of_many_links_that_hang_on_each_other():
    """Each is a long loop of its own, the bar between them no part of one: as the multipliers say, and as cheap for a link."""
    model = generators.hooked_rings(2, 20)
    dyn, other = bc.compile(model), bc.compile(model, "multipliers")
    q = np.array(model.given_q)
    v = dyn.projected(q, np.random.default_rng(4).normal(size=model.nv))[1]
    a, wanted = dyn.acceleration(q, v), other.acceleration(q, v)
    np.testing.assert_allclose(a, wanted, rtol=0, atol=1e-12 * model.nv * np.abs(wanted).max())
    assert operations(model) / model.nv < 230


def test_a_rope_ladder_swings_without_losing_energy_or_opening():
    model = generators.rope_ladder(3, 5)
    run = bc.simulate(model, duration=0.5, rtol=1e-9)
    assert np.ptp(run.energy.total.values) < 1e-6 * float(run.energy.kinetic.max())
    assert float(np.abs(run.closure["closure"]).max()) < 1e-12
