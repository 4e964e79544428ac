"""Force elements between bodies: closed forms, gradients of what they store, Newton's third law, and large turns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.formulations import QUANTITIES
from bellcrank.machine.in_python import run_plain
from bellcrank.model import Element, Table
from bellcrank.plan import make_plan
from tests import mechanisms
from tests.results.mechanisms import SLIDE_X, force, make, spring

STEP = 1e-30  # of complex steps
TABLE = Table((-1.0, -0.2, 0.1, 0.8, 2.0), (-3.0, 0.0, 0.2, 1.5, 6.0))
HELD = Table(TABLE.x, TABLE.y, "clamp")
RNG = np.random.default_rng(5)
AXES = mechanisms.rotation(RNG)


def bushing(**changes):
    values = {"kx": 5.0, "ky": 7.0, "kz": 11.0, "krx": 0.5, "kry": 0.9, "krz": 1.4, "cx": 0.3, "cy": 0.4, "cz": 0.2}
    values |= {"crx": 0.05, "cry": 0.02, "crz": 0.08}
    return Element(
        "e", "bushing", values | changes, body_a=0, body_b=1, point_a=(0.1, 0.2, 0.3), point_b=(0.1, 0.2, 0.3), axes=AXES
    )


def strut(table=None):
    values = {"stiffness": 30.0, "damping": 0.7, "length": 0.6, "preload": 1.1}
    return Element(
        "e", "spring_damper", values, body_a=0, body_b=1, point_a=(0.3, 0.0, 0.1), point_b=(-0.2, 0.4, 0.0), table=table
    )


def two_bodies(*elements):
    """Two free bodies of unit mass and inertia, without weight: a = (force, moment) in their own axes."""
    return make("free", "free", parents=(-1, -1), elements=elements)


def state(angle=0.8, seed=1):
    """Any places, b turned by an angle relative to a about any axis, any velocities."""
    rng = np.random.default_rng(seed)
    turn_a = Rotation.from_rotvec(rng.normal(size=3))
    turn_b = turn_a * Rotation.from_rotvec(angle * mechanisms.unit(rng))
    q = [0.1, 0.2, -0.1, *np.roll(turn_a.as_quat(), 1), 0.5, 0.0, 0.4, *np.roll(turn_b.as_quat(), 1)]
    return np.array(q), rng.uniform(-1, 1, 12)


ELEMENTS = {"bushing": bushing(), "strut": strut(), "strut by table": strut(HELD)}
TURNING = Element("e", "turning_spring", {"stiffness": 3.0}, body_a=0, body_b=1)
ELASTIC = ELEMENTS | {"turning spring": TURNING}


ANGLES = (0.0, 0.8, 2.5, 3.1, np.pi)


@pytest.mark.parametrize(
    ("name", "angle"), [(n, x) for n in ELASTIC for x in (ANGLES[:-1] if ELASTIC[n] is TURNING else ANGLES)]
)
def test_forces_at_rest_are_minus_the_gradient_of_what_is_stored(name, angle):
    """In all twelve directions, by complex steps of the stored energy; half a turn is nothing special but for one."""
    element = ELASTIC[name]
    model = two_bodies(element)
    dynamics, plan = bc.compile(model), make_plan(model)
    q, _ = state(angle)
    found = dynamics.acceleration(q, np.zeros(12))
    slopes = []
    for e in np.eye(12):
        moved = q + 1j * STEP * dynamics.rates(q, e)
        slopes.append(
            np.imag(complex(run_plain(QUANTITIES["elements"], plan, complex, q=moved, v=np.zeros(12))["element"][0])) / STEP
        )
    np.testing.assert_allclose(found, -np.array(slopes), rtol=0, atol=1e-14 * np.abs(slopes).max(initial=1.0))


@pytest.mark.parametrize("name", ELEMENTS)
def test_dampers_take_what_they_say(name):
    """The force beyond the one at rest does the work of the power, which is never positive."""
    dynamics = bc.compile(two_bodies(ELEMENTS[name]))
    for seed in range(5):
        q, v = state(1.3, seed)
        damping = dynamics.acceleration(q, v) - dynamics.acceleration(q, np.zeros(12)) - gyroscopic(v)
        power = float(dynamics.elements(q, v)[1][0])
        assert damping @ v == pytest.approx(power, rel=1e-11) and power < 0


def gyroscopic(v):
    """dv/dt of a free unit ball in its own axes: -w x v."""
    return np.concatenate([-np.cross(v[3:6], v[:3]), np.zeros(3), -np.cross(v[9:], v[6:9]), np.zeros(3)])


@pytest.mark.parametrize("name", ELASTIC)
def test_what_acts_between_two_bodies_keeps_their_momentum(name):
    """Newton's third law with its moments: the sum of forces, and of moments about the origin, vanish."""
    q, v = state(1.3)
    model = two_bodies(ELASTIC[name])
    dynamics = bc.compile(model)
    a = dynamics.acceleration(q, v)
    rate = {"q": q + 1j * STEP * dynamics.rates(q, v), "v": v + 1j * STEP * a}
    rows = np.array(run_plain(QUANTITIES["energy"], make_plan(model), complex, **rate)["energy"]).reshape(-1, 8)[:, 2:]
    rates = rows.imag / STEP
    assert np.abs(rates.sum(axis=0)).max() < 1e-13 * np.abs(rates).sum()
    assert np.abs(rates).max() > 0.1


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.00999, 0.01001, 1.0, 2.0, 3.1])
def test_a_turning_spring_resists_by_the_angle(angle):
    """-k theta about the axis of the turn, whichever it is, and k theta^2 / 2 are stored; also where the series takes over."""
    dynamics = bc.compile(make("free", elements=(Element("e", "turning_spring", {"stiffness": 3.0}, body_b=0),)))
    axis = mechanisms.unit(np.random.default_rng(2))
    q = np.array([0.0, 0, 0, np.cos(angle / 2), *np.sin(angle / 2) * axis])
    a, (energy, power, moment) = dynamics.acceleration(q, np.zeros(6)), (float(x[0]) for x in dynamics.elements(q, np.zeros(6)))
    slack = 1e-15 / max(np.sin(angle), 0.03)  # of the axis, which the rotation has as sin(theta) times it
    np.testing.assert_allclose(a, [0, 0, 0, *(-3.0 * angle * axis)], rtol=0, atol=10 * slack)
    assert energy == pytest.approx(1.5 * angle**2, rel=1e-13) and power == 0 and moment == pytest.approx(3 * angle, rel=1e-13)


def test_a_turning_spring_after_half_a_turn_has_no_direction():
    """It could turn back either way: refused, not guessed."""
    dynamics = bc.compile(make("free", elements=(Element("e", "turning_spring", {"stiffness": 3.0}, body_b=0),)))
    with pytest.raises(bc.DynamicsError, match="force element 'e' has no force here: its bodies are half a turn apart"):
        dynamics.acceleration([0, 0, 0, 0, 1, 0, 0], np.zeros(6))


def test_derivatives_of_a_turning_spring_exist_at_rest():
    """d(moment)/d(turn) = -k: the series has no square root."""
    dynamics = bc.compile(make("free", elements=(Element("e", "turning_spring", {"stiffness": 3.0}, body_b=0),)))
    found = dynamics.jacobians([0, 0, 0, 1, 0, 0, 0], np.zeros(6))
    np.testing.assert_allclose(found.dq[3:, 3:], -3.0 * np.eye(3), rtol=0, atol=1e-14)


def test_a_spring_damper_pulls_along_its_line():
    """Tension = preload + k (l - l0) + c l', on a slider away from the line: a = -T cos."""
    values = {"stiffness": 30.0, "damping": 0.7, "length": 0.6, "preload": 1.1}
    element = Element("e", "spring_damper", values, body_a=-1, point_a=(0.0, 0.3, 0.0), body_b=0)
    dynamics = bc.compile(make(SLIDE_X, elements=(element,)))
    for x, v in ((0.4, 0.0), (0.4, 2.0), (-1.0, -2.0), (0.0, 3.0)):
        length = np.hypot(x, 0.3)
        tension = 1.1 + 30.0 * (length - 0.6) + 0.7 * v * x / length
        energy, power, told = (float(y[0]) for y in dynamics.elements([x], [v]))
        assert told == pytest.approx(tension, rel=1e-14)
        assert energy == pytest.approx(1.1 * (length - 0.6) + 15.0 * (length - 0.6) ** 2, rel=1e-13)
        assert power == pytest.approx(-0.7 * (v * x / length) ** 2, rel=1e-13)
        assert dynamics.acceleration([x], [v])[0] == pytest.approx(-tension * x / length, rel=1e-13, abs=1e-14)


def test_a_spring_damper_at_its_free_length_has_its_preload():
    values = {"stiffness": 30.0, "damping": 0.7, "length": 0.5, "preload": 1.1}
    element = Element("e", "spring_damper", values, body_a=-1, point_a=(0.0, 0.0, 0.0), body_b=0)
    energy, power, tension = (float(x[0]) for x in bc.compile(make(SLIDE_X, elements=(element,))).elements([0.5], [0.0]))
    assert (energy, power, tension) == (0.0, 0.0, 1.1)


def test_a_spring_damper_whose_points_meet_has_no_direction():
    """Which way it pulls is not known there: refused, not guessed."""
    model = make(SLIDE_X, elements=(spring("e", 1.0, length=0.5, body_a=-1, body_b=0),))
    with pytest.raises(bc.DynamicsError, match="force element 'e' has no force here: its two points meet"):
        bc.compile(model).acceleration([0.0], [0.0])
    assert bc.compile(model).acceleration([1e-100], [0.0])[0] == pytest.approx(0.5)  # pushes, however near


@pytest.mark.parametrize("elongation", [-0.9, -0.2, 0.0, 0.45, 1.99])
def test_a_table_of_tension_is_a_natural_spline_and_stores_its_area(elongation):
    values = {"stiffness": 99.0, "damping": 0.0, "length": 1.5, "preload": 0.25}
    element = Element("e", "spring_damper", values, body_a=-1, body_b=0, table=TABLE)
    energy, _, tension = (
        float(x[0]) for x in bc.compile(make(SLIDE_X, elements=(element,))).elements([1.5 + elongation], [0.0])
    )
    curve = CubicSpline(TABLE.x, TABLE.y, bc_type="natural")
    assert tension == pytest.approx(0.25 + float(curve(elongation)), rel=1e-13)
    assert energy == pytest.approx(0.25 * elongation + float(curve.integrate(TABLE.x[0], elongation)), rel=1e-12)


def test_beyond_its_table_a_tension_is_held_or_refused():
    values = {"stiffness": 99.0, "damping": 0.0, "length": 1.5, "preload": 0.0}
    at = {"body_a": -1, "body_b": 0}
    held = bc.compile(make(SLIDE_X, elements=(Element("e", "spring_damper", values, table=HELD, **at),)))
    energies, _, tensions = (x[:, 0] for x in held.elements([[3.5], [5.5]], np.zeros((2, 1))))
    np.testing.assert_allclose(tensions, [6.0, 6.0], rtol=1e-15)
    assert energies[1] - energies[0] == pytest.approx(12.0)
    strict = bc.compile(make(SLIDE_X, elements=(Element("e", "spring_damper", values, table=TABLE, **at),)))
    with pytest.raises(
        bc.DynamicsError, match="element 'e' has no force here: its table covers elongations from -1 to 2 m only"
    ):
        strict.acceleration([5.5], [0.0])


def test_a_bushing_in_its_design_position_does_nothing():
    dynamics = bc.compile(two_bodies(bushing()))
    q = np.array([0, 0, 0, 1, 0, 0, 0] * 2, dtype=float)
    np.testing.assert_allclose(dynamics.acceleration(q, np.zeros(12)), 0.0, atol=1e-15)


def test_a_bushing_is_linear_for_small_displacements():
    """In its own axes: forces k x, moments k_r phi, to second order of 1e-6."""
    dynamics = bc.compile(make("free", elements=(Element("e", "bushing", bushing().values, body_a=-1, body_b=0, axes=AXES),)))
    A, small = np.array(AXES), 1e-6
    x, phi = small * np.array([1.0, -2.0, 0.5]), small * np.array([0.3, 1.0, -0.7])
    q = np.concatenate([x, [1.0], phi / 2])
    q[3:] /= np.linalg.norm(q[3:])
    a = dynamics.acceleration(q, np.zeros(6))
    np.testing.assert_allclose(a[:3], -A @ (np.array([5.0, 7.0, 11.0]) * (A.T @ x)), rtol=0, atol=1e-10)
    np.testing.assert_allclose(a[3:], -A @ (np.array([0.5, 0.9, 1.4]) * (A.T @ phi)), rtol=0, atol=1e-10)


@pytest.mark.parametrize("angle", [0.0, 0.5, 1.5, 3.0, 3.14, np.pi, 3.3, 5.0])
def test_a_bushing_turned_about_its_own_axis_resists_by_the_sine(angle):
    """phi = 2 sin(angle/2) stores 2 k sin^2(angle/2): the moment is k sin(angle), smooth through half a turn."""
    element = Element("e", "bushing", bushing().values, body_a=-1, body_b=0)
    hinge = make(("revolute", (0, 0, 1)), elements=(element,))
    energy, _, _ = (float(x[0]) for x in bc.compile(hinge).elements([angle], [0.0]))
    assert energy == pytest.approx(2 * 1.4 * np.sin(angle / 2) ** 2, rel=1e-14)
    assert bc.compile(hinge).acceleration([angle], [0.0])[0] == pytest.approx(-1.4 * np.sin(angle), abs=1e-14)


@pytest.mark.parametrize("world", [0.0, 1.0])
def test_a_constant_force_stays_in_its_axes(world):
    """At a point off the centre: force and moment p x f + m, in world or in body axes; and its power is f.v + m.w."""
    values = {"fx": 1.0, "fy": -2.0, "fz": 0.5, "mx": 0.3, "my": 0.1, "mz": -0.4, "world": world}
    element = Element("e", "force", values, body_a=0, point_a=(0.2, -0.1, 0.4))
    dynamics = bc.compile(make("free", elements=(element,)))
    turn = Rotation.from_rotvec([0.4, -1.0, 0.3])
    q = np.concatenate([[1.0, 2.0, 3.0], np.roll(turn.as_quat(), 1)])
    f, m = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.4])
    if world:
        f, m = turn.inv().apply(f), turn.inv().apply(m)
    expected = np.concatenate([f, np.cross([0.2, -0.1, 0.4], f) + m])
    np.testing.assert_allclose(dynamics.acceleration(q, np.zeros(6)), expected, rtol=0, atol=1e-14)
    v = np.array([0.3, 0.2, -0.5, 1.0, -0.7, 0.2])
    energy, power, told = (float(x[0]) for x in dynamics.elements(q, v))
    assert energy == 0.0 and power == pytest.approx(expected @ v, rel=1e-13) and told == pytest.approx(np.linalg.norm(f))


def test_the_order_in_which_values_are_written_does_not_matter():
    turned = Element("e", "force", {"world": 1.0, "mz": 0.0, "my": 0.0, "mx": 0.0, "fz": 0.0, "fy": 0.0, "fx": 3.0}, body_a=0)
    model, other = make(SLIDE_X, elements=(turned,)), make(SLIDE_X, elements=(force("e", fx=3.0, body_a=0),))
    assert bc.compile(model).acceleration([0.0], [0.0]) == bc.compile(other).acceleration([0.0], [0.0]) == 3.0
