"""Files of a robot that are none: pipes, links in a ring, names too long; and no log of MuJoCo in the user's folder."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import bellcrank as bc
from bellcrank.errors import ModelError

pytest.importorskip("mujoco")
posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
MESH = '<mujoco><asset><mesh name="m" file="m.stl"/></asset><worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
LOAD = "import sys, bellcrank as bc\ntry: bc.load(sys.argv[1])\nexcept bc.ModelError as error: print(error)"


def refusal(path):
    """What is said of a file, in a process of its own, since a pipe would hold up this one."""
    done = subprocess.run([sys.executable, "-c", LOAD, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@posix
def test_a_mesh_that_is_a_pipe_is_refused_and_not_waited_for(tmp_path):
    (tmp_path / "robot.xml").write_text(MESH)
    os.mkfifo(tmp_path / "m.stl")
    assert "m.stl is not a regular file" in refusal(tmp_path / "robot.xml")


@posix
def test_meshes_and_includes_that_are_links_in_a_ring_are_refused(tmp_path):
    (tmp_path / "m.stl").symlink_to("m.stl")
    (tmp_path / "robot.xml").write_text(MESH)
    assert "robot.xml: MuJoCo's compiler rejects it" in refusal(tmp_path / "robot.xml")
    (tmp_path / "robot.xml").write_text(MESH.replace("<asset>", '<include file="m.stl"/><asset>'))
    assert '<include> names the file "m.stl", which is not in' in refusal(tmp_path / "robot.xml")


@posix
@pytest.mark.parametrize("name", ["ring.stl", "n" * 300 + ".stl"])
def test_meshes_of_our_own_files_and_of_urdf_that_are_no_files_are_told(name, tmp_path):
    (tmp_path / "ring.stl").symlink_to("ring.stl")
    native = tmp_path / "model.toml"
    text = bc.gallery()["pendulum"].read_text(encoding="utf-8")
    native.write_text(text.replace("[joints.hinge]", f'mesh = {{ file = "{name}" }}\n[joints.hinge]'))
    with pytest.raises(ModelError, match='the mesh file .* of "pendulum" (is not in|cannot be found)'):
        bc.load(native)
    urdf = tmp_path / "robot.urdf"
    mesh = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    urdf.write_text(f'<robot name="r"><link name="a"/><link name="b">{inertial}{mesh}</link>{joint}</robot>')
    with pytest.warns(bc.BellcrankWarning, match="meshes that are not there"):
        bc.load(urdf)


UNSTABLE = """<mujoco><worldbody><body><joint type="hinge" axis="0 1 0"/><geom size="1" pos="1 0 0"/></body></worldbody>
<keyframe><key qvel="1e12"/></keyframe></mujoco>"""


@pytest.mark.filterwarnings("ignore::bellcrank.BellcrankWarning")
def test_mujoco_writes_no_log_into_the_users_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bc.compare(bc.load(UNSTABLE), states=2, duration=0.01)
    assert os.listdir(tmp_path) == []
