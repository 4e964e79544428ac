"""Efforts inside closed loops: a Stewart platform by its pose and by its legs, and rams that are driven."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.model.builder import polynomial, sine

LEGS = tuple(f"leg{k}" for k in range(6))
TIMES = np.linspace(0.0, 0.5, 6)
G = 9.81


def foot(k):
    angle = 2 * np.pi * (k // 2) / 3 + (0.2 if k % 2 else -0.2)
    return 1.2 * np.array([np.cos(angle), np.sin(angle), 0.0])


def ball(k):
    """On the plate, from its centre."""
    angle = 2 * np.pi * (k // 2) / 3 + (0.9 if k % 2 else -0.9)
    return 0.7 * np.array([np.cos(angle), np.sin(angle), 0.0])


@pytest.fixture(scope="module")
def platform():
    """A plate on six legs, each a cylinder on a universal joint, a rod that slides in it, and a ball."""
    m = bc.Mechanism("Stewart platform", gravity=(0, 0, -G))
    m.body("plate", 20.0, (0, 0, 1.0), (1.0, 1.2, 2.0))
    m.joint("pose", "free", "ground", "plate", (0, 0, 1.0))
    for k in range(6):
        low, high = foot(k), ball(k) + [0, 0, 1.0]
        along = (high - low) / np.linalg.norm(high - low)
        side = np.cross(along, [0, 0, 1]) / np.linalg.norm(np.cross(along, [0, 0, 1]))
        m.body(f"cylinder{k}", 3.0, tuple(low + 0.3 * along), (0.02, 0.02, 0.02))
        m.body(f"rod{k}", 2.0, tuple(low + 0.8 * along), (0.02, 0.02, 0.02))
        m.joint(
            f"foot{k}", "universal", "ground", f"cylinder{k}", tuple(low), axis=tuple(side), axis2=tuple(np.cross(along, side))
        )
        m.joint(f"leg{k}", "prismatic", f"cylinder{k}", f"rod{k}", tuple(low), axis=tuple(along))
        m.joint(f"ball{k}", "spherical", f"rod{k}", "plate", tuple(high), cut=True)
    return m.build()


def pose(t):
    """It sways, heaves and turns."""
    turn = Rotation.from_rotvec([0.3 * np.sin(4 * t), 0.2 * np.cos(5 * t) - 0.2, 0.4 * np.sin(3 * t)])
    return [0.05 * np.sin(6 * t), 0.08 * np.sin(4 * t), 0.9 + 0.1 * np.cos(5 * t), *turn.as_quat(scalar_first=True)]


def stroke(k):
    """How far leg k is out: the distance of its ends, less that in the design position."""

    def of_time(t):
        x = np.array(pose(t))
        high = x[:3] + Rotation.from_quat(x[3:], scalar_first=True).apply(ball(k))
        return np.linalg.norm(high - foot(k)) - np.linalg.norm(ball(k) + [0, 0, 1.0] - foot(k))

    return of_time


@pytest.fixture(scope="module")
def by_pose(platform):
    return bc.inverse_motion(platform, {"pose": pose}, TIMES, actuated=LEGS)


class TestStewartPlatform:
    def test_the_efforts_of_a_pose_bring_that_motion_about(self, platform, by_pose):
        dyn = bc.compile(platform, optimisation=0)
        a = dyn.acceleration(by_pose.q.values, by_pose.v.values, by_pose.effort.values)
        assert np.abs(a - by_pose.a.values).max() < 1e-9 * np.abs(a).max()
        rates = dyn.closure(by_pose.q.values, by_pose.v.values)[1]
        assert np.abs(rates).max() < 1e-12

    @pytest.mark.parametrize("legs", [LEGS, LEGS[:5]], ids=["six legs", "five legs and the height"])
    def test_legs_take_the_same_forces_whether_they_are_given_or_the_pose(self, platform, by_pose, legs):
        """To what splines through a thousand points leave of accelerations: 1e-7 of some 100 N."""
        motion = {leg: stroke(int(leg[-1])) for leg in legs}
        if len(legs) < 6:
            motion["pose.z"] = lambda t: pose(t)[2]
        found = bc.inverse_motion(platform, motion, TIMES, actuated=LEGS)
        np.testing.assert_allclose(found.q, by_pose.q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.v, by_pose.v, rtol=0, atol=1e-7)
        np.testing.assert_allclose(found.effort.sel(dof=list(LEGS)), by_pose.effort.sel(dof=list(LEGS)), rtol=0, atol=1e-3)

    def test_a_row_for_each_of_the_times_is_a_spline_through_the_rows(self, platform):
        rows = np.array([pose(t) for t in TIMES])
        found, same = (bc.inverse_motion(platform, {"pose": given}, TIMES, actuated=LEGS) for given in (rows, (TIMES, rows)))
        np.testing.assert_array_equal(found.effort, same.effort)
        np.testing.assert_allclose(found.q.values[:, :7], rows, rtol=0, atol=1e-12)

    def test_a_pose_that_names_no_actuators_takes_a_wrench_on_the_plate(self, platform, by_pose):
        found = bc.inverse_motion(platform, {"pose": pose}, TIMES)
        assert found.attrs["actuation"] == "actuated: pose.vx, pose.vy, pose.vz, pose.wx, pose.wy, pose.wz"
        np.testing.assert_allclose(found.power.sum("dof"), by_pose.power.sum("dof"), rtol=0, atol=1e-9)


@pytest.fixture(scope="module")
def flap():
    """A bar of 2 kg and 1 m that a ram at 45 degrees holds level: the ram's length follows a law."""
    m = bc.Mechanism("flap", gravity=(0, 0, -G))
    m.body("bar", 2.0, (0.5, 0, 0), (0.0, 0.2, 0.2))
    m.joint("hinge", "revolute", "ground", "bar", (0, 0, 0), axis=(0, -1, 0))
    m.distance("ram", ("ground", (0, 0, -1)), ("bar", (1, 0, 0)), motion=sine(0.2, 0.5, offset=2**0.5))
    return m.build()


class TestDrivenClosures:
    def test_a_motion_has_the_efforts_of_driven_closures(self, flap):
        """By the power: F L' = (I a + m g x) w, with L^2 = 2 + 2 sin(angle)."""
        found = bc.inverse_motion(flap, {}, np.linspace(0.0, 1.0, 9))
        angle, a = found.q.values[:, 0], found.a.values[:, 0]
        lever = np.cos(angle) / np.sqrt(2 + 2 * np.sin(angle))  # dL/d(angle)
        expected = ((0.2 + 2.0 * 0.25) * a + 2.0 * G * 0.5 * np.cos(angle)) / lever
        np.testing.assert_allclose(found.drives.sel(drive="ram"), expected, rtol=1e-10)
        assert not found.effort.any()

    def test_they_are_those_of_the_run(self, flap):
        run = bc.simulate(flap, 0.5, step=0.1)
        np.testing.assert_allclose(bc.inverse_motion(flap, run).drives, run.drives, rtol=1e-9)

    def test_an_equilibrium_has_them_too(self, flap):
        """Moments about the hinge: F sin 45 = m g / 2; at t = 0 the ram moves, and does not accelerate."""
        rest = bc.equilibrium(flap)
        assert rest.efforts == pytest.approx({"ram": 2.0 * G * 0.5 * 2**0.5}, rel=1e-9)

    def test_driven_joints_are_named_beside_force_elements(self):
        m = bc.Mechanism("arm", gravity=(0, 0, -G))
        m.body("arm", 2.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
        m.body("bob", 1.0, (1.0, 0, -0.5), (0.1, 0.1, 0.1))
        m.joint("shoulder", "revolute", "ground", "arm", (0, 0, 0), axis=(0, -1, 0), motion=polynomial(0.0))
        m.joint("elbow", "revolute", "arm", "bob", (1, 0, 0), axis=(0, -1, 0))
        m.spring("coil", "elbow", 3.0)
        rest = bc.equilibrium(m.build())
        assert rest.efforts == pytest.approx({"coil": 0.0, "shoulder": G * (2.0 * 0.5 + 1.0)}, abs=1e-9)
