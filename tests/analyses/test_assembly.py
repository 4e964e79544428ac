"""Assembly: loops closed from an approximate start, on the branch nearest to it, and what is said where that cannot be."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.assembly.minimum_norm import allowed_part, smallest_change
from bellcrank.joints import make_joint
from bellcrank.model import Closure, Law, PrescribedMotion
from bellcrank.model.manifold import displaced

from ..closed import CLOSING, random_closed
from ..closed_linkages import Bar, bennett, bricard, four_bar, ladder, linkage, meet, n_four_bar, parallelogram, pinned, polar

TIGHT = 1e-11
LARGER = -0.2  # rad, of the coupler on the rocker: the angle between them grows


@pytest.fixture(scope="module")
def bars():
    return bc.compile(four_bar(), optimisation=0)


def four_bar_angles(crank: float) -> tuple[float, float]:
    """Directions of coupler and rocker of the four-bar of the issues, by circles that meet."""
    A, D = polar(0.5, crank), np.array([2.0, 0.0, 0.0])
    C = meet(A, 1.8, D, 1.2)
    return float(np.arctan2(*(C - A)[1::-1])), float(np.arctan2(*(C - D)[1::-1]))


class TestPositions:
    @pytest.mark.parametrize("turn", [0.4, -0.9, 2.0, 3.0])
    def test_a_four_bar_follows_its_crank_as_the_circles_say(self, bars, turn):
        found = bc.assemble(bars, {"crank_joint": turn}).q
        start, end = four_bar_angles(0.7), four_bar_angles(0.7 + turn)
        assert found[0] == turn
        assert found[0] + found[1] == pytest.approx(end[0] - start[0], abs=TIGHT)
        assert found[2] == pytest.approx(end[1] - start[1], abs=TIGHT)

    def test_after_a_whole_turn_of_the_crank_all_is_as_before(self, bars):
        found = bc.assemble(bars, {"crank_joint": 2 * np.pi - 1e-3}).q
        assert np.abs(found - [2 * np.pi, -2 * np.pi, 0]).max() < 2e-3

    @pytest.mark.parametrize("turn", [-3.0, 0.8, 5.0])
    def test_a_slider_crank_follows_x_is_r_cos_plus_root_of_l2_less_r2_sin2(self, turn):
        model = bc.load("slider_crank")
        r, length, start = 0.05, 0.16, np.radians(60)
        found = bc.assemble(model, {"crankshaft": turn}).q
        assert found[0] + found[1] == pytest.approx(
            -np.arcsin(r / length * np.sin(start + turn)) + np.arcsin(r / length * np.sin(start)), abs=TIGHT
        )
        assert found.sum() == pytest.approx(0, abs=TIGHT)  # the piston does not turn

    @pytest.mark.parametrize("weight", ["mass", "norm"])
    @pytest.mark.parametrize("kinds", [CLOSING[k : k + 3] for k in range(0, len(CLOSING), 3)])
    def test_any_closure_is_closed_from_near(self, kinds, weight):
        model = random_closed(13, 4, kinds)
        rough = displaced(model, model.initial_q, 0.05 * np.random.default_rng(1).normal(size=model.nv))
        found = bc.assemble(model, rough, np.ones(model.nv), weight=weight)
        dyn = bc.compile(model, optimisation=0)
        position, velocity = dyn.closure(found.q, found.v)
        assert np.abs(position).max() < 1e-12 and np.abs(velocity).max() < 1e-10
        assert found.before > 1e-3 and found.error < 1e-12

    def test_the_change_of_least_kinetic_energy_hardly_moves_what_is_heavy(self):
        model = four_bar()
        heavy = replace(model, armature=np.array([1e4, 0.0, 0.0]))
        rough = np.array([0.0, 0.05, -0.02])
        by_mass, by_norm = (bc.assemble(heavy, rough, weight=w).moved[0] for w in ("mass", "norm"))
        assert abs(by_mass) < 1e-3 * abs(by_norm)

    def test_the_nearer_of_two_branches_is_taken(self, bars):
        """With the crank where it is, the rocker may stand above or below the ground line."""
        above = np.zeros(3)
        coupler, rocker = four_bar_angles(0.7)
        A, D = polar(0.5, 0.7), np.array([2.0, 0.0, 0.0])
        C = meet(D, 1.2, A, 1.8)  # the other point where the circles meet
        below = np.array([0, np.arctan2(*(C - A)[1::-1]) - coupler, np.arctan2(*(C - D)[1::-1]) - rocker])
        for exact in (above, below):
            found = bc.assemble(bars, exact + [0, 0.1, -0.08], hold="crank_joint").q
            assert np.abs(found - exact).max() < TIGHT

    @pytest.mark.parametrize("make", [bennett, bricard, lambda: parallelogram(2), lambda: n_four_bar(5), lambda: ladder(4)])
    def test_redundant_loops_are_closed_like_others(self, make):
        model = make()
        rough = displaced(model, model.initial_q, 0.02 * np.random.default_rng(2).normal(size=model.nv))
        found = bc.assemble(model, rough)
        assert np.abs(bc.compile(model, optimisation=0).closure(found.q, found.v)[0]).max() < 1e-12

    def test_a_closed_start_is_not_moved(self, bars):
        found = bc.assemble(bars)
        assert not found.moved.any() and found.held == ()

    def test_a_tree_has_nothing_to_close(self):
        model = bc.load("double_pendulum")
        found = bc.assemble(model)
        assert np.array_equal(found.q, model.initial_q) and np.array_equal(found.v, model.initial_v)

    def test_a_driven_closure_is_met_at_its_time(self):
        """A rod whose length is prescribed: the slide of a slider-crank, so to say, by a law."""
        model = _rod(Law("polynomial", (2.0, -0.5)))
        for t in (0.0, 0.6):
            q = bc.assemble(model, t=t).q
            assert 2 * np.sin((np.pi / 2 + q[0]) / 2) * np.sqrt(2) == pytest.approx(2.0 - 0.5 * t, abs=TIGHT)

    def test_many_loops_are_closed_by_sparse_matrices(self):
        model = n_four_bar(170)
        rough = np.zeros(model.nv)
        rough[0] = 1e-3
        found = bc.assemble(model, rough, np.eye(model.nv)[0], weight="norm")
        assert found.error < 1e-11 and found.rate < 1e-9


def _rod(law: Law):
    """A bar of 1 m on a pivot at (1, 1), and a rod of prescribed length from its tip to a point on its circle."""
    model, _ = linkage("lifter", [Bar("bar", -1, (1, 1, 0), (1, 2, 0))])
    anchor = np.array([1.0, 1.0, 0.0]) + np.sqrt(2) * np.array([1.0, 0.0, 0.0])
    rod = Closure(
        "rod", "distance", -1, 0, point_a=tuple(anchor), point_b=(0.0, np.sqrt(2), 0.0), motion=PrescribedMotion((law,))
    )
    return replace(model, closures=(rod,))


class TestVelocities:
    def test_the_crank_keeps_its_speed_and_the_others_follow(self, bars):
        found = bc.assemble(bars, v={"crank_joint": 2.0})
        h = 1e-6
        ahead, behind = (bc.assemble(bars, {"crank_joint": x}).q for x in (h, -h))
        assert np.abs(found.v - (ahead - behind) / h).max() < 1e-8
        assert found.rate < 1e-13

    def test_what_is_not_held_is_moved_with_the_least_kinetic_energy(self, bars):
        """Projection in the metric M: the change of momentum is all in the closures, N^T M dv = 0."""
        given = np.array([1.0, -0.3, 0.4])
        found = bc.assemble(bars, v=given)
        N = np.linalg.svd(bars.closure_jacobian(found.q))[2][2:].T
        assert np.abs(N.T @ bars.mass_matrix(found.q) @ (found.v - given)).max() < 1e-12

    def test_a_law_moves_what_it_is_tied_to(self):
        model = _rod(Law("polynomial", (2.0, -0.5)))
        h = 1e-5
        before, after = (bc.assemble(model, t=0.3 + x).q for x in (-h, h))
        assert bc.assemble(model, t=0.3).v == pytest.approx((after - before) / (2 * h), rel=1e-8)


class TestInitialSection:
    def write(self, tmp_path, initial: str):
        text = bc.gallery()["four_bar"].read_text()
        path = tmp_path / "bars.toml"
        path.write_text(text.replace("crank_pivot = { v = 6.0 }", initial))
        return bc.load(path)

    def test_what_the_file_gives_is_held(self, tmp_path):
        found = bc.assemble(self.write(tmp_path, "crank_pivot = { q = 0.5, v = 6.0 }"))
        assert found.held == ("crank_pivot",) and found.q[0] == 0.5 and found.v[0] == 6.0
        assert "crank_pivot: 0.5 rad, held" in found.report and "crank_pin: -0.596" in found.report

    def test_rounded_numbers_that_say_too_much_are_mended_with_a_warning(self, tmp_path):
        exact = bc.assemble(bc.load("four_bar"), {"crank_pivot": 0.5}).q
        initial = "\n".join(f"{n} = {{ q = {x:.3f} }}" for n, x in zip(bc.load("four_bar").q_names, exact, strict=True))
        with pytest.warns(bc.BellcrankWarning, match=r"\[initial\] gives more than the loops leave free"):
            found = bc.assemble(self.write(tmp_path, initial))
        assert np.abs(found.q - exact).max() < 2e-3 and found.notes and found.error < 1e-12

    def test_values_that_contradict_the_loops_are_an_error(self, tmp_path):
        model = self.write(tmp_path, "crank_pivot = { q = 0.5 }\nrocker_pin = { q = 0.8 }")
        with pytest.raises(bc.AssemblyError, match="over-determined: 2 coordinates are held and it has 1 degree of freedom"):
            bc.assemble(model)

    def test_rounded_velocities_are_mended_with_a_warning(self, tmp_path):
        model = self.write(tmp_path, "crank_pivot = { v = 6.0 }\ncrank_pin = { v = -7.47 }")
        with pytest.warns(bc.BellcrankWarning, match="more velocities than the loops leave free"):
            found = bc.assemble(model)
        assert found.rate < 1e-12

    def test_velocities_that_contradict_the_loops_are_an_error(self, tmp_path):
        model = self.write(tmp_path, "crank_pivot = { v = 6.0 }\ncrank_pin = { v = 3.0 }")
        with pytest.raises(bc.AssemblyError, match=r"no velocities that its loops agree with.* 'rocker_pivot'"):
            bc.assemble(model)


class TestRefusals:
    def test_past_a_toggle_the_largest_value_within_reach_is_told(self):
        """Rocker against coupler: the angle between them is largest where crank and ground are in one line.

        cos mu = (l^2 + r^2 - (d + a)^2) / (2 l r)
        """
        model = bc.load("four_bar")
        mu = [np.arccos((1.8**2 + 1.2**2 - g**2) / (2 * 1.8 * 1.2)) for g in (1.5, 2.5, abs(2 - 0.5 * np.exp(0.7j)))]
        with pytest.raises(bc.AssemblyError, match="'rocker_pin' = 2 rad is past a toggle") as caught:
            bc.assemble(model, {"rocker_pin": 2.0})
        assert f"it gets to 'rocker_pin' = {mu[1] - mu[2]:.6g} rad" in str(caught.value)
        assert caught.value.q[2] == pytest.approx(mu[1] - mu[2], abs=1e-9)
        assert "'rocker_pivot' (loop crank_pivot - crank_pin - rocker_pin): its points are apart by" in str(caught.value)

    def test_a_loop_that_cannot_close_is_named_with_its_gap(self):
        """Bars of 0.5, 1.8 and 1.2 m reach 3.5 m; the pivot is 5 m away."""
        model = four_bar("spherical")
        far = replace(
            model, closures=(replace(model.closures[0], body_a=-1, body_b=1, point_a=(5.0, 0, 0), point_b=(1.8, 0, 0)),)
        )
        with pytest.raises(
            bc.AssemblyError, match=r"its loops do not close. At best joint 'pin1'.*points are apart by [\d.]+ m"
        ):
            bc.assemble(far)

    def test_axes_that_do_not_agree_are_told_in_degrees(self):
        model = four_bar()
        tilted = make_joint("revolute", (0.0, np.sin(0.2), np.cos(0.2)))
        body = replace(model.closures[0], joint=tilted)
        grounded = replace(
            model, closures=(body, Closure("weld", "joint", -1, 2, (2.0, 0, 0.1), (0.0, 0, 0), joint=make_joint("fixed")))
        )
        with pytest.raises(bc.AssemblyError, match=r"'weld'.*apart by 100 mm"):
            bc.assemble(grounded)

    def test_a_locked_mechanism_cannot_move_what_is_held(self):
        model = four_bar("point_on_line")
        brace = Closure(
            "brace",
            "distance",
            -1,
            0,
            (1.0, 0, 0),
            tuple(polar(0.5, 0.7)),
            value=float(np.linalg.norm(polar(0.5, 0.7) - [1, 0, 0])),
        )
        locked = replace(model, closures=(*model.closures, brace))
        with pytest.raises(bc.AssemblyError, match="over-determined: 1 coordinate is held and it has 0 degrees of freedom"):
            bc.assemble(locked, {"crank_joint": 0.3})

    def test_a_dead_centre_holds_its_coordinate(self):
        """With crank and ground in one line the angle between coupler and rocker is smallest, and can only grow."""
        end = pinned(*_from_the_other_end(), [(1, 2, polar(0.5, 0.0))], "point_on_line")
        found = bc.assemble(end, {"coupler_joint": LARGER})
        assert found.q[1] == LARGER and found.error < 1e-12
        with pytest.raises(bc.AssemblyError, match="it cannot move at all, the mechanism is locked or stands in a dead centre"):
            bc.assemble(end, {"coupler_joint": -LARGER})

    def test_drivers_that_contradict_each_other_are_named(self):
        one, other = (_rod(Law("polynomial", (2.0, slope))).closures[0] for slope in (-0.5, 0.4))
        model = replace(_rod(Law("polynomial", (2.0,))), closures=(one, replace(other, name="second")))
        with pytest.raises(bc.AssemblyError, match="the drivers 'rod', 'second' contradict each other or the loops at t = 0 s"):
            bc.assemble(model)
        with pytest.raises(
            bc.AssemblyError, match="drivers 'rod', 'second' may ask for what the others cannot follow at t = 1 s"
        ):
            bc.assemble(model, t=1.0)

    def test_held_velocities_that_contradict_the_loops_are_named(self, bars):
        with pytest.raises(bc.AssemblyError, match="held are 'crank_joint' = 1, 'rocker_joint' = 1, with 1 degree of freedom"):
            bc.assemble(bars, v={"crank_joint": 1.0, "rocker_joint": 1.0})

    def test_held_values_off_the_loops_say_where_these_would_close(self, bars):
        with pytest.raises(
            bc.AssemblyError, match="Held are 'crank_joint' = 0.3 rad, 'rocker_joint' = 1 rad; the loops would close at"
        ):
            bc.assemble(bars, {"crank_joint": 0.3, "rocker_joint": 1.0})

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"weight": "heavy"}, "weight must be 'mass' or 'norm'"),
            ({"tolerance": 0.0}, "tolerance must be a length in m"),
            ({"q": {"crank": 1.0}}, r"q has 'crank', which is not a coordinate of 'four-bar' \(did you mean 'crank_joint'\?\)"),
            ({"v": {"pin1": 1.0}}, "v has 'pin1', which is not a coordinate of 'four-bar'"),
            ({"q": {"crank_joint": "far"}}, "q of 'crank_joint' must be a number; it is 'far'"),
            ({"q": np.zeros((2, 3))}, r"q must be one state; it has shape \(2, 3\)"),
            ({"q": [0.0, np.nan, 0.0]}, "q of 'coupler_joint' is nan: all of a state must be finite"),
            ({"hold": "crank"}, "hold has 'crank', which is not a coordinate"),
        ],
    )
    def test_arguments_that_make_no_sense_are_refused(self, bars, arguments, message):
        with pytest.raises(bc.StateError, match=message):
            bc.assemble(bars, **arguments)

    def test_a_quaternion_must_be_one(self):
        model = bc.load("quarter_car")
        with pytest.raises(bc.StateError, match="the quaternion of joint 'knuckle_ball' has length 0"):
            bc.assemble(model, np.zeros(model.nq))


def _from_the_other_end():
    """The four-bar from its rocker: rocker, coupler, and the crank on its own pivot; crank in line with ground."""
    B, D = polar(0.5, 0.0), np.array([2.0, 0.0, 0.0])
    C = meet(B, 1.8, D, 1.2)
    return linkage("from the other end", [Bar("rocker", -1, D, C), Bar("coupler", 0, C, B), Bar("crank", -1, np.zeros(3), B)])


def test_near_misalignment_is_closed_as_well_as_it_can_be_and_told():
    """An axis 2e-6 rad out of line: the loop cannot close exactly, and counts as closed."""
    model = four_bar()
    tilted = make_joint("revolute", (2e-6, 0.0, 1.0))
    leaning = replace(model, joints=(model.joints[0], tilted, model.joints[2]))
    with pytest.warns(bc.BellcrankWarning, match="closes only nearly"):
        found = bc.assemble(leaning, [0.3, -0.35, 0.03])
    assert 1e-8 < found.error < 1e-5


def test_an_assembly_is_plain_values_for_json(bars):
    found = bc.assemble(bars, {"crank_joint": 0.2})
    data = json.loads(json.dumps(found.as_dict()))
    assert data["held"] == ["crank_joint"] and data["q"]["crank_joint"] == 0.2
    assert str(found).splitlines()[1] == "  crank_joint: 0.2 rad, held"


class TestLeastChange:
    """x = M^-1 J^T (J M^-1 J^T)^-1 r, whatever is redundant in J."""

    @pytest.mark.parametrize("large", [False, True])
    def test_dense_and_sparse_agree_with_the_closed_form(self, large, monkeypatch):
        if large:
            monkeypatch.setattr("bellcrank.assembly.minimum_norm.LARGE", 1)
        rng = np.random.default_rng(4)
        J, root = rng.normal(size=(4, 9)), rng.normal(size=(9, 9))
        M, r = root @ root.T + np.eye(9), rng.normal(size=4)
        expected = np.linalg.solve(M, J.T @ np.linalg.solve(J @ np.linalg.solve(M, J.T), r))
        doubled = np.vstack([J, J[:2]]), np.concatenate([r, r[:2]])
        assert smallest_change(*doubled, M) == pytest.approx(expected, abs=1e-9)
        assert smallest_change(*doubled) == pytest.approx(np.linalg.pinv(J) @ r, abs=1e-9)
        assert np.abs(J @ allowed_part(J, np.ones(9))).max() < 1e-9
