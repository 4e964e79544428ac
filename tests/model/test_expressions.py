"""Formulas: the arithmetic of a designer, and nothing that could harm."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bellcrank.model.parameters.expressions import FUNCTIONS, LARGEST, Formula, FormulaError, derived


def value(text, **values):
    return Formula(text).evaluate(values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2*3", 7.0),
        ("(1 + 2)*3", 9.0),
        ("8/4/2", 1.0),
        ("7 - 4 - 2", 1.0),
        ("-2**2", -4.0),
        ("2**3**2", 512.0),
        ("2**-1", 0.5),
        ("--3", 3.0),
        ("+3", 3.0),
        ("1e3 + .5 + 2.", 1002.5),
        ("pi", math.pi),
        ("deg(180)", math.pi),
        ("sqrt(9) + abs(-2)", 5.0),
        ("atan2(1, -1)", 3 * math.pi / 4),
        ("min(3, 1, 2) + max(1, 2)", 3.0),
        ("log(exp(2))", 2.0),
        ("asin(1) + acos(1) + atan(0) + tan(0) + sin(0) + cos(0)", math.pi / 2 + 1),
    ],
)
def test_the_rules_of_arithmetic_hold(text, expected):
    assert value(text) == pytest.approx(expected, rel=1e-15)


def test_names_may_have_dots_and_are_listed_once():
    formula = Formula("L1*cos(a) + upper.length - L1")
    assert formula.names == ("L1", "a", "upper.length")
    assert formula.evaluate({"L1": 2.0, "a": 0.0, "upper.length": 3.0}) == 3.0


def test_names_can_be_changed_where_they_stand():
    assert derived("L + cos(L)*M").renamed({"L": "left.L", "M": "M"}.__getitem__).text == "left.L + cos(left.L)*M"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("1 +", r"ends too early.*\(character 4\)"),
        ("2 L", r"'L' was not expected here\. Write \* for a product \(character 3\)"),
        ("2(3)", "Write \\* for a product"),
        ("(1", r"parenthesis is not closed \(character 1\)"),
        ("1)", "was not expected"),
        ("a ^ 2", r"Write \*\* for a power\. \(character 3\)"),
        ("sin", r"write sin\(\.\.\.\)"),
        ("sin(1, 2)", "sin takes 1 value, not 2"),
        ("atan2(1)", "atan2 takes 2 values, not 1"),
        ("max(1)", "max takes 2 values or more"),
        ("[1, 2]", "one for each component"),
        ("__import__('os').system('ls')", "has no meaning here"),
        ("().__class__", "not expected|no meaning"),
        ("a if b else c", "not expected"),
        ("lambda: 1", "not expected|no meaning"),
        ("1e999", "larger than 1e"),
        ("*".join(["1"] * 20_000), "too long"),
        ("(" * 60 + "1" + ")" * 60, "nested more than 50 deep"),
        ("-" * 400 + "1", "nested more than"),
        ("2" + "**2" * 100, "nested more than"),
    ],
)
def test_a_formula_that_cannot_be_read_says_where(text, message):
    with pytest.raises(FormulaError, match=message):
        Formula(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1/0", "1 is divided by zero"),
        ("sqrt(-1)", r"sqrt\(-1\) is not a real number"),
        ("(-8)**(1/3)", "not a real number"),
        ("log(0)", "not a real number"),
        ("9**9**9**9", "too large|larger than"),
        ("exp(1000)", "too large"),
        ("1e29*100", "larger than 1e"),
        ("0**-1", "not a real number|divided"),
    ],
)
def test_a_formula_without_a_finite_value_is_an_error(text, message):
    with pytest.raises(FormulaError, match=message):
        value(text)


def test_a_power_tower_is_refused_before_it_is_computed():
    """9**9**9 alone has 370 million digits: with whole numbers this test would not come to its end."""
    with pytest.raises(FormulaError, match="too large"):
        value("**".join(["9"] * 40))


def test_a_formula_does_not_turn_into_a_number_by_itself():
    with pytest.raises(TypeError, match="no value by itself"):
        float(Formula("a"))


TREES = st.recursive(
    st.one_of(st.floats(0.01, 100).map(lambda x: (repr(x), x)), st.sampled_from([("a", 1.5), ("b.c", -0.25), ("pi", math.pi)])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(
            lambda t: (
                f"({t[0][0]} {t[1]} {t[2][0]})",
                {"+": t[0][1] + t[2][1], "-": t[0][1] - t[2][1], "*": t[0][1] * t[2][1]}[t[1]],
            )
        ),
        inner.map(lambda t: (f"-({t[0]})", -t[1])),
        inner.map(lambda t: (f"cos({t[0]})", math.cos(t[1]))),
    ),
    max_leaves=12,
)


@given(TREES)
def test_formulas_mean_what_python_means(tree):
    text, expected = tree
    if abs(expected) < LARGEST and len(text) < 900:
        assert value(text, a=1.5, **{"b.c": -0.25}) == expected


@settings(max_examples=300)
@given(st.text(alphabet="019.e+-*/() ,ab_^[]'\"\\" + "\u00e9", max_size=40) | st.lists(st.sampled_from([*FUNCTIONS, "(", ")", "**", "-", "9", "x.y", ",", "__import__"]), max_size=30).map(" ".join))  # fmt: skip
def test_any_text_is_a_finite_number_or_a_formula_error(text):
    try:
        formula = Formula(text)
        found = formula.evaluate(dict.fromkeys(formula.names, 2.0))
    except FormulaError:
        return
    assert abs(found) <= LARGEST
