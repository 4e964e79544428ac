"""What a user of ``bellcrank convert`` and ``compare`` sees."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main

ARM = """<mujoco model="arm"><option><flag contact="disable"/></option><worldbody>
<body name="a"><joint name="j" axis="0 1 0" range="-1 1"/><geom size=".1" pos="1 0 0"/></body></worldbody>
<keyframe><key name="up" qpos="0.3"/><key name="down" qpos="-0.3"/></keyframe></mujoco>"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.xml").write_text(ARM)
    return lambda *words: CliRunner().invoke(main, words)


def test_convert_writes_the_other_format(run):
    result = run("convert", "arm.xml", "arm.toml")
    assert result.exit_code == 0 and "arm.toml: arm, 1 body, 1 coordinate" in result.output
    assert 'not simulated: limits of the joints "j"' in result.output
    assert bc.load("arm.toml").joint_names == ("j",)


def test_convert_passes_its_options_on(run):
    assert run("convert", "arm.xml", "arm.toml", "--keyframe", "down").exit_code == 0
    assert bc.load("arm.toml").initial_q.tolist() == [-0.3]
    assert run("convert", "arm.xml", "arm.toml", "--keep").exit_code == 2
    assert run("convert", "arm.xml", "arm.toml").exit_code == 0
    assert bc.load("arm.toml").initial_q.tolist() == [0.3]
    result = run("convert", "arm.xml", "other.toml", "--base", "free")
    assert result.exit_code == 2 and "not an option of MJCF files" in result.output


def test_convert_says_what_cannot_be_said(run):
    result = run("convert", "crane", "crane.xml")
    assert result.exit_code == 2 and '"buffers", a stop' in result.output
    result = run("convert", "crane", "crane.xml", "--partial")
    assert result.exit_code == 0 and "crane.xml does not contain" in result.output


def test_compare_prints_a_table(run):
    result = run("compare", "pendulum", "--states", "2", "--duration", "0.01", "--no-peers")
    assert result.exit_code == 0 and "articulated_body" in result.output


def test_compare_prints_json(run):
    result = run("compare", "pendulum", "--states", "2", "--duration", "0.01", "--no-peers", "--json")
    assert json.loads(result.stdout)["rows"][0]["agreement"] == 0


def test_compare_reports_errors(run):
    assert run("compare", "pendulum", "--states", "0").exit_code == 2
