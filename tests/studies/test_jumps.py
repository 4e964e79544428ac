"""Forces that jump: the derivatives of the run jump too, where the run passes; what is missed is named."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import AccuracyWarning
from bellcrank.studies.jumps.forces import may_jump, warn_of_integrals, warn_of_missed
from bellcrank.studies.jumps.timed import timed_jumps
from bellcrank.studies.output_names import parsed

from ..blocks import FLOATING, block

STOP = '[stops.end]\njoint = "slide"\nupper = 1.0\nstiffness = 1e4\n'
MOTOR = '[motors.drive]\njoint = "slide"\neffort = '


@pytest.mark.parametrize(
    ("force", "named"),
    [
        (STOP + "damping = 10.0", '"end" .its damping begins'),
        (MOTOR + '"=if(slide.q > 1, 2, 0)"', "drive.*decides between values"),
        ('[tables.f]\nrows = [[0, 0], [1, 1]]\ninterpolation = "previous"\n' + MOTOR + '"=f(slide.q)"', "its table has steps"),
    ],
)
def test_passages_that_no_short_step_was_made_for_are_named(force, named):
    with pytest.warns(bc.BellcrankWarning, match=f"3 passages of surfaces.*{named}"):
        warn_of_missed(bc.load(block(force)), 3)


@pytest.mark.parametrize("force", ["", STOP, MOTOR + '"=smoothstep(0, 1, slide.q)"'])
def test_continuous_forces_have_no_jumps_to_miss(force):
    assert not may_jump(bc.load(block(force)))


def test_the_height_and_the_place_of_a_pulse_are_parameters_like_others():
    """1 kg at 10 m/s passes a pulse of 0.2 H J at x0: v = sqrt(100 + 0.4 H), wherever the pulse is."""
    m = bc.Mechanism("flying", gravity=(0, 0, 0))
    m.parameter("H", 100.0)
    m.parameter("x0", 50.0)
    m.sphere("ball", (0, 0, 0), 0.1, mass=1.0)
    m.joint("slide", "prismatic", "ground", "ball", point=(0, 0, 0), axis="x")
    rows = [(0, 0), ("=x0", 0), ("=x0+0.1", "=H"), ("=x0+0.2", "=H"), ("=x0+0.3", 0), (1000, 0)]
    m.table("push", rows, interpolation="linear")
    m.motor("thrust", "slide", "=push(slide.q)")
    m.start("slide", v=10.0)
    names = ["parameters.H", "parameters.x0"]
    found = bc.sensitivity(m.build(), names, ["slide.v@end"], 10.0, step=10.0, control="all")
    v = np.sqrt(100 + 2 * 20)
    np.testing.assert_allclose(found.value("slide.v@end"), v, rtol=1e-8)
    np.testing.assert_allclose(found.d("slide.v@end"), [0.2 / v, 0.0], atol=1e-7)


RUNNING = block("[parameters]\nwall = 1.0\nfast = 1.93", '[initial.slide]\nv = "=fast"\n', top=FLOATING)
DAMPED = '[stops.end]\njoint = "slide"\nupper = "=wall"\nstiffness = 1e3\ndamping = 10.0'
DECIDED = '[motors.drive]\njoint = "slide"\neffort = "=if(slide.q > wall, -5, 1)"'


@pytest.mark.parametrize("method", ["dopri5", "radau"])
def test_a_damped_stop_that_is_moved_is_met_later(method):
    """A block of speed v0 meets a wall that pushes with -(k d + c d') at once. Moved by dw, the wall is met dw/v0 later, and all
    that follows is the same but later: dv = -a dw/v0 in contact, and behind it dv = 0, dq = (1 - v/v0) dw."""
    model = bc.load(RUNNING + DAMPED)
    given = {"duration": 0.7, "step": 0.01, "method": method, "control": "all"}
    found = bc.sensitivity(model, ["parameters.wall"], **given)
    q, v, a = (
        found.q_values[:, 0],
        found.v_values[:, 0],
        bc.compile(model, optimisation=0).acceleration(found.q_values, found.v_values),
    )
    before, touching = found.time < 1 / 1.93, (q > 1.0) & (a[:, 0] < -1.0)
    behind = (q < 1.0) & (v < 0)
    assert touching.sum() > 3 and behind.sum() > 3
    np.testing.assert_array_equal(found.dv_values[before], 0.0)
    np.testing.assert_allclose(found.dv_values[touching, 0, 0], -a[touching, 0] / 1.93, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.dv_values[behind, 0, 0], 0.0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.dq_values[behind, 0, 0], 1.0 - v[behind] / 1.93, rtol=0, atol=1e-6)


def test_a_force_that_turns_round_where_a_formula_says():
    """+1 N before the wall, -5 N behind it: v = v* - 5 (t - t*), v*^2 = v0^2 + 2 w, t* = v* - v0, so that dv/dw = 6/v*."""
    found = bc.sensitivity(bc.load(RUNNING + DECIDED), ["parameters.wall", "parameters.fast"], duration=0.8, step=0.05)
    top = np.sqrt(1.93**2 + 2)
    behind = found.time > top - 1.93
    assert behind.any() and not behind.all()
    slopes = np.array([6 / top, 6 * 1.93 / top - 5])
    np.testing.assert_allclose(found.dv_values[behind, 0], np.broadcast_to(slopes, (behind.sum(), 2)), rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.dv_values[~behind, 0], np.broadcast_to([0.0, 1.0], ((~behind).sum(), 2)), atol=1e-12)


TIMED = block("[parameters]\nT = 0.37\nH = 2.0\n", top=FLOATING)
ROWS = '[[0.0, 0.0], ["=T", "=H"], [1.0, 0.0]]\ninterpolation = "previous"\noutside = "clamp"\n'
DRIVE = '[motors.drive]\njoint = "slide"\n'


@pytest.mark.parametrize(
    "drive",
    [
        DRIVE + 'effort = "=if(time > T, H, 0)"',
        DRIVE + "table = " + ROWS,
        "[tables.steps]\nrows = " + ROWS + DRIVE + 'effort = "=steps(time)"',
    ],
)
@pytest.mark.parametrize("options", [{"method": "radau"}, {"formulation": "canonical_momenta"}])
def test_a_force_that_begins_at_a_time_that_is_moved(drive, options):
    """H from T on: v = H (t - T), q = H (t - T)^2/2. Also at a sample that is a jump, and in momenta."""
    given = {"duration": 0.74, "step": 0.37, **options}
    found = bc.sensitivity(bc.load(TIMED + drive), ["parameters.T", "parameters.H"], ["slide.v@end"], **given)
    np.testing.assert_allclose(found.time, [0.0, 0.37, 0.74])
    np.testing.assert_allclose(found.d("slide.v@end"), [-2.0, 0.37], rtol=1e-9)
    np.testing.assert_allclose(found.dq_values[-1, 0], [-2.0 * 0.37, 0.37**2 / 2], rtol=1e-9)


def test_a_force_that_comes_back_again_and_again():
    """H (t mod T): v = H (n T^2/2 + r^2/2), r = t - n T, so that dv/dT = H n (T - r)."""
    model = bc.load(TIMED + DRIVE + 'effort = "=H*mod(time, T)"')
    found = bc.sensitivity(model, ["parameters.T"], ["slide.v@end"], 0.8, step=0.1)
    assert len(found.time) == 9
    np.testing.assert_allclose(found.d("slide.v@end"), [2.0 * 2 * (0.37 - (0.8 - 2 * 0.37))], rtol=1e-8)


@pytest.mark.parametrize(
    ("text", "names", "options"),
    [
        (RUNNING + DAMPED, ["parameters.wall", "parameters.fast"], {"method": "rk4", "max_step": 0.0025}),
        (RUNNING + DECIDED, ["parameters.wall", "parameters.fast"], {}),
        (TIMED + DRIVE + 'effort = "=H*mod(time, T)"', ["parameters.T", "parameters.H"], {}),
    ],
)
def test_jumps_go_back_by_their_transposed(text, names, options):
    """At a limit that is a number of the design, where a formula decides, and at times. Where the run is not the same polynomial
    whatever the steps are, steps are fixed: rounding after a short step would choose others forward and backward."""
    outputs = ["slide.v@end", "mean(slide.q)", "slide.v@t=0.37"]
    must_go_back(bc.load(text), names, outputs, duration=0.7, step=0.1, **options)


def must_go_back(model, names, outputs, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        found = [bc.sensitivity(model, names, outputs, mode=mode, **given) for mode in ("forward", "adjoint")]
    for output in outputs:
        exact, backward = (x.d(output).values for x in found)
        np.testing.assert_allclose(backward, exact, rtol=0, atol=1e-8 * np.abs(exact).max())


def test_a_contact_with_damping_that_is_moved_is_met_later():
    """A ball flies at a wall that is dw further away: all that follows is the same but later by dw/v0."""
    m = bc.Mechanism("ball", gravity=(0, 0, 0))
    m.parameter("wall", 1.0)
    m.sphere("ball", (0, 0, 0), 0.1, mass=1.0)
    m.joint("slide", "prismatic", "ground", "ball", point=(0, 0, 0), axis="x")
    m.contact(
        "touch", "ball", (0, 0, 0), 1e3, radius=0.1, plane=("ground", ("=wall", 0, 0), (-1, 0, 0)), law="linear", damping=10.0
    )
    m.start("slide", v=1.93)
    model = m.build()
    found = bc.sensitivity(model, ["parameters.wall"], duration=0.7, step=0.01, control="all")
    must_go_back(model, ["parameters.wall"], ["slide.q@end"], duration=0.5, step=0.1, method="rk4", max_step=0.0025)
    q, v = found.q_values[:, 0], found.v_values[:, 0]
    a = bc.compile(model, optimisation=0).acceleration(found.q_values, found.v_values)[:, 0]
    touching, behind = (q > 0.9) & (a < -1.0), (q < 0.9) & (v < 0)
    assert touching.sum() > 3 and behind.sum() > 3
    np.testing.assert_allclose(found.dv_values[touching, 0, 0], -a[touching] / 1.93, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.dq_values[behind, 0, 0], 1.0 - v[behind] / 1.93, rtol=0, atol=1e-5)


@pytest.mark.parametrize("mode", ["forward", "adjoint"])
def test_an_integral_over_a_switch_changes_with_its_time(mode):
    """1 kg is pushed by 3 N until T, then by 6 N: a integrates to 6 - 3 T, a^2 to 36 - 27 T."""
    model = bc.load(block("[parameters]\nT = 0.43", '[motors.drive]\njoint = "slide"\neffort = "=if(t < T, 3, 6)"'))
    outputs = ["integral(block.ax)", "rms(drive.force)", "mean(block.vx)"]
    found = bc.sensitivity(model, ["parameters.T"], outputs, 1.0, step=0.25, mode=mode)
    rms = np.sqrt(36 - 27 * 0.43)
    assert [float(found.value(name)) for name in outputs[:2]] == pytest.approx([6 - 3 * 0.43, rms], rel=1e-12)
    # the mean of v is 3/2 + 3 (1 - T)^2 / 2
    np.testing.assert_allclose([found.d(name)[0] for name in outputs], [-3.0, -27 / (2 * rms), -3 * 0.57], rtol=1e-9)


TABLE = """
[tables.steps]
rows = [[-9.0, 1.0], ["=wall", -5.0], [9.0, 0.0]]
interpolation = "previous"
[motors.drive]
joint = "slide"
effort = "=steps(slide.q)"
"""
TWICE = DECIDED.replace("-5, 1)", "-6, 0)+if(slide.q > wall, 1, 1)")
SAW = '[motors.drive]\njoint = "slide"\neffort = "=1 - 3*mod(slide.q, wall)"'
CLOSING = ["integral(block.ax)", "mean(slide.v)", "rms(block.ax)", "slide.v@end"]


@pytest.mark.parametrize(
    ("force", "options"),
    [
        (TABLE, {"formulation": "canonical_momenta"}),
        (TABLE, {"mode": "adjoint"}),
        (TWICE, {}),
        (TWICE, {"mode": "adjoint"}),
        (DECIDED, {"method": "rk4", "max_step": 0.05}),
    ],
)
def test_integrals_are_cut_where_a_force_turns_round(force, options):
    """+1 N before the wall, -5 N behind it, passed at t* = v* - v0, v*^2 = v0^2 + 2 w: the integral of a^2 is t* + 25 (T - t*)."""
    found = bc.sensitivity(bc.load(RUNNING + force), ["parameters.wall", "parameters.fast"], CLOSING, 0.8, step=0.1, **options)
    top = np.sqrt(1.93**2 + 2)
    change, passed = np.array([1 / top, 1.93 / top - 1]), top - 1.93  # of t*
    rms = np.sqrt((passed + 25 * (0.8 - passed)) / 0.8)
    moved = np.array([0.0, 1.0]) + 6 * (0.8 - passed) / 0.8 * change  # of the mean velocity
    exact = [6 * change, moved, -12 / (0.8 * rms) * change, np.array([0.0, 1.0]) + 6 * change]
    values = [passed - 5 * (0.8 - passed), None, rms, top - 5 * (0.8 - passed)]
    for name, value, slopes in zip(CLOSING, values, exact, strict=True):
        assert value is None or float(found.value(name)) == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(found.d(name), slopes, rtol=0, atol=1e-7, err_msg=name)


def test_a_saw_tooth_over_the_state():
    """F = 1 - 3 (x mod w) has the work n w (1 - 3 w/2) after n teeth; of one that is full, dv/dw = (1 - 3 w)/v by its end, and the
    integral of a is what v gains."""
    text = RUNNING.replace("wall = 1.0", "wall = 0.3")
    outputs = ["integral(block.ax)", "slide.v@wall", "slide.v@end"]
    watched = [bc.Event("slide", 1.05, name="wall")]
    found = bc.sensitivity(bc.load(text + SAW), ["parameters.wall"], outputs, 0.8, step=0.1, events=watched)
    energy = 0.5 * 1.93**2 + 3 * (0.3 - 1.5 * 0.09) + 0.15 - 1.5 * 0.15**2
    assert float(found.value("slide.v@wall")) == pytest.approx(np.sqrt(2 * energy), rel=1e-9)
    # the rest of 1.05 - 3 w behind the third tooth
    slope = (3 * (1 - 0.9) - 3 * (1 - 3 * 0.15)) / np.sqrt(2 * energy)
    np.testing.assert_allclose(found.d("slide.v@wall"), [slope], rtol=1e-7)
    np.testing.assert_allclose(found.d("integral(block.ax)"), found.d("slide.v@end"), rtol=1e-7)


def test_surfaces_that_are_crossed_at_once_and_move_apart_are_told():
    """Two stops at the same place, of which a parameter moves one, on the way there and back."""
    two = DAMPED + "\n" + DECIDED
    with pytest.warns(bc.BellcrankWarning, match="2 passages of surfaces"):
        model = bc.load(RUNNING + two.replace("slide.q > wall", "slide.q > 1"))
        bc.sensitivity(model, ["parameters.wall"], duration=0.7, step=0.1, control="all")


def test_integrals_that_decide_by_themselves_are_named():
    with pytest.warns(bc.BellcrankWarning, match=r"rms\(if\(.*jumps by its own formula"):
        warn_of_integrals(bc.load(RUNNING), parsed(["rms(if(block.x > 1, 1, 0))", "mean(block.vx)"], [], 1.0))


def test_only_points_of_tables_that_the_design_moves_divide_a_run():
    """A motor table of straight lines: its values move no time, its points do, each by itself."""
    table = '[motors.drive]\njoint = "slide"\neffort = "=f(t)"\n[tables.f]\ninterpolation = "linear"\nrows = '
    model = bc.load(block(table + "[[0, 0], [1, 2], [2, 1], [3, 4], [9, 4]]"))
    values = [f"f.rows.{k}.1" for k in range(5)]
    assert timed_jumps(bc.Design(model, values), 0.0, 5.0, moved=True) == []
    moved = timed_jumps(bc.Design(model, [*values, "f.rows.2.0"]), 0.0, 5.0, moved=True)
    assert [(jump.time, *jump.along) for jump in moved] == [(2.0, 0, 0, 0, 0, 0, 1)]
