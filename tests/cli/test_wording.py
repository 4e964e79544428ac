"""What people read: one or several, no empty lists, no double blanks, no rounding noise."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.inspection.loops.naming import direction_words
from bellcrank.model.builder import rate
from bellcrank.results.summary import Effort
from bellcrank.wording import OPTIONS, STUDY, argument, counted, in_terms_of, together

SMALL = ("pendulum", "four_bar")
SLOPPY = {
    "a plural of one": re.compile(r"\b1 (bodies|coordinates|samples|steps|values|equations|joints|inputs|states)\b"),
    "an empty list": re.compile(r"\[\] |\(\)|, ,| ,"),
    "a missing unit": re.compile(r"\d  at\b"),
    "noise": re.compile(r"\b\d\.\d+e-1[3-9] (rad|m|mm|Hz|N|J)\b(?!/| or rad)"),
}


@pytest.mark.parametrize("name", SMALL)
def test_what_commands_say_is_tidy(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (("check",), ("run", "--duration", "0.1", "--no-plot"), ("equilibrium",), ("modes",), ("assemble",), ("ops",)):
        shown = CliRunner().invoke(main, [words[0], name, *words[1:]]).output
        for what, pattern in SLOPPY.items():
            assert not pattern.search(shown), (what, words, pattern.search(shown))


def test_a_change_point_leaves_nothing_else_unusual():
    assert str(bc.check(bc.load("parallelogram"))).endswith("\nnothing else unusual")
    assert str(bc.check(bc.load("four_bar"))).endswith("\nnothing unusual")


def test_the_dof_of_a_run_are_those_of_check_in_text_and_in_json():
    """A four-bar has three coordinates and one degree of freedom; also when the run is read back without its model."""
    model = bc.load("four_bar")
    summary = bc.simulate(model, 0.05).summary()
    assert (summary.dof, summary.coordinates) == (1, 3)
    assert {"degrees of freedom": "1", "coordinates": "3"}.items() <= dict(summary.rows()).items()
    report = json.loads(CliRunner().invoke(main, ["check", "four_bar", "--json"]).stdout)
    assert (report["dof"], report["coordinates"]) == (1, 3)


def test_the_dof_are_known_from_a_file(tmp_path):
    run = bc.simulate(bc.load("four_bar"), 0.05)
    assert bc.load_run(run.save(tmp_path / "run.nc")).summary().dof == 1


def test_a_drive_without_a_unit_leaves_no_gap():
    run = bc.simulate(bc.load("pendulum"), 0.1)
    effort = Effort("gear", 0.6531, "", 0.25)
    summary = dataclasses.replace(run.summary(), drives=(effort,))
    assert dict(summary.rows())["effort on gear"] == "up to 0.6531 at t = 0.25 s"


def test_a_file_without_joints_says_so():
    with pytest.raises(bc.ModelError, match="the file has no joints"):
        bc.load('format = 1\nname = "m"\n[bodies.a]\nmass = 1.0\ncenter = [0, 0, 0]\ninertia = [1, 1, 1]\n')


def test_one_value_of_a_drive_is_no_range():
    found = bc.drive(bc.load("four_bar"), "rocker_pin", [0.8427, 0.9])
    assert "driven through 1 value, 0.8427 rad" in str(found) and "\n1 value out of reach" in str(found)


def test_a_driven_mechanism_has_no_modes_and_says_so():
    m = bc.Mechanism("shaker")
    m.body("table", 1.0, (0, 0, 0), (1.0, 1.0, 1.0))
    m.joint("slide", "prismatic", "ground", "table", (0, 0, 0), axis="x", motion=rate(1.0))
    assert str(bc.modes(m.build())).startswith("shaker: no modes, nothing is free to move")


SKEW = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]


@pytest.mark.parametrize(
    ("axes", "has_axis", "places", "words"),
    [
        (np.eye(3), True, (0, 2), "forces along x and its axis z"),
        (SKEW, True, (0, 1, 2), "forces along all directions"),
        (SKEW, True, (3, 5), "moments about its axis and a direction across it"),
        (SKEW, True, (0, 1), "forces along two directions across its axis"),
        (SKEW, True, (1,), "force along a direction across its axis"),
        (SKEW, False, (1,), "force along a direction"),
    ],
)
def test_directions_in_words(axes, has_axis, places, words):
    assert direction_words(axes, has_axis, places) == words


def test_a_spring_across_a_slide_has_no_frequency():
    """Its force is at right angles to the only motion: what rounding leaves of it is no vibration."""
    m = bc.Mechanism("slide")
    m.body("sled", 1.0, (0, 0, 0), (1.0, 1.0, 1.0))
    axis = (np.cos(0.3), np.sin(0.3), 0.0)
    m.joint("rail", "prismatic", "ground", "sled", (0, 0, 0), axis=axis)
    across = (-np.sin(0.3), np.cos(0.3), 0.0)
    m.line_spring("spring", ("ground", across), ("sled", (0, 0, 0)), 1e4, length=1.0)
    assert bc.check(m.build()).fastest_frequency is None


def test_a_range_that_begins_at_zero_shows_no_rounding():
    run = bc.simulate(bc.load("pendulum"), 0.1)
    from bellcrank.results.summary import Range

    rows = dict(dataclasses.replace(run.summary(), measures=(Range("tip", -2.8e-17, 0.0019, "m"),)).rows())
    assert rows["tip"] == "0 to 0.0019 m"


def test_words():
    assert (counted(1, "body", "bodies"), counted(2, "body", "bodies"), counted(0, "step")) == ("1 body", "2 bodies", "0 steps")
    assert [together(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert [argument("max_step"), argument("keep", True), argument("seek", "nearest")] == [
        "max_step",
        "keep=True",
        'seek="nearest"',
    ]
    with in_terms_of(OPTIONS):
        assert [argument("max_step"), argument("keep", True)] == ["--max-step", "--keep"]
        assert argument("seek", "nearest") == "--seek nearest"
    with in_terms_of(STUDY):
        assert [argument("max_step"), argument("works", False)] == ["max_step in [run]", "works = false in [run]"]
        assert argument("control", "all") == 'control = "all" in [run]'
