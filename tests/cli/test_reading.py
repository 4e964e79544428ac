"""What every command that reads a model may say about it."""

from __future__ import annotations

import dataclasses
import json

import pytest
import typer
from typer.testing import CliRunner

from bellcrank.cli import COMMANDS, main
from bellcrank.io.options import CHOICES, Options

from ..blocks import block

READING = [name for name in COMMANDS if name not in ("models", "schema", "info", "optimize", "fit", "sweep")]
DANGLING = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="tool"/>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit effort="1" velocity="1"/></joint>
<joint name="spin" type="continuous"><parent link="arm"/><child link="tool"/><axis xyz="0 0 1"/></joint></robot>"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text(DANGLING)
    return lambda *words: CliRunner().invoke(main, words)


def options(command):
    return {word for item in typer.main.get_command(main).commands[command].params for word in item.opts}


@pytest.mark.parametrize("command", READING)
def test_every_option_of_load_is_one_of_the_command_line(command):
    words = {f"--{field.name.replace('_', '-')}" for field in dataclasses.fields(Options)}
    assert words | {"--set"} <= options(command)


def test_help_lists_the_values_that_load_knows(run):
    shown = "".join(run("check", "--help").stdout.split())
    for values in CHOICES.values():
        assert f"[{'|'.join(values)}]" in shown


def test_a_refusal_names_the_option_and_the_option_helps(run):
    pytest.importorskip("yourdfpy")
    refused = run("check", "arm.urdf")
    assert refused.exit_code == 2 and "pass --massless fix to lock these joints" in refused.output
    assert run("check", "arm.urdf", "--massless", "fix").exit_code == 0
    wrong = run("check", "arm.urdf", "--massless", "fixed", "--json")
    assert wrong.exit_code == 2 and json.loads(wrong.stdout)["error"].startswith("--massless is 'fixed': use 'refuse' or 'fix'")
    assert "--base is not an option of TOML files, which have none" in run("check", "pendulum", "--base", "free").output


def test_gravity_and_packages_are_read(run):
    pytest.importorskip("yourdfpy")
    start = ("modes", "arm.urdf", "--massless", "fix", "--about", "start", "--json")
    assert run(*start, "--gravity", "0,0,0", "--packages", "mine=here").exit_code == 0
    assert "--gravity 0,0: give 3 numbers" in run(*start, "--gravity", "0,0").output
    assert "--gravity 0,0,down: 'down' is not a number" in run(*start, "--gravity", "0,0,down").output
    assert "--packages mine: give NAME=FOLDER" in run(*start, "--packages", "mine").output


def test_another_number_makes_another_pendulum(run):
    """T = 2 pi sqrt(L/g): four times as long, half as fast."""
    frequencies = [
        json.loads(run("modes", "pendulum", "--json", *change).stdout)["modes"][0]["frequency_hz"]
        for change in ((), ("--set", "bob.y=-4"))
    ]
    assert frequencies[0] == pytest.approx(2 * frequencies[1], rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("bob.z", "--set bob.z: give PATH=VALUE"),
        ("bob.y=low", "'low' is not a number"),
        ("bab.y=1", "is not a number of this model"),
    ],
)
def test_a_change_that_cannot_be_is_told(run, change, message):
    result = run("check", "pendulum", "--set", change, "--json")
    assert result.exit_code == 2 and message in json.loads(result.stdout)["error"]


def test_inputs_are_numbers_or_files(run, tmp_path):
    (tmp_path / "sled.toml").write_text(SLED)
    (tmp_path / "push.csv").write_text("0,0\n1,6\n")
    for push, reached in (("6", 1.5), ("push.csv", 0.5)):  # 2 x'' = 6, or 6 t
        result = run("run", "sled.toml", "--input", f"push={push}", "--no-plot", "--json", "--duration", "1")
        assert result.exit_code == 0
        assert json.loads(result.stdout)["measures"][0]["highest"] == pytest.approx(reached, abs=1e-9)
    assert "inputs are tables over time" in result.stderr
    assert "there is no input 'pull'" in run("run", "sled.toml", "--input", "pull=1").output
    assert "--input push: give NAME=VALUE or NAME=FILE" in run("run", "sled.toml", "--input", "push").output


SLED = block(
    '[motors.thruster]\njoint = "slide"\ninput = "push"',
    '[measures.way]\ntype = "coordinate"\njoint = "slide"',
    top='inputs = ["push"]',
    mass=2.0,
)
