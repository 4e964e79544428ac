"""How the bodies of imported files and of meshes look: where their own programs would show them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.io.exchange.meshes import farthest
from bellcrank.viewer.pictures.picture import placed
from bellcrank.viewer.scene import Scene
from bellcrank.viewer.solids import solids_of

MJCF = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 1" euler="0 0 40"><freejoint/><geom name="a" type="box" size=".1 .2 .1" rgba="1 .5 0 1" euler="0 20 0"/>
<body pos=".1 0 0" euler="30 0 0"><joint axis="0 1 0"/><geom name="b" type="capsule" fromto="0 0 0 .5 0 -.1" size=".04"/>
<geom name="hidden" type="sphere" size=".3" group="3" mass="0"/>
<body pos=".5 0 -.1"><geom name="c" type="ellipsoid" size=".1 .05 .2" pos="0 0 -.2"/>
<geom name="d" type="cylinder" size=".05 .1" pos="0 0 -.5" euler="30 0 0"/></body></body></body></worldbody></mujoco>"""

URDF = """<robot name="arm"><material name="blue"><color rgba="0 0 1 1"/></material>
<link name="base"><visual><geometry><box size="0.4 0.4 0.1"/></geometry></visual></link>
<link name="arm"><inertial><origin xyz="0 0 0.3"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.3" rpy="0 0 1"/><geometry><cylinder radius="0.05" length="0.6"/></geometry><material name="blue"/></visual>
<visual><origin xyz="0 0 0.65"/><geometry>{last}</geometry></visual></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>
<origin xyz="0 0 0.05" rpy="0 0.4 0"/><axis xyz="1 0 0"/></joint></robot>"""


def load(text, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.BellcrankWarning)
        return bc.load(text, **options)


def test_visible_geoms_are_drawn_where_mujoco_has_them():
    """At a state that is not the design position; the body that is fixed to another is merged with it here."""
    mujoco = pytest.importorskip("mujoco")
    model = load(MJCF)
    q = np.array(model.initial_q)
    q[-1] = 0.7
    theirs = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(theirs)
    data.qpos[:] = model.to_mujoco(q)
    mujoco.mj_kinematics(theirs, data)
    scene, at = Scene(model), placed(model, q, 0.0)
    middles = [at.points(s.body, s.vertices).mean(axis=0) for s in solids_of(scene) if s.drawn]
    wanted = [data.geom(name).xpos for name in "abcd"]
    np.testing.assert_allclose(middles, wanted, atol=1e-12)
    box = next(s for s in solids_of(scene) if len(s.vertices) == 8)
    corner = data.geom("a").xpos + data.geom("a").xmat.reshape(3, 3) @ theirs.geom("a").size
    assert np.linalg.norm(at.points(box.body, box.vertices) - corner, axis=1).min() < 1e-12
    assert box.color == "#ff8000"


def test_visuals_of_links_are_drawn_where_the_urdf_has_them(tmp_path):
    pytest.importorskip("yourdfpy")
    model = load(URDF.format(last='<sphere radius="0.08"/>'))
    base, rod, ball = solids_of(Scene(model))
    assert base.body == -1 and base.vertices.max() == pytest.approx(0.2)
    tilt = np.array([np.sin(0.4), 0, np.cos(0.4)])
    at = placed(model, {"hinge": 0.0}, 0.0)
    np.testing.assert_allclose(at.points(0, ball.vertices)[0], [0, 0, 0.05] + 0.65 * tilt, atol=1e-12)
    np.testing.assert_allclose(at.points(0, rod.vertices).mean(axis=0), [0, 0, 0.05] + 0.3 * tilt, atol=1e-12)
    assert (rod.color, ball.color, ball.radius) == ("#0000ff", None, 0.08)


def test_a_mesh_is_drawn_by_its_hull_and_one_that_is_no_mesh_not_at_all(tmp_path):
    pytest.importorskip("yourdfpy")
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((0.2, 0.4, 0.6)).export(tmp_path / "box.stl")
    (tmp_path / "broken.stl").write_text("solid of nothing")
    for name, count in (("box", 3), ("broken", 2), ("missing", 2)):
        file = tmp_path / "arm.urdf"
        file.write_text(URDF.format(last=f'<mesh filename="{name}.stl" scale="1 1 2"/>'))
        solids = solids_of(Scene(load(file)))
        assert len(solids) == count
        if count == 3:
            edges = [np.linalg.norm(a - b) for a in solids[-1].vertices for b in solids[-1].vertices]
            assert max(edges) == pytest.approx(np.linalg.norm([0.2, 0.4, 1.2]), rel=1e-6)


def test_a_mesh_of_a_model_file_is_where_the_file_has_it(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((200, 400, 600)).export(tmp_path / "box.stl")
    (tmp_path / "arm.toml").write_text(
        'format = 1\nname = "arm"\n[bodies.arm]\nmass = 1\ncenter = [0, 0, 1]\ninertia = [1, 1, 1]\n'
        'mesh = { file = "box.stl", scale = 0.001 }\n'
        '[joints.hinge]\ntype = "revolute"\nparent = "ground"\nchild = "arm"\npoint = [0, 0, 1]\naxis = "y"\n'
    )
    scene = Scene(bc.load(tmp_path / "arm.toml"))
    stem, solid = solids_of(scene)
    np.testing.assert_allclose(scene.design.points(stem.body, stem.vertices), [[0, 0, 1], [0, 0, 0]], atol=1e-7)  # to the hinge
    corners = scene.design.points(solid.body, solid.vertices)
    np.testing.assert_allclose(corners.max(axis=0), [0.1, 0.2, 0.3], atol=1e-7)


def test_looks_are_no_part_of_what_a_model_computes():
    pytest.importorskip("mujoco")
    model = load(MJCF)
    assert len(model.source.looks) == 4 and "looks" not in repr(model.source)
    model.draw()


def test_the_farthest_points_of_a_ball_are_about_its_hull():
    points = np.random.default_rng(1).normal(size=(5000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    kept = farthest(np.vstack([points, 0.5 * points]))
    np.testing.assert_allclose(np.linalg.norm(kept, axis=1), 1.0)  # none from inside
    assert 150 < len(kept) <= 200
