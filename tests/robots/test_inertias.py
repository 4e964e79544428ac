"""Masses and inertias that are wrong or missing in a URDF: no refusal where they cannot matter, and kinematics without any."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc

from .engines import change, loaded
from .urdf import chain, joint, link

pytest.importorskip("yourdfpy")

IMPOSSIBLE = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.5"/>'


def weighed(name: str, inertia: str, mass: str = '<mass value="2"/>') -> str:
    return f'<link name="{name}"><inertial><origin xyz="0.1 0 0.2"/>{mass}{inertia}</inertial></link>'


def moments(value: str) -> str:
    return f'<inertia ixx="{value}" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'


def robot(base: str, *more: str) -> str:
    return "\n".join(['<robot name="r">', base, joint("hinge", "continuous", "base", "arm"), link("arm"), *more, "</robot>"])


STANDING = {
    "an inertia that no body can have": weighed("base", IMPOSSIBLE),
    "a negative mass": weighed("base", IMPOSSIBLE, '<mass value="-1"/>'),
    "a missing inertia": weighed("base", ""),
}


@pytest.mark.parametrize("case", STANDING)
@pytest.mark.parametrize("fixed", ["merge", "keep"])
def test_the_inertia_of_a_link_that_stands_on_the_ground_cannot_matter(case, fixed):
    text = robot(STANDING[case])
    with pytest.warns(bc.BellcrankWarning, match='of links where they cannot matter: "base"'):
        model = bc.load(text, fixed=fixed)
    assert not model.source.impossible
    assert change(loaded(robot('<link name="base"/>'), fixed=fixed), model) == 0
    with pytest.raises(bc.ModelError, match='line 2: link "base".*\n.*broken_inertia="allow"'):
        bc.load(text, base="free")


def test_the_inertia_of_a_link_that_slides_and_never_turns_cannot_matter_but_its_mass_does():
    more = [joint("rail", "prismatic", "base", "cart"), joint("lift", "prismatic", "cart", "cage")]
    heavy = loaded(robot(link("base"), *more, weighed("cart", IMPOSSIBLE), weighed("cage", moments("0"))))
    light = loaded(robot(link("base"), *more, weighed("cart", moments("0")), weighed("cage", moments("0"))))
    assert heavy.mass.tolist() == light.mass.tolist() == [1.5, 2.0, 2.0] and change(heavy, light) == 0
    with pytest.raises(bc.ModelError, match='link "cart": its mass is -1 kg'):
        bc.load(robot(link("base"), *more, weighed("cart", IMPOSSIBLE, '<mass value="-1"/>'), weighed("cage", moments("0"))))
    with pytest.raises(bc.ModelError, match='link "wheel": its principal moments'):
        bc.load(
            robot(
                link("base"),
                *more,
                link("cart"),
                link("cage"),
                joint("w", "continuous", "cart", "wheel"),
                weighed("wheel", IMPOSSIBLE),
            )
        )


@pytest.mark.parametrize("mass", ["2", "-2.4e-35"])
def test_what_rounding_has_left_of_zero_counts_as_zero(mass):
    """A CAD program's sums of nothing: far below what any link of the robot has."""
    given = f'<mass value="{mass}"/>'
    more = joint("glue", "fixed", "arm", "tip")
    with pytest.warns(bc.BellcrankWarning, match='off by rounding, and count as zero: "tip"'):
        model = bc.load(robot(link("base"), more, weighed("tip", moments("-2.4e-35"), given)))
    exact = loaded(robot(link("base"), more, weighed("tip", moments("0"), f'<mass value="{max(0.0, float(mass))}"/>')))
    assert change(exact, model) == 0
    with pytest.raises(bc.ModelError, match='link "tip": its principal moments'):
        bc.load(robot(link("base"), more, weighed("tip", moments("-2.4e-15"))))


BARE = """<robot name="bare arm">
<link name="base"/><link name="upper"/><link name="lower"/><link name="finger"/><link name="thumb"/>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 -1 0"/><origin xyz="0 0 1"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><axis xyz="0 -1 0"/><origin xyz="0.5 0 0"/></joint>
<joint name="grip" type="prismatic"><parent link="lower"/><child link="finger"/><axis xyz="0 1 0"/><origin xyz="0.4 0 0"/></joint>
<joint name="mirror" type="prismatic"><parent link="lower"/><child link="thumb"/><axis xyz="0 -1 0"/><origin xyz="0.4 0 0"/>
<dynamics damping="2"/><mimic joint="grip"/></joint></robot>"""


@pytest.fixture(scope="module")
def bare():
    return loaded(BARE, massless="kinematics")


def test_a_robot_without_any_inertia_keeps_its_joints_for_kinematics(bare):
    with pytest.raises(bc.ModelError, match=r'(?s)joint "shoulder" moves link "upper".*massless="kinematics" to assemble'):
        bc.load(BARE)
    assert bare.kinematic and bare.nv == 4
    with pytest.warns(bc.BellcrankWarning, match='for kinematics only, without runs.*"shoulder", "elbow", "grip", "mirror"'):
        bc.load(BARE, massless="kinematics")


def test_its_poses_are_those_of_the_drawing(bare):
    """x = 0.5 cos a + 0.4 cos(a + b), z = 1 + 0.5 sin a + 0.4 sin(a + b), and the finger is moved across."""
    a, b, grip = 0.3, 0.4, 0.05
    position, _ = bc.compile(bare).poses([a, b, grip, grip])
    x, z = 0.5 * np.cos(a) + 0.4 * np.cos(a + b), 1 + 0.5 * np.sin(a) + 0.4 * np.sin(a + b)
    assert np.allclose(position[2], [x, grip, z], rtol=0, atol=1e-15)


def test_it_can_be_assembled_driven_and_checked(bare):
    found = bc.assemble(bare, q={"shoulder": 0.3, "grip": 0.05})
    assert np.allclose(found.q, [0.3, 0.0, 0.05, 0.05], rtol=0, atol=1e-12)
    way = bc.drive(bare, "grip", np.linspace(0, 0.05, 3), hold=["shoulder", "elbow"])
    assert np.allclose(way.q[:, 3], [0, 0.025, 0.05], rtol=0, atol=1e-12)
    told = str(bare.check())
    assert "for kinematics only" in told and "nothing unusual" in told


def test_it_has_no_accelerations_and_no_runs_and_says_why(bare, tmp_path):
    bc.save(bare, tmp_path / "bare.toml")
    q = np.zeros(4)
    for model in (bare, bc.load(tmp_path / "bare.toml")):
        message = (
            'no accelerations, and no runs: .* the joints "shoulder", "elbow", "grip", "mirror" move nothing that has mass'
        )
        for ask in (
            lambda m=model: bc.compile(m).acceleration(q, q),
            lambda m=model: bc.compile(m, variant="body").acceleration(q, q),
            lambda m=model: bc.simulate(m, 1.0),
            lambda m=model: bc.simulate_many(m, 1.0, q=np.zeros((2, 4))),
            lambda m=model: bc.equilibrium(m),
        ):
            with pytest.raises(bc.DynamicsError, match=message):
                ask()


def test_a_robot_with_masses_enough_is_no_less_for_being_asked_for_kinematics():
    model = loaded(chain(), massless="kinematics")
    assert not model.kinematic and change(loaded(chain()), model) == 0


def test_a_floating_robot_without_mass_is_for_kinematics_too():
    """More than six directions for one link are no trouble to its poses."""
    with pytest.raises(bc.ModelError, match=r'line 2: joint "root_joint" moves link "base"'):
        bc.load(BARE, base="free")
    model = loaded(BARE, base="free", massless="kinematics")
    assert model.kinematic and model.nv == 10 and bc.assemble(model).error == 0
