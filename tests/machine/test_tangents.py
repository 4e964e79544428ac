"""Programs on dual numbers in machine code, the value once and tangents in a vector beside it, along changes of the state and of
every number of the data, against complex steps of the same recursion in Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.dynamics.differentiation import Changes, derivatives
from bellcrank.dynamics.evaluation import Evaluation
from bellcrank.dynamics.node_ranks import plan_generic_nodes
from bellcrank.dynamics.planning import planned
from bellcrank.formulations import CANONICAL, QUANTITIES
from bellcrank.machine.arrays import ARRAYS, VARIABLE
from bellcrank.machine.in_python import InPython
from bellcrank.machine.tangents.data import design_data, design_tangents, from_chunks
from bellcrank.model.generators import lattice
from bellcrank.plan import make_plan
from bellcrank.plan.closures import CLOSURE_SLOTS
from bellcrank.plan.loads import ELEMENT_SLOTS
from bellcrank.plan.nodes import signatures as node_plan
from tests.closed_table import COUPLED

STEP = 1e-30  # its square vanishes: no error of truncation
COUNT = 3


def all_varied(plan):
    """Masks of all numbers but those that are a choice (axes that equations are written along) or places of tables."""
    masks = {name: np.ones(np.shape(ARRAYS[name].fill(plan)), dtype=bool) for name in VARIABLE if name != "measure_data"}
    masks["closure_data"][:, CLOSURE_SLOTS["world"] : CLOSURE_SLOTS["value"]] = False
    masks["closure_data"][:, CLOSURE_SLOTS["scale"] :] = False
    masks["element_data"][:, ELEMENT_SLOTS["table"] :] = False
    masks["pool"][:] = False
    return masks


def all_data_varies(model, formulation):
    base = planned(model, formulation)
    settled = replace(base, plan=make_plan(model, tolerance=base.plan.tolerance, masks=all_varied(base.plan)))
    if base.program.nodes:
        nodes = plan_generic_nodes(settled.plan, Evaluation(settled))
        settled = replace(settled, plan=replace(settled.plan, nodes=nodes))
    return Evaluation(settled, 0)


def off_by(dyn, program):
    """The largest difference of a derivative from a complex step, as a part of the largest derivative."""
    rng, plan, model = np.random.default_rng(0), dyn.plan, dyn.model
    plain = {name: np.asarray(ARRAYS[name].fill(plan), dtype=float) for name in VARIABLE if plan.varies(name)}
    along = {name: rng.normal(size=(*x.shape, COUNT)) * (np.abs(x) + 0.1)[..., None] for name, x in plain.items()}
    along = {name: np.where(plan.varied[name][..., None], x, 0.0) for name, x in along.items()}
    speeds = np.array(model.initial_v) + 0.3 * rng.normal(size=model.nv)  # off the closures too
    rows = {"q": np.array(model.initial_q)[None], "v": speeds[None], "p": speeds[None], "tau": rng.normal(size=(1, model.nv))}
    rows |= {"a": rng.normal(size=(1, model.nv)), "lambda": rng.normal(size=(1, plan.loads.closing.rows))}
    seeds = {"q": rng.normal(size=(1, model.nq, COUNT)), "v": rng.normal(size=(1, model.nv, COUNT))}
    seeds |= {"p": seeds["v"], "a": rng.normal(size=(1, model.nv, COUNT))}
    seeds["lambda"] = rng.normal(size=(1, plan.loads.closing.rows, COUNT))
    tangents = design_tangents(plan, along, COUNT)
    found = derivatives(dyn, program, rows, Changes(COUNT, seeds, tangents), 0.3)
    values, worst = design_data(plan, plain), 0.0
    for k in range(COUNT):
        given = {
            name: list(x[0] + 1j * STEP * seeds[name][0, :, k]) if name in seeds else list(x[0]) for name, x in rows.items()
        }
        data = {name: list(x[0] + 1j * STEP * _column(tangents[f"d_{name}"], k)) for name, x in values.items()}
        expected = InPython(plan, program, given | {"t": [0.3]}, data).run()
        for name, (value, slope) in found.items():
            complexes = np.array(expected[name], dtype=complex)
            exact = complexes.imag / STEP
            worst = np.maximum(worst, np.abs(slope[0, :, k] - exact).max() / np.abs(exact).max())  # not a number stays so
            np.testing.assert_allclose(value[0], complexes.real, rtol=0, atol=1e-9 * np.abs(complexes).max())
    return worst


def _column(chunks, k):
    return from_chunks(np.concatenate([np.zeros((*chunks.shape[:3], 1)), chunks], axis=3), COUNT)[1][0, :, k]


@pytest.mark.parametrize("formulation", ["articulated_body", "mass_matrix", "reference_point", "canonical_momenta"])
def test_trees(formulation):
    """Measured 1e-15 to 7e-15; 4e-14 for all joints by the dense formulations."""
    dyn = all_data_varies(bc.load("double_pendulum"), formulation)
    assert off_by(dyn, dyn.program) < 1e-12
    if dyn.formulation in CANONICAL:
        assert off_by(dyn, CANONICAL[dyn.formulation]) < 1e-12


@pytest.mark.parametrize("formulation", ["coordinate_reduction", "multipliers", "canonical_momenta"])
def test_closed_loops(formulation):
    dyn = all_data_varies(bc.load("slider_crank"), formulation)
    assert off_by(dyn, dyn.program) < 1e-11
    if dyn.formulation in CANONICAL:
        assert off_by(dyn, CANONICAL[dyn.formulation]) < 1e-11


@pytest.mark.parametrize(
    "name",
    [
        "loops that share bodies",
        "guided points and a gear",
    ],
)
def test_efforts_of_a_motion_with_every_closing_type(name):
    """At given multipliers, which change along too. Measured 4e-16 to 1e-15."""
    dyn = all_data_varies(COUPLED[name](), "coordinate_reduction")
    assert off_by(dyn, QUANTITIES["closed_inverse_dynamics"]) < 1e-12


@pytest.mark.parametrize("widest", [16, 2])
def test_blocks_taken_apart_and_with_matrices_in_memory(widest, monkeypatch):
    monkeypatch.setattr(node_plan, "LARGEST_PART", widest)
    monkeypatch.setattr(node_plan, "LARGEST_BLOCK", widest)
    dyn = all_data_varies(lattice(2, 2), "coordinate_reduction")
    assert {signature.in_memory for signature in dyn.plan.nodes.signatures} == {widest < 16}
    assert off_by(dyn, dyn.program) < 1e-11
