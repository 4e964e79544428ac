"""One table of operations, run over every kind of number: plain, complex, traced to one state or four lanes, and duals.

References are numpy's in extended precision where the platform has it. A tolerance is a number of rounding errors of the
kind: half a unit for + - * sqrt, one for a division (it may be a multiplication by the reciprocal), one for the libraries'
sin and cos, two for atan2, and a few more where duals or nested operations round several times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from bellcrank.numbers import CountingGraph, Dual, Operations, atan2, gather, less, maximum, minimum, select, sincos, sqrt
from tests.numbers.kinds import DUALS, KINDS

ANY, POSITIVE, TURNS = (-3.0, 3.0), (0.1, 9.0), (-20.0, 20.0)
TABLE = [3.0, -1.0, 4.0, -1.5, 9.0]


@dataclass(frozen=True)
class Row:
    """An operation, what it should give, its slopes, and its count by the papers' rules (None: not countable)."""

    name: str
    f: Callable
    reference: Callable
    slopes: Callable
    ranges: tuple
    count: Operations | None
    ulps: float = 1.0
    complex: bool = True
    table: list | None = None


def counted(additions=0, multiplications=0, divisions=0, functions=0):
    return Operations(additions, multiplications, divisions, functions)


def bump(x, y):
    """Nested choices: -x left of 0, x^2 between 0 and y, y beyond."""
    return (select(less(x, y), select(less(x, 0.0), -x, x * x), y),)


ROWS = [
    Row("sum", lambda x, y: (x + y,), lambda x, y: x + y, lambda x, y: (1, 1), (ANY, ANY), counted(1)),
    Row("sum with a constant", lambda x: (x + 1.5, 2.5 + x), lambda x: (x + 1.5, x + 2.5), lambda x: (1,), (ANY,), counted(2)),
    Row("difference", lambda x, y: (x - y,), lambda x, y: x - y, lambda x, y: (1, -1), (ANY, ANY), counted(1)),
    Row("difference from a constant", lambda x: (1.5 - x,), lambda x: 1.5 - x, lambda x: (-1,), (ANY,), counted(1)),
    Row("product", lambda x, y: (x * y,), lambda x, y: x * y, lambda x, y: (y, x), (ANY, ANY), counted(0, 1)),
    Row("product with a constant", lambda x: (3.0 * x,), lambda x: 3 * x, lambda x: (3,), (ANY,), counted(0, 1)),
    Row("quotient", lambda x, y: (x / y,), lambda x, y: x / y, lambda x, y: (1 / y, -x / y**2), (ANY, POSITIVE), counted(0, 0, 1), 2),
    Row("quotient by a constant", lambda x: (x / 3.0,), lambda x: x / 3, lambda x: (np.longdouble(1) / 3,), (ANY,), counted(0, 0, 1), 2),
    Row("reciprocal", lambda x: (2.0 / x,), lambda x: 2 / x, lambda x: (-2 / x**2,), (POSITIVE,), counted(0, 0, 1), 2),
    Row("negation", lambda x: (-x,), lambda x: -x, lambda x: (-1,), (ANY,), counted(), 0),
    Row("magnitude", lambda x: (abs(x),), abs, lambda x: (np.sign(x),), (ANY,), None, 0, complex=False),
    Row("square", lambda x: (x**2,), lambda x: x * x, lambda x: (2 * x,), (ANY,), counted(0, 1), 2),
    Row("cube by a power", lambda x: (x**3,), lambda x: x**3, lambda x: (3 * x**2,), (POSITIVE,), None, 3),
    Row("square root", lambda x: (sqrt(x),), np.sqrt, lambda x: (0.5 / np.sqrt(x),), (POSITIVE,), counted(0, 0, 0, 1)),
    Row("sine and cosine", sincos, lambda x: (np.sin(x), np.cos(x)), lambda x: ((np.cos(x),), (-np.sin(x),)), (TURNS,), counted(0, 0, 0, 1)),
    Row("cosine alone", lambda x: (sincos(x)[1],), np.cos, lambda x: (-np.sin(x),), (TURNS,), counted(0, 0, 0, 1)),
    Row("angle of a point", lambda y, x: (atan2(y, x),), np.arctan2, lambda y, x: (x / (x * x + y * y), -y / (x * x + y * y)), (ANY, ANY), counted(0, 0, 0, 1), 2),
    Row("angle, constant height", lambda x: (atan2(0.7, x),), lambda x: np.arctan2(np.longdouble(0.7), x), lambda x: (-0.7 / (x * x + 0.7**2),), (ANY,), counted(0, 0, 0, 1), 2),
    Row("angle, constant side", lambda y: (atan2(y, -0.7),), lambda y: np.arctan2(y, np.longdouble(-0.7)), lambda y: (-0.7 / (y * y + 0.7**2),), (ANY,), counted(0, 0, 0, 1), 2),
    Row("smaller", lambda x, y: (minimum(x, y),), np.minimum, lambda x, y: (1 * (x < y), 1 * (x >= y)), (ANY, ANY), None, 0),
    Row("larger", lambda x, y: (maximum(x, y),), np.maximum, lambda x, y: (1 * (x > y), 1 * (x <= y)), (ANY, ANY), None, 0),
    Row("at least a constant", lambda x: (maximum(0.5, x), maximum(x, 0.5)), lambda x: (np.maximum(x, 0.5),) * 2, lambda x: (1 * (x > 0.5),), (ANY,), None, 0),
    Row("nested choice", bump, lambda x, y: np.where(x < y, np.where(x < 0, -x, x * x), y), lambda x, y: (np.where(x < y, np.where(x < 0, -1, 2 * x), 0), 1 * (x >= y)), (ANY, ANY), None),
    Row("gather", lambda t, x: (gather(t, x) * x,), lambda x: np.array(TABLE)[np.clip(x, 0, 4).astype(int)] * x, lambda x: (np.array(TABLE)[np.clip(x, 0, 4).astype(int)],), ((-2.0, 7.0),), None, table=TABLE),
    Row("polynomial", lambda x, y: ((x + y) * (x - y) + 2.0 * x,), lambda x, y: (x + y) * (x - y) + 2 * x, lambda x, y: (2 * x + 2, -2 * y), (POSITIVE, (-0.1, 0.1)), counted(3, 2), 4),
]  # fmt: skip


def named(rows):
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.name)


def samples(row, count=41, seed=7):
    rng = np.random.default_rng(seed)
    return [rng.uniform(*limits, count) for limits in row.ranges]


def extended(columns):
    return [np.asarray(c, dtype=np.longdouble) for c in columns]


def possible(row, kind):
    if not (kind.real or row.complex):
        pytest.skip("the magnitude of a complex number is no smooth function")


@named(ROWS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_of_number_gives_the_value(row, kind):
    possible(row, kind)
    columns = samples(row)
    found = kind.run(row.f, *columns, table=row.table)
    expected = np.atleast_2d(row.reference(*extended(columns)))
    np.testing.assert_allclose(np.asarray(found, dtype=np.longdouble), expected, rtol=row.ulps * kind.eps, atol=0)


@named(ROWS)
@pytest.mark.parametrize("kind", DUALS, ids=lambda kind: kind.name)
def test_tangents_of_duals_are_the_slopes(row, kind):
    """Slopes take at most six operations on numbers of order one, hence 20 rounding errors, absolute and relative."""
    possible(row, kind)
    columns = samples(row)
    found = np.asarray(kind.jacobian(row.f, *columns, table=row.table), dtype=np.longdouble)
    np.testing.assert_allclose(found, closed_slopes(row, columns), rtol=20 * kind.eps, atol=20 * kind.eps)


@named([row for row in ROWS if row.complex and row.table is None])
def test_a_complex_step_gives_the_slopes(row):
    """With a step of 1e-30 the error of the method is below rounding."""
    columns = samples(row)
    slopes = closed_slopes(row, columns)
    for k in range(len(columns)):
        stepped = [[complex(x, 1e-30 if j == k else 0.0) for x in column] for j, column in enumerate(columns)]
        found = np.array([[complex(y).imag for y in row.f(*state)] for state in zip(*stepped, strict=True)]).T / 1e-30
        np.testing.assert_allclose(found, np.asarray(slopes[:, k], dtype=float), rtol=1e-14, atol=1e-14)


def closed_slopes(row, columns):
    """(outputs, inputs, N)"""
    xs = extended(columns)
    slopes, outputs = row.slopes(*xs), np.atleast_2d(row.reference(*xs)).shape[0]
    per_output = slopes if isinstance(slopes[0], tuple) else (slopes,) * outputs
    return np.array([[np.broadcast_to(s, xs[0].shape) for s in one] for one in per_output], dtype=np.longdouble)


@named([row for row in ROWS if row.count is not None])
def test_operations_count_as_in_the_papers(row):
    graph = CountingGraph()
    outputs = row.f(*graph.inputs(len(row.ranges)))
    assert graph.count(outputs) == row.count


@named([row for row in ROWS if row.name == "nested choice"])
def test_counts_refuse_code_that_depends_on_values(row):
    graph = CountingGraph()
    with pytest.raises(TypeError, match="straight code"):
        row.f(*graph.inputs(2))


REAL = [kind for kind in KINDS if kind.real]


@pytest.mark.parametrize("kind", REAL, ids=lambda kind: kind.name)
def test_comparisons_know_ties_and_nothing_is_true_of_nan(kind):
    def f(x, y):
        return [select(c, 1.0, 0.0) for c in (x < y, x <= y, x > y, x >= y, less(x, y), less(2.0, y), x >= 2)]

    x, y = [1.0, 2.0, 3.0, np.nan, 2.0], [2.0, 2.0, 2.0, 2.0, np.nan]
    expected = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 1, 1, 0, 0], [1, 0, 0, 0, 0], [0] * 5, [0, 1, 1, 0, 1]]
    np.testing.assert_array_equal(np.asarray(kind.run(f, x, y), dtype=float), expected)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_smaller_and_the_larger_of_a_nan_and_a_number_are_nan(kind):
    x, y = [np.nan, 1.0, np.nan, 3.0], [1.0, np.nan, np.nan, 2.0]
    found = kind.run(lambda x, y: (minimum(x, y), maximum(x, y), minimum(x, 2.5), maximum(2.5, x)), x, y)
    nan = np.nan
    expected = [[nan, nan, nan, 2], [nan, nan, nan, 3], [nan, 1, nan, 2.5], [nan, 2.5, nan, 3]]
    np.testing.assert_array_equal(np.asarray(found, dtype=float), expected)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_table_is_clamped_at_its_ends_and_nan_finds_nothing(kind):
    index = [-np.inf, -1e300, -0.5, 0.0, 0.99, 1.0, 3.5, 4.0, 4.5, 1e300, np.inf, np.nan]
    entry = [3, 3, 3, 3, 3, -1, -1.5, 9, 9, 9, 9, np.nan]
    found = kind.run(lambda t, x: (gather(t, x),), index, table=TABLE)
    np.testing.assert_array_equal(np.asarray(found, dtype=float)[0], entry)


def test_a_table_of_one_entry_always_gives_it():
    for kind in KINDS:
        found = kind.run(lambda t, x: (gather(t, x),), [-1.0, 0.0, 5.0], table=[2.5])
        np.testing.assert_array_equal(np.asarray(found, dtype=float)[0], [2.5] * 3)


@pytest.mark.parametrize("kind", [k for k in REAL if "double" in k.name and "long" not in k.name], ids=lambda kind: kind.name)
def test_conditions_combine(kind):
    """not, and, or: of recorded comparisons only; plain ones have Python's own."""

    def f(x, y):
        a, b = x < 1.0, y < 1.0
        return [select(c, 1.0, 0.0) for c in (a & b, a | b, ~a)]

    found = kind.run(f, [0.0, 0.0, 2.0, 2.0], [0.0, 2.0, 0.0, 2.0])
    np.testing.assert_array_equal(found, [[1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]])


def test_a_dual_and_a_number_of_the_kind_below_mix():
    """A dual over symbols meets symbols that do not depend on the variables: on either side, in every operation."""

    def f(x, y):
        d = Dual(x, (1.0,))
        made = [d + y, y + d, d - y, y - d, d * y, y * d, d / y, y / d, minimum(y, d), maximum(d, y), atan2(y, d), atan2(d, y)]
        made.append(select(y < d, y, d))
        return [part for one in made for part in ((one.value, *one.tangents) if isinstance(one, Dual) else (one, 0.0))]

    x, y = np.array([0.3, -1.2, 2.0]), np.array([0.7, -1.7, 1.1])
    r = x * x + y * y
    values = [
        x + y,
        x + y,
        x - y,
        y - x,
        x * y,
        x * y,
        x / y,
        y / x,
        np.minimum(x, y),
        np.maximum(x, y),
        np.arctan2(y, x),
        np.arctan2(x, y),
    ]
    slopes = [1, 1, 1, -1, y, y, 1 / y, -y / x**2, x < y, x > y, -y / r, y / r]
    values.append(np.minimum(x, y)), slopes.append(y >= x)
    expected = [np.broadcast_to(part, x.shape) for pair in zip(values, slopes, strict=True) for part in pair]
    for kind in [k for k in KINDS if k not in DUALS and k.real]:
        found = np.asarray(kind.run(f, x, y), dtype=float)
        np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-14)
