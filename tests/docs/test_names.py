"""Names that messages, docstrings and docs give to readers exist: ``model.q_names``, ``run.crossings``, ``bc.load``."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import bellcrank as bc

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMED = re.compile(r"(?<![\w./-])(model|run|dyn|dynamics|bc|bellcrank|Mechanism|Model|Run|Dynamics)\.([a-z_]\w*)")
FILES = {"csv", "mjcf", "nc", "png", "py", "svg", "toml", "urdf", "xml"}


@pytest.fixture(scope="module")
def things():
    """What the names stand for; instances, since some attributes are set by ``__init__``."""
    model = bc.load("four_bar")
    run, dynamics = bc.simulate(model, 0.01), bc.compile(model, optimisation=0)
    found = {"model": model, "run": run, "dynamics": dynamics, "bellcrank": bc}
    return found | {"bc": bc, "dyn": dynamics, "Model": model, "Run": run, "Dynamics": dynamics, "Mechanism": bc.Mechanism("m")}


def missing(text, things):
    for head, name in NAMED.findall(text):
        package = "bellcrank" if head in ("bc", "bellcrank") else f"bellcrank.{head}"
        known = name in FILES or hasattr(things[head], name) or _is_module(package, name)
        if not known:
            yield f"{head}.{name}"


def _is_module(package, name):
    """``model.manifold`` in a docstring may be a file."""
    folder = ROOT / "src" / package.replace(".", "/")
    return (folder / f"{name}.py").exists() or (folder / name).is_dir()


def test_names_in_messages_and_docstrings_exist(things):
    found = []
    for file in SOURCES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        found += [(file.name, name) for text in texts for name in missing(text, things)]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_names_in_the_docs_exist(page, things):
    assert list(missing(page.read_text(encoding="utf-8"), things)) == []
