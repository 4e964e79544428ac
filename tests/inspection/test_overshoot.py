"""A pulse typed as rows of a table: the spline through them is something else, and check says so."""

import bellcrank as bc

MODEL = """
format = 1
name = "pulse"
duration = 10.0
[bodies.b]
mass = 1.0
center = [0, 0, 0]
inertia = [0.1, 0.1, 0.1]
[joints.slide]
type = "prismatic"
parent = "ground"
child = "b"
point = [0, 0, 0]
axis = "x"
[motors.push]
joint = "slide"
table = {rows}
"""


def test_a_spline_far_beyond_its_rows_is_a_remark():
    sharp = bc.load(MODEL.replace("{rows}", "[[0, 0], [4, 0], [4.05, 10], [4.1, 0], [10, 0]]"))
    assert any("reaches" in remark and "add rows" in remark for remark in sharp.check().remarks)


def test_a_smooth_table_is_none():
    smooth = bc.load(MODEL.replace("{rows}", "[[0, 0], [2, 5], [5, 10], [8, 5], [10, 0]]"))
    assert not any("reaches" in remark for remark in smooth.check().remarks)
