"""Bodies of several shapes and holes, and of closed meshes, against solids whose inertia is known."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.io import dumps
from bellcrank.model import Mechanism
from bellcrank.model.builder import part

JOINT = """
[joints.hinge]
type = "revolute"
parent = "ground"
child = "body"
point = [0, 0, 0]
axis = "z"
"""


def of(body):
    return bc.load(f"format = 1\n[bodies.body]\n{body}\n{JOINT}")


def same(a, b):
    np.testing.assert_allclose(a.mass, b.mass, rtol=1e-13)
    np.testing.assert_allclose(a.center, b.center, atol=1e-14)
    np.testing.assert_allclose(a.inertia, b.inertia, rtol=1e-12, atol=1e-15)


def test_a_box_of_two_halves_is_the_box():
    whole = of("box = { center = [0.1, 0, 0], size = [0.4, 0.2, 0.3], density = 1000 }")
    halves = of(
        "density = 1000\nparts = [{ box = { center = [0, 0, 0], size = [0.2, 0.2, 0.3] } },"
        " { box = { center = [0.2, 0, 0], size = [0.2, 0.2, 0.3] } }]"
    )
    same(whole, halves)
    assert bc.load(dumps(halves)).spec == halves.spec


def test_a_cylinder_with_a_hole_is_a_tube():
    ends = "from = [0.1, 0, -0.2], to = [0.1, 0.1, 0.2]"
    tube = of(f"cylinder = {{ {ends}, radius = 0.05, inner_radius = 0.02, density = 7800 }}")
    bored = of(
        f"density = 7800\nparts = [{{ cylinder = {{ {ends}, radius = 0.05 }} }}]\n"
        f"holes = [{{ cylinder = {{ {ends}, radius = 0.02 }} }}]"
    )
    same(tube, bored)
    assert bored.with_parameters({"body.density": 3900.0}).mass[0] == pytest.approx(tube.mass[0] / 2)


def test_python_makes_compound_bodies_too():
    m = Mechanism("model")
    m.compound(
        "body",
        [part("box", center=(0, 0, 0), size=(0.2, 0.2, 0.3)), part("sphere", center=(0.2, 0, 0), radius=0.1, mass="500 g")],
        holes=[part("rod", start=(0, 0, -0.1), end=(0, 0, 0.1), radius=0.01)],
        density=1000,
    )
    m.joint("hinge", "revolute", "ground", "body", (0, 0, 0), axis="z")
    model = m.build()
    assert model.mass[0] == pytest.approx(0.2 * 0.2 * 0.3 * 1000 + 0.5 - np.pi * 1e-4 * 0.2 * 1000)
    assert bc.load(dumps(model)).spec == model.spec
    with pytest.raises(bc.ModelError, match=r'a box has no "radius"'):
        part("box", center=(0, 0, 0), size=(1, 1, 1), radius=2)
    with pytest.raises(bc.ModelError, match="is not a shape"):
        part("cone")


@pytest.fixture
def brick(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.creation.box((20, 30, 40))
    mesh.apply_translation((5, 6, 7))
    mesh.export(tmp_path / "brick.stl")
    trimesh.Trimesh(mesh.vertices, mesh.faces[:-1], process=False).export(tmp_path / "open.stl")
    (tmp_path / "text.stl").write_text("hello")
    return tmp_path


def test_a_closed_mesh_has_the_inertia_of_the_solid(brick):
    file = brick / "model.toml"
    body = 'mesh = { file = "brick.stl", scale = 0.001, density = 1000, at = [1, 0, 0] }'
    file.write_text(f"format = 1\n[bodies.body]\n{body}\n{JOINT}")
    made = bc.load(file)
    solid = of("box = { center = [1.005, 0.006, 0.007], size = [0.02, 0.03, 0.04], density = 1000 }")
    np.testing.assert_allclose(made.mass, solid.mass, rtol=1e-6)  # STL has single precision
    np.testing.assert_allclose(made.center, solid.center, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(made.inertia, solid.inertia, rtol=1e-6, atol=1e-12)
    assert made.with_parameters({"body.scale": 0.002}).mass[0] == pytest.approx(8 * made.mass[0])
    assert 'mesh = { file = "brick.stl", scale = 0.001, at = [1.0, 0.0, 0.0], density = 1000.0 }' in dumps(made)
    m = Mechanism("model")
    m.from_mesh("body", "brick.stl", density=1000, scale=0.001, at=(1, 0, 0), folder=brick)
    m.joint("hinge", "revolute", "ground", "body", (0, 0, 0), axis="z")
    assert m.build().spec == made.spec


@pytest.mark.parametrize(
    ("mesh", "said"),
    [
        ('{ file = "open.stl", density = 1 }', r"not closed.*Close its holes"),
        ('{ file = "text.stl", density = 1 }', r"Save it"),
        ('{ file = "nothing.stl", density = 1 }', r"is not in .*Put it there"),
        ('{ file = "../brick.stl", density = 1 }', r"outside the model's folder"),
        ('{ file = "brick.stl", density = 1, mass = 2 }', r"both mass and density"),
        ('{ file = "brick.stl", density = 1, scale = 0 }', r"the scale of its mesh is 0"),
    ],
)
def test_a_mesh_that_has_no_volume_says_why(brick, mesh, said):
    file = brick / "model.toml"
    file.write_text(f"format = 1\n[bodies.body]\nmesh = {mesh}\n{JOINT}")
    with pytest.raises(bc.ModelError, match=said) as caught:
        bc.load(file)
    assert "model.toml, line" in str(caught.value)


def test_a_text_has_no_folder_for_a_mesh():
    with pytest.raises(bc.ModelError, match="Save the model as a file beside the mesh"):
        of('mesh = { file = "brick.stl", density = 1 }')


@pytest.mark.parametrize(("how", "said"), [('mirror = "x"', "mirrored"), ('turn = { axis = "z", angle = 1 }', "turned")])
def test_a_mesh_is_not_turned_with_a_copy(brick, how, said):
    file = brick / "model.toml"
    inside = JOINT.replace("[joints", "[assemblies.part.joints")
    body = '[assemblies.part.bodies.body]\nmesh = { file = "brick.stl", density = 1 }'
    file.write_text(f'format = 1\n{body}\n{inside}\n[copies.one]\nof = "part"\n{how}')
    with pytest.raises(bc.ModelError, match=f"cannot be {said}"):
        bc.load(file)
