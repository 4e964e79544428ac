"""Sobol' indices: those of functions for which they are known, through a whole sweep, and what they cannot be of."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import StateError, StudyError
from bellcrank.studies.sweeps.statistics import saltelli_indices

FUNCTIONS = """
format = 1
name = "functions of parameters"

[parameters]
x1 = 0.5
x2 = 0.5
x3 = 0.5

[bodies.block]
sphere = { center = [0, 0, 0], radius = 0.1, mass = 1.0 }

[joints.slide]
type = "prismatic"
parent = "ground"
child = "block"
point = [0, 0, 0]
axis = "x"

[measures.ishigami]
type = "formula"
value = "=sin(x1) + 7*sin(x2)**2 + 0.1*x3**4*sin(x1)"

[measures.g]
type = "formula"
value = "=abs(4*x1 - 2) * (abs(4*x2 - 2) + 1)/2 * (abs(4*x3 - 2) + 9)/10"

[measures.constant]
type = "formula"
value = "=1000/3 + 0*x1"

[measures.root]
type = "formula"
value = "=sqrt(x1) + x2"
"""
NAMES = tuple(f"parameters.x{k}" for k in (1, 2, 3))


@pytest.fixture(scope="module")
def functions():
    return bc.load(FUNCTIONS)


def saltelli(model, low, high, outputs, runs):
    spread = dict.fromkeys(NAMES, (low, high))
    return bc.sweep(model, spread, outputs, 1e-3, design="saltelli", runs=runs, seed=1)


def ishigami_indices():
    """Ishigami & Homma 1990, with a = 7, b = 1/10: V_1 = (1 + b pi^4/5)^2/2, V_2 = a^2/8, V_13 = 8 b^2 pi^8/225."""
    a, b = 7.0, 0.1
    one, two, with_three = (1 + b * np.pi**4 / 5) ** 2 / 2, a**2 / 8, 8 * b**2 * np.pi**8 / 225
    parts = np.array([[one, two, 0.0], [one + with_three, two, with_three]])
    return parts / (one + two + with_three)


def g_indices():
    """Of the product of (|4 x - 2| + a)/(1 + a), each factor with the mean 1 and the variance 1/(3 (1 + a)^2)."""
    v = 1 / (3 * (1 + np.array([0.0, 1.0, 9.0])) ** 2)
    total = np.array([v[k] * np.prod(1 + np.delete(v, k)) for k in range(3)])
    return np.array([v, total]) / (np.prod(1 + v) - 1)


@pytest.mark.parametrize(
    ("output", "low", "high", "known"),
    [("ishigami@end", -np.pi, np.pi, ishigami_indices()), ("g@end", 0.0, 1.0, g_indices())],
)
def test_indices_of_functions_in_the_literature_come_out_of_a_sweep(functions, output, low, high, known):
    """Over a dozen seeds, the first-order indices of 2,048 designs deviate by 0.011 at most and the total ones by 0.004 (root
    mean squares): the tolerances are four times as large. The intervals are for
    independent designs, of which the total index of x1 is off by up to 0.08."""
    found = saltelli(functions, low, high, [output], 2048)
    indices = found.sobol_indices(output)
    assert found.task.in_lanes and indices.parameters == NAMES and (indices.designs, indices.left_out) == (2048, 0)
    np.testing.assert_allclose(indices.first, known[0], atol=0.044)
    np.testing.assert_allclose(indices.total, known[1], atol=0.016)
    for errors, got, exact in ((indices.first_error, indices.first, known[0]), (indices.total_error, indices.total, known[1])):
        assert (np.abs(got - exact) <= errors).all() and (errors < 0.1).all()


def test_the_published_numbers_are_those_of_the_formulas():
    np.testing.assert_allclose(ishigami_indices(), [[0.3139, 0.4424, 0.0], [0.5576, 0.4424, 0.2437]], atol=5e-5)


def test_intervals_of_independent_designs_hold_the_true_indices():
    """Of 100 sets of 300 designs, 95 % of 600 intervals; those of one set are correlated, so 90 to 99 % are accepted."""
    known, inside = ishigami_indices(), []
    for seed in range(100):
        a, b = np.random.default_rng(seed).uniform(-np.pi, np.pi, (2, 300, 3))
        x = np.concatenate([a, b, *(np.where(np.arange(3) == k, b, a) for k in range(3))])
        f = np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
        found = saltelli_indices(f, NAMES, seed, 40)
        inside += [np.abs(found.first - known[0]) <= found.first_error, np.abs(found.total - known[1]) <= found.total_error]
    assert 0.90 < np.mean(inside) < 0.99


def test_indices_do_not_depend_on_the_unit_or_the_zero_of_the_output():
    """A shift by a million times the spread costs six digits; squares of 1e200 would overflow."""
    f = np.random.default_rng(2).random(5 * 64)
    own = saltelli_indices(f, NAMES, 0, 10)
    for other in (1e200 * f, 1e-200 * f, -3.0 * f):
        found = saltelli_indices(other, NAMES, 0, 10)
        np.testing.assert_allclose(found.first, own.first, rtol=1e-9)
        np.testing.assert_allclose(found.total_error, own.total_error, rtol=1e-9)
    np.testing.assert_allclose(saltelli_indices(f + 1e6, NAMES, 0, 10).total, own.total, rtol=1e-6)


def test_an_output_that_does_not_vary_has_no_indices_and_says_so(functions):
    """Also where it varies by rounding alone."""
    found = saltelli(functions, 0.0, 1.0, ["constant@end"], 16)
    with pytest.warns(bc.BellcrankWarning, match=r"'constant@end' are not numbers: it is 333.333 in all runs"):
        indices = found.sobol_indices("constant@end")
    assert np.isnan(indices.first).all() and np.isnan(indices.total).all() and "nan" in str(indices)
    noise = 5.0 * (1 + 1e-15 * np.random.default_rng(0).random(80))
    assert np.isnan(saltelli_indices(noise, NAMES, 0, 5).total).all()


def test_designs_in_which_a_run_has_no_number_are_left_out_and_counted(functions):
    """The root of x1 is one for x1 >= 0: three quarters of the interval, and both A and B have to be there."""
    found = saltelli(functions, -0.25, 0.75, ["root@end"], 256)
    x1 = found.values(NAMES[0]).reshape(5, 256)
    kept = int((x1 >= 0).all(axis=0).sum())
    with pytest.warns(
        bc.BellcrankWarning, match=f"{256 - kept} of 256 designs have runs without a number; .* of the other {kept}"
    ):
        indices = found.sobol_indices("root@end")
    assert (indices.designs, indices.left_out) == (kept, 256 - kept) and 0.4 < kept / 256 < 0.7
    never = saltelli(functions, -0.75, -0.25, ["root@end"], 16)
    with pytest.raises(StudyError, match="there are 0, and 16 in which a run has none"):
        never.sobol_indices("root@end")


def test_indices_are_of_numbers_and_of_one_case(functions, tmp_path):
    """In the second case the parameter x3 is ten times as far from its mean: there it explains the most."""
    study = tmp_path / "study.toml"
    (tmp_path / "sum.toml").write_text(
        FUNCTIONS.replace('"=sqrt(x1) + x2"', '"=x1 + x2 + factor*x3"').replace("[bodies", "factor = 1.0\n[bodies", 1)
    )
    study.write_text(
        """
        format = 1
        model = "sum.toml"
        duration = 1e-3
        [parameters]
        "parameters.x1" = { min = 0, max = 1 }
        "parameters.x2" = { min = 0, max = 1 }
        "parameters.x3" = { min = 0, max = 1 }
        [cases.calm]
        [cases.rough]
        set = { "parameters.factor" = 10 }
        [outputs]
        sum = "root@end"
        curve = "root"
        [sweep]
        design = "saltelli"
        runs = 512
        """
    )
    found = bc.sweep(study)
    np.testing.assert_allclose(found.sobol_indices("sum", case="calm").total, [1 / 3] * 3, atol=0.03)
    np.testing.assert_allclose(found.sobol_indices("sum", case="rough").total, np.array([1, 1, 100]) / 102, atol=0.03)
    assert found.dataset["case"].values.tolist()[:3] == ["calm", "rough", "calm"]
    with pytest.raises(StateError, match="has 2 cases; name one: case='calm' or 'rough'"):
        found.sobol_indices("sum")
    with pytest.raises(StateError, match="no case 'wild'"):
        found.sobol_indices("sum", case="wild")
    with pytest.raises(StateError, match="is a curve"):
        found.sobol_indices("curve", case="calm")
    with pytest.raises(StudyError, match="resamples is -1"):
        found.sobol_indices("sum", case="calm", resamples=-1)
    assert np.isnan(found.sobol_indices("sum", case="calm", resamples=0).first_error).all()
