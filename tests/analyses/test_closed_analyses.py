"""Equilibrium, linearization, modes and inverse dynamics of mechanisms with closed loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Element

from ..closed import CLOSING, random_closed
from ..closed_linkages import bennett, four_bar, n_four_bar, parallelogram
from ..closed_states import moving
from .mechanisms import force, spring

G = 9.81


def crank_state(dyn, crank: float, speed: float = 0.0):
    found = bc.assemble(dyn, {"crank_joint": crank}, {"crank_joint": speed})
    return found.q, found.v


class TestEquilibrium:
    def test_a_parallelogram_hangs_straight_down(self):
        found = bc.equilibrium(parallelogram(angle=-1.0))
        assert found.q == pytest.approx([1 - np.pi / 2, 1 - np.pi / 2, np.pi / 2 - 1], abs=1e-10)
        assert found.stable and len(found.stiffness) == 1

    def test_and_stands_unstably_on_its_head(self):
        found = bc.equilibrium(parallelogram(angle=1.3), seek="nearest")
        assert found.q[0] == pytest.approx(np.pi / 2 - 1.3, abs=1e-10)
        assert not found.stable and len(found.unstable) == 1

    def test_a_loaded_four_bar_rests_where_virtual_work_vanishes(self):
        """Gravity, a coil on the crank and a force on the rocker: the sum of their works along the motion is zero."""
        model = four_bar()
        model = replace(model, elements=(spring(0, 40.0, 0.3), force(2, (-0.2, 0.9, 0.0), (3.0, -4.0, 0.0))))
        found = bc.equilibrium(model)
        dyn = bc.compile(model, optimisation=0)
        h = 1e-5
        (above, _), (below, _) = (crank_state(dyn, found.q[0] + x) for x in (h, -h))

        def work(q):
            """Potential energy, coil and the work against the force."""
            p, R = dyn.poses(q)
            tip = p[2] + R[2] @ [-0.2, 0.9, 0.0]
            return dyn.energy(q, np.zeros(3))[1] + 20 * (q[0] - 0.3) ** 2 - np.array([3.0, -4.0, 0.0]) @ tip

        assert abs(work(above) - work(below)) / (2 * h) < 1e-7
        second = (work(above) - 2 * work(found.q) + work(below)) / h**2
        assert found.stable == (second > 0)
        assert found.reactions.shape == (4, 6) and found.joints[-1] == "pin1"

    def test_the_reactions_carry_the_weight(self):
        found = bc.equilibrium(parallelogram(angle=-1.0))
        feet = found.reactions[[0, 1], 1].sum()
        assert feet == pytest.approx(3 * G, rel=1e-10)

    def test_what_is_driven_or_locked_altogether_is_where_it_is(self):
        from .test_drive import TestOverTime

        found = bc.equilibrium(TestOverTime().driven(), t=0.0)
        assert found.stable and len(found.stiffness) == 0

    def test_redundant_loops_rest_like_others(self):
        one, many = (bc.equilibrium(n_four_bar(N, angle=-1.0)).q[0] for N in (1, 4))
        assert one == pytest.approx(1 - np.pi / 2, abs=1e-9) and many == pytest.approx(one, abs=1e-9)


class TestModes:
    def test_a_parallelogram_swings_like_a_pendulum(self):
        """Two cranks of 1 m and 1 kg and a coupler of 1 kg, which only shifts: w^2 = (2 m/2 + m) g / (2 m/3 + m)."""
        found = bc.modes(parallelogram(angle=-1.2))
        assert len(found) == 1
        assert found[0].frequency == pytest.approx(np.sqrt(2 * G / (5 / 3)) / (2 * np.pi), rel=1e-10)
        shape = found[0].shape
        assert shape["crank1_joint"] == pytest.approx(shape["crank0_joint"], abs=1e-9)
        assert shape["coupler_joint"] == pytest.approx(-shape["crank0_joint"], abs=1e-9)

    def test_the_frequency_of_a_four_bar_is_that_of_its_energy(self):
        """One degree of freedom: w^2 = V''/m of its crank, by differences of the potential energy."""
        model = four_bar()
        found = bc.modes(model)
        dyn = bc.compile(model, optimisation=0)
        at = found.q[0]
        h = 1e-3
        V = [dyn.energy(crank_state(dyn, at + k * h)[0], np.zeros(3))[1] for k in (-2, -1, 0, 1, 2)]
        second = (-V[0] + 16 * V[1] - 30 * V[2] + 16 * V[3] - V[4]) / (12 * h * h)
        q, v = crank_state(dyn, at, 1.0)
        assert found[0].natural_frequency == pytest.approx(
            np.sqrt(second / (v @ dyn.mass_matrix(q) @ v)) / (2 * np.pi), rel=1e-6
        )

    def test_damping_is_felt_through_the_loop(self):
        """c on the far crank of a parallelogram damps as if on the near one: 2 z w = c/J."""
        oil = Element("oil", "joint_damper", {"damping": 0.5}, joint=1)
        found = bc.modes(replace(parallelogram(angle=-1.2), elements=(oil,)))
        w = 2 * np.pi * found[0].natural_frequency
        assert 2 * found[0].damping * w == pytest.approx(0.5 / (5 / 3), rel=1e-8)

    def test_about_a_moving_state_they_are_the_roots_of_the_linear_model(self):
        model = four_bar()
        with pytest.warns(bc.BellcrankWarning, match="not an equilibrium"):
            found = bc.modes(model, "start")
        roots = sorted(mode.root.real for mode in found)
        assert roots == pytest.approx(sorted(bc.linearize(model).poles.real), rel=1e-9)


class TestLinearize:
    def test_the_states_are_those_of_the_independent_coordinate(self):
        found = bc.linearize(four_bar())
        assert found.states == ("q of crank_joint", "v of crank_joint")
        assert len(found.outputs) == 6

    def test_a_moving_four_bar_changes_as_its_reduced_equation_says(self):
        """a(crank, speed) by assembling neighbours."""
        model = four_bar()
        dyn = bc.compile(model, optimisation=0)
        found = bc.linearize(model, outputs=["q", "v", "a"])
        h = 1e-4

        def reduced(crank, speed):
            q, v = crank_state(dyn, crank, speed)
            return np.concatenate([q, v, dyn.acceleration(q, v)])

        along = [(reduced(h, 6.0) - reduced(-h, 6.0)) / (2 * h), (reduced(0, 6 + h) - reduced(0, 6 - h)) / (2 * h)]
        assert np.abs(found.C - np.array(along).T).max() < 1e-5
        assert np.abs(found.A[1] - [x[6] for x in along]).max() < 1e-5

    @pytest.mark.parametrize("kinds", [CLOSING[k : k + 3] for k in range(0, len(CLOSING), 6)])
    def test_neighbouring_motions_stay_beside_each_other(self, kinds):
        """The linear model against the difference of two runs, of any closure, with quaternions, in motion."""
        model = random_closed(13, 4, kinds, loads=True)
        model = replace(model, elements=tuple(e for e in model.elements if e.kind != "joint_input"), inputs=())
        state = moving(model, reach=0.1, t=0.0)
        dyn = bc.compile(model, optimisation=0)
        given = {"tau": state["tau"], "inputs": state["inputs"]}
        found = bc.linearize(model, q=state["q"], v=state["v"], **given)
        n = len(found.states) // 2
        x = np.random.default_rng(0).normal(size=2 * n)
        h = 1e-5
        rates = [_rates(dyn, found, state, sign * h * x, given) for sign in (1, -1)]
        expected = (rates[0] - rates[1]) / (2 * h)
        assert np.abs(found.A @ x - expected)[n:].max() < 2e-6 * max(1.0, np.abs(expected).max())

    def test_efforts_anywhere_are_inputs(self):
        found = bc.linearize(four_bar())
        dyn = bc.compile(four_bar(), optimisation=0)
        model = dyn.model
        changed = [dyn.acceleration(model.initial_q, model.initial_v, e)[0] for e in np.eye(3)]
        still = dyn.acceleration(model.initial_q, model.initial_v)[0]
        assert found.B[1] == pytest.approx(np.array(changed) - still, abs=1e-10)


def _rates(dyn, found, state, x, given):
    """x' at a neighbour: displaced along N, closed again, with the velocities that its loops allow."""
    from bellcrank.model.manifold import displaced

    model, n = dyn.model, len(x) // 2
    C = found.C
    q = displaced(model, state["q"], C[: model.nv] @ x)
    q = bc.assemble(dyn, q, weight="norm", v=np.zeros(model.nv)).q
    v = state["v"] + C[model.nv : 2 * model.nv] @ x
    v = bc.assemble(dyn, q, v, weight="norm").v
    chosen = [model.v_names.index(name.removeprefix("q of ")) for name in found.states[:n]]
    return np.concatenate([v[chosen], dyn.acceleration(q, v, given["tau"], inputs=given["inputs"])[chosen]])


class TestInverseMotion:
    times = np.linspace(0.0, 1.0, 6)

    def test_the_motor_of_a_four_bar_gives_the_motion_that_was_asked_for(self):
        model = four_bar()
        found = bc.inverse_motion(model, {"crank_joint": lambda t: 0.5 * np.sin(2 * t)}, self.times)
        dyn = bc.compile(model, optimisation=0)
        a = dyn.acceleration(found.q.values, found.v.values, found.effort.values)
        assert np.abs(a - found.a.values).max() < 1e-10
        assert not found.effort.sel(dof=["coupler_joint", "rocker_joint"]).values.any()
        assert found.attrs["actuation"] == "actuated: crank_joint"
        assert found.reactions.sel(joint="pin1").shape == (6, 6)

    def test_at_rest_it_is_the_virtual_work_of_gravity(self):
        model = four_bar()
        dyn = bc.compile(model, optimisation=0)
        found = bc.inverse_motion(model, {"crank_joint": 0.4}, [0.0, 1.0])
        h = 1e-5
        V = [dyn.energy(crank_state(dyn, 0.4 + x)[0], np.zeros(3))[1] for x in (h, -h)]
        assert found.effort.values[0, 0] == pytest.approx((V[0] - V[1]) / (2 * h), rel=1e-7)

    def test_more_actuators_share_the_load_with_least_norm_and_it_is_said(self):
        model = parallelogram(angle=0.3)
        found = bc.inverse_motion(model, {"crank0_joint": 0.2}, [0.0, 1.0], actuated=["crank0_joint", "crank1_joint"])
        one = bc.inverse_motion(model, {"crank0_joint": 0.2}, [0.0, 1.0])
        effort = found.effort.values[0]
        assert effort[:2] == pytest.approx([one.effort.values[0, 0] / 2] * 2, rel=1e-9)
        assert found.attrs["actuation"] == "2 actuators share 1 degree of freedom: efforts of least norm"

    def test_a_run_gives_back_the_efforts_that_moved_it(self):
        run = bc.simulate(four_bar(), 0.3, step=0.1, tau=[3.0, 0, 0])
        found = bc.inverse_motion(four_bar(), run, actuated=["crank_joint"])
        assert np.abs(found.effort.values - [3, 0, 0]).max() < 1e-8
        everything = bc.inverse_motion(four_bar(), run)
        assert "3 actuators share 1 degree of freedom" in everything.attrs["actuation"]

    @pytest.mark.parametrize(
        ("motion", "more", "error", "message"),
        [
            ({}, {}, bc.StateError, "leaves 1 degree of freedom of 'four-bar'"),
            ({"crank_joint": 0.0}, {"actuated": ["crank"]}, bc.StateError, "actuated has 'crank', which is none of"),
            ({"crank_joint": 0.0}, {"actuated": []}, bc.StateError, "cannot move 'four-bar' at t = 0 s"),
            ({"rocker_joint": lambda t: -3.0 * t}, {}, bc.AssemblyError, "cannot follow the motion at t = "),
            ({"crank_joint": 0.0, "rocker_joint": lambda t: (0.0, 1.0, 0.0)}, {}, bc.AssemblyError, "would open its loops"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_is_refused(self, motion, more, error, message):
        with pytest.raises(error, match=message):
            bc.inverse_motion(four_bar(), motion, [0.0, 0.5, 1.0], **more)

    def test_in_a_tree_nobody_needs_to_be_named_actuated(self):
        with pytest.raises(bc.StateError, match="actuated is for mechanisms with closed loops"):
            bc.inverse_motion(bc.load("pendulum"), {"hinge": 0.0}, [0.0], actuated=["hinge"])


def test_bennetts_linkage_has_one_mode():
    found = bc.modes(bennett())
    assert len(found) == 1 and found[0].kind == "oscillating"
