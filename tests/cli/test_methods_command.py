"""What a user of ``bellcrank methods`` sees."""

import json

from typer.testing import CliRunner

from bellcrank.cli import main

SHORT = ("methods", "pendulum", "--duration", "1", "--step", "0.01", "--methods", "rk4, implicit_midpoint")


def bellcrank(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_a_table_and_a_picture(tmp_path):
    picture = str(tmp_path / "methods.png")
    result = bellcrank(*SHORT, "--plot", picture)
    assert result.exit_code == 0
    assert "implicit_midpoint" in result.output and "energy" in result.output
    again = bellcrank(*SHORT, "--plot", picture, "--keep")
    assert again.exit_code == 2 and "exists already, and --keep" in again.output
    assert bellcrank(*SHORT, "--plot", picture).exit_code == 0


def test_json():
    found = json.loads(bellcrank(*SHORT, "--max-step", "0.005", "--json").stdout)
    assert [row["method"] for row in found["rows"]] == ["rk4", "implicit_midpoint"]
    assert [row["steps"] for row in found["rows"]] == [200, 200]


def test_errors_are_told():
    result = bellcrank("methods", "pendulum", "--methods", "rk5")
    assert result.exit_code == 2 and "did you mean 'rk4'?" in result.output
    assert json.loads(bellcrank("methods", "nothing.toml", "--json").stdout)["error"]
