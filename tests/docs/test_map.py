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
    """Lines of each function of a file, without the docstring and the signature: what has to be understood at once."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            name = f"{path.relative_to(SOURCE).as_posix()}: {node.name}"
            found[name] = (body[-1].end_lineno or 0) - body[0].lineno + 1
    return found


def test_no_function_is_longer_than_a_page():
    assert {name: n for path in SOURCE.rglob("*.py") for name, n in lengths(path).items() if n > 60} == {}


def test_the_way_of_one_number_goes_through_files_and_names_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert 5 <= len(re.findall(r"^\d+\. `[a-z_/]+\.py`, `\w+`", text, re.MULTILINE)) <= 10
    for file, name in re.findall(r"`([a-z_/]+\.py)`, `(\w+)`", text):
        source = (SOURCE / file).read_text(encoding="utf-8")
        assert re.search(rf"^(def|class) {name}\b|^{name}\b", source, re.MULTILINE), (file, name)


def test_every_file_that_contributors_are_sent_to_exists():
    named = re.findall(r"`?((?:[a-z_]+/)+[a-z_]+\.py)\b", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [file for file in named if not ((SOURCE / file).exists() or (ROOT / file).exists())] == []


def test_files_that_a_folder_says_it_has_exist():
    """Lists in docstrings of folders: at the beginning of a line ``name.py``, several of them, or ``folder/``."""
    for path in SOURCE.rglob("__init__.py"):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        for line in re.findall(r"^((?:[a-z_]+(?:\.py|/),? )+)", text, re.MULTILINE):
            assert [name for name in line.replace(",", "").split() if not (path.parent / name).exists()] == [], path
