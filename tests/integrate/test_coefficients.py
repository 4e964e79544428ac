"""The order conditions of Runge-Kutta methods: one for every rooted tree (Butcher; Hairer, Norsett & Wanner, II.2).

A tree is the tuple of the trees on its root. With phi_i the elementary weight at stage i,

    phi_i(t) = prod over branches s of (sum_j A_ij phi_j(s)),    sum_i b_i phi_i(t) = 1 / gamma(t)

and gamma(t) the product of the sizes of t and of all trees that are left when roots are cut off.
"""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from bellcrank.integrate import DOPRI5, METHODS, RungeKutta

ROUNDING = 5e-15  # of sums of coefficients of order ten


def trees(order):
    """All rooted trees with so many vertices: 1, 1, 2, 4, 9 for orders 1 to 5."""
    if order == 1:
        return [()]
    found = set()
    for parts in partitions(order - 1):
        choices = [()]
        for size in parts:
            choices = [(*chosen, tree) for chosen in choices for tree in trees(size)]
        found |= {tuple(sorted(choice)) for choice in choices}
    return sorted(found)


def partitions(total, largest=None):
    largest = largest or total
    if total == 0:
        return [()]
    return [(k, *rest) for k in range(min(total, largest), 0, -1) for rest in partitions(total - k, k)]


def size(tree):
    return 1 + sum(size(branch) for branch in tree)


def gamma(tree):
    return size(tree) * prod(gamma(branch) for branch in tree)


def tableau(method):
    """A (s,s) and b (s,), with the stage at the new point that a method with an error estimate has; of all parts of a step."""
    stages = len(method.b) + bool(method.adaptive)
    A = np.zeros((stages, stages))
    for i, row in enumerate([*method.A, method.b][:stages]):
        A[i, : len(row)] = row
    b = np.array([*method.b, *[0.0] * (stages - len(method.b))])
    parts = np.array(method.parts)
    later = np.tril(np.ones((len(parts), len(parts))), -1) * parts  # a part starts where those before it end
    return np.kron(np.diag(parts), A) + np.kron(later, np.tile(b, (stages, 1))), np.kron(parts, b)


def weight(A, tree):
    """phi (s,)."""
    result = np.ones(len(A))
    for branch in tree:
        result = result * (A @ weight(A, branch))
    return result


def test_there_are_as_many_trees_as_cayley_counted():
    assert [len(trees(order)) for order in range(1, 7)] == [1, 1, 2, 4, 9, 20]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_meets_the_conditions_of_its_order_and_no_more(name):
    method = METHODS[name]
    A, b = tableau(method)
    for order in range(1, method.order + 1):
        for tree in trees(order):
            assert b @ weight(A, tree) == pytest.approx(1 / gamma(tree), abs=ROUNDING)
    beyond = [abs(b @ weight(A, tree) - 1 / gamma(tree)) for tree in trees(method.order + 1)]
    assert max(beyond) > 1e-5


@pytest.mark.parametrize("name", METHODS)
def test_stages_are_where_their_rows_say(name):
    method = METHODS[name]
    A, _ = tableau(method)
    np.testing.assert_allclose(A.sum(axis=1)[: len(method.c)], np.multiply(method.c, method.parts[0]), atol=ROUNDING)


def test_the_error_estimate_is_the_difference_to_a_method_of_order_four():
    """b - error meets the conditions up to order four, and misses order five: else there would be nothing to estimate."""
    A, b = tableau(DOPRI5)
    embedded = b - np.array(DOPRI5.error)
    for order in range(1, 5):
        for tree in trees(order):
            assert embedded @ weight(A, tree) == pytest.approx(1 / gamma(tree), abs=ROUNDING)
    assert max(abs(embedded @ weight(A, tree) - 1 / gamma(tree)) for tree in trees(5)) > 1e-5


@pytest.mark.parametrize("x", [0.1, 0.5, 0.8, 1.0])
def test_dense_output_meets_the_conditions_of_order_four_inside_the_step(x):
    """At x h the weights must give x^order / gamma."""
    A, _ = tableau(DOPRI5)
    b = np.array([sum(c * x ** (k + 1) for k, c in enumerate(row)) for row in DOPRI5.dense])
    for order in range(1, 5):
        for tree in trees(order):
            assert b @ weight(A, tree) == pytest.approx(x**order / gamma(tree), abs=ROUNDING)


def test_dense_output_is_smooth_from_step_to_step():
    """Its slope is the first stage at the start, and the last stage at the end."""
    rows = np.array(DOPRI5.dense)
    slope_at_end = rows @ np.arange(1, rows.shape[1] + 1)
    np.testing.assert_allclose(rows[:, 0], [1, 0, 0, 0, 0, 0, 0], atol=ROUNDING)
    np.testing.assert_allclose(slope_at_end, [0, 0, 0, 0, 0, 0, 1], atol=5 * ROUNDING)


def test_a_mistyped_coefficient_is_noticed():
    with pytest.raises(ValueError, match="the coefficients of wrong do not sum correctly"):
        RungeKutta("wrong", 2, "nobody", c=(0.0, 1.0), A=((), (1.0,)), b=(0.5, 0.4))


def factor(method, z):
    """R(z) = 1 + z b (1 - z A)^-1 1, of a step of y' = lambda y with z = h lambda."""
    size = len(method.b)
    A = np.array([[*row, *[0.0] * (size - len(row))] for row in method.A])
    return abs(1 + z * np.array(method.b) @ np.linalg.solve(np.eye(size) - z * A, np.ones(size)))


@pytest.mark.parametrize("method", [m for m in METHODS.values() if m.stable], ids=lambda m: m.name)
def test_steps_do_not_grow_up_to_the_end_of_stability_and_do_beyond(method):
    inside = max(factor(method, -z) for z in np.linspace(1e-3, method.stable, 50))
    assert inside <= 1.0 < factor(method, -1.05 * method.stable)


def test_radau_damps_whatever_dies_out_or_vibrates_and_most_what_is_fastest():
    """A-stable, |R| <= 1 on the imaginary axis, and L-stable, R -> 0; exp(z) = R(z) + O(z^6)."""
    radau = METHODS["radau"]
    assert max(factor(radau, 1j * z) for z in np.geomspace(1e-2, 1e6, 60)) <= 1.0 + ROUNDING
    assert factor(radau, -1e8) < 1e-7
    assert factor(radau, 0.01) == pytest.approx(np.exp(0.01), abs=1e-14)
