"""States of other programs: there and back again, with the same power of the efforts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Source
from bellcrank.model.generators import random_state, random_tree

KINDS = ("revolute", "prismatic", "spherical", "free", "planar", "universal", "cylindrical")
TURNED = (0.5, 0.5, -0.5, 0.5)


def mechanism(format=None):
    """All kinds of joints; in frames, orders and references of its own if it came from a file."""
    m = bc.Mechanism("all")
    parent = "ground"
    for k, kind in enumerate(KINDS):
        axes = {"axis": "z", "axis2": "x"} if kind in ("planar", "universal") else {"axis": "y"}
        m.body(f"b{k}", 1.0, (k, 0.1, 0.2), (0.1, 0.2, 0.15))
        m.joint(f"j{9 - k}", kind, parent, f"b{k}", (k, 0, 0), **({} if kind in ("spherical", "free") else axes))
        parent = f"b{k}" if k % 2 == 0 else parent
    model = m.build()
    if format is None:
        return model
    references = {"j9": (0.3,)} if format == "mjcf" else {"j6": (0.1, 0.2, 0.3)}
    frames = {"b2": TURNED, "b3": TURNED}
    order = tuple(model.joint_names[::-1]) if format == "urdf" else ()
    return dataclasses.replace(model, source=Source(format, "file", frames=frames, references=references, order=order))


@pytest.fixture(params=[None, "mjcf", "urdf"])
def model(request):
    return mechanism(request.param)


@pytest.fixture(params=["mujoco", "pinocchio"])
def both(request, model):
    return getattr(model, f"to_{request.param}"), getattr(model, f"from_{request.param}")


def test_there_and_back_again(model, both):
    there, back = both
    q, v = random_state(model, 1)
    a, tau = np.random.default_rng(2).normal(size=(2, model.nv))
    again = back(*there(q, v, a)), back(*(x if k < 2 else None for k, x in enumerate(there(q, v, a))))
    assert all(np.allclose(x, y, atol=1e-14) for x, y in zip(again[0], (q, v, a), strict=True))
    q2, v2, tau2 = there(q, v, tau=tau)
    assert np.allclose(back(q2, v2, tau=tau2)[2], tau, atol=1e-14)
    assert np.allclose(back(there(q)), q, atol=1e-14)


def test_efforts_have_the_same_power(model, both):
    q, v = random_state(model, 3)
    tau = np.random.default_rng(4).normal(size=model.nv)
    _, v2, tau2 = both[0](q, v, tau=tau)
    assert tau2 @ v2 == pytest.approx(tau @ v, rel=1e-14)


def test_accelerations_are_the_rates_of_velocities(model, both):
    """Central differences along a motion of constant a: their error is h^2, some 1e-9."""
    q, v = random_state(model, 5)
    a = np.random.default_rng(6).normal(size=model.nv)
    rates, h = bc.compile(model).rates, 1e-4

    def later(t):
        middle = rates(q, v)
        second = (rates(q + 1e-6 * middle, v + 1e-6 * a) - rates(q - 1e-6 * middle, v - 1e-6 * a)) / 2e-6
        return both[0](q + t * middle + t * t / 2 * second, v + t * a)[1]

    slope = (later(h) - later(-h)) / (2 * h)
    assert np.allclose(both[0](q, v, a)[2], slope, atol=1e-6)


def test_many_states_at_once(model, both):
    states = [random_state(model, k) for k in range(6)]
    q, v = (np.array(x).reshape(2, 3, -1) for x in zip(*states, strict=True))
    q2, v2 = both[0](q, v)
    one = both[0](*states[4])
    assert np.array_equal(q2[1, 1], one[0]) and np.array_equal(v2[1, 1], one[1])


def test_only_what_is_given_comes_out(model, both):
    q, v = random_state(model)
    assert both[0](q).ndim == 1 and len(both[0](q, v)) == 2 and len(both[0](q, v, v, tau=v)) == 4


def test_an_acceleration_alone_cannot_be_converted(model, both):
    q, v = random_state(model)
    with pytest.raises(bc.StateError, match="give v to convert a"):
        both[0](q, None, v)


def test_shapes_are_checked(model, both):
    with pytest.raises(bc.StateError, match=r"q has shape \(3,\); 'all' needs"):
        both[0](np.zeros(3))


def test_screws_have_no_counterpart():
    m = bc.Mechanism("screw")
    m.body("a", 1.0, (0, 0, 0), (1, 1, 1))
    m.joint("j", "screw", "ground", "a", (0, 0, 0), axis="z", pitch=0.1)
    for convert in (m.build().to_mujoco, m.build().to_pinocchio):
        with pytest.raises(bc.StateError, match="screw"):
            convert([0.0])


def test_orders_follow_the_tree():
    model = random_tree(9, 3, ("revolute",), shuffle=True)
    assert sorted(model.to_mujoco(np.arange(9.0)).tolist()) == list(range(9))
    limited = dataclasses.replace(model, limits=(bc.model.Limits(-1.0, 1.0),) * 9)
    assert sorted(limited.to_pinocchio(np.arange(9.0)).tolist()) == list(range(9))
