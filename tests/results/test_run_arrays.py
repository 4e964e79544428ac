"""What a user finds in a Run: names, units, and quantities that are computed when asked for."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from bellcrank.errors import StateError
from bellcrank.joints import JOINTS
from bellcrank.results import Run


def test_states_are_labelled_by_the_names_of_the_joints(make_run):
    run = make_run("prismatic", "revolute")
    assert run.q.dims == ("time", "coordinate")
    assert run.v.dims == run.a.dims == ("time", "dof")
    assert np.array_equal(run.q.sel(coordinate="j1"), 2 * np.cos(run.time))
    assert np.array_equal(run.v.sel(dof="j0"), -np.sin(run.time))


def test_units_stand_beside_the_names(make_run):
    run = make_run("prismatic", "revolute", "spherical")
    assert run.q.q_unit.values.tolist() == ["m", "rad", "1", "1", "1", "1"]
    assert run.v.v_unit.values.tolist() == ["m/s", "rad/s", "rad/s", "rad/s", "rad/s"]
    assert run.a.a_unit.values.tolist() == ["m/s2", "rad/s2", "rad/s2", "rad/s2", "rad/s2"]
    assert run.time.units == "s"
    assert run.energy.kinetic.units == "J"
    assert run.momentum.linear.units == "kg m/s"
    assert run.momentum.angular.units == "kg m2/s"
    assert run.positions.units == "m"
    assert run.reactions.reactions_unit.values.tolist() == ["N", "N", "N", "N m", "N m", "N m"]


@pytest.mark.parametrize("kind", JOINTS)
def test_every_joint_has_a_unit_for_each_coordinate(kind):
    joint = JOINTS[kind]
    assert (len(joint.q_units), len(joint.v_units)) == (joint.nq, joint.nv)


def test_time_can_be_chosen_by_value(make_run):
    run = make_run()
    assert run.q.sel(time=5.0, coordinate="j0") == pytest.approx(np.cos(5.0))


def test_energy_has_its_parts_and_their_sum(make_run):
    run = make_run()
    assert set(run.energy) == {"kinetic", "potential", "stored", "total"}
    assert not run.energy.stored.any()
    np.testing.assert_allclose(run.energy.total, run.energy.kinetic + run.energy.potential, rtol=1e-15)


def test_reactions_are_told_apart_by_joint_and_component(make_run):
    run = make_run()
    assert run.reactions.dims == ("time", "joint", "component")
    assert run.reactions.sel(joint="j1", component="fx")[0] == -2.0


def test_poses_and_momentum_have_axes(make_run):
    run = make_run()
    assert run.positions.sel(body="b1", axis="z").dims == ("time",)
    assert run.rotations.isel(time=0).sel(body="b0").values.tolist() == np.eye(3).tolist()
    assert run.momentum.linear.sel(axis="x").shape == run.time.shape


def test_nothing_is_compiled_until_it_is_needed_and_then_once(make_run, compiled):
    run = make_run()
    assert run.q.size and run.v.size and run.a.size and repr(run)
    assert compiled == []
    assert run.energy is run.energy
    assert run.energy_error == 0.0
    assert compiled == [("articulated_body", None)]


def test_derived_quantities_use_the_formulation_of_the_run(make_run, compiled):
    assert make_run(formulation="reference_point", reference="centroid").reactions.size
    assert compiled == [("reference_point", "centroid")]


def test_a_run_can_be_sent_to_another_process():
    model = SimpleNamespace(
        name="m",
        joints=(),
        driven=(),
        joint_names=(),
        body_names=(),
        q_names=(),
        v_names=(),
        elements=(),
        force_count=0,
        body_count=0,
        state_places=(),
        inputs=(),
        measures=(),
        measure_names=(),
        measure_units=(),
        closures=(),
    )
    run = Run(model, np.zeros(1), np.zeros((1, 0)), np.zeros((1, 0)), np.zeros((1, 0)), {})
    assert pickle.loads(pickle.dumps(run)).labels == run.labels


def test_repr_says_what_it_is(make_run):
    assert repr(make_run()) == "<Run of 'cart': 201 samples, 2 coordinates, complete>"
    assert "stopped early" in repr(make_run(stopped="NaN"))


def test_arrays_of_the_wrong_shape_are_refused(make_run):
    run = make_run()
    with pytest.raises(StateError, match=r"'cart': v has shape \(201, 1\), expected \(201, 2\)"):
        Run(run.model, run.time, run.q, run.v[:, :1], run.a, {})


def test_a_run_without_model_or_labels_is_refused():
    with pytest.raises(StateError, match=r"needs its model"):
        Run(None, np.zeros(1), np.zeros((1, 0)), np.zeros((1, 0)), np.zeros((1, 0)), {})


def test_an_unknown_quantity_lists_the_known_ones(make_run):
    with pytest.raises(StateError, match=r"no quantity 'enthalpy'; it has time, q, v, a, kinetic"):
        make_run().values("enthalpy")


class TestEnergyError:
    def test_is_the_largest_imbalance_over_the_largest_energy_that_flows(self, make_run):
        run = make_run()
        kinetic = run.values("kinetic")
        run.values("potential")[100] += 0.5
        assert run.energy_error == pytest.approx(0.5 / kinetic.max(), rel=1e-12)

    def test_of_a_run_at_rest_is_zero(self, make_run):
        assert make_run(amplitude=0.0).energy_error == 0.0

    def test_does_not_blow_up_when_only_rounding_moves(self, make_run):
        """Hanging still, v is rounding (1e-17) and the potential wavers in its last digit."""
        run = make_run(amplitude=0.0)
        run.values("kinetic")[:] = 1e-34
        run.values("potential")[:] = 9.81
        run.values("potential")[7] = np.nextafter(9.81, 10)
        assert run.energy_error == 0.0

    def test_of_a_potential_that_changes_without_motion_is_not_hidden(self, make_run):
        run = make_run(amplitude=0.0)
        run.values("potential")[7] = 1.0
        assert run.energy_error == 1.0

    def test_is_unknown_without_samples_or_from_a_state_that_is_not_finite(self, make_run):
        assert np.isnan(make_run(samples=0).energy_error)
        assert np.isnan(make_run(amplitude=np.nan).energy_error)

    def test_looks_past_a_last_sample_that_is_not_finite(self, make_run):
        run = make_run()
        run.values("kinetic")[-1] = np.nan
        assert run.energy_error < 1e-14
