"""Whatever is wrong with a file before its first key is read, the error names the file and the way out."""

import os
from pathlib import Path

import pytest

from bellcrank.errors import ModelError
from bellcrank.io import files as files_module
from bellcrank.io import gallery, load

GOOD = (
    'format = 1\n[bodies.bob]\npoint_mass = { at = [0, 0, -1], mass = 1 }\n[joints.hinge]\ntype = "revolute"\n'
    'parent = "ground"\nchild = "bob"\npoint = [0, 0, 0]\naxis = "y"\n'
)


def test_a_file_is_read_by_its_path_as_text_or_as_path(tmp_path):
    file = tmp_path / "pendulum.toml"
    file.write_text(GOOD)
    assert load(file).body_names == load(str(file)).body_names == load(GOOD).body_names == ("bob",)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path):
    file = tmp_path / "pendulum.TOML"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load(file).joint_names == ("hinge",)


def test_every_gallery_model_loads_by_name():
    assert {"pendulum", "double_pendulum", "heavy_top", "crane"} <= set(gallery())
    for name in gallery():
        model = load(name)
        assert model.duration and model.step


def test_a_file_without_ending_is_not_mistaken_for_the_gallery(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pendulum").write_text(GOOD)
    assert load("pendulum").body_names == ("bob",)
    Path("pendulum").write_text("not a model")
    with pytest.raises(ModelError, match="pendulum: this kind of file is not read"):
        load("pendulum")


def test_an_unknown_name_lists_the_gallery():
    with pytest.raises(ModelError, match="perpetuum: there is no such file, nor a model .* pendulum"):
        load("perpetuum")


def test_without_a_gallery_folder_there_is_no_gallery(monkeypatch, tmp_path):
    monkeypatch.setattr("bellcrank.io.shipped.FOLDERS", (tmp_path / "none",))
    assert gallery() == {}


def test_a_missing_file_suggests_a_similar_name(tmp_path):
    (tmp_path / "fourbar.toml").write_text(GOOD)
    with pytest.raises(ModelError, match=r"fourbr\.toml: there is no such file\. Did you mean fourbar\.toml\?"):
        load(tmp_path / "fourbr.toml")


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(ModelError, match=r"there is no such file\. There is no folder .*nowhere either"):
        load(tmp_path / "nowhere" / "model.toml")


def test_a_folder_is_not_a_model(tmp_path):
    with pytest.raises(ModelError, match="is a folder"):
        load(tmp_path)


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ModelError, match="not a regular file"):
        load(tmp_path / "pipe.toml")


def test_another_kind_of_file_says_what_is_read(tmp_path):
    (tmp_path / "robot.stl").write_text("solid robot")
    with pytest.raises(ModelError, match=r"robot\.stl: this kind of file is not read\. .*TOML.*MJCF.*URDF"):
        load(tmp_path / "robot.stl")


def test_a_file_that_cannot_be_opened_says_why(tmp_path, monkeypatch):
    file = tmp_path / "locked.toml"
    file.write_text(GOOD)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ModelError, match=r"locked\.toml cannot be read: Permission denied"):
        load(file)


def test_a_huge_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files_module, "MAX_BYTES", 100)
    file = tmp_path / "huge.toml"
    file.write_text(GOOD)
    with pytest.raises(ModelError, match=r"huge\.toml is larger than"):
        load(file)


def test_text_that_is_not_utf8_gives_the_line(tmp_path):
    file = tmp_path / "latin.toml"
    file.write_bytes(b"format = 1\n# \xe9t\xe9\n")
    with pytest.raises(ModelError, match=r"latin\.toml, line 2: byte 0xe9 is not UTF-8"):
        load(file)


@pytest.mark.parametrize("source", [None, 3, b"models/pendulum.toml"])
def test_load_wants_a_path_or_a_text(source):
    with pytest.raises(ModelError, match="load takes a path or the text"):
        load(source)


@pytest.mark.parametrize("source", ["", "nul\0.toml", "x" * 5000 + ".toml"])
def test_odd_paths_are_errors_too(source):
    with pytest.raises(ModelError):
        load(source)
