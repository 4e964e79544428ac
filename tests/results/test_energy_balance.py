"""Where energy comes from and goes to: works of every source, energy in springs, and what is left unexplained."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import SimulationError, StateError
from bellcrank.model import Element, PrescribedMotion, Table
from bellcrank.results import Run

from .mechanisms import HINGE_Y, SLIDE_X, force, joint_element, make, pendulum, polynomial, spring

TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def test_the_balance_of_a_damped_and_driven_pendulum_closes():
    """The tolerance of the run is 1e-12 a step; over some hundred steps the energy is good to 1e-9."""
    model = pendulum(elements=(joint_element("drag", "damper", damping=0.4), joint_element("motor", "effort", value=1.5)))
    run = bc.simulate(model, 10.0, step=0.05, tau=[0.3], **TIGHT)
    assert run.work.source.values.tolist() == ["drag", "motor", "given efforts"]
    assert run.energy_error < 1e-9
    gained = run.energy.total - run.energy.total[0]
    np.testing.assert_allclose(run.work.sum("source"), gained, atol=1e-8)
    np.testing.assert_allclose(run.balance, gained - run.work.sum("source"), atol=1e-15)
    assert abs(gained).max() > 1


def test_constant_efforts_do_work_in_proportion_to_the_angle():
    model = pendulum(elements=(joint_element("motor", "effort", value=2.0),))
    run = bc.simulate(model, 3.0, step=0.1, tau=[-0.5], **TIGHT)
    turned = run.q.sel(coordinate="j0") - 0.5
    np.testing.assert_allclose(run.work.sel(source="motor"), 2.0 * turned, atol=1e-9)
    np.testing.assert_allclose(run.work.sel(source="given efforts"), -0.5 * turned, atol=1e-9)


def test_a_mass_on_a_spring_gives_its_energy_to_and_fro():
    """x = cos(wt), w = 3: the spring holds k cos^2/2, the mass m w^2 sin^2/2; a spring does no work beyond what it stores."""
    model = make(SLIDE_X, given_q=[1.0], elements=(joint_element("coil", "spring", stiffness=9.0, rest=0.0, preload=0.0),))
    run = bc.simulate(model, 4.0, step=0.1, **TIGHT)
    phase = 3 * run.time
    np.testing.assert_allclose(run.energy.stored, 4.5 * np.cos(phase) ** 2, atol=1e-9)
    np.testing.assert_allclose(run.energy.kinetic, 4.5 * np.sin(phase) ** 2, atol=1e-9)
    np.testing.assert_allclose(run.energy.total, 4.5, rtol=1e-9)
    np.testing.assert_allclose(run.forces.sel(element="coil"), -9.0 * np.cos(phase), atol=1e-9)
    assert run.forces.forces_unit.values.tolist() == ["N"]
    assert not run.work.any()
    assert run.storage.sel(element="coil").equals(run.energy.stored.assign_coords(element="coil"))


def test_a_damper_takes_what_the_oscillation_loses():
    values = {"stiffness": 9.0, "rest": 0.0, "preload": 0.0}
    elements = (joint_element("coil", "spring", **values), joint_element("oil", "damper", damping=0.2))
    run = bc.simulate(make(SLIDE_X, given_q=[1.0], elements=elements), 4.0, step=0.1, **TIGHT)
    np.testing.assert_allclose(run.work.sel(source="oil"), run.energy.total - 4.5, atol=1e-9)
    assert (np.diff(run.work.sel(source="oil")) < 0).all()


def test_a_constant_force_does_work_along_the_way_of_its_point():
    model = make(SLIDE_X, elements=(force("push", fx=2.0, fz=5.0, body_a=0),))
    run = bc.simulate(model, 2.0, step=0.1, **TIGHT)
    np.testing.assert_allclose(run.work.sel(source="push"), run.time**2 * 2.0, atol=1e-10)


def test_a_drive_puts_in_what_its_mass_gains():
    """x = t^2: the effort is 2 m, the work m (2t)^2/2."""
    run = bc.simulate(
        make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((polynomial(0, 0, 1.0),)), None)), 2.0, step=0.1, **TIGHT
    )
    assert run.work.source.values.tolist() == ["drive of j0"]
    np.testing.assert_allclose(run.drives.sel(drive="j0"), 4.0, rtol=1e-12)
    np.testing.assert_allclose(run.work.sel(source="drive of j0"), 4 * run.time**2, atol=1e-10)
    assert run.drives.drives_unit.values.tolist() == ["N"]
    assert run.energy_error < 1e-10


def test_the_drives_of_one_joint_are_one_source_with_an_effort_each():
    """A nut that turns by t^2 and slides by 2t^2: efforts 2 J and 4 m, works J (2t)^2/2 and m (4t)^2/2."""
    motion = PrescribedMotion((polynomial(0, 0, 1.0), polynomial(0, 0, 2.0)))
    run = bc.simulate(make(("cylindrical", (0, 0, 1)), HINGE_Y, motions=(motion, None), mass=[1.0, 0.5]), 1.0, **TIGHT)
    assert run.drives.drive.values.tolist() == ["j0.angle", "j0.slide"]
    assert run.drives.drives_unit.values.tolist() == ["N m", "N"]
    np.testing.assert_allclose(run.drives.sel(drive="j0.slide"), 4.0 * 1.5, rtol=1e-12)
    np.testing.assert_allclose(run.drives.sel(drive="j0.angle"), 2.0 * 2.0, rtol=1e-12)
    np.testing.assert_allclose(run.work.sel(source="drive of j0"), (2 * 2 + 8 * 1.5) * run.time**2, atol=1e-10)


def test_works_of_drives_keep_their_names_when_a_child_comes_before_its_parent():
    """Two carriages, the second listed first: the lower one carries both masses."""
    motions = (PrescribedMotion((polynomial(0, 0, 0.5),)), PrescribedMotion((polynomial(0, 1.0),)), None)
    model = make(SLIDE_X, ("prismatic", (0, 0, 1)), HINGE_Y, parents=(1, -1, 0), motions=motions, mass=[1.0, 2.0, 0.0])
    run = bc.simulate(model, 1.0, **TIGHT)
    np.testing.assert_allclose(run.work.sel(source="drive of j0"), 0.5 * run.time**2, atol=1e-12)
    np.testing.assert_allclose(run.work.sel(source="drive of j1"), 0.0, atol=1e-12)


def test_inputs_are_told_with_the_run_and_their_work_is_the_elements():
    motor = Element("motor", "joint_input", {"gain": 2.0}, joint=0, input=0)
    run = bc.simulate(make(SLIDE_X, elements=(motor,), inputs=("volts",)), 2.0, inputs=[1.5], **TIGHT)
    assert run.inputs.sel(input="volts").values.tolist() == [1.5] * run.time.size
    np.testing.assert_allclose(run.work.sel(source="motor"), (3 * run.time) ** 2 / 2, atol=1e-9)


def test_inputs_that_were_not_given_are_zero():
    motor = Element("motor", "joint_input", {"gain": 2.0}, joint=0, input=0)
    model = make(SLIDE_X, elements=(motor,), inputs=("volts",))
    run = Run(model, np.zeros(2), np.zeros((2, 1)), np.zeros((2, 1)), np.zeros((2, 1)), {})
    assert run.inputs.values.tolist() == [[0.0], [0.0]]


def test_a_run_that_stops_early_has_its_works_up_to_there():
    """The table of the motor ends at 0.5 s, where the run must stop."""
    motor = Element("motor", "joint_effort", {"value": 0.0}, joint=0, table=Table((0.0, 0.5), (1.0, 1.0)))
    with pytest.raises(SimulationError) as caught:
        bc.simulate(make(SLIDE_X, elements=(motor,)), 1.0, step=0.2)
    run = caught.value.run
    assert run.work.shape == (run.time.size, 1)
    assert run.final_state().t > 0.4
    assert run.work[-1, 0] == pytest.approx(run.final_state().v[0] ** 2 / 2, rel=1e-6)


def test_a_run_without_forces_has_no_sources():
    run = bc.simulate(pendulum(), 1.0)
    assert run.work.shape == (101, 0)
    assert run.forces.shape == run.drives.shape == run.measures.shape == run.inputs.shape == (101, 0)


def test_works_cannot_be_had_from_states_alone():
    model = pendulum(elements=(joint_element("drag", "damper", damping=0.4),))
    run = Run(model, np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)), {})
    with pytest.raises(StateError, match=r"works of this run are not known: they are integrated along by bellcrank.simulate"):
        run.work
    assert run.summary().energy_error is None
    assert run.summary().works == ()


def test_a_run_goes_on_from_where_another_ended():
    whole = bc.simulate(pendulum(), 2.0, step=0.5, **TIGHT)
    first = bc.simulate(pendulum(), 1.0, step=0.5, **TIGHT).final_state()
    second = bc.simulate(pendulum(), 1.0, step=0.5, q=first.q, v=first.v, **TIGHT).final_state()
    assert first.t == 1.0
    np.testing.assert_allclose(second.q, whole.final_state().q, atol=1e-9)


def test_a_run_without_samples_has_no_final_state():
    run = Run(pendulum(), np.zeros(0), np.zeros((0, 1)), np.zeros((0, 1)), np.zeros((0, 1)), {})
    with pytest.raises(StateError, match=r"run of 'by hand' has no samples, and so no final state"):
        run.final_state()


def test_everything_about_forces_survives_the_file(tmp_path):
    elements = (
        spring("coil", 20.0, damping=0.1, length=0.5, body_b=1, point_a=(0, 0, 1)),
        joint_element("drag", "damper", 1, damping=0.1),
    )
    model = make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((polynomial(0, 0.3),)), None), elements=elements, inputs=("u",), given_v=[1.0],
                 center=[[0, 0, 0], [0, 0, -1]])  # fmt: skip
    run = bc.simulate(model, 1.0, tau=[0.1], inputs=[2.0])
    back = bc.load_run(run.save(tmp_path / "run.nc"))
    for name in ("work", "balance", "storage", "forces", "drives", "inputs"):
        assert getattr(back, name).identical(getattr(run, name)), name
    assert back.energy.identical(run.energy)
    assert back.energy_error == run.energy_error
    assert back.summary() == run.summary()


def test_the_summary_lists_works_by_size_and_the_largest_effort_of_each_drive():
    elements = (joint_element("drag", "damper", 1, damping=0.1), joint_element("idle", "damper", 1, damping=0.0))
    model = make(
        SLIDE_X, HINGE_Y, motions=(PrescribedMotion((polynomial(0, 0, 0, 1.0),)), None), elements=elements, given_v=[1.0]
    )
    summary = bc.simulate(model, 1.0, **TIGHT).summary()
    assert [work.source for work in summary.works] == ["drive of j0", "drag"]
    assert summary.works[0].value == pytest.approx(9.0)
    assert (summary.drives[0].drive, summary.drives[0].unit, summary.drives[0].time) == ("j0", "N", 1.0)
    assert summary.drives[0].value == pytest.approx(12.0)
    rows = dict(summary.rows())
    assert rows["work of drive of j0"] == "9 J"
    assert rows["effort on j0"] == "up to 12 N at t = 1 s"
    assert summary.as_dict()["works"][0] == {"source": "drive of j0", "value": summary.works[0].value}


def test_a_long_list_of_works_is_cut_and_says_so():
    elements = tuple(joint_element(f"drag{k}", "damper", damping=0.1 + k) for k in range(9))
    summary = bc.simulate(make(SLIDE_X, elements=elements, given_v=[1.0]), 1.0).summary()
    assert len(summary.as_dict()["works"]) == 9
    assert dict(summary.rows())["more works"] == "3, not shown"
