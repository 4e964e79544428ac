"""Numbers that remember how they follow from parameters: what was done to them can be done again, on any number."""

import math
import pickle

import numpy as np
import pytest

from bellcrank.numbers import Dual, select
from bellcrank.numbers.operations import OPERATIONS
from bellcrank.numbers.variable import Replay, Tape, Variable, as_array, as_number, length_of, on_constants, values_of, varied


def everything(a, b):
    """A number by all operations that formulas know."""
    smooth = OPERATIONS["atan"](a * b) + OPERATIONS["asin"](a / 4.0) - OPERATIONS["tan"](b) / OPERATIONS["exp"](a)
    rough = OPERATIONS["max"](a, b, 0.5) * OPERATIONS["abs"](a - b) + OPERATIONS["if"](OPERATIONS["<"](a, b), a, 2.0 * b)
    return smooth + rough + OPERATIONS["**"](a, 2.5) - OPERATIONS["log"](b) + OPERATIONS["sqrt"](a * a + 1.0) / 3.0


def test_a_replay_gives_at_other_parameters_what_the_code_itself_gives():
    tape = Tape([1.3, 0.7])
    recorded = everything(*tape.parameters)
    assert recorded.value == pytest.approx(everything(1.3, 0.7), rel=1e-14)
    for a, b in ((0.4, 0.9), (2.0, 1.9), (0.1, 3.0)):  # both sides of every comparison
        assert tape.replay([recorded], [a, b])[0] == pytest.approx(everything(a, b), rel=1e-14)


def test_a_replay_on_dual_and_complex_numbers_gives_derivatives():
    tape = Tape([1.3, 0.7])
    replay = Replay(tape, [everything(*tape.parameters)])
    (dual,) = replay(Dual.seeds([0.4, 0.9]))
    for k in range(2):
        step = [complex(0.4), complex(0.9)]
        step[k] += 1e-30j
        assert replay(step)[0].imag / 1e-30 == pytest.approx(dual.tangents[k], rel=1e-13)


def test_what_does_not_depend_on_a_parameter_stays_a_plain_number():
    a, b = Tape([0.0, 2.0]).parameters
    assert isinstance(0.0 * a, float) and isinstance(a - a, float)
    turned = np.eye(3) @ as_array([a, 1.0, b])
    assert varied(turned).tolist() == [True, False, True]
    assert values_of(turned).tolist() == [0.0, 1.0, 2.0]
    cleaned = on_constants(np.zeros_like, turned)
    assert cleaned[0] is a and cleaned[1] == 0.0
    assert isinstance(as_number(a), Variable) and length_of([a, b]).value == 2.0


def test_a_constant_is_not_taken_for_the_number_in_its_place():
    tape = Tape([5.0, 7.0])
    a, b = tape.parameters
    assert [(x * b).value for x in (1.0 + a, a * a, a + b)] == [42.0, 175.0, 84.0]
    for k in range(2, 8):
        assert (a * float(k) + b * float(k)).value == 12.0 * k and (b / (k + 2.0)).value == 7.0 / (k + 2.0)


def test_a_branch_is_an_assumption_and_a_selection_is_none():
    tape = Tape([1.0, 2.0])
    a, b = tape.parameters
    chosen = select(a < b, a, b)
    assert tape.holds() == 1.0
    assert chosen.value == 1.0 and tape.replay([chosen], [5.0, 3.0]) == [3.0]
    assert a < b and not b < a
    holds = tape.holds()
    assert tape.replay([holds], [1.5, 1.6]) == [1.0] and tape.replay([holds], [5.0, 3.0]) == [0.0]


def test_it_never_becomes_a_plain_number_in_silence():
    (a,) = Tape([1.0]).parameters
    for lose in (float, math.sin, lambda x: np.array([x], dtype=float)):
        with pytest.raises(TypeError, match="depends on a design"):
            lose(a)


def test_kinks_are_found_where_two_equal_numbers_are_compared():
    tape = Tape([1.0, 2.0, 3.0])
    a, b, c = tape.parameters
    outputs = [OPERATIONS["max"](a, b), OPERATIONS["abs"](c)]
    assert tape.kinks(outputs, [1.0, 2.0, 3.0]) == []
    assert tape.kinks(outputs, [2.0, 2.0, 3.0]) == [0, 1]
    assert tape.kinks(outputs, [1.0, 2.0, 0.0]) == [2]
    assert tape.depends_on([a * c]) == [True, False, True]


def test_a_tape_is_pickled_however_long_it_is():
    tape = Tape([1.0])
    x = tape.parameters[0]
    for _ in range(5000):
        x = x * 1.0001 + 0.5
    again = pickle.loads(pickle.dumps(x))
    assert again.graph.replay([again], [2.0]) == tape.replay([x], [2.0])
