"""What is drawn of a mechanism is where its mechanics say it is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.viewer.pictures.outline import hull, outline
from bellcrank.viewer.pictures.picture import placed
from bellcrank.viewer.pictures.views import view_of
from bellcrank.viewer.scene import Placement, Scene
from bellcrank.viewer.solids import solids_of

GALLERY = sorted(bc.gallery())
ROUNDING = 1e-9  # m; assembly closes loops to 1e-10 of the typical length, and the gallery is of metres


@pytest.mark.parametrize("name", GALLERY)
def test_the_two_sides_of_every_joint_are_drawn_at_one_place(name):
    """In a closed configuration; a slide may be anywhere along its axis, and a rod's ends are its length apart."""
    model = bc.load(name)
    scene, at = Scene(model), placed(model, None, 0.0)
    for mark in scene.joints:
        away = at.point(mark.b) - at.point(mark.a)
        if mark.kind == "distance":
            assert mark.length is None or abs(np.linalg.norm(away) - mark.length) < ROUNDING
            continue
        if mark.kind in ("prismatic", "cylindrical", "screw", "planar", "point_on_line", "point_on_plane"):
            axis = at.direction(mark.a.body, mark.axis)
            along = np.outer(axis, axis)
            away = along @ away if mark.kind in ("planar", "point_on_plane") else away - along @ away
        assert np.linalg.norm(away) < ROUNDING, mark.name


@pytest.mark.parametrize("name", ["four_bar", "quarter_car", "every_joint", "humanoid"])
def test_joints_are_drawn_at_the_origins_of_the_bodies_they_carry(name):
    model = bc.load(name)
    dyn = bc.compile(model, optimisation=0)
    positions, rotations = dyn.poses(model.initial_q)
    at = Placement(positions, rotations)
    places = Scene(model).places()
    for row, (joint, body) in enumerate(zip(model.joint_names, model.body_names, strict=True)):
        if joint in places and not (model.turned and model.turned[row]) and model.joints[row].kind in ("revolute", "spherical"):
            np.testing.assert_allclose(at.point(places[joint]), positions[row], atol=ROUNDING)
        np.testing.assert_allclose(at.point(places[body]), positions[row] + rotations[row] @ model.center[row], atol=ROUNDING)


def test_a_measured_point_is_where_the_run_measures_it():
    model = bc.load("strandbeest")
    run = bc.simulate(model, duration=0.5)
    at = Placement(run.values("positions")[-1], run.values("rotations")[-1])
    foot = at.point(Scene(model).place("left.step"))
    np.testing.assert_allclose(foot, run.measures.sel(measure=["left.step.x", "left.step.y", "left.step.z"])[-1], atol=ROUNDING)


def test_a_point_of_the_file_can_be_taken_on_any_body():
    model = bc.load("four_bar")
    scene = Scene(model)
    np.testing.assert_allclose(scene.design.point(scene.place("coupler.B")), scene.design.point(scene.place("rocker_pin")))


def test_an_unknown_point_is_an_error_that_names_a_similar_one():
    with pytest.raises(bc.StateError, match="no point 'rocker_pinn' .did you mean 'rocker_pin'"):
        Scene(bc.load("four_bar")).place("rocker_pinn")


def test_a_rod_is_drawn_between_its_ends_and_turns_with_its_body():
    arm = bc.load(
        'format = 1\nname = "arm"\n[bodies.arm]\nrod = { from = [0, 0, 0], to = [2, 0, 0], mass = 1, radius = 0.05 }\n'
        '[joints.hinge]\ntype = "revolute"\nparent = "ground"\nchild = "arm"\npoint = [0, 0, 0]\naxis = "y"\n'
    )
    (rod,) = solids_of(Scene(arm))
    at = placed(arm, {"hinge": np.pi / 2}, 0.0)  # a right-handed turn about y takes x to -z
    np.testing.assert_allclose(at.points(rod.body, rod.vertices), [[0, 0, 0], [0, 0, -2]], atol=1e-12)
    assert rod.radius == 0.05 and rod.drawn


def test_the_outline_of_a_ball_is_its_circle_from_everywhere():
    model = bc.load(
        'format = 1\nname = "ball"\n[bodies.ball]\nsphere = { center = [0, 0, -1], radius = 0.3, mass = 1 }\n'
        '[joints.hinge]\ntype = "revolute"\nparent = "ground"\nchild = "ball"\npoint = [0, 0, 0]\naxis = "y"\n'
    )
    scene = Scene(model)
    ball = next(solid for solid in solids_of(scene) if solid.drawn)
    for name in ("front", "top", "side", "iso"):
        view = view_of(scene, name)
        around = outline(ball, scene.design, view) - view.project(np.array([0, 0, -1.0]))
        np.testing.assert_allclose(np.linalg.norm(around, axis=1), 0.3, atol=1e-9)


def test_the_hull_of_a_square_with_points_inside_is_the_square():
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    inside = np.random.default_rng(3).uniform(0.1, 0.9, (50, 2))
    assert {tuple(p) for p in hull(np.vstack([inside, square])).tolist()} == {tuple(p) for p in square.tolist()}


@pytest.mark.parametrize("name", GALLERY)
def test_views_are_right_handed_and_keep_lengths(name):
    scene = Scene(bc.load(name))
    for view in ("auto", "front", "top", "side", "iso"):
        axes = view_of(scene, view).axes
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12, err_msg=view)
        assert np.linalg.det(axes) > 0, view


def test_a_planar_mechanism_is_seen_along_the_normal_of_its_plane_with_gravity_down():
    view = view_of(Scene(bc.load("four_bar")), "auto")
    np.testing.assert_allclose(view.axes, np.eye(3), atol=1e-12)
    digging = view_of(Scene(bc.load("excavator")), "auto")  # its arm moves in the x-z plane
    np.testing.assert_allclose(digging.axes, [[1, 0, 0], [0, 0, 1], [0, -1, 0]], atol=1e-12)


def test_the_loop_of_a_four_bar_holds_all_of_its_bodies_and_a_tree_has_none():
    assert Scene(bc.load("four_bar")).loops == (frozenset({0, 1, 2}),)
    assert Scene(bc.load("double_pendulum")).loops == ()


def test_a_model_without_a_spec_is_drawn_from_its_arrays():
    model = bc.load("four_bar")
    arrays = dataclasses.replace(model)
    assert arrays.spec is None
    np.testing.assert_allclose(Scene(arrays).origins, Scene(model).origins, atol=1e-12)
    arrays.draw()
