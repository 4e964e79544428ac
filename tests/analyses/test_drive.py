"""Kinematic analysis: an input through its range, what follows, and toggles by their formulas."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Law, PrescribedMotion

from ..closed_linkages import bricard, four_bar, parallelogram

H = 1e-5


@pytest.fixture(scope="module")
def bars():
    return four_bar("point_on_line")


class TestMotion:
    def test_velocities_and_accelerations_are_those_of_the_positions(self, bars):
        """Differences of the positions: dq/dcrank and d2q/dcrank2 at unit speed."""
        values = np.linspace(-1.0, 2.0, 5)
        at, after, before = (bc.drive(bars, "crank_joint", values + x) for x in (0.0, H, -H))
        assert np.abs((after.q - before.q) / (2 * H) - at.v).max() < 1e-8
        assert np.abs((after.v - before.v) / (2 * H) - at.a).max() < 1e-8
        assert at.error.max() < 1e-12

    def test_speed_and_acceleration_of_the_input_are_the_chain_rule(self, bars):
        """v = q' s, a = q'' s^2 + q' b."""
        unit = bc.drive(bars, "crank_joint", [0.3])
        given = bc.drive(bars, "crank_joint", [0.3], speed=3.0, acceleration=-2.0)
        assert given.v == pytest.approx(3 * unit.v) and given.a == pytest.approx(9 * unit.a - 2 * unit.v)

    def test_a_parallelogram_goes_through_its_change_point_as_a_parallelogram(self):
        model = parallelogram(angle=0.5)
        found = bc.drive(model, "crank0_joint", np.linspace(-2, 2, 9))
        assert np.abs(found.of("crank0_joint") - found.of("crank1_joint")).max() < 1e-10
        assert not found.limits

    def test_values_may_go_downward_and_keep_their_order(self, bars):
        up, down = (bc.drive(bars, "crank_joint", values) for values in ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]))
        assert np.abs(up.q[::-1] - down.q).max() < 1e-12 and down.values.tolist() == [0.3, 0.2, 0.1]

    def test_drivers_of_the_model_stand_still_meanwhile(self):
        """The rams of the excavator hold their lengths of the time t while its house is turned."""
        model = bc.load("excavator")
        found = bc.drive(model, "slewing", [-0.2, 0.0, 0.3], t=0.5)
        expected = bc.assemble(model, v=np.zeros(model.nv), t=0.5).q
        others = [k for k, name in enumerate(model.q_names) if name != "slewing"]
        assert np.abs(found.q[:, others] - expected[others]).max() < 1e-10
        assert np.abs(found.v[:, others]).max() < 1e-12

    def test_of_more_degrees_of_freedom_the_others_are_held(self):
        model = bc.load("five_bar")
        with pytest.raises(bc.StateError, match="1 degree of freedom besides 'pin1': hold as many coordinates"):
            bc.drive(model, "pin1", [0.1])
        found = bc.drive(model, "pin1", [0.1, 0.2], hold="telescope")
        assert (found.of("telescope") == 0).all() and found.error.max() < 1e-12


class TestToggles:
    def test_the_input_of_a_four_bar_turns_back_where_crank_and_ground_are_in_line(self):
        """cos mu = (l^2 + r^2 - (d +- a)^2) / (2 l r) for the angle mu between coupler and rocker."""
        model = bc.load("four_bar")
        mu = [np.arccos((1.8**2 + 1.2**2 - g**2) / (2 * 1.8 * 1.2)) for g in (1.5, 2.5, abs(2 - 0.5 * np.exp(0.7j)))]
        found = bc.drive(model, "rocker_pin", np.linspace(-1, 2, 16))
        assert found.toggles == pytest.approx([mu[0] - mu[2], mu[1] - mu[2]], abs=1e-10)
        assert len(found.values) + len(found.missing) == 16 and (found.missing > found.toggles[1]).sum() == 6
        assert "toggle, the mechanism turns back" in str(found) and "out of reach" in str(found)

    def test_near_a_toggle_the_input_has_little_part_in_the_motion(self):
        found = bc.drive(bc.load("four_bar"), "rocker_pin", [0.3, 0.8427])
        assert found.transmission[1] < 0.1 * found.transmission[0]

    def test_bricards_hinges_swing_by_four_thirds_of_pi(self):
        """cos f + cos g + cos f cos g = 0 has an answer for cos f >= -1/2 only: f from -2 pi/3 to 2 pi/3."""
        found = bc.drive(bricard(1.9), "link2_joint", np.linspace(-5, 5, 21))
        assert np.ptp(found.toggles) == pytest.approx(4 * np.pi / 3, abs=1e-9) and found.error.max() < 1e-12


class TestOverTime:
    def driven(self):
        """The crank of a four-bar turns with a law: cut, it is a driven joint of the tree."""
        model = four_bar("point_on_line")
        crank = PrescribedMotion((Law("polynomial", (0.0, 2.0, -0.5)),))
        return replace(model, motions=(crank, None, None), given_q=np.zeros(2), given_v=np.zeros(2), armature=np.zeros(2))

    def test_a_driver_gives_what_moving_the_coordinate_gives(self):
        times = np.array([0.0, 0.2, 0.5, 0.9])
        found = bc.drive(self.driven(), times=times)
        values, speeds = 2 * times - 0.5 * times**2, 2 - times
        for k in range(4):
            expected = bc.drive(four_bar("point_on_line"), "crank_joint", [values[k]], speed=speeds[k], acceleration=-1.0)
            assert found.q[k] == pytest.approx(expected.q[0, 1:], abs=1e-10)
            assert found.v[k] == pytest.approx(expected.v[0, 1:], abs=1e-9)
            assert found.a[k] == pytest.approx(expected.a[0, 1:], abs=1e-8)
        assert found.input == "time" and found.unit == "s"

    def test_a_driver_that_asks_too_much_ends_the_analysis_there(self):
        """The rocker, driven, cannot turn by more than its swing."""
        from .test_assembly import _from_the_other_end, pinned, polar

        model = pinned(*_from_the_other_end(), [(1, 2, polar(0.5, 0.0))], "point_on_line")
        law = PrescribedMotion((Law("polynomial", (0.0, 1.0)),))
        driven = replace(model, motions=(law, None, None), given_q=np.zeros(2), given_v=np.zeros(2), armature=np.zeros(2))
        found = bc.drive(driven, times=np.linspace(0, 3, 7))
        assert len(found.limits) == 1 and not found.limits[0].toggle and 0 < found.limits[0].value < 3
        assert "no configuration was found beyond" in str(found)

    def test_what_no_driver_moves_is_told(self):
        with pytest.raises(bc.StateError, match="1 degree of freedom that no driver moves"):
            bc.drive(four_bar("point_on_line"), times=[0.0, 1.0])


class TestResult:
    def test_arrays_are_labelled_and_fit_for_json_and_drawn(self, bars, tmp_path):
        found = bc.drive(bars, "crank_joint", [0.0, 0.1])
        data = found.data
        assert data.q.sel(coordinate="rocker_joint").dims == ("input",) and data.input.attrs["units"] == "rad"
        assert json.loads(json.dumps(found.as_dict()))["values"] == [0.0, 0.1]
        found.plot(tmp_path / "drive.png")
        assert (tmp_path / "drive.png").stat().st_size > 5000
        assert found.__rich__().renderables[-1].row_count == 2

    def test_its_picture_has_smooth_curves_up_to_the_dead_centres_from_few_values(self):
        """Drawn from a start, at a speed and downward as it was asked: at every value the curve is that of a drive of its own."""
        model = bc.load("four_bar")
        found = bc.drive(model, "rocker_pin", [2.0, 0.5, 0.0, -1.0], speed=2.0, q=bc.assemble(model).q)
        panel = found.plot().axes[1]
        curve = {line.get_label(): line for line in panel.lines}["crank_pivot"]
        x, y = curve.get_xdata(), curve.get_ydata()
        low, high = sorted(found.toggles)
        assert (
            len(x) == 201
            and x[0] == pytest.approx(high - 0.01 * (high - low))
            and x[-1] == pytest.approx(low + 0.01 * (high - low))
        )
        at = bc.drive(model, "rocker_pin", x[[150, 50]], speed=2.0)
        assert y[[150, 50]] == pytest.approx(at.v[:, 0], rel=1e-9)
        assert [t.get_text() for t in found.plot().axes[0].texts] == [f"dead centre {v:.4g} rad" for v in found.toggles]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("crank_joint",), "give a coordinate and its values, or the times"),
        ((), "give a coordinate and its values, or the times"),
        (("crank", [0.0]), r"there is no coordinate 'crank' \(did you mean 'crank_joint'\?\)"),
        (("crank_joint", [0.0, 0.2, 0.1]), "values must increase or decrease"),
        (("crank_joint", [np.inf]), "values must be a list of finite numbers"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(bars, arguments, message):
    with pytest.raises(bc.StateError, match=message):
        bc.drive(bars, *arguments)


def test_times_must_increase(bars):
    with pytest.raises(bc.StateError, match="times must be finite numbers that increase"):
        bc.drive(bars, times=[1.0, 0.0])


class TestTrees:
    def test_everything_else_stays_where_it_starts_and_the_result_says_so(self):
        model = bc.load("double_pendulum")
        found = bc.drive(model, "shoulder", [0.5, 0.2, -0.1], speed=2.0, acceleration=3.0)
        assert found.of("shoulder").tolist() == [0.5, 0.2, -0.1] and (found.of("elbow") == model.initial_q[1]).all()
        assert (found.v == [2.0, 0.0]).all() and (found.a == [3.0, 0.0]).all() and not len(found.missing)
        assert found.held == ("elbow",) and "held where it starts: 'elbow'" in str(found)
        elsewhere = bc.drive(model, "shoulder", [0.5], q={"elbow": 0.25})
        assert elsewhere.q.tolist() == [[0.5, 0.25]]
        assert json.loads(json.dumps(found.as_dict()))["held"] == ["elbow"]


class TestClosingJoints:
    def test_the_coordinate_of_a_joint_that_closes_a_loop_can_be_the_input(self):
        """The same configurations as with the crank as the input, and velocities from differences."""
        model = bc.load("four_bar")
        values = np.linspace(0.05, 0.5, 4)
        found = bc.drive(model, "rocker_pivot", values)
        assert found.model is model and found.input == "rocker_pivot" and found.unit == "rad"
        assert np.abs(bc.compile(model, optimisation=0).closing_coordinates(found.q)[:, 0] - values).max() < 1e-12
        again = bc.drive(model, "crank_pivot", found.of("crank_pivot"))
        assert np.abs(found.q - again.q).max() < 1e-10 and found.error.max() < 1e-12
        after, before = (bc.drive(model, "rocker_pivot", values + x) for x in (H, -H))
        assert np.abs((after.q - before.q) / (2 * H) - found.v).max() < 1e-6
        assert np.abs((after.v - before.v) / (2 * H) - found.a).max() < 1e-5

    def test_the_rocker_turns_back_where_crank_and_coupler_are_in_line(self):
        """cos(psi) = (d^2 + r^2 - (l -+ a)^2) / (2 d r) for the angle psi between ground and rocker."""
        model = bc.load("four_bar")
        psi = [np.arccos((2.0**2 + 1.2**2 - g**2) / (2 * 2.0 * 1.2)) for g in (1.3, 2.3)]
        found = bc.drive(model, "rocker_pivot", np.linspace(-3, 3, 3))
        assert np.ptp(found.toggles) == pytest.approx(abs(psi[1] - psi[0]), abs=1e-9)
        assert found.limits[0].q.shape == (3,)

    def test_loops_of_a_model_made_from_arrays_are_not_cut_elsewhere(self):
        model = replace(bc.load("four_bar"), name="from arrays")
        with pytest.raises(bc.StateError, match="'from arrays' was made from arrays, and its loops cannot be cut elsewhere"):
            bc.drive(model, "rocker_pivot", [0.1])

    def test_coordinates_that_leave_nothing_to_cut_are_told(self):
        model = bc.load("four_bar")
        with pytest.raises(bc.StateError, match="no loop can be cut so that all of 'crank_pin', 'crank_pivot', 'rocker_pin'"):
            bc.drive(model, "rocker_pivot", [0.1], hold=list(model.q_names))


class TestChangePoints:
    def test_a_parallelogram_is_flat_twice_in_a_turn(self):
        """Drawn at 50 degrees: flat at -50 and at 130 degrees, where parallelogram and antiparallelogram meet."""
        found = bc.drive(bc.load("parallelogram"), "left_pivot", np.linspace(-2, 3, 6))
        assert found.change_points == pytest.approx(np.radians([-50, 130]), abs=1e-9)
        assert "change point, branches meet" in str(found) and not found.limits
        assert json.loads(json.dumps(found.as_dict()))["change_points"] == list(found.change_points)

    def test_downward_they_come_in_the_order_of_the_input(self):
        found = bc.drive(bc.load("parallelogram"), "left_pivot", [3.0, -2.0])
        assert found.change_points == pytest.approx(np.radians([130, -50]), abs=1e-9)

    def test_drivers_of_the_model_pass_them_too(self):
        """The crank turns by 2 t from 0.5 rad before flat."""
        model = parallelogram(angle=-0.5)
        law = PrescribedMotion((Law("polynomial", (0.0, 2.0)),))
        free = {"given_q": np.zeros(model.nq - 1), "given_v": np.zeros(model.nv - 1), "armature": np.zeros(model.nv - 1)}
        driven = replace(model, motions=(law, *[None] * (model.n - 1)), **free)
        found = bc.drive(driven, times=[0.0, 0.2, 0.4])
        assert found.change_points == pytest.approx([0.25], abs=1e-9)

    def test_a_mechanism_without_any_has_none(self, bars, tmp_path):
        found = bc.drive(bars, "crank_joint", np.linspace(0, 6, 3))
        assert found.change_points == ()


def test_quaternions_are_not_driven():
    with pytest.raises(bc.StateError, match="is part of a quaternion"):
        bc.drive(bc.load("quarter_car"), "knuckle_ball.x", [0.0])


@pytest.mark.parametrize("after", [3, 8])
def test_interrupted_it_keeps_what_was_found(after, monkeypatch):
    """Upward first, then downward; the values stay in order."""
    from bellcrank.analyses.motions import driving

    real, left = driving.along_values, iter(range(after))

    def interrupted(*given):
        for state in real(*given):
            if next(left, None) is None:
                raise KeyboardInterrupt
            yield state

    monkeypatch.setattr(driving, "along_values", interrupted)
    values = np.linspace(0.2, 1.2, 11)  # the start is at 0.7: six values upward, five downward
    with pytest.raises(bc.SimulationError, match=rf"interrupted after {after} values of 'crank_pivot'") as caught:
        bc.drive(bc.load("four_bar"), "crank_pivot", values)
    found = caught.value.run
    assert len(found.values) == after and (np.diff(found.values) > 0).all() and len(found.missing) == 11 - after
