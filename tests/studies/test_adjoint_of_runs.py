"""Gradients by the adjoint: the same numbers as derivatives integrated with the run, on the same accepted steps."""

from functools import partial

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import AccuracyWarning, DynamicsError, NoAdjointError, StateError
from bellcrank.machine.adjoint.log import Log
from bellcrank.run.joining import from_last, joined
from bellcrank.run.loops.row_choice import Change, KeptRows
from bellcrank.studies import history
from bellcrank.studies.adjoint import backward
from bellcrank.studies.adjoint.first_state import FirstState

from ..adjoint_agreement import differences, drawn
from ..blocks import OVERDAMPED

TUMBLING = """
format = 1
name = "a brick on a spring"
[bodies.brick]
box = { center = [0.1, 0.2, 0], size = [0.3, 0.2, 0.1], mass = 2.0 }
[joints.flight]
type = "free"
parent = "ground"
child = "brick"
point = [0, 0, 0]
[springs.cord]
from = { body = "ground", point = [0, 0, 1] }
to = { body = "brick", point = [0.1, 0, 0] }
stiffness = 400
damping = 2
length = 0.5
[initial]
flight = { v = [1, 0, 0, 3, -2, 1] }
"""

OF_ARMS = ["upper.mass", "lower.inertia.zz", "lower.center.x", "gravity.z", "knee.x", "initial.elbow.q.0"]
OF_BARS = ["parameters.crank_length", "parameters.density", "gravity.y", "initial.crank_pivot.v.0"]
SAME = 1e-9  # of the largest entry of a gradient


def both(model, parameters, outputs, duration, **options):
    """Forward and adjoint, on as many steps."""
    forward, adjoint = (
        bc.sensitivity(model, parameters, outputs, duration, mode=mode, **options) for mode in ("forward", "adjoint")
    )
    assert forward.settings["steps"] == adjoint.settings["steps"]
    assert (forward.settings["mode"], adjoint.settings["mode"]) == ("forward", "adjoint")
    return forward, adjoint


def must_agree(forward, adjoint):
    for output in forward.outputs:
        exact = forward.d(output).values
        assert np.abs(exact).max() > 0
        np.testing.assert_allclose(adjoint.d(output).values, exact, rtol=0, atol=SAME * np.abs(exact).max(), err_msg=output)
        assert adjoint.value(output) == pytest.approx(forward.value(output), rel=1e-11)
        assert adjoint.when(output) == forward.when(output)


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
def test_a_tree_with_outputs_of_every_kind(method):
    model = bc.load("double_pendulum")
    outputs = ["lower.x@end", "lower.y@t=0.23", "max(lower.y)", "rms(lower.x)", "mean(energy.kinetic)"]
    outputs += ["integral(lower.x * energy.kinetic)", "elbow.fx@end"]
    must_agree(*both(model, OF_ARMS, outputs, 0.4, step=0.05, method=method, max_step=0.005))


def test_quaternions_and_constant_efforts():
    model = bc.load("heavy_top")
    parameters = list(model.parameters)[5::4]
    must_agree(*both(model, parameters, ["energy.kinetic@end", "mean(tip.fx)"], 0.05, step=0.01, tau=[0.1] * model.nv))


def test_a_loop_whose_start_is_assembled():
    """Moving a hard point moves the start; projection and assembly go back by their transposed solves."""
    model = bc.load("four_bar")
    parameters = [name for name in model.parameters if name.startswith(("parameters", "C.y", "initial"))]
    must_agree(*both(model, parameters, ["energy.kinetic@end", "rms(rocker.x)", "crank_pivot.a@t=0.1"], 0.2, step=0.05))


def test_a_start_at_a_dead_centre_is_named_without_taking_one_parameter_after_the_other():
    """The rocker is held where it turns back: a longer crank would carry it further; what the bars weigh does not matter."""
    model = bc.load("four_bar")
    design = bc.Design(model, ["parameters.density", "parameters.crank_length"])
    dynamics = bc.compile(model, "multipliers", design=design, optimisation=0)
    end = bc.drive(model, "rocker_pin", [0.5, 2.0]).limits[0]
    start = {"q": end.q, "v": np.zeros(3), "t": np.array(0.0)}
    held = FirstState(dynamics, design, start, {"q": {"rocker_pin": end.value}, "v": np.zeros(3)})
    with pytest.raises(DynamicsError, match="no derivative by 'parameters.crank_length'.*dead centre"):
        held.must_follow()


def test_the_time_of_an_event_and_what_is_taken_there():
    model = bc.load("pendulum")
    event = bc.Event("hinge.q", value=0.0, name="passage")
    parameters = list(model.parameters)[5:]
    forward, adjoint = both(model, parameters, ["passage.time", "energy.kinetic@passage"], 1.0, step=0.1, events=[event])
    must_agree(forward, adjoint)


def test_several_outputs_are_those_of_each():
    model = bc.load("pendulum")
    parameters, outputs = list(model.parameters)[5:], ["energy.kinetic@end", "rms(energy.kinetic)"]
    together = bc.sensitivity(model, parameters, outputs, 0.5, step=0.1, mode="adjoint")
    for output in outputs:
        alone = bc.sensitivity(model, parameters, [output], 0.5, step=0.1, mode="adjoint")
        np.testing.assert_allclose(together.d(output), alone.d(output), rtol=1e-10)


def test_the_cheaper_of_the_two_is_taken_by_counting():
    model = bc.load("pendulum")
    few, many = list(model.parameters)[5:8], list(model.parameters)[5:]

    def mode(parameters, outputs, **options):
        return bc.sensitivity(model, parameters, outputs, 0.2, step=0.1, **options).settings["mode"]

    assert mode(few, ["energy.kinetic@end"]) == "forward"
    assert mode(many, ["energy.kinetic@end"]) == "adjoint"
    assert mode(many, ["energy.kinetic@end", "energy.kinetic"]) == "forward"
    assert mode(many, ["energy.kinetic@end"], control="all") == "forward"
    assert mode(many, []) == "forward"


def test_what_an_adjoint_cannot_do_is_refused_with_the_way_out():
    model = bc.load("pendulum")

    def ask(outputs, **options):
        return bc.sensitivity(model, ["gravity.y"], outputs, 0.2, step=0.1, mode="adjoint", **options)

    with pytest.raises(NoAdjointError, match='none is named.*mode="forward"'):
        ask([])
    with pytest.raises(NoAdjointError, match='taken at all samples.*mode="forward"'):
        ask(["energy.kinetic"])
    with pytest.raises(NoAdjointError, match='control="all".*mode="forward"'):
        ask(["energy.kinetic@end"], control="all")
    with pytest.raises(StateError, match="memory"):
        ask(["energy.kinetic@end"], memory=0.0)
    found = ask(["energy.kinetic@end"])
    with pytest.raises(StateError, match='not of the state: ask with mode="forward"'):
        found.dq
    assert "dq" not in found.to_dataset()


BIT_BY_BIT = [("double_pendulum", "dopri5"), ("double_pendulum", "radau"), ("double_pendulum", "gauss4")]


@pytest.mark.parametrize(("name", "method"), [*BIT_BY_BIT, ("four_bar", "midpoint4")])
def test_steps_that_are_taken_again_give_the_same_gradient_bit_by_bit(name, method):
    """Also those that go on with a Jacobian, or with the pushes of closed loops, from long before."""
    model, options = bc.load(name), {"step": 0.1, "max_step": 0.02, "mode": "adjoint", "method": method}
    parameters = OF_ARMS if name == "double_pendulum" else OF_BARS
    kept, again = (
        bc.sensitivity(model, parameters, ["energy.kinetic@end"], 1.0, memory=memory, **options) for memory in (100.0, 1e-4)
    )
    np.testing.assert_array_equal(again.d("energy.kinetic@end"), kept.d("energy.kinetic@end"))


def test_a_long_run_is_written_down_in_many_pieces(monkeypatch):
    """More than sixty of them: the steps that a piece may have are doubled after each, up to a limit."""
    model, asked = bc.load("pendulum"), (["gravity.y"], ["energy.kinetic@end"], 20.0)
    whole = bc.sensitivity(model, *asked, step=1.0, mode="adjoint")
    monkeypatch.setattr(backward, "Log", partial(Log, capacity=8))
    pieces = bc.sensitivity(model, *asked, step=1.0, mode="adjoint")
    assert pieces.settings["steps"] == whole.settings["steps"] > 70 * 8
    np.testing.assert_allclose(pieces.d("energy.kinetic@end"), whole.d("energy.kinetic@end"), rtol=1e-12)


@pytest.mark.parametrize("method", ["radau", "implicit_midpoint", "gauss4"])
def test_implicit_methods_by_the_transposed_equations_of_their_stages(method):
    """Forward the iterations of radau end at a part of the tolerance, which therefore is small here."""
    options = {"rtol": 1e-10, "atol": 1e-10} if method == "radau" else {"max_step": 0.01}
    outputs = ["lower.x@t=0.13", "rms(lower.y)", "energy.kinetic@end"]
    must_agree(*both(bc.load("double_pendulum"), OF_ARMS, outputs, 0.2, step=0.05, method=method, **options))


GALLERY = [
    ("every_joint", "dopri5"),
    ("hydraulic_boom", "dopri5"),  # user-defined states
    ("bump", "dop853"),  # contacts
    ("gearbox", "radau"),  # couplers and loops
    ("heavy_top", "radau"),  # quaternions
    ("engine", "dopri5"),  # many accepted steps, cut where tables have kinks: forward alone would take others
]


@pytest.mark.parametrize(("name", "method"), GALLERY)
def test_models_of_the_gallery_on_the_very_steps_of_the_adjoint(name, method):
    """python -m tests.adjoint_agreement has the others, and longer runs."""
    model = bc.load(name)
    steps, found = differences(model, method, drawn(model, 6), 0.05)
    assert steps > 1
    assert max(x for x in found.values() if x is not None) < SAME


def test_momenta_as_coordinates_and_velocities():
    """p at the start depends on the masses, and so does v at a sample."""
    options = {"step": 0.05, "formulation": "canonical_momenta"}
    must_agree(*both(bc.load("double_pendulum"), OF_ARMS, ["lower.x@end", "mean(energy.kinetic)"], 0.2, **options))


def test_a_run_that_becomes_stiff_is_gone_through_backward_by_both_of_its_methods():
    """dopri5 until it shows itself stiff, radau from there on; samples on both sides of that."""
    model = bc.load(OVERDAMPED)
    outputs = ["slide.q@end", "mean(slide.q)", "slide.v@t=0.1"]
    with pytest.warns(AccuracyWarning):
        forward, adjoint = both(model, ["parameters.c", "parameters.k"], outputs, 1.0, step=0.02)
    must_agree(forward, adjoint)
    assert adjoint.settings["jacobians"] > 0
    np.testing.assert_allclose(adjoint.d("slide.q@end"), [0.5 / 2e5 * np.exp(-0.5), -1 / 2e5 * np.exp(-0.5)], rtol=1e-4)


def test_quaternions_that_are_turned_as_a_group():
    """By a step of five parts; the functions that turn them are transposed as kernels are."""
    outputs, options = ["energy.kinetic@end", "rms(brick.x)"], {"step": 0.05, "max_step": 0.01, "method": "midpoint4"}
    names = ["cord.stiffness", "brick.mass", "brick.center.y", "gravity.z", "initial.flight.v.3"]
    must_agree(*both(bc.load(TUMBLING), names, outputs, 0.1, **options))


def test_pushes_that_keep_loops_closed_by_their_transposed_equations():
    """Of every part of a step the two pushes, at its start and at its end, do not move the adjoint of the momenta."""
    outputs, options = ["energy.kinetic@end", "energy.potential@t=0.1"], {"step": 0.1, "max_step": 0.02, "method": "midpoint4"}
    must_agree(*both(bc.load("four_bar"), OF_BARS, outputs, 0.2, **options))


def test_pushes_of_a_linkage_in_space_with_a_redundant_equation():
    """Bricard's, beside differences along a direction, extrapolated: good for 1e-10."""
    names, output, options = (
        ["parameters.L", "parameters.m"],
        "energy.kinetic@end",
        {"step": 0.01, "method": "implicit_midpoint"},
    )

    def asked(x):
        model = bc.load("bricard").with_parameters(dict(zip(names, x, strict=True)))
        return bc.sensitivity(model, names, [output], 0.04, mode="adjoint", **options)

    at = np.array([bc.load("bricard").parameters[name] for name in names])
    rough, fine = (
        float((asked(at * (1 + e)).value(output) - asked(at * (1 - e)).value(output)) / (2 * e)) for e in (2e-3, 1e-3)
    )
    assert asked(at).d(output).values @ at == pytest.approx((4 * fine - rough) / 3, rel=1e-8)


@pytest.mark.parametrize("given_up", [0, 1])
def test_equations_that_are_chosen_again_along_the_run(monkeypatch, given_up):
    """Made to be chosen again in the midst of a run, at its last state or at a sample behind which steps are given up.

    dopri5 takes its samples from inside of steps, and projects them."""
    changed = []

    class Changing(KeptRows):
        def __call__(self, start, times):
            middle = len(times) // 2
            outcome = self.run(self.dynamics, start, times[: middle + given_up], self.loops).until(middle)
            other = self.dynamics.replanned(outcome.q[-1], outcome.times[-1])
            self._planned, self.changes = [self.dynamics, other], [Change(float(outcome.times[-1]), "chosen again")]
            changed.append(other is not self.dynamics)
            rest = self.run(other, from_last(other, start, outcome), times[middle - 1 :], self.loops)
            return joined(outcome, rest, np.isfinite(outcome.times))

    for module in (backward, history):
        monkeypatch.setattr(module, "KeptRows", Changing)
    outputs = ["energy.kinetic@end", "energy.kinetic@t=0.05", "mean(crank_pivot.a)"]
    forward, adjoint = (
        bc.sensitivity(bc.load("four_bar"), OF_BARS, outputs, 0.2, step=0.05, mode=mode, max_step=0.004)
        for mode in ("forward", "adjoint")
    )
    assert changed == [True, True]
    must_agree(forward, adjoint)


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_momenta_of_loops_are_settled_backward(name):
    """p = M v(q, p) after each step, at the momenta before that. P.z of the five-bar takes its loop out of its plane: numbers
    of the recorded graph that nothing depends on are there multiplied with adjoints that are zero."""
    names = OF_BARS if name == "four_bar" else ["P.z", "parameters.L", "parameters.q1"]
    options = {"step": 0.05, "max_step": 0.005, "formulation": "canonical_momenta", "method": "dopri5"}
    must_agree(*both(bc.load(name), names, ["energy.kinetic@end", "energy.potential@t=0.03"], 0.1, **options))


def test_reactions_of_loops_with_redundant_equations():
    """Those of least norm go back too, whose size of the mechanism is itself a number of the design."""
    model, outputs = bc.load("four_bar"), ["crank_pivot.fx@end", "rms(rocker_pin.whole.fy)", "max(crank_pin.fy)"]
    must_agree(*both(model, OF_BARS, outputs, 0.04, step=0.02, max_step=0.004))
    planetary, names = bc.load("planetary"), ["third.turn.about.x", "carrier_shaft.armature"]
    with pytest.raises(StateError, match="'third.turn.about.x' takes apart"):
        bc.sensitivity(planetary, names, ["third.bearing.fx@end"], 0.01, step=0.01, mode="adjoint")
