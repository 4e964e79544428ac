"""Coordinate reduction: how mechanisms fall into nodes, long chains of loops, dead centres, variants and messages."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.dynamics.node_ranks import independent
from bellcrank.joints import make_joint
from bellcrank.machine.kernel import Kernel
from bellcrank.model import Closure
from bellcrank.model.generators import chain
from bellcrank.plan import make_plan
from bellcrank.plan.nodes import blocks
from bellcrank.plan.nodes.blocks import make_nodes
from bellcrank.plan.nodes.condensed_places import places_in_turn

from ..closed_linkages import Bar, Z, four_bar, ladder, lattice, linkage, n_four_bar, spatial_ladder
from ..closed_states import moving


@pytest.fixture
def take_everything_apart(monkeypatch):
    monkeypatch.setattr(blocks, "LARGEST", 1)


def nodes_of(model):
    return make_nodes(model, make_plan(model).tree)


def test_a_tree_is_one_node_a_joint():
    assert [len(node.joints) for node in nodes_of(bc.load("humanoid"))] == [1] * bc.load("humanoid").n


def test_a_ladder_is_one_node_a_cell_that_hangs_on_the_rung_before():
    nodes = nodes_of(ladder(5))
    assert len(nodes) == 5
    assert all(len(node.joints) == 3 and len(node.closures) == 1 and node.parent is None for node in nodes)
    assert nodes[0].base == -1 and all(node.base >= 0 for node in nodes[1:])


def test_overlapping_loops_are_taken_apart_along_the_cranks_they_share():
    nodes = nodes_of(n_four_bar(20))
    assert len(nodes) == 20
    assert all(node.separator == 1 for node in nodes[1:])
    assert max(len(node.joints) for node in nodes) == 3


@pytest.mark.parametrize("terms", [((2, 0, 1.0), (1, 0, -2.0)), ((3, 0, 1.0), (1, 0, 0.5)), ((2, 0, 1.0),)])
def test_a_gear_between_any_joints_of_a_chain_is_one_node(terms):
    """Neighbours, joints with others between, one joint alone; as in the multipliers."""
    model = replace(chain(4), closures=(Closure("gear", "coupler", terms=terms),))
    (node,) = [node for node in nodes_of(model) if node.closures]
    assert {joint for joint, _, _ in terms} <= set(node.joints)
    state = moving(model, 3)
    expected = bc.compile(model, "multipliers").acceleration(**state)
    np.testing.assert_allclose(bc.compile(model).acceleration(**state), expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("n", [9, 20])
def test_sliders_between_slanting_faces_rise_as_one(n):
    """Vertical sliders side by side: n_z (z_k+1 - z_k) = 0 at each face, so that all rise as one, by their mean effort.

    The coefficients of these equations are numbers of the model alone, at every position.
    """
    rng = np.random.default_rng(0)
    feet = [np.array([float(k), 0.0, 0.0]) for k in range(n)]
    bars = [Bar(f"slider{k}", -1, foot, foot + [0.0, 0.0, 0.5], ("prismatic", Z)) for k, foot in enumerate(feet)]
    model, _ = linkage("sliders", bars, gravity=(0.0, 0.0, -9.81))
    normals = rng.uniform(0.2, 1.0, (n - 1, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    faces = [Closure(f"face{k}", "point_on_plane", k, k + 1, axis=tuple(x), value=x[0]) for k, x in enumerate(normals)]
    dynamics = bc.compile(replace(model, closures=tuple(faces)), optimisation=0)
    assert all(signature.condensed for signature in dynamics.plan.nodes.signatures)
    tau = rng.uniform(-1.0, 1.0, n)
    still = np.zeros(n)
    np.testing.assert_allclose(dynamics.acceleration(still, still, tau), np.full(n, tau.mean() - 9.81), rtol=1e-13)


@pytest.mark.parametrize("make", [n_four_bar, ladder])
def test_code_does_not_grow_with_the_number_of_loops(make):
    few, many = (bc.compile(make(N)).plan.nodes.signatures for N in (12, 40))
    assert len(few) <= 4 and len(many) <= 4


def test_a_lattice_of_loops_agrees_with_the_multipliers():
    """Separators as wide as the lattice; measured: 3e-15 for 3 by 3."""
    model = lattice(2, 3)
    state = moving(model, 2, reach=0.2)
    dynamics = bc.compile(model)
    assert max(node.separator for node in nodes_of(model)) > 1
    expected = bc.compile(model, "multipliers").acceleration(**state)
    np.testing.assert_allclose(dynamics.acceleration(**state), expected, atol=1e-11 * np.abs(expected).max())


def test_cells_of_a_mesh_hang_on_each_other_in_rows():
    """Not all on one: separators are as wide as the mesh is high, and no node hears of a joint more than twice."""
    nodes = nodes_of(lattice(5, 4))
    assert max(len(node.children) for node in nodes) == 2
    assert max(len(node.joints) for node in nodes) == 2 * 5 + 1


def test_places_of_what_nodes_report_are_used_again():
    """A row of three, of which the last is not needed any more when the first reports; and a node that hears from two at once."""
    assert places_in_turn([(0, (1,)), (4, (2,)), (4, (3,)), (4, ())]) == ([0, 0, 4, 0], 8)
    assert places_in_turn([(0, (1,)), (5, (2, 3)), (2, ()), (3, ())]) == ([0, 5, 3, 0], 10)


def test_the_change_of_least_kinetic_energy_by_blocks_is_that_of_all_equations_at_once():
    """Positions of one loop; velocities of many. (Positions of loops on moving bodies are off in other axes, to second order.)"""
    for model, off in ((four_bar(), 1e-3), (ladder(3), 0.0)):
        q, v = moving(model, 1)["q"] + off * np.sin(np.arange(model.nq)), np.cos(np.arange(model.nv))
        (q1, v1), (q2, v2) = (bc.compile(model, name).projected(q, v, metric="mass") for name in ("auto", "multipliers"))
        np.testing.assert_allclose(q1, q2, atol=1e-13)
        np.testing.assert_allclose(v1, v2, atol=1e-11)


@pytest.mark.parametrize(("make", "N"), [(n_four_bar, 1), (n_four_bar, 15), (ladder, 1), (ladder, 15), (spatial_ladder, 6)])
def test_chains_of_loops_agree_with_the_multipliers(make, N):
    model = make(N)
    state = moving(model, 2, reach=0.2)
    a = bc.compile(model).acceleration(**state)
    expected = bc.compile(model, "multipliers").acceleration(**state)
    np.testing.assert_allclose(a, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["squeezer", "quarter_car", "stewart", "strandbeest"])
def test_a_block_gives_the_same_in_one_piece_and_taken_apart(name, take_everything_apart):
    model = bc.load(name)
    apart = bc.compile(model)
    assert any(signature.condensed for signature in apart.plan.nodes.signatures)
    q, v = bc.compile(model, "multipliers").projected(model.initial_q, np.full(model.nv, 0.1), steps=6)
    tau = np.linspace(-1, 1, model.nv)
    expected = bc.compile(model, "multipliers").acceleration(q, v, tau)
    np.testing.assert_allclose(apart.acceleration(q, v, tau), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_a_dead_centre_is_nothing_special():
    """Crank and coupler in line: no coordinate can be called dependent at all times, and none has to be."""
    model = four_bar(angle=0.7)
    dyn = bc.compile(model)
    q = bc.assemble(
        model, {model.q_names[1]: -float(np.arctan2(*model.center[1][[1, 0]]) - np.arctan2(*model.position[1][[1, 0]]))}
    ).q
    v = dyn.projected(q, np.ones(3))[1]
    expected = bc.compile(model, "multipliers").acceleration(q, v)
    np.testing.assert_allclose(dyn.acceleration(q, v), expected, rtol=1e-11, atol=1e-11)
    assert dyn.blocks(q, v).pivot.min() > 0.03


def test_pivots_vanish_at_a_change_point(parallelogram):
    """As the distance to it."""
    _, dyn = parallelogram
    far, near, there = dyn.blocks(np.array([FLAT + x * TURNING for x in (1e-2, 1e-4, 0.0)]), np.zeros((3, 3))).pivot[:, 0]
    assert near / far == pytest.approx(1e-2, rel=0.03)
    assert 0 <= there < 1e-15


def test_rows_that_add_most_are_chosen_first():
    assert independent(np.array([[1.0, 0, 0], [1.0, 1e-5, 0], [0, 1.0, 0], [0, 0, 0]]), 1e-7) == [0, 2]
    assert independent(np.zeros((0, 0)), 1e-7) == []


@pytest.mark.parametrize("variant", ["block", "body", "rcr", "acs", "gcl"])
def test_the_papers_variants_agree(variant):
    model = bc.load("four_bar")
    q, v = bc.compile(model).projected(model.initial_q, model.initial_v)
    expected = bc.compile(model).acceleration(q, v)
    dyn = bc.compile(model, "coordinate_reduction", variant=variant)
    np.testing.assert_allclose(dyn.acceleration(q, v), expected, rtol=1e-10)
    np.testing.assert_allclose(dyn.acceleration(np.tile(q, (2, 1)), v), [expected, expected], rtol=1e-10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formulation": "multipliers", "variant": "rcr"}, "options of formulation 'coordinate_reduction'"),
        ({"variant": "best"}, "variant='best'"),
        ({"variant": "rcr", "dependents": ["a"]}, "dependents go with 'acs'"),
    ],
)
def test_variants_that_do_not_exist_are_refused(options, message):
    with pytest.raises(bc.StateError, match=message):
        bc.compile(bc.load("four_bar"), **options)


def test_an_unknown_metric_is_refused():
    model = bc.load("four_bar")
    with pytest.raises(bc.StateError, match="metric is 'least'"):
        bc.compile(model).projected(model.initial_q, model.initial_v, metric="least")


def test_a_function_of_a_kernel_outlives_the_kernel():
    """Python looks at a function's definition when it disposes of it, which must still be there then."""
    model = bc.load("four_bar")
    dyn = bc.compile(model)
    for _ in range(4):
        kernel = Kernel(dyn.plan, dyn.program, 1)
        function = kernel.single()
        del kernel
        gc.collect()
        del function
    assert replace(model).n == 3


def test_reactions_in_the_childs_axes_are_those_of_the_world_turned():
    model = bc.load("quarter_car")
    run = bc.simulate(model, 0.2)
    dyn = bc.compile(model)
    q, v, a = (run.values(name)[-1] for name in "qva")
    _, R = dyn.poses(q)
    for world, own, bodies in (
        (dyn.reactions(q, v, a), dyn.reactions(q, v, a, axes="child"), range(model.n)),
        (dyn.closure_reactions(q, v), dyn.closure_reactions(q, v, axes="child"), [c.body_b for c in model.closures]),
    ):
        for part in (slice(0, 3), slice(3, 6)):
            turned = np.einsum("nij,nj->ni", R[list(bodies)], own[:, part])
            np.testing.assert_allclose(turned, world[:, part], atol=1e-10)
    with pytest.raises(bc.StateError, match="axes is 'joint'"):
        dyn.reactions(q, v, a, axes="joint")


def test_a_massless_link_between_two_joints_beside_a_loop_is_no_obstacle():
    """Its inertia comes from what it carries; while code is planned nobody has said so yet."""
    model = four_bar()
    light = {"mass": [*model.mass, 0.0, 1.0], "center": [*model.center, np.zeros(3), [0.1, 0.2, 0.3]]}
    inertia = np.array([*model.inertia, np.zeros((3, 3)), 0.1 * np.eye(3)])
    more = replace(
        model,
        joint_names=(*model.joint_names, "x", "y"),
        body_names=(*model.body_names, "cross", "tip"),
        parents=(*model.parents, -1, 3),
        joints=(*model.joints, make_joint("revolute", axis=(1, 0, 0)), make_joint("revolute", axis=(0, 1, 0))),
        position=[*model.position, np.zeros(3), [0.0, 0.1, 0.3]],
        inertia=inertia,
        armature=np.zeros(5),
        given_q=np.zeros(5),
        given_v=np.array([*model.initial_v, 0.0, 0.0]),
        **light,
    )
    q, v = np.array([*model.initial_q, 0.2, 0.3]), np.array([*model.initial_v, 0.4, -0.5])
    expected = bc.compile(more, "multipliers").acceleration(q, v)
    np.testing.assert_allclose(bc.compile(more).acceleration(q, v), expected, rtol=1e-9, atol=1e-9)


# singular positions --------------------------------------------------------------------------------------------------

FLAT = np.array([1.0, -1.0, 1.0]) * (np.pi - np.radians(50))  # of the gallery's parallelogram: its cranks start at 50 degrees
TURNING = np.array([1.0, -1.0, 1.0])


@pytest.fixture(scope="module")
def parallelogram():
    model = bc.load("parallelogram")
    return model, bc.compile(model)


def test_a_flat_parallelogram_has_no_accelerations_and_says_which_loop_is_singular(parallelogram):
    _, dyn = parallelogram
    with pytest.raises(bc.DynamicsError, match='singular position of the loop through "right_pin".*rank_tolerance 1e-07'):
        dyn.acceleration(FLAT, TURNING)
    with pytest.raises(bc.DynamicsError, match='singular position of the loop through "right_pin"'):
        dyn.multipliers(FLAT, TURNING)


def test_other_states_of_a_batch_do_not_feel_a_singular_one(parallelogram):
    _, dyn = parallelogram
    q, v, status = np.array([0.5 * FLAT, FLAT, 0.6 * FLAT, 0.7 * FLAT, FLAT]), np.tile(TURNING, (5, 1)), np.zeros(5, dtype=int)
    a = dyn.acceleration(q, v, status=status)
    assert status.tolist() == [0, 2, 0, 0, 2]
    np.testing.assert_allclose(a[0], dyn.acceleration(q[0], v[0]), rtol=1e-13)


def test_almost_flat_no_digits_are_lost(parallelogram):
    """A parallelogram moves as one crank does, however near it is to its flat position."""
    model, dyn = parallelogram
    for away in (1e-3, 1e-6):
        q = FLAT + away * TURNING
        expected = bc.compile(model, "multipliers").acceleration(q, TURNING)
        np.testing.assert_allclose(dyn.acceleration(q, TURNING), expected, rtol=1e-14 / away)


def test_blocks_that_are_taken_apart_know_their_singular_positions(take_everything_apart):
    model = n_four_bar(3)
    dyn = bc.compile(model)
    assert any(signature.condensed for signature in dyn.plan.nodes.signatures)
    flat = np.array([-1.1 if parent < 0 else 1.1 for parent in model.parents])  # cranks start at 1.1 rad
    assert np.abs(dyn.closure(flat, 0 * flat)[0]).max() < 1e-12
    with pytest.raises(bc.DynamicsError, match="singular position of the loop through"):
        dyn.acceleration(flat, np.zeros(model.nv))
