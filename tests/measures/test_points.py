"""Points, distances and angles in any body's axes, against differences along the motion; the same on every kind of number."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations import measured
from bellcrank.machine.in_python import InPython
from bellcrank.model import Measure, Mechanism
from bellcrank.model.generators import random_state, random_tree
from bellcrank.numbers import Dual
from bellcrank.plan import make_plan

ENDS = {"body_a": 4, "point_a": (0.3, -0.2, 0.5), "body_b": 1, "point_b": (0.1, 0.4, -0.3)}
SEEN = {"axes": 2, "observer": 2}
ARROWS = {"body_a": 4, "body_b": 1, "direction_a": (1.0, 0.2, 0.3), "direction_b": (-0.4, 1.0, 0.5)}
STEP = 1e-5
MEASURES = (
    Measure("p", "position", **ENDS, axes=2),
    Measure("v", "velocity", **ENDS, **SEEN),
    Measure("a", "acceleration", **ENDS, **SEEN),
    Measure("d", "distance", **ENDS),
    Measure("d_rate", "distance", **ENDS, part="rate"),
    Measure("between", "angle", **ARROWS),
    Measure("between_rate", "angle", **ARROWS, part="rate"),
    Measure("about", "angle", **ARROWS, axis=(0.3, -0.2, 1.0)),
    Measure("about_rate", "angle", **ARROWS, axis=(0.3, -0.2, 1.0), part="rate"),
    Measure("size", "position", **ENDS, component="magnitude"),
    Measure("plain_v", "velocity", **ENDS, axes=3),
    Measure("world_v", "velocity", **ENDS),
    Measure("mix", "expression", expression="sqrt(p.x**2 + p.y**2 + p.z**2) - L*d + exp(about) + 0*time", values=(("L", 1.0),)),
)  # fmt: skip


@cache
def moving():
    model = replace(random_tree(6, 3, shuffle=True), measures=MEASURES)
    dyn = bc.compile(model, optimisation=0)
    q, v = random_state(model, 4)
    return dyn, q, v, dyn.acceleration(q, v)


@cache
def values():
    """Of every column, its value and its rate along the motion by differences."""
    dyn, q, v, a = moving()
    rates = dyn.rates(q, v)
    second = (dyn.rates(q + STEP * rates, v + STEP * a) - dyn.rates(q - STEP * rates, v - STEP * a)) / (2 * STEP)
    states = [(q + h * rates + h * h / 2 * second, v + h * a) for h in (-STEP, 0.0, STEP)]
    before, here, after = (dyn.measures(*state) for state in states)
    return dict(zip(dyn.model.measure_names, zip(here, (after - before) / (2 * STEP), strict=True), strict=True))


@pytest.mark.parametrize(
    ("whole", "rate"),
    [("p", "v"), ("v", "a"), ("d", "d_rate"), ("between", "between_rate"), ("about", "about_rate")],
)
def test_rates_are_those_of_what_is_seen(whole, rate):
    """An observer who turns sees the components in its own axes change: velocity and acceleration are their rates."""
    found = values()
    for axis in (".x", ".y", ".z") if whole in "pv" else ("",):
        assert found[rate + axis][0] == pytest.approx(found[whole + axis][1], rel=1e-6, abs=1e-7)


def test_axes_turn_a_vector_and_keep_its_length():
    found = {name: value for name, (value, _) in values().items()}
    _, rotations = moving()[0].poses(moving()[1])
    world, turned = (np.array([found[f"{name}.{axis}"] for axis in "xyz"]) for name in ("world_v", "plain_v"))
    np.testing.assert_allclose(rotations[3] @ turned, world, atol=1e-12)
    assert found["size"] == pytest.approx(found["d"]) == pytest.approx(np.linalg.norm([found[f"p.{x}"] for x in "xyz"]))
    assert found["mix"] == pytest.approx(np.exp(found["about"]))
    units = dict(zip(moving()[0].model.measure_names, moving()[0].model.measure_units, strict=True))
    assert [units[x] for x in ("a.x", "d_rate", "about_rate", "mix")] == ["m/s2", "m/s", "rad/s", ""]


def test_plain_and_dual_numbers_say_the_same_in_python():
    """Longdouble and a complex step besides: what machine code gives, and its derivative along a velocity."""
    dyn, q, v, a = moving()
    names = dyn.model.measure_names
    plan = make_plan(dyn.model, measured=names)
    made = plan.loads.measures
    columns, program = [made.ordered.columns[name] for name in names], measured.program(made.passes, closed=False)
    expected = dyn.measures(q, v)
    extended = [np.asarray(x, dtype=np.longdouble) for x in (q, v, a)]
    plain = InPython(plan, program, dict(zip("qva", map(list, extended), strict=True))).run()["measure"]
    np.testing.assert_allclose(np.array(plain, dtype=float)[columns], expected, rtol=1e-11, atol=1e-12)
    rates = dyn.rates(q, v)
    duals = {"q": [Dual(x, [y]) for x, y in zip(q, rates, strict=True)], "v": list(v), "a": list(a)}
    along = InPython(plan, program, duals).run()["measure"]
    J = dyn.measure_jacobians(q, v)
    slopes = [along[k].tangents[0] for k in columns]
    fixed = [k for k, name in enumerate(names) if not name.startswith("a.")]  # accelerations follow in the jacobians
    np.testing.assert_allclose(np.array(slopes)[fixed], (J.dq @ v)[fixed], rtol=1e-9, atol=1e-10)
    steps = {"q": list(q + 1e-30j * rates), "v": list(v + 0j), "a": list(a + 0j)}
    stepped = np.imag(np.array(InPython(plan, program, steps).run()["measure"], dtype=complex)[columns]) * 1e30
    smooth = [k for k in fixed if names[k] not in ("between", "between_rate", "mix")]
    np.testing.assert_allclose(stepped[smooth], np.array(slopes)[smooth], rtol=1e-9, atol=1e-9)


def test_a_run_dynamics_and_events_have_the_same_numbers():
    dyn, _, _, _ = moving()
    model = dyn.model
    run = bc.simulate(model, 0.02, step=0.01, events=[bc.Event("d_rate", -1e3), bc.Event("a.x", 1e9)])
    again = dyn.measures(run.q.values, run.v.values, t=run.time.values)
    np.testing.assert_allclose(run.measures.values, again, rtol=1e-8, atol=1e-9)


def test_reactions_are_given_in_the_axes_of_either_body():
    m = Mechanism("arm")
    m.rod("upper", (0, 0, 0), (1, 0, 0), mass=1.0, radius=0.02)
    m.rod("lower", (1, 0, 0), (2, 0, 0), mass=1.0, radius=0.02)
    m.joint("shoulder", "revolute", "ground", "upper", (0, 0, 0), axis="y")
    m.joint("elbow", "revolute", "upper", "lower", (1, 0, 0), axis="y")
    for axes in ("world", "parent", "child"):
        m.measure_reaction(f"in_{axes}", "elbow", axes=axes)
    m.measure_reaction("size", "elbow", "force")
    model = m.build()
    dyn, q, v = bc.compile(model, optimisation=0), np.array([0.4, -1.1]), np.array([1.0, 2.0])
    found = dict(zip(model.measure_names, dyn.measures(q, v), strict=True))
    _, rotations = dyn.poses(q)
    world = np.array([found[f"in_world.{x}"] for x in ("fx", "fy", "fz")])
    for axes, body in (("parent", 0), ("child", 1)):
        turned = np.array([found[f"in_{axes}.{x}"] for x in ("fx", "fy", "fz")])
        np.testing.assert_allclose(rotations[body] @ turned, world, atol=1e-12)
    child = dyn.reactions(q, v, dyn.acceleration(q, v), axes="child")[1]
    np.testing.assert_allclose([found[f"in_child.{x}"] for x in ("fx", "fy", "fz", "mx", "my", "mz")], child, atol=1e-12)
    assert found["size"] == pytest.approx(np.linalg.norm(world))


WRONG = [
    (lambda m: m.measure_reaction("r", "hing"), 'names "hing", which is not a joint. Did you mean "hinge"'),
    (lambda m: m.measure_formula("f", "=tip + 1"), '"tip" is a vector. Write tip.x, tip.y or tip.z'),
    (lambda m: m.measure_formula("f", "=turn.x"), "has no part of this name: turn is one number"),
    (lambda m: m.measure_formula("f", "=hinge.forc"), 'Did you mean "hinge.force"'),
    (lambda m: m.measure_angle("w", ("rod", "x"), ("ground", "x"), axis="x"), "the direction is along the axis"),
    (lambda m: m.measure_position("w", "rod", (0, 0, 0), axes="rood"), 'names "rood", which is not a body'),
]


@pytest.mark.parametrize(("add", "text"), WRONG)
def test_what_cannot_be_measured_is_told(add, text):
    m = Mechanism("bar")
    m.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0, radius=0.02)
    m.joint("hinge", "revolute", "ground", "rod", (0, 0, 0), axis="y")
    m.measure_position("tip", "rod", (1, 0, 0))
    m.measure_coordinate("turn", "hinge")
    add(m)
    with pytest.raises(bc.ModelError) as error:
        m.build()
    assert text in str(error.value)
