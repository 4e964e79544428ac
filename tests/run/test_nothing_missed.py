"""Models of the gallery with a stop or a pulse at a random place, by every method, against steps that are forced to be short.

BELLCRANK_RANDOM=1000 tries that many.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import SimulationError
from bellcrank.model import Element, Table
from bellcrank.results import energy_doubt

TRIES = int(os.environ.get("BELLCRANK_RANDOM", "6"))
NOTHING_TO_PUSH = {"heavy_top", "strandbeest"}  # no coordinate that is a number and free
MODELS = sorted(set(bc.gallery()) - NOTHING_TO_PUSH)
SPANS = {"parallelogram": 0.2, "n_four_bar": 0.6}  # s, before the first singular position
METHODS = ["dopri5", "dop853", "rk4", "radau", "bdf", "many", "implicit_midpoint", "midpoint4", "gauss4"]
RATE = 200.0  # rad/s of a contact
SPAN = 1.0  # s, of the others

pytestmark = pytest.mark.filterwarnings("ignore::bellcrank.errors.BellcrankWarning")


def places(model):
    """Joints of the tree and their coordinates that are numbers, not driven, and that an effort along them moves at the start.

    With each the inertia that the effort meets there.
    """
    dynamics, found = bc.compile(model), []
    q, v, still = model.initial_q, model.initial_v, dynamics.acceleration(model.initial_q, model.initial_v)
    for joint, kind in enumerate(model.joints):
        for dof in range(0 if kind.quaternion is not None or model.driven[joint] else kind.nv):
            k = int(model.v_index[joint]) + dof
            mobility = float((dynamics.acceleration(q, v, np.eye(model.nv)[k]) - still)[k])
            if mobility > 1e-6:
                found.append((joint, dof, 1 / mobility))
    return found


def with_stop(model, span, joint, dof, inertia, rng):
    """Somewhere on the way that the coordinate takes without it."""
    place = int(model.q_index[joint]) + dof
    way = bc.simulate(model, span, step=0.01).values("q")[:, place]
    limit = float(way[0] + rng.uniform(0.1, 0.99) * (way[np.argmax(np.abs(way - way[0]))] - way[0]))
    limits = {"lower": -np.inf, "upper": limit} if limit > way[0] else {"lower": limit, "upper": np.inf}
    damping = float(rng.choice([0.0, 0.1])) * inertia * RATE
    values = limits | {"stiffness": inertia * RATE**2, "damping": damping}
    return replace(model, elements=(*model.elements, Element("added", "joint_stop", values, joint=joint, dof=dof)))


def with_pulse(model, span, joint, dof, inertia, rng):
    """A few knots in a hundredth of the run, nothing before and behind."""
    begin, width = span * rng.uniform(0.1, 0.8), span * 10 ** rng.uniform(-3, -1.5)
    times = tuple((begin + width * np.array([0.0, 0.25, 0.5, 0.75, 1.0])).tolist())
    table = Table(times, tuple(x * inertia / width for x in (0.0, 1.0, 1.5, 1.0, 0.0)), "clamp")
    pulse = Element("added", "joint_effort", {"value": 0.0}, joint=joint, dof=dof, table=table)
    return replace(model, elements=(*model.elements, pulse))


def ended(model, span, method):
    """The last state, and whether the run is doubted, as one of too long fixed steps is."""
    if method == "many":
        runs = bc.simulate_many(model, span, step=span)
        return np.concatenate([runs.q.values[0, -1], runs.v.values[0, -1]]), False
    adaptive = method in ("dopri5", "dop853", "radau", "bdf")
    run = bc.simulate(model, span, step=span if adaptive else 0.1 * span, method=method, max_step=None if adaptive else 5e-4)
    doubted = not adaptive and energy_doubt(run.energy_error) is not None
    return np.concatenate([run.values("q")[-1], run.values("v")[-1]]), doubted


@pytest.mark.parametrize("seed", range(TRIES))
def test_nothing_is_missed_without_a_word(seed):
    rng = np.random.default_rng(seed)
    name = MODELS[(5 * seed) % len(MODELS)]
    model, span = bc.load(name), SPANS.get(name, SPAN)
    found = places(model)
    joint, dof, inertia = found[rng.integers(len(found))]
    implicit = not model.closures and all(j.quaternion is None for j in model.joints)
    method = str(rng.choice(METHODS if implicit else METHODS[:6]))
    try:
        changed = (with_stop if rng.random() < 0.6 else with_pulse)(model, span, joint, dof, inertia, rng)
        reference = bc.simulate(changed, span, step=span, method="dop853", max_step=1e-4, rtol=1e-11, atol=1e-11)
        expected = np.concatenate([reference.values("q")[-1], reference.values("v")[-1]])
        free, _ = ended(model, span, "dop853")
    except SimulationError:
        pytest.skip("it does not run through")
    effect = np.abs(expected - free).max()
    last, doubted = ended(changed, span, method)
    error = np.abs(last - expected).max()
    tolerance = 0.02 if method in ("rk4", "implicit_midpoint", "midpoint4", "gauss4") else 1e-3
    assert error <= tolerance * effect + 1e-5 or doubted, (model.name, method, error, effect)
