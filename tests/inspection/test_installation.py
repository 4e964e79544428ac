"""``bellcrank info`` names what is installed and what is missing, with the command that installs it."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import version
from pathlib import Path

from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.inspection import installation


def test_it_names_versions_processor_and_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path))
    monkeypatch.setenv("BELLCRANK_CPU", "generic")
    found = json.loads(CliRunner().invoke(main, ["info", "--json"]).stdout)
    assert found["versions"]["numpy"] == version("numpy")
    assert found["processor"] == "generic" and found["features"] == []
    assert found["cache"].startswith(str(tmp_path))


def test_a_missing_extra_names_its_install_command(monkeypatch):
    monkeypatch.setitem(installation.EXTRAS, "view", ("no-such-package",))
    assert "not installed: pip install bellcrank[view]" in str(bc.info())


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, packages in installation.EXTRAS.items():
        assert [line.split(">")[0] for line in project["optional-dependencies"][name]] == list(packages)
