"""Derivatives of runs by implicit methods: those of the equations of a step, at the stages that solve them."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc

from ..blocks import OVERDAMPED

BRACED = (
    bc.gallery()["four_bar"].read_text(encoding="utf-8")
    + """
[springs.brace]
joint = "crank_pin"
stiffness = 1e5
rest = 0.002
"""
)


def differences(model, parameters, h, **given):
    """Of q and v of whole runs of the same method by the same steps, by the first two parameters."""
    design = bc.Design(model, parameters)
    columns = []
    for k, p in enumerate(design.start[:2]):
        step = h * max(abs(p), 0.1) * np.eye(len(parameters))[k]
        ends = [bc.sensitivity(design.model(design.start + s * step), parameters, **given) for s in (1, -1)]
        columns.append([(getattr(ends[0], x) - getattr(ends[1], x)) / (2 * step[k]) for x in ("q_values", "v_values")])
    return (np.stack(part, axis=-1) for part in zip(*columns, strict=True))


@pytest.mark.parametrize(
    ("name", "method", "parameters"),
    [
        ("double_pendulum", "gauss4", ["upper.mass", "knee.x", "lower.inertia.zz"]),
        ("heavy_top", "midpoint4", ["top.center.x", "initial.tip.v.2", "top.mass"]),
        (BRACED, "implicit_midpoint", ["parameters.crank_length", "brace.stiffness"]),
        ("quarter_car", "midpoint4", ["arm.mass", "lower_ball.z", "strut.damping", "strut.stiffness", "gravity.z"]),
    ],
)
def test_the_map_of_a_coarse_step_is_differentiated_exactly(name, method, parameters):
    """Steps so long that the methods are off by a part in a hundred: what is differentiated is what the method computes.

    Quaternions and momenta included (a spinning top), and pushes that keep loops closed, of hinges in a plane with a spring so
    stiff that Newton's method is needed, and of balls in space, with forces; five parameters are more than a small vector.
    Differences by 1e-5 are good for about 1e-8."""
    model = bc.load(name)
    given = {"duration": 0.1, "step": 0.02, "max_step": 0.002 if name == "heavy_top" else 0.01, "method": method}
    found = bc.sensitivity(model, parameters, **given)
    dq, dv = differences(model, parameters, 1e-5, **given)
    np.testing.assert_allclose(found.dq_values[..., :2], dq, rtol=0, atol=1e-7 * np.abs(dq).max())
    np.testing.assert_allclose(found.dv_values[..., :2], dv, rtol=0, atol=1e-7 * np.abs(dv).max())


@pytest.mark.parametrize("method", ["radau", "auto"])
def test_a_damper_that_is_far_too_stiff_for_explicit_steps(method):
    """m x'' + c x' + k x = 0 from rest at 1 m: x = (r2 exp(r1 t) - r1 exp(r2 t))/(r2 - r1), differentiated by complex step."""

    def x(c, k, t):
        root = np.sqrt(c * c / 4 - k)
        r1, r2 = -k / (c / 2 + root), -(c / 2 + root)
        return (r2 * np.exp(r1 * t) - r1 * np.exp(r2 * t)) / (r2 - r1)

    given = {"duration": 1.0, "step": 0.1, "control": "all"}
    found = bc.sensitivity(bc.load(OVERDAMPED), ["parameters.c", "parameters.k"], method=method, **given)
    assert found.settings["steps"] < 1500
    t, h = found.time, 1e-20
    exact = np.stack([x(2e5 + 1j * h, 1e5, t).imag / h, x(2e5, 1e5 + 1j * h, t).imag / h], axis=-1)
    np.testing.assert_allclose(found.dq_values[:, 0] * [2e5, 1e5], exact * [2e5, 1e5], rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "parameters", "options"),
    [
        ("four_bar", ["parameters.crank_length", "parameters.rocker_length"], {"method": "radau"}),
        ("double_pendulum", ["upper.mass", "knee.y"], {"formulation": "canonical_momenta"}),
        ("four_bar", ["parameters.crank_length", "parameters.density"], {"formulation": "canonical_momenta"}),
        ("four_bar", ["parameters.crank_length", "parameters.density"], {"method": "midpoint4", "max_step": 0.003}),
    ],
)
def test_other_ways_through_time_give_the_same(name, parameters, options):
    """Closed loops by radau, momenta by dopri5, loops in momenta; beside dop853 with q and v.

    The density moves nothing, so that its derivatives are rounding."""
    model, given = bc.load(name), {"duration": 0.2, "control": "all"}
    found = bc.sensitivity(model, parameters, **given, **options)
    exact = bc.sensitivity(model, parameters, method="dop853", rtol=1e-11, atol=1e-11, **given)
    np.testing.assert_allclose(found.dv_values, exact.dv_values, rtol=0, atol=1e-7 * np.abs(exact.dv_values).max())
