"""Prescribed motions in runs that integrate q and p: the works of their drives too."""

import numpy as np
import pytest

import bellcrank as bc

TIGHT = {"rtol": 1e-11, "atol": 1e-11}


@pytest.fixture(scope="module")
def reference():
    return bc.simulate(bc.load("rheonomic_pendulum"), 1.0, step=0.1, **TIGHT)


@pytest.mark.parametrize(
    ("method", "step", "tolerance"),
    [("dopri5", None, 1e-10), ("implicit_midpoint", 1e-3, 1e-6), ("midpoint4", 1e-2, 1e-8)],
)
def test_a_driven_pendulum_moves_alike_in_momenta_and_its_drive_does_the_same_work(reference, method, step, tolerance):
    options = {"method": method, "max_step": step, **TIGHT}
    run = bc.simulate(reference.model, 1.0, step=0.1, formulation="canonical_momenta", **options)
    np.testing.assert_allclose(run.values("q"), reference.values("q"), atol=tolerance)
    np.testing.assert_allclose(run.values("work"), reference.values("work"), atol=tolerance)
    assert np.abs(run.values("work")).max() > 1e-3
    assert run.energy_error < 1e-8
