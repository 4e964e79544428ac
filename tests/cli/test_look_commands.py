"""What a user of ``bellcrank check``, ``models`` and ``schema`` sees."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main

MODEL = """
format = 1
name = "arm [bold]"
duration = 1.0
inputs = ["volts", "idle"]

[bodies.arm]
rod = { from = [0, 0, 0], to = [1, 0, 0], mass = 2.0, radius = 0.02 }

[joints.hinge]
type = "revolute"
parent = "ground"
child = "arm"
point = [0, 0, 0]
axis = "y"

[springs.coil]
joint = "hinge"
stiffness = 6.0

[dampers.oil]
joint = "hinge"
damping = 1.0

[motors.motor]
joint = "hinge"
input = "volts"

[measures.tip]
type = "position"
body = "arm"
point = [1, 0, 0]
"""


def bellcrank(*words):
    return CliRunner().invoke(main, words)


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(MODEL)
    return str(path)


def test_check_lists_the_parts_and_what_is_unusual(arm):
    result = bellcrank("check", arm)
    assert result.exit_code == 0
    for text in (
        "arm [bold]: 1 body, 2 kg, 1 dof, 1 s",
        "hinge",
        "revolute",
        "coil",
        "joint hinge",
        "motor",
        "tip",
        "position",
    ):
        assert text in result.stdout, text
    assert "inputs: volts, idle" in result.stdout
    assert "fastest vibration at the start: about 0.477 Hz" in result.stdout  # sqrt(k / (m l^2/3)) = 3 rad/s
    assert "fastest decay at the start: about 1.5 1/s" in result.stdout
    assert 'unusual: nothing uses the input "idle"\n' in result.stdout


def test_check_tells_the_same_to_machines(arm):
    report = json.loads(bellcrank("check", arm, "--json").stdout)
    assert report["bodies"] == [{"name": "arm", "joint": "hinge", "mass": 2.0}]
    assert report["remarks"] == ['nothing uses the input "idle"']
    assert [element["name"] for element in report["elements"]] == ["coil", "oil", "motor"]


def test_check_of_an_ordinary_model_says_so():
    assert "nothing unusual" in bellcrank("check", "double_pendulum").stdout


def test_check_of_a_large_model_lists_the_first_parts():
    result = bellcrank("check", "humanoid")
    assert result.exit_code == 0


def test_a_long_table_says_how_many_rows_it_leaves_out():
    from rich.console import Console

    from bellcrank.inspection.tables import SHOWN, _table

    console = Console(width=60)
    with console.capture() as capture:
        console.print(_table("name", rows=[(f"n{k}",) for k in range(SHOWN + 3)]))
    assert "and 3 more" in capture.get()


def test_check_of_a_bad_model_is_bad_input(tmp_path):
    (tmp_path / "bad.toml").write_text('format = 1\nname = "x"\n[bodies.a]\nmass = -1\n')
    result = bellcrank("check", str(tmp_path / "bad.toml"), "--json")
    assert result.exit_code == 2
    assert "bad.toml" in json.loads(result.stdout)["error"]


def test_models_lists_the_gallery():
    shown = bellcrank("models").stdout
    listed = json.loads(bellcrank("models", "--json").stdout)["models"]
    assert [row["name"] for row in listed] == list(bc.gallery())
    assert {"name": "double_pendulum", "bodies": 2, "coordinates": 2, "loops": 0, "title": "double pendulum"} in listed
    for row in listed:
        assert row["name"] in shown


def test_schema_is_the_schema_of_model_files():
    printed = bellcrank("schema")
    assert printed.exit_code == 0
    assert json.loads(printed.stdout) == bc.schema()
    assert bellcrank("schema", "--json").stdout == printed.stdout
