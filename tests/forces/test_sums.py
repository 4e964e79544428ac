"""Springs and dampers on a sum of coordinates: elastic belts and tendons."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations import FORMULATIONS
from bellcrank.io import dumps
from bellcrank.machine.in_python import run_plain
from bellcrank.model import Element


def arm(**extra):
    m = bc.Mechanism("arm", **extra)
    m.rod("upper", (0, 0, 0), (1, 0, 0), mass=2, radius=0.05)
    m.rod("lower", (1, 0, 0), (1.7, 0, 0), mass=1, radius=0.05)
    m.box("cart", (0, 1, 0), (0.1, 0.2, 0.3), mass=3)
    m.joint("shoulder", "revolute", "ground", "upper", (0, 0, 0), axis="y")
    m.joint("elbow", "revolute", "upper", "lower", (1, 0, 0), axis="y")
    m.joint("rail", "cylindrical", "ground", "cart", (0, 1, 0), axis="x")
    return m


JOINTS, FACTORS = ["elbow", "shoulder", "rail.slide"], [1.5, -0.7, 2.0]
F = np.array([-0.7, 1.5, 0.0, 2.0])  # in the order of v


@pytest.fixture(scope="module")
def both():
    m = arm()
    m.sum_spring("belt", JOINTS, FACTORS, 40.0, rest=0.3, preload=5.0)
    m.sum_damper("oil", JOINTS, FACTORS, 3.0)
    return bc.compile(m.build()), bc.compile(arm().build())


def test_every_joint_gets_its_factor_times_the_effort(both):
    """The efforts differ from those without the elements by F (preload - k (s - rest) - c s')."""
    with_them, without = both
    rng = np.random.default_rng(0)
    for q, v in rng.normal(size=(5, 2, 4)):
        effort = 5.0 - 40.0 * (F @ q - 0.3) - 3.0 * (F @ v)
        tau = without.inverse_dynamics(q, v, 0 * v) - with_them.inverse_dynamics(q, v, 0 * v)
        assert np.allclose(tau, F * effort, rtol=1e-12, atol=1e-12)


def test_energy_power_and_force_are_those_along_the_sum(both):
    q, v = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, -2.0, 0.5, 0.7])
    energy, power, force = both[0].elements(q, v)
    s, rate = F @ q - 0.3, F @ v
    assert np.allclose(energy, [20 * s * s - 5 * s, 0]) and np.allclose(power, [0, -3 * rate * rate])
    assert np.allclose(force, [5 - 40 * s, -3 * rate])


def test_energy_is_balanced_over_a_run(both):
    run = bc.simulate(both[0].model, duration=1.0, step=0.1)
    assert run.energy_error < 1e-9


def test_its_derivatives_are_exact(both):
    q, v = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, -2.0, 0.5, 0.7])
    found, h = both[0].jacobians(q, v), 1e-6
    for k, e in enumerate(np.eye(4)):
        slope = (both[0].acceleration(q + h * e, v) - both[0].acceleration(q - h * e, v)) / (2 * h)
        assert np.allclose(found.dq[:, k], slope, rtol=1e-7, atol=1e-6)


def test_plain_numbers_and_machine_code_say_the_same(both):
    q, v = [0.1, 0.2, 0.3, 0.4], [1.0, -2.0, 0.5, 0.7]
    found = run_plain(FORMULATIONS["articulated_body"], both[0].plan, q=q, v=v, tau=[0.0] * 4)
    assert np.allclose(found["a"], both[0].acceleration(q, v), rtol=1e-12)


def test_it_survives_a_file_and_its_numbers_are_parameters(both):
    model = both[0].model
    again = bc.load(dumps(model))
    assert again.spec == model.spec and again.elements == model.elements
    assert model.with_parameters({"belt.factors.0": 2.0}).elements[0].terms[0][2] == 2.0
    assert any(row.where == "joints elbow, shoulder, rail" for row in model.check().elements)


WRONG = {
    "too few factors": (["elbow", "shoulder"], [1.0], "it has 1 factor for 2 joints"),
    "no joint": ([], [], "it has 0 factors for 0 joints"),
    "twice": (["elbow", "elbow"], [1.0, 2.0], "it names a coordinate twice"),
    "unknown": (["elbw"], [1.0], 'names "elbw", which is not a joint. Did you mean "elbow"'),
    "which": (["rail"], [1.0], 'Write "rail.angle" or "rail.slide"'),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told(case):
    joints, factors, message = WRONG[case]
    m = arm()
    m.sum_spring("belt", joints, factors, 1.0)
    with pytest.raises(bc.ModelError, match="belt") as caught:
        m.build()
    assert message in str(caught.value)


def test_a_spring_that_acts_nowhere_says_how_it_could():
    text = dumps(arm().build()) + "\n[springs.loose]\nstiffness = 1.0\n"
    with pytest.raises(bc.ModelError, match="joints = ... and factors = ..."):
        bc.load(text)


def spring(terms, **given):
    values = {"stiffness": 1.0, "rest": 0.0, "preload": 0.0}
    return Element("belt", **{"kind": "joint_spring", "values": values, "joint": 0, "dof": 0, "terms": terms} | given)


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (spring(((0, 0, 1.0), (9, 0, 1.0))), "joint 9 has no coordinate 0"),
        (spring(((0, 0, float("nan")),)), "a factor is nan"),
        (spring(((1, 0, 1.0),)), "not those of its first term"),
        (spring(((0, 0, 1.0),) * 9), "of 8 at most"),
        (spring(((0, 0, 1.0),), kind="joint_effort", values={"value": 1.0}), "only springs and dampers act on sums"),
    ],
)
def test_elements_made_by_hand_are_checked(element, message):
    with pytest.raises(bc.ModelError, match=message):
        dataclasses.replace(arm().build(), elements=(element,))


def test_a_driven_joint_feels_nothing():
    m = bc.Mechanism("driven")
    m.rod("upper", (0, 0, 0), (1, 0, 0), mass=2, radius=0.05)
    m.joint("shoulder", "revolute", "ground", "upper", (0, 0, 0), axis="y", motion=bc.model.builder.rate(1.0))
    with pytest.raises(bc.ModelError, match='joint "shoulder" is driven'):
        dataclasses.replace(m.build(), elements=(spring(((0, 0, 1.0),)),))
