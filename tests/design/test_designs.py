"""The design as data: arrays and their derivatives follow from chosen parameters, and nothing jumps or folds."""

import pickle

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.numbers.variable import Replay, varied

from .substituted import at_design
from .test_recorded_models import other_numbers

RNG = np.random.default_rng(3)


def arm(**changes):
    """A pendulum with everything that a parameter can be."""
    m = bc.Mechanism("arm", gravity=(0, 0, -9.81))
    m.parameter("L", changes.get("L", 0.8))
    m.parameter("wide", "=max(L, 0.5)")
    m.point("tip", ("=L", 0.0, 0.0))
    m.rod("upper", (0, 0, 0), "tip", density=2700.0, radius=0.02)
    m.box("lower", ("=L + wide/2", 0, 0), ("=wide", 0.05, 0.04), mass=1.5)
    m.joint("shoulder", "revolute", "ground", "upper", (0, 0, 0), axis=changes.get("axis", (0, 1, 0)))
    m.joint("elbow", "revolute", "upper", "lower", "tip", axis=(0, 1, 0), armature=0.0)
    m.line_spring("strap", ("ground", (0, 0, 0.5)), ("lower", ("=L + wide", 0, 0)), stiffness=0.0, damping=2.0)
    m.motor("drive", "elbow", table=((0.0, 0.0), (1.0, 2.0), (2.0, -1.0)), outside="clamp")
    m.start("shoulder", 0.3, 0.0)
    return m.build()


@pytest.fixture(scope="module")
def swing():
    model = arm()
    return model, bc.Design(model, [name for name in model.parameters if name not in ("duration", "step")])


def test_it_says_what_its_parameters_are(swing):
    model, _ = swing
    design = bc.Design(model, ["parameters.L", "lower.mass", "strap.stiffness", "shoulder.axis.x", "initial.shoulder.q.0"])
    assert design.names[1] == "lower.mass" and design.start.tolist() == [0.8, 1.5, 0.0, 0.0, 0.3]
    assert design.units == ("", "kg", "N/m", "", "rad")
    assert bc.Design(model, ["elbow.armature"]).units == ("kg m2",)
    assert design.remarks == () and repr(design).startswith("Design('arm'")
    assert design.model({"lower.mass": 2.0}).mass[1] == 2.0


@pytest.mark.parametrize("name", ["every_joint", "crane", "quarter_car", "squeezer"])
def test_accelerations_and_reactions_are_those_of_the_model_that_is_built(name):
    """With all parameters in the design, so that all frames are those of one; loops as multipliers have them."""
    model = bc.load(name)
    formulation = "multipliers" if model.closures else "articulated_body"
    design = bc.Design(model, list(model.parameters))
    dynamics = bc.compile(model, formulation, design=design, optimisation=0)
    p = np.array(list(other_numbers(model, 1, 0.05).values()))
    found = at_design(dynamics, design.arrays(p, dynamics.planned.plan))
    wanted = bc.compile(model.with_parameters(dict(zip(design.names, p, strict=True))), formulation, optimisation=0)
    q, v = np.array(model.given_q), model.given_v + RNG.standard_normal(model.nv)
    a, b = (dyn.acceleration(q, v, t=0.1) for dyn in (found, wanted))
    assert np.abs(a - b).max() < 1e-12 * np.abs(b).max()
    left, right = (dyn.reactions(q, v, b, t=0.1) for dyn in (found, wanted))
    assert np.abs(left - right).max() < 1e-11 * np.abs(right).max()
    for x, y in zip(found.poses(q, t=0.1), wanted.poses(q, t=0.1), strict=True):
        assert np.abs(x - y).max() < 1e-13 * max(1.0, np.abs(y).max())


def test_derivatives_are_those_of_a_complex_step(swing):
    model, design = swing
    p = design.start * RNG.uniform(0.9, 1.1, len(design.names))
    plan = bc.compile(model, design=design, optimisation=0).planned.plan
    tangents = design.tangents(p, plan)
    for k in range(len(p)):
        step = p.astype(complex)
        step[k] += 1e-30j
        for name, array in plan.recorded.items():
            mask = varied(array)
            wanted = np.array(Replay(design.recording.tape, array[mask])(list(step))).imag / 1e-30
            assert tangents[name][mask][:, k] == pytest.approx(wanted, rel=1e-12, abs=1e-13), (design.names[k], name)
            assert not tangents[name][~mask].any()


def test_derivatives_are_those_of_differences_of_models(swing):
    """One length moves points, masses and inertias together."""
    model, _ = swing
    design = bc.Design(model, ["parameters.L", "shoulder.axis.z", "drive.table.1.1"])
    dynamics = bc.compile(model, design=design, optimisation=0)
    q, v, h = np.array([0.4, -0.7]), np.array([1.0, 2.0]), 1e-6
    arrays, tangents = (f(design.start, dynamics.planned.plan) for f in (design.arrays, design.tangents))
    for k, name in enumerate(design.names):
        sides = []
        for sign in (1.0, -1.0):
            moved = at_design(dynamics, {x: arrays[x] + sign * h * tangents[x][..., k] for x in arrays})
            sides.append(moved.acceleration(q, v, t=0.5))
        built = [
            bc.compile(model.with_parameters({name: design.start[k] + sign * h}), optimisation=0).acceleration(q, v, t=0.5)
            for sign in (1.0, -1.0)
        ]
        slope, wanted = ((a - b) / (2 * h) for a, b in (sides, built))
        assert np.abs(slope - wanted).max() < 1e-6 * max(1.0, np.abs(wanted).max()), name


def test_many_designs_at_once_are_the_same_one_by_one(swing):
    _, design = swing
    p = design.start * RNG.uniform(0.95, 1.05, (7, len(design.names)))
    many, slopes = design.arrays(p), design.tangents(p)
    for k, row in enumerate(p):
        for name, array in design.arrays(row).items():
            assert many[name][k] == pytest.approx(array, rel=1e-13, abs=1e-15)
            assert slopes[name][k] == pytest.approx(design.tangents(row)[name], rel=1e-12, abs=1e-13)


def test_what_a_parameter_can_change_is_never_a_constant_of_the_code(swing):
    """A stiffness and an armature that are zero, and an axis along y, are data."""
    model, _ = swing
    names = ["strap.stiffness", "elbow.armature", "shoulder.axis.x"]
    plan = bc.compile(model, design=bc.Design(model, names), optimisation=0).planned.plan
    assert set(plan.varied) == {"data", "element_data"}
    constants = {(i, slot) for i in range(plan.n) for slot, _ in plan.signature(i).constants}
    assert not any((i, slot) in constants for i, slot in np.argwhere(plan.varied["data"]).tolist())
    assert plan.frames.plane.tolist() == [False, False] and make_frames(model).plane.tolist() == [True, True]


def make_frames(model):
    return bc.compile(model, optimisation=0).planned.plan.frames


def test_an_axis_turns_smoothly_through_right_angles(swing):
    """Far from where it started it is still the axis of the model that is built; turned round, it has no frame."""
    model, _ = swing
    design = bc.Design(model, [f"shoulder.axis.{c}" for c in "xyz"])
    dynamics = bc.compile(model, design=design, optimisation=0)
    q, v = np.array([0.4, -0.7]), np.array([1.0, 2.0])
    for axis in ((1.0, 0.0, 0.0), (0.0, 0.0, 2.0), (0.6, -0.7, 0.3)):
        found = at_design(dynamics, design.arrays(np.array(axis), dynamics.planned.plan)).acceleration(q, v)
        wanted = bc.compile(arm(axis=axis), optimisation=0).acceleration(q, v)
        assert found == pytest.approx(wanted, rel=1e-11)
    with pytest.raises(bc.ModelError, match="turned round"):
        design.arrays(np.array([0.0, -1.0, 0.0]))


def test_designs_that_cannot_be_are_named(swing):
    model, _ = swing
    design = bc.Design(model, ["lower.mass", "upper.radius", "shoulder.axis.y"])
    for p, words in (
        ((-1.0, 0.02, 1.0), '"lower": its mass is -1'),
        ((1.0, -0.1, 1.0), '"upper": the radius'),
        ((1.0, 0.1, 0.0), "axis"),
    ):
        with pytest.raises(bc.ModelError, match=words):
            design.arrays(np.array(p))
        assert words.split(":")[0] in design.check(p)[0]
    rows = design.arrays([[1.0, 0.02, 1.0], [-1.0, 0.02, 1.0]])
    assert np.isfinite(rows["data"][0]).all() and np.isnan(rows["data"][1]).all()
    assert design.check(design.start) == ()


def test_an_inertia_that_no_body_has_is_named():
    m = bc.Mechanism("block")
    m.body("block", mass=1.0, center=(0, 0, 0), inertia=(1.0, 1.0, 1.5))
    m.joint("float", "free", "ground", "block", (0, 0, 0))
    design = bc.Design(m.build(), ["block.inertia.zz"])
    assert design.arrays(np.array([1.9]))["data"].shape == (1, 61)
    with pytest.raises(bc.ModelError, match="no body has one larger than the sum of the other two"):
        design.arrays(np.array([2.1]))


def test_a_loop_that_cannot_be_closed_is_named():
    model = bc.load("four_bar")
    design = bc.Design(model, ["C.y", "parameters.coupler_length"])
    assert design.check({"parameters.coupler_length": 1.7}) == ()
    assert "do not meet" in design.check({"parameters.coupler_length": 0.1})[0]
    ground = bc.load("parallelogram")
    name = next(x for x in ground.parameters if x.startswith("parameters."))
    assert bc.Design(ground, [name]).check({name: ground.parameters[name]}) == ()


FOUR_BAR = """
format = 1
gravity = [0, -9.81, 0]
[parameters]
reach = 2.0
turn = 0.9
[bodies]
crank.rod = { from = [0, 0, 0], to = [0.5, 0, 0], mass = 0.5, radius = 0.01 }
coupler.rod = { from = [0.5, 0, 0], to = [0.5, 1.2, 0], mass = 1.0, radius = 0.01 }
rocker.rod = { from = ["=reach", 0, 0], to = ["=reach", 1.2, 0], mass = 1.0, radius = 0.01 }
[joints]
crank_pivot = { type = "revolute", parent = "ground", child = "crank", point = [0, 0, 0], axis = "z" }
crank_pin = { type = "revolute", parent = "crank", child = "coupler", point = [0.5, 0, 0], axis = "z" }
rocker_pivot = { type = "revolute", parent = "ground", child = "rocker", point = ["=reach", 0, 0], axis = "z" }
[constraints]
tie = { type = "distance", from = { body = "coupler", point = [0.5, 1.2, 0] }, to = { body = "rocker", point = ["=reach", 1.2, 0] }, length = 1.4 }
[initial]
crank_pivot = { q = "=turn", v = 2.0 }
"""


def test_a_start_is_closed_from_a_near_one():
    """What the file says of it is held; what the loops leave free stays near."""
    model = bc.load(FOUR_BAR)
    design = bc.Design(model, ["parameters.reach", "parameters.turn", "tie.length", "initial.crank_pivot.v.0"])
    near = model.initial_q
    for k in range(1, 4):
        p = design.start * (1 + 0.02 * k)
        near, v = design.assembled(p, near)
        changed = design.model(p)
        assert near[0] == p[1] and v[0] == p[3]
        error, rate = bc.compile(changed, optimisation=0).closure(near, v)
        assert np.abs(error).max() < 1e-11 and np.abs(rate).max() < 1e-10
    assert design.assembled(design.start)[0] == pytest.approx(model.initial_q, abs=1e-12)
    far = {"parameters.turn": -0.6}  # no short way: all that assemble does
    assert design.assembled(far)[0] == pytest.approx(design.model(far).initial_q, abs=1e-10)
    with pytest.raises(bc.AssemblyError):
        design.assembled({"tie.length": 9.0})
    assert "tie" in design.check({"tie.length": 9.0})[0]
    with pytest.raises(bc.StateError, match="near has shape"):
        design.assembled(design.start, [0.0])
    with pytest.raises(bc.StateError, match="of one design"):
        design.assembled(np.tile(design.start, (2, 1)))


def test_a_run_of_a_moved_design_is_that_of_the_model_with_its_numbers():
    """Both are within the tolerance of the same motion; their steps differ, as nothing of a design folds."""
    model = bc.load("four_bar")
    design = bc.Design(model, ["parameters.crank_length", "parameters.density"])
    p = design.start * 1.02
    moved = design.moved(p)
    found = bc.simulate(moved.base, 0.5, step=0.1, design=moved)
    expected = bc.simulate(model.with_parameters(dict(zip(design.names, p.tolist(), strict=True))), 0.5, step=0.1)
    assert found.values("q") == pytest.approx(expected.values("q"), abs=1e-6)
    assert found.model.parameters == expected.model.parameters
    with pytest.raises(bc.StateError, match="the design is of another model"):
        bc.simulate(model, 0.5, design=moved)


def test_the_start_of_a_tree_is_as_it_is_written(swing):
    model, _ = swing
    q, v = bc.Design(model, ["initial.shoulder.q.0"]).assembled([0.7])
    assert q[0] == 0.7 and v.tolist() == model.given_v.tolist()


def test_parameters_that_change_nothing_give_zeros_and_a_remark(swing):
    model, _ = swing
    design = bc.Design(model, ["lower.mass", "duration"] if model.duration else ["lower.mass"])
    car = bc.load("quarter_car")
    idle = bc.Design(car, ["duration"])
    assert idle.remarks == ('"duration" changes nothing that is simulated: every derivative by it is zero.',)
    assert idle.arrays(idle.start) == {} and idle.tangents(idle.start) == {}
    assert design.remarks == ()
    assert "kink" in bc.Design(arm(L=0.5), ["parameters.L"]).remarks[0]


def test_what_is_no_parameter_is_refused_by_name(swing):
    model, design = swing
    for names, words in (
        (["tip.x"], 'Change "parameters.L" instead'),
        (["lower.mas"], 'Did you mean "lower.mass"'),
        (["lower.mass", "lower.mass"], "twice"),
        ([], "no parameter"),
        ("lower.mass", "not a list"),
    ):
        with pytest.raises(bc.ModelError, match=words):
            bc.Design(model, names)
    for p, words in (
        ([1.0], "this design has"),
        ({"nothing": 1.0}, "none of"),
        ("x", "give"),
        ({"lower.mass": np.nan}, "finite"),
    ):
        with pytest.raises(bc.StateError, match=words):
            design.arrays(p)
    with pytest.raises(bc.StateError, match="one design"):
        design.model(np.tile(design.start, (2, 1)))
    with pytest.raises(bc.StateError, match="another model"):
        bc.compile(arm(), design=design)
    plan = bc.compile(model, design=bc.Design(model, ["lower.mass"]), optimisation=0).planned.plan
    with pytest.raises(bc.StateError, match="another design"):
        design.arrays(design.start, plan)


def test_a_dynamics_with_a_design_is_pickled(swing):
    model, _ = swing
    design = bc.Design(model, ["lower.mass"])
    again = pickle.loads(pickle.dumps(bc.compile(model, design=design, optimisation=0)))
    found = again.planned.design.arrays(np.array([2.0]), again.planned.plan)
    assert found["data"] == pytest.approx(design.arrays(np.array([2.0]))["data"])


def test_parameters_from_a_pickle_are_the_same_parameters():
    """Their arrays have a dtype object of their own, which machine code does not know."""
    design = bc.Design(bc.load("four_bar"), ["parameters.crank_length"])
    p = pickle.loads(pickle.dumps(np.array([0.47])))
    np.testing.assert_array_equal(design.arrays(p)["data"], design.arrays([0.47])["data"])


@pytest.mark.parametrize("path", ["cardan.axis2.y", "table.axis2.y"])
def test_a_second_axis_turns_with_a_design_though_no_first_one_does(path):
    model = bc.load("every_joint")
    design, q, v, h = bc.Design(model, [path]), np.array(model.initial_q), np.array(model.initial_v) + 0.3, 1e-6
    pair = [bc.compile(design.model(design.start + s * h), optimisation=0).acceleration(q, v) for s in (1, -1)]
    found = bc.compile(model, design=design, optimisation=0).sensitivity(q, v).da[:, 0]
    np.testing.assert_allclose(found, (pair[0] - pair[1]) / (2 * h), rtol=0, atol=1e-7)
    assert np.abs(found).max() > 1.0
