"""Reactions that are not unique: of least norm over all joints, whichever joint of a loop is cut, and named."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Mechanism

BARS = {"crank": ((0, 0, 0), (0, 0.3, 0)), "bar": ((0, 0.3, 0), (0.9, 0.6, 0)), "arm": ((0.9, 0.6, 0), (0.9, 0, 0))}
PINS = {"O": ("ground", "crank"), "A": ("crank", "bar"), "B": ("arm", "bar"), "C": ("ground", "arm")}
AT = {"O": (0, 0, 0), "A": (0, 0.3, 0), "B": (0.9, 0.6, 0), "C": (0.9, 0, 0)}


FREER = {"A": {"kind": "spherical"}, "B": {"kind": "universal", "axis": "z", "axis2": "x"}}


def four_bar(cut, freer=()):
    """In the x-y plane, its weight across it: with hinges alone three equations too many, with ``freer`` pins none."""
    m = Mechanism("four-bar")
    for name, ends in BARS.items():
        m.rod(name, *ends, mass=1.0, radius=0.02)
    for name, (parent, child) in PINS.items():
        given = {"kind": "revolute", "axis": "z"} if name not in freer else FREER[name]
        m.joint(name, parent=parent, child=child, point=AT[name], cut=name == cut, **given)
    return m.build()


def reactions(model, formulation="auto"):
    dyn, start = bc.compile(model, formulation, optimisation=0), bc.assemble(model)
    tree = dyn.reactions(start.q, start.v, dyn.acceleration(start.q, start.v))
    closing = dyn.closure_reactions(start.q, start.v)
    names = [*model.joint_names, *(closure.name for closure in model.closures)]
    return dict(zip(names, np.vstack([tree, closing]), strict=True)), dyn, start


@pytest.mark.parametrize("formulation", ["coordinate_reduction", "multipliers"])
def test_reactions_of_an_over_constrained_loop_do_not_depend_on_the_joint_that_is_cut(formulation):
    wanted, dyn, start = reactions(four_bar("A"))
    assert set(dyn.shared_reactions(start.q)) == {"O", "A", "B", "C"}
    for cut in ("B", "C"):
        found, _, _ = reactions(four_bar(cut), formulation)
        for name in PINS:
            assert np.abs(found[name] - wanted[name]).max() < 1e-10, (cut, name)


def test_they_balance_every_body():
    """Of the bar, which is at rest along z and about x and y: weight, and the wrenches of its two pins."""
    found, _, _ = reactions(four_bar("C"))
    a, b = found["A"], found["B"]  # both on the bar, which is the child of both
    middle = np.array([0.45, 0.45, 0])
    moment = a[3:] + b[3:] + np.cross(np.array(AT["A"]) - middle, a[:3]) + np.cross(np.array(AT["B"]) - middle, b[:3])
    assert abs(a[2] + b[2] - 9.81) < 1e-12 and np.abs(moment[:2]).max() < 1e-12


def test_no_other_share_of_the_load_is_smaller():
    """Moving along a self-stress, here a force along z at A and what balances it, makes the sum of squares larger."""
    from bellcrank.dynamics.quantities.minimum_norm import States, Stressed, loop_blocks, size_of

    model = four_bar("C")
    _, dyn, start = reactions(model)
    stressed = Stressed(dyn, States.of(dyn, {"q": start.q, "v": start.v, "tau": None}, 0.0, None))
    (N,) = stressed.null_spaces(loop_blocks(dyn), 2)
    assert N.shape[2] == 3 and abs(size_of(model) - np.sqrt(np.var(list(AT.values()), axis=0).sum())) < 1e-15
    best = np.atleast_2d(dyn.multipliers(start.q, start.v))
    least = (stressed.wrenches(best) ** 2).sum()
    for k in range(3):
        for step in (-0.1, 0.1):
            assert (stressed.wrenches(best + step * stressed.scale * N[:, :, k]) ** 2).sum() > least


def test_large_blocks_are_solved_as_a_sparse_system_with_the_same_answer(monkeypatch):
    """Of four-bars in a row, which share their bars."""
    from bellcrank.dynamics.quantities import minimum_norm as least
    from bellcrank.model.generators import n_four_bar

    model = n_four_bar(3)
    start = bc.assemble(model)
    dyn = bc.compile(model, optimisation=0)
    v = dyn.projected(start.q, np.ones(model.nv))[1]
    wanted, names = dyn.multipliers(start.q, v), dyn.shared_reactions(start.q)
    monkeypatch.setattr(least, "LARGE", 3)
    assert np.abs(dyn.multipliers(start.q, v) - wanted).max() < 1e-8 * np.abs(wanted).max()
    assert dyn.shared_reactions(start.q) == names and len(names) == model.n + len(model.closures)


def door(cut):
    """A door of 2 kg on two hinges, 2 m above each other; its centre half-way up, 0.4 m aside."""
    m = Mechanism("door")
    m.body("leaf", 2.0, (0.4, 0, 1.0), (0.5, 0.6, 0.2))
    m.joint("lower", "revolute", "ground", "leaf", (0, 0, 0), axis="z", cut=cut == "lower")
    m.joint("upper", "revolute", "ground", "leaf", (0, 0, 2.0), axis="z", cut=cut == "upper")
    return m.build()


def test_two_hinges_of_a_door_share_its_weight_by_the_closed_form():
    """With M = m g d and L = h/2, 2 f^2 + 2 n^2/L^2 is least under f h + 2 n = M for f = M/(2 h), n = M/4."""
    weight, M = 2.0 * 9.81, 2.0 * 9.81 * 0.4
    for cut in ("lower", "upper"):
        found, _, _ = reactions(door(cut))
        assert np.abs(found["lower"] - [M / 4, 0, weight / 2, 0, -M / 4, 0]).max() < 1e-12
        assert np.abs(found["upper"] - [-M / 4, 0, weight / 2, 0, -M / 4, 0]).max() < 1e-12


def test_many_states_at_once_have_the_reactions_of_each():
    model = four_bar("C")
    _, dyn, start = reactions(model)
    v = np.linspace(-1, 1, 5)[:, None] * dyn.projected(start.q, [1.0, 0.0, 0.0])[1]
    q, t = np.tile(start.q, (5, 1)), np.zeros(5)
    together = dyn.multipliers(q, v, t=t)
    for k in range(5):
        assert np.abs(together[k] - dyn.multipliers(q[k], v[k])).max() < 1e-11


def test_reactions_that_are_unique_are_not_named():
    """A ball at A and a cross at B leave one way to carry the weight; so does a tree."""
    _found, dyn, start = reactions(four_bar("C", freer="AB"))
    assert dyn.shared_reactions(start.q) == ()
    tree = bc.load("double_pendulum")
    assert bc.compile(tree, optimisation=0).shared_reactions(tree.initial_q) == ()


def test_a_run_says_which_reactions_are_not_unique(tmp_path):
    run = bc.simulate(door("upper"), duration=0.1, step=0.05, v=[1.0])
    assert run.shared_reactions == ("lower", "upper")
    assert run.reactions.attrs["not_unique"] == "lower, upper"
    assert not run.summary().largest_force.unique
    assert "not unique" in dict(run.summary().rows())["largest force"]
    again = bc.load_run(run.save(tmp_path / "door.nc"))
    assert again.shared_reactions == ("lower", "upper")
