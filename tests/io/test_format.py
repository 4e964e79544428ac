"""The model file of a designer: parameters, formulas, places, force elements, motions, measures, assemblies."""

import math
import re

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.io import gallery, load

HEAD = """format = 1
inputs = ["throttle"]
[parameters]
L = 2.0
half = "=L/2"
a = "=deg(90)"
[points]
pivot = [0, 0, 1]
tip = ["=L*sin(a)", 0, "=pivot.z"]
[bodies.arm]
rod = { from = "pivot", to = "tip", density = 1000, radius = 0.1 }
[bodies.hand]
sphere = { center = { body = "hand", at = ["=arm.length/4", 0, 0] }, radius = 0.1, mass = "=arm.mass/10" }
[joints.shoulder]
type = "revolute"
parent = "ground"
child = "arm"
point = "pivot"
axis = "y"
[joints.wrist]
type = "cylindrical"
parent = "arm"
child = "hand"
point = "tip"
axis = "x"
[initial]
shoulder = "=a/3"
"""


def test_formulas_give_numbers_wherever_one_may_stand():
    model = load(HEAD)
    np.testing.assert_allclose(model.position, [[0, 0, 1], [2, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(model.mass, np.pi * 0.01 * 2 * 1000 * np.array([1, 0.1]), rtol=1e-15)
    np.testing.assert_allclose(model.center[1], [0.5, 0, 0], atol=1e-15)
    assert model.initial_q[0] == pytest.approx(math.pi / 6)


def test_a_shape_may_depend_on_its_own_length():
    text = HEAD.replace("density = 1000, radius = 0.1", 'mass = "=3*arm.length", radius = "=arm.length/20"')
    np.testing.assert_allclose(load(text).mass, [6.0, 0.6], rtol=1e-15)
    with pytest.raises(ModelError, match="depends on itself .arm.radius -> arm.volume -> arm.radius"):
        load(HEAD.replace("radius = 0.1", 'radius = "=arm.volume"', 1))


ELEMENTS = """
[springs.coil]
joint = "shoulder"
stiffness = "=10*L"
rest = 0.1
[springs.strut]
from = { body = "ground", point = [1, 0, 0] }
to = { body = "arm", point = "tip" }
stiffness = 100
damping = 2
[springs.band]
from = { body = "ground", point = [0, 0, 3] }
to = { body = "hand", at = [0, 0, 0.1] }
table = [[-1, -5], [0, 0], [1, 9]]
outside = "clamp"
[dampers.grease]
joint = "wrist"
coordinate = "slide"
damping = 3
[frictions.ring]
joint = "wrist"
coordinate = "angle"
effort = 2
[stops.end]
joint = "shoulder"
upper = 1.5
stiffness = 1e4
[motors.constant]
joint = "shoulder"
effort = -1
[motors.ramp]
joint = "shoulder"
table = [[0, 0], [1, 2]]
[motors.driver]
joint = "shoulder"
input = "throttle"
gain = 4
[bushings.rubber]
parent = "ground"
child = "hand"
point = "tip"
stiffness = [1, 2, 3]
turning_damping = [4, 5, 6]
axis = "x"
axis2 = "y"
[forces.wind]
body = "arm"
point = "tip"
force = [1, 0, 0]
moment = [0, "=L", 0]
axes = "body"
[measures.height]
type = "position"
body = "hand"
point = "tip"
component = "z"
[measures.reach]
type = "distance"
from = { body = "ground", point = "pivot" }
to = { body = "hand", at = [0, 0, 0] }
[measures.turn]
type = "coordinate"
joint = "wrist"
coordinate = "angle"
[measures.tilt]
type = "angle"
from = { body = "ground", direction = "z" }
to = { body = "arm", direction = [0, 0, 2] }
[measures.speed]
type = "velocity"
body = "hand"
point = "tip"
relative_to = { body = "arm", point = "pivot" }
[measures.pull]
type = "force"
element = "strut"
[measures.work]
type = "formula"
value = "=pull*reach + L*speed.x"
"""


def test_force_elements_have_rows_local_points_and_values():
    found = {element.name: element for element in load(HEAD + ELEMENTS).elements}
    assert [e.kind for e in found.values()] == [
        "joint_spring", "spring_damper", "spring_damper", "joint_damper", "joint_friction", "joint_stop",
        "joint_effort", "joint_effort", "joint_input", "bushing", "force",
    ]  # fmt: skip
    assert found["coil"].values == {"stiffness": 20.0, "rest": 0.1, "preload": 0.0} and found["coil"].joint == 0
    strut = found["strut"]
    assert (strut.body_a, strut.body_b) == (-1, 0)
    np.testing.assert_allclose([strut.point_a, strut.point_b], [[1, 0, 0], [2, 0, 0]], atol=1e-15)
    assert strut.values["length"] == pytest.approx(math.sqrt(2))  # as designed
    np.testing.assert_allclose(found["band"].point_b, [0, 0, 0.1], atol=1e-15)
    assert found["band"].table.y == (-5.0, 0.0, 9.0) and found["band"].table.outside == "clamp"
    assert (found["grease"].joint, found["grease"].dof, found["ring"].dof) == (1, 1, 0)
    assert found["end"].values["lower"] == -math.inf
    assert found["driver"].input == 0 and found["driver"].values == {"gain": 4.0}
    assert found["rubber"].values["ky"] == 2 and found["rubber"].values["crz"] == 6
    np.testing.assert_allclose(np.array(found["rubber"].axes), np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]), atol=1e-15)
    assert found["wind"].values["my"] == 2 and found["wind"].values["world"] == 0


def test_measures_are_data():
    found = {measure.name: measure for measure in load(HEAD + ELEMENTS).measures}
    kinds = ["position", "distance", "coordinate", "angle", "velocity", "element", "expression"]
    assert [m.kind for m in found.values()] == kinds
    assert found["height"].component == 2 and found["turn"].joint == 1 and found["tilt"].direction_b == (0, 0, 1)
    assert found["work"].expression == "pull*reach + L*speed.x" and found["work"].values == (("L", 2.0),)


MOTIONS = {
    "{ rate = 2, start = 1 }": ("polynomial", (1.0, 2.0)),
    "{ polynomial = [1, 2, 3] }": ("polynomial", (1.0, 2.0, 3.0)),
    '{ amplitude = "=L", frequency = 3 }': ("sine", (0.0, 2.0, 3.0, 0.0)),
    "{ table = [[0, 1], [2, 3]] }": ("table", ()),
}


@pytest.mark.parametrize("law", MOTIONS)
def test_a_driven_joint_has_laws_and_no_coordinates(law):
    model = load(HEAD.replace('[initial]\nshoulder = "=a/3"\n', "").replace('axis = "y"', f'axis = "y"\nmotion = {law}'))
    assert (model.nq, model.q_names) == (2, ("wrist.angle", "wrist.slide"))
    assert model.driven.tolist() == [True, False] and model.q_index.tolist() == [0, 0]
    (found,) = model.motions[0].laws
    assert (found.kind, found.values) == MOTIONS[law]


def test_laws_of_several_coordinates_go_by_their_names():
    text = HEAD.replace('axis = "x"', 'axis = "x"\nmotion = { slide = { rate = 1 } }')
    motion = load(text).motions[1]
    assert [law.values for law in motion.laws] == [(0.0,), (0.0, 1.0)]


LEG = """format = 1
[bodies.hull]
box = { center = [0, 0, 1], size = [1, 0.4, 0.2], mass = 10 }
[joints.base]
type = "free"
parent = "ground"
child = "hull"
point = [0, 0, 1]
[assemblies.leg.parameters]
L = 0.5
[assemblies.leg.points]
hip = [0.1, 0.2, 1]
knee = ["=hip.x", 0.2, "=hip.z - L"]
[assemblies.leg.bodies.thigh]
mass = 2
center = "knee"
inertia = { xx = 0.3, yy = 0.3, zz = 0.1, xy = 0.01, yz = 0.02 }
[assemblies.leg.joints.roll]
type = "revolute"
parent = "hull"
child = "thigh"
point = "hip"
axis = [1, 0.5, 0]
[assemblies.leg.springs.k]
joint = "roll"
stiffness = 3
[assemblies.leg.measures.out]
type = "coordinate"
joint = "roll"
[assemblies.leg.measures.twice]
type = "formula"
value = "=2*out"
[assemblies.leg.initial]
roll = 0.3
[copies.left]
of = "leg"
[copies.right]
of = "leg"
mirror = "y"
[copies.long]
of = "leg"
offset = [-0.4, 0, 0]
parameters = { L = 0.7 }
[initial.long]
roll = 0.1
"""


def test_copies_are_moved_renamed_and_have_their_own_parameters():
    model = load(LEG)
    assert model.joint_names == ("base", "left.roll", "right.roll", "long.roll")
    assert model.body_names[1:] == ("left.thigh", "right.thigh", "long.thigh")
    np.testing.assert_allclose(model.position[1:], [[0.1, 0.2, 0], [0.1, -0.2, 0], [-0.3, 0.2, 0]], atol=1e-15)
    np.testing.assert_allclose(model.center[1:, 2], [-0.5, -0.5, -0.7])
    assert model.initial_q[-3:].tolist() == [0.3, 0.3, 0.1]
    assert [e.name for e in model.elements] == ["left.k", "right.k", "long.k"]
    assert [m.expression for m in model.measures][1::2] == ["2*left.out", "2*right.out", "2*long.out"]


def test_a_mirrored_copy_at_the_same_coordinate_is_the_mirror_image():
    """R' = M R M with M = diag(1, -1, 1), for the hinge and for the inertia."""
    model, M = load(LEG), np.diag([1.0, -1.0, 1.0])

    def turn(axis, q):
        K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        return np.eye(3) + math.sin(q) * K + (1 - math.cos(q)) * K @ K

    left, right = (turn(model.joints[i].axis, 0.7) for i in (1, 2))
    np.testing.assert_allclose(right, M @ left @ M, atol=1e-15)
    np.testing.assert_allclose(model.inertia[2], M @ model.inertia[1] @ M, atol=1e-15)


@pytest.mark.parametrize(
    ("how", "sign", "shift"),
    [
        ('mirror = "y"', (1, -1, 1), (0, 0, 0)),
        ("offset = [0.5, 2, -1]", (1, 1, 1), (0.5, 2, -1)),
        ('mirror = "x"\noffset = [1, "=L", 3]', (-1, 1, 1), (1, 2, 3)),
    ],
)
def test_places_that_follow_from_others_by_formulas_are_moved_and_mirrored_once(how, sign, shift):
    """The copy of a formula's result is what the formula gives in the assembly, then mirrored and moved."""
    text = (
        HEAD
        + f"""
[assemblies.part.parameters]
reach = "=root.y + 0.5*slant.axis.y"
[assemblies.part.points]
root = [0.3, 0.7, 0.2]
end = ["=root.x + 1", "=2*root.y + reach", "=slant.point.z - part_body.center.z"]
[assemblies.part.bodies.part_body]
mass = 1
center = ["=end.x", "=root.y", 0.1]
inertia = [1, 1, 1]
[assemblies.part.joints.slant]
type = "prismatic"
parent = "ground"
child = "part_body"
point = "root"
axis = [0.6, 0.8, 0]
[assemblies.part.measures.m]
type = "position"
body = "part_body"
point = "end"
[copies.plain]
of = "part"
[copies.other]
of = "part"
{how}
"""
    )
    model = load(text)
    names = list(model.body_names)
    plain, other = names.index("plain.part_body"), names.index("other.part_body")
    np.testing.assert_allclose(model.position[other], sign * model.position[plain] + np.array(shift), atol=1e-15)
    np.testing.assert_allclose(model.center[other], sign * model.center[plain], atol=1e-15)
    np.testing.assert_allclose(model.joints[other].axis, np.multiply(sign, model.joints[plain].axis), atol=1e-15)
    np.testing.assert_allclose(model.measures[1].point_a, np.multiply(sign, model.measures[0].point_a), atol=1e-15)


@pytest.mark.parametrize(
    ("kind", "extra"),
    [("universal", "axis2 = [-0.5, 1, 0]"), ("screw", "pitch = 0.1"), ("planar", 'axis2 = "z"'), ("prismatic", "")],
)
def test_every_mirrored_joint_moves_as_the_mirror_image(kind, extra):
    """Poses by the joint's own motion, its frame turned to the world."""
    from bellcrank.joints import JointData
    from bellcrank.model.building.resistance import frame

    model = load(LEG.replace('type = "revolute"', f'type = "{kind}"\n{extra}').replace("roll = 0.3", "").replace("[initial.long]\nroll = 0.1", "")
                 .replace('joint = "roll"', 'joint = "roll"' + ("" if kind in ("screw", "prismatic") else '\ncoordinate = "first"' if kind == "universal" else '\ncoordinate = "x"')))  # fmt: skip
    q, M = [0.3, -0.4, 0.5], np.diag([1.0, -1.0, 1.0])
    poses = []
    for joint in model.joints[1:3]:
        F = frame(np.array(joint.axis), joint.axis2)
        motion = joint.motion(q[: joint.nq], JointData(pitch=joint.pitch or 0.0))
        R = np.eye(3)
        for part in motion.turns:
            columns = [part.up(v) for v in np.eye(3).tolist() for v in [_vector(v)]]
            R = R @ np.array([[*c] for c in columns], dtype=float).T
        poses.append((F @ np.array([*motion.slide], dtype=float), F @ R @ F.T))
    np.testing.assert_allclose(poses[1][0], M @ poses[0][0], atol=1e-14)
    np.testing.assert_allclose(poses[1][1], M @ poses[0][1] @ M, atol=1e-14)


def _vector(values):
    from bellcrank.spatial import Vector

    return Vector(*values)


# what is replaced in HEAD + ELEMENTS, by what, and what the error says
MISTAKES = {
    "negative stiffness": ('stiffness = "=10*L"', 'stiffness = "=-10*L"', r'spring "coil": stiffness is -20 .*Give zero or more'),
    "no joint": ('joint = "shoulder"\nstiffness = "=10', 'joint = "sholder"\nstiffness = "=10', r'"sholder", which is not a joint\. Did you mean "shoulder"'),
    "where": ('joint = "shoulder"\nstiffness = "=10*L"\nrest = 0.1', "stiffness = 1", r"does not say where it acts"),
    "both": ('upper = 1.5', 'upper = 1.5\nlower = 2', r"lower is 2 and upper 1\.5"),
    "no limit": ("upper = 1.5\n", "", r'stop "end": it has no limit'),
    "decreasing": ("[[0, 0], [1, 2]]", "[[1, 0], [0, 2]]", r"its table goes from 1 to 0 in row 2"),
    "one row": ("[[0, 0], [1, 2]]", "[[1, 0]]", r"its table has 1 row\."),
    "ragged": ("[[0, 0], [1, 2]]", "[[1, 0], [2]]", r"motors\.ramp\.table is .*rows of two numbers, \[\[time, effort\]"),
    "input": ('input = "throttle"', 'input = "throtle"', r'"throtle" is not in inputs\. Did you mean "throttle"'),
    "effort and table": ("effort = -1", "effort = -1\ntable = [[0, 0], [1, 1]]", r"it has effort and table"),
    "nothing": ("effort = -1\n", "", r"it has no effort"),
    "friction without speed": ("effort = 2\n", "effort = 2\nvelocity = 0\n", r"velocity is 0 .*Give more than zero"),
    "coordinate missing": ('coordinate = "slide"\n', "", r'does not say which coordinate of joint "wrist"\. Choose from "angle", "slide"'),
    "coordinate unknown": ('coordinate = "slide"', 'coordinate = "slid"', r'there is no coordinate "slid"'),
    "coordinate of one": ("rest = 0.1", 'coordinate = "x"', r"has one coordinate: remove"),
    "same body": ('body = "arm", point = "tip" }\nstiffness', 'body = "ground", point = "tip" }\nstiffness', r'begins and ends on "ground"'),
    "unknown body": ('body = "arm", point = "tip" }\nstiffness', 'body = "arn", point = "tip" }\nstiffness', r'"arn", which is not a body\. Did you mean "arm"'),
    "force on ground": ('[forces.wind]\nbody = "arm"', '[forces.wind]\nbody = "ground"', r"not a body that can move"),
    "point and at": ("at = [0, 0, 0.1] }", 'at = [0, 0, 0.1], point = "tip" }', r"has both point and at"),
    "skewed axes": ('axis = "x"\naxis2 = "y"', 'axis = "x"\naxis2 = "x"', r"not perpendicular"),
    "to itself": ('parent = "ground"\nchild = "hand"\npoint', 'parent = "hand"\nchild = "hand"\npoint', r'it joins "hand" to itself'),
    "axes": ('axes = "body"', 'axes = "boby"', r"forces\.wind\.axes is 'boby'\. Give \"world\" or \"body\""),
    "measure type": ('type = "distance"', 'type = "distanse"', r'no measure of type "distanse"\. Did you mean "distance"'),
    "element": ('element = "strut"', 'element = "strutt"', r'"strutt", which is not a force element, .* Did you mean "strut"'),
    "unknown measure": ("=pull*reach", "=pul*reach", r'"pul" is neither a measure nor a parameter\. Did you mean "pull"'),
    "measure of itself": ("=pull*reach", "=work*reach", r'measure "work" depends on itself'),
    "a joint's name": ("[springs.coil]", "[springs.wrist]", r'the element "wrist" has the same name as a joint'),
    "unknown value": ("=arm.mass/10", "=arm.mas/10", r'"arm\.mas" is not known\. Did you mean "arm\.mass"'),
    "unknown item": ("=arm.mass/10", "=arn.mass/10", r'"arn\.mass" is not known\. Did you mean "arm"'),
    "division": ("=arm.mass/10", "=arm.mass/(L - 2)", r'line \d+: bodies\.hand\.sphere\.mass is "=arm\.mass/\(L - 2\)": 62\.8\d+ is divided by zero'),
    "its own frame": ('point = "tip"\naxis = "x"', 'point = { body = "hand", at = [0, 0, 0] }\naxis = "x"', r"wrist\.point\.x.* depends on itself"),
    "frame of nothing": ('body = "hand", at = ["=', 'body = "hanp", at = ["=', r'is in the frame of "hanp", which is not a body\. Did you mean "hand"'),
    "density and mass": ("density = 1000, radius", "mass = 1, density = 1000, radius", r"its rod has both mass and density"),
    "thin and dense": ("density = 1000, radius = 0.1", "density = 1000", r"has a density but no volume"),
    "driven twice": ('axis = "y"', 'axis = "y"\nmotion = { rate = 1 }', r'\[initial\] gives "shoulder", which is driven'),
    "no law": ('axis = "x"', 'axis = "x"\nmotion = { start = 1 }', r"says nothing of its motion\. Give one of rate, polynomial"),
    "two laws": ('axis = "x"', 'axis = "x"\nmotion = { angle = { rate = 1, amplitude = 1 } }', r"has rate and amplitude"),
    "one law for two": ('axis = "x"', 'axis = "x"\nmotion = { rate = 1 }', r"several coordinates\. Give a law for each: angle, slide"),
    "unknown law": ('axis = "x"', 'axis = "x"\nmotion = { angl = { rate = 1 } }', r'its motion gives "angl"\. It has angle, slide'),
    "pitch": ('type = "cylindrical"', 'type = "screw"', r"a screw joint needs a pitch"),
    "axis2": ('type = "cylindrical"', 'type = "universal"', r"a universal joint needs an axis2"),
    "inputs": ('inputs = ["throttle"]', "inputs = 3", r"line 2: inputs is 3\. Give names"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named(mistake):
    old, new, message = MISTAKES[mistake]
    text = HEAD + ELEMENTS
    assert text.count(old) >= 1
    with pytest.raises(ModelError, match=message) as caught:
        load(text.replace(old, new, 1))
    assert re.search(r"model text, line \d+: ", str(caught.value))


def test_a_spring_on_a_ball_joint_acts_against_its_whole_turn():
    text = HEAD.replace('type = "cylindrical"', 'type = "spherical"').replace('point = "tip"\naxis = "x"', 'point = "tip"')
    for more in ("", 'coordinate = "turn"\n'):
        (spring,) = load(text + f'[springs.s]\njoint = "wrist"\nstiffness = 1\n{more}').elements
        assert (spring.kind, spring.body_a, spring.body_b) == ("turning_spring", 0, 1)
    refused = {
        'coordinate = "wx"': 'a quaternion has no single angle. Give coordinate = "turn"',
        "rest = 0.1": 'on the turn of joint "wrist" rests in the design position: remove rest',
        "preload = 0.1": "rests in the design position: remove preload",
    }
    for more, message in refused.items():
        with pytest.raises(ModelError, match=message):
            load(text + f'[springs.s]\njoint = "wrist"\nstiffness = 1\n{more}\n')
    with pytest.raises(ModelError, match='"wrist" is spherical: a quaternion has no single angle. Use a bushing'):
        load(text + '[stops.s]\njoint = "wrist"\nupper = 1\nstiffness = 1\n')
    (damper,) = load(text + '[dampers.d]\njoint = "wrist"\ncoordinate = "wy"\ndamping = 1\n').elements
    assert (damper.joint, damper.dof) == (1, 1)


def test_a_force_on_a_driven_joint_is_refused():
    text = HEAD.replace('shoulder = "=a/3"', "").replace('axis = "y"', 'axis = "y"\nmotion = { rate = 1 }')
    with pytest.raises(ModelError, match='"shoulder" is driven'):
        load(text + '[springs.s]\njoint = "shoulder"\nstiffness = 1\n')


COPIES = {
    "unknown assembly": ('[copies.left]\nof = "leg"', '[copies.left]\nof = "lge"', r'copy "left" is of "lge", which is not an assembly\. Did you mean "leg"'),
    "unknown parameter": ("{ L = 0.7 }", "{ M = 0.7 }", r'gives the parameter "M", which "leg" does not have'),
    "a mirror": ('mirror = "y"', 'mirror = "q"', r"copies\.right\.mirror is 'q'\. Give \"x\" or \"y\" or \"z\""),
    "the name of a body": ("[copies.left]", "[copies.hull]", r'the copy "hull" has the same name as a body'),
    "cylindrical": ('type = "revolute"', 'type = "cylindrical"', r"cannot be mirrored"),
    "a body inside": ("mass = 2\n", "mass = -2\n", r'body "left\.thigh": its mass is -2'),
    "an unknown key inside": ("mass = 2\n", "mass = 2\nmas = 2\n", r'\[assemblies\.leg\.bodies\.thigh\] has an unknown key "mas"'),
}  # fmt: skip


@pytest.mark.parametrize("mistake", COPIES)
def test_a_mistake_in_an_assembly_is_named(mistake):
    old, new, message = COPIES[mistake]
    with pytest.raises(ModelError, match=message):
        load(LEG.replace(old, new, 1))


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("../secret.stl", "outside the model's folder"),
        ("/etc/passwd", "absolute path"),
        ("C:\\\\x.stl", "absolute path"),
        ("a/../../b.stl", "outside"),
        ("link.stl", "outside"),
        ("missing.stl", "is not in"),
    ],
)
def test_a_mesh_stays_in_the_folder_of_its_model(tmp_path, file, message):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "outside.stl").write_text("solid")
    (folder / "link.stl").symlink_to(tmp_path / "outside.stl")
    (folder / "good.stl").write_text("solid")
    text = HEAD.replace("[bodies.hand]", '[bodies.hand]\nmesh = { file = "good.stl", scale = 0.001 }')
    (folder / "m.toml").write_text(text)
    assert load(folder / "m.toml").spec.bodies[1].mesh.file == "good.stl"
    (folder / "m.toml").write_text(text.replace("good.stl", file))
    with pytest.raises(ModelError, match=message):
        load(folder / "m.toml")


def test_shapes_have_the_inertia_of_their_integrals():
    """Against point masses drawn over the volume, by moments of a uniform grid."""
    text = 'format = 1\n[bodies.b]\n{}\n[joints.j]\ntype = "free"\nparent = "ground"\nchild = "b"\npoint = [0, 0, 0]\n'
    box = load(
        text.format("box = { center = [1, 2, 3], size = [0.3, 0.4, 0.5], density = 100, axis = [0, 1, 0], axis2 = [0, 0, 1] }")
    )
    # its x is the world's z, its y the world's x, its z the world's y
    a, b, c, m = 0.4, 0.5, 0.3, 6.0
    np.testing.assert_allclose(
        box.inertia[0], np.diag([m / 12 * (b * b + c * c), m / 12 * (a * a + c * c), m / 12 * (a * a + b * b)]), atol=1e-15
    )
    tube = load(text.format("cylinder = { from = [0, 0, 0], to = [0, 0, 2], radius = 0.2, inner_radius = 0.1, mass = 3 }"))
    np.testing.assert_allclose(np.diag(tube.inertia[0]), [3 / 12 * (3 * 0.05 + 4)] * 2 + [3 / 2 * 0.05], rtol=1e-14)
    ball = load(text.format("sphere = { center = [0, 0, 1], radius = 0.5, density = 10 }"))
    assert ball.mass[0] == pytest.approx(10 * 4 / 3 * math.pi / 8)
    np.testing.assert_allclose(np.diag(ball.inertia[0]), [0.4 * ball.mass[0] * 0.25] * 3)


@pytest.mark.parametrize("name", ["double_pendulum_particles", "rheonomic_pendulum", "every_joint", "humanoid", "crane"])
def test_the_gallery_has_what_was_asked_for(name):
    model = load(name)
    assert name in gallery()
    if name == "every_joint":
        assert {joint.kind for joint in model.joints} == {"fixed", "revolute", "prismatic", "cylindrical", "screw", "universal", "planar", "spherical", "free"}  # fmt: skip
    if name == "humanoid":
        assert model.nv == 36
    if name == "crane":
        assert {"spring_damper", "joint_friction"} <= {element.kind for element in model.elements}
    if name == "rheonomic_pendulum":
        assert model.driven.tolist() == [True, False]


def test_the_humanoid_of_the_gallery_is_the_generated_one():
    from bellcrank.model.generators import humanoid

    made, read = humanoid(), load("humanoid")
    for field in ("position", "mass", "center", "inertia", "given_q"):
        np.testing.assert_allclose(getattr(read, field), getattr(made, field), atol=1e-15)
