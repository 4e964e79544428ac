"""The benchmark runs: its figures are not judged here, only that there are some."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")
BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def trees(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import trees

    yield trees
    for name in ("trees", "contestants", "timing"):
        sys.modules.pop(name, None)


def test_all_engines_agree_and_are_timed(trees):
    from bellcrank.model import generators

    entry = trees.engines(generators.chain(3))
    assert set(entry["errors"]) == {"Pinocchio", "MuJoCo"} and max(entry["errors"].values()) < 1e-12
    assert all(seconds > 0 for seconds in trees.race(entry["calls"], seconds=0.02).values())


def test_runs_are_timed_beside_scipy(trees):
    assert [row["n"] for row in trees.runs(sizes=(2,))] == [2, 2]
