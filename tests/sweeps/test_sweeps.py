"""Sweeps: every row is the run of its design, and the store is the same however it came about."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.errors import SimulationError, StateError, StudyError
from bellcrank.studies.study.variations import Bounds, Listed, Normal, Uniform
from bellcrank.studies.sweeps.points import points_of
from bellcrank.studies.sweeps.statistics import saltelli_indices

PARAMETERS = {"upper.mass": (12.0, 17.0), "initial.elbow.q.0": (-1.5, 1.5)}
OUTPUTS = {"fastest": "max(abs(elbow.v))", "left": "energy.total@end", "turned": "rms(elbow.q)", "angle": "elbow.q"}

SCRIPT = """
import sys, bellcrank as bc
from tests.sweeps.test_sweeps import OUTPUTS, PARAMETERS
bc.sweep(bc.load("double_pendulum"), PARAMETERS, OUTPUTS, 0.2, step=0.05, runs=1500, seed=3, store=sys.argv[1], chunk=64,
         progress=lambda at: print(at.done, flush=True))
"""


@pytest.fixture(scope="module")
def pendulum():
    return bc.load("double_pendulum")


def swept(model, store=None, **options):
    options = {"runs": 150, "seed": 3, "step": 0.05} | options
    return bc.sweep(model, PARAMETERS, OUTPUTS, 0.2, store=store, **options)


def same(one, other):
    for name in (*one.parameters, *one.outputs):
        np.testing.assert_array_equal(one.values(name), other.values(name))


def test_each_row_is_the_run_of_its_design(pendulum):
    """Runs alone take other steps: tolerances of 1e-9; the parabola of the largest value is off by the fourth power of 50 ms."""
    found = swept(pendulum)
    assert len(found) == 150 and found.complete and (found.status == 0).all() and not found.reasons
    for k in (0, 77, 149):
        own = pendulum.with_parameters({name: float(found.values(name)[k]) for name in found.parameters})
        alone = bc.simulate(own, 0.2, step=0.05)
        angle = alone.measure("elbow.q").values[:, 0]
        np.testing.assert_allclose(found.values("angle")[k], angle, atol=1e-8)
        energy = float(alone.energy.potential[-1] + alone.energy.kinetic[-1])
        assert found.values("left")[k] == pytest.approx(energy, abs=1e-6)
        exact = bc.sensitivity(own, ["upper.mass"], ["rms(elbow.q)", "max(abs(elbow.v))"], 0.2, step=0.05)
        assert found.values("turned")[k] == pytest.approx(float(exact.value("rms(elbow.q)")), abs=1e-8)
        assert found.values("fastest")[k] == pytest.approx(float(exact.value("max(abs(elbow.v))")), rel=1e-4)
        np.testing.assert_allclose(found.run(k).measure("elbow.q").values[:, 0], angle, atol=1e-12)


def test_integrals_are_cut_where_a_force_switches():
    """At 0.333 s and 0.75 s, between samples of 0.1 s; Gauss' rule across the jumps is off by some percent."""
    m = bc.Mechanism("pushed", gravity=(0, 0, 0))
    m.sphere("block", (0, 0, 0), 0.1, mass=2.0)
    m.joint("slide", "prismatic", "ground", "block", point=(0, 0, 0), axis="x")
    m.motor("thrust", "slide", "=if(t < 0.333 or t > 0.75, 0, 12)")
    found = bc.sweep(m.build(), {"block.mass": [2.0, 3.0]}, ["integral(slide.a)", "rms(slide.a)"], 1.0, step=0.1)
    np.testing.assert_allclose(found.values("integral(slide.a)"), 12 * 0.417 / np.array([2.0, 3.0]), rtol=1e-12)
    np.testing.assert_allclose(found.values("rms(slide.a)"), 12 * np.sqrt(0.417) / np.array([2.0, 3.0]), rtol=1e-12)


def test_the_store_does_not_depend_on_chunks_threads_or_restarts(pendulum, tmp_path, monkeypatch):
    whole = swept(pendulum)
    monkeypatch.setenv("BELLCRANK_THREADS", "1")
    same(whole, swept(pendulum, chunk=64))
    store, stopped = tmp_path / "broken.zarr", []

    def stop(at):
        stopped.append(at.done)
        raise KeyboardInterrupt

    with pytest.raises(SimulationError, match="64 of 150 runs were finished"):
        swept(pendulum, store, chunk=64, progress=stop)
    same(whole, swept(pendulum, store, progress=lambda at: stopped.append(at.done)))
    assert stopped == [64, 128, 150]  # nothing was computed twice


def test_a_killed_sweep_goes_on_to_the_same_numbers(pendulum, tmp_path):
    """kill -9 after some of the chunks: what was finished stays, the rest follows, bit for bit."""
    store = tmp_path / "killed.zarr"
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), str(Path(bc.__file__).parents[1])])
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(store)], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    left = bc.load_sweep(store)
    finished = left.store.finished()
    assert 3 <= finished.sum() < len(finished) and not left.complete
    done = []
    options = {"runs": 1500, "chunk": 64}
    on = swept(pendulum, store, progress=lambda at: done.append(at.done), **options)
    assert len(done) == (~finished).sum()
    same(on, swept(pendulum, runs=1500))


def test_a_run_that_fails_is_a_row_with_its_reason(pendulum):
    found = bc.sweep(pendulum, {"upper.mass": [1.0, -1.0, 2.0]}, ["elbow.q@end"], 0.1)
    assert found.status.tolist() == [0, 5, 0] and list(found.reasons) == [1] and "mass" in found.reasons[1]
    assert np.isnan(found.values("elbow.q@end")[1]) and np.isfinite(found.values("elbow.q@end")[[0, 2]]).all()
    assert "1 of them failed" in found.summary() and found.as_dict()["failed"] == 1


def test_a_value_is_the_same_whatever_else_is_asked_for(pendulum):
    """An output at the end looks at no other sample, and its runs keep none. In Zarr a backslash would begin a folder."""
    given = pendulum, {"upper.mass": (12.0, 17.0)}
    few = bc.sweep(*given, {"at\\end": "elbow.v@end", "mean": "mean(elbow.v)"}, 0.2, runs=9, step=0.05)
    many = bc.sweep(*given, ["elbow.v@end", "mean(elbow.v)", "max(elbow.v)"], 0.2, runs=9, step=0.05, trajectories=True)
    np.testing.assert_array_equal(few.values("at\\end"), many.values("elbow.v@end"))
    np.testing.assert_array_equal(few.values("at\\end"), many.values("v")[:, -1, 1])
    np.testing.assert_array_equal(few.values("mean"), many.values("mean(elbow.v)"))


def test_steps_of_a_fixed_length_are_the_same_whatever_is_looked_at():
    """Samples that no output is taken from are passed, not written; times stay those of the grid, in laws of time too."""
    m = bc.Mechanism("shaken", gravity=(0, 0, 0))
    m.sphere("block", (0, 0, 0), 0.1, mass=2.0)
    m.joint("slide", "prismatic", "ground", "block", point=(0, 0, 0), axis="x")
    m.motor("thrust", "slide", "=12*sin(37*t)")
    given = m.build(), {"block.mass": [2.0, 3.0, 4.0]}
    fixed = {"duration": 0.7, "step": 0.1, "method": "rk4", "max_step": 0.03}
    few = bc.sweep(*given, ["slide.q@end", "slide.v@t=0.3"], **fixed)
    many = bc.sweep(*given, ["slide.q@end", "slide.v@t=0.3", "max(slide.v)", "slide.q"], trajectories=True, **fixed)
    assert few.values("slide.q@end").all()
    for name in few.outputs:
        np.testing.assert_array_equal(few.values(name), many.values(name))
    np.testing.assert_array_equal(few.values("slide.v@t=0.3"), many.values("v")[:, 3, 0])
    alone = bc.simulate_many(given[0], parameters={"block.mass": [2.0, 3.0, 4.0]}, **fixed)
    np.testing.assert_array_equal(few.values("slide.q@end"), alone.q_values[:, -1, 0])


def test_worst_runs_are_none_that_failed_and_a_summary_counts_what_is_not_finished(pendulum, tmp_path):
    found = bc.sweep(pendulum, {"upper.mass": [1.0, -1.0, 2.0]}, ["elbow.q@end"], 0.1, store=tmp_path / "store")
    for smallest in (False, True):
        assert sorted(found.worst("elbow.q@end", smallest=smallest).run.values) == [0, 2]
    (tmp_path / "store" / "status" / "c" / "0").unlink()
    assert "3 runs, 0 of them failed, and 3 are not finished" in bc.load_sweep(tmp_path / "store").summary()


def test_trajectories_may_be_kept_without_any_output(pendulum):
    found = bc.sweep(pendulum, {"upper.mass": [12.0, 17.0]}, duration=0.1, step=0.05, trajectories=True)
    alone = bc.simulate(found.model(1), 0.1, step=0.05)
    np.testing.assert_allclose(found.values("q")[1], alone.values("q"), atol=1e-8)
    assert (
        found.as_dict()["arrived"] == 2 and found.statistics().sizes["output"] == 0 and "2 runs, 0 of them" in found.summary()
    )


def test_loops_are_assembled_for_every_design():
    model = bc.load("four_bar")
    lengths = [0.45, 0.5, 40.0, 0.55]
    found = bc.sweep(model, {"parameters.crank_length": lengths}, ["crank_pivot.q@end", "crank_pivot.fx@end"], 0.1, step=0.05)
    assert list(found.reasons) == [2]
    alone = bc.simulate(model.with_parameters({"parameters.crank_length": 0.45}), 0.1, step=0.05)
    assert found.values("crank_pivot.q@end")[0] == pytest.approx(float(alone.measure("crank_pivot.q")[-1, 0]), abs=1e-7)
    assert found.values("crank_pivot.fx@end")[0] == pytest.approx(float(alone.measure("crank_pivot.fx")[-1, 0]), rel=1e-5)


def test_works_and_trajectories_of_loops_are_those_of_each_design():
    """The work of friction is the integral of its power: what bodies and springs lose. The piston does not turn round yet."""
    model = bc.load("slider_crank")
    spread = {"rings.effort": [1.0, 3.0], "gas.stiffness": [1e3, 2e3]}
    crank = model.joint_names[0]
    outputs = {"rings": "integral(rings.power)", "angle": f"{crank}.q@end", "speed": f"{crank}.v"}
    found = bc.sweep(model, spread, outputs, 0.06, design="list", step=0.005, trajectories=True)
    assert (found.status == 0).all() and found.task.in_lanes
    for k in range(2):
        alone = bc.simulate(found.model(k), 0.06, step=0.005)
        np.testing.assert_allclose(found.values("q")[k], alone.values("q"), atol=1e-7)
        np.testing.assert_allclose(found.values("v")[k], alone.values("v"), atol=1e-5)
        np.testing.assert_array_equal(found.values("speed")[k], found.values("v")[k][:, 0])
        assert found.values("angle")[k] == found.values("q")[k][-1, 0]
        total = np.asarray(alone.energy.total)
        assert found.values("rings")[k] == pytest.approx(total[-1] - total[0], rel=1e-6)


def test_the_command_prints_writes_draws_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = tmp_path / "swing.toml"
    study.write_text(
        """
        format = 1
        name = "swing"
        model = "double_pendulum"
        duration = 0.2
        [run]
        step = 0.05
        [parameters]
        "upper.mass" = { min = 12.0, max = 17.0 }
        "initial.elbow.q.0" = { min = -1.5, max = 1.5 }
        [outputs]
        fastest = "max(abs(elbow.v))"
        [sweep]
        design = "sobol"
        runs = 150
        seed = 3
        """
    )
    done = CliRunner().invoke(main, ["sweep", str(study), "--chunk", "64", "--plot", "swing.png", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["runs"], told["arrived"]) == (150, 150) and (tmp_path / "swing.png").stat().st_size > 5000
    found = bc.load_sweep("swing.zarr", study)
    assert told["outputs"]["fastest"]["max"] == found.values("fastest").max()
    (tmp_path / "swing.zarr" / "status" / "c" / "1").unlink()
    again = CliRunner().invoke(main, ["sweep", str(study)])
    assert again.exit_code == 0 and "150 runs, 0 of them failed" in again.output
    refused = CliRunner().invoke(main, ["sweep", str(study), "--runs", "151"])
    assert refused.exit_code == 2 and "holds another sweep" in refused.output


def test_events_are_found_run_by_run(tmp_path):
    """Free fall from a height h onto a plane: after sqrt(2 h/g)."""
    text = """
        format = 1
        name = "fall"
        [gravity]
        z = -10.0
        [bodies.stone]
        sphere = { center = [0, 0, 0], radius = 0.1, mass = 1 }
        [joints.fall]
        type = "prismatic"
        parent = "ground"
        child = "stone"
        point = [0, 0, 0]
        axis = "z"
        """
    model = tmp_path / "fall.toml"
    model.write_text(text.replace("[gravity]\n        z = -10.0", "gravity = [0, 0, -10]"))
    study = tmp_path / "study.toml"
    study.write_text(
        """
        format = 1
        model = "fall.toml"
        duration = 1.0
        [run]
        q = { fall = 2.0 }
        [parameters]
        "gravity.z" = { values = [-5.0, -10.0, -0.1] }
        [events.landing]
        of = "fall.q"
        [outputs]
        when = "landing.time"
        speed = "fall.v@landing"
        """
    )
    found = bc.sweep(study)
    np.testing.assert_allclose(found.values("when")[:2], np.sqrt(4.0 / np.array([5.0, 10.0])), rtol=1e-8)
    np.testing.assert_allclose(found.values("speed")[:2], -np.sqrt(4.0 * np.array([5.0, 10.0])), rtol=1e-8)
    assert "does not happen" in found.reasons[2]


def test_cases_follow_each_other_for_every_design(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(
        """
        format = 1
        model = "double_pendulum"
        duration = 0.1
        [parameters]
        "upper.mass" = { from = 10, to = 14, count = 3 }
        [cases.earth]
        [cases.moon]
        set = { "gravity.y" = -1.62 }
        [outputs]
        v = "elbow.v@end"
        """
    )
    found = bc.sweep(study, chunk=64)
    model = bc.load("double_pendulum").with_parameters({"upper.mass": 12.0, "gravity.y": -1.62})
    assert len(found) == 6
    assert found.values("v")[3] == pytest.approx(float(bc.simulate(model, 0.1).measure("elbow.v")[-1, 0]), abs=1e-7)


def test_starts_that_cases_name_take_the_place_of_the_designs(tmp_path):
    """Each case names other coordinates; what it does not name is the design's own, a parameter here."""
    study = tmp_path / "study.toml"
    study.write_text(
        """
        format = 1
        model = "double_pendulum"
        duration = 0.1
        [parameters]
        "initial.shoulder.q.0" = { values = [-1.0, -0.5] }
        [cases.bent]
        q = { elbow = 0.5 }
        [cases.turning]
        v = { elbow = 1.0 }
        [cases.plain]
        [outputs]
        x = "elbow.q@end"
        """
    )
    found = bc.sweep(study)
    assert found.task.in_lanes and not found.reasons
    for k, start in enumerate(({"q": {"elbow": 0.5}}, {"v": {"elbow": 1.0}}, {}) * 2):
        alone = bc.simulate(found.model(k), 0.1, **start).measure("elbow.q").values[-1, 0]
        assert found.values("x")[k] == pytest.approx(alone, abs=1e-8)
        assert found.run(k).measure("elbow.q").values[-1, 0] == alone
    rows = bc.simulate_many(
        bc.load("double_pendulum"), 0.1, parameters={"initial.shoulder.q.0": [-1.0, -0.5]}, q={"elbow": 0.5}
    )
    np.testing.assert_allclose(rows.q_values[:, -1, 1], found.values("x")[[0, 3]], atol=1e-12)


def test_a_run_ends_at_an_event_that_no_output_names(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(
        """
        format = 1
        model = "double_pendulum"
        duration = 1.0
        [parameters]
        "upper.mass" = { values = [10.0] }
        [events.there]
        of = "elbow.q"
        value = 0.2
        then = "stop"
        [outputs]
        furthest = "max(elbow.q)"
        """
    )
    found = bc.sweep(study)
    assert found.values("furthest")[0] == pytest.approx(0.2, abs=1e-9)
    assert found.run(0).measure("elbow.q").values[-1, 0] == pytest.approx(0.2, abs=1e-9)


def test_friction_that_grows_with_its_load_is_found_run_by_run(tmp_path):
    """A heavy wheel on a dry axle: w falls by mu m g r t/J from the load of its own weight, J = m/2 a^2; m has no influence."""
    path = tmp_path / "wheel.toml"
    path.write_text(
        """
        format = 1
        gravity = [0, -10, 0]
        [bodies.wheel]
        cylinder = { from = [0, 0, -0.1], to = [0, 0, 0.1], radius = 0.5, mass = 2.0 }
        [joints.axle]
        type = "revolute"
        parent = "ground"
        child = "wheel"
        point = [0, 0, 0]
        axis = "z"
        [frictions.dry]
        joint = "axle"
        coefficient = 0.2
        radius = 0.1
        [initial]
        axle = { v = 5.0 }
        """
    )
    with pytest.warns(bc.BellcrankWarning, match="2 runs of the sweep gave warnings") as told:
        found = bc.sweep(bc.load(path), {"wheel.mass": [2.0, 4.0]}, ["axle.v@end"], 0.1)
    assert len(told) == 1 and not found.reasons and "found by iteration" in found.notes[1]
    np.testing.assert_allclose(found.values("axle.v@end"), 5.0 - 0.2 * 10 * 0.1 * 0.1 / 0.125, rtol=1e-6)


def test_names_of_outputs_may_have_any_letters_but_those_of_the_store(pendulum):
    found = bc.sweep(pendulum, {"upper.mass": [10.0]}, ["max(elbow.v/2)", "elbow.v/2@end"], 0.1)
    assert found.outputs == ("max(elbow.v/2)", "elbow.v/2@end") == tuple(found.dataset.data_vars)[:2]
    assert found.values("max(elbow.v/2)")[0] >= found.values("elbow.v/2@end")[0] > 0.1
    for name in ("status", "reached", "upper.mass", "parameter upper.mass", ".."):
        with pytest.raises(StudyError, match="for something else"):
            bc.sweep(pendulum, {"upper.mass": [10.0]}, {name: "elbow.v@end"}, 0.1)


# --- points


def test_points_are_the_same_in_whatever_parts_they_are_asked_for():
    spread = {"a": Uniform(1.0, 2.0), "b": Normal(0.5, mean=3.0), "c": Listed((1.0, 5.0)), "d": Bounds(-1.0, 1.0)}
    for kind in ("random", "latin_hypercube", "sobol", "saltelli"):
        points = points_of(kind, spread, [0.0] * 4, 1024, 7)
        whole = points.rows(0, points.count)
        parts = [points.rows(a, min(a + 300, points.count)) for a in range(0, points.count, 300)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
        assert whole.shape == (1024 * (6 if kind == "saltelli" else 1), 4)
        assert (whole[:, 0] >= 1).all() and (whole[:, 0] <= 2).all() and set(whole[:, 2]) == {1.0, 5.0}
        assert abs(whole[:, 1].mean() - 3.0) < 0.06 and abs(whole[:, 1].std() - 0.5) < 0.06


def test_a_latin_hypercube_has_one_point_in_each_slice():
    rows = points_of("latin_hypercube", {"a": Bounds(0.0, 1.0)}, [0.0], 50, 1).rows(0, 50)
    assert sorted((rows[:, 0] * 50).astype(int)) == list(range(50))


def test_a_distribution_that_is_cut_off_far_above_its_mean_keeps_its_digits():
    """Beyond a = 15 deviations, x - a is nearly exponential with the mean 1/a (1 - 1/a^2)."""
    u = (np.arange(1000) + 0.5) / 1000
    x = Normal(1.0, mean=0.0, min=15.0).quantile(u, 0.0)
    assert (np.diff(x) > 0).all() and x[0] > 15.0
    assert x.mean() - 15.0 == pytest.approx(1 / 15 * (1 - 1 / 225), rel=0.02)
    mirrored = Normal(1.0, mean=0.0, max=-15.0).quantile(u, 0.0)
    np.testing.assert_allclose(mirrored, -x[::-1], rtol=1e-12)


def test_grids_go_through_all_values():
    rows = points_of("grid", {"a": Listed((1.0, 2.0)), "b": Listed((5.0, 6.0, 7.0))}, [0.0, 0.0], None).rows(0, 6)
    assert rows.tolist() == [[1, 5], [1, 6], [1, 7], [2, 5], [2, 6], [2, 7]]
    assert points_of("list", {"a": Listed((1.0, 2.0)), "b": Listed((5.0, 6.0))}, [0, 0], None).rows(0, 2).tolist() == [
        [1, 5],
        [2, 6],
    ]


@pytest.mark.parametrize(
    ("kind", "spread", "runs", "words"),
    [
        ("cube", {"a": Listed((1.0,))}, None, "design is 'cube'"),
        ("grid", {}, None, "no parameters"),
        ("grid", {"a": Bounds(0.0, 1.0)}, None, 'needs values of "a"'),
        ("list", {"a": Listed((1.0,)), "b": Listed((1.0, 2.0))}, None, "as many values"),
        ("grid", {"a": Listed((1.0, 2.0))}, 5, "make 2"),
        ("sobol", {"a": Bounds(0.0)}, 8, "needs min and max"),
        ("sobol", {"a": Bounds(0.0, 1.0)}, None, "say how many"),
    ],
)
def test_designs_that_make_no_sense_are_refused(kind, spread, runs, words):
    with pytest.raises(StudyError, match=words):
        points_of(kind, spread, [0.0] * len(spread), runs)


# --- influences, pictures


def test_sobol_indices_of_a_sum_are_known():
    """Of 3 x + 4 y, x and y uniform, the variances are as 9 to 16."""
    a, b = np.random.default_rng(0).random((2, 4096, 2))
    mixed = [np.column_stack([b[:, 0], a[:, 1]]), np.column_stack([a[:, 0], b[:, 1]])]
    values = np.concatenate([3 * x[:, 0] + 4 * x[:, 1] for x in (a, b, *mixed)])
    indices = saltelli_indices(values, ("x", "y"), 0, 50)
    np.testing.assert_allclose(indices.first, [9 / 25, 16 / 25], atol=0.05)
    np.testing.assert_allclose(indices.total, [9 / 25, 16 / 25], atol=0.05)
    assert (indices.first_error < 0.1).all() and "total" in str(indices)


def test_pictures_and_statistics(pendulum, tmp_path):
    found = swept(pendulum, design="saltelli", runs=16)
    for kind in ("scatter", "parallel"):
        found.plot(tmp_path / f"{kind}.png", kind=kind)
        assert (tmp_path / f"{kind}.png").stat().st_size > 5000
    table, values = found.statistics(), found.values("left")
    assert float(table["mean"].sel(output="left")) == pytest.approx(values.mean())
    worst = found.worst("fastest", 2)
    assert worst["fastest"].values[0] == found.values("fastest").max()
    assert found.sobol_indices("fastest", resamples=5).parameters == tuple(PARAMETERS)
    assert json.dumps(found.as_dict())
    again = bc.load_sweep(found.path)
    assert "4 of" not in repr(again) or again.complete
    with pytest.raises(StateError, match="where the study is known"):
        again.run(0)
    with pytest.raises(StateError, match="there is no run 999"):
        found.run(999)
    for run in (1.5, "a", -1):
        with pytest.raises(StateError, match="there is no run"):
            found.model(run)
    assert len(found.worst("fastest", 9**9).run) == len(found)
    for count in (0, "a"):
        with pytest.raises(StateError, match="say how many runs, 1 or more"):
            found.worst("fastest", count)
    for quantile in (2.0, "a", float("nan")):
        with pytest.raises(StateError, match="quantiles are numbers from 0 to 1"):
            found.statistics([quantile])
    for ask in (found.unit, found.values, lambda name: found.plot(outputs=[name])):
        with pytest.raises(StateError, match="has no 'q'"):
            ask("q")
    with pytest.raises(StateError, match="is a curve"):
        found.worst("angle")
    with pytest.raises(StateError, match="kind is 'pie'"):
        found.plot(kind="pie")
    with pytest.raises(StateError, match="has no 'none'"):
        found.values("none")
