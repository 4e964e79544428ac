"""Where an imported model came from, and its limits, in native files."""

from __future__ import annotations

import dataclasses

import pytest

from bellcrank.errors import ModelError
from bellcrank.io import dumps, load, schema
from bellcrank.model import Limits, Source, build

PENDULUM = """
format = 1
name = "pendulum"
[bodies.bob]
point_mass = { at = [0, 0, -1], mass = 1 }
[joints.hinge]
type = "revolute"
parent = "ground"
child = "bob"
point = [0, 0, 0]
axis = "y"
"""
SOURCE = Source(
    "mjcf",
    "a.xml",
    unsimulated=('limits of "x"',),
    remarks=("renamed",),
    names={"bob": "b.ob"},
    frames={"bob": (0.5, 0.5, 0.5, 0.5)},
    references={"hinge": (0.3,)},
    order=("hinge",),
    impossible=True,
    rounding=5e-6,
)


def test_a_source_survives_a_file():
    model = build(dataclasses.replace(load(PENDULUM).spec, source=SOURCE))
    again = load(dumps(model))
    assert again.source == model.source == SOURCE and again.spec == model.spec


def test_limits_survive_a_file_and_are_parameters():
    model = load(PENDULUM + 'limits = { lower = -1, upper = "=2*1", effort = 5 }\n')
    assert model.limits == (Limits(-1.0, 2.0, None, 5.0),)
    assert load(dumps(model)).limits == model.limits
    assert model.with_parameters({"hinge.limits.lower": -2.0}).limits[0].lower == -2
    assert load(PENDULUM).limits == ()


WRONG = {
    "format": ('file = "a"', r"\[source\] has no format"),
    "lists": ('format = "mjcf"\nfile = "a"\nremarks = [1]', "source.remarks is .* Give an array of texts"),
    "frames": ('format = "mjcf"\nfile = "a"\nframes = { bob = [1, 0] }', "Give a quaternion"),
    "lengths": ('format = "mjcf"\nfile = "a"\nframes = { bob = [1, 1, 0, 0] }', 'quaternion of "bob" is not of unit length'),
    "references": ('format = "mjcf"\nfile = "a"\nreferences = { hinge = 3 }', "Give an array of numbers"),
    "names": ('format = "mjcf"\nfile = "a"\nnames = { bob = 3 }', "Give the name there"),
    "impossible": ('format = "mjcf"\nfile = "a"\nimpossible = 3', "Give true or false"),
    "rounding": ('format = "mjcf"\nfile = "a"\nrounding = "fine"', "source.rounding is .* Give a number"),
    "coarse": (
        'format = "mjcf"\nfile = "a"\nrounding = 0.5',
        "source.rounding is 0.5. Give zero, or what numbers are rounded by",
    ),
    "keys": ('format = "mjcf"\nfile = "a"\nfoo = 3', 'unknown key "foo"'),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_source_is_told(case):
    text, message = WRONG[case]
    with pytest.raises(ModelError, match=message):
        load(f"{PENDULUM}[source]\n{text}\n")


def test_limits_of_arrays_are_counted():
    with pytest.raises(ModelError, match="limits has 2 entries for 1 joints"):
        dataclasses.replace(load(PENDULUM), limits=(None, None))


def test_a_source_of_arrays_is_checked():
    with pytest.raises(ModelError, match="not of unit length"):
        dataclasses.replace(load(PENDULUM), source=Source("mjcf", "a", frames={"bob": (1.0, 1.0, 0.0, 0.0)}))


def test_impossible_inertias_are_taken_where_the_source_says_so():
    text = PENDULUM.replace("point_mass = { at = [0, 0, -1], mass = 1 }", "mass = 1\ncenter = [0, 0, -1]\ninertia = [1, 1, 5]")
    with pytest.raises(ModelError, match="no body has one larger"):
        load(text)
    assert load(f'{text}[source]\nformat = "urdf"\nfile = "a"\nimpossible = true\n').inertia[0, 2, 2] == 5


def test_the_schema_knows_both():
    properties = schema()["properties"]
    assert "source" in properties and "limits" in properties["joints"]["additionalProperties"]["properties"]
