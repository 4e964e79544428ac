"""``bellcrank modes`` and ``bellcrank equilibrium``, on models of the gallery."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from bellcrank.cli import main


def cli(*words):
    return CliRunner().invoke(main, words)


def test_modes_prints_a_table():
    result = cli("modes", "double_pendulum")
    assert result.exit_code == 0
    assert "modes about equilibrium" in result.stdout and result.stdout.count("oscillating") == 2


def test_equilibrium_prints_the_position():
    result = cli("equilibrium", "pendulum")
    assert result.exit_code == 0 and "equilibrium, stable" in result.stdout


@pytest.mark.parametrize(("command", "key"), [("modes", "modes"), ("equilibrium", "q")])
def test_json_is_one_object_on_stdout(command, key):
    result = cli(command, "double_pendulum", "--json")
    assert result.exit_code == 0 and json.loads(result.stdout)[key]


def test_what_falls_is_bad_input_with_its_name(tmp_path):
    text = """format = 1
[bodies.stone]
mass = 1.0
center = [0, 0, 0]
inertia = [1, 1, 1]
[joints.air]
type = "free"
parent = "ground"
child = "stone"
point = [0, 0, 0]
"""
    (tmp_path / "stone.toml").write_text(text)
    result = cli("equilibrium", str(tmp_path / "stone.toml"))
    assert result.exit_code == 2 and "nothing holds 'air.vz'" in result.stderr
    as_json = cli("modes", str(tmp_path / "stone.toml"), "--json")
    assert as_json.exit_code == 2 and "nothing holds" in json.loads(as_json.stdout)["error"]


def test_options_that_cannot_be_are_bad_input():
    assert "about must be" in cli("modes", "pendulum", "--about", "noon").stderr
    assert "seek must be" in cli("equilibrium", "pendulum", "--seek", "flat").stderr


def test_a_drive_that_is_interrupted_shows_what_was_found_with_its_own_code(monkeypatch):
    from bellcrank.analyses.motions import driving

    real = driving.along_values

    def interrupted(*given):
        yield next(real(*given))
        raise KeyboardInterrupt

    monkeypatch.setattr(driving, "along_values", interrupted)
    result = cli("drive", "four_bar", "crank_pivot", "--from", "0.8", "--to", "1.0", "--count", "3", "--json")
    assert result.exit_code == 1 and "interrupted after 1 value" in result.stderr
    assert json.loads(result.stdout)["values"] == [0.8]
