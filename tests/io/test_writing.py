"""What is built, saved and loaded is the same: the Spec and every array."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bellcrank.errors import ModelError, StateError
from bellcrank.io import dumps, gallery, load, save
from bellcrank.joints import JOINTS
from bellcrank.model import Mechanism, in_body
from bellcrank.model.builder import polynomial, rate, sine, table
from bellcrank.model.generators import chain, random_tree

ARRAYS = ("position", "mass", "center", "inertia", "armature", "gravity", "given_q", "given_v")


def same(a, b):
    for field in ARRAYS:
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)
    for field in (
        "name",
        "joint_names",
        "body_names",
        "parents",
        "joints",
        "duration",
        "step",
        "motions",
        "elements",
        "inputs",
        "measures",
        "closures",
    ):
        assert getattr(a, field) == getattr(b, field), field


@pytest.mark.parametrize("name", sorted(gallery()))
def test_gallery_models_survive_being_written(name):
    model = load(name)
    again = load(dumps(model))
    assert again.spec == model.spec
    same(again, model)


def everything():
    m = Mechanism('every "thing"\\', gravity=(0, "=-g", 0), duration=2.0, step=0.1, inputs=["u"])
    m.parameter("g", 9.81)
    m.parameter("L", "=g/10")
    m.point("pivot", (0, 0, 0))
    m.point("tip", in_body("arm", ("=L", 0, 0)))
    m.rod("arm", "pivot", "tip", mass=2.0, radius=0.01)
    m.box("hand", in_body("hand", (0, 0, 0.1)), (0.1, 0.2, 0.3), density=100, axis=(0, 1, 1))
    m.body("a b", 1.0, (0, 1, 0), ((0.2, 0.01, 0), (0.01, 0.3, 0), (0, 0, "=0.1*L + 0.2")))
    m.body("bob", 1.0, (0, 2, 0))
    m.cylinder("roll", (0, 0, 0), (0, 0, 1), 0.1, inner_radius=0.05, mass=1.0)
    m.joint("hinge", "revolute", "ground", "arm", point="pivot", axis="-y", armature=0.1)
    m.joint("ball", "spherical", "arm", "hand", point="tip")
    m.joint("driven", "cylindrical", "hand", "a b", point=(0, 1, 0), axis="x", motion={"slide": sine(1, 2), "angle": rate(3)})
    m.joint("pin", "prismatic", "ground", "bob", point=(0, 0, 0), axis=(1, 1, 0), motion=table([(0, 0), (1, 2)], "clamp"))
    m.joint("turn", "spherical", "ground", "roll", point=(0, 0, 0), motion=polynomial(1, "=L"), motion_axis="z")
    m.motor("drive", "hinge", input="u", gain=2)
    m.spring("coil", "hinge", "=3*L", rest=0.1)
    m.line_spring("strut", ("ground", "pivot"), ("hand", in_body("hand", (0, 0, 1))), 5, damping=1, length=0.1)
    m.line_spring("band", ("ground", "pivot"), ("hand", "tip"), table=[(-1, -1), (0, 0), (1, "=L")])
    m.line_damper("shock", ("arm", "tip"), ("a b", (0, 0, 0)), 3)
    m.damper("oil", "hinge", 1)
    m.friction("ring", "hinge", 0.1)
    m.stop("end", "hinge", 1e3, lower=-1, upper=1)
    m.bushing("rubber", "arm", "bob", "tip", stiffness=(1, 2, 3), turning_damping=(1, 1, "=L"), axis="x")
    m.force("wind", "bob", "pivot", (1, 0, 0), axes="body")
    m.measure_position("p", "bob", "pivot", "x")
    m.measure_distance("d", ("arm", "tip"), ("ground", (0, 0, 0)))
    m.measure_coordinate("c", "driven", "slide")
    m.measure_angle("w", ("arm", "x"), ("ground", (1, 1, 0)))
    m.measure_velocity("v", "bob", "pivot", ("arm", "tip"))
    m.measure_force("f", "strut")
    m.measure_formula("sum", "=p + 2*d*L")
    leg = m.assembly("leg")
    leg.parameter("k", 2)
    leg.sphere("foot", (0, 1, 0), 0.1, mass=1)
    leg.joint("ankle", "revolute", "arm", "foot", point=(0, 1, 0.2), axis="x")
    leg.spring("pad", "ankle", "=k*L")
    leg.box("toe", (0, 1, 0.5), (0.1, 0.1, 0.1), mass=1)
    leg.joint("slip", "planar", "foot", "toe", (0, 1, 0.5), axis="x", axis2="y")
    leg.joint("tendon", "universal", "arm", "toe", (0, 1, 0.4), axis="z", axis2="x", cut=True)
    leg.coupler("gear", ["ankle", "slip.angle", "hinge"], [1, "=k", -3], offset="=L")
    leg.point_on_line("guide", ("arm", "tip"), ("toe", (0, 1, 0.6)), "y")
    m.joint("weld", "fixed", "arm", "bob", "tip", cut=False)
    m.distance("rod", ("arm", "tip"), ("a b", in_body("a b", (0, "=L", 0))), length="=2*L")
    m.distance("piston", ("arm", "tip"), ("bob", (3, 0, 0)), motion=sine(0.1, 1, offset=3))
    m.point_on_plane("floor", ("ground", "pivot"), ("hand", "tip"), (0, 0, 2), 0.3)
    m.point_on_plane("lift", ("ground", "pivot"), ("hand", "tip"), "z", motion=rate("=L"))
    m.coupler("belt", ["hinge", "right.ankle"], ratio=2, motion=polynomial(0, 1))
    m.copy("left", "leg", offset=(0, 0, "=L"))
    m.copy("right", "leg", mirror="y", parameters={"k": "=g"})
    m.start("right.ankle", 0.2)
    m.start("hinge", "=L/3", 1)
    m.start("ball", v=(1, 2, 3))
    return m


def test_the_builder_makes_what_the_file_says():
    m = everything()
    model = m.build()
    assert model.spec == m.spec and model.nv == 1 + 3 + 2 + 6
    again = load(dumps(model))
    assert again.spec == model.spec
    same(again, model)


NUMBERS = st.floats(-1e3, 1e3).map(lambda x: round(x, 3) + 0.0) | st.sampled_from(
    ["=a", "=2*a - b", "=sqrt(b) + pi", 1e-7, 123456.789]
)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
POSITIVE = st.floats(0.01, 100) | st.sampled_from(["=b", "=b/3 + 1"])
NAMES = st.text(alphabet="abcXYZ09_ -é'\"\\#=[]", min_size=1, max_size=6).filter(lambda s: s == s.strip())


@st.composite
def mechanisms(draw):
    m = Mechanism("random", gravity=draw(VECTORS))
    m.parameter("a", draw(st.floats(-5, 5)))
    m.parameter("b", draw(st.floats(0.5, 5)))
    m.point("P", draw(VECTORS))
    n = draw(st.integers(1, 5))
    names = draw(st.lists(NAMES, min_size=2 * n, max_size=2 * n, unique=True))
    names = [f"{i}{name}" for i, name in enumerate(names)]
    places = st.one_of(st.just("P"), VECTORS)
    for i in range(n):
        shape = draw(st.sampled_from(["body", "sphere", "box"]))
        if shape == "body":
            m.body(names[i], draw(POSITIVE), draw(places), (1.0, 1.0, draw(st.floats(0.5, 1.5))))
        elif shape == "sphere":
            m.sphere(names[i], draw(places), draw(POSITIVE), density=draw(POSITIVE))
        else:
            m.box(names[i], draw(places), (1.0, draw(POSITIVE), 2.0), mass=draw(POSITIVE))
    for i in range(n):
        kind = draw(st.sampled_from(sorted(JOINTS)))
        parent = names[draw(st.integers(0, i - 1))] if i and draw(st.booleans()) else "ground"
        given = {"axis": draw(st.sampled_from(["x", "-y", (0.0, 3.0, 4.0)]))} if JOINTS[kind].has_axis else {}
        if JOINTS[kind].needs_axis2:
            given = {"axis": "z", "axis2": "-x"}
        if JOINTS[kind].needs_pitch:
            given["pitch"] = draw(NUMBERS)
        where = in_body(parent, draw(VECTORS)) if draw(st.booleans()) else draw(places)
        m.joint(names[n + i], kind, parent, names[i], where, armature=0.5 if JOINTS[kind].nv else 0.0, **given)
        if kind in ("revolute", "prismatic", "screw") and draw(st.booleans()):
            m.spring(f"s{i}", names[n + i], draw(POSITIVE), rest=draw(NUMBERS))
            m.start(names[n + i], draw(NUMBERS), draw(st.none() | NUMBERS))
    return m


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mechanisms())
def test_building_saving_and_loading_changes_nothing(mechanism):
    model = mechanism.build()
    again = load(dumps(model))
    assert again.spec == mechanism.spec
    same(again, model)


@pytest.mark.parametrize(
    "model",
    [chain(4, kind="universal"), random_tree(12, 3, sorted(JOINTS), armature=True, shuffle=True)],
    ids=["chain", "tree"],
)
def test_models_from_arrays_can_be_written_to_rounding(model):
    again = load(dumps(model))
    assert (again.joint_names, again.parents) == (model.joint_names, model.parents)
    for field in ARRAYS:
        np.testing.assert_allclose(getattr(again, field), getattr(model, field), rtol=1e-13, atol=1e-14, err_msg=field)


def test_a_file_is_replaced_unless_it_is_to_be_kept(tmp_path):
    model, file = load("pendulum"), tmp_path / "copy.toml"
    save(model, file)
    assert load(file).spec == model.spec
    with pytest.raises(StateError, match="exists already, and keep=True"):
        save(model, file, keep=True)
    save(model.with_parameters({"bob.y": -2.0}), file)
    assert load(file).center[0, 1] == -2
    assert [item.name for item in tmp_path.iterdir()] == ["copy.toml"]
    with pytest.raises(StateError, match="cannot write"):
        save(model, tmp_path / "no" / "where.toml")
    with pytest.raises(ModelError, match="written as .toml"):
        save(model, tmp_path / "model.stl")


def test_a_changed_copy_of_a_model_has_no_text_of_its_own():
    model = dataclasses.replace(load("pendulum"), name="other")
    assert model.spec is None and load(dumps(model)).name == "other"
    with pytest.raises(ModelError, match="made from arrays, with forces"):
        dumps(dataclasses.replace(load("crane"), name="other"))
    with pytest.raises(ModelError, match="has no name"):
        dumps(dataclasses.replace(model, name=""))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda m: m.parameter("x", "three"), "A formula begins with ="),
        (lambda m: m.parameter("x", "=1+"), "ends too early"),
        (lambda m: m.parameter("x", None), "required|no number|missing"),
        (lambda m: m.parameter("x", [1]), "is not a number"),
        (lambda m: m.point("x", (1, 2)), "is not a vector"),
        (lambda m: m.joint("j", "revolute", "a", "b", "p", axis="up"), "is not a direction"),
        (lambda m: Mechanism(""), "name of a mechanism"),
        (lambda m: (m.assembly("a"), m.assembly("a")), "already"),
        (lambda m: m.build(), "the model is empty"),
    ],
)
def test_the_builder_refuses_what_it_cannot_use(wrong, message):
    with pytest.raises((ModelError, TypeError), match=message):
        wrong(Mechanism("m"))


def test_a_file_in_which_numbers_were_changed_keeps_its_comments(tmp_path):
    """Numbers are put in place, also in arrays and inline tables; a number that the file does not write rewrites it whole."""
    model = load("slider_crank")
    changed = model.with_parameters({"parameters.r": 0.055, "crank.mass": 4.5, "gravity.y": -9.0, "gas.stiffness": 900.0})
    save(changed, tmp_path / "changed.toml")
    text = (tmp_path / "changed.toml").read_text()
    original = gallery()["slider_crank"].read_text()
    differ = [(a, b) for a, b in zip(original.splitlines(), text.splitlines(), strict=True) if a != b]
    assert len(differ) == 4
    assert "0.055                            # m, crank" in text
    assert load(tmp_path / "changed.toml").parameters == changed.parameters
    other = model.with_parameters({"crankshaft.armature": 0.1})
    save(other, tmp_path / "other.toml")
    assert "#" not in (tmp_path / "other.toml").read_text()
    assert load(tmp_path / "other.toml").parameters == other.parameters
