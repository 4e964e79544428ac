"""The same measures in drive, equilibrium, inverse_motion, modes and linearize, as Dynamics gives them."""

from functools import cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Mechanism

NAMES = ["pin", "reach", "swing", "pull.x", "pull.y", "pull.z"]


@cache
def crank():
    """A slider-crank in the x-z plane: crank 0.2 m, rod 0.5 m, a slider of 2 kg on a spring of 300 N/m."""
    m = Mechanism("crank", inputs=["torque"])
    m.rod("arm", (0, 0, 0), (0.2, 0, 0), mass=1.0, radius=0.01)
    m.rod("rod", (0.2, 0, 0), (0.7, 0, 0), mass=0.5, radius=0.01)
    m.body("slider", 2.0, (0.7, 0, 0), (0.01, 0.01, 0.01))
    m.joint("shaft", "revolute", "ground", "arm", (0, 0, 0), axis="y")
    m.joint("pin_joint", "revolute", "arm", "rod", (0.2, 0, 0), axis="y")
    m.joint("guide", "prismatic", "ground", "slider", (0.7, 0, 0), axis="x")
    m.joint("wrist", "revolute", "rod", "slider", (0.7, 0, 0), axis="y")
    m.spring("coil", "guide", stiffness=300.0, rest=-0.1)
    m.motor("motor", "shaft", input="torque")
    m.start("shaft", q=0.6)
    m.measure_reaction("pin", "shaft", "force")
    m.measure_distance("reach", ("ground", (0, 0, 0)), ("slider", (0.7, 0, 0)))
    m.measure_angle("swing", ("ground", "x"), ("rod", "x"), axis="y")
    m.measure_acceleration("pull", "slider", (0.7, 0, 0))
    return m.build()


def test_a_driven_range_has_the_measures_of_its_positions():
    """The reach is that of the triangle; the force in the pin carries what the motion takes."""
    model = crank()
    turned = bc.drive(model, "shaft", np.linspace(0.5, 1.2, 4), speed=2.0)
    q = turned.of("shaft")
    lean = np.arcsin(0.2 * np.sin(q) / 0.5)
    assert turned.measure("reach") == pytest.approx(0.2 * np.cos(q) + 0.5 * np.cos(lean), abs=1e-9)
    assert turned.measure("swing") == pytest.approx(-lean, abs=1e-9)
    inverse = bc.inverse_motion(model, {"shaft": lambda t: (0.5 + 2.0 * t, 2.0, 0.0)}, (turned.values - 0.5) / 2.0)
    assert list(inverse.measure.values) == NAMES
    np.testing.assert_allclose(turned.measures, inverse.measures.values, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(turned.data.measures, turned.measures)
    assert turned.as_dict()["measures"]["reach"] == turned.measure("reach").tolist()
    reaction = np.linalg.norm(inverse.reactions.sel(joint="shaft").values[:, :3], axis=1)
    assert turned.measure("pin") == pytest.approx(reaction, rel=1e-6)


def test_an_equilibrium_has_the_measures_of_rest():
    model = crank()
    found = bc.equilibrium(model)
    assert list(found.measures) == NAMES and found.measures["pull.x"] == pytest.approx(0.0, abs=1e-9)
    assert found.measures["pin"] == pytest.approx(np.linalg.norm(found.reactions[0, :3]), rel=1e-9)
    assert found.as_dict()["measures"] == found.measures


def test_a_mode_says_how_much_each_measure_takes_part():
    """In free vibration a = -w^2 d: the slider's acceleration is -w^2 times the change of the reach."""
    found = bc.modes(crank())
    mode = found.oscillating[0]
    w = 2 * np.pi * mode.frequency
    assert abs(mode.measures["reach"]) > 0.01
    assert mode.measures["pull.x"] == pytest.approx(-(w**2) * mode.measures["reach"], rel=1e-6)
    assert mode.measures["reach"] == pytest.approx(mode.shape["guide"], abs=1e-9)


def test_paths_and_formulas_are_measures_in_every_analysis():
    """As Dynamics gives them, beside those of the model."""
    model = crank()
    rest = bc.equilibrium(model)
    assert rest.measure() == pytest.approx(list(rest.measures.values()), abs=1e-12)
    fx, twice = rest.measure("pin_joint.fx", "=2*reach")
    assert (fx, twice) == pytest.approx((rest.reactions[rest.joints.index("pin_joint"), 0], 2 * rest.measures["reach"]))
    modes = bc.modes(model, rest)
    assert modes.measure("=2*reach", "guide")[0] == pytest.approx([2 * modes[0].measures["reach"], modes[0].shape["guide"]])
    turned = bc.drive(model, "shaft", np.linspace(0.5, 1.2, 4))
    np.testing.assert_array_equal(turned.measure("reach", "=2*reach")[:, 1], 2 * turned.measure("reach"))
    times = np.linspace(0.0, 1.0, 4)
    taken = bc.inverse_motion(model, {"shaft": 0.8}, times, measures=["pin_joint.fx", "=2*reach"])
    assert list(taken.measures_unit.values) == ["N", ""]
    np.testing.assert_allclose(taken.measures[:, 0], taken.reactions.sel(joint="pin_joint", component="fx"), rtol=1e-9)


def test_a_linear_model_has_measures_as_outputs():
    model = crank()
    rest = bc.equilibrium(model)
    line = bc.linearize(
        model, q=rest.q, v=np.zeros(model.nv), outputs=["reach", "q of guide", "pull.x", "a of guide", "=2*pin"]
    )
    np.testing.assert_allclose(line.C[0], line.C[1], atol=1e-9)
    np.testing.assert_allclose(line.C[2], line.C[3], atol=1e-6)
    np.testing.assert_allclose(line.D[2], line.D[3], atol=1e-9)
    assert line.outputs[-1] == "=2*pin" and np.abs(line.D[-1]).max() > 0
    with pytest.raises(bc.StateError, match="did you mean reach"):
        bc.linearize(model, outputs=["reech"])
