"""``bellcrank info`` names what is installed and what is missing, with the command that installs it."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.inspection import installation

ROOT = Path(__file__).parents[2]


def test_it_names_versions_processor_and_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path))
    monkeypatch.setenv("BELLCRANK_CPU", "generic")
    found = json.loads(CliRunner().invoke(main, ["info", "--json"]).stdout)
    assert found["versions"]["numpy"] == version("numpy")
    assert found["processor"] == "generic" and found["features"] == []
    assert found["cache"].startswith(str(tmp_path))


def test_a_missing_extra_names_its_install_command(monkeypatch):
    monkeypatch.setitem(installation.EXTRAS, "view", ("no-such-package",))
    assert 'not installed: pip install "bellcrank[view]"' in str(bc.info())


def required_by(extra: str, extras: dict[str, list[str]]) -> list[str]:
    """Packages of an extra, and those of the extras that it includes."""
    found = []
    for line in extras[extra]:
        inner = re.match(r"bellcrank\[(.*)\]", line)
        found += (
            [p for name in inner[1].split(",") for p in required_by(name, extras)] if inner else [re.split(r"[\[><]", line)[0]]
        )
    return list(dict.fromkeys(found))


def test_the_extras_are_those_of_the_project():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {name: required_by(name, extras) for name in installation.EXTRAS} == {
        name: list(packages) for name, packages in installation.EXTRAS.items()
    }
    assert set(required_by("all", extras)) == {package for packages in installation.EXTRAS.values() for package in packages}


def test_every_place_that_states_the_version_states_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert project["version"] == bc.__version__
    assert f"\nversion: {bc.__version__}\n" in citation
