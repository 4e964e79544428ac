"""A stand-in for loading and simulating, so that the command line is tested apart from the numerics."""

from __future__ import annotations

import warnings

import pytest
from typer.testing import CliRunner

import bellcrank
from bellcrank.cli import main
from bellcrank.errors import BellcrankWarning, ModelError, SimulationError, StateError


class FakeSummary:
    def __init__(self, stopped):
        self.stopped = stopped
        self.doubt = None

    def as_dict(self):
        return {"model": "cart", "energy_error": 1e-12, "stopped": self.stopped}

    def __str__(self):
        return "summary of cart"


class FakeRun:
    def __init__(self, stopped=None):
        self.stopped = stopped

    def summary(self):
        return FakeSummary(self.stopped)

    def save(self, path, *, keep):
        path.write_text("data")

    def plot(self, path, *, keep):
        path.write_text("picture")

    def to_csv(self, path, *, keep):
        path.write_text("table")


def fake_load(path):
    """Models by what should happen to them."""
    if path == "odd.toml":
        warnings.warn("odd.toml: joint 'hinge' is unusual", BellcrankWarning, stacklevel=2)
    if path == "bad.toml":
        raise ModelError("bad.toml, line 3: the mass of body 'rod' is -1")
    return path


@pytest.fixture
def simulated(monkeypatch):
    """The options that reached bellcrank.simulate, one dict a call."""
    calls = []

    def simulate(model, *, progress, **options):
        calls.append(options)
        progress(0.5)
        if options.get("method") == "euler":
            raise StateError("there is no method 'euler'; choose dopri5 or rk4")
        if model == "stops.toml":
            raise SimulationError("NaN at t = 3 s", FakeRun("NaN at t = 3 s"))
        if model == "breaks.toml":
            raise SimulationError("no finite acceleration at the start")
        return FakeRun()

    monkeypatch.setattr(bellcrank, "load", fake_load, raising=False)
    monkeypatch.setattr(bellcrank, "simulate", simulate, raising=False)
    monkeypatch.setattr(bellcrank, "__version__", "1.2.3", raising=False)
    return calls


@pytest.fixture
def cli(simulated, tmp_path, monkeypatch):
    """Run ``bellcrank ...`` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(main, words)
