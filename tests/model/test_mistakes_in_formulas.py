"""Deliberate mistakes in formulas, tables and functions: each is one line with its place and a remedy, never a traceback."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import bellcrank as bc

MODEL = """
format = 1
name = "mistakes"
inputs = ["throttle"]
[parameters]
k = 2.0
t0 = 1.0
[tables.curve]
rows = [[0, 0], [1, 2]]
[tables.map]
x = [0, 1]
y = [0, 1]
values = [[0, 1], [1, 2]]
[bodies.b]
mass = 1.0
center = [0, 0, 0]
inertia = [0.1, 0.1, 0.1]
[joints.hinge]
type = "revolute"
parent = "ground"
child = "b"
point = [0, 0, 0]
axis = "z"
[measures.tip]
type = "position"
body = "b"
point = [1, 0, 0]
"""

FORMULAS = {
    "k*": "ends too early",
    "k k": r"Write \* for a product",
    "k ^ 2": r"Write \*\* for a power",
    "k = 2": "Write == to compare",
    "hinge.q > 0": r"write if\(condition, a, b\)",
    "if(hinge.q, 1, 2)": "if takes a condition first",
    "if(hinge.q > 0, 1)": "if takes 3 values, not 2",
    "0 < hinge.q < 1": "write a < b and b < c",
    "not hinge.q": "joins conditions",
    "1 and 2": "joins conditions",
    "(hinge.q < 1)*2": "for numbers",
    "step(1, 2)": "step takes 1 value",
    "smoothstep(t)": "smoothstep takes 3 values",
    "mod(t)": "mod takes 2 values",
    "sgn(t)": 'no function "sgn".*Did you mean "sign"',
    "curv(t)": 'no function "curv".*Did you mean "curve"',
    "curve(t, 1)": 'table "curve" takes 1 value, not 2',
    "map(t)": 'table "map" takes 2 values, not 1',
    "curve + 1": "is a table. Give it its arguments",
    "hinge.qq": "neither a measure, nor a coordinate, nor a parameter.*hinge.q",
    "tip": "is a vector. Write tip.x",
    "tip.w": "neither a measure",
    "trottle": 'Did you mean "throttle"',
    "hinge.a": "needs what this force itself changes",
    "hinge.fx": "needs what this force itself changes",
    "push.force": "needs what this force itself changes",
    "energy.kinetic + sqroot(2)": "no function",
    "$0 + 1": "not expected",
    "$0 = 1": "does not end with ;",
    "t + [1]": "one for each component",
    "1e40*t": "larger than",
    "hinge.q &&  1": "Write and",
    "import(t)": 'no function "import"',
}


@pytest.mark.parametrize("text", FORMULAS)
def test_a_wrong_formula_of_a_force(text):
    with pytest.raises(bc.ModelError) as error:
        bc.load(f'{MODEL}\n[motors.push]\njoint = "hinge"\neffort = "={text}"\n')
    (line,) = str(error.value).splitlines()
    assert re.search(FORMULAS[text], line) and "line 31" in line and "push" in line


TABLES = {
    "rows = [[0, 1]]": "Give two at least",
    "rows = [[0, 1], [0, 2]]": "Let the first column increase",
    "rows = [[0, 1], [1]]": "rows of two numbers",
    "rows = 3": "rows of two numbers",
    "outside = 'clamp'": "rows, a file, or x, y and values",
    "x = [0, 1]\ny = [0, 1]": "has x, y and values",
    "x = [0, 1]\ny = [0, 1]\nvalues = [[1, 2]]": "2 rows of 2",
    "x = [0, 1]\ny = [1, 0]\nvalues = [[1, 2], [3, 4]]": "Let y increase",
    "x = [0, 1]\ny = [0, 1]\nvalues = [[1, 2], [3]]": "all of the same length",
    "x = [0, 1]\ny = [0, 1]\nvalues = [[1, 2], [3, 4]]\ninterpolation = 'pchip'": "of a table of two arguments",
    "x = [0, 1]\ny = [0, 1]\nvalues = [[1, 2], [3, 4]]\noutside = 'periodic'": "of a table of two arguments",
    "rows = [[0, 1], [1, 2]]\ninterpolation = 'spline'": "linear",
    "rows = [[0, 1], [1, 2]]\noutside = 'hold'": "clamp",
    "rows = [[0, 1], [1, 2]]\noutside = 'periodic'": "Let it end as it begins",
    "rows = [[0, 1], [1, 2]]\nfile = 'x.csv'": "both file and rows",
    "file = 'x.csv'": "has no folder",
    "row = [[0, 1], [1, 2]]": "row",
}


@pytest.mark.parametrize("text", TABLES)
def test_a_wrong_table(text):
    with pytest.raises(bc.ModelError, match=TABLES[text]) as error:
        bc.load(f"{MODEL}\n[tables.wrong]\n{text}\n")
    assert "line" in str(error.value) and "wrong" in str(error.value)


FILES = {
    "1,2": "two lines",
    "1\n2\n3": "one column",
    "x,y\n1,2\n3": "line 3 has 1 cells",
    "x,y\n1,2\n3,four": 'line 3 has "four" in column 2',
    "x,y\n1,2\n1,3": "increase",
    "": "two lines",
}


@pytest.mark.parametrize("text", FILES)
def test_a_wrong_table_file(text, tmp_path):
    (tmp_path / "data.csv").write_text(text)
    (tmp_path / "m.toml").write_text(f'{MODEL}\n[tables.wrong]\nfile = "data.csv"\n')
    with pytest.raises(bc.ModelError, match=FILES[text]):
        bc.load(tmp_path / "m.toml")


@pytest.mark.parametrize("file", ["../data.csv", "/etc/passwd", "C:\\data.csv", "none.csv", "a/../../data.csv"])
def test_a_table_file_is_inside_the_folder_of_the_model(file, tmp_path):
    (tmp_path / "data.csv").write_text("0,0\n1,1\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.toml").write_text(f"{MODEL}\n[tables.wrong]\nfile = '{file}'\n")
    with pytest.raises(bc.ModelError, match="outside|absolute|is not in"):
        bc.load(tmp_path / "in" / "m.toml")


def test_files_of_one_and_two_arguments_are_read(tmp_path):
    (tmp_path / "one.csv").write_text("# measured\nangle; pressure; more\n0; 1.5; 0\n1; 2.5; 0\n")
    (tmp_path / "two.csv").write_text("x/y, 0, 1, 2\n0, 1, 2, 3\n1, 4, 5, 6\n")
    text = f'{MODEL}\n[tables.one]\nfile = "one.csv"\ncolumns = ["angle", "pressure"]\n[tables.two]\nfile = "two.csv"\n'
    (tmp_path / "m.toml").write_text(f'{text}[motors.push]\njoint = "hinge"\neffort = "=one(0.5) + two(0.5, hinge.q)"\n')
    model = bc.load(tmp_path / "m.toml")
    np.testing.assert_allclose(bc.compile(model).acceleration([1.5], [0.0]), (2.0 + 4.0) / 0.1)


def branches(t):
    if t > 0:
        return 1.0
    return t


FUNCTIONS = {
    "branches": (branches, r"line \d+, 'if t > 0:': it branches on a value.*select"),
    "math": (lambda t: math.sin(t), "functions of math.*bellcrank.numbers"),
    "numpy": (lambda t: np.sin(t), "calls numpy.*bellcrank.numbers"),
    "tuple": (lambda t: (t, t), "returns tuple. Let it return one number"),
    "nothing": (lambda t: None, "returns NoneType"),
    "condition": (lambda t: t < 2, "returns a condition"),
    "error": (lambda t: t.nothing, "AttributeError"),
    "remainder": (lambda t: t % 2, "takes a remainder.*mod"),
    "whole": (lambda t: t // 2, "rounds a value.*floor"),
    "round": (lambda t: round(t), "rounds a value.*floor"),
    "integer": (lambda t: int(t), "rounds a value.*floor"),
    "entry": (lambda t: [1.0, 2.0][t], "an entry of a list.*select"),
    "largest": (lambda t: max(t, 1.0), "branches on a value.*maximum"),
    "not a number": (lambda t: math.nan, "returns nan. Let it return a finite number"),
    "stars": (lambda *a: 1.0, "arguments without a name"),
    "unknown": (lambda angle: angle, '"angle" is neither a measure'),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_cannot_be_recorded_shows_its_line(name):
    function, message = FUNCTIONS[name]
    m = bc.Mechanism("m")
    m.sphere("b", (0, 0, 0), 0.1, mass=1.0)
    m.joint("hinge", "revolute", "ground", "b", point=(0, 0, 0), axis="z")

    def build():
        m.motor("push", "hinge", function)
        m.build()

    with pytest.raises(bc.ModelError, match=message):
        build()


LAWS = {
    "text": ("3", "A formula begins with ="),
    "flat": ([1, 2, 3], "is no law"),
    "key": ({"rat": 2.0}, 'gives "rat"|is no law'),
    "two": ({"rate": 2.0, "stat": 1}, "there may be rate, start"),
    "state": ("=sin(hinge.q)", "by the time t and by parameters"),
    "table": ("=curve(t)", "A motion by a table is"),
    "object": (object(), "is no law"),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_that_is_none(name):
    law, message = LAWS[name]
    m = bc.Mechanism("m")
    m.sphere("b", (0, 0, 0), 0.1, mass=1.0)

    def build():
        m.joint("hinge", "revolute", "ground", "b", point=(0, 0, 0), axis="z", motion=law)
        m.build()

    with pytest.raises(bc.ModelError, match=message):
        build()


ELEMENTS = {
    "contacts.c": ('body = "b"\npoint = [0, 0, 0]\nstiffness = 1e5', "a plane or a cylinder"),
    "contacts.d": (
        'body = "b"\npoint = [0, 0, 0]\nstiffness = 1e5\nexponent = 0.5\nplane = { body = "ground", point = [0, 0, 0], normal = "z" }',
        "1 or more",
    ),
    "contacts.e": (
        'body = "b"\npoint = [0, 0, 0]\nstiffness = 1e5\nplane = { body = "b", point = [0, 0, 0], normal = "z" }',
        "two bodies",
    ),
    "tyres.t": ('body = "ground"\npoint = [0, 0, 0]\nstiffness = 1e5\nradius = 0.3', "no body that can move"),
    "tyres.u": ('body = "b"\npoint = [0, 0, 0]\nstiffness = -1\nradius = 0.3', "more than zero"),
    "springs.s": (
        'from = { body = "ground", point = [0, 0, 1] }\nto = { body = "b", point = [0, 0, 0] }\nstiffness = 1\nonly = "push"\npreload = 2',
        "no table and no preload",
    ),
    "stops.s": (
        'from = { body = "ground", point = [0, 0, 1] }\nto = { body = "b", point = [0, 0, 0] }\nstiffness = 1',
        "no limit",
    ),
    "actuators.a": ('from = { body = "ground", point = [0, 0, 1] }\nto = { body = "b", point = [0, 0, 0] }', "Give it"),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_a_wrong_element(name):
    text, message = ELEMENTS[name]
    with pytest.raises(bc.ModelError, match=message) as error:
        bc.load(f"{MODEL}\n[{name}]\n{text}\n")
    assert "line" in str(error.value)
