"""Every snippet in README and docs/ works as it is printed.

The blocks of a page run in order, in one temporary directory: python blocks share their variables; a toml block that says
``format = 1`` must load as a model, and is written to the file that its first line names (``# pendulum.toml``); console lines
that begin with ``$ bellcrank`` must succeed. ``make`` lines must name a target of the Makefile.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import COMMANDS, main
from bellcrank.studies.study import read_study

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LANGUAGES = {"python", "toml", "console", "text"}

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


class Block(NamedTuple):
    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """Fenced blocks of a page, with the line where their text begins."""
    source = page.read_text(encoding="utf-8")
    fences = re.finditer(r"^```(\w*)\n(.*?)^```$", source, re.MULTILINE | re.DOTALL)
    return [Block(found[1], found[2], source.count("\n", 0, found.start(2)) + 1) for found in fences]


@pages
def test_the_snippets_of_a_page_work_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    variables: dict[str, object] = {"__name__": "snippet"}
    for block in blocks(page):
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), variables)
        elif block.language == "toml" and "format = 1" in block.text:
            load_model(block)
        elif block.language == "console":
            run_commands(block)


def load_model(block: Block) -> None:
    name = re.match(r"# (\S+\.toml)\n", block.text)
    if name:
        Path(name[1]).write_text(block.text, encoding="utf-8")
    if re.search(r"^model = ", block.text, re.MULTILINE):
        assert read_study(block.text).parameters
        return
    assert bc.load(name[1] if name else block.text).n > 0


def run_commands(block: Block) -> None:
    for line in re.findall(r"^\$ bellcrank (.*)$", block.text, re.MULTILINE):
        result = CliRunner().invoke(main, shlex.split(line))
        assert result.exit_code == 0, f"bellcrank {line}\n{result.output}\n{result.exception!r}"


@pages
def test_every_block_says_its_language(page):
    assert {block.language for block in blocks(page)} <= LANGUAGES
    assert page.read_text(encoding="utf-8").count("```") == 2 * len(blocks(page))


@pages
def test_links_to_other_files_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pages
def test_make_lines_name_a_target(page):
    wanted = {word for block in blocks(page) for word in re.findall(r"^\$ make ([\w-]+)", block.text, re.MULTILINE)}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert wanted <= set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_section(command):
    assert f"## bellcrank {command}\n" in (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
