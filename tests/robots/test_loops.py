"""Equality constraints: exact here, soft in MuJoCo, exact again in Pinocchio.

MuJoCo's impedance is at most 0.9999, so that its accelerations are off by about 1e-4 of the constraint's; Pinocchio's
constraintDynamics solves the same equations as ours, with a proximal term that leaves 1e-10.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.comparison.engines import OwnFormulation
from bellcrank.comparison.in_mujoco import InMuJoCo
from bellcrank.comparison.in_pinocchio import InPinocchio
from bellcrank.comparison.measuring import random_states

from .engines import loaded

pytest.importorskip("mujoco")

FOUR_BAR = """<mujoco model="four-bar in space"><compiler angle="radian"/><option><flag contact="disable"/></option><worldbody>
<body name="crank"><joint name="c" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0.3 0 0.4"/>
<body name="coupler" pos="0.3 0 0.4" euler="0.1 0.3 0"><joint name="b" type="ball"/>
<geom type="capsule" size=".02" fromto="0 0 0 1 0 .2"/></body></body>
<body name="rocker" pos="2 0.2 0"><joint name="r" axis="0 1 0.1"/><joint name="r2" axis="1 0 0"/>
<geom type="capsule" size=".02" fromto="0 0 0 -.3 0 1"/></body></worldbody>
<equality><connect name="close" body1="coupler" body2="rocker" anchor="1 0 .2"/></equality></mujoco>"""

WELD = """<mujoco model="weld"><compiler angle="radian"/><option><flag contact="disable"/></option><worldbody>
<body name="a" euler="0.2 0.1 0"><freejoint name="fa"/><geom type="box" size=".1 .2 .3"/></body>
<body name="b" pos="1 0 0.2" euler="0 0.4 0.3"><freejoint name="fb"/><geom type="box" size=".2 .1 .1"/></body></worldbody>
<equality><weld name="glue" body1="a" body2="b"/></equality></mujoco>"""

GEARS = """<mujoco model="gears"><option><flag contact="disable"/></option><worldbody>
<body name="g1"><joint name="one" axis="0 1 0" ref="20"/><geom type="box" size=".1 .1 .2" pos=".1 0 0"/></body>
<body name="g2" pos="0 2 0"><joint name="two" axis="0 1 0"/><geom type="box" size=".1 .1 .2" pos=".1 0 0"/></body>
<body name="s" pos="0 2 2"><joint name="three" type="slide" axis="0 0 1"/><geom type="box" size=".1 .1 .2"/></body></worldbody>
<tendon><fixed name="t"><joint joint="two" coef="2"/><joint joint="three" coef="-3"/></fixed></tendon>
<equality><joint name="pair" joint1="one" joint2="two" polycoef="0.1 -2 0 0 0"/><tendon name="rack" tendon1="t"/></equality>
</mujoco>"""

ROD = """<mujoco model="rod"><option><flag contact="disable"/></option><worldbody>
<body name="a"><joint name="j" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 1 0 0"/><site name="p" pos="1 0 0"/></body>
<body name="b" pos="2 0 1"><joint name="k" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 1 0 0"/>
<site name="q" pos="1 0 0"/></body></worldbody>
<tendon><spatial name="t"><site site="p"/><site site="q"/></spatial></tendon>
<equality><tendon name="rod" tendon1="t"/></equality></mujoco>"""

OPEN = FOUR_BAR.replace("</body></body>", '<site name="p" pos="1 0 .2"/></body></body>').replace(
    "</body></worldbody>", '<site name="q" pos="-.6 .1 1.1"/></body></worldbody>'
)
OPEN = OPEN.replace('body1="coupler" body2="rocker" anchor="1 0 .2"', 'site1="p" site2="q"')
SHIFTED = WELD.replace('body2="b"/>', 'body2="b" relpose="1.1 0.2 0.3 0.9 -0.1 0.2 0.15" anchor="0.1 0 0.2"/>')
MODELS = {"connect": FOUR_BAR, "weld": WELD, "joints and tendons": GEARS, "the length of a tendon": ROD}
MODELS |= {"an open connect": OPEN, "an anchored weld": WELD.replace('body2="b"/>', 'body2="b" anchor="0.1 0 0.2"/>')}


def worst(engine, model):
    """Largest difference from our accelerations at states that close."""
    ours = OwnFormulation(model, "multipliers:joint")
    none = np.zeros(model.nv)
    differences = []
    for q, v in random_states(ours.dynamics, 4, seed=1):
        expected = ours.acceleration(q, v, none)
        differences.append(np.abs(engine.acceleration(q, v, none) - expected).max() / np.abs(expected).max())
    return max(differences)


@pytest.mark.parametrize("name", MODELS)
def test_accelerations_are_those_of_mujoco_at_its_stiffest(name):
    model = loaded(MODELS[name])
    assert model.closures
    assert worst(InMuJoCo(model), model) < 1e-3


def test_a_weld_that_is_open_and_turned_at_qpos0_accelerates_as_in_mujoco():
    model = loaded(SHIFTED)
    assert worst(InMuJoCo(model, SHIFTED), model) < 1e-3


def test_a_weld_that_lets_turn_is_a_connect():
    """torquescale="0": MuJoCo holds the anchor alone."""
    text = WELD.replace('body2="b"/>', 'body2="b" anchor="0.1 0 0.2" torquescale="0"/>')
    model = loaded(text)
    assert [closure.joint.kind for closure in model.closures] == ["spherical"]
    assert worst(InMuJoCo(model, text), model) < 1e-3


@pytest.mark.parametrize("name", ["connect", "weld", "an open connect"])
def test_accelerations_are_those_of_pinocchios_constraint_dynamics(name):
    pytest.importorskip("pinocchio")
    model = loaded(MODELS[name])
    assert worst(InPinocchio(model, bc.compile(model)), model) < 1e-9


@pytest.mark.parametrize("name", MODELS)
def test_loops_survive_toml_and_mjcf(name, tmp_path):
    model = loaded(MODELS[name])
    bc.save(model, tmp_path / "m.toml")
    bc.save(bc.load(tmp_path / "m.toml"), tmp_path / "m.xml")
    again = loaded(tmp_path / "m.xml")
    one, two = bc.compile(model), bc.compile(again)
    for q, v in random_states(one, 3, seed=2):
        a, b = one.acceleration(q, v), two.acceleration(q, v)
        assert np.abs(a - b).max() < 1e-12 * np.abs(a).max()


def test_a_hinge_that_closes_a_loop_is_two_points_held_together(tmp_path):
    m = bc.Mechanism("four-bar", gravity=(0, -9.81, 0))
    m.rod("crank", (0, 0, 0), (0.3, 0.4, 0), mass=1, radius=0.02)
    m.rod("coupler", (0.3, 0.4, 0), (1.9, 1.2, 0), mass=2, radius=0.02)
    m.rod("rocker", (2, 0, 0), (1.9, 1.2, 0), mass=2, radius=0.02)
    m.joint("A", "revolute", "ground", "crank", (0, 0, 0), axis="z")
    m.joint("B", "revolute", "crank", "coupler", (0.3, 0.4, 0), axis="z")
    m.joint("C", "revolute", "ground", "rocker", (2, 0, 0), axis="z")
    m.joint("D", "revolute", "coupler", "rocker", (1.9, 1.2, 0), axis="z")
    model = m.build()
    bc.save(model, tmp_path / "four_bar.xml")
    again = bc.load(tmp_path / "four_bar.xml")
    assert [closure.joint.kind for closure in again.closures] == ["spherical", "spherical"]
    a, b = (bc.compile(x).acceleration(x.initial_q, x.initial_v) for x in (model, again))
    assert np.allclose(a, b, rtol=1e-12, atol=1e-12)


def test_a_coupler_of_three_becomes_a_tendon(tmp_path):
    m = bc.Mechanism("differential")
    for k in range(3):
        m.body(f"wheel{k}", 1.0, (k, 0, 0.1), (0.1, 0.2, 0.3))
        m.joint(f"axle{k}", "revolute", "ground", f"wheel{k}", (k, 0, 0), axis="x")
    m.coupler("cage", ["axle0", "axle1", "axle2"], factors=[1.0, 1.0, -2.0])
    model = m.build()
    bc.save(model, tmp_path / "d.xml")
    again = bc.load(tmp_path / "d.xml")
    assert again.closures[0].terms == model.closures[0].terms


def test_an_offset_between_coordinates_is_part_of_the_start():
    model = loaded(GEARS)
    assert np.abs(bc.compile(model).closure(model.initial_q, model.initial_v)[0]).max() < 1e-15


REFUSED = {
    "not linear": ('<joint name="e" joint1="j" joint2="k" polycoef="0 1 2 0 0"/>', 'equality "e": its polynomial is not linear'),
    "not active": ('<joint name="e" joint1="j" joint2="k" active="false"/>', 'equality "e": it is not active'),
    "of itself": ('<weld name="e" body1="a" body2="x"/>', 'equality "e": it connects a body to itself'),
    "of a winding tendon": ('<tendon name="e" tendon1="t"/>', 'equality "e": its tendon wraps around objects'),
}  # fmt: skip
LOOSE = """<mujoco><option><flag contact="disable"/></option><worldbody><site name="w" pos="0 0 2"/>
<body name="a"><joint name="j"/><geom size="1"/><site name="p" pos="1 0 0"/><body name="x"><geom size=".1"/></body>
<body name="b"><joint name="k" axis="0 1 0"/><geom size="1" pos="1 0 0"/><site name="q" pos="0 1 0"/></body></body></worldbody>
<tendon><spatial name="t"><site site="p"/><site site="w"/><site site="q"/></spatial></tendon>
<equality>{}</equality></mujoco>"""


@pytest.mark.parametrize("case", REFUSED)
def test_constraints_without_a_counterpart_are_named(case):
    text, message = REFUSED[case]
    with pytest.warns(bc.BellcrankWarning) as caught:
        assert bc.load(LOOSE.format(text)).closures == ()
    assert message in str(caught[0].message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OPEN, r'equality "close" is open at qpos0: its sides are 858\.8 mm apart; runs start where it closes'),
        (SHIFTED, r'equality "glue" is open at qpos0: its sides are \d+\.?\d* mm apart and turned by 0\.\d+ rad'),
    ],
)
def test_a_loop_that_is_open_at_qpos0_is_told_and_closed_before_a_run(text, message):
    """MuJoCo pulls it shut in the course of a simulation; here a run starts with it closed."""
    with pytest.warns(bc.BellcrankWarning, match=message):
        model = bc.load(text)
    assembled = bc.assemble(model)
    dynamics = bc.compile(model)
    assert np.abs(dynamics.closure(model.given_q, model.given_v)[0]).max() > 0.05
    assert np.abs(dynamics.closure(assembled.q, assembled.v)[0]).max() < 1e-12


def test_only_a_joint_that_is_cut_has_another_point_on_its_child():
    m = bc.Mechanism("pendulum")
    m.rod("arm", (0, 0, 0), (1, 0, 0), mass=1, radius=0.1)
    m.joint("hinge", "revolute", "ground", "arm", (0, 0, 0), axis="y", child_point=(0, 0, 1))
    with pytest.raises(bc.ModelError, match='"hinge": it has a child_point, .* Write cut = true, or remove it'):
        m.build()
    m = bc.Mechanism("loop")
    m.rod("arm", (0, 0, 0), (1, 0, 0), mass=1, radius=0.1)
    m.joint("hinge", "revolute", "ground", "arm", (0, 0, 0), axis="y")
    m.joint("end", "spherical", "ground", "arm", (1, 0, 0), cut=True, child_point=(0, 0, float("nan")))
    with pytest.raises(bc.ModelError, match='"end": its child_point is .*nan.* Give finite numbers'):
        m.build()


def test_a_weld_that_is_shifted_is_one_joint(tmp_path):
    text = WELD.replace('body2="b"/>', f'body2="b" relpose="{_pose(0.3)}"/>')
    model = loaded(text)
    assert [closure.joint.kind for closure in model.closures] == ["fixed"] and not model.spec.constraints
    bc.save(model, tmp_path / "m.xml")
    again = loaded(tmp_path / "m.xml")
    assert np.allclose(again.closures[0].point_b, model.closures[0].point_b, rtol=0, atol=1e-14)
    assert np.allclose(again.closures[0].point_a, model.closures[0].point_a, rtol=0, atol=1e-14)


def _pose(shift):
    """Of b relative to a at qpos0, and further along x."""
    import mujoco

    compiled = mujoco.MjModel.from_xml_string(WELD)
    return " ".join(map(repr, (compiled.eq_data[0, 3:10] + np.array([shift, 0, 0, 0, 0, 0, 0])).tolist()))


def test_constraints_that_are_switched_off_are_listed():
    text = FOUR_BAR.replace('contact="disable"', 'contact="disable" equality="disable"')
    with pytest.warns(bc.BellcrankWarning, match="1 equality constraints, which are switched off"):
        assert bc.load(text).closures == ()


def test_a_loop_that_mjcf_has_no_words_for_is_named(tmp_path):
    m = bc.Mechanism("guided")
    m.body("a", 1.0, (1, 0, 0), (0.1, 0.1, 0.1))
    m.joint("j", "revolute", "ground", "a", (0, 0, 0), axis="y")
    m.joint("k", "universal", "ground", "a", (0, 0, 0), axis="y", axis2="x")
    model = m.build()
    with pytest.raises(bc.ModelError, match='"k", a universal joint that closes a loop'):
        bc.save(model, tmp_path / "g.xml")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bc.save(model, tmp_path / "g.xml", partial=True)
    assert "universal joint" in str(caught[0].message)
