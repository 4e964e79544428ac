"""A pulse typed as rows of a table: the spline through them is something else, and check and simulate say so."""

import pytest

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


PULSE = "[[0, 0], [4, 0], [4.05, 10], [4.1, 0], [10, 0]]"


def test_a_spline_that_swings_beyond_its_rows_is_a_remark_and_a_warning_with_its_interval():
    sharp = bc.load(MODEL.replace("{rows}", PULSE + '\ninterpolation = "cubic"'))
    assert any("between 4.1 and 10" in remark and "pchip" in remark for remark in sharp.check().remarks)
    with pytest.warns(UserWarning, match="reaches .* between 4.1 and 10, .* beyond its rows"):
        bc.simulate(sharp, duration=0.1)


def test_the_default_of_forces_does_not_overshoot_and_no_smooth_table_is_blamed():
    for rows in (PULSE, '[[0, 0], [2, 5], [5, 10], [8, 5], [10, 0]]\ninterpolation = "cubic"'):
        assert not any("reaches" in remark for remark in bc.load(MODEL.replace("{rows}", rows)).check().remarks)
