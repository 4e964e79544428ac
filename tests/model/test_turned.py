"""A mechanism described from the other end: joints whose parent is further from ground than their child.

Two bodies, P and C, fly freely, tied by a joint that is written from P to C. Whether the free joint carries P or C, so that the
joint stands in the tree as it is written or turned round, its coordinates, accelerations, efforts and reactions are the same.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.joints import JOINTS, JointData
from bellcrank.model import Mechanism
from bellcrank.model.builder import rate, sine

PITCH = 0.13
NEEDS = {
    "fixed": {},
    "revolute": {"axis": "z"},
    "prismatic": {"axis": "z"},
    "cylindrical": {"axis": "z"},
    "screw": {"axis": "z", "pitch": PITCH},
    "universal": {"axis": "z", "axis2": "x"},
    "planar": {"axis": "z", "axis2": "x"},
    "spherical": {},
}
LAWS = {"planar": ("x", "y", "angle"), "universal": ("first", "second"), "cylindrical": ("angle", "slide")}
TURNED = ("universal", "planar", "spherical")  # those that need more than a reversed axis


def flying(kind, carried, *, driven=False, damped=False):
    m = Mechanism(f"{kind} joint, {carried} is carried")
    m.body("P", 1.3, (0.3, -0.1, 0.2), ((0.2, 0.01, 0.02), (0.01, 0.3, -0.02), (0.02, -0.02, 0.4)))
    m.body("C", 0.7, (-0.2, 0.25, 0.1), ((0.1, 0.02, 0.01), (0.02, 0.15, 0.0), (0.01, 0.0, 0.12)))
    m.joint("base", "free", "ground", carried, (0, 0, 0))
    motion, about = None, None
    if driven:
        laws = {name: sine(0.3 + 0.1 * k, 0.5, 0.2 * k) for k, name in enumerate(LAWS.get(kind, ()))}
        motion, about = laws or rate(0.7, 0.2), (1, 2, -1) if kind == "spherical" else None
    m.joint("K", kind, "P", "C", (0, 0, 0), motion=motion, motion_axis=about, **NEEDS[kind])
    if damped:
        m.damper("oil", "K", 0.4, coordinate=JOINTS[kind].v_names[0] or None)
    return m.build()


def state_of(kind, qK, vK, pose, twist):
    """The pose and velocities (own axes) of P for those of C, from the joint as it is written."""
    joint, data = JOINTS[kind], JointData(pitch=PITCH)
    slide, turns = joint.motion(qK, data)
    R = np.eye(3)
    for turn in turns:
        R = R @ np.array([list(turn.up(e)) for e in _unit_vectors()]).T
    p = np.array(list(slide))
    S = np.array([[*s.w, *s.v] for s in joint.directions(qK, data)], dtype=float).reshape(-1, 6)
    own = S.T @ vK if len(S) else np.zeros(6)
    R_C = Rotation.from_quat(pose[3:], scalar_first=True).as_matrix()
    R_P = R_C @ R.T
    at = pose[:3] - R_P @ p
    w = R @ (twist[3:] - own[:3])
    v = R @ (twist[:3] - own[3:]) - np.cross(w, p)
    return np.r_[at, Rotation.from_matrix(R_P).as_quat(scalar_first=True)], np.r_[v, w]


def _unit_vectors():
    from bellcrank.spatial import Vector

    return Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0)


def both(kind, qK=None, vK=None, seed=3):
    """Equal states (q, v) of the two descriptions: with P carried, the joint as written, and with C carried, turned round."""
    rng = np.random.default_rng(seed)
    joint = JOINTS[kind]
    given = qK is not None
    if not given:
        qK, vK = rng.uniform(0.2, 0.9, joint.nq), rng.uniform(-1, 1, joint.nv)
        qK = qK / np.linalg.norm(qK) if joint.quaternion is not None else qK
    pose = np.r_[rng.uniform(-1, 1, 3), Rotation.random(rng=1).as_quat(scalar_first=True)]
    twist = rng.uniform(-1, 1, 6)
    pose_P, twist_P = state_of(kind, qK, vK, pose, twist)
    own = ([], []) if given else (qK, vK)
    return (np.r_[pose_P, own[0]], np.r_[twist_P, own[1]]), (np.r_[pose, own[0]], np.r_[twist, own[1]])


@pytest.mark.parametrize("kind", NEEDS)
def test_accelerations_reactions_and_energy_do_not_depend_on_the_side_from_which_a_joint_is_written(kind):
    near, far = (bc.compile(flying(kind, carried, damped=JOINTS[kind].nv > 0), optimisation=0) for carried in ("P", "C"))
    assert far.model.turned == (False, True) and near.model.turned == () and far.model.q_names == near.model.q_names
    states = both(kind)
    tau = np.r_[np.zeros(6), np.random.default_rng(5).uniform(-1, 1, JOINTS[kind].nv)]
    found = [dyn.acceleration(q, v, tau) for dyn, (q, v) in zip((near, far), states, strict=True)]
    assert np.abs(found[0][6:] - found[1][6:]).max(initial=0.0) < 1e-12
    for given in ({}, {"effort": True}, {"axes": "child"}):
        wrenches = [
            dyn.reactions(q, v, a, tau=tau, **given)[1] for dyn, (q, v), a in zip((near, far), states, found, strict=True)
        ]
        assert np.abs(wrenches[0] - wrenches[1]).max() < 1e-12, given
    energies = [sum(dyn.energy(q, v)) for dyn, (q, v) in zip((near, far), states, strict=True)]
    assert abs(energies[0] - energies[1]) < 1e-13


@pytest.mark.parametrize("formulation", ["mass_matrix", "canonical_momenta"])
@pytest.mark.parametrize("kind", ["planar", "spherical"])
def test_every_formulation_knows_joints_that_are_turned_round(kind, formulation):
    model = flying(kind, "C")
    _, (q, v) = both(kind)
    tau = np.linspace(-1, 1, model.nv)
    wanted = bc.compile(model, optimisation=0).acceleration(q, v, tau)
    assert np.abs(bc.compile(model, formulation=formulation, optimisation=0).acceleration(q, v, tau) - wanted).max() < 1e-12


@pytest.mark.parametrize("kind", [*TURNED, "screw"])
def test_the_effort_of_a_drive_does_not_depend_on_the_side_from_which_its_joint_is_written(kind):
    near, far = (bc.compile(flying(kind, carried, driven=True), optimisation=0) for carried in ("P", "C"))
    t = 0.4
    if kind == "spherical":
        axis = np.array([1, 2, -1]) / np.sqrt(6)
        angle = 0.2 + 0.7 * t
        qK, vK = np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis], 0.7 * axis
    elif kind in LAWS:
        rows = [(0.3 + 0.1 * k, 0.2 * k) for k in range(JOINTS[kind].nv)]
        qK = np.array([a * np.sin(np.pi * t + phase) for a, phase in rows])
        vK = np.array([np.pi * a * np.cos(np.pi * t + phase) for a, phase in rows])
    else:
        qK, vK = np.array([0.2 + 0.7 * t]), np.array([0.7])
    states = both(kind, qK, vK)
    efforts, wrenches = [], []
    for dyn, (q, v) in zip((near, far), states, strict=True):
        a = dyn.acceleration(q, v, t=t)
        efforts.append(dyn.drive_efforts(q, v, a, t=t))
        wrenches.append(dyn.reactions(q, v, a, t=t)[1])
    assert np.abs(efforts[0] - efforts[1]).max() < 1e-12
    assert np.abs(wrenches[0] - wrenches[1]).max() < 1e-12


def test_a_run_of_a_joint_that_is_turned_round_keeps_its_energy_and_ends_as_the_joint_as_written():
    kind, ends = "spherical", []
    for carried, (q, v) in zip(("P", "C"), both(kind), strict=True):
        run = bc.simulate(flying(kind, carried), duration=0.5, q=q, v=v, rtol=1e-11, atol=1e-12)
        assert run.energy_error < 1e-8
        ends.append(np.abs(run.q.values[-1, 7:]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-8


@pytest.mark.parametrize("kind", ["planar", "spherical"])
def test_the_methods_that_move_every_body_by_itself_know_joints_that_are_turned_round(kind):
    """reaction_taylor has coordinates and reactions from the bodies: its first sample is the state that it was given."""
    model = flying(kind, "C")
    _, (q, v) = both(kind)
    dyn = bc.compile(model, optimisation=0)
    run = bc.simulate(model, duration=2e-3, step=1e-3, max_step=1e-4, method="reaction_taylor", q=q, v=v)
    assert np.abs(run.q.values[0] - q).max() < 1e-9 and np.abs(run.v.values[0] - v).max() < 1e-9
    wanted = dyn.reactions(q, v, dyn.acceleration(q, v))[1]
    assert np.abs(run.reactions.values[0, 1] - wanted).max() < 1e-3 * np.abs(wanted).max()


def test_a_closing_joint_and_a_joint_of_the_tree_have_the_same_reaction_whichever_side_they_are_written_from():
    """A four-bar, one pin of which is cut, or stands in the tree as written, or turned round: the wrench on the child."""
    bars = {"crank": ((0, 0, 0), (0, 0.3, 0)), "bar": ((0, 0.3, 0), (0.9, 0.6, 0)), "arm": ((0.9, 0.6, 0), (0.9, 0, 0))}
    found = []
    for cut in ("B", "C", "A"):
        m = Mechanism("four-bar")
        for name, ends in bars.items():
            m.rod(name, *ends, mass=1.0, radius=0.02)
        m.joint("O", "revolute", "ground", "crank", (0, 0, 0), axis="z")
        m.joint("A", "spherical", "crank", "bar", (0, 0.3, 0), cut=cut == "A")
        m.joint("B", "universal", "arm", "bar", (0.9, 0.6, 0), axis="z", axis2="x", cut=cut == "B")
        m.joint("C", "revolute", "ground", "arm", (0.9, 0, 0), axis="z", cut=cut == "C")
        m.start("O", 0.0, 2.0)
        model = m.build()
        dyn, start = bc.compile(model, optimisation=0), bc.assemble(model)
        a = dyn.acceleration(start.q, start.v)
        if cut == "B":
            found.append(dyn.closure_reactions(start.q, start.v)[0])
        else:
            found.append(dyn.reactions(start.q, start.v, a)[model.joint_names.index("B")])
            assert (model.turned or (False,) * model.n)[model.joint_names.index("B")] == (cut == "C")
    assert np.abs(found[0]).max() > 1
    assert np.abs(found[1] - found[0]).max() < 1e-9 * np.abs(found[0]).max()
    assert np.abs(found[2] - found[0]).max() < 1e-9 * np.abs(found[0]).max()


def test_check_shows_parent_and_child_as_they_are_written():
    rows = {row.name: row for row in flying("universal", "C").check().joints}
    assert (rows["K"].parent, rows["K"].child, rows["K"].kind) == ("P", "C", "universal")


def test_programs_without_such_joints_say_so():
    model = flying("universal", "C")
    with pytest.raises(bc.StateError, match="MuJoCo has no universal joint that is written from its far side: 'K'"):
        model.to_mujoco(model.initial_q)
    with pytest.raises(bc.ModelError, match='joint "K", a universal joint whose parent is further from ground'):
        bc.save(model, "arm.xml")
