"""Kernels run backward. For every program f of a model and any changes dx of what it reads,

    bar . f'(x) dx  =  (f'(x)^T bar) . dx

with the left side by dual numbers, the right side by the transposed kernel: equal but for rounding."""

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.dynamics.differentiation import Changes, derivatives
from bellcrank.formulations.program import tangent_of
from bellcrank.machine.adjoint import kernel as adjoint_kernel
from bellcrank.machine.adjoint.kernel import AdjointKernel
from bellcrank.machine.steps.programs import programs
from bellcrank.machine.tangents.data import design_tangents
from bellcrank.model.manifold import rate_matrix

CASES = [
    ("double_pendulum", "articulated_body"),
    ("double_pendulum", "mass_matrix"),
    ("heavy_top", "articulated_body"),
    ("bump", "articulated_body"),
    ("slack_cable", "articulated_body"),
    ("four_bar", "coordinate_reduction"),
    ("four_bar", "multipliers"),
    ("engine", "coordinate_reduction"),
]
PARAMETERS, ROUNDING = 12, 1e-12


def both_sides(dyn: bc.Dynamics, program, design: bc.Design) -> tuple[np.ndarray, np.ndarray]:
    rng, model, count = np.random.default_rng(1), dyn.model, len(design.names)
    rows = {"q": model.initial_q[None], "v": model.initial_v[None] + 0.1, "tau": rng.standard_normal((1, model.nv))}
    moved = (rate_matrix(model, model.initial_q) @ rng.standard_normal((model.nv, count)))[None]
    along = {"q": moved, "v": rng.standard_normal((1, model.nv, count))}
    data = design_tangents(dyn.plan, design.tangents(design.start, dyn.plan), count)
    plain = replace(program, inputs=tuple(name for name in program.inputs if name not in ("t", "u")))
    (name, found), *_ = derivatives(dyn, plain, rows, Changes(count, along, data), 0.1).items()
    bar = rng.standard_normal(found.value.shape)
    given = {key: x for key, x in rows.items() if key in program.inputs}
    given |= {"t": np.array([[0.1]])} if "t" in program.inputs else {}
    given |= {"u": dyn.input_rows(None, 1)} if "u" in program.inputs else {}
    _, bars, of_data = AdjointKernel(dyn.plan, program, ("q", "v")).run(given, {name: bar})
    right = sum(x[0] @ along[key][0] for key, x in bars.items())
    for key, x in of_data.items():
        rows_of = np.moveaxis(data[tangent_of(key)][0], 0, 1)
        right = right + x[: len(rows_of)] @ rows_of.reshape(len(rows_of), -1)[:, :count]
    return bar[0] @ found.along[0], right


@pytest.mark.parametrize(("name", "formulation"), CASES)
def test_a_kernel_and_its_transposed_agree_on_every_product(name, formulation):
    model = bc.load(name)
    design = bc.Design(model, list(model.parameters)[:PARAMETERS])
    dyn = bc.compile(model, formulation, design=design)
    for what, program in programs(dyn.plan, dyn.program, works=False).items():
        if what in ("kernel", "positions", "velocities"):
            left, right = both_sides(dyn, program, design)
            np.testing.assert_allclose(right, left, rtol=0, atol=ROUNDING * np.abs(left).max())


def test_adjoints_of_many_states_are_those_of_each_and_those_of_the_data_their_sum():
    model = bc.load("double_pendulum")
    design = bc.Design(model, list(model.parameters)[:PARAMETERS])
    dyn = bc.compile(model, "articulated_body", design=design)
    kernel = AdjointKernel(dyn.plan, dyn.program, ("q", "v"))
    rng = np.random.default_rng(2)
    given = {name: rng.standard_normal((5, model.nv)) for name in ("q", "v", "tau")}
    bar = rng.standard_normal((5, model.nv))
    _, together, data = kernel.run(given, {"a": bar})
    apart = [kernel.run({name: x[k : k + 1] for name, x in given.items()}, {"a": bar[k : k + 1]}) for k in range(5)]
    for name in ("q", "v"):
        np.testing.assert_array_equal(together[name], np.vstack([bars[name] for _, bars, _ in apart]))
    for name, x in data.items():
        np.testing.assert_allclose(x, sum(of_data[name] for _, _, of_data in apart), rtol=1e-12, atol=1e-12)


def test_a_tape_that_is_too_short_is_made_longer(monkeypatch):
    model = bc.load("double_pendulum")
    dyn = bc.compile(model, "articulated_body", design=bc.Design(model, ["upper.mass"]))
    kernel = AdjointKernel(dyn.plan, dyn.program, ("q", "v"))
    given = {"q": np.ones((3, model.nq)), "v": np.ones((3, model.nv)), "tau": np.zeros((3, model.nv))}
    _, whole, _ = kernel.run(given, {"a": np.ones((3, model.nv))})
    short, reached = np.empty(kernel.code.facts.largest_frame + 80), []
    monkeypatch.setattr(adjoint_kernel, "first_tape", lambda code: short)
    kernel = AdjointKernel(dyn.plan, dyn.program, ("q", "v"))
    sweep = kernel._sweep
    monkeypatch.setattr(kernel, "_sweep", lambda *given: reached.append(sweep(*given)) or reached[-1])
    _, found, _ = kernel.run(given, {"a": np.ones((3, model.nv))})
    assert reached[0] < 3 == reached[-1]
    np.testing.assert_array_equal(found["q"], whole["q"])
