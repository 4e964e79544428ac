"""The scripts of docs/papers in their short form: what the pages claim, with fewer seconds."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "papers"


def made(name, out):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.main(True, out)
    assert (out / f"{name}.png").stat().st_size > 5000
    return found


def test_kang_and_yoon(tmp_path):
    """The paper's counts appear, and the four basic constraints hold in a run."""
    found = made("kang_yoon", tmp_path)
    assert found["dense"] == {(1, 0): 42, (1, 5): 72, (3, 9): 108}
    car = {point: count.total for point, count in found["folded"]["car"].items()}
    assert car["joint"] < car["origin"] < car["centroid"]
    assert max(found["closures"].values()) < 1e-14


def test_critchley_and_anderson(tmp_path):
    """RCR fails at the start, the others move as compiled code does; momenta open the loop least; costs per bar level off."""
    found = made("critchley_anderson", tmp_path)
    runs = found["runs"]
    assert runs["RCR"]["until"] == 0.0
    others = [run for name, run in runs.items() if name != "RCR"]
    assert all(run["until"] == pytest.approx(0.1) and run["off"] < 1e-7 for run in others)
    long, brief = ({name: error.max() for name, (_, error) in found["drift"][h].items()} for h in (0.005, 0.001))
    assert long["canonical_momenta"] < 0.5 * long["multipliers"]
    assert long["coordinate_reduction"] == pytest.approx(long["multipliers"], rel=0.01)
    assert brief["multipliers"] < 0.01 * long["multipliers"]  # a fifth of the step, of order four
    loops, bars = found["growth"]["loops"], found["growth"]["bars"]
    assert loops[4][0] / loops[2][0] < 2.4 < 4.0 < loops[4][1] / loops[2][1]
    assert bars[16][0] - bars[8][0] == 8 * 224


def test_naudet(tmp_path):
    """Momenta move as velocities do, trees, loops and prescribed motions; lambda = -d(sigma)/dt; loops drift less."""
    found = made("naudet", tmp_path)
    assert found["table"]["Naudet", "momenta"] == "363n-475" and found["table"]["canonical_momenta:joint", ""] == "342n-515"
    assert max(found["runs"].values()) < 1e-9
    assert found["impulses"]["off"] < 5e-4
    rates = {name: rate.max() for name, (_, _, rate) in found["drift"].items()}
    assert rates["canonical_momenta"] < 1e-12 < 1e-9 < rates["coordinate_reduction"]


def test_huang(tmp_path):
    """First order, and ringing in every step; the determinant of (39) is 41; no singular position of the platform."""
    found = made("huang", tmp_path)
    assert found["pendulum"]["reaction_taylor"]["order"] == pytest.approx(1, abs=0.1)
    assert found["pendulum"]["rattle"]["order"] == pytest.approx(2, abs=0.1)
    assert found["pendulum"]["det"] == pytest.approx(41)
    assert found["ringing"]["flips False"] == 1.0 and np.abs(found["ringing"][True][1:]).max() < 1e-12
    assert found["stewart"]["disc (2.5, 2.5, 5)"]["least"] > 0.1 and found["stewart"]["off"][0.02] < 1e-4
