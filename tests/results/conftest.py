"""A stand-in for a model and its machine code: a cart on a spring with a wheel, in closed form.

The results folder knows nothing of how states are computed, so its tests need no more than this.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank
from bellcrank.joints import JOINTS
from bellcrank.results import Run

WIDTHS = {"revolute": (1, 1), "prismatic": (1, 1), "spherical": (4, 3), "free": (7, 6), "fixed": (0, 0)}
NOTHING_ELSE = {"closures": (), "closing_names": (), "elements": (), "inputs": (), "measures": ()}
NOTHING_ELSE |= {
    "force_count": 0,
    "state_places": (),
    "state_names": (),
    "measure_names": (),
    "measure_units": (),
    "stictions": (),
    "input_width": 0,
}


def make_model(*kinds: str, name: str = "cart") -> SimpleNamespace:
    """A model of joints j0, j1, ... that carry bodies b0, b1, ..."""
    nq, nv = (tuple(WIDTHS[kind][side] for kind in kinds) for side in (0, 1))
    return SimpleNamespace(
        spec=None,
        name=name,
        joints=tuple(JOINTS[kind] for kind in kinds),
        body_count=len(kinds),
        driven=(False,) * len(kinds),
        joint_names=tuple(f"j{i}" for i in range(len(kinds))),
        body_names=tuple(f"b{i}" for i in range(len(kinds))),
        q_names=tuple(f"j{i}" if n == 1 else f"j{i}.{k}" for i, n in enumerate(nq) for k in range(n)),
        v_names=tuple(f"j{i}" if n == 1 else f"j{i}.{k}" for i, n in enumerate(nv) for k in range(n)),
        **NOTHING_ELSE,
    )


class Oscillators:
    """Every coordinate a mass of 1 kg on a spring of 1 N/m; joint i pulls with i + 1 times the first acceleration."""

    def __init__(self, model, formulation="auto", reference=None):
        self.model, self.formulation, self.reference = model, formulation, reference
        self.n = len(model.joint_names)

    def energy(self, q, v, *, t):
        return 0.5 * (v**2).sum(axis=1), 0.5 * (q**2).sum(axis=1)

    def momentum(self, q, v, *, t):
        linear = np.zeros((len(q), 3))
        linear[:, 0] = v.sum(axis=1)
        return linear, np.zeros((len(q), 3))

    def reactions(self, q, v, a, *, t, inputs, tau=None):
        wrench = np.zeros((len(q), self.n, 6))
        pull = a[:, :1].sum(axis=1, keepdims=True)
        wrench[:, :, 0] = np.arange(1, self.n + 1) * pull
        wrench[:, :, 5] = 0.5 * pull
        return wrench

    def poses(self, q, *, t):
        return np.zeros((len(q), self.n, 3)), np.tile(np.eye(3), (len(q), self.n, 1, 1))


@pytest.fixture
def compiled(monkeypatch):
    """Put the stand-in in place of bellcrank.compile; the list tells what was compiled."""
    calls = []

    def compile(model, formulation="auto", reference=None, optimisation=3):
        calls.append((formulation, reference))
        return Oscillators(model, formulation, reference)

    monkeypatch.setattr(bellcrank, "compile", compile, raising=False)
    monkeypatch.setattr(bellcrank, "__version__", "1.2.3", raising=False)
    return calls


SETTINGS = {
    "formulation": "articulated_body",
    "reference": None,
    "method": "dopri5",
    "rtol": 1e-9,
    "atol": 1e-9,
    "steps": 1234,
    "rejected": 5,
    "evaluations": 7404,
    "wall_time": 0.0021,
    "duration": 10.0,
}


@pytest.fixture
def make_run(compiled):
    """Build runs of oscillating coordinates: make_run("prismatic", "revolute", samples=..., stopped=...)."""

    def build(*kinds, samples=201, duration=10.0, stopped=None, amplitude=1.0, **settings):
        model = make_model(*(kinds or ("prismatic", "revolute")))
        time = np.linspace(0.0, duration, samples)

        def wave(width, shape, sign=1.0):
            return sign * amplitude * shape(time)[:, None] * np.linspace(1, 2, width)

        nq, nv = len(model.q_names), len(model.v_names)
        q, v, a = wave(nq, np.cos), wave(nv, np.sin, -1.0), wave(nv, np.cos, -1.0)
        return Run(model, time, q, v, a, SETTINGS | settings, stopped)

    return build
