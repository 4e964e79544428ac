"""The native format: what is written is what is built, and every mistake is named with its line and a remedy."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bellcrank.errors import ModelError
from bellcrank.io import load

from ..growth import growth

ARM = """format = 1
name = "arm"
gravity = [0, -9.81, 0]
duration = 2.0
step = 0.5
[points]
pivot = [0, 0, 1]
tip = [2, 0, 1]
[bodies.upper]
rod = { from = "pivot", to = "tip", mass = 3.0 }
[bodies.lower]
mass = 1.5
center = [2.5, 0, 1]
inertia = { xx = 0.1, yy = 0.2, zz = 0.25, xy = 0.01 }
[joints.shoulder]
type = "revolute"
parent = "ground"
child = "upper"
point = "pivot"
axis = "-y"
armature = 0.1
[joints.wrist]
type = "spherical"
parent = "upper"
child = "lower"
point = "tip"
armature = [0.1, 0.2, 0.3]
[initial]
shoulder = 0.3
wrist = { q = [0.6, 0, 0.8, 0], v = [1, 2, 3] }
"""


def test_the_arrays_are_what_the_file_says():
    model = load(ARM)
    assert (model.name, model.duration, model.step) == ("arm", 2.0, 0.5)
    assert model.joint_names == ("shoulder", "wrist") and model.body_names == ("upper", "lower")
    assert model.parents == (-1, 0)
    assert model.joints[0].axis == (0.0, -1.0, 0.0)
    np.testing.assert_array_equal(model.gravity, [0, -9.81, 0])
    np.testing.assert_array_equal(model.position, [[0, 0, 1], [2, 0, 0]])
    np.testing.assert_array_equal(model.mass, [3, 1.5])
    np.testing.assert_array_equal(model.center, [[1, 0, 0], [0.5, 0, 0]])
    np.testing.assert_array_equal(model.inertia[1], [[0.1, 0.01, 0], [0.01, 0.2, 0], [0, 0, 0.25]])
    np.testing.assert_array_equal(model.armature, [0.1, 0.1, 0.2, 0.3])
    np.testing.assert_array_equal(model.initial_q, [0.3, 0.6, 0, 0.8, 0])
    np.testing.assert_array_equal(model.initial_v, [0, 1, 2, 3])


def test_a_thin_rod_has_no_inertia_along_itself():
    np.testing.assert_array_equal(load(ARM).inertia[0], np.diag([0, 1, 1]))  # m L^2/12 = 3 * 4/12


def test_a_radius_makes_the_rod_a_cylinder():
    model = load(ARM.replace("mass = 3.0", "mass = 3.0, radius = 0.2"))
    np.testing.assert_allclose(model.inertia[0], np.diag([0.06, 1.03, 1.03]), rtol=1e-15)  # m r^2/2, m (3r^2 + L^2)/12


def test_a_model_of_two_lines_of_defaults():
    model = load(
        "format = 1\nbodies.b.mass = 1\nbodies.b.center = [1, 2, 3]\nbodies.b.inertia = [1, 1, 1]\n"
        'joints.j = { type = "free", parent = "ground", child = "b", point = [1, 2, 2] }\n'
    )
    np.testing.assert_array_equal(model.gravity, [0, 0, -9.81])
    assert model.duration is None and model.step is None
    np.testing.assert_array_equal(model.initial_q, [1, 2, 2, 1, 0, 0, 0])
    np.testing.assert_array_equal(model.position, [[0, 0, 0]])
    np.testing.assert_array_equal(model.center, [[0, 0, 1]])


@pytest.mark.parametrize(
    "written", ["[0.1, 0.2, 0.25]", "[[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.25]]", "{xx=0.1, yy=0.2, zz=0.25}"]
)
def test_three_ways_to_write_an_inertia_agree(written):
    model = load(re.sub(r"inertia = .*", f"inertia = {written}", ARM))
    np.testing.assert_array_equal(model.inertia[1], np.diag([0.1, 0.2, 0.25]))


def test_a_body_may_have_no_mass_where_others_follow():
    model = load(re.sub(r"rod = .*", "mass = 0", ARM))
    assert model.mass[0] == 0 and not model.center[0].any()


def test_a_quaternion_off_by_rounding_is_normalised():
    model = load(ARM.replace("[0.6, 0, 0.8, 0]", "[0.6000003, 0, 0.8, 0]"))
    assert np.linalg.norm(model.initial_q[1:]) == pytest.approx(1, abs=1e-15)


# what is replaced, by what, and what the error says
MISTAKES = {
    "not TOML": ("step = 0.5", "step == 0.5", r"model text, line 5: not TOML: .*Correct"),
    "cut off": ("wrist = { q = [0.6, 0, 0.8, 0], v = [1, 2, 3] }\n", "wrist = { q =", r"line 30: not TOML"),
    "a key twice": ("step = 0.5", "step = 0.5\nstep = 0.6", r"line 6: not TOML: Cannot overwrite"),
    "no format": ("format = 1\n", "", r"model text: the file does not state its format\. Begin it with: format = 1"),
    "a later format": ("format = 1", "format = 2", r"line 1: format is 2\. This version .* reads format = 1"),
    "true is not one": ("format = 1", "format = true", r"line 1: format is True"),
    "no bodies": (ARM[ARM.index("[bodies.upper]") : ARM.index("[joints.sh")], "", r"has no bodies\. Describe at least one"),
    "bodies as a number": ("[points]", "[[joint]]\n[points]", r'line 6: the file has an unknown key "joint"\. Did you mean "joints"'),
    "a body as a number": ("[bodies.upper]", "[bodies]\nx = 3\n[bodies.upper]", r"line 10: bodies\.x is 3\. Give a table, \[bodies\.x\]"),
    "a name that is no text": ('name = "arm"', "name = 3", r"line 2: name is 3\. Give text in quotes"),
    "a misspelt key": ("mass = 1.5", "mass = 1.5\ncentre = 3", r'line 13: \[bodies\.lower\] has an unknown key "centre"\. Did .* "center"'),
    "a misspelt key of a rod": ("mass = 3.0", "mass = 3.0, radios = 1", r'line 10: .*rod\] has an unknown key "radios"\. Did .*"radius"'),
    "a misspelt key of a start": ("v = [1, 2, 3]", "w = [1, 2, 3]", r'line 30: \[initial\.wrist\] has an unknown key "w"'),
    "text for a number": ("mass = 1.5", 'mass = "heavy"', r"line 12: bodies\.lower\.mass is 'heavy'\. Give a finite number"),
    "truth for a number": ("mass = 1.5", "mass = true", r"line 12: bodies\.lower\.mass is True"),
    "nan": ("mass = 1.5", "mass = nan", r"line 12: bodies\.lower\.mass is nan"),
    "infinity": ("duration = 2.0", "duration = inf", r"line 4: duration is inf\. Give a finite number"),
    "beyond all mechanisms": ("mass = 1.5", "mass = 1" + "0" * 400, r"line 12: bodies\.lower\.mass is 1000"),
    "a formula of an unknown name": ("mass = 1.5", 'mass = "=m/2"', r'line 12: bodies\.lower\.mass is "=m/2": "m" is not known\. Give it in \[parameters\]'),
    "a formula that ends": ("mass = 1.5", 'mass = "=3*"', r"line 12: bodies\.lower\.mass has the formula '=3\*': the formula ends too early.*character 3"),
    "a formula for a point": ('point = "tip"', 'point = "=tip"', r"line 26: joints\.wrist\.point is '=tip'\. Give the name of a point"),
    "parameters as a number": ("[points]", "[[parameters]]\n[points]", r"line 6: parameters is \[\{\}\]\. Give a table"),
    "a parameter of text": ("[points]", '[parameters]\nL = "long"\n[points]', r"line 7: parameters\.L is 'long'\. Give a finite number, or a formula"),
    "a parameter named as a function": ("[points]", "[parameters]\nsin = 1\n[points]", r'line 7: the parameter "sin" has the name of a function'),
    "a parameter with a dash": ("[points]", "[parameters]\na-b = 1\n[points]", r'line 7: formulas cannot name the parameter "a-b"'),
    "a ring of parameters": ("[points]", '[parameters]\na = "=b"\nb = "=a"\n[points]', r"line 7: parameters\.a is \"=b\": it depends on itself \(parameters\.a -> parameters\.b -> parameters\.a\)"),
    "a gravity of two numbers": ("[0, -9.81, 0]", "[0, -9.81]", r"line 3: gravity is \[0, -9\.81\]\. Give three finite numbers"),
    "points as a number": ("[points]\npivot = [0, 0, 1]\ntip = [2, 0, 1]", "points = 3", r"line 6: points is 3\. Give a table, \[points\]"),
    "a point of text": ("tip = [2, 0, 1]", 'tip = "far"', r"line 8: points\.tip is 'far'"),
    "an unknown point": ('to = "tip"', 'to = "tap"', r'line 10: bodies\.upper\.rod\.to names the point "tap", which .* Did you mean "tip"'),
    "a point that is a number": ('to = "tip"', "to = 2", r"line 10: bodies\.upper\.rod\.to is 2\. Give the name of a point"),
    "a body of nothing": ('rod = { from = "pivot", to = "tip", mass = 3.0 }', "", r'line 9: body "upper" has no mass\. Give mass'),
    "a body twice": ("rod =", "mass = 1\nrod =", r'line 11: body "upper" is described twice, by mass and rod'),
    "no centre": ("center = [2.5, 0, 1]\n", "", r"line 11: \[bodies\.lower\] has no center\."),
    "no inertia": ("inertia = { xx = 0.1, yy = 0.2, zz = 0.25, xy = 0.01 }\n", "", r"line 11: \[bodies\.lower\] has no inertia.*point_mass"),
    "an inertia of two": ("{ xx = 0.1, yy = 0.2, zz = 0.25, xy = 0.01 }", "[1, 2]", r"line 14: bodies\.lower\.inertia is \[1, 2\]\. Give \[Ixx"),
    "an inertia by half": ("zz = 0.25, ", "", r"line 14: bodies\.lower\.inertia is .*Give \[Ixx"),
    "an inertia by other names": ("xy = 0.01", "ab = 0.01", r"line 14: bodies\.lower\.inertia is .*Give \[Ixx"),
    "a rod of text": ('rod = { from = "pivot", to = "tip", mass = 3.0 }', 'rod = "long"', r"line 10: bodies\.upper\.rod is 'long'\. Give a table"),
    "a rod without end": ('to = "tip", ', "", r"line 10: \[bodies\.upper\.rod\] has no to\. Give the point where it ends"),
    "a rod without mass": (", mass = 3.0", "", r"line 10: \[bodies\.upper\.rod\] has no mass"),
    "a point mass of text": ('rod = { from = "pivot", to = "tip", mass = 3.0 }', 'point_mass = "x"', r"line 10: bodies\.upper\.point_mass is 'x'"),
    "a point mass nowhere": ('rod = { from = "pivot", to = "tip", mass = 3.0 }', "point_mass = { mass = 1 }", r"line 10: .*has no at\."),
    "a joint without parent": ('parent = "upper"\n', "", r'line 22: \[joints\.wrist\] has no parent\. Name a body, or "ground"'),
    "a joint without type": ('type = "spherical"\n', "", r"line 22: \[joints\.wrist\] has no type"),
    "a joint nowhere": ('point = "tip"\n', "", r"line 22: \[joints\.wrist\] has no point"),
    "an axis of text": ('axis = "-y"', 'axis = "up"', r"line 20: joints\.shoulder\.axis is 'up'\. Give \"x\", \"y\""),
    "an armature of text": ("armature = 0.1", 'armature = "big"', r"line 21: joints\.shoulder\.armature is 'big'"),
    "a start of text": ("shoulder = 0.3", 'shoulder = "up"', r"line 29: initial\.shoulder is 'up'"),
    "initial as a number": (ARM[ARM.index("[initial]") :], "[initial.wrist]\nq = false\n", r"line 29: initial\.wrist\.q is False"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_line_and_remedy(mistake):
    old, new, message = MISTAKES[mistake]
    assert ARM.count(old) >= 1
    with pytest.raises(ModelError, match=message) as caught:
        load(ARM.replace(old, new, 1))
    assert "problems" not in str(caught.value).splitlines()[0], "one mistake, one complaint"


def test_all_mistakes_come_at_once_in_the_order_of_the_lines():
    text = ARM.replace("step = 0.5", "stap = 0.5").replace("mass = 1.5", "mass = -1.5").replace('"upper"\nch', '"uper"\nch')
    with pytest.raises(ModelError) as caught:
        load(text)
    first, *rest = str(caught.value).splitlines()
    assert first == "3 problems in this model:"
    assert [int(re.search(r"line (\d+)", line)[1]) for line in rest] == [5, 12, 24]


def test_deep_nesting_is_an_error_and_not_a_crash():
    with pytest.raises(ModelError, match="nested too deeply"):
        load("format = 1\nx = " + "[" * 100_000 + "]" * 100_000)


def test_a_number_of_thousands_of_digits_is_an_error():
    with pytest.raises(ModelError, match="too many digits"):
        load(ARM.replace("mass = 1.5", "mass = " + "1" * 5000))


def test_a_thousand_mistakes_are_counted_and_the_first_hundred_listed():
    text = ARM + "".join(f"j{i} = 1\n" for i in range(1000))
    with pytest.raises(ModelError) as caught:
        load(text)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("1000 problems") and len(lines) == 102 and lines[-1].strip() == "... and 900 more."


@given(st.text())
def test_no_text_ends_in_anything_but_a_model_error(text):
    with pytest.raises(ModelError):
        load(text + "\n")


TOKENS = st.sampled_from(
    [
        "=",
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        ".",
        ",",
        "#",
        "0",
        "-1",
        "nan",
        "1e400",
        "true",
        "[]",
        "{}",
        "[0,0,0]",
        "1979-05-27",
        '"="',
        "é",
        "ground",
        "upper",
        "lower",
        "shoulder",
        "wrist",
        "fixed",
        "free",
        "prismatic",
        "q",
    ]
    + ["", "\n", "\x00"]
)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, len(ARM)), st.integers(0, 12), TOKENS), min_size=1, max_size=3))
def test_a_damaged_file_is_a_model_or_a_model_error(damages):
    text = ARM
    for start, length, token in damages:
        text = text[:start] + token + text[start + length :]
    try:
        model = load(text + "\n")
    except ModelError:
        return
    assert np.isfinite(model.initial_q).all() and (model.mass >= 0).all()


def hinges(n):
    """The text of a chain of n bodies."""
    return "format = 1\n" + "".join(
        f"[bodies.b{i}]\nmass = 1\ncenter = [{i}, 0, 0]\ninertia = [1, 1, 1]\n"
        f'[joints.j{i}]\ntype = "revolute"\nparent = "{f"b{i - 1}" if i else "ground"}"\nchild = "b{i}"\n'
        f'point = [{i}, 0, 0]\naxis = "y"\n'
        for i in range(n)
    )


def test_the_work_of_reading_a_chain_grows_with_its_length_and_not_with_its_square():
    assert load(hinges(3000)).n == 3000
    assert growth(lambda n: load(hinges(n)), 100) < 2.2


def test_an_empty_file_of_tables_is_an_empty_model():
    with pytest.raises(ModelError, match="model text: the model is empty"):
        load("format = 1\n[bodies]\n[joints]\n")
