"""Formulas of the time that are narrow and smooth: where steps end on their way, and the ranges by which that is found."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.machine.steps.cuts.kinks import kink_times
from bellcrank.machine.steps.cuts.ranges import Range, apply
from bellcrank.model.parameters.expressions import Formula
from tests.forces.test_formulas import TIMED


@pytest.mark.parametrize(
    ("formula", "count"),
    [
        ("exp(-((t - 5)/1e-7)**2)", 1),
        ("sin(t) + 1/(1 + ((t - 3.3)/1e-4)**2)", 1),
        ("cos(pi*(t - 0.5))**100000", 10),
        ("exp(-((mod(t, 2) - 0.7)/1e-3)**2)", 5),
        ("0.1*atan((t - 5)/1e-5)", 1),
        ("sin(t**2) + exp(t) + t**10 + 10*sin(3*t)/(1 + t)", 0),  # their steps follow by themselves
        ("exp(-((hinge.q - 0.3)/1e-4)**2)", 0),  # not known beforehand
    ],
)
def test_steps_end_on_every_narrow_pulse_of_the_time_and_on_nothing_that_is_wide(formula, count):
    """Pulses: groups of times that are closer together than the hundredth of a second, without the jumps of mod."""
    text = TIMED.replace("control(t)", formula).replace("pi*", f"{math.pi}*")
    times = kink_times(bc.load(text), 0.0, 10.0)
    close = np.diff(np.sort(times)) < 1e-2
    begins = np.flatnonzero(close & ~np.append(False, close[:-1]))
    assert sum(abs(np.sort(times)[begins] % 2) > 0.01) == count


@pytest.mark.parametrize(
    "formula",
    [
        "x**3 - 2*x*y + x**2*y**4 + x**-3 + (x**2 + 0.1)**y",
        "x/y + y/(x**2 + 0.01) + deg(x)*-y",
        "sin(x)*cos(3*y) + tan(x) + asin(sin(x)) - acos(cos(y)) + atan(x*y)",
        "exp(-x**2)*log(y**2 + 1)*sqrt(abs(x)) + atan2(x, y)/atan2(x, 2)",
        "min(x, y, 1) + 2*max(x, -y, 0.3) + mod(x, 0.7) - smoothstep(y, -0.3, 0.9)",
        "if(x < y and not (x > 1 or y <= -1), x, y) + step(x)*sign(y) + if(x != y, 1, 2) + if(x >= 0, x, 1)",
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_range_holds_all_values_of_a_formula(formula):
    rng, found = np.random.default_rng(5), Formula(formula)
    low = rng.normal(size=(2, 500)) * 10 ** rng.uniform(-2, 0.7, 500)
    high = low + 10 ** rng.uniform(-6, 1, (2, 500))
    bounds = found.run({"x": Range(low[0], high[0]), "y": Range(low[1], high[1])}, apply)
    assert bounds.known
    for part in rng.uniform(0, 1, (100, 2, 1)):
        x, y = low + part * (high - low)
        value = found.run({"x": x, "y": y})
        slack = 1e-9 * (1 + np.abs(value))
        assert ((bounds.low - slack <= value) & (value <= bounds.high + slack) | np.isnan(value)).all()
