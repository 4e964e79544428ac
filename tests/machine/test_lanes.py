"""Four states at a time give what one state gives, in the programs that take lanes for very many states only."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from bellcrank.dynamics import Dynamics, evaluation
from bellcrank.errors import StateError
from bellcrank.formulations import QUANTITIES
from bellcrank.kernels.processor import lane_count
from bellcrank.machine.kernel import Kernel
from bellcrank.model.generators import chain, random_state

from ..closed import random_closed
from ..closed_states import displaced, moving

LANES = lane_count()

MODELS = {
    "a tree": lambda: random_closed(7, 3, (), free_root=True, driven=0.2, loads=True),
    "driven loops": lambda: random_closed(9, 3, ("driven revolute", "distance"), driven=0.2, loads=True),
}
QUICK = [name for name, program in QUANTITIES.items() if program.optimisation == 0]
OF_LOOPS = [name for name in QUICK if QUANTITIES[name].nodes or name.startswith(("clos", "project"))]
OF_TREES = ["reactions", "drives", "velocities", "canonical_reactions", "canonical_drives"]
CASES = [("a tree", name) for name in QUICK if name not in (*OF_LOOPS, "openings")]  # these touch nothing: tests/forces
CASES += [("driven loops", name) for name in QUICK if name not in (*OF_TREES, "openings")]


@cache
def dynamics_of(name):
    return Dynamics(MODELS[name](), optimisation=0)


@cache
def states_of(name):
    """Six, a block of lanes and a part of one; loops are a little open, so that projections have something to do."""
    model = dynamics_of(name).model
    states = [moving(model, 50 + k, reach=0.1, t=0.1 * k) for k in range(3)] * 2
    rng = np.random.default_rng(1)
    aside = 0.01 * rng.normal(size=(2, 6, model.nv))
    return {
        "q": np.array([displaced(model, state["q"], x) for state, x in zip(states, aside[0], strict=True)]),
        "v": np.array([state["v"] for state in states]) + aside[1],
        "t": np.array([[state["t"]] for state in states]),
        "u": np.array([state["inputs"] for state in states]),
    }


def arguments(kernel, name):
    """The states, and random numbers for what a program takes besides."""
    rng = np.random.default_rng(0)
    given = {x: rng.normal(size=(6, kernel.widths[x])) for x in kernel.program.inputs}
    return {x: np.ascontiguousarray(states_of(name).get(x, other)) for x, other in given.items()}


@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_lanes_give_what_single_states_get(name, quantity):
    """Lanes may fuse operations differently: 1e-12 of the largest number (measured: 5e-14)."""
    one, lanes = (Kernel(dynamics_of(name).plan, QUANTITIES[quantity], count) for count in (1, LANES))
    given = arguments(one, name)
    expected, found = one.batch(given), lanes.batch(given)
    assert np.isfinite(expected).all() and expected.any()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_an_unknown_level_of_optimisation_is_refused():
    with pytest.raises(StateError, match=r"optimisation is 4: give 0 \(compile fast\) to 3 \(run fast\)"):
        Dynamics(chain(2), optimisation=4)


def test_code_that_is_not_optimised_takes_lanes_for_very_many_states_only():
    dynamics = Dynamics(chain(2), optimisation=0)
    q, v = (np.tile(x, (evaluation.MANY, 1)) for x in random_state(dynamics.model))
    few, many = (dynamics.acceleration(q[:count], v[:count]) for count in (LANES, evaluation.MANY))
    assert list(dynamics.kernels) == [("articulated_body", 1, 0, False), ("articulated_body", LANES, 0, False)]
    np.testing.assert_allclose(many, np.tile(few[0], (evaluation.MANY, 1)), rtol=1e-13)
