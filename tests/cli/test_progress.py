"""A bar for runs that take long; silence for those that do not, and where nobody looks."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bellcrank.cli import progress


def told(*, terminal: bool, patience: float, monkeypatch) -> str:
    monkeypatch.setattr(progress, "PATIENCE", patience)
    screen = io.StringIO()
    with progress.progress_bar(Console(file=screen, force_terminal=terminal, width=80)) as tell:
        for fraction in (0.1, 0.42):
            tell(fraction)
    return screen.getvalue()


def test_a_long_run_shows_how_far_it_is(monkeypatch):
    shown = told(terminal=True, patience=0.0, monkeypatch=monkeypatch)
    assert "simulating" in shown and "42%" in shown


def test_a_short_run_shows_nothing(monkeypatch):
    assert "simulating" not in told(terminal=True, patience=1e9, monkeypatch=monkeypatch)


def test_nothing_is_written_where_stderr_is_no_terminal(monkeypatch):
    assert told(terminal=False, patience=0.0, monkeypatch=monkeypatch) == ""


def test_the_bar_ends_with_a_run_that_fails(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    screen = io.StringIO()

    def fails():
        with progress.progress_bar(Console(file=screen, force_terminal=True)) as tell:
            tell(0.5)
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fails()
    assert screen.getvalue().endswith("\x1b[2K")  # the line is wiped
