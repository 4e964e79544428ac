"""MJCF through MuJoCo's compiler: the same mechanism, so the same accelerations as mj_forward.

MuJoCo turns inertias to principal axes and factors the mass matrix: 1e-10 of the largest acceleration leaves room for that.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bellcrank as bc

from .engines import from_mujoco, loaded
from .mjcf import EVERY, Tree

mujoco = pytest.importorskip("mujoco")
EXACT = 1e-10


@pytest.fixture(scope="module")
def every():
    return loaded(EVERY)


def frictionless(text):
    """MuJoCo's friction is a constraint of its solver, ours a smooth force: it is left out of the comparison."""
    return text.replace('frictionloss="0.2"', "")


def test_every_feature_together_accelerates_as_in_mujoco():
    text = frictionless(EVERY)
    assert from_mujoco(loaded(text), text) < EXACT


def test_fixed_bodies_may_be_kept():
    text = frictionless(EVERY)
    model = loaded(text, fixed="keep")
    assert "shelf" in model.body_names
    assert from_mujoco(model, text) < EXACT


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_accelerate_as_in_mujoco(seed):
    tree = Tree(seed)
    model = loaded(tree.text, fixed="keep" if seed % 3 == 0 else "merge")
    assert from_mujoco(model, tree.text) < EXACT


def test_names_order_and_inputs_are_those_of_the_file(every):
    assert every.joint_names == ("root", "roll", "pitch", "reach", "wrist", "rail", "loose")
    assert every.body_names == ("base", "arm_roll", "arm_pitch", "arm", "hand", "cart", "ball")
    assert every.inputs == ("push", "servo", "crawl", "pull", "hold", "twist", "drive", "thrust")
    assert every.name == "every feature"
    assert np.allclose(every.gravity, [0.3, -0.2, -9.7], rtol=0)


def test_several_joints_of_one_body_hang_on_bodies_without_mass(every):
    assert every.mass[every.body_names.index("arm_roll")] == 0
    assert every.parents[every.body_names.index("arm")] == every.body_names.index("arm_pitch")


def test_the_first_keyframe_is_the_start_unless_another_is_named(every):
    theirs = mujoco.MjModel.from_xml_string(EVERY)
    qpos, qvel = every.to_mujoco(every.initial_q, every.initial_v)
    assert np.allclose(qpos, theirs.key_qpos[0], atol=1e-14) and np.allclose(qvel, theirs.key_qvel[0], atol=1e-14)
    away = loaded(EVERY, keyframe="away")
    assert np.allclose(away.to_mujoco(away.initial_q), theirs.key_qpos[1], atol=1e-14)
    assert np.allclose(loaded(EVERY, keyframe=1).initial_q, away.initial_q, atol=0)


def test_a_keyframe_that_is_not_there_is_an_error_that_lists_those_that_are():
    with pytest.raises(bc.ModelError, match=r'no keyframe \'hom\'\. It has "home", "away"'):
        loaded(EVERY, keyframe="hom")


def test_without_keyframes_the_start_is_qpos0():
    text = "<mujoco><worldbody><body pos='1 2 3'><freejoint/><geom size='1'/></body></worldbody>\n</mujoco>"
    model = bc.load(text)
    assert model.initial_q[:4].tolist() == [1, 2, 3, 1]
    with pytest.raises(bc.ModelError, match="It has none"):
        bc.load(text, keyframe=0)


def test_sites_become_points_of_their_bodies(every):
    points = {point.name: point.position for point in every.spec.points}
    assert points["beacon"] == (1.0, 2.0, 3.0)
    assert points["tip"].body == "hand"
    assert points["shelf"].body == "base"  # a body that was merged


def test_limits_are_kept_in_our_coordinates(every):
    limits = every.limits[every.joint_names.index("pitch")]
    assert (limits.lower, limits.upper) == (-1.0, 1.0)


def test_what_is_not_simulated_is_told_in_one_warning_and_by_check(every):
    with pytest.warns(bc.BellcrankWarning) as caught:
        bc.load(EVERY)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert 'limits of the joints "pitch"' in text and 'contacts of the geoms "floor"' in text
    report = every.check()
    assert report.imported == "text of a model (MJCF)"
    assert any("contacts" in line for line in report.not_simulated)
    assert "not simulated: contacts" in str(report)
    assert 'as imported: starts from the keyframe "home"' in str(report)


UNSIMULATED = {
    "a muscle": ('<actuator><muscle name="m" joint="j" lengthrange="0 1"/></actuator>', 'actuator "m": it has a state of its own'),
    "a plugin": (
        '<extension><plugin plugin="mujoco.pid"><instance name="i"><config key="kp" value="40"/></instance></plugin></extension>'
        '<actuator><plugin name="m" joint="j" plugin="mujoco.pid" instance="i"/></actuator>',
        'actuator "m": its law is that of a plugin'),
    "an integrator": ('<actuator><intvelocity name="m" joint="j" kp="2" actrange="-1 1"/></actuator>', "it has a state of its own"),
    "a gain that depends on the state": (
        '<actuator><general name="m" joint="j" gaintype="affine" gainprm="1 2 0"/></actuator>', "its gain depends on the state"),
    "a negative spring": (
        '<actuator><general name="m" joint="j" biastype="affine" biasprm="0 2 0"/></actuator>', "its spring or damping is negative"),
    "limits of controls": (
        '<actuator><motor name="m" joint="j" ctrlrange="-1 1"/></actuator>', 'limits of the controls of actuators "m"'),
    "limits of forces": (
        '<actuator><motor name="m" joint="j" forcerange="-1 1"/></actuator>', 'limits of the forces of actuators "m"'),
    "a group that is off": (
        '<option actuatorgroupdisable="2"/><actuator><motor name="m" joint="j" group="2"/></actuator>', "its group is switched off"),
    "a force at a site of a jointed body": (
        '<actuator><motor name="m" site="s" gear="1 0 0"/></actuator>', "its force is not fixed to a body that is free"),
    "a force in the world": (
        '<actuator><motor name="m" site="s" refsite="w" gear="1 0 0"/></actuator>', "its force is not fixed to a body that is free"),
    "a bias at a site": (
        '<actuator><general name="m" site="s" gainprm="0" biastype="affine" biasprm="1 -1 0"/></actuator>',
        "its bias depends on the state"),
    "a force on the ground": (
        '<actuator><general name="m" site="w" gainprm="0" biastype="affine" biasprm="1 0 0" gear="1"/></actuator>',
        "it acts on the ground"),
    "a force in a moving body": (
        '<actuator><general name="m" site="w" refsite="s" gainprm="0" biastype="affine" biasprm="1 0 0" gear="1"/></actuator>',
        "its force keeps its direction in a moving body"),
    "a crank": (
        '<actuator><motor name="m" cranksite="s" slidersite="w" cranklength="0.1"/></actuator>',
        "it acts neither on a joint, nor on a fixed tendon, nor on a site"),
    "a tendon as drive": (
        '<tendon><spatial name="t"><site site="s"/><site site="w"/></spatial></tendon>'
        '<actuator><motor name="m" tendon="t"/></actuator>', "its tendon is not fixed to joints"),
    "a servo of a ball": (
        '<worldbody><body><joint name="b" type="ball"/><geom size="1"/></body></worldbody>'
        '<actuator><position name="m" joint="b" gear="1 0 0"/></actuator>', "its spring or damping acts on a ball"),
    "a slack spring": (
        '<tendon><spatial name="t" stiffness="1" springlength="0 2"><site site="s"/><site site="w"/></spatial></tendon>',
        'tendon "t": its spring is slack'),
    "a spring that wraps around objects": (
        '<tendon><spatial name="t" stiffness="2"><site site="s"/><site site="w"/><site site="s"/></spatial></tendon>',
        'the spring or damping of tendon "t" that wraps around objects'),
    "limits of a tendon": (
        '<tendon><spatial name="t" range="0 2" limited="true"><site site="s"/><site site="w"/></spatial></tendon>',
        'limits of tendon "t"'),
    "friction of a tendon": (
        '<tendon><spatial name="t" frictionloss="1"><site site="s"/><site site="w"/></spatial></tendon>',
        'frictionloss of tendon "t"'),
    "air": ('<option density="1.2"/>', "the medium: density 1.2"),
    "sensors": ('<sensor><jointpos name="angle" joint="j"/></sensor>', 'sensors "angle"'),
    "mocap bodies": ('<worldbody><body name="g" mocap="true"/></worldbody>', 'motions of the mocap bodies "g"'),
    "a torque in the parent of a ball": (
        '<worldbody><body><joint name="b" type="ball"/><geom size="1"/></body></worldbody>'
        '<actuator><motor name="m" jointinparent="b" gear="1 0 0"/></actuator>', "keeps its direction in the parent of a ball"),
    "a force on a free joint": (
        '<worldbody><body><joint name="b" type="free"/><geom size="1"/></body></worldbody>'
        '<actuator><motor name="m" joint="b" gear="1 0 0 0 0 0"/></actuator>', "keeps its direction in the world"),
}  # fmt: skip

SMALL = """<mujoco><option><flag contact="disable"/></option><worldbody><site name="w"/><body name="a"><joint name="j"/><geom size="1"/>
<body name="c"><joint name="k" axis="0 1 0"/><geom size="1" pos="1 0 0"/><site name="s" pos="1 1 0"/></body></body></worldbody>{}
</mujoco>"""


@pytest.mark.parametrize("case", UNSIMULATED)
def test_what_has_no_counterpart_is_named(case):
    extra, message = UNSIMULATED[case]
    with pytest.warns(bc.BellcrankWarning) as caught:
        bc.load(SMALL.format(extra))
    assert message in str(caught[0].message)


def test_flags_switch_things_off():
    flags = '<flag gravity="disable" spring="disable" damper="disable" actuation="disable" contact="disable"/>'
    text = SMALL.replace('<flag contact="disable"/>', flags).replace('name="j"', 'name="j" stiffness="3" damping="2"')
    model = bc.load(text.format('<actuator><motor name="m" joint="j"/></actuator>'))
    assert not model.gravity.any() and model.elements == () and model.inputs == ()


def test_a_tendon_on_one_body_does_nothing():
    tendon = '<tendon><spatial name="t" stiffness="1" springlength="0.1"><site site="s"/><site site="s2"/></spatial></tendon>'
    with pytest.warns(bc.BellcrankWarning, match='tendon "t" has both ends on one body, and does nothing'):
        model = bc.load(SMALL.replace('<site name="s"', '<site name="s2"/><site name="s"').format(tendon))
    assert model.elements == ()


def test_names_that_collide_are_changed_and_listed():
    text = SMALL.replace('name="c"', 'name="j"').replace('name="a"', 'name="a.b"').format("")
    with pytest.warns(bc.BellcrankWarning, match="renamed: a.b is a_b, j is j_body"):
        model = bc.load(text)
    assert model.body_names == ("a_b", "j_body")
    assert model.source.names == {"a_b": "a.b", "j_body": "j"}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('<keyframe><key name="up" qpos="1 0"/></keyframe>', 'starts from the keyframe "up"'),
        ('<default><joint frictionloss="0.3"/></default>', 'friction of the joints "j", "k" is smooth here: it has 70 %'),
    ],
)
def test_what_is_changed_is_told_even_if_all_is_simulated(more, told):
    with pytest.warns(bc.BellcrankWarning) as caught:
        model = bc.load(SMALL.format(more))
    assert model.source.unsimulated == () and told in str(caught[0].message) and told in str(model.check())


def test_joints_without_names_are_known_by_their_bodies():
    text = "<mujoco><worldbody><body name='cube'><freejoint/><geom size='1'/></body></worldbody>\n</mujoco>"
    assert bc.load(text).joint_names == ("cube_free",)


def test_what_mujoco_refuses_is_told_in_its_words():
    with pytest.raises(bc.ModelError, match=r"MuJoCo's compiler rejects it: .*'foo' Element 'motor', line 2"):
        bc.load(SMALL.format('<actuator><motor name="m" joint="none" foo="1"/></actuator>'))


def test_a_model_without_bodies_is_refused():
    with pytest.raises(bc.ModelError, match="it has no body"):
        bc.load("<mujoco><worldbody/>\n</mujoco>")


def test_a_missing_mujoco_gives_the_command_that_installs_it(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(bc.MissingExtraError, match=r'pip install "bellcrank\[robots\]"'):
        bc.load(SMALL.format(""))


def test_included_files_and_meshes_of_the_folder_are_read(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(
        "<mujocoinclude><body><joint name='j'/><geom size='1' pos='1 0 0'/></body></mujocoinclude>"
    )
    main = tmp_path / "main.xml"
    main.write_text("<mujoco><worldbody><include file='parts/arm.xml'/></worldbody></mujoco>")
    model = bc.load(main)
    assert model.name == "main" and model.joint_names == ("j",)


def test_the_armature_of_an_actuator_is_on_its_joint_or_listed(tmp_path):
    def model(actuator):
        text = f"""<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size=".1" pos="0 0 .3"/></body></worldbody>
        <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon><actuator>{actuator}</actuator></mujoco>"""
        (tmp_path / "m.xml").write_text(text)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            return bc.load(tmp_path / "m.xml"), " ".join(str(w.message) for w in told)

    for key in ("joint", "jointinparent"):
        assert model(f'<motor {key}="j" armature="0.5"/>')[0].armature == pytest.approx([0.5])
    assert "armature of actuator" in model('<motor tendon="t" armature="0.5"/>')[1]
