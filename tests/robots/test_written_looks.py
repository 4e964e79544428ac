"""Looks survive a file: what an import kept, an export writes, and shapes of model files become visible elsewhere."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bellcrank as bc

pytest.importorskip("mujoco")
pytest.importorskip("yourdfpy")

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype="<f4")
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
TETRAHEDRON = bytes(80) + len(FACES).to_bytes(4, "little")  # a binary STL: normal, corners and a word of each face
TETRAHEDRON += b"".join(bytes(12) + CORNERS[list(face)].tobytes() + bytes(2) for face in FACES)
ROBOT = """<?xml version="1.0"?>
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"/>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><geometry><box size="1 2 3"/></geometry><material name="grey"/></visual>
    <visual><origin xyz="0 0 1"/><geometry><sphere radius="0.2"/></geometry></visual>
    <visual><origin rpy="1 0 0"/><geometry><cylinder radius="0.1" length="0.7"/></geometry></visual>
    <visual><geometry><mesh filename="meshes/part.stl" scale="0.1 0.2 0.3"/></geometry></visual>
  </link>
  <joint name="hinge" type="continuous">
    <parent link="base"/><child link="arm"/><origin xyz="0 0 0.5" rpy="0.3 0.2 0.1"/><axis xyz="0 0 1"/>
  </joint>
</robot>
"""
ANIMAL = """<mujoco>
  <asset><mesh name="fin" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
  <worldbody><body pos="0 0 1" euler="10 20 30">
    <joint name="hinge" axis="0 1 0"/>
    <geom type="capsule" size="0.1 0.3" pos="0.1 0 0" euler="0 40 0" rgba="1 0 0 1" contype="0" conaffinity="0"/>
    <geom type="ellipsoid" size="0.1 0.2 0.3" contype="0" conaffinity="0"/>
    <geom type="box" size="0.1 0.2 0.3" pos="0 0 1" contype="0" conaffinity="0"/>
    <geom type="mesh" mesh="fin" rgba="0 0 1 0.5" contype="0" conaffinity="0"/>
  </body></worldbody>
</mujoco>
"""
SHAPES = """
format = 1
[bodies.arm]
parts = [
    { box = { center = [0, 0, 1], size = [0.1, 0.2, 0.3], axis = "x", mass = 1 } },
    { sphere = { center = [0, 1, 0], radius = 0.1, mass = 1 } },
    { rod = { from = [0, 0, 0], to = [0, 2, 0], mass = 1 } },
]
[joints.hinge]
type = "revolute"
parent = "ground"
child = "arm"
point = [0, 0.5, 0]
axis = "y"
"""


def same(one, other, tolerance=1e-12):
    assert (one.body, one.kind) == (other.body, other.kind)
    for name in ("size", "position", "axes"):
        assert np.allclose(getattr(one, name), getattr(other, name), atol=tolerance)
    assert (one.color is None) == (other.color is None)
    assert one.color is None or np.allclose(one.color, other.color, atol=1e-6)  # MuJoCo's colours have single precision


@pytest.fixture
def robot(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "part.stl").write_bytes(TETRAHEDRON)
    (tmp_path / "robot.urdf").write_text(ROBOT)
    return bc.load(tmp_path / "robot.urdf")


def test_a_urdf_has_its_shapes_colours_and_meshes_after_a_round_trip(robot, tmp_path):
    bc.save(robot, tmp_path / "again.urdf")
    again = bc.load(tmp_path / "again.urdf")
    assert [look.kind for look in again.source.looks] == ["box", "sphere", "cylinder", "mesh"]
    for one, other in zip(robot.source.looks, again.source.looks, strict=True):
        same(one, other)
        assert one.file == other.file


def test_a_urdf_shows_the_same_in_mujoco(robot, tmp_path):
    """A mesh goes to its own inertial frame there; its hull stays where it was."""
    bc.save(robot, tmp_path / "arm.xml")
    looks = bc.load(tmp_path / "arm.xml").source.looks
    for one, other in zip(robot.source.looks[:3], looks, strict=False):
        same(one, other if one.color is not None else without_color(other))
    mesh = looks[3]
    points = np.array(mesh.points) @ np.array(mesh.axes).T + mesh.position
    R = np.array(robot.source.looks[3].axes)
    wanted = (CORNERS * [0.1, 0.2, 0.3]) @ R.T + robot.source.looks[3].position
    assert np.allclose(points[np.lexsort(points.round(6).T)], wanted[np.lexsort(wanted.round(6).T)], atol=1e-6)


def without_color(look):
    """MuJoCo gives a geom without a colour its own grey."""
    assert look.color == pytest.approx((0.5, 0.5, 0.5, 1.0))
    return type(look)(look.body, look.kind, look.size, look.position, look.axes)


def test_an_mjcf_model_has_its_geoms_and_colours_after_a_round_trip(tmp_path):
    model = bc.load(ANIMAL)
    bc.save(model, tmp_path / "again.xml")
    again = bc.load(tmp_path / "again.xml")
    assert [look.kind for look in again.source.looks] == ["capsule", "ellipsoid", "box", "mesh"]
    for one, other in zip(model.source.looks[:3], again.source.looks, strict=False):
        same(one, other, 1e-9)
    assert np.allclose(again.source.looks[3].color, (0, 0, 1, 0.5))


def test_urdf_has_a_capsule_as_three_shapes_and_says_what_it_cannot_show(tmp_path):
    with pytest.warns(
        bc.BellcrankWarning, match=r'an ellipsoid that shows "body_1"\n.*a mesh without a file that shows "body_1"'
    ):
        bc.save(bc.load(ANIMAL), tmp_path / "animal.urdf")
    looks = bc.load(tmp_path / "animal.urdf").source.looks
    assert [look.kind for look in looks] == ["cylinder", "sphere", "sphere", "box"]
    ends = np.array(looks[0].position) + np.array([[-0.3], [0.3]]) * np.array(looks[0].axes)[:, 2]
    assert np.allclose([looks[1].position, looks[2].position], ends, atol=1e-12)


@pytest.mark.parametrize("ending", ["urdf", "xml"])
def test_shapes_of_a_model_file_are_seen_in_other_programs(ending, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.BellcrankWarning)  # of what is exported besides
        bc.save(bc.load(SHAPES), tmp_path / f"arm.{ending}")
        box, ball, rod = bc.load(tmp_path / f"arm.{ending}").source.looks
    assert box.position == pytest.approx((0, -0.5, 1)) and box.size == pytest.approx((0.1, 0.2, 0.3))
    assert np.allclose(np.array(box.axes)[:, 2], (1, 0, 0))  # its own z
    assert ball.position == pytest.approx((0, 0.5, 0)) and rod.size[1] == pytest.approx(2.0)


@pytest.mark.parametrize("ending", ["urdf", "xml"])
def test_a_mesh_outside_the_folder_of_the_new_file_is_named(robot, ending, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    with pytest.warns(bc.BellcrankWarning, match=r'the mesh "part.stl" of "arm", which is outside the folder of the new file'):
        bc.save(robot, tmp_path / "elsewhere" / f"arm.{ending}")


@pytest.mark.parametrize("name", ["part.dae", "text.stl"])
def test_a_mesh_that_mujoco_cannot_read_is_named(robot, name, tmp_path):
    (tmp_path / "robot.urdf").write_text(ROBOT.replace("part.stl", name))
    (tmp_path / "meshes" / name).write_text("solid in words\nendsolid\n")
    with pytest.warns(bc.BellcrankWarning, match=f'the mesh "{name}" that shows "arm"'):
        bc.save(bc.load(tmp_path / "robot.urdf"), tmp_path / "arm.xml")
