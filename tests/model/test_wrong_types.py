"""Values of the wrong type, in every argument of every method of a Mechanism, are errors of ours."""

from __future__ import annotations

import inspect
from contextlib import suppress

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.model import Mechanism, in_body

WRONG = [
    None, "x", 5, float("nan"), True, [], [1], (1, 2, 3), ["a", "b", "c"], {}, {"a": 1}, object(), b"x", np.zeros(3), np.zeros((2, 2)),
    abs, 1j, 10**400, "\ud800", set(),
]  # fmt: skip
RIGHT = {
    "name": "new", "kind": "revolute", "parent": "arm", "child": "b", "point": (0, 0, 0), "joint": "h", "joints": ["h"],
    "factors": [1.0], "body": "arm", "start": ("arm", (0, 0, 1)), "end": ("arm", (0, 1, 1)), "axis": "y", "center": (0, 0, 1),
    "size": (1, 1, 1), "element": "h", "position": (0, 0, 1), "value": "=1", "of": "part",
}  # fmt: skip
METHODS = [
    name for name, method in inspect.getmembers(Mechanism, inspect.isfunction) if not name.startswith("_") and name != "build"
]


def mechanism(**given):
    m = Mechanism(**{"name": "m", **given})
    m.point("p", (0, 0, 0))
    m.point("t", in_body("arm", (0, 0, -1)))
    m.body("arm", 1.0, (0, 0, -1), (1.0, 1.0, 1.0))
    m.joint("h", "revolute", "ground", "arm", point="p", axis="y")
    return m


@pytest.mark.parametrize("method", METHODS)
def test_a_value_of_the_wrong_type_is_an_error_of_ours(method):
    parameters = [p for p in inspect.signature(getattr(Mechanism, method)).parameters.values() if p.name != "self"]
    needed = {p.name: RIGHT.get(p.name, 1.0) for p in parameters if p.default is p.empty}
    for parameter in parameters:
        for wrong in WRONG:
            m = mechanism()
            with suppress(ModelError):
                getattr(m, method)(**needed | {parameter.name: wrong})
                m.build()


@pytest.mark.parametrize("name", ["name", "gravity", "duration", "step", "inputs"])
def test_a_mechanism_of_wrong_values_is_an_error_of_ours(name):
    for wrong in WRONG:
        with suppress(ModelError):
            mechanism(**{name: wrong}).build()


def test_the_message_names_the_argument_its_owner_and_the_value():
    m = mechanism()
    with pytest.raises(ModelError, match='table of "pull" is 5'):
        m.motor("pull", "h", table=5)
    with pytest.raises(ModelError, match='stiffness of "soft" is missing'):
        m.spring("soft", "h", None)
    with pytest.raises(ModelError, match="3 is not text"):
        m.damper("d", 3, 1.0)
    with pytest.raises(ModelError, match="'wheel.stl' is not of type Mesh"):
        m.sphere("ball", (0, 0, 0), 1.0, mass=1.0, mesh="wheel.stl")
