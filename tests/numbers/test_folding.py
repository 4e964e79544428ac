"""What is known while recording folds, and folding changes no value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bellcrank.kernels.llvm.emitter import Emitter
from bellcrank.numbers import CountingGraph, Dual, Symbol, atan2, is_constant, maximum, minimum, select, sincos, sqrt
from tests.numbers.kinds import KINDS
from tests.numbers.traced import Traced

GRAPHS = [CountingGraph, lambda: Emitter(1), lambda: Emitter(4)]
graphs = pytest.mark.parametrize("make", GRAPHS, ids=["counting", "double", "4 x double"])


def two(make):
    graph = make()
    return Symbol(graph, "%a"), Symbol(graph, "%b")


@graphs
@pytest.mark.parametrize("zero", [0, 0.0, np.longdouble(0), np.int64(0)])
def test_a_structural_zero_is_not_there(make, zero):
    x, _ = two(make)
    assert x * zero == 0.0 and zero * x == 0.0 and is_constant(x * zero)
    assert x + zero is x and zero + x is x and x - zero is x
    assert zero / x == 0.0


@graphs
def test_one_and_minus_one_cost_nothing(make):
    x, _ = two(make)
    assert x * 1.0 is x and 1 * x is x and x / 1.0 is x
    assert x * -1.0 is -x and x / -1 is -x and 0.0 - x is -x


@graphs
def test_a_number_less_itself_is_zero_and_a_double_negation_is_the_number(make):
    x, y = two(make)
    assert x - x == 0.0 and x + (-x) == 0.0 and (-x) + x == 0.0
    minus = -x
    assert -minus is x
    assert x + (-y) is x - y and x - (-y) is x + y and (-x) + y is y - x
    assert (-x) * y is -(x * y) and (-x) * (-y) is x * y


@graphs
def test_the_same_operation_is_recorded_once(make):
    x, y = two(make)
    assert x + y is y + x and x * y is y * x and x * 3.0 is 3 * x
    assert x - y is x - y and x - y is not y - x
    assert x / y is x / y and sqrt(x) is sqrt(x) and abs(x) is abs(x)
    assert sincos(x)[0] is sincos(x)[0] and sincos(x)[1] is sincos(x)[1]
    assert minimum(x, y) is minimum(y, x) and maximum(x, 2.0) is maximum(2.0, x)
    assert atan2(x, y) is atan2(x, y) and atan2(x, y) is not atan2(y, x)
    assert x**2 is x * x


def test_the_same_comparison_is_recorded_once():
    x, y = two(lambda: Emitter(1))
    assert (x < y) is (x < y) and ~(x < y) is ~(x < y)
    assert select(x < y, x, y) is select(x < y, x, y)


def test_a_choice_between_equals_is_no_choice():
    x, y = two(lambda: Emitter(1))
    assert select(x < y, x, x) is x and select(x < y, 2.0, 2.0) == 2.0
    assert select(True, x, y) is x and select(np.bool_(False), x, y) is y


@graphs
def test_zero_and_minus_zero_are_different_constants(make):
    """They differ by pi in the angle of a point, and by sign at infinity in a quotient."""
    x, _ = two(make)
    assert atan2(0.0, x) is not atan2(-0.0, x)
    assert x / 0.0 is not x / -0.0


def test_zero_and_minus_zero_are_different_in_machine_code():
    found = Traced(lambda x: (atan2(0.0, x), atan2(-0.0, x)), 1, 4)([-1.0, 2.0])
    np.testing.assert_array_equal(found, [[math.pi, 0.0], [-math.pi, -0.0]])
    assert np.signbit(found[1]).all()


def test_after_the_flow_of_control_moves_on_nothing_is_taken_for_recorded():
    graph = Emitter(1)
    x, y = Symbol(graph, "%a"), Symbol(graph, "%b")
    before = x + y
    graph.forget()
    assert x + y is not before


@graphs
def test_a_recorded_number_cannot_be_branched_on_nor_read(make):
    """``if x:`` asks for bool(x)."""
    x, y = two(make)
    with pytest.raises(TypeError, match="use select"):
        bool(x)
    with pytest.raises(TypeError, match="has no value to make a float of"):
        float(x)
    if make is not CountingGraph:
        with pytest.raises(TypeError, match="use select"):
            bool(x < y)


@graphs
def test_a_recorded_number_refuses_what_is_no_number(make):
    x, _ = two(make)
    for bad in ("1", None, [1.0], 1j):
        for operation in (
            lambda x, b: x + b,
            lambda x, b: b - x,
            lambda x, b: x * b,
            lambda x, b: x / b,
            lambda x, b: b / x,
            lambda x, b: x < b,
        ):
            with pytest.raises(TypeError):
                operation(x, bad)


@graphs
def test_numpy_scalars_on_the_left_give_way(make):
    x, _ = two(make)
    for one in (np.float64(2), np.longdouble(2), np.int64(2)):
        assert one * x is x * 2.0 and one + x is x + 2.0 and isinstance(one - x, Symbol) and isinstance(one / x, Symbol)


def test_tangents_that_are_structurally_zero_stay_so():
    """The derivative of what does not depend on a variable costs nothing."""
    x, y = Dual.seeds(two(CountingGraph))
    product = x * 3.0 + y
    assert product.tangents == (3.0, 1.0)
    assert (x * x).tangents[1] == 0.0 and sincos(x)[0].tangents[1] == 0.0 and sqrt(x).tangents[1] == 0.0


def test_only_what_an_output_depends_on_is_counted():
    graph = CountingGraph()
    x, y = graph.inputs(2)
    dead = (x + y) * sqrt(y)
    assert dead is not None
    assert graph.count([x * y, 1.0]).total == 1
    assert graph.count([x * y + x * y, x * y]) == (1, 1, 0, 0)


def test_dead_constants_and_negations_are_free():
    graph = CountingGraph()
    x, y = graph.inputs(2)
    assert graph.count([-(x * y), 2.0]) == (0, 1, 0, 0)


# Sums and products of small integers are exact in double precision, in any order and fused or not. So an expression that
# folds must give exactly what Python's integers give.

VARIABLES = st.sampled_from(["x", "y", "z"])
CONSTANTS = st.sampled_from([0, 1, -1, 2, 3])


def combined(parts):
    pairs = st.tuples(st.sampled_from(["+", "-", "*"]), parts, parts)
    return pairs | st.tuples(st.just("neg"), parts)


EXPRESSIONS = st.recursive(VARIABLES | CONSTANTS, combined, max_leaves=8)


def evaluate(expression, values, constant=float):
    if isinstance(expression, str):
        return values[expression]
    if isinstance(expression, int):
        return constant(expression)
    parts = [evaluate(part, values, constant) for part in expression[1:]]
    if expression[0] == "neg":
        return -parts[0]
    a, b = parts
    return a + b if expression[0] == "+" else a - b if expression[0] == "-" else a * b


@settings(max_examples=30)
@given(st.lists(EXPRESSIONS, min_size=4, max_size=8))
def test_folding_changes_no_value(expressions):
    x, y, z = [2, -3, 5, 1, 0], [7, 1, -2, 0, 4], [-1, 3, 2, 6, -5]
    expected = [[evaluate(e, {"x": a, "y": b, "z": c}, int) for a, b, c in zip(x, y, z, strict=True)] for e in expressions]

    def f(x, y, z):
        return [evaluate(e, {"x": x, "y": y, "z": z}) for e in expressions]

    for kind in KINDS:
        np.testing.assert_array_equal(np.asarray(kind.run(f, x, y, z), dtype=float), np.array(expected, dtype=float))
