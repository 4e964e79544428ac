"""Deliberate mistakes in files of tables, Python functions and laws, and in what elements allow; test_mistakes.py has the others."""

from __future__ import annotations

import math

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
    "flat": ([1, 2, 3], "is not a law"),
    "key": ({"rat": 2.0}, 'gives "rat"|is not a law'),
    "two": ({"rate": 2.0, "stat": 1}, "there may be rate, start"),
    "state": ("=sin(hinge.q)", "by the time t and by parameters"),
    "table": ("=curve(t)", "A motion by a table is"),
    "object": (object(), "is not a law"),
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
    "tyres.t": ('body = "ground"\npoint = [0, 0, 0]\nstiffness = 1e5\nradius = 0.3', "not a body that can move"),
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
