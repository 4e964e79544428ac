"""A remedy names what the reader can use: an argument in Python, an option on the command line."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main

SOURCES = sorted(Path(bc.__file__).parent.rglob("*.py"))
OPTIONS = {
    word[2:].replace("-", "_")
    for command in typer.main.get_command(main).commands.values()
    for parameter in command.params
    for word in parameter.opts
    if word.startswith("--")
}


def texts(tree):
    """Strings of a file that are no docstrings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [item for item in body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_arguments_that_messages_name_are_options_too():
    """Those named by ``argument`` exist, and no message writes an argument out as Python alone would."""
    written = re.compile(rf"\b({'|'.join(sorted(OPTIONS))})=(\.\.\.|True|False|['\"]\w)")
    named, in_python_only = set(), []
    for file in SOURCES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "argument"]
        named |= {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
        in_python_only += [(file.name, text) for text in texts(tree) if written.search(text)]
    assert named - OPTIONS == set()
    assert in_python_only == []


def test_the_same_advice_in_python_and_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("run", "parallelogram", "--duration", "0.5", "--no-plot")
    shown = CliRunner().invoke(main, words).stderr
    assert "Let it pass with --method rattle or --on-singular pass, or" in shown
    with pytest.raises(bc.SimulationError, match='Let it pass with method="rattle" or on_singular="pass", or'):
        bc.simulate(bc.load("parallelogram"), 0.5)


def test_the_options_that_advice_names_help():
    def run(*words):
        return CliRunner().invoke(main, words)

    stuck = run("equilibrium", "double_pendulum", "--max-iterations", "1")
    assert (
        stuck.exit_code == 2
        and "(--q0), allow more steps (--max-iterations), or accept any kind (--seek nearest)" in stuck.output
    )
    assert run("equilibrium", "double_pendulum", "--q0", "shoulder=-1.6").exit_code == 0
    assert "--about equilibrium finds one" in run("modes", "four_bar", "--about", "start").output
    beyond = run("assemble", "four_bar", "--q", "rocker_pin=2")
    assert beyond.exit_code == 2 and "give a start (--q) on another branch" in beyond.output
