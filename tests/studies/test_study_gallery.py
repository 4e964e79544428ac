"""The studies that come with Bellcrank."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.studies.study.shipped import studies

TRUE = {"mass": 1.2, "inertia": 0.015, "center": 0.23, "shoulder_friction": 0.08, "elbow_friction": 0.03}


@pytest.mark.parametrize("name", studies())
def test_every_study_of_the_gallery_is_good(name):
    study = bc.load_study(name)
    assert study.cost is not None or study.fit is not None
    assert study.name == name


def test_the_recording_was_made_with_parameters_that_its_fit_finds():
    """Of five intervals of 95 % all hold for this seed, and residuals are as large as the noise."""
    found = bc.fit(bc.load_study("identification"))
    low, high = found.interval.T
    assert ((low < list(TRUE.values())) & (list(TRUE.values()) < high)).sum() >= 4
    assert found.spread == pytest.approx(1.0, abs=0.15)


def test_the_wanted_curve_is_that_of_a_linkage_which_is_found():
    found = bc.fit(bc.load_study("path_synthesis"))
    np.testing.assert_allclose(found.x, [0.15, 0.2, 2.1, -0.1, 0.45, 1.9, 1.3, 0.4, 1.1, 0.6], atol=1e-4)


def test_a_counterweight_opposite_to_the_pin_balances_best():
    """In the plane of the crank, and more than the rotating part of the rod alone would need."""
    best = bc.optimize(bc.load_study("balancing"))
    mass, x, y = best.x
    assert y == pytest.approx(0.0, abs=1e-5)
    assert mass * -x > 0.6 * 0.5 * 0.05
    assert best.cost < 0.5 * best.first_cost
