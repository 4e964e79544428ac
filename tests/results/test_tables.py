"""A run as a table of text that every spreadsheet opens."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import BellcrankWarning, DynamicsError, StateError
from bellcrank.model import Measure, PrescribedMotion

from .mechanisms import HINGE_Y, SLIDE_X, joint_element, make, polynomial


@pytest.fixture(scope="module")
def run():
    elements = (joint_element("drag", "damper", 1, damping=0.1),)
    measures = (Measure("bob", "position", body_a=1, component=0), Measure("twice", "expression", expression="2*bob"))
    model = make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((polynomial(0, 1.0),)), None), elements=elements, measures=measures,
                 inputs=("u",), given_v=[1.0])  # fmt: skip
    return bc.simulate(model, 1.0, step=0.25, tau=[0.1], inputs=[3.0])


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        headings, *rows = csv.reader(file)
    return headings, np.array(rows, dtype=float)


def test_a_row_a_sample_and_a_column_a_number_with_its_unit(run, tmp_path):
    headings, table = read(run.to_csv(tmp_path / "run.csv"))
    assert headings == [
        "time (s)", "q j1 (rad)", "v j1 (rad/s)", "a j1 (rad/s2)", "kinetic energy (J)", "potential energy (J)",
        "stored energy (J)", "total energy (J)", "energy balance (J)", "work of drag (J)", "work of drive of j0 (J)",
        "work of given efforts (J)", "force of drag (N m)", "effort on j0 (N)", "input u", "bob (m)", "twice",
        *(f"reaction {part} of {joint} ({'N' if part[0] == 'f' else 'N m'})" for joint in ("j0", "j1")
          for part in ("fx", "fy", "fz", "mx", "my", "mz")),
    ]  # fmt: skip
    assert table.shape == (5, len(headings))


def test_numbers_keep_all_their_digits(run, tmp_path):
    headings, table = read(run.to_csv(tmp_path / "run.csv"))
    np.testing.assert_array_equal(table[:, 0], run.time)
    np.testing.assert_array_equal(table[:, headings.index("v j1 (rad/s)")], run.v.values[:, 0])
    np.testing.assert_array_equal(table[:, headings.index("work of drag (J)")], run.work.sel(source="drag"))
    np.testing.assert_array_equal(table[:, headings.index("bob (m)")], run.measures.sel(measure="bob"))


def test_the_reactions_of_every_joint_are_in_the_table(run, tmp_path):
    headings, table = read(run.to_csv(tmp_path / "run.csv"))
    for joint, component, unit in (("j0", "fz", "N"), ("j1", "mx", "N m")):
        column = table[:, headings.index(f"reaction {component} of {joint} ({unit})")]
        np.testing.assert_array_equal(column, run.reactions.sel(joint=joint, component=component))


def test_an_existing_table_is_replaced_unless_it_is_to_be_kept(run, tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("mine")
    with pytest.raises(StateError, match=r"run.csv exists already, and keep=True"):
        run.to_csv(path, keep=True)
    assert path.read_text() == "mine"
    run.to_csv(path)
    assert path.read_text().startswith("time (s),")
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_derived_is_left_out_with_a_warning(make_run, tmp_path, monkeypatch):
    def fails(*_, **__):
        raise DynamicsError("no finite answer")

    states = make_run()
    monkeypatch.setattr(bc, "compile", fails)
    with pytest.warns(BellcrankWarning, match=r"saved without kinetic .*no finite answer"):
        states.to_csv(tmp_path / "run.csv")
    headings, _ = read(tmp_path / "run.csv")
    assert "q j0 (m)" in headings and "kinetic energy (J)" not in headings


def test_a_run_without_samples_is_a_table_without_rows(make_run, tmp_path):
    assert make_run(samples=0).to_csv(tmp_path / "run.csv").read_text().count("\n") == 1
