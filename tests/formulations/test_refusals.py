"""States and models without a finite answer: the message names what is wrong, and a batch goes on."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations import FORMULATIONS
from bellcrank.model.generators import chain, random_state

from .mechanisms import build


def stretched():
    """A massless upper arm with a point mass at the end of the lower one: stretched out, nothing resists the shoulder alone."""
    return build(
        [("revolute", (0, 0, 1)), ("revolute", (0, 0, 1))],
        mass=[0.0, 1.0],
        inertia=np.zeros((2, 3, 3)),
        position=[[0, 0, 0], [1, 0, 0]],
        center=[[0, 0, 0], [1, 0, 0]],
    )


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_singular_position_names_the_joint_or_shows_in_the_numbers(name):
    """At other positions the same mechanism is fine. The pivot is zero but for rounding: a tiny one gives huge accelerations."""
    formulation, _, option = name.partition(":")
    dynamics = bc.compile(stretched(), formulation, reference=option or None)
    assert np.abs(dynamics.acceleration([0.0, 1.0], [1.0, 1.0])).max() < 100
    message = ""
    try:
        a = dynamics.acceleration([0.0, 0.0], [0.0, 0.0], [1.0, 0.0])
    except bc.DynamicsError as error:
        message = str(error)
    assert "joint 'joint1' moves no inertia" in message if message else np.abs(a).max() > 1e12


def test_a_singular_position_stops_the_default_by_name():
    with pytest.raises(bc.DynamicsError, match=r"joint 'joint1' moves no inertia .*'body1'"):
        bc.compile(stretched()).acceleration([0.0, 0.0], [0.0, 0.0])


def test_a_massless_leaf_is_named_whatever_its_state():
    """Its pivot folds to zero before there is any machine code."""
    with pytest.raises(bc.DynamicsError, match="joint 'joint2' moves no inertia"):
        bc.compile(
            build([("revolute", (0, 0, 1)), ("revolute", (1, 0, 0))], mass=[1.0, 0.0], inertia=[np.eye(3), np.zeros((3, 3))])
        )


def test_a_batch_marks_its_bad_states_and_answers_the_others():
    dynamics = bc.compile(stretched())
    q = np.array([[0.0, 1.0], [0.0, 0.0], [np.nan, 1.0], [0.0, 2.0], [0.0, 0.5]])
    status = np.full(5, -1)
    a = dynamics.acceleration(q, np.ones((5, 2)), status=status)
    assert status.tolist() == [0, 2, 1, 0, 0]
    assert np.isfinite(a[status == 0]).all() and not np.isfinite(a[status == 2]).all(axis=1).any()


def test_a_status_of_the_wrong_length_is_refused():
    with pytest.raises(bc.StateError, match=r"status must have shape \(2,\)"):
        bc.compile(stretched()).acceleration(np.ones((2, 2)), np.ones((2, 2)), status=np.zeros(3, dtype=int))


def test_an_absurd_speed_is_not_blamed_on_a_mass():
    model = chain(3)
    with pytest.raises(bc.DynamicsError, match="the state is too large for double precision"):
        bc.compile(model).acceleration(np.zeros(3), np.full(3, 1e200))


def test_a_quaternion_of_zero_is_named():
    with pytest.raises(bc.StateError, match="the quaternion of joint 'joint2' is zero"):
        bc.compile(build(["fixed", "spherical", ("revolute", (0, 1, 0))], seed=1)).acceleration([0, 0, 0, 0, 0.1], np.ones(4))


def test_a_number_that_is_none_is_named():
    with pytest.raises(bc.StateError, match="v of 'joint2' is nan"):
        bc.compile(chain(3)).acceleration(np.zeros(3), [0.0, np.nan, 0.0])


@pytest.mark.parametrize(
    ("q", "v", "message"),
    [
        (np.zeros(2), np.zeros(3), r"q has shape \(2,\); model 'chain of 3' needs \(3,\)"),
        (np.zeros(3), np.zeros((4, 2)), r"v has shape \(4, 2\)"),
        (np.zeros((2, 3)), np.zeros((3, 3)), "the batches differ in length"),
        (["a", "b", "c"], np.zeros(3), "q must be numbers"),
    ],
)
def test_arguments_of_the_wrong_shape_are_refused(q, v, message):
    with pytest.raises(bc.StateError, match=message):
        bc.compile(chain(3)).acceleration(q, v)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formulation": "articulated_bodi"}, "did you mean 'articulated_body'"),
        ({"formulation": "reference_point", "reference": "tip"}, "use 'centroid', 'joint' or 'origin'"),
        ({"formulation": "mass_matrix", "reference": "joint"}, "is an option of formulations 'reference_point'"),
    ],
)
def test_an_unknown_formulation_is_refused_with_a_hint(options, message):
    with pytest.raises(bc.StateError, match=message):
        bc.compile(chain(1), **options)


def test_arguments_are_not_changed_and_results_are_not_shared():
    model = chain(3)
    dynamics = bc.compile(model)
    q, v = random_state(model, 0)
    before = q.copy(), v.copy()
    first = dynamics.acceleration(q, v)
    kept = first.copy()
    dynamics.acceleration(q, 2 * v)
    assert (first == kept).all() and (q == before[0]).all() and (v == before[1]).all()
