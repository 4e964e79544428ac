"""User-defined states: numbers that change at a rate, integrated with the motion, and seen by forces; against closed forms."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.linalg import expm

import bellcrank as bc
from bellcrank.io.native.writer import dumps
from bellcrank.numbers import sqrt

from ..blocks import block

KP, KI, KD, MASS, LOAD, TARGET = 40.0, 60.0, 8.0, 2.0, 5.0, 0.3
ADAPTIVE = ["dopri5", "dop853", "radau", "bdf", "auto"]
FIXED = ["rk4", "midpoint4", "implicit_midpoint", "rattle"]
TREES = [
    {"formulation": "articulated_body"},
    {"formulation": "reference_point", "reference": "joint"},
    {"formulation": "reference_point", "reference": "centroid"},
    {"formulation": "reference_point", "reference": "origin"},
    {"formulation": "mass_matrix"},
    {"formulation": "canonical_momenta"},
]


def slider(**more):
    """A mass on a slide without gravity."""
    m = bc.Mechanism("slider", gravity=(0, 0, 0), **more)
    m.body("block", mass=MASS, center=(0, 0, 0), inertia=(1, 1, 1))
    m.joint("slide", "prismatic", "ground", "block", point=(0, 0, 0), axis="x")
    return m


def lag(time=0.1, initial=0.5):
    """x' = (1 - x)/T, beside a mass at rest."""
    m = slider(duration=0.4, step=0.01)
    m.parameter("T", time)
    m.state("x", "=(1 - x)/T", initial, unit="Pa")
    return m.build()


def controlled(**more):
    """A mass that a controller with integral action moves to a target against a load."""
    m = slider(duration=1.0, step=0.05, **more)
    for name, value in {"kp": KP, "ki": KI, "kd": KD, "target": TARGET, "load": LOAD}.items():
        m.parameter(name, value)
    m.state("integral", "=target - slide", unit="m s")
    m.motor("controller", "slide", "=kp*(target - slide) + ki*integral - kd*slide.v - load")
    m.measure_formula("error", "=integral.rate")
    return m.build()


A = np.array([[0, 1, 0], [-KP / MASS, -KD / MASS, KI / MASS], [-1, 0, 0]])
REST = np.array([TARGET, 0, LOAD / KI])


def exact(t, start=(0, 0, 0)):
    """Position, velocity and integral: a linear system."""
    return REST + expm(A * t) @ (np.array(start) - REST)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_lag_of_first_order_is_an_exponential(method):
    run = bc.simulate(lag(), method=method)
    assert run.states.values[:, 0] == pytest.approx(1 - 0.5 * np.exp(-run.time.values / 0.1), abs=3e-8)
    assert run.states.dof.values.tolist() == ["x"]
    assert run.v.v_unit.values.tolist() == ["m/s", "Pa"] and run.a.a_unit.values.tolist() == ["m/s2", "Pa/s"]


@pytest.mark.parametrize("method", FIXED)
def test_methods_of_fixed_step_converge_to_the_motion_under_integral_action(method):
    # of second order with constants of order 30; of fourth order far less
    limit = 3e-5 if method in ("implicit_midpoint", "rattle") else 1e-8
    run = bc.simulate(controlled(), method=method, max_step=0.0025)
    assert np.hstack([run.q.values[-1], run.v.values[-1]]) == pytest.approx(exact(1.0), abs=limit)


@pytest.mark.parametrize("given", TREES, ids=lambda given: "-".join(given.values()))
def test_a_rate_in_every_formulation(given):
    """a = (F/m, target - x), or v = p/m and dp/dt = F where momenta are taken."""
    dyn = bc.compile(controlled(), optimisation=0, **given)
    force = KP * (TARGET - 0.1) + KI * 0.7 - KD * 0.4 - LOAD
    assert dyn.acceleration([0.1], [0.4, 0.7]) == pytest.approx([force / MASS, TARGET - 0.1], rel=1e-12)
    assert dyn.energy([0.1], [0.4, 0.7])[0] == pytest.approx(MASS * 0.4**2 / 2)


@pytest.mark.parametrize(("given", "method"), [({}, "dopri5"), ({}, "radau"), (TREES[-1], "dopri5"), (TREES[-1], "radau")])
def test_integral_action_moves_a_mass_to_its_target(given, method):
    run = bc.simulate(controlled(), method=method, **given)
    assert np.hstack([run.q.values[-1], run.v.values[-1]]) == pytest.approx(exact(1.0), abs=1e-8)
    assert run.energy_error < 1e-7  # the state stores no energy and does no work


@pytest.mark.parametrize(
    ("formulation", "method"), [("coordinate_reduction", "radau"), ("multipliers", "dopri5"), ("canonical_momenta", "dopri5")]
)
def test_a_state_feeds_back_into_a_closed_loop(formulation, method):
    """A four-bar braked by its own filtered speed: all formulations agree, and the filter is that of the speed."""
    text = dumps(bc.load("four_bar"))
    text += '[states.filtered]\nrate = "=(crank_pivot.v - filtered)/0.1"\ninitial = 6.0\n'
    text += '[motors.brake]\njoint = "crank_pivot"\neffort = "=-0.4*filtered"\n'
    model = bc.load(text)
    run = bc.simulate(model, 0.5, formulation=formulation, method=method)
    assert run.v.values[-1] == pytest.approx(bc.simulate(model, 0.5).v.values[-1], abs=1e-7)
    speed, filtered = run.v.values[:, 0], run.states.values[:, 0]
    assert run.a.values[:, -1] == pytest.approx((speed - filtered) / 0.1, rel=1e-12)
    assert run.closure_error.position < 1e-10 and run.summary().dof == 1


def test_lanes_take_states_too():
    model, starts = controlled(), np.array([[0.0, x] for x in np.linspace(0, 0.2, 6)])
    for method in ("dopri5", "radau"):
        runs = bc.simulate_many(model, v=starts, method=method)
        wanted = [exact(1.0, (0, *start)) for start in starts]
        assert np.hstack([runs.q.values[:, -1], runs.v.values[:, -1]]) == pytest.approx(np.array(wanted), abs=1e-8)


def test_a_run_goes_on_from_the_states_of_the_one_before():
    model = controlled()
    first = bc.simulate(model, 0.4)
    second = bc.simulate(model, 0.6, after=first)
    assert np.hstack([second.q.values[-1], second.v.values[-1]]) == pytest.approx(exact(1.0), abs=1e-8)


def test_an_event_on_a_state_is_found():
    """x = 0.9 where 0.5 exp(-t/T) = 0.1."""
    run = bc.simulate(lag(), events=[bc.Event("x", 0.9, "up")])
    assert run.crossings[0].time == pytest.approx(0.1 * math.log(5.0), abs=1e-8)


def test_a_stiff_state_is_left_to_radau():
    run = bc.simulate(lag(time=1e-7), 1.0)
    assert run.settings["methods"][-1][1] == "radau"
    assert run.states.values[-1, 0] == pytest.approx(1.0, abs=1e-8)


def test_bristles_bend_until_they_slide():
    """LuGre at a constant speed v: z' = v - s |v| z/g, so z = g/s (1 - exp(-s v t/g)), and the force ends at g."""
    m = bc.Mechanism("bristle", gravity=(0, 0, 0), duration=0.1, step=0.002)
    m.body("block", mass=1.0, center=(0, 0, 0), inertia=(1, 1, 1))
    m.joint("slide", "prismatic", "ground", "block", point=(0, 0, 0), axis="x", motion={"rate": 0.02})
    m.parameter("stiffness", 1e5)
    m.parameter("kinetic", 10.0)
    m.state("bristle", "=slide.v - stiffness*abs(slide.v)*bristle/kinetic", unit="m")
    m.force("friction", "block", (0, 0, 0), ("=-stiffness*bristle", 0, 0))
    run = bc.simulate(m.build())
    z = 1e-4 * (1 - np.exp(-1e5 * 0.02 / 10.0 * run.time.values))
    assert run.states.values[:, 0] == pytest.approx(z, abs=1e-9)
    assert run.drives.values[-1, 0] == pytest.approx(10.0, rel=1e-6)  # what the drive has to overcome


def test_a_tyre_builds_its_side_force_over_a_relaxation_length():
    """F' = (v/s)(C a - F): after a way x the force is C a (1 - exp(-x/s)), whatever the speed."""
    for speed in (5.0, 20.0):
        m = slider(duration=2.0 / speed, step=0.1 / speed)
        m.state("side", "=slide.v/0.5*(8e4*0.02 - side)", unit="N")
        model = m.build()
        run = bc.simulate(model, v={"slide": speed})
        assert run.states.values[-1, 0] == pytest.approx(1600 * (1 - math.exp(-2.0 / 0.5)), rel=1e-8)


def test_rates_are_zero_at_rest_and_the_linear_model_has_them():
    model = controlled()
    rest = bc.equilibrium(model)
    assert (rest.q[0], rest.states["integral"]) == pytest.approx((TARGET, LOAD / KI), rel=1e-12)
    assert rest.stable and rest.v == pytest.approx([0, LOAD / KI]) and rest.as_dict()["states"] == rest.states
    assert "integral" in str(rest)
    space = bc.linearize(model, q=rest.q, v=rest.v, outputs=["slide", "error", "integral"])
    assert space.states == ("q of slide", "v of slide", "integral") and space.inputs == ("tau of slide",)
    np.testing.assert_allclose(space.A, A, rtol=1e-12)
    np.testing.assert_allclose(space.C, [[1, 0, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-12)
    assert space.rate == pytest.approx(np.zeros(3), abs=1e-13)
    found = bc.modes(model)
    assert sorted(m.root.real for m in found) == pytest.approx(sorted({r.real for r in np.linalg.eigvals(A)}))
    decaying = found.of("decaying")[0]
    assert decaying.shape["integral"] == pytest.approx(-1 / decaying.root.real)  # z = -x/s
    assert decaying.measures["error"] == pytest.approx(-1.0)


def test_a_rest_that_runs_away_is_told():
    m = slider()
    m.state("lag", "=slide - 0.2*lag")
    m.motor("push", "slide", "=lag - 1")
    model = m.build()
    with pytest.raises(bc.DynamicsError, match=r"unstable along 'lag'"):
        bc.equilibrium(model)
    assert not bc.equilibrium(model, seek="nearest").stable


def test_a_state_that_never_comes_to_rest_is_told():
    m = slider()
    m.spring("spring", "slide", 10.0)
    m.state("clock", 1.0)
    with pytest.raises(bc.DynamicsError, match=r"no equilibrium .*'clock' still changes at 1 per second"):
        bc.equilibrium(m.build())


def test_derivatives_of_a_lag_by_its_time_and_start():
    """x = 1 - (1 - x0) exp(-t/T)."""
    found = bc.sensitivity(lag(), ["parameters.T", "x.initial"], ["x@end"], 0.4)
    wanted = [-0.5 * math.exp(-4.0) * 0.4 / 0.1**2, math.exp(-4.0)]
    assert found.d("x@end").values == pytest.approx(wanted, rel=1e-6)


def test_derivatives_of_a_controlled_mass_by_its_gains():
    """dx/dp' = A dx/dp + dA/dp x + db/dp, as one linear system."""
    found = bc.sensitivity(controlled(), ["parameters.ki", "parameters.load"], ["slide@end", "integral@end"], 1.0)
    by_ki, by_load = np.zeros((3, 3)), np.array([0, -1 / MASS, 0])
    by_ki[1, 2] = 1 / MASS
    whole = np.zeros((10, 10))
    whole[:3, :3] = whole[3:6, 3:6] = whole[6:9, 6:9] = A
    whole[3:6, :3], whole[:3, 9], whole[6:9, 9] = by_ki, -A @ REST, by_load
    end = (expm(whole) @ np.eye(10)[9])[:9].reshape(3, 3)
    assert found.d("slide@end").values == pytest.approx(end[1:, 0], rel=1e-6)
    assert found.d("integral@end").values == pytest.approx(end[1:, 2], rel=1e-6)


def test_states_are_written_and_read_again(tmp_path):
    model = controlled()
    again = bc.load(dumps(model))
    assert again.state_names == ("integral",) and dumps(again) == dumps(model)
    run = bc.simulate(again)
    run.save(tmp_path / "run.nc")
    assert bc.load_run(tmp_path / "run.nc").states.values == pytest.approx(run.states.values)
    assert "integral" in json.dumps(again.check().as_dict()["states"]) and "=target - slide" in str(again.check())
    assert run.positions.shape[1] == 1 and run.reactions.shape[1] == 1 and run.forces.shape[1] == 1
    assert repr(again) == 'Model("slider": 1 body, nq = 1, nv = 2)'


def test_every_copy_of_an_assembly_has_its_own_states():
    m = bc.Mechanism("two", gravity=(0, 0, 0), duration=0.4)
    part = m.assembly("cylinder")
    part.body("piston", mass=1.0, center=(0, 0, 0), inertia=(1, 1, 1))
    part.joint("slide", "prismatic", "ground", "piston", point=(0, 0, 0), axis="x")
    part.parameter("T", 0.1)
    part.state("pressure", "=(1 - pressure)/T", 0.0)
    part.motor("push", "slide", "=pressure")
    m.copy("fast", "cylinder")
    m.copy("slow", "cylinder", offset=(0, 1, 0), parameters={"T": 0.2})
    run = bc.simulate(m.build())
    assert run.states.dof.values.tolist() == ["fast.pressure", "slow.pressure"]
    assert run.states.values[-1] == pytest.approx([1 - math.exp(-4), 1 - math.exp(-2)], abs=1e-8)


def test_a_recorded_function_is_a_rate():
    m = slider(duration=0.5)
    m.state("way", bc.Function(lambda speed: sqrt(speed * speed + 1e-12), speed="slide.v"), unit="m")
    run = bc.simulate(m.build(), v={"slide": -3.0})
    assert run.states.values[-1, 0] == pytest.approx(1.5)


WRONG = {
    "[states.x]\ninitial = 1": r"\[states.x\] has no rate. Give it: rate = ",
    '[states.x]\nrate = "=y"': r'state "x": "y" is neither a measure, nor a coordinate, nor a parameter',
    '[states.x]\nrate = "=slide.a"': r'state "x": the formula "=slide.a" needs what the forces',
    '[states.x]\nrate = "=slide.fy"': r"an acceleration, a reaction, or another force",
    "[states.x]\nrate = 1\ninitial = inf": r"initial .*finite",
    "[states.slide]\nrate = 1": r'the state "slide" has the same name as a joint',
    "[states.x]\nrate = 1\nstart = 2": r'"start"',
    '[states.x]\nrate = "=1 +"': r"states.x.rate",
    '[states.x]\nrate = 1\n[springs.s]\njoint = "x"\nstiffness = 1': r'"x", which is not a joint',
    "[states.x]\nrate = 1\n[initial]\nx = 2": r'"x"',
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_wrong_states_are_told_with_their_place(text):
    with pytest.raises(bc.ModelError, match=WRONG[text]) as caught:
        bc.load(block(text))
    assert "line" in str(caught.value)


def test_a_frequency_response_has_the_states_in_it():
    """x/F = s/(m s^3 + kd s^2 + kp s + ki); the integral is -x/s, which at a standstill carries the force."""
    f = np.array([0.0, 0.1, 0.7, 3.0])
    s = 2j * np.pi * f
    nominator = MASS * s**3 + KD * s**2 + KP * s + KI
    found = bc.frequency_response(controlled(), "tau of slide", ["slide", "integral", "error", "controller.force"], f)
    np.testing.assert_allclose(found.of("slide"), s / nominator, atol=1e-15)
    np.testing.assert_allclose(found.of("integral"), -1 / nominator, rtol=1e-12)
    np.testing.assert_allclose(found.of("error"), -s / nominator, atol=1e-15)
    np.testing.assert_allclose(found.of("controller.force"), -(KD * s**2 + KP * s + KI) / nominator, rtol=1e-12)
    at = bc.frequency_response(controlled(), "tau of slide", "slide", f, q=[TARGET], v=REST[1:])
    np.testing.assert_array_equal(at.values[:, 0], found.values[:, 0])
    for given, text in (({"v": [0, 0]}, "v goes with a position"), ({"q": [0.0], "v": [1.0, 0.0]}, "velocities of zero")):
        with pytest.raises(bc.StateError, match=text):
            bc.frequency_response(controlled(), "tau of slide", "slide", f, **given)


def test_a_driven_range_holds_the_states():
    model, places = controlled(), np.linspace(0.0, 0.6, 4)
    found = bc.drive(model, "slide", places, speed=0.5, states={"integral": 0.2})
    assert found.v == pytest.approx(np.tile([0.5, 0.2], (4, 1)))
    assert found.measure("controller.force") == pytest.approx(KP * (TARGET - places) + KI * 0.2 - KD * 0.5 - LOAD)
    assert bc.drive(lag(), "slide", [0.0, 1.0]).measure("x") == pytest.approx([0.5, 0.5])  # as they start
    for states, text in (({"integrl": 0.0}, "did you mean 'integral'"), ({"integral": math.nan}, "one finite number")):
        with pytest.raises(bc.StateError, match=text):
            bc.drive(model, "slide", places, states=states)


def test_states_follow_a_given_motion():
    """x = x0 sin(w t): the integral is target t - x0 (1 - cos(w t))/w, and the effort makes up for the controller's."""
    model, w, times = controlled(), 3.0, np.linspace(0.0, 1.0, 101)
    found = bc.inverse_motion(
        model, {"slide": lambda t: (np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t))}, times, measures=["error"]
    )
    integral = TARGET * times - (1 - np.cos(w * times)) / w
    np.testing.assert_allclose(found.v.sel(dof="integral"), integral, atol=1e-8)
    np.testing.assert_allclose(found.measures.sel(measure="error"), TARGET - np.sin(w * times), atol=1e-9)
    x, v = np.sin(w * times), w * np.cos(w * times)
    controller = KP * (TARGET - x) + KI * integral - KD * v - LOAD
    np.testing.assert_allclose(found.effort.sel(dof="slide"), -MASS * w**2 * x - controller, atol=1e-6)
    assert not found.effort.sel(dof="integral").any()
    run = bc.simulate(model)
    assert abs(bc.inverse_motion(model, run).effort).max() < 1e-12
    assert bc.inverse_motion(model, {"slide": 0.0}, [0.0]).v.sel(dof="integral").item() == 0.0


def test_states_that_run_away_along_a_motion_are_told():
    m = slider()
    m.state("x", "=exp(50*x)", 1.0)
    with pytest.raises(bc.DynamicsError, match="cannot be integrated along this motion beyond t = "):
        bc.inverse_motion(m.build(), {"slide": 0.0}, [0.0, 1.0])


def test_states_beside_a_loop_in_drive_and_along_a_motion():
    """Heat of a crank's bearing, which only cools: exp(-t); the crank's effort is that without it."""
    m = bc.Mechanism("parallelogram", gravity=(0, -9.81, 0))
    for name, x in (("left", 0.0), ("right", 1.0)):
        m.rod(name, (x, 0, 0), (x, 0.5, 0), mass=1.0, radius=0.01)
        m.joint(f"{name}_pivot", "revolute", "ground", name, point=(x, 0, 0), axis="z")
    m.rod("bar", (0, 0.5, 0), (1, 0.5, 0), mass=2.0, radius=0.01)
    m.joint("first", "revolute", "left", "bar", point=(0, 0.5, 0), axis="z")
    m.joint("second", "revolute", "right", "bar", point=(1, 0.5, 0), axis="z")
    m.state("heat", "=-heat", 1.0)
    model = m.build()
    driven = bc.drive(model, "left_pivot", [0.2, 0.4, 0.6], states={"heat": 3.0})
    assert driven.measure("heat") == pytest.approx(np.full(3, 3.0)) and driven.error.max() < 1e-12
    times = np.linspace(0.0, 1.0, 21)
    found = bc.inverse_motion(model, {"left_pivot": 0.4}, times, measures=["heat", "left_pivot.force"])
    np.testing.assert_allclose(found.measures.sel(measure="heat"), np.exp(-times), rtol=1e-7)
    weight = 9.81 * (2 * 0.25 + 2 * 0.5) * math.sin(0.4)  # N m: of both rods and the bar about the pivots
    np.testing.assert_allclose(found.effort.sel(dof="left_pivot"), -weight, rtol=1e-9)
    with pytest.raises(bc.StateError, match="actuated names 'heat'"):
        bc.inverse_motion(model, {"left_pivot": 0.4}, times, actuated=["heat"])


def test_what_does_not_know_states_says_so(tmp_path):
    model = controlled()
    with pytest.raises(bc.StateError, match="reaction_taylor does not support user-defined states"):
        bc.simulate(model, method="reaction_taylor", max_step=0.01)
    for ending in ("urdf", "xml"):
        with pytest.raises(bc.ModelError, match='the state "integral"'):
            bc.save(model, tmp_path / f"model.{ending}")


def test_the_boom_ends_where_it_should_and_the_oil_carries_it():
    model = bc.load("hydraulic_boom")
    run = bc.simulate(model, 40.0, step=1.0)
    rest = bc.equilibrium(model, t=40.0)
    assert run.q.values[-1, 0] == pytest.approx(math.radians(25), abs=1e-4)
    assert run.states.values[-1] == pytest.approx(list(rest.states.values()), rel=3e-2)  # its slowest mode takes 8 s
    assert rest.stable and rest.measures["flow"] == pytest.approx(2.0e-12 * rest.states["pressure"], rel=1e-9)
