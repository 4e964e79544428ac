"""The summary says how a run went, to people and to machines."""

from __future__ import annotations

import json

import numpy as np
from rich.console import Console

import bellcrank
from bellcrank.errors import DynamicsError
from bellcrank.results.summary import Peak


def test_summary_tells_size_settings_cost_and_quality(make_run):
    summary = make_run().summary()
    assert (summary.model, summary.bodies, summary.dof) == ("cart", 2, 2)
    assert (summary.formulation, summary.method, summary.rtol) == ("articulated_body", "dopri5", 1e-9)
    assert (summary.steps, summary.rejected, summary.evaluations) == (1234, 5, 7404)
    assert (summary.final_time, summary.samples) == (10.0, 201)
    assert summary.energy_error == 0.0


def test_largest_reactions_name_the_joint_and_the_time(make_run):
    summary = make_run().summary()
    assert summary.largest_force == Peak("j1", 2.0, 0.0)
    assert summary.largest_moment == Peak("j0", 0.5, 0.0)


def test_the_dict_is_json_without_nan(make_run):
    text = json.dumps(make_run(amplitude=np.nan).summary().as_dict(), allow_nan=False)
    assert json.loads(text)["energy_error"] is None
    assert json.loads(text)["largest_force"] is None


def test_what_a_method_does_not_have_is_a_dash(make_run):
    run = make_run(method="rk4")
    for key in ("rtol", "atol", "rejected", "evaluations", "wall_time"):
        del run.settings[key]
    rows = dict(run.summary().rows())
    assert rows["method"] == "rk4"
    assert rows["steps"] == "1,234"
    assert rows["evaluations"] == rows["wall time"] == "-"


def test_the_reference_point_is_told(make_run):
    rows = dict(make_run(formulation="reference_point", reference="centroid").summary().rows())
    assert rows["formulation"] == "reference_point, about the centroid"


def test_the_table_and_the_text_show_the_same_rows(make_run):
    summary = make_run(stopped="NaN at t = 3 s [bold]").summary()
    console = Console(width=120)
    with console.capture() as capture:
        console.print(summary)
    for name, value in summary.rows():
        assert name in capture.get() and value in capture.get()
        assert name in str(summary) and value in str(summary)
    assert "NaN at t = 3 s [bold]" in capture.get()


def test_a_run_that_stopped_before_its_first_sample_has_a_summary(make_run):
    summary = make_run(samples=0, stopped="no finite acceleration at t = 0").summary()
    assert summary.final_time is None
    assert summary.largest_force is None
    assert "no finite acceleration" in str(summary)


def test_what_cannot_be_derived_is_unknown(make_run, monkeypatch):
    def fails(*_, **__):
        raise DynamicsError("no finite answer")

    monkeypatch.setattr(bellcrank, "compile", fails)
    summary = make_run().summary()
    assert summary.energy_error is summary.largest_force is summary.largest_moment is None
    assert dict(summary.rows())["largest force"] == "-"


def test_long_runs_are_told_in_seconds(make_run):
    assert dict(make_run(wall_time=12.34).summary().rows())["wall time"] == "12.3 s"
    assert dict(make_run(wall_time=0.01234).summary().rows())["wall time"] == "12.3 ms"
