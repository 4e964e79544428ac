"""Frequency responses and spectra against closed forms, and against the linear model of the same mechanism."""

from functools import cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Mechanism
from bellcrank.model.builder import sine

M, C, K = 3.0, 20.0, 1200.0
F = np.array([0.3, 1.0, 2.9, 3.2, 8.0, 40.0])


@cache
def table():
    """A mass on a spring and damper on a table that shakes, or on which a force acts."""
    m = Mechanism("table", gravity=(0, 0, -9.81), inputs=["push"])
    m.body("plate", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.body("mass", M, (0, 0, 0.5), (0.1, 0.1, 0.1))
    m.joint("shaker", "prismatic", "ground", "plate", (0, 0, 0), axis="z", motion=sine(0.1, 2.0))
    m.joint("slide", "prismatic", "plate", "mass", (0, 0, 0.5), axis="z")
    m.spring("coil", "slide", stiffness=K)
    m.damper("pot", "slide", damping=C)
    m.motor("pusher", "slide", input="push")
    m.measure_position("height", "mass", (0, 0, 0.5), "z")
    m.measure_force("in_coil", "coil")
    return m.build()


def test_a_shaken_mass_follows_by_its_transmissibility():
    """T = (k + c s)/(m s^2 + c s + k); the acceleration is s^2 T, the spring's force -k (T - 1)."""
    found = bc.frequency_response(table(), "shaker", ["height", "mass.az", "coil.force", "shaker.effort"], F)
    s = 2j * np.pi * F
    T = (K + C * s) / (M * s**2 + C * s + K)
    np.testing.assert_allclose(found.of("height"), T, rtol=1e-9)
    np.testing.assert_allclose(found.of("mass.az"), s**2 * T, rtol=1e-9)
    np.testing.assert_allclose(found.of("coil.force"), -K * (T - 1), rtol=1e-8)
    np.testing.assert_allclose(found.of("shaker.effort"), s**2 * (M * T + 1.0), rtol=1e-9)
    assert found.excitation_units == ("m",) and found.output_units == ("m", "m/s2", "N", "N")


def test_a_pushed_mass_yields_by_its_dynamic_stiffness():
    found = bc.frequency_response(table(), ["push", "tau of slide"], ["slide", "slide.v"], F)
    s = 2j * np.pi * F
    for excitation in found.excitations:
        np.testing.assert_allclose(found.of("slide", excitation), 1 / (M * s**2 + C * s + K), rtol=1e-9)
        np.testing.assert_allclose(found.of("slide.v", excitation), s / (M * s**2 + C * s + K), rtol=1e-9)


def test_white_noise_gives_the_known_variance():
    """Of a force with S0 per Hz: S0/(4 c k), less 1e-4 of it below 1 mHz and above 300 Hz."""
    found = bc.frequency_response(table(), "push", "slide", np.geomspace(1e-3, 300.0, 1500)).spectrum(2.5)
    assert found.rms["slide"] == pytest.approx(np.sqrt(2.5 / (4 * C * K)), rel=3e-4)


def test_a_road_is_rougher_by_class_and_felt_more_at_speed():
    heights = bc.road_spectrum("C", 20.0)
    assert heights(np.array([2.0]))[0] == pytest.approx(256e-6 / 20.0)  # 0.1 cycles/m
    assert heights(np.array([0.1, 80.0])).tolist() == [0.0, 0.0]
    response = bc.frequency_response(table(), "shaker", "mass.az", np.geomspace(0.3, 50, 800))
    rms = [response.spectrum(bc.road_spectrum(road, v)).rms["mass.az"] for road, v in (("A", 10.0), ("B", 10.0), ("A", 20.0))]
    assert rms[1] == pytest.approx(2 * rms[0]) and rms[2] > 1.2 * rms[0]
    pair = (np.array([0.5, 50.0]), np.array([1e-4, 1e-8]))
    assert response.spectrum(pair).excited[400] == pytest.approx(1e-4 * (response.frequencies[400] / 0.5) ** -2)


def test_with_closed_loops_it_is_that_of_the_linear_model():
    """Two ways: dynamic stiffness of the released mechanism, and the state space of independent coordinates."""
    from .test_in_analyses import crank

    model = crank()
    rest = bc.equilibrium(model)
    names = ["reach", "swing", "pull.x", "pin", "motor.power", "coil.force", "wrist.v", "shaft.fz"]
    found = bc.frequency_response(model, ["torque", "tau of guide"], names, F, q=rest.q)
    line = bc.linearize(model, q=rest.q, v=np.zeros(model.nv), outputs=names).part(inputs=["torque", "tau of guide"])
    expected = line.response(F)
    for i, name in enumerate(names):
        scale = np.abs(expected[:, i]).max()
        np.testing.assert_allclose(found.values[:, i], expected[:, i], atol=1e-8 * scale + 1e-12, rtol=1e-7, err_msg=name)


def test_what_is_shown_is_what_was_found(tmp_path):
    found = bc.frequency_response(table(), "shaker")
    assert found.outputs == ("height", "in_coil")
    figure = found.plot(tmp_path / "bode.png")
    assert len(figure.axes) == 3 and (tmp_path / "bode.png").stat().st_size > 10_000
    spectrum = found.spectrum(bc.road_spectrum("B", 15.0))
    assert len(spectrum.plot(tmp_path / "spectrum.png").axes) == 2
    assert spectrum.as_dict()["rms"] == spectrum.rms and "height" in str(spectrum)
    assert found.data.magnitude.sel(output="height").values[0] == pytest.approx(abs(found.of("height")[0]))
    top = found.rows()[0]
    assert top[0] == "height" and float(top[4]) == pytest.approx(np.sqrt(K / M) / 2 / np.pi, rel=0.05)
    assert np.shape(found.as_dict()["real"]) == found.values.shape and "height" in str(found)


def test_what_cannot_be_answered_is_told():
    cases = [
        ({"excite": "shakr"}, "no excitation 'shakr'"),
        ({"outputs": ["hight"]}, '"hight" is not a measure; did you mean height'),
        ({"frequencies": [2.0, 1.0]}, "frequencies must be finite numbers that increase"),
        ({"frequencies": [-2.0, 1.0]}, "frequencies must not be negative; the first is -2 Hz"),
    ]
    for given, text in cases:
        with pytest.raises(bc.StateError, match=text):
            bc.frequency_response(table(), **given)
    found = bc.frequency_response(table(), frequencies=[1.0])
    for asked, text in (
        (lambda: found.of("height"), "say which excitation"),
        (lambda: found.of("hight", "push"), "no output 'hight'"),
        (lambda: found.spectrum((F, -F), "push"), "a spectrum is a pair"),
        (lambda: found.spectrum(lambda f: f - 2, "push"), "finite and not negative"),
        (lambda: found.spectrum("C", "push"), r"'C' is not a spectrum: give bc.road_spectrum\('C', speed=20.0\)"),
        (lambda: found.spectrum(lambda f: [1.0, 2.0], "push"), r"an array of shape \(2,\)"),
        (lambda: found.spectrum((1.0, 2.0, 3.0), "push"), "a spectrum is a pair"),
        (lambda: bc.road_spectrum("Z", 1.0), "class of ISO 8608"),
        (lambda: bc.road_spectrum("A", 0.0), "more than zero"),
    ):
        with pytest.raises(bc.StateError, match=text):
            asked()


def test_an_undamped_peak_is_not_a_number_and_a_runaway_is_warned_of():
    m = Mechanism("rod", inputs=["push"])
    m.rod("rod", (0, 0, 0), (0, 0, 1), mass=1.0, radius=0.01)
    m.joint("hinge", "revolute", "ground", "rod", (0, 0, 0), axis="y")
    m.motor("motor", "hinge", input="push")
    model = m.build()
    with pytest.warns(bc.BellcrankWarning, match="runs away"):
        bc.frequency_response(model, outputs="hinge", frequencies=[1.0], q=[0.0])


def test_the_command_prints_and_draws(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from bellcrank.cli import main

    monkeypatch.chdir(tmp_path)
    bc.save(table(), "table.toml")
    run = CliRunner().invoke(
        main, ["response", "table.toml", "--excite", "shaker", "--from", "0.5", "--to", "20", "--plot", "b.png"]
    )
    assert run.exit_code == 0 and "height" in run.output and (tmp_path / "b.png").exists()
    road = CliRunner().invoke(main, ["response", "table.toml", "--excite", "shaker", "--road", "C", "--json"])
    assert road.exit_code == 0 and '"rms"' in road.output
    assert CliRunner().invoke(main, ["response", "table.toml", "--from", "3"]).exit_code == 2
