"""Derivatives of runs by a design: an oracle over 20 s, and differences of whole runs with assembly and events."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import BellcrankWarning, DynamicsError, SimulationError, StateError

LENGTHS = ["parameters.crank_length", "parameters.coupler_length", "parameters.start"]
OUTPUTS = ["energy.kinetic", "energy.kinetic@end", "energy.total@t=0.13", "max(energy.kinetic)", "integral(crank_pivot.v)"]
OUTPUTS += ["rms(crank_pivot.v)", "mean(abs(crank_pivot.v))", "energy.kinetic@pass", "pass.time", "max(abs(crank_pivot.fx))"]
PASS = bc.Event("crank_pivot", 1.1, name="pass")


def four_bar(model, parameters):
    """From another position than that of the drawing: the lengths move it."""
    given = {"q": {"crank_pivot": 0.2}, "step": 0.02, "events": [PASS], "rtol": 1e-11, "atol": 1e-11}
    return bc.sensitivity(model, parameters, OUTPUTS, 0.4, **given)


@pytest.fixture(scope="module")
def found():
    return four_bar(bc.load("four_bar"), LENGTHS)


@pytest.fixture(scope="module")
def differences():
    """Of q, v and outputs by each length, from runs of other models, assembled anew."""
    model = bc.load("four_bar")
    design, h = bc.Design(model, LENGTHS), 1e-5
    columns = []
    for k in range(len(LENGTHS)):
        pair = [four_bar(design.model(design.start + s * h * np.eye(len(LENGTHS))[k]), LENGTHS[:1]) for s in (1, -1)]
        read = {"q": lambda s: s.q_values, "v": lambda s: s.v_values}
        read |= {name: lambda s, name=name: np.asarray(s.value(name)) for name in OUTPUTS}
        columns.append({name: (of(pair[0]) - of(pair[1])) / (2 * h) for name, of in read.items()})
    return {name: np.stack([column[name] for column in columns], axis=-1) for name in columns[0]}


def test_the_double_pendulum_of_anderson_and_hsu_over_twenty_seconds():
    """d(kinetic energy) by the lengths and masses, from variational equations in symbols (anderson_sensitivity): 1e-11."""
    expected = {
        5: [1.0593428766613107, -4.650906019692123, 2.4579266119412697, 3.7858679403346844, -6.512393004008061],
        10: [2.5078663250170896, -25.454917234827786, -27.620349764945644, 1.0175778732366665, 0.4727105785437211],
        20: [3.153187951153596, 12.261454578957412, 5.38359587432751, 0.171167442324757, 2.8108530665040816],
    }
    names = [f"parameters.{name}" for name in ("L1", "L2", "MP", "MQ")]
    given = {"method": "dop853", "rtol": 1e-12, "atol": 1e-12, "control": "all", "step": 1.0}
    found = bc.sensitivity(bc.load("double_pendulum_particles"), names, ["energy.kinetic"], 20.0, **given)
    for t, (value, *slopes) in expected.items():
        assert float(found.value("energy.kinetic").sel(time=t)) == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(found.d("energy.kinetic").sel(time=t), slopes, rtol=0, atol=1e-9 * np.abs(slopes).max())


def test_the_state_of_a_closed_loop_follows_its_lengths(found, differences):
    """The start too, which the assembly moves: G dq = -dPhi/dp. Differences by 1e-5 are good for about 1e-8."""
    for name, exact in (("q", found.dq_values), ("v", found.dv_values)):
        np.testing.assert_allclose(exact, differences[name], rtol=0, atol=1e-6 * np.abs(exact).max())
    assert np.abs(found.dq_values[0]).max() > 0.1


@pytest.mark.parametrize("output", OUTPUTS)
def test_what_is_taken_in_time_has_its_derivatives(output, found, differences):
    exact = np.asarray(found.d(output))
    np.testing.assert_allclose(exact, differences[output], rtol=0, atol=1e-6 * np.abs(exact).max())


def test_closed_loops_stay_closed_to_first_order(found):
    """The derivative of the closures along dq and the design vanishes at every sample."""
    model = bc.load("four_bar")
    h, k, design = 1e-6, 1, bc.Design(model, LENGTHS)
    p = design.start + h * np.eye(3)[k]
    moved = bc.compile(design.model(p), optimisation=0)
    errors, rates = moved.closure(found.q_values + h * found.dq_values[..., k], found.v_values + h * found.dv_values[..., k])
    assert np.abs(errors).max() < 1e-10
    assert np.abs(rates).max() < 1e-8


def test_results_are_labelled_saved_and_drawn(found, tmp_path):
    import xarray as xr

    assert found.dq.dims == ("time", "coordinate", "parameter")
    assert found.d("energy.kinetic").dims == ("time", "parameter")
    assert list(found.d("pass.time").parameter) == LENGTHS
    assert found.when("pass.time") == pytest.approx(found.value("pass.time"))
    with xr.open_dataset(found.save(tmp_path / "found.nc"), engine="h5netcdf") as saved:
        np.testing.assert_array_equal(saved["dv"], found.dv_values)
    again = bc.load_sensitivity(tmp_path / "found.nc")
    assert again.to_dataset().identical(found.to_dataset())
    with pytest.raises(StateError, match="was not written by Run.save"):
        bc.load_run(tmp_path / "found.nc")
    found.plot("energy.kinetic", "pass.time", path=tmp_path / "found.png")
    assert (tmp_path / "found.png").stat().st_size > 1000
    with pytest.raises(StateError, match="there is no output 'tip'"):
        found.d("tip")


def test_rk4_and_two_chunks_of_parameters():
    """Nine parameters are more than a vector of tangents; by fixed steps, against dopri5."""
    model = bc.load("double_pendulum")
    names = ["upper.mass", "lower.mass", "knee.x", "knee.y", "gravity.y", "upper.center.x", "upper.center.y"]
    names += ["upper.inertia.zz", "lower.inertia.zz"]
    tight = bc.sensitivity(model, names, duration=0.2, rtol=1e-10, atol=1e-10)
    fixed = bc.sensitivity(model, names, duration=0.2, method="rk4", max_step=1e-3)
    scale = np.abs(tight.dv_values).max(axis=(0, 1))
    np.testing.assert_allclose(fixed.dv_values / scale, tight.dv_values / scale, rtol=0, atol=1e-7)


def test_a_singular_position_ends_the_derivatives_with_a_word():
    """A parallelogram flattens."""
    model = bc.load("parallelogram")
    with pytest.raises(SimulationError, match="singular configuration.*Derivatives end there too"):
        bc.sensitivity(model, ["gravity.y"], duration=10.0)


TWO_LOOPS = """
format = 1
name = "two loops"
gravity = [0, 0, -9.81]
[bodies]
crank = { rod = { from = [0, 0, 0], to = [0.5, 0, 0.2], mass = 1.0 } }
coupler = { rod = { from = [0.5, 0, 0.2], to = [1.5, 0, 0.9], mass = 1.0 } }
rocker = { rod = { from = [1.7, 0, 0], to = [1.5, 0, 0.9], mass = 1.0 } }
arm = { rod = { from = [3, 0, 0], to = [4, 0, 1], mass = 1.0 } }
barrel = { rod = { from = [4, 0, 0], to = [4, 0, 0.5], mass = 1.0 } }
piston = { rod = { from = [4, 0, 0.5], to = [4, 0, 1], mass = 1.0 } }
[joints]
crank_pin = { type = "revolute", parent = "ground", child = "crank", point = [0, 0, 0], axis = "y" }
elbow = { type = "revolute", parent = "crank", child = "coupler", point = [0.5, 0, 0.2], axis = "y" }
rocker_pin = { type = "revolute", parent = "ground", child = "rocker", point = [1.7, 0, 0], axis = "y" }
tip = { type = "revolute", parent = "coupler", child = "rocker", point = [1.5, 0, 0.9], axis = "y" }
arm_pin = { type = "revolute", parent = "ground", child = "arm", point = [3, 0, 0], axis = "y" }
barrel_pin = { type = "revolute", parent = "ground", child = "barrel", point = [4, 0, 0], axis = "y" }
slide = { type = "prismatic", parent = "barrel", child = "piston", point = [4, 0, 0.5], axis = "z", motion = { amplitude = 0.1, frequency = 1.0 } }
piston_pin = { type = "revolute", parent = "piston", child = "arm", point = [4, 0, 1], axis = "y" }
"""


def test_rows_with_tangents_are_not_taken_for_a_singular_position():
    """Loops of different widths with redundant equations: what the derivatives of one left behind was read as rows of another,
    and runs ended as at a dead centre."""
    found = bc.sensitivity(bc.load(TWO_LOOPS), ["crank.mass"], duration=0.1, step=0.01, method="rk4", max_step=5e-3)
    assert np.isfinite(found.dv_values).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bdf"}, "derivatives are integrated by auto, rk4, dopri5, .*, not by 'bdf'"),
        ({"control": "both"}, "control is 'both'"),
        ({"mode": "backward"}, "mode is 'backward'"),
        ({"outputs": "energy.total"}, "outputs must be a list of names"),
        ({"outputs": ["energy.total@noon"]}, "is taken at 'noon'"),
        ({"outputs": ["energy.total@t=9"]}, "outside the run"),
        ({"outputs": ["3 + 4"]}, "names no measure"),
        ({"events": [bc.Event(lambda t, q, v: q[0], name="f")]}, "has no derivative"),
        ({"outputs": None}, "outputs must be a list of names"),
        ({"outputs": ["foo(q1)@end"]}, 'there is no function "foo"'),
        ({"outputs": ["max(q1)@end"]}, "is of the whole run"),
        ({"events": bc.Event("q1", 0.1)}, "events must be a list of Event"),
        ({"events": [bc.Event("q1", 0.1, name="a"), bc.Event("q2", 0.1, name="a")]}, "several events are called 'a'"),
        ({"tau": lambda t, q, v: q}, "tau of runs with derivatives are constant"),
        ({"inputs": [1.0]}, "the model has no inputs"),
        ({"analysis": ["run"]}, "there is no analysis"),
        ({"progress": 3}, "progress must be a function"),
        ({"formulation": None}, "there is no formulation 'None'"),
        ({"outputs": ["never.time"], "events": [bc.Event("q1", 50.0, name="never")]}, "does not happen"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    model = bc.load("double_pendulum_particles")
    with pytest.raises(StateError, match=message):
        bc.sensitivity(model, ["parameters.L1"], **({"outputs": [], "duration": 0.1} | options))


ABOUT_ZERO = {"duration": 0.02, "step": 0.01, "method": "rk4"}


def test_outputs_that_are_not_numbers_are_errors_and_what_is_zero_has_a_kink():
    """The root mean square of a velocity c z, zero for gravity along x, grows with a change of gravity along z as its size does."""
    m = bc.Mechanism("at rest", gravity=(0, 0, 0))
    m.body("block", 1.0, (0, 0, 0), (1, 1, 1))
    m.joint("slide", "prismatic", "ground", "block", (0, 0, 0), axis="z")
    model = m.build()
    for output, message in (("log(slide)@end", "is not a finite number"), ("sqrt(slide)@end", "no derivative by 'gravity.z'")):
        with pytest.raises(DynamicsError, match=message):
            bc.sensitivity(model, ["gravity.z"], [output], **ABOUT_ZERO)
    with pytest.warns(BellcrankWarning, match=r"infinite slope.*not a number \(3 of 3\)"):
        bc.sensitivity(model, ["gravity.z"], ["sqrt(slide)"], **ABOUT_ZERO)
    with pytest.warns(BellcrankWarning, match="is zero, where it has a kink"):
        found = bc.sensitivity(model, ["gravity.z", "block.mass"], ["rms(slide.v)"], **ABOUT_ZERO)
    np.testing.assert_allclose(found.d("rms(slide.v)"), [0.02 / np.sqrt(3), 0.0], rtol=1e-12)
    with pytest.raises(StateError, match="the adjoint has no derivative"):
        bc.sensitivity(model, ["gravity.z"], ["rms(slide.v)"], mode="adjoint", **ABOUT_ZERO)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "gauss4"}, "gauss4 is for trees, and model 'four-bar' has closed loops"),
        ({"method": "rattle"}, "derivatives are integrated by auto, rk4, .*, not by 'rattle'"),
    ],
)
def test_what_loops_have_no_derivatives_by_is_refused(options, message):
    with pytest.raises(StateError, match=message):
        bc.sensitivity(bc.load("four_bar"), ["parameters.crank_length"], ["energy.total@end"], duration=0.1, **options)


def test_derivatives_on_steps_that_follow_the_state_alone_say_how_far_they_are_off():
    """The amount that the warning names is that by which they differ from derivatives whose errors choose the steps too."""
    model, parameter, duration = bc.load("engine"), "parameters.l", 0.5
    given = {"duration": duration, "step": duration / 20}
    with pytest.warns(bc.AccuracyWarning, match=f'"{parameter}".*control="all"') as told:
        coarse = bc.sensitivity(model, [parameter], **given)
    fine = bc.sensitivity(model, [parameter], control="all", **given)  # and nothing is told
    off = np.abs(coarse.dv_values - fine.dv_values).max() / np.abs(fine.dv_values).max()
    said = float(str(told[0].message).partition("add up to about ")[2].split()[0])
    assert said / 10 < off < said * 10


@pytest.mark.parametrize("mode", ["forward", "adjoint"])
def test_the_largest_value_is_found_between_samples_however_far_apart_they_are(mode):
    """A mass on a spring, pushed off: x = v0/w sin(w t), so that max x = v0 sqrt(m/k), at a quarter of a period."""
    m = bc.Mechanism("mass on a spring", gravity=(0, 0, 0))
    m.body("mass", 2.0, (0, 0, 0), (1, 1, 1))
    m.joint("rail", "prismatic", "ground", "mass", (0, 0, 0), axis="x")
    m.spring("spring", joint="rail", stiffness=3.0)
    m.start("rail", v=0.5)
    found = bc.sensitivity(m.build(), ["mass.mass", "spring.stiffness"], ["max(rail)"], 2.5, step=0.8, mode=mode)
    largest = 0.5 * np.sqrt(2.0 / 3.0)
    assert float(found.value("max(rail)")) == pytest.approx(largest, rel=1e-8)
    np.testing.assert_allclose(found.d("max(rail)"), [largest / 4.0, -largest / 6.0], rtol=1e-7)


def test_velocities_that_the_start_leaves_open_are_chosen_anew_for_every_design():
    """A five-bar has two freedoms; with one velocity given the others are those of least kinetic energy, at every design."""
    model = bc.load("five_bar")
    names = [name for name in model.parameters if name.startswith("parameters.")][:3]
    design, given, h = bc.Design(model, names), {model.v_names[0]: 1.5}, 1e-5
    found = bc.sensitivity(model, design, [], 0.01, step=0.01, v=given)
    for k, unit in enumerate(np.eye(len(names))):
        pair = [bc.assemble(design.model(design.start + s * h * unit), v=given).v for s in (1, -1)]
        np.testing.assert_allclose(found.dv_values[0, :, k], (pair[0] - pair[1]) / (2 * h), rtol=0, atol=1e-8)
    wanted = ["energy.kinetic@end"]
    forward, adjoint = (bc.sensitivity(model, design, wanted, 0.01, step=0.01, v=given, mode=x) for x in ("forward", "adjoint"))
    np.testing.assert_allclose(adjoint.d(wanted[0]), forward.d(wanted[0]), rtol=1e-10)
