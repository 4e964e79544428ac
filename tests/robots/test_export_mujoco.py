"""What MuJoCo makes of a written file: servos with limits of their efforts, and chains as long as it can read."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc

from .engines import change, loaded
from .test_export import UNCHANGED, hinged, written

pytest.importorskip("mujoco")

SERVO = """<mujoco model="servo"><compiler angle="radian"/><option><flag contact="disable"/></option><worldbody>
<body name="upper"><joint name="shoulder" axis="0 1 0" damping="2" ref="0.3" actuatorfrcrange="-4 4"/>
<geom type="capsule" size=".03" fromto="0 0 0 .5 0 0"/><body name="lower" pos=".5 0 0">
<joint name="elbow" axis="0 1 0" damping="1" actuatorfrcrange="-3 3"/><geom type="capsule" size=".02" fromto="0 0 0 .4 0 0"/></body></body>
</worldbody><tendon><fixed name="belt"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-.5"/></fixed></tendon><actuator>
<position name="hold" joint="shoulder" kp="40" kv="3" gear="1.5"/><position name="both" tendon="belt" kp="6" kv=".5" gear=".7"/>
<velocity name="brake" joint="elbow" kv=".4"/></actuator></mujoco>"""


def test_a_servo_is_written_as_one_and_settles_where_it_did_in_mujoco(tmp_path):
    """Limits of efforts count for the whole servo: written as a spring beside a motor it would lift what it cannot hold."""
    import mujoco

    model = loaded(SERVO)
    again = written(model, tmp_path / "servo.xml")
    assert change(model, again) < UNCHANGED and again.inputs == model.inputs
    rest = []
    for theirs in (mujoco.MjModel.from_xml_string(SERVO), mujoco.MjModel.from_xml_path(str(tmp_path / "servo.xml"))):
        data = mujoco.MjData(theirs)
        data.ctrl[:] = 0.2, 0.1, 0.0
        mujoco.mj_step(theirs, data, nstep=4000)
        assert np.abs(data.qvel).max() < 1e-3 and np.abs(data.qfrc_actuator).max() > 2.9  # at rest, at its limit
        rest.append(data.qpos.copy())
    assert np.abs(rest[1] - rest[0]).max() < 1e-9


def test_springs_of_joints_stay_springs_beside_a_servo(tmp_path):
    """Only what belongs to the actuator by name is part of it; what acts elsewhere is not."""
    m = hinged()
    m.inputs = ("lift",)
    m.motor("lift_motor", "j", input="lift", gain=3.0)
    m.spring("lift_spring", "k", 5.0, rest=0.2)
    m.damper("lift_damping", "j", 0.4)
    m.spring("coil", "j", 2.0, rest=0.1)
    model = m.build()
    assert change(model, written(model, tmp_path / "m.xml")) < UNCHANGED


def tower(n):
    """Bars one on the other."""
    m = bc.Mechanism("tower")
    for k in range(n):
        m.body(f"b{k}", 1.0, (0, 0, k + 0.5), (0.1, 0.1, 0.1))
        m.joint(f"j{k}", "revolute", f"b{k - 1}" if k else "ground", f"b{k}", (0, 0, k), axis="xy"[k % 2])
    return m.build()


def test_a_chain_that_mujoco_can_just_read_is_written_and_read(tmp_path):
    assert written(tower(496), tmp_path / "tower.xml").nv == 496


def test_a_chain_too_long_for_mujoco_is_refused_with_the_reason(tmp_path):
    with pytest.raises(
        bc.ModelError, match=r"497 bodies one on the other: they are nested there, and MuJoCo reads 496.*\nSave it as"
    ):
        bc.save(tower(497), tmp_path / "tower.xml", partial=True)
    assert not (tmp_path / "tower.xml").exists()
