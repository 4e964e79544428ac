"""Files in the manner of other people's: of the MuJoCo menagerie, of ROS packages and of CAD programs (files/).

Each accelerates as in the engine that it was written for, and what is not simulated of it is told.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.comparison.engines import formulations
from bellcrank.model.generators import random_state
from tests import reference

from .engines import from_mujoco, from_pinocchio, loaded

FILES = Path(__file__).parent / "files"
EXACT = 1e-10  # of the largest acceleration

MJCF = {  # file: a line of what is told
    "actuators": 'actuator "c": it has a state of its own',
    "arm_classes": 'starts from the keyframe "home"',
    "compensated": 'contacts of the geoms "geom_0", "geom_1"',
    "copies": 'contacts of the geoms "geom_0", "geom_1", "geom_2"',
    "frames": 'limits of the joints "ja"',
    "gripper": 'limits of the controls of actuators "fingers"',
    "humanoid_old": "renamed: abdomen_y is abdomen_y_input",
    "meshes": 'contacts of the geoms "geom_0"',
    "mocap": 'equality "grip": it is not active',
    "names": "renamed: link is link_body, Straße/1.0 is Straße/1_0, link is link_point, link is link_input",
    "quadruped": 'sensors "sensor_0", "acc", "sensor_2"',
    "scales": "",
    "tendons": 'limits of tendon "fixed"',
    "top": "",
}
URDF = {
    "branches": "",
    "hand": 'limits of the joints "j0", "j1", "j2", "j3"',
    "industrial": "1 element <ros2_control>",
    "names": "手.1 is 手_1, ground is ground_body",
    "planar_floating": 'limits of the joints "hinge"',
    "right_angles": "",
    "rover": 'limits of the joints "lift"',
    "scales": "",
}
REFUSED_ELSEWHERE = {  # by the reader of ROS: an empty calibration, infinite limits, line ends between numbers
    "blanks": "",
    "cad": 'calibrations of the joints "j1"',
    "order": "1 element <sensor>",
}
ON_GROUND_ONLY = ("bare", "massless", "points")  # a free base without mass cannot be


def told(model):
    return "\n".join((*model.source.unsimulated, *model.source.remarks))


def bare(model):
    """Pinocchio's aba knows neither damping, friction nor mimic joints."""
    return dataclasses.replace(model, elements=(), closures=())


@pytest.mark.parametrize("name", MJCF)
def test_an_mjcf_file_accelerates_as_in_mujoco(name):
    pytest.importorskip("mujoco")
    file = FILES / f"{name}.xml"
    model = loaded(file)
    assert from_mujoco(model, file.read_text(encoding="utf-8"), seeds=1) < EXACT
    assert MJCF[name] in told(model) and (MJCF[name] or not told(model))


@pytest.mark.parametrize(
    ("name", "base"), [*((name, "fixed") for name in (*URDF, *ON_GROUND_ONLY)), *((name, "free") for name in URDF)]
)
def test_a_urdf_accelerates_as_in_pinocchio(name, base):
    pytest.importorskip("yourdfpy")
    pin = pytest.importorskip("pinocchio")
    file = FILES / f"{name}.urdf"
    model = loaded(file, base=base)
    theirs = pin.buildModelFromUrdf(str(file), *([pin.JointModelFreeFlyer()] if base == "free" else []))
    assert from_pinocchio(bare(model), theirs, seeds=1) < EXACT
    assert URDF.get(name, "") in told(model)


@pytest.mark.parametrize("name", REFUSED_ELSEWHERE)
def test_a_urdf_that_ros_refuses_accelerates_as_its_equations_say(name):
    pytest.importorskip("yourdfpy")
    model = loaded(FILES / f"{name}.urdf")
    q, v = random_state(model, 0)
    expected = reference.dynamics(model, q, v).acceleration(np.ones(model.nv)).astype(float)
    found = bc.compile(model).acceleration(q, v, np.ones(model.nv))
    assert np.abs(found - expected).max() < 1e-13 * np.abs(expected).max()
    assert REFUSED_ELSEWHERE[name] in told(model)


def test_links_without_mass_that_are_kept_change_nothing():
    """Whatever the formulation: pivots are zero only where no mass is beyond."""
    pytest.importorskip("yourdfpy")
    merged, kept = (loaded(FILES / "massless.urdf", fixed=fixed) for fixed in ("merge", "keep"))
    q, v = random_state(merged, 0)
    expected = bc.compile(merged).acceleration(q, v)
    own, refused = formulations(kept)
    assert len(own) > 3 and not refused
    for engine in own:
        assert np.allclose(engine.acceleration(q, v, np.zeros(3)), expected, rtol=1e-12, atol=0), engine.name


@pytest.mark.parametrize("name", ["brick.urdf", "still.xml"])
def test_files_in_which_nothing_moves_load(name):
    pytest.importorskip("mujoco")
    pytest.importorskip("yourdfpy")
    assert loaded(FILES / name).nv == 0


@pytest.mark.parametrize(("name", "joints"), [("bare", '"root_joint", "j"'), ("massless", '"root_joint", "y", "p", "r"')])
def test_joints_that_move_one_link_in_more_than_six_directions_are_refused(name, joints):
    """Of two joints that move the same body in the same way neither has an acceleration of its own."""
    pytest.importorskip("yourdfpy")
    with pytest.raises(bc.ModelError, match=rf'line \d+: the joints {joints} move link "\w+" in more than six directions'):
        bc.load(FILES / f"{name}.urdf", base="free")
