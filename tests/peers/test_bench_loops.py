"""The benchmarks of closed loops run: their figures are not judged here, only that engines agree and that there are some."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")
BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(autouse=True)
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__).parent == BENCH:
            del sys.modules[name]


@pytest.mark.parametrize("family", ["N-four-bar", "ladder", "spatial ladder"])
def test_every_engine_but_the_soft_one_gives_the_accelerations_of_the_dense_equations(family):
    import loops

    found = loops.compete(family, (1, 2), seconds=0.02)
    for wrong in found["errors"].values():
        own = [x for name, x in wrong.items() if name.startswith(("multipliers", "coordinate_reduction"))]
        assert len(own) >= 2 and max(own) < 1e-13
        assert wrong["constraintDynamics"] < 1e-12 and wrong["LCABA, mu 1e-4"] < 1e-9
    assert all(t > 0 for row in found["us"].values() for t in row.values())


def test_a_hinge_that_closes_a_spatial_loop_has_no_counterpart():
    import loop_peers

    from bellcrank.model import generators

    closed = generators.ladder(1)
    from dataclasses import replace

    model = replace(generators.spatial_ladder(1), closures=closed.closures)
    with pytest.raises(ValueError, match="no conversion of a revolute closure"):
        list(loop_peers.held_points(model))


@pytest.mark.parametrize("engine", ["Pinocchio", "to_mujoco"])
def test_joints_without_a_counterpart_are_refused(engine):
    import loop_peers

    from bellcrank.model import generators

    with pytest.raises(ValueError, match="no conversion of a prismatic joint"):
        getattr(loop_peers, engine)(generators.chain(2, kind="prismatic"))


def test_the_crossover_is_between_the_sizes_where_the_order_changes():
    from loop_report import crossover

    times = {1: {"a": 1.0, "b": 4.0}, 4: {"a": 4.0, "b": 1.0}}
    assert crossover(times, "a", "b") == pytest.approx(2)  # by symmetry, on logarithmic axes
    assert crossover(times, "b", "a") is None
    assert crossover({1: {"a": 2.0, "b": 1.0}}, "a", "b") == 1


def test_general_data_take_more_operations_than_the_quarter_car_itself():
    import quarter_car

    import bellcrank as bc

    rows = quarter_car.counts(bc.load(quarter_car.MODEL))
    whole = {row["data"]: row for row in rows if row["part"] == "evaluation"}
    for point in ("centroid", "joint", "origin"):
        assert whole["general"][f"{point} *"] > whole["as modelled"][f"{point} *"]


def test_mujoco_opens_the_four_bar_and_keeps_it_closer_when_stiff(monkeypatch):
    import loop_run

    import bellcrank as bc

    monkeypatch.setattr(loop_run, "DURATION", 0.5)
    model = bc.load(loop_run.MODEL)
    (own, *_) = loop_run.ours(model)
    soft, hard = (loop_run.in_mujoco(model, stiff, 1e-3) for stiff in (False, True))
    assert own["loop"] < 1e-12 < hard["loop"] < soft["loop"]
    assert own["of kinetic"] < 1e-6


def test_exudyn_starts_from_the_velocities_of_the_centroids():
    """Kinetic energy from centroids is that of the joint coordinates."""
    import loop_run

    import bellcrank as bc

    model = bc.load(loop_run.MODEL)
    _, rate = loop_run.centroids(model)
    kinetic = (model.mass * (rate[:, :2] ** 2).sum(1) + model.inertia[:, 2, 2] * rate[:, 2] ** 2).sum() / 2
    expected, _ = bc.compile(model).energy(*loop_run.start(model))
    np.testing.assert_allclose(kinetic, expected, rtol=1e-12)


def test_a_start_away_from_the_design_position_is_refused(monkeypatch):
    import loop_run

    import bellcrank as bc

    monkeypatch.setattr(loop_run, "start", lambda model: (np.ones(model.nq), np.zeros(model.nv)))
    with pytest.raises(ValueError, match="does not start in its design position"):
        loop_run.centroids(bc.load(loop_run.MODEL))
