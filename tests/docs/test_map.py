"""The map of the source in CONTRIBUTING.md: a row for every folder, and folders that a newcomer can look through."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "bellcrank"
ONE_FILE_A_KIND = {"joints", "forces", "cli"}


def folders() -> set[str]:
    return {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")} - {"."}


def test_every_folder_has_a_row_and_every_row_a_folder():
    rows = re.findall(r"^\| `([a-z_/]+)/` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(folders())


def test_no_folder_is_a_heap():
    counts = {folder: len([p for p in (SOURCE / folder).glob("*.py") if p.name != "__init__.py"]) for folder in folders()}
    assert {folder: n for folder, n in counts.items() if n > 12 and folder not in ONE_FILE_A_KIND} == {}


def lengths(path: Path) -> dict[str, int]:
    """Lines of each function of a file."""
    functions = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef))
    place = path.relative_to(SOURCE).as_posix()
    return {f"{place}: {node.name}": node.end_lineno - node.lineno + 1 for node in functions}


BEING_SPLIT = {
    "machine/steps/adaptive.py: loop",
    "machine/steps/lane_runs.py: __init__",
    "run/many.py: simulate_many",
    "run/simulation.py: simulate",
    "run/stiff.py: integrate_stiff",
}


def test_no_function_is_longer_than_a_page():
    long = {name: n for path in SOURCE.rglob("*.py") for name, n in lengths(path).items() if n > 60}
    assert long.keys() - BEING_SPLIT == set()
