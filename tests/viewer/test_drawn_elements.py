"""Gears, belts, contacts, tyres, cables, motors and dampers are drawn where their forces act, in their sizes."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.viewer.fixed_lines import Line, lines_of
from bellcrank.viewer.pictures.symbols import cable
from bellcrank.viewer.pictures.views import view_of
from bellcrank.viewer.recording import Recording
from bellcrank.viewer.scene import Scene

MACHINE = """
format = 1
name = "machine"
gravity = [0, -9.81, 0]
[bodies.pinion]
cylinder = { from = [0, 0, 0], to = [0, 0, 0.02], radius = 0.05, mass = 1 }
[bodies.rack]
box = { center = [0, 0.06, 0], size = [0.6, 0.02, 0.02], mass = 1 }
[bodies.small]
cylinder = { from = [0.5, 0, 0], to = [0.5, 0, 0.02], radius = 0.05, mass = 1 }
[bodies.large]
cylinder = { from = [1.0, 0, 0], to = [1.0, 0, 0.02], radius = 0.1, mass = 1 }
[bodies.lever]
rod = { from = [1.0, 0.4, 0], to = [1.3, 0.4, 0], radius = 0.01, mass = 1 }
[bodies.ball]
sphere = { center = [0.5, 0.5, 0], radius = 0.04, mass = 0.2 }
[joints.pinion_shaft]
type = "revolute"
parent = "ground"
child = "pinion"
point = [0, 0, 0]
axis = "z"
[joints.slide]
type = "prismatic"
parent = "ground"
child = "rack"
point = [0, 0.06, 0]
axis = "x"
[joints.small_shaft]
type = "revolute"
parent = "ground"
child = "small"
point = [0.5, 0, 0]
axis = "z"
[joints.large_shaft]
type = "revolute"
parent = "ground"
child = "large"
point = [1.0, 0, 0]
axis = "z"
[joints.lever_pin]
type = "revolute"
parent = "ground"
child = "lever"
point = [1.0, 0.4, 0]
axis = "z"
[joints.flight]
type = "planar"
parent = "ground"
child = "ball"
point = [0.5, 0.5, 0]
axis = "z"
axis2 = "x"
[racks.teeth]
pinion = "pinion"
rack = "rack"
point = [0, 0.05, 0]
[belts.crossed]
bodies = ["small", "large"]
radii = [0.05, 0.1]
crossed = true
[couplers.link]
joints = ["lever_pin", "large_shaft"]
ratio = 2
[contacts.floor]
body = "ball"
point = [0.5, 0.5, 0]
radius = 0.04
stiffness = 1e5
plane = { body = "ground", point = [0, 0.46, 0], normal = "y" }
[contacts.roll]
body = "ball"
point = [0.5, 0.5, 0]
radius = 0.04
stiffness = 1e5
cylinder = { body = "ground", point = [0.3, 0.5, 0], axis = "z", radius = 0.1 }
[cables.rope]
from = { body = "ground", point = [0.9, 0.6, 0] }
to = { body = "lever", point = [1.3, 0.4, 0] }
stiffness = 1e4
length = 0.47
[actuators.ram]
from = { body = "ground", point = [1.2, 0.1, 0] }
to = { body = "lever", point = [1.2, 0.4, 0] }
force = -3.0
[springs.buffer]
from = { body = "ground", point = [0.7, 0.5, 0] }
to = { body = "ball", point = [0.5, 0.5, 0] }
stiffness = 1000
length = 0.1
only = "push"
[motors.drive]
joint = "pinion_shaft"
effort = 0.1
[motors.push]
joint = "slide"
effort = 1.0
[dampers.brake]
joint = "small_shaft"
damping = 0.1
[dampers.shock]
joint = "slide"
damping = 5.0
"""


@pytest.fixture(scope="module")
def machine() -> Scene:
    return Scene(bc.load(MACHINE))


def lines(scene: Scene, name: str) -> list[Line]:
    return [line for line in lines_of(scene, 0.01) if line.name == name]


def world(scene: Scene, line: Line) -> np.ndarray:
    return scene.design.points(line.body, line.points)


def radii(points: np.ndarray, center: list[float]) -> np.ndarray:
    return np.linalg.norm(points[:, :2] - np.array(center), axis=1)


def test_teeth_are_about_the_pitch_circles_and_the_wheels_turn_with_their_bodies() -> None:
    scene = Scene(bc.load("gearbox"))
    pinion, wheel = lines(scene, "mesh")
    assert (pinion.body, wheel.body) == (0, 1)
    assert radii(world(scene, pinion), [0, 0]).mean() == pytest.approx(0.02, rel=0.01)
    assert radii(world(scene, wheel), [0.1, 0]).mean() == pytest.approx(0.08, rel=0.01)
    assert np.ptp(world(scene, wheel)[:, 2]) < 1e-12 and world(scene, wheel)[0, 2] == pytest.approx(0.05)


def test_a_ring_surrounds_its_planets_and_a_wheel_of_two_meshes_is_drawn_once() -> None:
    scene = Scene(bc.load("planetary"))
    gears = [line for line in lines_of(scene, 0.001) if line.role == "gear"]
    assert sorted(line.body for line in gears) == [-1, 0, 2, 3, 4]
    ring = next(line for line in gears if line.body == -1)
    assert radii(ring.points, [0, 0]).mean() == pytest.approx(0.06, rel=0.01)  # 60 teeth of module 2 mm


def test_the_teeth_of_a_train_of_gears_fit_into_each_other() -> None:
    """Where two wheels touch, the radius of one is as much above its pitch circle as that of the other is below."""
    m = bc.Mechanism("train", gravity=(0, 0, 0))
    centers = {"a": (0.0, 0.0), "b": (0.035, 0.0), "c": (0.035, 0.033)}  # radii of 20, 15 and 18 mm, at a right angle
    for name, (x, y) in centers.items():
        m.body(name, mass=0.5, center=(x, y, 0), inertia=(1e-3, 1e-3, 1e-3))
        m.joint(f"{name}_shaft", "revolute", "ground", name, point=(x, y, 0), axis="z")
    m.gear("first", ["a", "b"], teeth=(20, 15))
    m.gear("second", ["b", "c"], teeth=(15, 18))
    scene = Scene(m.build())
    outline = {"abc"[line.body]: world(scene, line)[:, :2] for line in lines_of(scene, 0.001)}
    for one, other in ("ab", "bc"):
        ends = np.array([centers[one], centers[other]])
        toward = complex(*(ends[1] - ends[0]))
        reach = [radius_toward(outline[one] - ends[0], toward), radius_toward(outline[other] - ends[1], -toward)]
        assert sum(reach) == pytest.approx(abs(toward), rel=1e-3)


def radius_toward(points: np.ndarray, direction: complex) -> float:
    places = (points[:, 0] + 1j * points[:, 1]) / (direction / abs(direction))
    order = np.argsort(np.angle(places))
    return float(np.interp(0.0, np.angle(places)[order], abs(places)[order]))


def test_bevel_gears_turn_about_their_own_axes_and_touch_at_their_point() -> None:
    m = bc.Mechanism("corner", gravity=(0, 0, 0))
    m.body("pinion", mass=0.5, center=(0.1, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    m.body("crown", mass=2.0, center=(0, 0.1, 0), inertia=(0.01, 0.02, 0.01))
    m.joint("pinion_shaft", "revolute", "ground", "pinion", point=(0.12, 0, 0), axis="x")
    m.joint("crown_shaft", "revolute", "ground", "crown", point=(0, 0.1, 0), axis="y")
    m.gear("mesh", ["pinion", "crown"], teeth=(18, 36), point=(0.08, 0.04, 0))
    scene = Scene(m.build())
    pinion, crown = (world(scene, line) for line in lines(scene, "mesh"))
    assert np.ptp(pinion[:, 0]) < 1e-12 and np.ptp(crown[:, 1]) < 1e-12
    assert np.hypot(pinion[:, 1], pinion[:, 2]).mean() == pytest.approx(0.04, rel=0.01)
    assert np.hypot(crown[:, 0], crown[:, 2]).mean() == pytest.approx(0.08, rel=0.01)


def test_the_belt_has_the_length_of_tangents_and_arcs(machine) -> None:
    """Open: 2 sqrt(d^2 - (R - r)^2) + (pi - 2 phi) r + (pi + 2 phi) R, sin(phi) = (R - r)/d; crossed: with R + r, and both
    arcs pi + 2 phi."""
    scene = Scene(bc.load("gearbox"))
    (belt,) = lines(scene, "belt")
    r, large, d = 0.05, 0.1, float(np.hypot(0.4, 0.1))
    phi = np.arcsin((large - r) / d)
    expected = 2 * np.sqrt(d**2 - (large - r) ** 2) + (np.pi - 2 * phi) * r + (np.pi + 2 * phi) * large
    assert np.linalg.norm(np.diff(belt.points, axis=0), axis=1).sum() == pytest.approx(expected, rel=1e-3)
    (crossed,) = lines(machine, "crossed")
    phi = np.arcsin(0.15 / 0.5)
    expected = 2 * np.sqrt(0.25 - 0.15**2) + (np.pi + 2 * phi) * 0.15
    assert np.linalg.norm(np.diff(crossed.points, axis=0), axis=1).sum() == pytest.approx(expected, rel=1e-3)


def test_a_rack_lies_along_its_slide_at_the_pitch_line(machine) -> None:
    pinion, rack = lines(machine, "teeth")
    assert radii(world(machine, pinion), [0, 0]).mean() == pytest.approx(0.05, rel=0.01)
    assert world(machine, rack)[:, 1].mean() == pytest.approx(0.05, abs=1e-3)
    assert np.ptp(world(machine, rack)[:, 0]) > 0.1


def test_a_tyre_is_round_and_its_road_has_the_heights_of_its_table() -> None:
    scene = Scene(bc.load("bump"))
    tyre, road = lines(scene, "tyre")
    center = scene.design.point(next(mark.a for mark in scene.elements if mark.kind == "tyre"))
    radius = 0.3 + 390 * 9.81 / 180000
    np.testing.assert_allclose(np.linalg.norm(world(scene, tyre) - center, axis=1), radius, rtol=1e-12)
    assert np.interp([4.4, 50.0], road.points[:, 0], road.points[:, 2]) == pytest.approx([0.06, 0.0])


def test_what_a_ball_touches_is_drawn_in_its_plane_or_about_its_axis(machine) -> None:
    *ball, plane = lines(machine, "floor")
    np.testing.assert_allclose(world(machine, plane)[:, 1], 0.46, atol=1e-12)
    for circle in ball:
        np.testing.assert_allclose(np.linalg.norm(world(machine, circle) - [0.5, 0.5, 0], axis=1), 0.04, rtol=1e-12)
    for ring in lines(machine, "roll")[-2:]:
        np.testing.assert_allclose(radii(world(machine, ring), [0.3, 0.5]), 0.1, rtol=1e-12)


def test_motors_and_dampers_are_around_hinges_and_along_slides(machine) -> None:
    arc, _head = lines(machine, "drive")
    assert np.ptp(radii(world(machine, arc), [0, 0])) < 1e-12
    assert all(np.ptp(line.points[:, 2]) < 1e-12 for line in lines(machine, "brake"))
    along = lines(machine, "push")[0].points
    np.testing.assert_allclose(np.diff(along, axis=0)[0, 1:], 0.0, atol=1e-12)
    assert len(lines(machine, "shock")) == 4


def test_a_slack_cable_sags_by_about_its_length_and_a_taut_one_is_straight(machine) -> None:
    mark, view = next(mark for mark in machine.elements if mark.is_cable), view_of(machine, "front")
    sagging = cable(mark, machine.design, view)
    assert np.linalg.norm(np.diff(sagging, axis=0), axis=1).sum() == pytest.approx(0.47, rel=0.02)
    tension = bc.load(MACHINE).with_parameters({"rope.length": 0.3})
    taut = next(mark for mark in Scene(tension).elements if mark.is_cable)
    straight = cable(taut, machine.design, view)
    assert np.linalg.norm(np.diff(straight, axis=0), axis=1).sum() == pytest.approx(np.hypot(0.4, 0.2), rel=1e-12)


def test_a_coupler_joins_the_places_of_its_joints(machine) -> None:
    mark = next(mark for mark in machine.elements if mark.kind == "coupler")
    np.testing.assert_allclose(machine.design.point(mark.a), [1.0, 0.4, 0], atol=1e-12)
    np.testing.assert_allclose(machine.design.point(mark.b), [1.0, 0, 0], atol=1e-12)


def test_forces_of_cables_contacts_and_actuators_act_along_their_lines(machine) -> None:
    recording = Recording(bc.simulate(machine.model, 0.02, step=0.01))
    at, push = recording.force("floor")
    np.testing.assert_allclose(at[0], [0.5, 0.46, 0], atol=1e-9)
    assert (push[:, 0] == 0).all() and (push[:, 1] >= 0).all() and push[:, 1].max() > 0
    at, pull = recording.force("ram")  # a tension of -3 N between (1.2, 0.1) and (1.2, 0.4) pushes the lever up
    np.testing.assert_allclose(pull[0], [0, 3.0, 0], atol=1e-6)


def test_everything_is_drawn_on_paper(machine, tmp_path) -> None:
    machine.model.draw(tmp_path / "machine.png")
    assert (tmp_path / "machine.png").stat().st_size > 10_000
