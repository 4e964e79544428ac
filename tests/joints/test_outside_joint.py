"""A kind of joint that is defined outside the package: one class, one line, and it is everywhere that joints are.

A pin in a slot slides along ``axis2`` of its parent and turns about ``axis``. In a tree it is a slide and a hinge with a body
without mass between them; as a joint that closes a loop it is a planar joint whose pin also stays on a plane; driven it is
a planar joint that is driven with y = 0. Those exist, so that the same mechanism can be built with and without it.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.comparison.in_pinocchio import InPinocchio
from bellcrank.constraints import X, Y, Z, axes_parallel, d2, points_meet
from bellcrank.formulations import CLOSED, FORMULATIONS
from bellcrank.joints import JOINTS, JOINTS_BY_KEY, NO_DATA, Joint, JointMotion, register, turned_round
from bellcrank.joints.base import E_X, E_Y, E_Z, angle_about_z
from bellcrank.joints.derived import looks_like, reversed_in_a_mirror
from bellcrank.joints.registration import problems_of
from bellcrank.machine.in_python import run_plain
from bellcrank.model import Mechanism
from bellcrank.model.builder import rate, sine
from bellcrank.papers.huang.ties import rows_of
from bellcrank.plan import make_plan
from bellcrank.spatial import Motion, PlaneTurn, Vector
from bellcrank.spatial.vector import ZERO
from bellcrank.viewer.scene import Scene
from tests import closed_reference, closed_states, reference

SAME = 1e-12  # of the largest: two ways through the same recursions


class SlotPin(Joint):
    """R = Rz(angle), p = slide e_x; in the child's axes the direction of the slide turns backwards."""

    kind = "slot_pin"
    has_axis = True
    needs_axis2 = True
    q_names = ("slide", "angle")
    q_units = ("m", "rad")

    @staticmethod
    def motion(q, data=NO_DATA):
        return JointMotion(Vector(q[0], 0.0, 0.0), (PlaneTurn.angle("z", q[1]),))

    @staticmethod
    def directions(q, data=NO_DATA):
        return Motion(ZERO, PlaneTurn.angle("z", q[1]).down(E_X)), Motion(E_Z, ZERO)

    @classmethod
    def direction_rates(cls, q, v, data=NO_DATA):
        slide, _ = cls.directions(q, data)
        return Motion(ZERO, (E_Z * -v[1]).cross(slide.v)), Motion.zero()

    @staticmethod
    def coordinates(R, offset):
        return offset.x, angle_about_z(R)

    @staticmethod
    def closing(i, j, given):
        return [*axes_parallel(i, j), d2(i, j, i.axis(Y)), d2(i, j, i.axis(Z))]


def forget(kind):
    for table in (JOINTS, JOINTS_BY_KEY):
        for key in (kind, f"turned {kind}"):
            table.pop(key, None)


@pytest.fixture(autouse=True)
def registered():
    yield register(SlotPin)
    forget("slot_pin")


def body(m, name, k):
    J = np.diag([0.02, 0.03, 0.04]) + 0.002 * k
    m.body(name, 1.0 + 0.3 * k, (0.2 - 0.1 * k, 0.1 * k - 0.15, 0.05), J.tolist())


def pin(m, name, parent, child, point, axis, axis2, *, alone, motion=None, **more):
    """A slot pin, or the slide and the hinge that it is."""
    if alone:
        m.joint(name, "slot_pin", parent, child, point, axis=axis, axis2=axis2, motion=motion, **more)
        return
    m.body(f"{name}_block", 0.0)
    laws = motion or {"slide": None, "angle": None}
    m.joint(f"{name}_slide", "prismatic", parent, f"{name}_block", point, axis=axis2, motion=laws["slide"])
    m.joint(f"{name}_angle", "revolute", f"{name}_block", child, point, axis=axis, motion=laws["angle"])


def chain(*, alone=True, driven=False, far_side=False):
    """Three bodies: a hinge, a slot pin, another across it; the first on a moving base, or the pin written from its far side."""
    m = Mechanism("chain with slot pins")
    for k, name in enumerate(("arm", "block", "hand")):
        body(m, name, k)
    m.joint("hinge", "revolute", "ground", "arm", (0, 0, 0), axis=(0.2, 0.3, 1.0))
    ends = ("block", "arm") if far_side else ("arm", "block")
    motion = {"slide": sine(0.3, 0.5, 0.2), "angle": rate(0.7, 0.2)} if driven else None
    pin(m, "K", *ends, (0.4, 0.1, 0), (0, 1, 0), (1, 0, 0), alone=alone, motion=motion)
    pin(m, "L", "block", "hand", (0.4, 0.1, 0.5), (1, 0, 0), (0, 0.6, 0.8), alone=alone)
    if alone:
        m.damper("oil", "L", 0.4, coordinate="slide")
        m.spring("coil", "L", 3.0, coordinate="angle")
    else:
        m.damper("oil", "L_slide", 0.4)
        m.spring("coil", "L_angle", 3.0)
    return m.build()


def states(model, seed=3):
    rng = np.random.default_rng(seed)
    return {"q": rng.uniform(-0.6, 0.6, model.nq), "v": rng.uniform(-1, 1, model.nv), "tau": rng.uniform(-1, 1, model.nv)}


def compiled(model, formulation):
    name, _, option = formulation.partition(":")
    return bc.compile(model, name, reference=option or None, optimisation=0)


def far(x, expected):
    expected = np.asarray(expected, dtype=float)
    return float(np.abs(np.asarray(x, dtype=float) - expected).max() / np.abs(expected).max())


# --- trees


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_formulation_has_it_in_trees(formulation):
    """Against the positions of the slide and the hinge that it is, in extended precision, and against their own recursion."""
    model, parts = chain(), chain(alone=False)
    state = states(model)
    expected = reference.dynamics(parts, state["q"], state["v"]).acceleration(state["tau"])
    assert far(compiled(model, formulation).acceleration(**state), expected) < SAME
    assert far(run_plain(FORMULATIONS[formulation], make_plan(model), float, **state)["a"], expected) < SAME


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("far_side", [False, True])
def test_it_may_be_driven_and_written_from_its_far_side(driven, far_side):
    one, parts = (bc.compile(chain(alone=alone, driven=driven, far_side=far_side), optimisation=0) for alone in (True, False))
    assert one.model.joints[1].turned == far_side
    state = states(one.model)
    order = [parts.model.q_names.index(name.replace(".", "_")) for name in one.model.q_names]  # theirs may be another
    theirs = {name: x[np.argsort(order)] for name, x in state.items()}
    a, b = one.acceleration(**state, t=0.3), parts.acceleration(**theirs, t=0.3)
    assert far(a, b[order]) < SAME
    assert far(one.inverse_dynamics(state["q"], state["v"], a, t=0.3), state["tau"]) < 1e-11
    if driven:
        ours, effort = (dyn.drive_efforts(s["q"], s["v"], x, t=0.3) for dyn, s, x in ((one, state, a), (parts, theirs, b)))
        assert far(np.sort(ours), np.sort(effort)) < 1e-11


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_joints_that_are_turned_round_go_to_other_processes(again):
    for joint in (SlotPin((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)), JOINTS["spherical"]()):
        back = again(turned_round(joint))
        assert back == turned_round(joint) and type(back) is JOINTS_BY_KEY[f"turned {joint.kind}"]


# --- closed loops


def quick_return(*, alone=True, driven=False, root="slot_pin"):
    """A crank drives a slotted lever, in space: the pin of the crank slides in the lever. Seven freedoms in one loop.

    ``alone``: with slot pins, else with what they are; the loop is closed by one, and ``root``, in the tree, is another.
    """
    m = Mechanism("quick return")
    for k, name in enumerate(("crank", "lever", "weight")):
        body(m, name, k)
    if root == "slot_pin":
        pin(m, "O", "ground", "crank", (0, 0, 0), (0.6, 0, 0.8), (0.8, 0, -0.6), alone=alone)
    else:
        m.joint("O", root, "ground", "crank", (0, 0, 0), axis=(0.6, 0, 0.8))
    m.joint("Q", "free" if driven else "spherical", "ground", "lever", (0, -0.5, 0.1))
    m.joint("W", "spherical", "lever", "weight", (0.4, 0.4, 0.1))
    laws = {"slide": sine(0.1, 0.5), "angle": rate(0.3)} if driven else None
    if not alone:
        laws = laws and {"x": laws["slide"], "y": rate(0.0), "angle": laws["angle"]}
    kind, axes = "slot_pin" if alone else "planar", {"axis": (0, 0.28, 0.96), "axis2": (0.6, 0.768, -0.224)}
    m.joint("P", kind, "lever", "crank", (0.3, 0.1, 0), **axes, motion=laws, cut=True)
    if not driven:
        m.damper("grease", "P", 0.3, coordinate="slide" if alone else "x")
        m.spring("coil", "P", 2.0, coordinate="angle")
    model = m.build()
    if alone or driven:
        return model
    (P,) = model.closures
    across = tuple(np.cross(axes["axis"], axes["axis2"]).tolist())
    return replace(model, closures=(P, replace(P, name="guide", kind="point_on_plane", joint=None, axis=across)))


@pytest.fixture(scope="module", params=[False, True], ids=["held", "driven"])
def loop(request):
    """The model with slot pins, that with their parts, a state of both, and the answer of the references for the parts."""
    register(SlotPin)
    model, parts = (quick_return(alone=alone, driven=request.param) for alone in (True, False))
    assert model.closures[0].rows == (6 if request.param else 4) and model.nv == parts.nv
    state = closed_states.moving(parts, 7, reach=2.0)
    return model, parts, state, closed_reference.closed(parts, state)


@pytest.mark.parametrize("formulation", CLOSED)
def test_every_formulation_has_it_in_loops(loop, formulation):
    """Against the positions of its parts alone, in extended precision."""
    model, _, state, expected = loop
    dyn = compiled(model, formulation)
    near = 1e-13 * expected.solution.amplification
    assert far(dyn.acceleration(**state), expected.a) < near
    plan = dyn.plan if formulation == "coordinate_reduction" else make_plan(model)
    given = {"q": state["q"], "v": state["v"], "tau": state["tau"], "t": [state["t"]], "u": state["inputs"]}
    assert far(run_plain(CLOSED[formulation], plan, float, **given)["a"], expected.a) < near


def test_its_loops_are_judged_as_those_of_its_parts(loop):
    """Errors and rates of the closures, the wrench that it carries, its coordinates, the effort of its drive."""
    model, parts, state, _ = loop
    one, other = (bc.compile(m, "coordinate_reduction", optimisation=0) for m in (model, parts))
    q, v, t = state["q"], state["v"], state["t"]
    for x in one.closure(q, v, t=t):
        assert np.abs(x).max() < 1e-13
    wrenches = [dyn.closure_reactions(**state).sum(axis=0) for dyn in (one, other)]
    assert far(wrenches[0], wrenches[1]) < 1e-10
    slide, angle = one.closing_coordinates(q, t=t)
    x, y, about = other.closing_coordinates(q, t=t)
    assert np.abs([slide - x, y, angle - about]).max() < 1e-13 and abs(angle) > 1e-2
    if model.closures[0].motion is not None:
        efforts = [dyn.closure_efforts(**state) for dyn in (one, other)]
        assert far(efforts[0], efforts[1][[0, 2]]) < 1e-10


@pytest.mark.parametrize("formulation", ["canonical_momenta", "multipliers", "coordinate_reduction"])
def test_runs_through_loops_are_those_of_its_parts(formulation):
    model, parts = (quick_return(alone=alone) for alone in (True, False))
    state = closed_states.moving(parts, t=0.0)
    start = {"q": state["q"], "v": state["v"], "duration": 0.2, "rtol": 1e-10, "atol": 1e-10}
    one, other = bc.simulate(model, formulation=formulation, **start), bc.simulate(parts, **start)
    assert np.abs(one.q.values[-1] - other.q.values[-1]).max() < 1e-7
    assert one.energy_error < 1e-7


@pytest.mark.parametrize("method", ["rattle", "reaction_taylor"])
def test_the_singular_methods_know_it(method):
    """Here the tree has no slot pin, since its parts have a body without mass, which reaction_taylor does not move."""
    model, parts = (quick_return(alone=alone, root="cylindrical") for alone in (True, False))
    state = closed_states.moving(parts, t=0.0)
    start = {"q": state["q"], "v": state["v"], "duration": 0.02, "step": 1e-2, "max_step": 1e-3, "method": method}
    one, other = bc.simulate(model, **start), bc.simulate(parts, **start)
    assert np.abs(one.q.values[-1] - state["q"]).max() > 1e-3
    assert np.abs(one.q.values[-1] - other.q.values[-1]).max() < 1e-9
    whole = bc.simulate(quick_return(), duration=0.02, step=1e-2, max_step=1e-4, method=method)
    exact = bc.simulate(quick_return(), duration=0.02, step=1e-2, rtol=1e-10, atol=1e-10)
    assert np.abs(whole.q.values[-1] - exact.q.values[-1]).max() < 1e-4  # of first order in the step
    assert rows_of("slot_pin") is not None


def test_check_counts_it_as_its_parts():
    text = str(quick_return().check())
    assert "slot_pin" in text and "degrees of freedom: 4 by rank, 4 by counting in space" in text


def flat(closing):
    """A crank and a plate in a plane, closed by a slot pin, which holds more than the plane needs: three equations too many."""
    m = Mechanism("flat quick return", gravity=(0, -9.81, 0))
    for k, name in enumerate(("crank", "lever")):
        body(m, name, k)
    m.joint("O", "revolute", "ground", "crank", (0, 0, 0), axis="z")
    m.joint("Q", "planar", "ground", "lever", (0, -0.5, 0), axis="z", axis2="x")
    m.joint("P", closing, "lever", "crank", (0.3, 0.1, 0), axis="z", axis2="y", cut=True)
    return m.build()


def test_check_knows_its_plane_and_the_wrenches_that_redundant_equations_share():
    """Of the four equations one matters in the plane; force along z and moments about x and y are not determined."""
    text = str(flat("slot_pin").check())
    assert "3 by rank, 0 by counting in space, 3 in the plane" in text
    assert '"O", "Q" and "P": force along its axis z, moments about x and y' in text


# --- files


TOML = """
format = 1
name = "a pin in a slot"

[bodies.block]
mass = 2.0
center = [0.1, 0, 0]
inertia = [0.1, 0.2, 0.3]

[joints.pin]
type = "slot_pin"
parent = "ground"
child = "block"
point = [0, 0, 0]
axis = "z"
axis2 = "x"
"""


def test_it_is_read_from_a_file_and_written_to_one(tmp_path):
    model = bc.load(TOML)
    assert type(model.joints[0]) is SlotPin and model.q_names == ("pin.slide", "pin.angle")
    bc.save(model, tmp_path / "model.toml")
    again = bc.load(tmp_path / "model.toml")
    assert again.joints == model.joints
    forget("slot_pin")
    with pytest.raises(bc.ModelError, match='there is no joint type "slot_pin"'):
        bc.load(tmp_path / "model.toml")


def test_a_closed_form_of_its_motion():
    """No gravity along the slot: the centre keeps its speed along x; the block turns as a pendulum that may slide."""
    run = bc.simulate(bc.load(TOML), duration=1.0, q=[0.0, 0.4], v=[0.5, 1.0], rtol=1e-11, atol=1e-11)
    q = run.q.values
    centre = q[:, 0] + 0.1 * np.cos(q[:, 1])
    assert np.abs(centre - (0.1 * np.cos(0.4) + (0.5 - 0.1 * np.sin(0.4)) * run.q.time.values)).max() < 1e-9


@pytest.mark.parametrize(("ending", "said"), [("xml", 'joint "pin", a slot_pin'), ("urdf", 'joint "pin", which is slot_pin')])
def test_other_formats_refuse_it_by_name(tmp_path, ending, said):
    with pytest.raises(bc.ModelError, match=said):
        bc.save(bc.load(TOML), tmp_path / f"model.{ending}")


def test_other_formats_refuse_loops_that_it_closes_by_name(tmp_path):
    with pytest.raises(bc.ModelError, match='"P", a slot_pin joint that closes a loop'):
        bc.save(flat("slot_pin"), tmp_path / "model.xml")


@pytest.mark.parametrize(
    ("convert", "said"), [("to_mujoco", "MuJoCo has no slot_pin"), ("to_pinocchio", "q of a slot_pin is not known")]
)
def test_states_of_other_programs_refuse_it_by_name(convert, said):
    with pytest.raises(bc.StateError, match=f"{said}.*'pin' cannot be converted"):
        getattr(bc.load(TOML), convert)([0.0, 0.0])


def test_pinocchio_has_no_counterpart():
    pytest.importorskip("pinocchio")
    model = bc.load(TOML)
    with pytest.raises(bc.ModelError, match='Pinocchio has no slot_pin joint: "pin"'):
        InPinocchio(model, bc.compile(model, optimisation=0))


def test_one_that_says_how_is_written_to_other_formats(tmp_path):
    """A slide and a hinge: what is read back moves the same."""

    class Told(SlotPin):
        kind = "told_pin"
        mjcf = (("slide", "x"), ("hinge", "z"))
        urdf = (("prismatic", "x"), ("continuous", "z"))

    register(Told)
    try:
        model = bc.load(TOML.replace("slot_pin", "told_pin"))
        q, v = np.array([0.2, 0.4]), np.array([0.5, 1.0])
        wanted = bc.compile(model, optimisation=0).acceleration(q, v)
        for ending in ("xml", "urdf"):
            bc.save(model, tmp_path / f"model.{ending}")
            with warnings.catch_warnings(action="ignore"):  # URDF gives every slide limits
                again = bc.load(tmp_path / f"model.{ending}")
            assert far(bc.compile(again, optimisation=0).acceleration(q, v), wanted) < 1e-9
    finally:
        forget("told_pin")


# --- designs, many runs, pictures


DESIGNED = (
    TOML.replace(
        'axis = "z"\naxis2 = "x"', 'axis = ["=sin(lean)", 0, "=cos(lean)"]\naxis2 = ["=cos(lean)", 0, "=-sin(lean)"]'
    ).replace("center = [0.1", 'center = ["=reach"')
    + "\n[parameters]\nreach = 0.1\nlean = 0.3\n"
)


@pytest.mark.parametrize(
    ("make", "names", "output"),
    [
        (lambda: bc.load(DESIGNED), ["parameters.reach", "parameters.lean"], "pin.slide"),
        (lambda: flat("slot_pin"), ["crank.center.x", "P.point.x"], "O"),
    ],
    ids=["tree", "loop"],
)
def test_derivatives_of_runs_are_those_of_runs_in_lanes(make, names, output):
    """Central differences of runs with a design in each lane: of second order, 1e-6 by tolerances of 1e-11 and steps of 1e-3."""
    model, exact = make(), {"step": 0.1, "rtol": 1e-11, "atol": 1e-11, "method": "dopri5"}
    design, h = bc.Design(model, names), 1e-3
    lanes = design.start + h * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    k = model.q_names.index(output)
    ends = bc.simulate_many(design.base, 0.1, design=design, p=lanes, **exact).q_values[:, -1, k]
    alone = bc.simulate(design.model(lanes[2]), 0.1, **exact)
    assert abs(ends[2] - alone.values("q")[-1, k]) < 1e-10
    differences = (ends[::2] - ends[1::2]) / (2 * h)
    assert np.abs(differences).max() > 1e-3
    for mode in ("forward", "adjoint"):
        found = bc.sensitivity(model, names, [f"{output}@end"], 0.1, mode=mode, **exact)
        assert (
            np.abs(np.array([float(found.d(f"{output}@end").sel(parameter=name)) for name in names]) - differences).max() < 1e-5
        )


@pytest.mark.parametrize(("model", "axis"), [(lambda: bc.load(TOML), (1, 0, 0)), (lambda: flat("slot_pin"), (0, 1, 0))])
def test_it_is_drawn_as_a_slide_along_its_slot(model, axis):
    mark = Scene(model()).joints[-1]
    assert mark.kind == "prismatic"
    np.testing.assert_allclose(mark.axis, axis, atol=1e-15)


def test_joints_of_the_package_look_like_themselves():
    for kind in ("fixed", "revolute", "prismatic", "cylindrical", "planar", "spherical"):
        found, axis = looks_like(JOINTS[kind])
        assert found == kind and axis.tolist() == [0, 0, 1]


# --- registration


def test_what_is_registered_has_no_problems_and_all_joints_of_the_package_have_none():
    for joint in JOINTS.values():
        assert joint.quaternion is not None or problems_of(joint) == []


@pytest.mark.parametrize("name", ["kind", "q_names", "q_units", "motion", "directions", "coordinates", "closing"])
def test_what_is_forgotten_is_named(name):
    kept = {key: value for key, value in vars(SlotPin).items() if not key.startswith("__") and key != name}
    for follows in ("nq", "nv", "v_names", "v_units", "neutral", "key", "identity"):
        kept.pop(follows, None)
    with pytest.raises(bc.ModelError, match=f"the joint Forgetful cannot be registered:\n  it has no {name}"):
        register(type("Forgetful", (Joint,), kept))


def other_axis(i, j, given):
    return [*axes_parallel(i, j), d2(i, j, i.axis(Z)), d2(i, j, i.axis(Z))]


WRONG = {
    "a name with blanks": ({"kind": "slot pin"}, "its kind 'slot pin' is not a name"),
    "a name that is taken": ({"kind": "planar"}, 'there is a "planar" already'),
    "the name of a tie": ({"kind": "distance"}, 'there is a "distance" already'),
    "parts of another program": ({"mjcf": (("slide", "y"), ("hinge", "z"))}, "its mjcf does not move as its motion does"),
    "the order of parts": ({"urdf": (("continuous", "z"), ("prismatic", "x"))}, "its urdf does not move as its motion does"),
    "words of other programs": ({"mjcf": (("planar", "z"),)}, "its mjcf should have 2 parts, each one of hinge"),
    "a weld": ({"mjcf_loop": "weld"}, "its mjcf_loop is given"),
    "another name that is taken": (
        {"axis2_on_child": True},
        'there is a "slot_pin" already',
    ),
    "units": ({"q_units": ("m", "deg")}, "its q_units have 'deg'"),
    "one unit": ({"q_units": ("m",)}, "its q_units are 1, and there should be 2"),
    "a neutral position": ({"neutral": (0.0, 1.0)}, "its neutral is"),
    "names": ({"q_names": ("", "angle")}, "name each of its coordinates"),
    "a second axis alone": ({"has_axis": False}, "it needs_axis2, but has_axis is False"),
    "a quaternion": ({"quaternion": 0}, "it has a quaternion"),
    "rates": (
        {"direction_rates": classmethod(lambda cls, q, v, data=NO_DATA: (Motion.zero(),) * 2)},
        "its direction_rates are not the rates of its directions",
    ),
    "directions": (
        {"directions": staticmethod(lambda q, data=NO_DATA: (Motion(ZERO, E_Y), Motion(E_Z, ZERO)))},
        "its directions are not",
    ),
    "motion": ({"motion": staticmethod(lambda q, data=NO_DATA: JointMotion(E_X, ()))}, "not the identity at its neutral"),
    "coordinates": ({"coordinates": staticmethod(lambda R, offset: (offset.y, offset.z))}, "its coordinates do not give back"),
    "too few equations": ({"closing": staticmethod(lambda i, j, given: axes_parallel(i, j))}, "its closing equations are 2"),
    "equations twice": ({"closing": staticmethod(other_axis)}, "its closing equations are not independent"),
    "wrong equations": (
        {"closing": staticmethod(lambda i, j, given: [*axes_parallel(i, j), d2(i, j, i.axis(0)), d2(i, j, i.axis(Z))])},
        "its closing equations do not hold along its motion",
    ),
    "no reaction": (
        {"closing": staticmethod(lambda i, j, given: [e._replace(on_i=e.on_j) for e in SlotPin.closing(i, j, given)])},
        "their wrenches on the two bodies do not balance",
    ),
    "equations along the world": (
        {"closing": staticmethod(lambda i, j, given: [*axes_parallel(i, j), *points_meet(i, j, given)[1:]])},
        "its closing equations use given.world, but not as points_meet does",
    ),
    "efforts": (
        {"efforts": classmethod(lambda cls, q, data=NO_DATA: tuple(2.0 * e for e in ()))},
        "its efforts do not do unit work",
    ),
    "plane": ({"plane": True}, "plane is True, but its motion does not begin"),
    "turns freely": ({"turns_freely": True}, "turns_freely is True, but"),
    "rates of coordinates": ({"rates": staticmethod(lambda q, v: (v[0], 2.0 * v[1]))}, "its rates are not v"),
    "bias": (
        {"bias": classmethod(lambda cls, q, v, data=NO_DATA: Motion.zero())},
        "its bias is not that of its direction_rates",
    ),
    "an error": ({"closing": staticmethod(lambda i, j, given: 1 / 0)}, "it cannot be evaluated: ZeroDivisionError"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_agree_is_an_error_that_says_so(what):
    changes, said = WRONG[what]
    names = {"q_names": SlotPin.q_names, "q_units": SlotPin.q_units}
    with pytest.raises(bc.ModelError, match=said):
        register(type("Wrong", (SlotPin,), names | changes))


def test_the_same_class_may_be_registered_again():
    """As where a cell of a notebook is run twice: what computes the same is the same."""
    again = type("Again", (SlotPin,), {})
    assert register(again) is SlotPin and register(SlotPin) is SlotPin


def test_two_joints_of_one_name_never_share_compiled_code():
    """The second slides across the first one's slot. Its name, signatures and model file are those of the first."""

    class Across(SlotPin):
        @staticmethod
        def motion(q, data=NO_DATA):
            return JointMotion(Vector(0.0, q[0], 0.0), (PlaneTurn.angle("z", q[1]),))

        @staticmethod
        def directions(q, data=NO_DATA):
            return Motion(ZERO, PlaneTurn.angle("z", q[1]).down(E_Y)), Motion(E_Z, ZERO)

        @staticmethod
        def coordinates(R, offset):
            return offset.y, angle_about_z(R)

        @staticmethod
        def closing(i, j, given):
            return [*axes_parallel(i, j), d2(i, j, i.axis(X)), d2(i, j, i.axis(Z))]

    model, state, found = bc.load(TOML), ([0.1, 0.4], [0.2, 1.0], [1.0, 0.0]), []
    for joint in (SlotPin, Across):
        forget("slot_pin")
        register(joint)
        dyn = bc.compile(replace(model, joints=(joint((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),)), optimisation=0)
        found.append(dyn.acceleration(*state))
        inertia = dyn.mass_matrix(state[0])
        along = -np.sin(0.4) if joint is SlotPin else np.cos(0.4)
        np.testing.assert_allclose(inertia, [[2.0, 0.2 * along], [0.2 * along, 0.32]], atol=1e-14)
    assert np.abs(found[0] - found[1]).max() > 0.1


def test_a_joint_mirrors_as_the_planar_joint_does():
    assert reversed_in_a_mirror(SlotPin) == reversed_in_a_mirror(JOINTS["planar"]) == ("axis",)
