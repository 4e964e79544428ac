"""XML that means harm, or is something else: a clear ModelError each, and nothing is opened."""

from __future__ import annotations

import pytest

import bellcrank as bc

from .urdf import chain

BOMB = """<?xml version="1.0"?>
<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<robot name="&b;"><link name="x"/></robot>"""
STRANGER = '<!DOCTYPE robot SYSTEM "file:///etc/passwd">\n<robot name="r"><link name="x"/></robot>'

TEXTS = {
    "an entity bomb": (BOMB, "line 2: it declares a document type"),
    "a bomb in MJCF": (BOMB.replace("robot", "mujoco"), "it declares a document type"),
    "a file from elsewhere": (STRANGER, "it declares a document type"),
    "not closed": ("<robot>\n<link>\n</robot>", "line 3: not XML: mismatched tag"),
    "empty": ("<\n", "not XML"),
    "another root": ("<svg>\n</svg>", "XML with the root <svg> is not a model. Give a native model"),
    "SDF": ("<sdf>\n</sdf>", "this is SDF, which is not read"),
    "a part": ("<mujocoinclude>\n</mujocoinclude>", "a part of an MJCF model. Load the file that includes it"),
    "a mesh": ("<COLLADA>\n</COLLADA>", "this is a mesh"),
    "macros": ('<robot xmlns:xacro="x">\n<xacro:arm/></robot>', "line 2: <xacro:arm> is a macro. Run xacro first"),
    "deep": ("<robot>\n" + "<a>" * 600 + "</a>" * 600 + "</robot>", "more than 500 elements inside each other"),
    "an encoding nobody knows": ('<?xml version="1.0" encoding="klingon"?>\n<robot/>', "encoding"),
    "a mesh of a text": ("<mujoco><asset>\n<mesh file='a.stl'/></asset></mujoco>", "but a model given as text has no folder"),
    "an include of a text": ("<mujoco>\n<include file='a.xml'/></mujoco>", "but a model given as text has no folder"),
    "an empty anchor": ("<mujoco><equality>\n<connect body1='a' anchor=' '/></equality></mujoco>", "line 2: the anchor of <connect>"),
    "copies without end": (
        "<mujoco><worldbody>\n<replicate count='1000'><replicate count='1000'><body/></replicate></replicate></worldbody></mujoco>",
        "it makes 1000000 copies"),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_a_strange_text_is_a_clear_error(case):
    text, message = TEXTS[case]
    with pytest.raises(bc.ModelError) as caught:
        bc.load(text)
    assert message in str(caught.value)


OUTSIDE = {
    "an include": "<include file='{}'/>",
    "a mesh": "<asset><mesh file='{}'/></asset>",
    "a texture": "<asset><texture type='cube' fileright='{}'/></asset>",
    "a height field": "<asset><hfield file='{}'/></asset>",
    "a folder of meshes": "<compiler meshdir='{}'/>",
}


@pytest.mark.parametrize("path", ["../secret.xml", "/etc/passwd", "a/../../secret.xml"])
@pytest.mark.parametrize("case", OUTSIDE)
def test_paths_that_leave_the_folder_are_refused(tmp_path, case, path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.xml").write_text("<mujocoinclude/>")
    (folder / "model.xml").write_text(f"<mujoco>\n{OUTSIDE[case].format(path)}\n</mujoco>")
    with pytest.raises(
        bc.ModelError, match=r"model\.xml, line 2: the path .* leaves the model's folder\. Pass allow_outside=True"
    ):
        bc.load(folder / "model.xml")


def test_a_path_that_leaves_through_the_folder_of_meshes_is_refused(tmp_path):
    (tmp_path / "m" / "meshes").mkdir(parents=True)
    text = "<mujoco><compiler meshdir='meshes'/>\n<asset><mesh file='../../secret.stl'/></asset></mujoco>"
    (tmp_path / "m" / "model.xml").write_text(text)
    with pytest.raises(bc.ModelError, match="leaves the model's folder"):
        bc.load(tmp_path / "m" / "model.xml")


def test_links_that_lead_outside_are_followed_and_refused(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.xml").write_text("<mujocoinclude/>")
    (folder / "inside.xml").symlink_to(tmp_path / "secret.xml")
    (folder / "model.xml").write_text("<mujoco>\n<include file='inside.xml'/></mujoco>")
    with pytest.raises(bc.ModelError, match="leaves the model's folder"):
        bc.load(folder / "model.xml")


def test_the_user_may_allow_files_from_outside(tmp_path):
    pytest.importorskip("mujoco")
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "arm.xml").write_text("<mujocoinclude><body><joint name='j'/><geom size='1'/></body></mujocoinclude>")
    (folder / "model.xml").write_text("<mujoco><worldbody><include file='../arm.xml'/></worldbody></mujoco>")
    assert bc.load(folder / "model.xml", allow_outside=True).joint_names == ("j",)


PART = "<mujocoinclude><body name='{}'><joint/><geom size='1'/></body></mujocoinclude>"
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize(
    ("inner", "where"), [("b.xml", "parts/b.xml"), ("b.xml", "b.xml"), ("../b.xml", "b.xml"), ("parts/b.xml", "parts/b.xml")]
)
def test_included_files_may_include_others_beside_them_or_beside_the_model(tmp_path, inner, where):
    pytest.importorskip("mujoco")
    (tmp_path / "parts").mkdir()
    (tmp_path / "model.xml").write_text("<mujoco><worldbody><include file='parts/a.xml'/></worldbody></mujoco>")
    (tmp_path / "parts" / "a.xml").write_text(f"<mujocoinclude><include file='{inner}'/></mujocoinclude>")
    (tmp_path / where).write_text(PART.format("found"))
    assert bc.load(tmp_path / "model.xml").body_names == ("found",)


def test_a_mesh_beside_the_folder_of_meshes_is_still_inside(tmp_path):
    pytest.importorskip("mujoco")
    for folder in ("visual", "collision"):
        (tmp_path / folder).mkdir()
    (tmp_path / "collision" / "x.obj").write_text(MESH)
    (tmp_path / "model.xml").write_text(
        "<mujoco><compiler meshdir='visual'/><asset><mesh name='x' file='../collision/x.obj'/></asset>"
        "<worldbody><body name='b'><joint/><geom type='mesh' mesh='x'/></body></worldbody></mujoco>"
    )
    assert bc.load(tmp_path / "model.xml").mass[0] == pytest.approx(1000 / 6)


def test_an_included_file_that_leads_out_is_refused_wherever_it_is_looked_for(tmp_path):
    """MuJoCo looks beside the model first: a harmless file beside the one that includes must not hide the other."""
    folder = tmp_path / "model"
    (folder / "parts" / "deep").mkdir(parents=True)
    (folder / "model.xml").write_text("<mujoco><worldbody><include file='parts/deep/a.xml'/></worldbody></mujoco>")
    (folder / "parts" / "deep" / "a.xml").write_text("<mujocoinclude>\n<include file='../b.xml'/></mujocoinclude>")
    (folder / "parts" / "b.xml").write_text(PART.format("harmless"))
    (tmp_path / "b.xml").write_text(PART.format("secret"))
    with pytest.raises(bc.ModelError, match=r"a\.xml, line 2: the path .* leaves the model's folder"):
        bc.load(folder / "model.xml")


def test_addresses_are_never_fetched(tmp_path):
    (tmp_path / "m.xml").write_text("<mujoco>\n<asset><mesh file='https://example.org/a.stl'/></asset></mujoco>")
    with pytest.raises(bc.ModelError, match="is an address .https://., and nothing is fetched"):
        bc.load(tmp_path / "m.xml", allow_outside=True)


def test_a_bomb_in_an_included_file_is_found(tmp_path):
    (tmp_path / "part.xml").write_text(BOMB.replace("robot", "mujocoinclude"))
    (tmp_path / "model.xml").write_text("<mujoco><include file='part.xml'/></mujoco>")
    with pytest.raises(bc.ModelError, match=r"part\.xml, line 2: it declares a document type"):
        bc.load(tmp_path / "model.xml")


def test_files_that_include_each_other_come_to_an_end(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "a.xml").write_text("<mujocoinclude><include file='b.xml'/></mujocoinclude>")
    (tmp_path / "b.xml").write_text("<mujocoinclude><include file='a.xml'/></mujocoinclude>")
    (tmp_path / "model.xml").write_text("<mujoco><include file='a.xml'/></mujoco>")
    with pytest.raises(bc.ModelError):
        bc.load(tmp_path / "model.xml")


def test_too_many_included_files_are_refused(tmp_path):
    (tmp_path / "a.xml").write_text("<mujocoinclude/>")
    includes = "<include file='a.xml'/>" * 300
    (tmp_path / "model.xml").write_text(f"<mujoco>{includes}</mujoco>")
    with pytest.raises(bc.ModelError, match="more than 200 files are included"):
        bc.load(tmp_path / "model.xml")


@pytest.mark.parametrize("ending", ["urdf", "xml", "toml", "txt", ""])
def test_the_format_is_told_from_the_content(tmp_path, ending):
    pytest.importorskip("yourdfpy")
    file = tmp_path / f"robot{'.' if ending else ''}{ending}"
    file.write_text(chain())
    assert bc.load(file).joint_names == ("hinge",)


def test_utf16_and_blank_lines_do_no_harm(tmp_path):
    pytest.importorskip("yourdfpy")
    file = tmp_path / "robot.urdf"
    file.write_bytes(chain(head='<?xml version="1.0" encoding="utf-16"?>\n<robot name="chain">').encode("utf-16"))
    assert bc.load(file).name == "chain"
    file.write_bytes(b"\n\n" + chain(head='<?xml version="1.0"?>\n<robot name="chain">').encode())
    assert bc.load(file).name == "chain"


def test_a_broken_line_below_blank_ones_is_counted_from_the_top():
    with pytest.raises(bc.ModelError, match="line 4: not XML"):
        bc.load("\n\n<robot>\n</robbot>")


ATTACHING = """<mujoco><asset><model name="s" file="sub.xml"/></asset><worldbody><body name="m"><joint/><geom size=".1"/>
<frame><attach model="s" body="sb" prefix="p_"/></frame></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (
            '<!DOCTYPE mujoco [<!ENTITY a "b">]><mujoco><worldbody><body name="sb"/></worldbody></mujoco>',
            "declares a document type",
        ),
        (
            '<mujoco><asset><mesh name="x" file="../../out.obj"/></asset><worldbody><body name="sb"/></worldbody></mujoco>',
            "leaves",
        ),
    ],
)
def test_attached_models_are_looked_at_too(tmp_path, inner, message):
    (tmp_path / "top.xml").write_text(ATTACHING)
    (tmp_path / "sub.xml").write_text(inner)
    with pytest.raises(bc.ModelError, match=message) as caught:
        bc.load(tmp_path / "top.xml")
    assert "encoding" not in str(caught.value)
