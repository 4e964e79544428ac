"""The wheel and the sdist hold what an empty environment needs: the code, its type information, and the gallery."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

import bellcrank as bc

ROOT = Path(__file__).parents[2]
hatchling = pytest.importorskip("hatchling.build", reason="hatchling builds the distributions; it comes with bellcrank[test]")


def test_the_wheel_has_the_code_its_types_and_the_gallery(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / hatchling.build_wheel(str(tmp_path))) as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"bellcrank-{bc.__version__}.dist-info/METADATA").decode()
        commands = wheel.read(f"bellcrank-{bc.__version__}.dist-info/entry_points.txt").decode()
    assert {f"bellcrank/gallery/{path.name}" for path in (ROOT / "models").iterdir()} <= names
    studies = [path for path in (ROOT / "studies").rglob("*") if path.is_file()]
    assert {f"bellcrank/study_gallery/{path.relative_to(ROOT / 'studies').as_posix()}" for path in studies} <= names
    assert {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")} <= names
    assert "bellcrank/py.typed" in names
    assert {name.split("/")[0] for name in names} == {"bellcrank", f"bellcrank-{bc.__version__}.dist-info"}
    for extra in ("view", "video", "robots", "meshes", "cluster", "all"):
        assert f"Provides-Extra: {extra}\n" in metadata
    assert "bellcrank = bellcrank.cli:main" in commands


def test_the_sdist_has_all_that_builds_and_tests_the_wheel(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    with tarfile.open(tmp_path / hatchling.build_sdist(str(tmp_path))) as sdist:
        names = {name.split("/", 1)[-1] for name in sdist.getnames()}
    wanted = {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "Makefile", "mkdocs.yml", "tests/conftest.py"}
    assert wanted | {f"models/{path.name}" for path in (ROOT / "models").iterdir()} <= names
