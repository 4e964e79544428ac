"""Written and read again, a model has the same dynamics: 1e-12 of the largest acceleration."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.comparison.in_mujoco import InMuJoCo
from bellcrank.io.exchange.export import roll_pitch_yaw
from bellcrank.io.exchange.imported import matrix_of, quaternion_of
from bellcrank.model.generators import random_state

from .engines import change, from_mujoco, from_pinocchio, loaded
from .mjcf import EVERY, Tree
from .urdf import EVERY as ROBOT

pytest.importorskip("mujoco")
pytest.importorskip("yourdfpy")
UNCHANGED = 1e-12


def written(model, path, **options):
    """The model after a file of another format, without the warning of what that does not hold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.BellcrankWarning)
        bc.save(model, path)
        return bc.load(path, **options)


def through_toml(model, folder):
    bc.save(model, folder / "model.toml")
    return bc.load(folder / "model.toml")


def test_mjcf_to_toml_to_mjcf_leaves_everything_as_it_was(tmp_path):
    model = loaded(EVERY)
    text = through_toml(model, tmp_path)
    assert text.spec == model.spec
    again = written(text, tmp_path / "model.xml")
    assert change(model, again) < UNCHANGED
    assert again.joint_names == model.joint_names and again.inputs == model.inputs
    assert np.allclose(again.initial_q, model.initial_q, atol=1e-14) and np.allclose(
        again.initial_v, model.initial_v, atol=1e-14
    )
    q = model.initial_q
    assert np.allclose(again.to_mujoco(q), model.to_mujoco(q), atol=1e-14)


@pytest.mark.parametrize("seed", range(20, 24))
def test_random_trees_survive_too(tmp_path, seed):
    tree = Tree(seed)
    model = loaded(tree.text)
    again = written(through_toml(model, tmp_path), tmp_path / "model.xml")
    assert change(model, again) < UNCHANGED
    assert from_mujoco(model, (tmp_path / "model.xml").read_text()) < 1e-10


@pytest.mark.parametrize("options", [{}, {"base": "free"}, {"fixed": "keep"}])
def test_urdf_to_toml_to_urdf_leaves_everything_as_it_was(tmp_path, options):
    model = loaded(ROBOT, **options)
    options = {key: value for key, value in options.items() if key != "base"}  # a free base is a joint of what is written
    again = written(through_toml(model, tmp_path), tmp_path / "model.urdf", **options)
    assert change(model, again) < UNCHANGED
    assert set(again.joint_names) >= set(model.joint_names)


def test_a_robot_becomes_mjcf(tmp_path):
    model = loaded(ROBOT)
    again = written(model, tmp_path / "robot.xml")
    parts = {"plane": ("_x", "_y", "_angle"), "float": ("_x", "_y", "_z", "_turn")}
    assert set(again.joint_names) == {f"{name}{part}" for name in model.joint_names for part in parts.get(name, ("",))}


def test_a_link_that_is_called_world_gets_another_name_in_mjcf(tmp_path):
    file = Path(__file__).parent / "files" / "industrial.urdf"
    model = loaded(file, fixed="keep")
    with pytest.warns(bc.BellcrankWarning, match='the name of body "world", which is MuJoCo\'s own: it is "world_body" there'):
        bc.save(model, tmp_path / "m.xml")
    assert loaded(tmp_path / "m.xml", fixed="keep").body_names[0] == "world_body"


def nested(**given):
    """A body that floats on one that turns."""
    m = tree(gravity=(0.3, -9.0, 1.0))
    m.joint("j", "revolute", "ground", "a", (0.1, 0, 0.2), axis=(0, 1, 1))
    m.joint("k", "free", "a", "b", (0.5, 0.1, 0), **given)
    return m


def test_a_body_that_floats_on_another_slides_and_turns_on_a_ball_in_mujoco():
    """MuJoCo refuses free joints on moving bodies. The same efforts and states give the same accelerations."""
    m = nested(armature=(0, 0, 0, 0.2, 0.2, 0.2))
    m.spring("coil", "k", 3.0, coordinate="turn")
    for k, coordinate in enumerate(("vx", "vy", "vz", "wx", "wy", "wz")):
        m.damper(f"d{k}", "k", 0.4 if k < 3 else 0.7, coordinate=coordinate)
    model = m.build()
    theirs, dynamics = InMuJoCo(model), bc.compile(model)
    for seed in range(3):
        q, v = random_state(model, seed)
        tau = np.random.default_rng(seed).uniform(-1, 1, model.nv)
        a = dynamics.acceleration(q, v, tau)
        assert np.abs(theirs.acceleration(q, v, tau) - a).max() < UNCHANGED * np.abs(a).max()
        there = model.to_mujoco(q, v, a, tau=tau)
        for back, given in zip(model.from_mujoco(*there[:3], tau=there[3]), (q, v, a, tau), strict=True):
            assert np.allclose(back, given, rtol=0, atol=1e-14)


def test_springs_on_the_turn_of_a_ball_and_of_a_free_body_survive(tmp_path):
    m = tree()
    m.joint("j", "free", "ground", "a", (0.1, 0, 0))
    m.joint("k", "spherical", "a", "b", (0.5, 0, 0))
    m.spring("coil", "k", 3.0)
    m.spring("upright", "j", 2.0, coordinate="turn")
    m.bushing("home", "ground", "a", (0.1, 0, 0), stiffness=(2.0, 2.0, 2.0))
    model = m.build()
    assert change(model, written(model, tmp_path / "m.xml")) < UNCHANGED


def test_pinocchio_reads_what_is_written(tmp_path):
    pin = pytest.importorskip("pinocchio")
    model = bc.load("humanoid")
    bc.save(model, tmp_path / "humanoid.urdf")
    assert from_pinocchio(model, pin.buildModelFromUrdf(str(tmp_path / "humanoid.urdf"))) < UNCHANGED


JOINTS = {
    "cylindrical": {"axis": (0, 1, 1)},
    "universal": {"axis": "y", "axis2": "x"},
    "planar": {"axis": "y", "axis2": "z"},
}


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("format", ["xml", "urdf"])
def test_joints_of_several_coordinates_become_several_joints(tmp_path, kind, format):
    m = bc.Mechanism(kind)
    m.body("a", 2.0, (0.3, 0.1, 0.2), ((0.1, 0.01, 0), (0.01, 0.2, 0.02), (0, 0.02, 0.15)))
    m.body("b", 1.0, (0.5, 0.1, 0.2), (0.1, 0.1, 0.1))
    m.joint("j", kind, "ground", "a", (0.1, 0, 0), **JOINTS[kind])
    m.joint("k", "revolute", "a", "b", (0.4, 0, 0), axis=(1, 1, 0))
    model = m.build()
    again = written(model, tmp_path / f"model.{format}")
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-1, 1, model.nq), rng.uniform(-1, 1, model.nv)
    a, b = (bc.compile(x).acceleration(q, v) for x in (model, again))
    assert np.abs(a - b).max() < UNCHANGED * np.abs(a).max()


def test_thin_rods_and_point_masses_get_the_least_inertia_that_mujoco_takes(tmp_path):
    model = bc.load("double_pendulum_particles")
    assert change(model, written(model, tmp_path / "p.xml")) < UNCHANGED


def test_constant_efforts_and_springs_between_points(tmp_path):
    m = bc.Mechanism("arm")
    m.rod("arm", (0, 0, 0), (1, 0, 0), mass=1, radius=0.05)
    m.joint("hinge", "revolute", "ground", "arm", (0, 0, 0), axis="y", armature=0.1)
    m.motor("push", "hinge", 3.0)
    m.line_spring("coil", ("ground", (1, 0, 1)), ("arm", (0.5, 0, 0)), 20.0, damping=2.0, preload=4.0)
    m.line_damper("dash", ("ground", (0, 0, 1)), ("arm", (0.7, 0, 0)), 1.0)
    m.force("weight", "arm", (1, 0, 0), (0, 0, -5), (0, 1, 0))
    model = m.build()
    assert change(model, written(model, tmp_path / "arm.xml")) < UNCHANGED


# --- what cannot be said


def tree(**extra):
    m = bc.Mechanism("tree", **extra)
    m.body("a", 2.0, (0.3, 0, 0), (0.1, 0.2, 0.15))
    m.body("b", 1.0, (0.6, 0, 0), (0.1, 0.1, 0.1))
    return m


def with_joint(kind, **given):
    m = tree()
    m.joint("j", kind, "ground", "a", (0, 0, 0), **given)
    m.joint("k", "revolute", "a", "b", (0.5, 0, 0), axis="y")
    return m


def hinged(**given):
    return with_joint("revolute", axis="y", **given)


def spherical(**given):
    return with_joint("spherical", **given)


def added(m, method, *arguments, **given):
    getattr(m, method)(*arguments, **given)
    return m


NO_WORDS = {
    "a screw": ("xml", lambda: with_joint("screw", axis="z", pitch=0.1), 'joint "j", a screw'),
    "a motion": ("xml", lambda: hinged(motion=bc.model.builder.rate(2.0)), 'the prescribed motion of joint "j"'),
    "a stop": ("xml", lambda: added(hinged(), "stop", "s", "j", 10.0, upper=1.0), '"s", a stop'),
    "a table": ("xml", lambda: added(hinged(), "motor", "s", "j", table=[(0, 0), (1, 1)]), '"s", a table of time'),
    "a bushing": ("xml", lambda: added(hinged(), "bushing", "s", "ground", "b", (1, 0, 0)), '"s", a bushing'),
    "a pretension": (
        "xml", lambda: added(hinged(), "line_spring", "s", ("ground", (1, 0, 1)), ("b", (1, 0, 0)), 1.0, preload=50.0),
        '"s", whose force is not that of a linear spring'),
    "damping of one direction": (
        "xml", lambda: added(spherical(), "damper", "s", "j", 1.0, coordinate="wx"), 'the damping of joint "j", which differs'),
    "effort on a ball": (
        "xml", lambda: added(spherical(), "motor", "s", "j", 1.0, coordinate="wx"), 'the constant effort on joint "j"'),
    "a ball in a URDF": ("urdf", spherical, 'joint "j", which is spherical'),
    "a spring in a URDF": ("urdf", lambda: added(hinged(), "spring", "s", "j", 1.0), 'springs or constant efforts on joint "j"'),
    "armature in a URDF": ("urdf", lambda: hinged(armature=0.1), 'the armature of joint "j"'),
    "a force in a URDF": ("urdf", lambda: added(hinged(), "force", "s", "b", (1, 0, 0)), '"s", a force between bodies'),
    "gravity in a URDF": ("urdf", lambda: _on_the_moon(), "gravity (0 0 -1.62)"),
    "armature of a free body": (
        "xml", lambda: with_joint("free", armature=0.1), 'the armature of the free joint "j"'),
    "large armature of a free body": (
        "xml", lambda: with_joint("free", armature=(0, 0, 0, 9.0, 9.0, 9.0)), 'the armature of the free joint "j"'),
    "an idle input": ("xml", lambda: _with_input(), 'the input "u", which acts on nothing'),
    "an input on balls": ("xml", lambda: _with_input("j", "k"), 'the input "u", which acts on several joints, balls among them'),
    "damping of one direction of a floating body": (
        "xml", lambda: added(nested(), "damper", "s", "k", 1.0, coordinate="vx"), 'the damping or friction of joint "k"'),
    "armature along a floating body": ("xml", lambda: nested(armature=0.1), 'the armature of the free joint "k" along its slides'),
    "a push on a floating body": ("xml", lambda: _pushed(), 'the input "u", which pushes along the axes of a body that floats'),
    "a spring on the turn of a free body alone": (
        "xml", lambda: added(with_joint("free"), "spring", "s", "j", 1.0, coordinate="turn"), 'the spring of the free joint "j"'),
    "a spring on a turn that is no joint's": (
        "xml", lambda: _turned(), '"s", a spring on the turn between bodies that no ball joins'),
    "a body without mass": ("xml", lambda: _massless(), 'body "a", which moves and has no mass'),
}  # fmt: skip


def _pushed():
    m = nested()
    m.inputs = ("u",)
    m.motor("s", "k", input="u", coordinate="vx")
    return m


def _turned():
    """A ball that closes a loop has no joint of MuJoCo's that could have a spring."""
    m = hinged()
    m.joint("ball", "spherical", "ground", "b", (1, 0, 0), cut=True)
    m.spring("s", "ball", 1.0)
    return m


def _on_the_moon():
    m = hinged()
    m.gravity = (0.0, 0.0, -1.62)
    return m


def _with_input(*joints):
    m = spherical()
    m.inputs = ("u",)
    for k, joint in enumerate(joints):
        m.motor(f"m{k}", joint, input="u", coordinate="wx" if joint == "j" else None)
    return m


def _massless():
    m = bc.Mechanism("fork")
    m.body("a", 0.0)
    m.joint("j", "revolute", "ground", "a", (0, 0, 0), axis="y")
    for k in range(2):
        m.body(f"b{k}", 1.0, (1, k, 0), (0.1, 0.1, 0.1))
        m.joint(f"k{k}", "revolute", "a", f"b{k}", (0.5, k, 0), axis="z")
    return m


@pytest.mark.parametrize("case", NO_WORDS)
def test_what_a_format_has_no_words_for_is_named(case, tmp_path):
    ending, mechanism, message = NO_WORDS[case]
    with pytest.raises(bc.ModelError) as caught:
        bc.save(mechanism().build(), tmp_path / f"model.{ending}")
    assert message in str(caught.value) and ".toml" in str(caught.value)
    assert not (tmp_path / f"model.{ending}").exists()


def test_what_cannot_be_said_may_be_left_out_with_a_warning(tmp_path):
    model = added(hinged(), "stop", "s", "j", 10.0, upper=1.0).build()
    with pytest.warns(bc.BellcrankWarning, match=r'model\.xml does not contain:\n  "s", a stop'):
        bc.save(model, tmp_path / "model.xml", partial=True)
    assert bc.load(tmp_path / "model.xml").elements == ()


def test_what_was_not_simulated_is_not_written_and_that_is_told(tmp_path):
    with pytest.warns(bc.BellcrankWarning, match="does not contain:\n  contacts of the geoms"):
        bc.save(loaded(EVERY), tmp_path / "model.xml")


def test_without_a_joint_of_its_kind_nothing_can_be_written_even_in_part(tmp_path):
    """The message says so at once, and with partial=True it names nothing that would have been left out."""
    mechanism = added(with_joint("screw", axis="z", pitch=0.1), "stop", "s", "j", 10.0, upper=1.0)
    screw, stop, remedy = (
        r"a screw \(partial=True cannot leave it out\)",
        '\n  "s", a stop',
        r"\nSave it as \.toml, which can express everything\.$",
    )
    with pytest.raises(bc.ModelError, match=screw + stop + remedy):
        bc.save(mechanism.build(), tmp_path / "model.xml")
    with pytest.raises(bc.ModelError, match=screw + remedy):
        bc.save(mechanism.build(), tmp_path / "model.xml", partial=True)


def test_the_ending_says_the_format(tmp_path):
    with pytest.raises(bc.ModelError, match=r"written as \.toml, \.xml, \.mjcf, \.urdf files"):
        bc.save(bc.load("pendulum"), tmp_path / "model.stl")


def test_rotations_survive_their_angles():
    """Right angles of pitch too, where roll and yaw are not unique."""
    rng = np.random.default_rng(3)
    quaternions = [rng.normal(size=4) for _ in range(50)]
    quaternions += [[1, 0, s, 0] for s in (1, -1)] + [[1, 1, 1, 1], [1, 1, -1, 1], [0, 1, 0, 1], [1, 1e-9, 1, 0]]
    for quaternion in quaternions:
        R = matrix_of(quaternion)
        roll, pitch, yaw = roll_pitch_yaw(R)
        Rx, Ry, Rz = (matrix_of([np.cos(a / 2), *(np.sin(a / 2) * np.eye(3)[k])]) for k, a in enumerate((roll, pitch, yaw)))
        assert np.allclose(Rz @ Ry @ Rx, R, rtol=0, atol=1e-15)
        assert np.allclose(matrix_of(quaternion_of(R)), R, rtol=0, atol=1e-15)
