"""Closed loops before a run: freedom by counting and by rank, what is redundant, what is singular, what would help."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.inspection import check
from bellcrank.inspection.loops.mobility import inspect_loops
from bellcrank.inspection.loops.wrenches import PlacedModel, carried, holding, triad
from bellcrank.model import Closure, Element, Law, PrescribedMotion
from bellcrank.plan.equation_blocks import equation_blocks

from ..closed import CLOSING, random_closed
from ..closed_linkages import (
    Bar,
    bennett,
    bricard,
    four_bar,
    ladder,
    linkage,
    n_four_bar,
    parallelogram,
    pinned,
    polar,
    spatial_ladder,
)  # fmt: skip
from ..closed_states import moving

HINGED = "force along its axis z, moments about x and y"


# Kutzbach in space and in the plane, the true mobility, and the redundant equations.
KNOWN = {
    "four-bar of hinges": (four_bar, -2, 1, 1, 3),
    "four-bar with one ball": (lambda: four_bar("spherical"), 0, 1, 1, 1),
    "four-bar pinned in its plane": (lambda: four_bar("point_on_line"), 1, 1, 1, 0),
    "parallelogram with three cranks": (lambda: parallelogram(1), -6, 0, 1, 7),
    "three cranks pinned in the plane": (lambda: parallelogram(1, "point_on_line"), 0, 0, 1, 1),
    "Bennett": (bennett, -2, None, 1, 3),
    "Bricard": (bricard, 0, None, 1, 1),
    "four-bars in a row": (lambda: n_four_bar(5), -14, 1, 1, 15),
    "ladder": (lambda: ladder(4), -8, 4, 4, 12),
    "spatial ladder": (lambda: spatial_ladder(2), 8, None, 8, 0),
    "slider-crank": (lambda: bc.load("slider_crank"), -2, 1, 1, 3),
    "quarter car": (lambda: bc.load("quarter_car"), 1, None, 1, 0),
}  # fmt: skip


class TestCounting:
    """Of mechanisms in every textbook."""

    @pytest.mark.parametrize("name", KNOWN)
    def test_freedom_is_as_in_the_textbook(self, name):
        make, spatial, planar, mobility, redundant = KNOWN[name]
        found = inspect_loops(make())
        assert (found.spatial, found.planar, found.mobility, found.redundant) == (spatial, planar, mobility, redundant)
        assert found.nearby == mobility and len(found.independent) == mobility
        assert found.problems == ()

    def test_a_tree_has_no_loops(self):
        assert inspect_loops(bc.load("double_pendulum")) is None


class TestRedundancy:
    def test_a_hinged_four_bar_holds_itself_out_of_plane(self):
        found = inspect_loops(four_bar())
        assert found.directions == (("pin1", HINGED),)
        assert found.not_unique == tuple((name, HINGED) for name in ("crank_joint", "coupler_joint", "rocker_joint", "pin1"))
        (suggestion,) = found.suggestions
        assert suggestion == (
            'making "pin1" a point_on_line along its axis (a ball that may slide) takes away all 3 redundant equations'
        )

    def test_with_a_ball_only_the_force_across_the_plane_is_left(self):
        found = inspect_loops(four_bar("spherical"))
        assert found.directions == (("pin1", "force along z"),)
        assert found.suggestions == ('making "pin1" a point_on_line along z takes away the redundant equation',)

    def test_the_third_crank_of_a_parallelogram_stresses_the_plane(self):
        found = inspect_loops(parallelogram(1, "point_on_line"))
        assert dict(found.directions) == {"pin1": "forces along x and y", "pin2": "forces along x and y"}
        assert len(found.not_unique) == 6
        assert 'making "pin1" a pin in a slot (a point_on_plane) takes away the redundant equation' in found.suggestions

    def test_an_over_constrained_spatial_loop_is_stressed_in_all_directions(self):
        found = inspect_loops(bricard())
        assert dict(found.not_unique)["last"] == "forces along x, y and its axis z, moments about x and y"
        assert found.suggestions == ('making "last" cylindrical takes away the redundant equation',)

    def test_a_rod_too_many_may_be_left_out(self):
        """A stay from the axis of the crank to its tip."""
        model = four_bar("point_on_line")
        stay = Closure("stay", "distance", -1, 0, (0.0, 0.0, 0.3), tuple(polar(0.5, 0.7)), value=float(np.hypot(0.5, 0.3)))
        found = inspect_loops(replace(model, closures=(*model.closures, stay)))
        assert found.redundant == 1 and dict(found.directions) == {"stay": "force along it"}
        assert 'leaving out "stay" changes nothing of the motion and takes away the redundant equation' in found.suggestions

    def test_gears_that_say_what_the_loop_says_are_named(self):
        model = parallelogram(angle=1.0)
        gear = Closure("gear", "coupler", terms=((0, 0, 1.0), (1, 0, -1.0)))
        found = inspect_loops(replace(model, closures=(*model.closures, gear)))
        assert found.redundant == 4 and ("gear", "its effort") in found.directions
        assert any("gear: 1 crank0_joint -1 crank1_joint = 0" in line for line in found.drawings)

    def test_loops_that_do_not_touch_are_counted_each_for_itself(self):
        A = np.zeros((3, 4))
        A[0, :2], A[1, 2:], A[2, 2:] = 1.0, (1.0, 2.0), (2.0, 4.0)
        found, untouched = equation_blocks(A, np.array([0, 1, 2]))
        assert sorted((b.rank, b.redundant, b.mobility) for b in found) == [(1, 0, 1), (1, 1, 1)] and not len(untouched)

    def test_large_blocks_are_counted_like_small_ones(self, monkeypatch):
        small = inspect_loops(parallelogram(3))
        monkeypatch.setattr("bellcrank.plan.equation_blocks.DENSE", 4)
        large = inspect_loops(parallelogram(3))
        assert (large.mobility, large.redundant, large.directions) == (small.mobility, small.redundant, small.directions)
        assert large.pivot == pytest.approx(small.pivot)

    def test_a_thousand_loops_are_counted_without_a_large_dense_matrix(self, monkeypatch):
        """Ranks closure by closure, then of a band: a dense decomposition of all 6000 equations would take many minutes."""
        sizes = []
        svd = np.linalg.svd
        monkeypatch.setattr(np.linalg, "svd", lambda A, *more, **how: sizes.append(max(A.shape)) or svd(A, *more, **how))
        found = inspect_loops(n_four_bar(1000))
        assert (found.mobility, found.redundant, found.spatial) == (1, 3000, -2999)
        assert sizes and max(sizes) < 100


class TestStresses:
    """Forces that multipliers bring on the bodies, against the compiled reactions."""

    @pytest.mark.parametrize("kinds", [CLOSING[k : k + 3] for k in range(0, len(CLOSING), 3)])
    def test_wrenches_of_closures_and_joints_are_those_of_the_dynamics(self, kinds):
        model = random_closed(13, 4, kinds)
        state = moving(model, reach=0.2, t=0.0)
        dyn = bc.compile(model, optimisation=0)
        position, rotation = dyn.poses(state["q"])
        placed = PlacedModel(np.vstack([position, np.zeros(3)]), np.concatenate([rotation, np.eye(3)[None]]))
        multipliers = dyn.multipliers(state["q"], state["v"], state["tau"])
        expected = dyn.closure_reactions(state["q"], state["v"], state["tau"])
        world = np.zeros((len(model.closures), 6))
        for k, (closure, first) in enumerate(zip(model.closures, model.closure_index, strict=False)):
            if closure.kind == "coupler":
                continue
            along = holding(closure, placed) @ multipliers[first : first + closure.rows]
            E = triad(closure, placed)
            world[k] = np.concatenate([E @ along[:3], E @ along[3:]])
            assert world[k] == pytest.approx(expected[k], abs=1e-9 * max(1.0, np.abs(expected).max()))
        a = dyn.acceleration(state["q"], state["v"], state["tau"])
        rigid = (state["q"], state["v"], a)
        felt = dyn.reactions(*rigid, tau=state["tau"], effort=True) - _open_reactions(dyn, *rigid)
        if not any(closure.kind == "coupler" for closure in model.closures):
            assert carried(model, placed, world) == pytest.approx(felt, abs=1e-8 * max(1.0, np.abs(felt).max()))


def _open_reactions(dyn, q, v, a):
    """Reactions of the same motion with the loops open."""
    return bc.compile(replace(dyn.model, closures=()), optimisation=0).reactions(q, v, a, effort=True)


class TestSingularPositions:
    def test_a_flat_parallelogram_is_at_its_change_point(self):
        found = inspect_loops(parallelogram(0, "point_on_line", angle=0.0))
        assert found.mobility == 2 and found.nearby == 1
        kind, away = found.singularities
        assert 'the start is singular, a change point: 1 equation of "pin1" is redundant here but not nearby' in kind
        assert away.startswith('moving "') and "leads away from it" in away

    def test_the_change_point_ahead_is_told_with_the_angle_that_leads_there(self):
        """The cranks at 0.4 rad; the change point is where they are flat."""
        (text,) = inspect_loops(parallelogram(0, "point_on_line", angle=0.4)).singularities
        assert "leads to a position that is a change point" in text
        assert text.startswith(('moving "coupler_joint" by +0.4 rad', 'moving "crank'))
        assert "0.4 rad" in text

    @pytest.mark.parametrize("count", [2, 3, 5])
    def test_four_bars_in_a_row_lose_an_equation_each_where_they_are_flat(self, count):
        found = inspect_loops(n_four_bar(count, angle=0.0))
        assert (found.mobility, found.nearby, found.problems) == (1 + count, 1, ())
        kind, away = found.singularities
        names = [f'"pin{k + 1}"' for k in range(count)]
        expected = (
            f"a change point: {count} equations of {', '.join(names[:-1])} and {names[-1]} are redundant here but not nearby"
        )
        assert expected in kind and "leads away from it" in away

    def test_a_change_point_is_found_whatever_else_moves(self):
        """A flat parallelogram on a cart."""
        bars = [
            _cart(),
            Bar("left", 0, (0, 0, 0), (1, 0, 0)),
            Bar("right", 0, (2, 0, 0), (3, 0, 0)),
            Bar("bar", 1, (1, 0, 0), (3, 0, 0)),
        ]
        found = inspect_loops(pinned(*linkage("on a cart", bars), [(3, 2, np.array([3.0, 0, 0]))], "point_on_line"))
        assert (found.mobility, found.nearby, found.problems) == (3, 2, ())
        assert 'a change point: 1 equation of "pin1" is redundant here but not nearby' in found.singularities[0]

    def test_many_cranks_leave_one_branch_only(self):
        """Equations are lost all the same; with five cranks only the parallel motion goes on."""
        found = inspect_loops(parallelogram(3, angle=0.0))
        assert (found.mobility, found.nearby, found.problems) == (2, 1, ())
        assert "the start is singular" in found.singularities[0]

    def test_a_start_beside_a_change_point_is_not_taken_for_one(self):
        """Cranks of 1 m at 1.6e-4 of the largest singular value."""
        angle = 1.6e-4 / inspect_loops(parallelogram(0, "point_on_line", angle=1e-2)).pivot * 1e-2
        found = inspect_loops(parallelogram(0, "point_on_line", angle=angle))
        assert (found.mobility, found.redundant) == (1, 0)
        assert found.pivot == pytest.approx(1.6e-4, rel=1e-2)
        close, ahead = found.singularities
        assert "the start is close to a singular position" in close and "0.00016 of the largest" in close
        assert f"{angle:.4g} rad leads to a position that is a change point" in ahead

    def test_too_many_free_motions_are_said_to_be_too_many(self, monkeypatch):
        monkeypatch.setattr("bellcrank.inspection.loops.branches.LARGEST", 2)
        (text,) = inspect_loops(n_four_bar(5, angle=0.0)).singularities
        assert "may be singular" in text and "too many free motions" in text

    def test_a_piston_at_its_end_is_a_dead_centre_of_itself(self):
        """Crank and rod in line: the piston stands still while the crank turns, and its motor cannot start it."""
        model = _slider_crank(0.0)
        assert any('the start is a dead centre of "piston_joint"' in text for text in inspect_loops(model).singularities)
        motor = Element("gas", "joint_effort", {"value": 1.0}, joint=2)
        texts = inspect_loops(replace(model, elements=(motor,))).singularities
        assert any("its motor cannot move the mechanism from there" in text for text in texts)
        assert not any("dead centre" in text for text in inspect_loops(_slider_crank(0.6)).singularities)

    def test_the_pivot_falls_with_the_distance_to_the_change_point(self):
        near, far = (inspect_loops(parallelogram(0, "point_on_line", angle=x)).pivot for x in (0.01, 0.02))
        assert far / near == pytest.approx(2.0, rel=0.01)


def _cart():
    return Bar("cart", -1, (0, 0, 0), (0.2, 0, 0), ("prismatic", (1, 0, 0)))


def _slider_crank(angle: float):
    """Crank 0.5, rod 1.5, piston on a slide of its own."""
    B = polar(0.5, angle)
    C = np.array([B[0] + np.sqrt(1.5**2 - B[1] ** 2), 0.0, 0.0])
    bars = [
        Bar("crank", -1, np.zeros(3), B),
        Bar("rod", 0, B, C),
        Bar("piston", -1, C, C + [0.2, 0, 0], ("prismatic", (1, 0, 0))),
    ]
    return pinned(*linkage("slider-crank", bars), [(1, 2, C)], "point_on_line")


class TestProblems:
    def test_a_locked_mechanism_is_told(self):
        model = four_bar("point_on_line")
        brace = Closure("brace", "distance", -1, 0, (1.0, 0, 0), tuple(polar(0.5, 0.7)))
        brace = replace(brace, value=float(np.linalg.norm(polar(0.5, 0.7) - [1, 0, 0])))
        model = replace(model, closures=(*model.closures, brace), given_v=np.zeros(3))
        found = check(model)
        assert found.loops.mobility == 0
        assert (
            "the mechanism is locked: its 3 equations leave none of 3 coordinates free, and nothing drives it" in found.remarks
        )

    def test_a_mechanism_moved_by_its_driver_is_not_locked(self):
        model = four_bar("point_on_line")
        length = float(np.linalg.norm(polar(0.5, 0.7) - [1, 0, 0]))
        law = PrescribedMotion((Law("polynomial", (length, 0.1)),))
        ram = Closure("ram", "distance", -1, 0, (1.0, 0, 0), tuple(polar(0.5, 0.7)), motion=law)
        found = inspect_loops(replace(model, closures=(*model.closures, ram), given_v=np.zeros(3)))
        assert found.mobility == 0 and found.problems == ()

    def test_loops_that_do_not_close_are_told_with_their_gap(self):
        model = four_bar()
        apart = replace(model.closures[0], point_a=(0.0, 0.0, 0.02))
        found = check(replace(model, closures=(apart,)))
        assert any("do not close" in text and "'pin1'" in text and "mm" in text for text in found.remarks)

    def test_velocities_that_contradict_each_other_are_told(self, tmp_path):
        text = bc.gallery()["four_bar"].read_text()
        path = tmp_path / "bars.toml"
        path.write_text(text.replace("crank_pivot = { v = 6.0 }", "crank_pivot = { v = 6.0 }\ncrank_pin = { v = 3.0 }"))
        found = check(bc.load(path))
        assert any("no velocities that its loops agree with" in text for text in found.remarks)
        assert found.loops.mobility == 1

    def test_what_gives_way_but_cannot_move_is_shaky(self):
        """Three bars in one line between fixed pivots: each joint may start to move across, and none can go on."""
        bars = [Bar("left", -1, (0, 0, 0), (1, 0, 0)), Bar("right", 0, (1, 0, 0), (2, 0, 0))]
        model = pinned(*linkage("string", bars), [(1, -1, np.array([2.0, 0, 0]))], "point_on_line")
        found = inspect_loops(model)
        assert found.mobility == 1 and found.nearby is None
        assert 'shaky at "left_joint" and "right_joint"' in found.problems[0]

    def test_what_is_shaky_stays_so_on_a_cart(self):
        bars = [_cart(), Bar("left", 0, (0, 0, 0), (1, 0, 0)), Bar("right", 1, (1, 0, 0), (2, 0, 0))]
        found = inspect_loops(pinned(*linkage("on a cart", bars), [(2, 0, np.array([2.0, 0, 0]))], "point_on_line"))
        assert found.mobility == 2 and found.singularities == ()
        (text,) = found.problems
        assert 'shaky at "left_joint" and "right_joint"' in text and 'The equations of "pin1" allow velocities' in text

    def test_what_moves_in_one_way_may_be_shaky_in_another(self):
        """Two bars in line between two carts that move across: the carts can move together only."""
        across = ("prismatic", (0, 1, 0))
        bars = [
            Bar("near", -1, (0, 0, 0), (0.2, 0, 0), across),
            Bar("left", 0, (0, 0, 0), (1, 0, 0)),
            Bar("right", 1, (1, 0, 0), (2, 0, 0)),
            Bar("far", -1, (2, 0, 0), (2.2, 0, 0), across),
        ]
        found = inspect_loops(pinned(*linkage("string of carts", bars), [(2, 3, np.array([2.0, 0, 0]))], "point_on_line"))
        assert found.mobility == 3 and "shaky" in found.problems[0]


class TestReport:
    def test_loops_are_drawn_with_the_cut_marked(self):
        assert inspect_loops(four_bar()).drawings == (
            "ground -[crank_joint]- crank -[coupler_joint]- coupler =[pin1]= rocker -[rocker_joint]- ground",
        )

    def test_long_loops_are_shortened(self):
        found = inspect_loops(bc.load("n_four_bar"))
        assert all(len(line) < 400 for line in found.drawings)

    def test_the_report_is_for_people_and_for_json(self):
        found = check(bc.load("slider_crank"))
        text = str(found)
        assert "1, closes a loop" in text and "=[cylinder]=" in text
        assert "degrees of freedom: 1 by rank, -2 by counting in space, 1 in the plane" in text
        assert 'independent coordinates: "crankshaft"' in text
        data = json.loads(json.dumps(found.as_dict()))
        assert data["loops"]["mobility"] == 1 and data["joints"][-1]["closes"] is True

    def test_elements_on_a_closing_joint_say_where_they_are(self):
        found = check(bc.load("slider_crank"))
        assert {row.name: row.where for row in found.elements} == {"gas": "joint cylinder", "rings": "joint cylinder"}

    def test_the_fastest_vibration_is_that_of_the_mechanism_not_of_its_open_tree(self):
        """A coil on the crank of a parallelogram: w^2 = k/J with J = 2 m/3 + m."""
        coil = Element("coil", "joint_spring", {"stiffness": 50.0, "rest": 0.0, "preload": 0.0}, joint=0)
        found = check(replace(parallelogram(angle=1.0), elements=(coil,)))
        assert found.fastest_frequency == pytest.approx(np.sqrt(50 / (5 / 3)) / (2 * np.pi), rel=1e-9)
