"""The references for closed loops: two that share only positions, closed forms, and what the table of mechanisms holds."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.joints import JOINTS
from bellcrank.model.element import ELEMENTS

from .. import closed_reference as ref
from .. import closed_table, reference
from ..closed_maximal import maximal
from ..closed_table import ALL, MECHANISMS, REDUNDANT, case
from .closed_forms import CLOSED_FORMS

PARALLELOGRAMS = ("four-bars in a row", "parallelogram with more cranks", "ladder of hinges")


def path(model, body):
    return [] if body < 0 else [body, *path(model, model.parents[body])]


def loops(model):
    """Bodies of each loop, and the body that it stands on."""
    ties = [(c.body_a, c.body_b) for c in model.closures if c.kind != "coupler"]
    paths = [(path(model, a), path(model, b)) for a, b in ties]
    return [set(a) ^ set(b) for a, b in paths], [next((x for x in a if x in b), -1) for a, b in paths]


def test_the_table_has_every_kind_of_closure_free_and_driven():
    closures = [c for name in ALL for c in case(name).model.closures]
    kinds = {(c.joint.kind if c.joint else c.kind, c.motion is not None) for c in closures}
    guides = {
        ("distance", False),
        ("distance", True),
        ("point_on_line", False),
        ("point_on_plane", False),
        ("point_on_plane", True),
        ("perpendicular", False),
    }
    gears = {("coupler", False), ("coupler", True)}
    joints = {(kind, driven) for kind in JOINTS for driven in (False, True)} - {("free", False), ("fixed", True)}
    assert kinds == joints | guides | gears


def test_the_coupled_mechanisms_alone_have_them_all():
    """On these every executor is tried."""
    closures = [c for name in closed_table.COUPLED for c in case(name).model.closures]
    assert len({(c.joint.kind if c.joint else c.kind, c.motion is not None) for c in closures}) == len(closed_table.EACH_KIND)


def test_the_table_has_every_element_on_closing_joints():
    on_closures = {e.kind for name in ALL for e in case(name).model.elements if e.closure >= 0}
    assert on_closures == {kind for kind in ELEMENTS if kind.startswith("joint_") and kind != "joint_stiction"}


def test_loops_share_bodies_stand_on_each_other_and_on_moving_bases():
    found = {name: loops(case(name).model) for name in closed_table.COUPLED}
    sharing = [name for name, (bodies, _) in found.items() if len(set.union(*bodies)) < sum(map(len, bodies))]
    different = [name for name, (_, bases) in found.items() if len(set(bases)) > 1]
    moving = [name for name, (_, bases) in found.items() if any(base >= 0 for base in bases)]
    assert min(len(sharing), len(different), len(moving)) >= 5


@pytest.mark.parametrize("name", ALL)
def test_the_states_close_their_loops_and_move(name):
    """Positions to 2e-15 m. Every closure has terms in velocity squared, or the state would test little; but not a gear between
    coordinates, nor parallelograms, whose opposite tips have the same ones."""
    model, state, expected = case(name)
    c = expected.constraints
    assert np.abs(c.position).max() < 1e-14 and np.abs(c.velocity).max() < 1e-14
    assert np.abs(state["v"]).max() > 0.1
    for closure, start, end in zip(model.closures, model.closure_index, model.closure_index[1:], strict=False):
        if closure.kind != "coupler" and name not in PARALLELOGRAMS:
            assert np.abs(c.gamma[start:end]).max() > 1e-2


@pytest.mark.parametrize("name", MECHANISMS)
def test_rates_of_the_closures_are_those_of_small_steps(name):
    """phi along q(t), v(t) from the state with a: phi'' = G a - gamma is zero, so that after h the loops are open by h^3."""
    model, state, expected = case(name)
    q, v, a, t = np.array(state["q"]), state["v"], expected.a.astype(float), state["t"]
    opened = []
    for h in (2e-3, 1e-3):
        later = _stepped(model, q, v, a, h)
        opened.append(np.abs(ref.constraints(model, later, v, t + h).position).max())
    assert opened[1] < 1e-6 and opened[1] < max(opened[0] / 6, 1e-14)


def _stepped(model, q, v, a, h):
    """q after h with v and a, to second order, by the derivatives of quaternions and positions themselves."""
    later = np.array(q)
    for joint, driven, iq, iv in zip(model.joints, model.driven, model.q_index, model.v_index, strict=True):
        own, gain = v[iv : iv + joint.nv], a[iv : iv + joint.nv]
        if driven or joint.quaternion is None:
            if not driven:
                later[iq : iq + joint.nq] += h * own + h * h / 2 * gain
            continue
        k = slice(iq + joint.quaternion, iq + joint.quaternion + 4)
        p, w, alpha = q[k], np.array([0, *own[-3:]]), np.array([0, *gain[-3:]])
        rate = reference.quaternion_product(p, w) / 2
        second = (reference.quaternion_product(rate, w) + reference.quaternion_product(p, alpha)) / 2
        later[k] = p + h * rate + h * h / 2 * second
        if joint.kind == "free":
            R = reference.rotation(p).astype(float)
            later[iq : iq + 3] += h * R @ own[:3] + h * h / 2 * R @ (gain[:3] + np.cross(own[3:], own[:3]))
    return later


@pytest.mark.parametrize("name", ALL)
def test_bodies_of_six_degrees_of_freedom_move_alike(name):
    """The second reference knows no tree: accelerations of all bodies, and unique wrenches of the joints."""
    model, state, expected = case(name)
    other = maximal(model, state)
    m = reference.motion(ref.tree_of(model), state["q"], state["v"], expected.a, state["t"])
    a = np.concatenate([m.c_second[:, 0], m.alpha[:, 0]], axis=1)
    assert np.abs(other.a - a).max() < 1e-14 * np.abs(a).max()
    wrenches, (_, unique) = expected.joint_wrenches(), expected.unique()
    assert np.abs(other.wrenches - wrenches)[unique].max(initial=0.0) < 1e-13 * np.abs(wrenches).max()


@pytest.mark.parametrize("name", REDUNDANT)
def test_redundant_closures_are_redundant(name):
    assert case(name).expected.solution.idle.shape[1] > 0


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_the_reference_knows_closed_forms(name):
    model, state, accelerations, wrenches = CLOSED_FORMS[name]()
    found = ref.closed(model, state)
    np.testing.assert_allclose(found.a.astype(float), accelerations, rtol=1e-13, atol=1e-13)
    if wrenches is not None:
        np.testing.assert_allclose(found.closure_wrenches().astype(float), wrenches, rtol=1e-13, atol=1e-13)
