"""What is recorded of the building of a model gives, at other parameters, the model that is built with them."""

import dataclasses

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model.parameters import changing

UNCHANGED = ("inertia", "initial", "limits", "armature", "axis2", "duration", "step")  # else most random ones are impossible
POSITIVE = ("mass", "stiffness", "damping", "radius", "length", "velocity")


def other_numbers(model, seed, amount):
    """Values of all parameters: most of them changed, as far as there are such models; zeros stay zeros."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, x in model.parameters.items():
        keep = any(word in name for word in UNCHANGED) or ".table." in name or ".rows." in name
        r = 0.0 if keep else rng.uniform(-1.0, 1.0)
        found[name] = x * (1 + amount * (abs(r) if any(word in name for word in POSITIVE) else r))
    return found


def same(a, b, path=""):
    """Equal to rounding, all the way down."""
    if isinstance(a, float | np.ndarray):
        size = max(1.0, np.abs(a).max(initial=0.0)) if isinstance(a, np.ndarray) else max(1.0, abs(a))
        assert np.allclose(a, b, rtol=1e-12, atol=1e-14 * size), path
    elif dataclasses.is_dataclass(a):
        assert type(a) is type(b), path
        for field in dataclasses.fields(a):
            if field.name != "written":
                same(getattr(a, field.name), getattr(b, field.name), f"{path}.{field.name}")
    elif isinstance(a, tuple | dict):
        assert len(a) == len(b), path
        for key in a if isinstance(a, dict) else range(len(a)):
            same(a[key], b[key], f"{path}[{key}]")
    else:
        assert a == b, path


@pytest.mark.parametrize("name", bc.gallery())
def test_a_model_from_a_recording_is_the_one_that_is_built(name, monkeypatch):
    model = bc.load(name)
    changes = other_numbers(model, 0, 0.02)
    built = model.with_parameters(changes)
    model.with_parameters(changes)  # recorded
    monkeypatch.setattr(changing, "build", None)  # from here on nothing is built
    remade = model.with_parameters(changes)
    same(built, remade)
    assert dict(remade.parameters) == dict(built.parameters)
    with pytest.raises(ValueError, match="read-only"):
        remade.mass[0] = 1.0


def test_a_chain_of_changed_models_shares_what_was_recorded(monkeypatch):
    model = bc.load("double_pendulum")
    name = next(x for x in model.parameters if x.endswith("mass"))
    for mass in (1.1, 1.2, 1.3):
        model = model.with_parameters({name: mass})
    monkeypatch.setattr(changing, "build", None)
    model = model.with_parameters({name: 1.4})
    assert model.parameters[name] == 1.4 and 1.4 in model.mass


def test_where_the_way_of_building_changes_the_model_is_built_anew():
    m = bc.Mechanism("spinner")
    m.rod("arm", (0, 0, 0), (1, 0, 0), mass=1.0, radius=0.1)
    m.joint("hinge", "revolute", "ground", "arm", (0, 0, 0), axis="z")
    model = m.build()
    for length in (1.0, 2.0):
        model.with_parameters({"arm.to.x": length})
    for _ in range(2):
        with pytest.raises(bc.ModelError, match='body "arm": its rod begins and ends at'):
            model.with_parameters({"arm.to.x": 0.0})
    assert model.with_parameters({"arm.to.x": -3.0}).center[0, 0] == -1.5


def test_models_that_were_changed_are_pickled_and_saved_as_what_they_are(tmp_path):
    import pickle

    model = bc.load("quarter_car")
    name = next(x for x in model.parameters if x.endswith("stiffness"))
    for _ in range(3):
        changed = model.with_parameters({name: 12345.0})
    assert pickle.loads(pickle.dumps(changed)).parameters[name] == 12345.0
    bc.save(changed, tmp_path / "changed.toml")
    assert bc.load(tmp_path / "changed.toml").parameters[name] == 12345.0
