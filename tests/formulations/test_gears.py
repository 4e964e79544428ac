"""Gears, racks, belts, cams and driven couplers: closed forms, bearing loads, every formulation, both back ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.dynamics.node_ranks import plan_nodes
from bellcrank.formulations import CLOSED
from bellcrank.io import dumps
from bellcrank.machine.in_python import run_plain
from bellcrank.model import Mechanism
from bellcrank.model.builder import polynomial
from bellcrank.plan import make_plan

J_PINION, J_WHEEL, TORQUE = 1e-3, 0.03, 3.0
R, D = (0.02, 0.08), 0.05  # radii, and how far along the axis the teeth are from the bearings


def pair(*, internal=False, drive=None, apart=None, **gear):
    """A pinion and a wheel on ground; the wheel's joint is written the other way round, about -z."""
    m = Mechanism("pair", gravity=(0, 0, 0))
    d = apart or (R[1] - R[0] if internal else R[0] + R[1])
    m.body("pinion", 1.0, (0, 0, 0), (2e-3, 2e-3, J_PINION))
    m.body("wheel", 3.0, (d, 0, 0), (0.02, 0.02, J_WHEEL))
    m.joint("pinion_shaft", "revolute", "ground", "pinion", (0, 0, 0), axis="z", motion=drive)
    m.joint("wheel_shaft", "revolute", "wheel", "ground", (d, 0, 0), axis="z")
    if "crossed" in gear:
        m.belt("mesh", ["pinion", "wheel"], R, **gear)
    else:
        m.gear("mesh", ["pinion", "wheel"], internal=internal, point=(9, 9, D), **({"radii": R} | gear))
    m.motor("torque", "wheel_shaft" if drive else "pinion_shaft", TORQUE)
    return m.build()


def at_rest(model, t=0.0):
    """Accelerations, reactions of the joints and of the mesh."""
    dyn = bc.compile(model, optimisation=0)
    q, v = np.zeros(model.nq), model.initial_v
    a = dyn.acceleration(q, v, t=t)
    return a, dyn.reactions(q, v, a, t=t), dyn.closure_reactions(q, v, t=t)


@pytest.mark.parametrize("helix", [0.0, 0.3])
@pytest.mark.parametrize("internal", [False, True])
def test_the_bearings_carry_tangential_radial_and_axial_force_of_the_teeth(internal, helix):
    """alpha = T/(J1 + J2 (r1/r2)^2), F = J2 alpha2/r2; radial F tan(20 deg)/cos(helix), axial F tan(helix)."""
    a, joints, mesh = at_rest(pair(internal=internal, helix_angle=helix))
    alpha = TORQUE / (J_PINION + J_WHEEL * (R[0] / R[1]) ** 2)
    F = J_WHEEL * alpha * R[0] / R[1] ** 2
    side = -1.0 if internal else 1.0  # where the pitch point is, seen from the pinion
    radial, axial = F * np.tan(np.radians(20)) / np.cos(helix), F * np.tan(helix)
    force = np.array([side * radial, side * F, -axial])
    np.testing.assert_allclose(a, [alpha, side * alpha * R[0] / R[1]], rtol=1e-12)
    np.testing.assert_allclose(mesh[0], [*force, 0, 0, 0], rtol=1e-12, atol=1e-12)
    arm = np.array([side * R[0], 0, D])
    moment = np.cross(arm, force) * [1, 1, 0]  # about z the motor's torque and inertia hold the balance
    np.testing.assert_allclose(joints[0], [*force, *moment], rtol=1e-12, atol=1e-12)
    # the wheel's joint is written from its far side: the wrench of the wheel on ground, which is that of the teeth on the wheel
    arm = np.array([-R[1], 0, D])
    np.testing.assert_allclose(joints[1], [*force, *(np.cross(arm, force) * [1, 1, 0])], rtol=1e-12, atol=1e-12)


APEX = np.array([0.03, -0.02, 0.05])  # m: where the axes of the bevel gears meet


def bevel_pair(angle, z, *, sense=1.0, **gear):
    """A pinion along x and a wheel at an angle to it in the x-y plane, both 0.2 m from the apex; teeth 0.1 m from it."""
    m = Mechanism("bevel", gravity=(0, 0, 0))
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    touching = z[1] * np.array([1.0, 0, 0]) + z[0] * along
    ends = APEX + [0.2, 0, 0], APEX + 0.2 * along
    m.body("pinion", 1.0, tuple(ends[0]), (J_PINION, 2e-3, 2e-3))
    m.body("wheel", 3.0, tuple(ends[1]), (J_WHEEL,) * 3)
    m.joint("pinion_shaft", "revolute", "ground", "pinion", tuple(ends[0]), axis=(sense, 0, 0))
    m.joint("wheel_shaft", "revolute", "ground", "wheel", tuple(ends[1]), axis=tuple(along))
    point = tuple(APEX + 0.1 * touching / np.linalg.norm(touching))
    m.gear("mesh", ["pinion", "wheel"], **({"teeth": z, "point": point} | gear))
    m.motor("torque", "pinion_shaft", sense * TORQUE)
    return m.build()


@pytest.mark.parametrize(("angle", "sense"), [(90, 1.0), (90, -1.0), (60, 1.0), (105, 1.0)])
def test_bevel_gears_push_each_other_apart_and_along_their_axes(angle, sense):
    """tan(delta) = sin(shaft angle)/(z2/z1 + cos(shaft angle)); radial F tan(20 deg) cos(delta), axial F tan(20 deg) sin(delta)."""
    angle, alpha = np.radians(angle), np.radians(20)
    a, joints, mesh = at_rest(bevel_pair(angle, (20, 35), sense=sense))
    delta = np.arctan2(np.sin(angle), 35 / 20 + np.cos(angle))
    r = 0.1 * np.sin(delta), 0.1 * np.sin(angle - delta)
    assert r[1] / r[0] == pytest.approx(35 / 20, rel=1e-12)
    turns = TORQUE / (J_PINION + J_WHEEL * (r[0] / r[1]) ** 2)
    np.testing.assert_allclose(a, [sense * turns, -turns * r[0] / r[1]], rtol=1e-12)
    F = J_WHEEL * turns * r[0] / r[1] ** 2
    on_pinion = np.array([F * np.tan(alpha) * np.sin(delta), -F * np.tan(alpha) * np.cos(delta), -F])  # away from the apex
    np.testing.assert_allclose(mesh[0], [*-on_pinion, 0, 0, 0], rtol=1e-12, atol=1e-12)
    arm = np.array([0.1 * np.cos(delta) - 0.2, r[0], 0])  # from the bearing to the teeth
    np.testing.assert_allclose(joints[0], [*-on_pinion, *(-np.cross(arm, on_pinion) * [0, 1, 1])], rtol=1e-11, atol=1e-11)


def test_spiral_bevel_gears_have_the_axial_force_of_the_textbooks():
    """axial F/cos(psi) (tan(alpha) sin(delta) + sin(psi) cos(delta)), radial F/cos(psi) (tan(alpha) cos(delta) - sin(psi) sin(delta)).

    These are Shigley's signs of a driving pinion with a right-handed spiral that turns counterclockwise, seen from its large end.
    """
    psi, alpha = 0.5, np.radians(20)
    delta = np.arctan(20 / 35)
    for helix, hand in ((psi, 1.0), (-psi, -1.0)):
        _, _, mesh = at_rest(bevel_pair(np.pi / 2, (20, 35), helix_angle=helix))
        fx, fy, fz = -mesh[0, :3]
        F = abs(fz)
        axial = F / np.cos(psi) * (np.tan(alpha) * np.sin(delta) + hand * np.sin(psi) * np.cos(delta))
        radial = F / np.cos(psi) * (np.tan(alpha) * np.cos(delta) - hand * np.sin(psi) * np.sin(delta))
        np.testing.assert_allclose([fx, -fy], [axial, radial], rtol=1e-12)


def test_radii_or_a_module_of_bevel_gears_say_where_their_teeth_are():
    r = 0.1 * np.array([20, 35]) / np.hypot(20, 35)
    point = tuple(APEX + [0.0866, 0.0495, 0.0])  # rounded
    _, expected, _ = at_rest(bevel_pair(np.pi / 2, (20, 35)))
    for given in ({"radii": r, "teeth": None}, {"teeth": (20, 35), "module": 2 * r[0] / 20}):
        _, found, _ = at_rest(bevel_pair(np.pi / 2, (20, 35), point=point, **given))
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def differential():
    """Two side gears about x, and a pinion about y on a cage that turns about x too."""
    m = Mechanism("differential", gravity=(0, 0, -9.81))
    for name, x in (("left", -0.05), ("right", 0.05)):
        m.body(name, 1.0, (x, 0, 0), (0.01, 0.02, 0.02))
        m.joint(f"{name}_shaft", "revolute", "ground", name, (2 * x, 0, 0), axis="x")
    m.body("cage", 2.0, (0, 0, 0), (0.05, 0.04, 0.04))
    m.body("pinion", 0.3, (0, 0.05, 0), (1e-3, 2e-3, 1e-3))
    m.joint("cage_shaft", "revolute", "ground", "cage", (0, 0, 0), axis="x")
    m.joint("pinion_pin", "revolute", "cage", "pinion", (0, 0.05, 0), axis="y")
    for name, x in (("left", -0.04), ("right", 0.04)):
        bodies = ["pinion", name] if name == "left" else [name, "pinion"]
        m.gear(f"{name}_teeth", bodies, teeth=(12, 16) if name == "left" else (16, 12), point=(x, 0.053, 0))
    m.motor("torque", "cage_shaft", 5.0)
    m.damper("brake", "right_shaft", 0.2)
    m.start("cage_shaft", v=3.0)
    m.start("right_shaft", v=5.0)
    return m.build()


def test_a_differential_shares_the_torque_and_its_speeds_add_up():
    """w_left + w_right = 2 w_cage; the teeth differ by what turns the pinion."""
    model = differential()
    run = bc.simulate(model, 0.5, step=0.1)
    left, right, cage = (run.v.sel(dof=f"{name}_shaft").values for name in ("left", "right", "cage"))
    np.testing.assert_allclose(left + right, 2 * cage, rtol=1e-9)
    dyn = bc.compile(model, optimisation=0)
    at = run.q.values[-1], run.v.values[-1]
    forces = dyn.measures(*at, names=["left_teeth.force", "right_teeth.force"])
    spun = 2e-3 * dyn.acceleration(*at)[model.v_names.index("pinion_pin")]  # N m: what turns the pinion on its pin
    r = 0.6 * (0.6 * 0.04 + 0.8 * 0.053)  # m: of the pinion, whose cones touch along (0.6, 0.8, 0) as far out as the point
    assert abs(abs(forces[0]) - abs(forces[1])) * r == pytest.approx(abs(spun), rel=1e-9) and abs(forces[0]) > 10
    assert run.energy_error < 1e-7


def test_teeth_give_the_radii_by_the_distance_of_the_axes():
    by_radii, by_teeth = pair(), pair(radii=None, teeth=(20, 80))
    np.testing.assert_allclose(
        [t[2] for t in by_teeth.closures[0].terms], [t[2] for t in by_radii.closures[0].terms], rtol=1e-14
    )
    helical = pair(radii=None, teeth=(20, 80), module="=2 * cos(0.2) * 0.001", helix_angle=0.2)
    np.testing.assert_allclose(helical.closures[0].terms, by_radii.closures[0].terms, rtol=1e-12)


@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt_pulls_the_pulleys_together_along_its_two_sides(crossed):
    """2 T cos(phi) along the line of centres, whatever the torque, and F sin(phi) across; sin(phi) = (r2 -+ r1)/d."""
    a, joints, mesh = at_rest(pair(apart=0.2, crossed=crossed, tension=100.0))
    alpha = TORQUE / (J_PINION + J_WHEEL * (R[0] / R[1]) ** 2)
    F = J_WHEEL * alpha * R[0] / R[1] ** 2
    sine = (R[0] + R[1] if crossed else R[1] - R[0]) / 0.2
    np.testing.assert_allclose(a, [alpha, (1 if crossed else -1) * alpha * R[0] / R[1]], rtol=1e-12)
    force = np.array([-200 * np.sqrt(1 - sine**2), F * sine * (1 if crossed else -1)])
    np.testing.assert_allclose(joints[0], [*force, 0, 0, 0, 0], rtol=1e-9, atol=1e-9)
    # at the centre of the wheel, whose joint's angle is that of ground against it
    np.testing.assert_allclose(mesh[0], [*force, 0, 0, 0, -J_WHEEL * a[1]], rtol=1e-9, atol=1e-9)


def test_a_driven_pinion_turns_the_wheel_and_its_drive_feels_it():
    """The drive gives J1 alpha + r1 F, F = (J2 alpha2 + T)/r2."""
    model = pair(drive=polynomial(0.0, 2.0, 1.5))  # the torque drives the wheel's joint, ground against wheel
    dyn = bc.compile(model, optimisation=0)
    q, v, t = model.initial_q, model.initial_v, 0.0
    a = dyn.acceleration(q, v, t=t)
    ratio = R[0] / R[1]
    np.testing.assert_allclose([v[0], a[0]], [2.0 * ratio, 3.0 * ratio], rtol=1e-12)
    F = (J_WHEEL * a[0] - TORQUE) / R[1]
    np.testing.assert_allclose(dyn.drive_efforts(q, v, a, t=t), [J_PINION * 3.0 + R[0] * F], rtol=1e-12)


def test_a_planetary_set_obeys_willis_and_its_planets_share_the_load():
    model = bc.load("planetary")
    assert bc.load(dumps(model)).spec == model.spec
    run = bc.simulate(model, duration=0.1)
    last = run.v.isel(time=-1)
    sun, carrier = float(last.sel(dof="sun_shaft")), float(last.sel(dof="carrier_shaft"))
    assert carrier == pytest.approx(sun * 24 / (24 + 60), rel=1e-12)
    assert float(last.sel(dof="second.bearing")) == pytest.approx(-carrier * 60 / 18, rel=1e-12)
    assert run.energy_error < 1e-7 and run.closure_error.position < 1e-12
    forces = run.reactions.isel(time=-1).sel(joint=[f"{k}.to_sun" for k in ("first", "second", "third")])[:, :3]
    np.testing.assert_allclose(np.linalg.norm(forces, axis=1), np.linalg.norm(forces[0]), rtol=1e-9)
    assert "first.to_ring" in run.reactions.attrs["not_unique"] and "carrier_shaft" in run.reactions.attrs["not_unique"]
    report = str(model.check())
    assert "2 equations are redundant" in report and "gear" in report


def machine(drive=None):
    """Two planets between a sun and a ring, a rack and a crossed belt on the carrier, and a cam on the pulley."""
    m = Mechanism("machine", gravity=(0.3, -9.81, 1.0))
    m.body("sun", 0.5, (0, 0, 0.01), (1e-4, 1e-4, 2e-4))
    m.body("carrier", 0.8, (0.02, 0.01, 0), (1e-3, 2e-3, 2e-3))
    m.joint("sun_shaft", "revolute", "ground", "sun", (0, 0, 0), axis="z", motion=drive)
    m.joint("arm", "revolute", "ground", "carrier", (0, 0, 0.02), axis="-z")
    for k, angle in enumerate((0.0, 2.1)):
        p = (0.05 * np.cos(angle), 0.05 * np.sin(angle), 0.0)
        ends = ("carrier", f"planet{k}") if k == 0 else (f"planet{k}", "carrier")
        m.body(f"planet{k}", 0.2, (p[0] + 0.002, p[1], 0.003), (2e-4, 2e-4, 3e-4))
        m.joint(f"pin{k}", "revolute", *ends, p, axis="z")
        m.gear(f"sun_planet{k}", ["sun", f"planet{k}"], teeth=(20, 30), helix_angle=0.2)
        m.gear(f"planet_ring{k}", [f"planet{k}", "ground"], radii=(0.03, 0.08), internal=True, helix_angle=-0.2)
    m.body("slide", 1.0, (0, -0.06, 0), (1e-3, 1e-3, 1e-3))
    m.joint("guide", "prismatic", "ground", "slide", (0, -0.07, 0), axis="x")
    m.rack("rack", "carrier", "slide", (0.5, -0.06, 0.04))
    m.body("pulley", 0.4, (0.3, 0.1, 0.01), (1e-3, 1e-3, 5e-4))
    m.joint("pulley_shaft", "revolute", "ground", "pulley", (0.3, 0.1, 0), axis="z")
    m.belt("belt", ["carrier", "pulley"], (0.05, 0.08), crossed=True, tension=50)
    m.body("follower", 0.3, (0.3, 0.3, 0), (1e-4, 1e-4, 1e-4))
    m.joint("stem", "prismatic", "ground", "follower", (0.3, 0.3, 0), axis="y")
    rows = [(x, 0.02 * np.sin(x) + 0.003 * x) for x in np.linspace(-4, 4, 17).tolist()]
    m.coupler("cam", ["stem", "pulley_shaft"], table=rows, outside="extrapolate")
    if drive is None:
        m.start("pulley_shaft", v=3.0)
    return m.build()


@pytest.mark.parametrize(
    "make", [machine, lambda: machine(polynomial(0.1, 2.0, 1.5)), differential], ids=["free", "driven", "bevel"]
)
def test_every_formulation_and_both_back_ends_agree_on_gears(make):
    model = make()
    t, q, v = 0.0, model.initial_q, model.initial_v
    tau = 0.1 * np.arange(model.nv)
    expected = None
    for name in CLOSED:
        plan = make_plan(model)
        if name == "coordinate_reduction":
            plan = replace(plan, nodes=plan_nodes(plan, q, t))
        a = np.array(run_plain(CLOSED[name], plan, float, q=q, v=v, tau=tau, t=[t], u=[])["a"], dtype=float)
        expected = a if expected is None else expected
        np.testing.assert_allclose(a, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    found = []
    for name in ("coordinate_reduction", "multipliers"):
        dyn = bc.compile(model, name, optimisation=0)
        a = dyn.acceleration(q, v, tau, t=t)
        np.testing.assert_allclose(a, expected, atol=1e-10 * np.abs(expected).max())
        found.append(np.vstack([dyn.reactions(q, v, a, t=t, tau=tau), dyn.closure_reactions(q, v, tau, t=t)]))
    np.testing.assert_allclose(found[1], found[0], atol=1e-9 * np.abs(found[0]).max())


def test_measures_by_path_are_the_reactions_of_gears_and_bearings():
    model = machine(polynomial(0.1, 2.0, 1.5))
    dyn = bc.compile(model, optimisation=0)
    q, v = model.initial_q, model.initial_v
    a = dyn.acceleration(q, v)
    found = dyn.measures(
        q, v, names=["belt.fx", "belt.fy", "arm.fx", "arm.mx", "pin0.force", "sun_planet0.force", "sun_shaft.effort"]
    )
    joints, closures = dyn.reactions(q, v, a), dyn.closure_reactions(q, v)
    at = {name: k for k, name in enumerate(closure.name for closure in model.closures)}
    arm, pin = (joints[model.joint_names.index(name)] for name in ("arm", "pin0"))
    teeth = closures[at["sun_planet0"], :3]
    expected = [*closures[at["belt"], :2], arm[0], arm[3], np.linalg.norm(pin[:3])]
    np.testing.assert_allclose(found[:5], expected, rtol=1e-9)
    tangential = abs(found[5]) * np.sqrt(1 + np.tan(0.2) ** 2 + (np.tan(np.radians(20)) / np.cos(0.2)) ** 2)
    np.testing.assert_allclose(tangential, np.linalg.norm(teeth), rtol=1e-9)
    np.testing.assert_allclose(found[6], dyn.drive_efforts(q, v, a)[0], rtol=1e-9)


@pytest.mark.parametrize("make", [machine, differential])
def test_forces_and_moments_on_every_body_balance_its_motion(make):
    """Newton and Euler of each body by hand, from reactions, tooth and belt forces at their points: no term is missing."""
    model = make()
    dyn = bc.compile(model, optimisation=0)
    q, v = model.initial_q, model.initial_v
    a = dyn.acceleration(q, v)
    joints, closures = dyn.reactions(q, v, a, effort=True), dyn.closure_reactions(q, v)
    positions, _ = dyn.poses(q)
    total = np.zeros((model.n + 1, 6))  # force, and moment about the world's origin
    turned = model.turned or (False,) * model.n

    def add(body, point, force, moment):
        total[body] += np.concatenate([force, moment + np.cross(point, force)])

    for i in range(model.n):
        sign = -1.0 if turned[i] else 1.0
        add(i, positions[i], sign * joints[i, :3], sign * joints[i, 3:])
        add(model.parents[i], positions[i], -sign * joints[i, :3], -sign * joints[i, 3:])
    for closure, wrench in zip(model.closures, closures, strict=True):
        for action in closure.actions:
            origin = positions[action.carrier] if action.carrier >= 0 else np.zeros(3)
            add(action.body_b, origin + action.point, wrench[:3], wrench[3:])
            add(action.body_a, origin + action.point, -wrench[:3], -wrench[3:])
    eps = 1e-6  # accelerations of the centres and spins by differences along the motion: about 1e-9 of them
    for i in range(model.n):
        step = [dyn.poses(q + s * eps * v + 0.5 * (s * eps) ** 2 * a) for s in (-1, 0, 1)]
        centers = [p[i] + Rot[i] @ model.center[i] for p, Rot in step]
        acceleration = (centers[0] - 2 * centers[1] + centers[2]) / eps**2
        force = total[i, :3] + model.mass[i] * model.gravity
        np.testing.assert_allclose(force, model.mass[i] * acceleration, atol=5e-3 * max(1.0, np.abs(acceleration).max()))


def test_a_cam_lifts_its_follower_by_its_table_and_all_formulations_run_alike():
    m = Mechanism("cam", gravity=(0, 0, 0))
    m.body("disc", 1.0, (0, 0, 0), (1e-3, 1e-3, 2e-3))
    m.body("follower", 0.5, (0, 1, 0), (1e-3, 1e-3, 1e-3))
    m.joint("shaft", "revolute", "ground", "disc", (0, 0, 0), axis="z")
    m.joint("stem", "prismatic", "ground", "follower", (0, 1, 0), axis="y")
    rows = [(x, 0.03 * (1 - np.cos(x))) for x in np.linspace(0, 2 * np.pi, 25).tolist()]
    m.coupler("cam", ["stem", "shaft"], table=rows, outside="periodic")
    m.start("shaft", v=20.0)
    model = m.build()
    assert bc.load(dumps(model)).spec == model.spec
    tight = {"rtol": 1e-10, "atol": 1e-10}  # kinks of the table: with 1e-9 errors reach 3e-6, on some processors
    runs = [bc.simulate(model, 0.5, formulation=f, **tight) for f in ("coordinate_reduction", "canonical_momenta")]
    q = runs[0].q
    lift = 0.03 * (1 - np.cos(q.sel(coordinate="shaft")))  # the spline through 25 points is within 1e-5 m of the cosine
    np.testing.assert_allclose(q.sel(coordinate="stem"), lift, atol=2e-5)
    np.testing.assert_allclose(runs[1].q, q, atol=1e-6)
    assert runs[0].energy_error < 1e-6 and runs[0].reactions.attrs["load_no_bearings"] == "cam"


def test_a_driven_cam_takes_the_effort_of_its_follower():
    """Power of the drive = d/dt of the follower's kinetic energy."""
    m = Mechanism("cam", gravity=(0, 0, 0))
    m.body("disc", 0, None)
    m.body("follower", 0.5, (0, 1, 0), (1e-3, 1e-3, 1e-3))
    m.joint("shaft", "revolute", "ground", "disc", (0, 0, 0), axis="z", motion=polynomial(0.5, 4.0))
    m.joint("stem", "prismatic", "ground", "follower", (0, 1, 0), axis="y")
    m.coupler("cam", ["stem", "shaft"], table=[(x, 0.1 * x**3) for x in np.linspace(-2, 2, 41).tolist()])
    model = m.build()
    dyn = bc.compile(model, optimisation=0)
    q, v = model.initial_q, model.initial_v
    a = dyn.acceleration(q, v)
    np.testing.assert_allclose([q[0], v[0], a[0]], [0.1 * 0.5**3, 0.3 * 0.5**2 * 4, 0.6 * 0.5 * 16], rtol=1e-3)
    np.testing.assert_allclose(dyn.drive_efforts(q, v, a) * 4.0, 0.5 * a * v, rtol=1e-12)


def wrong(change):
    m = Mechanism("wrong")
    m.body("a", 1.0, (0, 0, 0), (1, 1, 1))
    m.body("b", 1.0, (1, 0, 0), (1, 1, 1))
    m.joint("first", "revolute", "ground", "a", (0, 0, 0), axis="z")
    m.joint("second", change.pop("kind", "revolute"), "ground", "b", change.pop("at", (1, 0, 0)), axis=change.pop("axis", "z"))
    section, given = change.pop("what", "gear"), {"bodies": ["a", "b"], "radii": (0.4, 0.6)} | change
    if section == "rack":
        given = {"pinion": "a", "rack": "b"} | change
    if section == "coupler":
        given = change
    getattr(m, section)("mesh", **{key: value for key, value in given.items() if value is not None})
    return m


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"radii": (0.4, 0.7)}, "add up to 1.1 m, and its axes are 1 m apart. Move an axis"),
        ({"radii": (0.4, 0.6), "internal": True}, "differ by 0.2 m"),
        ({"radii": (0.4, -0.6)}, "Give more than zero"),
        ({"radii": (0.4,)}, "it has 1 radii. Give two"),
        ({"radii": None}, "neither radii nor teeth"),
        ({"teeth": (20, 30)}, "both radii and teeth"),
        ({"radii": None, "teeth": (20, 30), "module": 0.1}, "Move an axis, or give teeth without a module"),
        ({"radii": None, "teeth": (20, 20), "internal": True}, "the ring is larger"),
        ({"bodies": ["a", "a"]}, 'couples "a" with itself'),
        ({"bodies": ["a", "c"]}, 'it names "c", which is not a body'),
        ({"bodies": ["a", "b", "a"]}, "it has 3 bodies"),
        ({"axis": "x"}, "meet in [0, 0, 0] m: bevel gears. Say where their teeth are"),
        ({"axis": "x", "point": (0.4, 0, 0.4), "internal": True}, "internal bevel gears are not supported"),
        ({"axis": "x", "point": (0.4, 0, 0)}, "on which sides of the apex"),
        ({"axis": "x", "point": (0.4, 0, 0.8)}, "its radii put the teeth 0.7211 m from where the axes meet"),
        ({"axis": "y", "point": (0.4, 0, 0.8)}, "neither parallel nor do they meet: they pass each other at 1 m"),
        ({"axis": "x", "kind": "cylindrical"}, "must be revolute"),
        ({"what": "belt", "axis": "x"}, "are not parallel"),
        ({"kind": "prismatic"}, "which is prismatic"),
        ({"at": (0, 0, 1)}, "turn"),
        ({"pressure_angle": 1.2}, "less than 60 degrees"),
        ({"what": "rack", "point": (0, -1, 0)}, "use a prismatic joint"),
        ({"what": "rack", "point": (0, -1, 0), "kind": "prismatic"}, "across the axis"),
        ({"what": "rack", "point": (0, 0, 0), "kind": "prismatic", "axis": "x"}, "leaves no radius"),
        ({"what": "belt", "radii": (0.4, 0.6), "crossed": True}, "not more than the sum"),
        ({"what": "belt", "radii": (2, 0.6)}, "not more than the difference"),
        ({"what": "coupler", "joints": ["first", "second"], "table": [(0, 0), (1, 1)], "ratio": 2}, "Give one of the three"),
        ({"what": "coupler", "joints": ["first"], "table": [(0, 0), (1, 1)]}, "Name the follower, then the cam"),
        ({"what": "coupler", "joints": ["first", "second"], "table": [(0, 0), (0, 1)]}, "Let the first column increase"),
        (
            {"what": "coupler", "joints": ["first", "second"], "table": [(0, 0), (1, 1)], "interpolation": "linear"},
            "a cam with corners",
        ),
    ],
)
def test_gears_that_cannot_be_are_refused_with_values_and_a_remedy(change, said):
    with pytest.raises(bc.ModelError) as caught:
        wrong(change).build()
    assert said in str(caught.value), str(caught.value)


def test_a_coupler_of_driven_joints_alone_is_refused():
    m = Mechanism("driven")
    for k, name in enumerate("ab"):
        m.body(name, 1.0, (k, 0, 0), (1, 1, 1))
        m.joint(f"shaft_{name}", "revolute", "ground", name, (k, 0, 0), axis="z", motion=polynomial(0.0, 1.0))
    m.coupler("both", ["shaft_a", "shaft_b"], ratio=2)
    with pytest.raises(bc.ModelError, match="all of its joints are driven"):
        m.build()
