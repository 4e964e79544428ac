"""Forces of rods, planes, lines, couplers and drives as measures, by closed forms."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Mechanism
from bellcrank.model.builder import polynomial, rate, sine
from bellcrank.results.labels import Labels

G = 9.81


def hung(law=None):
    """A bar of 2 kg and 1 m, hinged at its left end, its right end on a vertical rod of 0.5 m above it."""
    m = Mechanism("hung")
    m.rod("bar", (0, 0, 0), (1, 0, 0), mass=2.0, radius=0.01)
    m.joint("hinge", "revolute", "ground", "bar", (0, 0, 0), axis="y")
    m.distance("rod", ("ground", (1, 0, 0.5)), ("bar", (1, 0, 0)), motion=law)
    m.measure_force("tension", "rod")
    return m.build()


def test_a_rod_that_carries_half_the_weight_of_a_bar_is_in_tension():
    run = bc.simulate(hung(polynomial(0.5)), duration=0.1, step=0.05)
    assert run.measures.sel(measure="tension").values == pytest.approx(np.full(3, G), rel=1e-10)
    assert list(run.measures.measures_unit.values) == ["N"]


def test_a_mass_that_swings_on_a_rod_pulls_by_its_weight_and_by_its_speed():
    """m (g + v^2/L) at the lowest point."""
    m = Mechanism("swing")
    m.body("bob", 2.0, (0, 0, -1.5), (0.1, 0.1, 0.1))
    m.joint("plane", "planar", "ground", "bob", (0, 0, -1.5), axis="y", axis2="x")
    m.distance("rod", ("ground", (0, 0, 0)), ("bob", (0, 0, -1.5)))
    m.measure_force("tension", "rod")
    m.start("plane", v=(3.0, 0.0, 0.0))
    run = bc.simulate(m.build(), duration=0.01, step=0.01)
    assert run.measures.values[0, 0] == pytest.approx(2.0 * (G + 9.0 / 1.5), rel=1e-9)


def test_a_driven_rod_has_the_tension_against_which_its_drive_works():
    run = bc.simulate(hung(sine(0.05, 1.0, offset=0.5)), duration=0.2, step=0.1)
    assert np.abs(run.measures.values[:, 0] + run.drives.values[:, 0]).max() < 1e-9
    assert np.ptp(run.measures.values[:, 0]) > 0.1


def test_a_coupler_has_the_effort_along_its_sum():
    """Gears I1 q1'' = T + lambda, I2 q2'' = -r lambda, q1 = r q2: lambda = -T I2/r^2 / (I1 + I2/r^2)."""
    m = Mechanism("gears")
    for name, inertia in (("pinion", 0.1), ("wheel", 0.9)):
        m.body(name, 1.0, (0, 0, 0), (1.0, 1.0, inertia))
        m.joint(f"{name}_axle", "revolute", "ground", name, (0, 0, 0), axis="z")
    m.coupler("mesh", ["pinion_axle", "wheel_axle"], ratio=-3.0)
    m.motor("motor", "pinion_axle", effort=2.0)
    m.measure_force("in_mesh", "mesh")
    run = bc.simulate(m.build(), duration=0.1, step=0.05)
    assert run.measures.values[:, 0] == pytest.approx(np.full(3, -2.0 * 0.1 / (0.1 + 0.1)), rel=1e-10)


def test_the_effort_of_a_drive_is_that_of_its_coordinate():
    m = Mechanism("shaker")
    m.body("table", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("shaker", "planar", "ground", "table", (0, 0, 0), axis="z", axis2="x", motion={"x": sine(0.1, 1.0), "y": rate(1.0)})
    m.body("wheel", 1.0, (0, 0, 0), (0.1, 0.1, 0.2))
    m.joint("shaft", "revolute", "ground", "wheel", (0, 0, 0), axis="z", motion=sine(0.3, 1.0))
    m.measure_force("push", "shaker", coordinate="x")
    m.measure_force("torque", "shaft")
    model = m.build()
    run = bc.simulate(model, duration=0.3, step=0.1)
    wave = -4 * np.pi**2 * np.sin(2 * np.pi * run.time.values)
    assert np.abs(run.measures.sel(measure="push").values - 2.0 * 0.1 * wave).max() < 1e-12
    assert np.abs(run.measures.sel(measure="torque").values - 0.2 * 0.3 * wave).max() < 1e-12
    assert [row.kind for row in model.check().measures] == ["force of the drive of shaker", "force of the drive of shaft"]
    assert list(run.measures.measures_unit.values) == ["N", "N m"] and Labels.of(model).drives[-1] == "shaft"


def test_the_force_of_a_plane_and_of_a_line_on_what_they_carry():
    m = Mechanism("carried")
    for name, x in (("block", 0.0), ("bead", 1.0)):
        m.body(name, 3.0, (x, 0, 0), (0.1, 0.1, 0.1))
        m.joint(f"{name}_guide", "prismatic", "ground", name, (x, 0, 0), axis="z")
    m.point_on_plane("table", ("ground", (0, 0, 0)), ("block", (0, 0, 0)), "z")
    m.point_on_line("wire", ("ground", (1, 0, 0)), ("bead", (1, 0, 0)), "x")
    m.measure_force("normal", "table")
    m.measure_force("wire_force", "wire")
    m.measure_force("lift", "wire", component="z")
    with pytest.raises(bc.StateError, match="cannot move"):  # nothing is left to move, but the forces are known
        bc.simulate(m.build(), duration=0.1)
    m.body("pendulum", 1.0, (2, 0, -1), (0.1, 0.1, 0.1))
    m.joint("pivot", "revolute", "ground", "pendulum", (2, 0, 0), axis="y")
    run = bc.simulate(m.build(), duration=0.1, step=0.05)
    assert list(run.measures.measure.values) == ["normal", "wire_force.x", "wire_force.y", "wire_force.z", "lift"]
    assert run.measures.values[0] == pytest.approx([3 * G, 0, 0, 3 * G, 3 * G], abs=1e-10)


WRONG = [
    ({"element": "hinge"}, 'joint "hinge" has no motion and so no drive. Write type = "reaction" for its reaction'),
    ({"element": "rods"}, 'which is not a force element, constraint, coupler or driven joint. Did you mean "rod"?'),
    ({"element": "rod", "coordinate": "x"}, '"rod" is not a driven joint: remove coordinate = "x"'),
]


@pytest.mark.parametrize(("given", "text"), WRONG)
def test_what_has_no_force_is_told(given, text):
    m = Mechanism("hung")
    m.rod("bar", (0, 0, 0), (1, 0, 0), mass=2.0, radius=0.01)
    m.joint("hinge", "revolute", "ground", "bar", (0, 0, 0), axis="y")
    m.distance("rod", ("ground", (1, 0, 0.5)), ("bar", (1, 0, 0)))
    m.measure_force("wanted", **given)
    with pytest.raises(bc.ModelError) as error:
        m.build()
    assert text in str(error.value)


def test_measures_of_closures_that_are_not_there_are_refused():
    from dataclasses import replace

    from bellcrank.model import Measure

    model = hung()
    for measure, text in (
        (Measure("m", "closure", closure=3), "its closure is 3, and the model has 1"),
        (Measure("m", "drive", closure=0), "has no motion and so no drive"),
    ):
        with pytest.raises(bc.ModelError, match=text):
            replace(model, measures=(measure,))
