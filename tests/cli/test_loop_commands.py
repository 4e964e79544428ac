"""What a user of ``bellcrank assemble`` and ``drive`` sees, and of ``check`` with closed loops."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from bellcrank.cli import main


def run(*arguments: str):
    return CliRunner().invoke(main, list(arguments))


def test_assemble_says_how_far_coordinates_moved():
    result = run("assemble", "four_bar", "--q", "crank_pivot=0.5")
    assert result.exit_code == 0
    assert "crank_pivot: 0.5 rad, held" in result.stdout and "crank_pin: -0.596" in result.stdout
    data = json.loads(run("assemble", "four_bar", "--json").stdout)
    assert data["v"]["crank_pivot"] == 6.0


def test_a_value_out_of_reach_is_bad_input_with_the_reachable_one():
    result = run("assemble", "four_bar", "--q", "rocker_pin=2")
    assert result.exit_code == 2 and "it can move to 'rocker_pin' = 0.842778 rad" in result.stderr


@pytest.mark.parametrize(
    ("pair", "words"), [("crank_pivot", "give NAME=VALUE"), ("crank_pivot=fast", "'fast' is not a number")]
)
def test_a_setting_must_be_a_name_and_a_number(pair, words):
    result = run("assemble", "four_bar", "--q", pair)
    assert result.exit_code == 2 and words in result.stderr


def test_drive_prints_positions_and_toggles(tmp_path):
    result = run(
        "drive", "four_bar", "rocker_pin", "--from", "-0.1", "--to", "1", "--count", "5", "--plot", str(tmp_path / "x.png")
    )
    assert result.exit_code == 0 and (tmp_path / "x.png").exists()
    kept = run("drive", "four_bar", "crank_pivot", "--count", "2", "--plot", str(tmp_path / "x.png"), "--keep")
    assert kept.exit_code == 2 and "x.png exists already, and --keep" in kept.stderr
    assert "0.842777703" in result.stdout and "toggle" in result.stdout
    data = json.loads(run("drive", "four_bar", "crank_pivot", "--from", "0", "--to", "1", "--count", "3", "--json").stdout)
    assert data["values"] == [0.0, 0.5, 1.0] and data["limits"] == []


def test_drive_asks_to_hold_what_is_free_besides():
    result = run("drive", "five_bar", "pin1", "--from", "0", "--to", "0.1")
    assert result.exit_code == 2 and "hold as many coordinates" in result.stderr
    held = run("drive", "five_bar", "pin1", "--from", "0", "--to", "0.1", "--hold", "telescope", "--count", "2")
    assert held.exit_code == 0


def test_check_draws_the_loops():
    result = run("check", "four_bar")
    assert result.exit_code == 0 and "=[rocker_pivot]= ground" in result.stdout
