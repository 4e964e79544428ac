"""What a file says wrongly is told with the file, the line, the value and the remedy; what it says often, once."""

from __future__ import annotations

import pytest

import bellcrank as bc

from .urdf import chain, joint, link

pytest.importorskip("mujoco")
pytest.importorskip("yourdfpy")


def arm(attributes: str = "", inside: str = "", more: str = "") -> str:
    return f"""<mujoco><worldbody>
<body name="arm" {attributes}><joint name="j"/><geom size=".1" pos="1 0 0"/>
{inside}</body></worldbody>{more}</mujoco>"""


NOT_NUMBERS = {
    "a place": (arm('pos="nan 0 0"'), 'line 2: pos of <body> "arm" is "nan 0 0". Give finite numbers.'),
    "a geom, which would count as not given": (arm(inside='<geom size=".1" mass="NaN"/>'), 'line 3: mass of <geom> is "NaN"'),
    "a mass": (arm(inside='<inertial pos="0 0 0" mass="inf" diaginertia="1 1 1"/>'), 'line 3: mass of <inertial> is "inf"'),
    "gravity": (arm(more='\n<option gravity="0 nan 0"/>'), 'line 4: gravity of <option> is "0 nan 0"'),
    "a range": (arm(inside='<joint name="k" range="nan 1"/>'), 'line 3: range of <joint> "k" is "nan 1"'),
}


@pytest.mark.parametrize("case", NOT_NUMBERS)
def test_numbers_of_an_mjcf_file_that_are_none_are_refused_with_their_line(case):
    text, message = NOT_NUMBERS[case]
    with pytest.raises(bc.ModelError) as caught:
        bc.load(text)
    assert message in str(caught.value)


def test_something_may_be_called_inf_and_ranges_may_be_without_end():
    text = arm(
        inside='<joint name="inf" axis="1 0 0" range="-1 inf"/>', more='<actuator><motor name="nan" joint="inf"/></actuator>'
    )
    with pytest.warns(bc.BellcrankWarning):
        assert bc.load(text).joint_names == ("j", "inf")


def test_an_include_that_is_not_there_is_told_by_the_file_that_includes_it(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.xml").write_text("<mujocoinclude>\n\n<include file='b.xml'/></mujocoinclude>")
    (tmp_path / "model.xml").write_text("<mujoco><include file='parts/a.xml'/></mujoco>")
    with pytest.raises(
        bc.ModelError, match=r'a\.xml, line 3: <include> names the file "b\.xml", which is not in .*Put it there'
    ):
        bc.load(tmp_path / "model.xml")


def test_a_model_in_another_folder_finds_what_its_parts_name(tmp_path, monkeypatch):
    """MuJoCo, given a relative path, looks for the files of included files in folders that do not exist."""
    (tmp_path / "robot" / "parts").mkdir(parents=True)
    solid = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "robot" / "parts" / "x.obj").write_text(solid)
    (tmp_path / "robot" / "parts" / "arm.xml").write_text(
        "<mujoco><asset><mesh name='x' file='x.obj'/></asset>"
        "<worldbody><body name='b'><joint/><geom type='mesh' mesh='x'/></body></worldbody></mujoco>"
    )
    (tmp_path / "robot" / "scene.xml").write_text("<mujoco><include file='parts/arm.xml'/></mujoco>")
    monkeypatch.chdir(tmp_path)
    assert bc.load("robot/scene.xml").mass[0] == pytest.approx(1000 / 6)


FILES = {
    "empty": ("e.urdf", "", r"e\.urdf: the file is empty\. Give a native model"),
    "blank": ("e.xml", " \n\n", r"e\.xml: the file is empty\. Give a native model"),
    "an empty model of ours": ("e.toml", "", r"e\.toml: the file is empty\. Give a native model"),
}


@pytest.mark.parametrize("case", FILES)
def test_an_empty_file_is_called_empty(case, tmp_path):
    name, text, message = FILES[case]
    (tmp_path / name).write_text(text)
    with pytest.raises(bc.ModelError, match=message):
        bc.load(tmp_path / name)


ROBOTS = {
    "a number that only Python reads": (
        chain(joint("x", "continuous", "arm", "c", place='xyz="1_000 0 0"'), link("c")),
        "line 7: joint \"x\": xyz of its origin is '1_000 0 0'. Give 3 finite numbers.",
    ),
    "a macro for a number": (
        chain(joint("x", "continuous", "arm", "c", place='xyz="$(optenv REACH 0) 0 0"'), link("c")),
        "line 7: joint \"x\": xyz of its origin is '$(optenv REACH 0) 0 0'. Run xacro first, and load what it writes.",
    ),
    "a macro for a name": (
        chain(joint("x", "continuous", "arm", "${side}_hand"), link("${side}_hand")),
        "line 8: the name '${side}_hand' of a link is a macro. Run xacro first",
    ),
    "two links, each the parent of the other": (
        chain(joint("back", "fixed", "arm", "base")),
        'line 4: the links "arm", "base" are each other\'s parents, through the joints "hinge", "back". A URDF is a tree: remove',
    ),
    "a link that is its own parent": (
        chain(link("x"), joint("self", "fixed", "x", "x")),
        'line 9: link "x" is its own parent, through the joint "self". A URDF is a tree: remove',
    ),
    "two roots": (chain(link("x")), 'line 7: the links "base", "x" have no parent. A URDF is a tree: join all of them but one'),
}


@pytest.mark.parametrize("case", ROBOTS)
def test_what_is_wrong_with_a_robot_is_told_with_its_line_and_the_remedy(case):
    text, message = ROBOTS[case]
    with pytest.raises(bc.ModelError) as caught:
        bc.load(text)
    assert message in str(caught.value)


def test_a_joint_that_mimics_an_absent_one_is_told_with_its_line():
    text = chain(joint("x", "continuous", "arm", "c", '<mimic joint="hing"/>'), link("c"))
    message = r'joint "x" \(.*line 7\) follows "hing", which is not a joint, and moves freely\. Did you mean "hinge"\?'
    with pytest.warns(bc.BellcrankWarning, match=message):
        bc.load(text)


def test_a_macro_in_the_path_of_a_mesh_is_only_told():
    visual = '<visual><geometry><mesh filename="$(find p)/a.stl"/></geometry></visual>'
    with pytest.warns(bc.BellcrankWarning, match="is a macro: run xacro first"):
        bc.load(chain(joint("x", "continuous", "arm", "c"), link("c", more=visual)))


@pytest.mark.parametrize("gravity", [(0, float("nan"), 0), (0, 1), "down", 9.81])
def test_gravity_is_three_finite_numbers(gravity):
    with pytest.raises(bc.StateError, match=r"gravity is .*, no acceleration: give three finite numbers, m/s2"):
        bc.load(chain(), gravity=gravity)


def test_a_hundred_similar_lines_are_one():
    muscles = "".join(f'<muscle name="m{k}" joint="a{k}" lengthrange="0 1"/>' for k in range(6))
    bodies = "".join(f'<body name="b{k}" pos="{k} 0 0"><joint name="a{k}"/><geom size=".1"/></body>' for k in range(6))
    text = f"<mujoco>\n<worldbody>{bodies}</worldbody><actuator>{muscles}</actuator></mujoco>"
    with pytest.warns(bc.BellcrankWarning) as caught:
        bc.load(text)
    told = str(caught[0].message)
    assert told.count("it has a state of its own") == 1
    assert (
        'actuator "m0": it has a state of its own (an integrator, filter or muscle); likewise "m1", "m2", "m3", "m4" and 1 more'
        in told
    )


def test_a_few_similar_lines_stay_as_they_are():
    links = [
        f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>' for k in range(4)
    ]
    joints = [joint(f"j{k}", "continuous", "arm", f"l{k}") for k in range(4)]
    with pytest.warns(bc.BellcrankWarning) as caught:
        bc.load(chain(*links, *joints))
    assert str(caught[0].message).count("lacks ixy, ixz and iyz") == 4


NOT_FINITE = {
    "mass": {"mass": float("nan")},
    "centre of mass": {"center": (float("inf"), 0, 0)},
    "inertia": {"inertia": (float("nan"), 1, 1)},
}


@pytest.mark.parametrize("what", NOT_FINITE)
def test_what_is_not_finite_of_a_body_is_told_with_its_value(what):
    m = bc.Mechanism("arm")
    m.body("a", **({"mass": 1.0, "center": (1, 0, 0), "inertia": (1, 1, 1)} | NOT_FINITE[what]))
    m.joint("j", "revolute", "ground", "a", (0, 0, 0), axis="y")
    with pytest.raises(bc.ModelError, match=rf'body "a": its {what} is .*(nan|inf).*\. Give finite numbers'):
        m.build()


def test_masses_that_are_too_large_together_are_told_with_their_line():
    parts = [f"{joint(f'g{k}', 'fixed', 'arm', f'x{k}')}{link(f'x{k}', mass=1e308)}" for k in range(2)]
    with pytest.raises(bc.ModelError, match=r'line 5: body "arm": its mass is inf\. Give finite numbers'):
        bc.load(chain(*parts))


def test_a_body_of_an_mjcf_file_is_told_with_its_line():
    part = '<body><inertial pos="0 0 0" mass="1e308" diaginertia="1 1 1"/></body>'
    with pytest.raises(bc.ModelError, match=r'line 2: body "arm": its mass is inf\. Give finite numbers'):
        bc.load(arm(inside=2 * part))
