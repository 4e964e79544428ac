"""URDF: the same mechanism, so the same accelerations as pin.aba.

Both round in double precision: robots of moderate size agree to 1e-13 of the largest acceleration.
"""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

import bellcrank as bc

from ..growth import growth
from .engines import from_pinocchio, loaded
from .urdf import EVERY, LIMIT, chain, joint, link

pytest.importorskip("yourdfpy")
EXACT = 1e-12


def bare(model):
    """Pinocchio's aba knows neither damping nor friction."""
    return dataclasses.replace(model, elements=())


@pytest.fixture(params=["fixed", "free"])
def base(request):
    return request.param


def theirs(text, base):
    pin = pytest.importorskip("pinocchio")
    return pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if base == "free" else pin.buildModelFromXML(text)


@pytest.mark.parametrize("fixed", ["merge", "keep"])
def test_every_kind_of_joint_accelerates_as_in_pinocchio(base, fixed):
    model = loaded(EVERY, base=base, fixed=fixed)
    assert from_pinocchio(bare(model), theirs(EVERY, base)) < EXACT


@pytest.mark.parametrize("fixed", ["merge", "keep"])
@pytest.mark.parametrize("under", ["arm", "base"])
def test_a_body_may_float_on_a_link_that_is_fixed_to_another(fixed, under):
    """Its place is told from the link that it floats on, which may have become part of another, or of ground."""
    text = chain(link("x"), joint("glue", "fixed", under, "x"), link("y"), joint("f", "floating", "x", "y"))
    assert from_pinocchio(loaded(text, fixed=fixed), theirs(text, "fixed")) < EXACT


def test_joints_are_in_the_order_of_the_file_and_pinocchios_order_is_known():
    model = loaded(EVERY)
    assert model.joint_names == ("z_turn", "a_spin", "slide", "plane", "float", "b_far")
    names = [name for name in theirs(EVERY, "fixed").names if name != "universe"]
    assert list(model.source.order) == names == ["a_spin", "slide", "z_turn", "float", "b_far", "plane"]


def test_a_free_base_is_one_more_joint():
    model = loaded(EVERY, base="free")
    assert model.joint_names[0] == "root_joint" and model.joints[0].kind == "free" and model.body_names[0] == "base"


def test_fixed_links_are_merged_and_their_names_become_points():
    merged, kept = loaded(EVERY), loaded(EVERY, fixed="keep")
    assert set(kept.body_names) - set(merged.body_names) == {"base", "sensor", "frame"}
    assert {"base", "sensor", "frame"} == {point.name for point in merged.spec.points}
    moving = merged.mass.sum()
    assert moving == pytest.approx(kept.mass.sum() - 1.5, rel=1e-15)  # the base does not move


def test_damping_friction_and_limits_are_there():
    model = loaded(EVERY)
    kinds = {element.name: element.kind for element in model.elements}
    assert kinds == {"z_turn_damping": "joint_damper", "z_turn_friction": "joint_friction"}
    limits = model.limits[0]
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == (-1, 2, 10, 3)
    assert model.limits[1] is None


def test_damping_of_planar_and_floating_joints_acts_on_every_coordinate():
    dynamics = '<dynamics damping="2"/>'
    text = chain(joint("p", "planar", "arm", "a", dynamics), link("a"), joint("f", "floating", "a", "b", dynamics), link("b"))
    assert [element.dof for element in bc.load(text).elements] == [0, 1, 2, 0, 1, 2, 3, 4, 5]


def test_what_is_not_simulated_is_told_in_one_warning():
    with pytest.warns(bc.BellcrankWarning) as caught:
        bc.load(EVERY)
    told = str(caught[0].message)
    assert len(caught) == 1
    for line in (
        'limits of the joints "z_turn", "slide", "b_far"',
        'contacts of the links "base"',
        'safety controllers of the joints "a_spin"',
        "1 element <transmission>",
        "1 element <controller:plugin>",
        'meshes that are not there: "package://robot/meshes/base.stl", "meshes/base.stl"',
    ):
        assert line in told


def test_meshes_are_found_in_the_folder_and_in_packages(tmp_path):
    package = tmp_path / "robot"
    (package / "urdf" / "meshes").mkdir(parents=True)
    (package / "meshes").mkdir()
    for folder in (package / "meshes", package / "urdf" / "meshes"):
        (folder / "base.stl").write_text("solid")
    file = package / "urdf" / "robot.urdf"
    file.write_text(EVERY)
    model = loaded(file)
    assert not any("meshes" in line for line in model.source.unsimulated)
    (package / "meshes" / "base.stl").unlink()
    assert any("not there" in line for line in loaded(file).source.unsimulated)
    elsewhere = tmp_path / "elsewhere" / "meshes"
    elsewhere.mkdir(parents=True)
    (elsewhere / "base.stl").write_text("solid")
    found = loaded(file, packages={"robot": tmp_path / "elsewhere"})
    assert not any("meshes" in line for line in found.source.unsimulated)


@pytest.mark.parametrize("name", ["../../secret.stl", "/etc/passwd", "file:///etc/passwd"])
def test_meshes_outside_the_folder_are_not_looked_at(tmp_path, name):
    file = tmp_path / "deep" / "er" / "robot.urdf"
    file.parent.mkdir(parents=True)
    file.write_text(EVERY.replace("meshes/base.stl", name, 2).replace(f"package://robot/{name}", name))
    assert any("outside the model's folder" in line for line in loaded(file).source.unsimulated)
    allowed = loaded(file, allow_outside=True)
    assert not any("outside" in line for line in allowed.source.unsimulated)


@pytest.mark.parametrize(
    ("name", "reason"), [("https://example.org/a.stl", "nothing is fetched"), ("C:\\a.stl", "another system")]
)
def test_meshes_of_other_worlds_are_named(name, reason):
    assert any(reason in line for line in loaded(EVERY.replace("meshes/base.stl", name)).source.unsimulated)


# --- mimic joints

MIMIC = chain(
    joint("follower", "revolute", "base", "finger", f'<mimic joint="hinge" multiplier="-2" offset="0.5"/>{LIMIT}'),
    link("finger"),
)


def test_a_mimic_joint_is_a_coupler_that_starts_closed():
    model = loaded(MIMIC)
    assert model.closures[0].name == "follower_mimic"
    assert model.initial_q.tolist() == [0.0, 0.5]
    dynamics = bc.compile(model)
    assert np.abs(dynamics.closure(model.initial_q, model.initial_v)[0]).max() == 0


def test_a_mimic_joint_accelerates_as_the_reduced_equations_say():
    """With q = T x + c, T^T M T x'' = T^T (tau - h): no multiplier is left."""
    model = loaded(MIMIC)
    tree = bc.compile(dataclasses.replace(model, closures=()))
    T, q, v = np.array([[1.0], [-2.0]]), np.array([0.3, -0.1]), np.array([0.7, -1.4])
    tau = np.array([0.2, -0.4])
    M, h = tree.mass_matrix(q), tree.inverse_dynamics(q, v, np.zeros(2))
    expected = T @ np.linalg.solve(T.T @ M @ T, T.T @ (tau - h))
    assert np.allclose(bc.compile(model).acceleration(q, v, tau), expected, rtol=1e-12, atol=0)


def test_a_mimic_joint_that_cannot_be_coupled_is_named():
    text = chain(joint("f", "fixed", "base", "finger", '<mimic joint="hinge"/>'), link("finger"))
    with pytest.warns(bc.BellcrankWarning, match=r'mimic: joint "f" .* cannot follow "hinge": one of them cannot move'):
        assert bc.load(text).closures == ()


def test_joints_that_mimic_each_other_are_an_error():
    text = MIMIC.replace('<child link="arm"/>', '<child link="arm"/><mimic joint="follower"/>')
    with pytest.raises(bc.ModelError, match=r'line \d+: the joints "hinge", "follower" mimic each other in a ring'):
        bc.load(text)


def test_a_joint_that_mimics_itself_is_an_error():
    with pytest.raises(bc.ModelError, match=r'line \d+: joint "follower" mimics itself, so that none of them is independent'):
        bc.load(MIMIC.replace('joint="hinge"', 'joint="follower"'))


def test_a_chain_of_mimic_joints_starts_closed():
    text = chain(
        joint("first", "revolute", "base", "a", f'<mimic joint="second" multiplier="3" offset="0.1"/>{LIMIT}'),
        link("a"),
        joint("second", "continuous", "base", "b", '<mimic joint="hinge" multiplier="-2" offset="0.5"/>'),
        link("b"),
    )
    model = loaded(text)
    assert model.initial_q.tolist() == [0.0, 3 * 0.5 + 0.1, 0.5]


def test_a_joint_that_mimics_with_the_multiplier_zero_stays_where_it_is():
    with pytest.warns(bc.BellcrankWarning, match='"follower" mimics "hinge" with the multiplier 0: it stays at 0.5'):
        model = bc.load(MIMIC.replace('multiplier="-2"', 'multiplier="0"'))
    assert model.initial_q.tolist() == [0.0, 0.5]
    assert bc.compile(model).acceleration(model.initial_q, [0.3, 0.0], [0.1, 0.7])[1] == pytest.approx(0, abs=1e-15)


# --- robots that are not quite right

BROKEN = chain(link("odd").replace('izz="0.05"', 'izz="5"'), joint("glue", "fixed", "arm", "odd"))
WEIGHTLESS = chain('<link name="flag"/>', joint("pole", "continuous", "arm", "flag", '<axis xyz="0 0 1"/>'))


def test_broken_inertias_are_refused_by_name():
    with pytest.raises(bc.ModelError, match=r'line \d+: link "odd": its principal moments.*\n.*broken_inertia="allow"'):
        bc.load(BROKEN)


def test_broken_inertias_are_taken_as_they_are_if_the_user_allows_it(base):
    with pytest.warns(bc.BellcrankWarning, match='that no body can have: "odd"'):
        model = bc.load(BROKEN, broken_inertia="allow", base=base)
    assert from_pinocchio(model, theirs(BROKEN, base)) < EXACT
    alone = loaded(BROKEN, broken_inertia="allow", fixed="keep")
    again = loaded(bc.io.dumps(alone))
    assert alone.inertia[-1].max() > 2 and np.array_equal(again.inertia, alone.inertia)


INERTIA = '<inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.04" iyz="0.003" izz="0.05"/>'
UNKNOWN = {
    "a moment": (' iyy="0.04"', "", "lacks iyy of its <inertia>"),
    "two moments": (' iyy="0.04" iyz="0.003" izz="0.05"', "", "lacks iyy of its <inertia> and izz of its <inertia>"),
    "the inertia": (INERTIA, "", "lacks <inertia>"),
    "the mass": ('<mass value="1.5"/>', "", 'lacks <mass value="..."/>'),
    "the value of the mass": (' value="1.5"', "", 'lacks <mass value="..."/>'),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_masses_and_inertias_that_are_missing_are_never_guessed(case):
    """yourdfpy would take 1 kg m2 for a moment of inertia that is not there."""
    old, new, message = UNKNOWN[case]
    text = chain(link("odd").replace(old, new), joint("glue", "fixed", "arm", "odd"))
    with pytest.raises(bc.ModelError, match=rf'line 7: link "odd" {message}(?s:.*)broken_inertia="allow"'):
        bc.load(text)
    with pytest.warns(bc.BellcrankWarning, match='that are missing, and count as zero: "odd"'):
        model = bc.load(text, broken_inertia="allow", fixed="keep")
    assert model.inertia[-1].max() < 0.06


TWICE = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
PECULIAR = {
    "two inertials": (chain(link("x", more="<inertial/>"), joint("g", "fixed", "arm", "x")),
                      'line 8: link "x" has 2 <inertial>, of which the first counts'),
    "two masses": (chain(link("x").replace("<mass", '<mass value="2"/><mass'), joint("g", "fixed", "arm", "x")),
                   'line 7: link "x" has 2 <mass>, of which the first counts'),
    "two limits": (chain(link("x"), joint("j", "revolute", "arm", "x", LIMIT + TWICE)),
                   'joint "j" has 2 <limit>, of which the first counts'),
    "two origins": (chain(link("x"), joint("j", "fixed", "arm", "x", '<origin xyz="9 9 9"/>')),
                    'joint "j" has 2 <origin>, of which the first counts'),
    "no limit": (chain(link("x"), joint("j", "prismatic", "arm", "x")),
                 'line 9: joint "j", which is prismatic, has no <limit>, and is taken to have no limits'),
    "no products": (chain(link("x").replace('ixy="0.002" ixz="-0.001"', ""), joint("g", "fixed", "arm", "x")),
                    'line 8: link "x" lacks ixy and ixz, which count as zero'),
}  # fmt: skip


@pytest.mark.parametrize("case", PECULIAR)
def test_what_is_there_twice_or_left_out_is_told_with_its_line(case):
    text, message = PECULIAR[case]
    with pytest.warns(bc.BellcrankWarning) as caught:
        bc.load(text)
    assert message in str(caught[0].message)


def test_joints_that_move_nothing_with_mass_are_refused_or_locked():
    with pytest.raises(bc.ModelError, match='joint "pole" moves link "flag", which has no mass'):
        bc.load(WEIGHTLESS)
    with pytest.warns(bc.BellcrankWarning, match='motions of joints that move nothing that has mass: "pole"'):
        model = bc.load(WEIGHTLESS, massless="fix")
    assert model.joint_names == ("hinge",)
    assert (
        from_pinocchio(model, theirs(WEIGHTLESS.replace('name="pole" type="continuous"', 'name="pole" type="fixed"'), "fixed"))
        < EXACT
    )


def test_a_robot_of_which_nothing_moves_loads_all_the_same():
    text = "\n".join(['<robot name="box">', link("box"), "</robot>"])
    assert bc.load(text).nv == 0
    assert bc.load(text, base="free").nv == 6


def test_the_plane_of_a_planar_joint_may_be_any():
    text = chain(joint("p", "planar", "arm", "table", '<axis xyz="1 0 0"/>'), link("table"))
    model = bc.load(text)
    axis, across = np.array(model.joints[1].axis), np.array(model.joints[1].axis2)
    assert abs(axis @ across) < 1e-15


WRONG = {
    "no link": ('<robot name="r">\n</robot>', "the robot has no link"),
    "no name": (chain("<link/>"), "a link has no name"),
    "two of a name": (chain(link("arm")), 'there are two links "arm"'),
    "no such type": (chain(link("x"), joint("j", "ball", "arm", "x")), 'there is no joint type "ball"'),
    "no parent": (chain(link("x"), '<joint name="j" type="fixed"><child link="x"/></joint>'), 'joint "j" has no parent'),
    "no such link": (chain(joint("j", "fixed", "arm", "bse")), '"bse" is not a link. Did you mean "base"'),
    "no number": (chain(link("x", center="0 one 0"), joint("j", "fixed", "arm", "x")), "xyz of its origin is '0 one 0'"),
    "not finite": (chain(link("x", center="0 nan 0"), joint("j", "fixed", "arm", "x")), "Give 3 finite numbers"),
    "an axis of words": (chain(link("x"), joint("j", "fixed", "arm", "x", '<axis xyz="up"/>')), "xyz of its axis is 'up'"),
    "words for a direction": (chain(link("x"), joint("j", "continuous", "arm", "x", '<axis xyz="up"/>')), "xyz of its axis"),
    "mimics nobody": (chain(link("x"), joint("j", "continuous", "arm", "x", "<mimic/>")), "its <mimic> names no joint"),
    "no axis": (chain(link("x"), joint("j", "revolute", "arm", "x", f'<axis xyz="0 0 0"/>{LIMIT}')), "its axis is zero"),
    "two parents": (chain(joint("j", "fixed", "base", "arm")), 'link "arm" is the child of the joints "hinge" and "j"'),
    "a ring": (chain(link("x"), link("y"), joint("j", "fixed", "x", "y"), joint("k", "fixed", "y", "x")),
               'the links "x", "y" are each other\'s parents, through the joints "k", "j"'),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_with_its_line(case):
    text, message = WRONG[case]
    with pytest.raises(bc.ModelError) as caught:
        bc.load(text)
    assert message in str(caught.value) and ", line " in str(caught.value)


def test_a_missing_yourdfpy_gives_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "yourdfpy", None)
    with pytest.raises(bc.MissingExtraError, match=r'pip install "bellcrank\[robots\]"'):
        bc.load(chain())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": "loose"}, "base is 'loose': use 'fixed' or 'free'"),
        ({"bases": "free"}, r"load has no option 'bases'\. Did you mean base\?"),
        ({"xyz": 1}, "There are base, fixed, massless"),
        ({"keyframe": 0}, r"keyframe is not an option of URDF files, which have base"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(bc.StateError, match=message):
        bc.load(chain(), **options)


def test_native_models_have_no_such_options():
    with pytest.raises(bc.StateError, match="is not an option of TOML files, which have none"):
        bc.load("pendulum", base="free")


def test_gravity_is_the_users():
    assert bc.load(chain(), gravity=(0.0, 0.0, -1.62)).gravity.tolist() == [0, 0, -1.62]


def test_the_work_of_loading_a_robot_grows_with_its_links_and_not_with_their_square():
    def read(n):
        parts = [link("l0"), *(f"{joint(f'j{k}', 'continuous', f'l{k - 1}', f'l{k}')}{link(f'l{k}')}" for k in range(1, n + 1))]
        assert bc.load("\n".join(['<robot name="long">', *parts, "</robot>"])).nv == n

    assert growth(read, 36) < 2.2
