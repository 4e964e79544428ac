"""The store of a sweep is the same, bit for bit, however its runs were divided: into chunks, among threads, by restarts.

A mechanism of each kind that runs take another way for. 130 runs fill two chunks of 64, and two are left over: they share their
lanes with nobody. Nothing here has a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.studies.output_names import parsed
from bellcrank.studies.study.spec import Case, RunOptions, Study, Watched
from bellcrank.studies.study.variations import Bounds, Lognormal
from bellcrank.studies.sweeps.values import samples_only, taken_of
from tests.blocks import FLOATING, block

BLOCK_ON_A_BELT = block(
    '[springs.coil]\njoint = "slide"\nstiffness = 200.0',
    '[frictions.belt]\njoint = "slide"\neffort = 5.0\nstiffness = 2e4\ndamping = 50.0',
    '[states.slid]\nrate = "=slide.v**2"',
    "[initial]\nslide = { q = 0.1 }",
    mass=2.0,
)
BLOCK_ON_A_CREEPING_SPRING = block(
    '[springs.coil]\njoint = "slide"\nstiffness = 100.0',
    '[dampers.oil]\njoint = "slide"\ndamping = 1.0',
    "[initial]\nslide = { q = 0.1 }",
    top=FLOATING,
)


@dataclass(frozen=True)
class Sweep:
    """``failing``: whether some of the runs fail. ``in_lanes``: whether runs go through lanes, or one at a time."""

    model: str
    parameters: dict[str, Any]
    outputs: dict[str, str]
    duration: float
    options: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)
    trajectories: bool = True
    failing: bool = False
    in_lanes: bool = True
    runs: int = 130

    @property
    def study(self) -> Study:
        run = RunOptions(**{"step": self.duration / 6} | self.options)
        given = {"run": run, "duration": self.duration, "outputs": self.outputs} | self.others
        return Study(bc.load(self.model), self.parameters, **given)

    def __call__(self, **where):
        runs = self.runs // len(self.others.get("cases", [1]))
        return bc.sweep(self.study, design="sobol", runs=runs, seed=5, trajectories=self.trajectories, **where)


CRANK = {"parameters.crank_length": Bounds(0.4, 0.6)}
SWEEPS = {
    "integrals of a tree": Sweep(
        "double_pendulum",
        {"upper.mass": Bounds(12.0, 17.0), "initial.elbow.q.0": Bounds(-1.5, 1.5)},
        {
            "rms": "rms(elbow.q)",
            "integral": "integral(shoulder.v*elbow.v)",
            "mean": "mean(elbow.a)",
            "max": "max(abs(elbow.v))",
        },
        0.2,
        trajectories=False,
    ),
    "a closed loop": Sweep("four_bar", CRANK, {"rms": "rms(crank_pivot.v)", "most": "max(crank_pivot.a)"}, 0.1),
    "a loop that does not close for every length": Sweep(
        "four_bar", {"parameters.crank_length": Bounds(0.4, 6.5)}, {"rms": "rms(crank_pivot.v)"}, 0.05, failing=True
    ),
    "three loops, with reactions": Sweep(
        "quarter_car",
        {"strut.stiffness": Bounds(2e4, 6e4), "upper_rear_outer.z": Bounds(0.48, 0.52)},
        {"wheel": "rms(wheel.z)", "most": "max(arm_hinge.fz)", "length": "strut_length"},
        0.06,
    ),
    "steps of a fixed length": Sweep(
        "double_pendulum",
        {"upper.mass": Bounds(12.0, 17.0)},
        {"rms": "rms(elbow.q)", "integral": "integral(elbow.v)"},
        0.12,
        {"method": "rk4", "max_step": 0.01},
    ),
    "steps of a fixed length, around a loop": Sweep(
        "four_bar", CRANK, {"rms": "rms(crank_pivot.v)"}, 0.06, {"method": "rk4", "max_step": 0.005}
    ),
    "some runs are stiff": Sweep(
        BLOCK_ON_A_CREEPING_SPRING,
        {"oil.damping": Lognormal(4.0, median=300.0)},
        {"rms": "rms(slide)"},
        2.0,
        {"tolerance": 1e-6},
    ),
    "some runs take too many steps": Sweep(
        BLOCK_ON_A_CREEPING_SPRING,
        {"coil.stiffness": Lognormal(4.0, median=1e5)},
        {"rms": "rms(slide)"},
        0.5,
        {"tolerance": 1e-6, "max_steps": 400},
        failing=True,
    ),
    "friction that holds, and a state": Sweep(
        BLOCK_ON_A_BELT,
        {"belt.effort": Bounds(1.0, 15.0), "block.mass": Bounds(1.0, 3.0)},
        {"rms": "rms(slide)", "slid": "slid@end"},
        0.5,
        {"tolerance": 1e-7},
    ),
    "stops, friction and a table": Sweep(
        "crane", {"buffers.stiffness": Bounds(1e4, 4e4)}, {"work": "integral(slewing_ring.power)"}, 0.5, {"tolerance": 1e-7}
    ),
    "a cable that goes slack": Sweep(
        "slack_cable", {"ball.mass": Bounds(1.0, 3.0), "rope.length": Bounds(1.2, 1.6)}, {"most": "max(pull)"}, 1.0
    ),
    "quaternions": Sweep("heavy_top", {"gravity.z": Bounds(-10.0, -9.0)}, {"mean": "mean(energy.kinetic)"}, 0.1),
    "cases that start differently": Sweep(
        "double_pendulum",
        {"upper.mass": Bounds(12.0, 17.0)},
        {"rms": "rms(elbow.q)", "end": "elbow.v@end"},
        0.1,
        others={
            "cases": (Case("bent", q={"elbow": 0.5}), Case("moon", set={"gravity.y": -1.62}), Case("turning", v={"elbow": 1.0}))
        },
    ),
    "runs one at a time: an event": Sweep(
        "double_pendulum",
        {"upper.mass": Bounds(12.0, 17.0)},
        {"when": "there.time", "rms": "rms(elbow.q)"},
        0.1,
        others={"events": {"there": Watched("elbow.q", value=-1.1)}},
        in_lanes=False,
        runs=66,
    ),
    "runs one at a time: an implicit method of fixed steps": Sweep(
        "heavy_top",
        {"gravity.z": Bounds(-10.0, -9.0)},
        {"mean": "mean(energy.kinetic)"},
        0.01,
        {"method": "implicit_midpoint", "max_step": 0.005},
        in_lanes=False,
        runs=66,
    ),
}


def columns(found):
    """All that the store has."""
    states = [name for name in ("q", "v") if name in found.store.group]
    named = {name: found.values(name) for name in (*found.parameters, *found.outputs)}
    return named | {name: found.store.read(name) for name in (*states, "status", "reached", "reason")}


def must_be_same(one, other):
    one, other = columns(one), columns(other)
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_no_bit_depends_on_chunks_threads_or_restarts(sweep, tmp_path, monkeypatch):
    monkeypatch.setenv("BELLCRANK_THREADS", "1")
    whole = sweep(chunk=256)
    assert whole.task.in_lanes == sweep.in_lanes and whole.complete
    failed = int((whole.status != 0).sum())
    assert (0 < failed < len(whole)) if sweep.failing else failed == 0, whole.reasons
    monkeypatch.setenv("BELLCRANK_THREADS", "2")
    must_be_same(whole, sweep(chunk=128))
    monkeypatch.setenv("BELLCRANK_THREADS", "3")
    store = tmp_path / "broken.zarr"
    parts = sweep(chunk=64, store=store)
    must_be_same(whole, parts)
    for k in range(0, parts.store.chunks, 2):
        (store / "status" / "c" / str(k)).unlink()
    monkeypatch.setenv("BELLCRANK_THREADS", "1")
    must_be_same(whole, sweep(store=store))


def test_only_some_of_the_stiff_runs_change_their_method():
    """So that the sweep of these runs above means what it says."""
    sweep = SWEEPS["some runs are stiff"]
    found = sweep()
    damping = {"oil.damping": found.values("oil.damping")}
    runs = bc.simulate_many(found.task.model, sweep.duration, parameters=damping, rtol=1e-6, atol=1e-6)
    stiff = sum(len(runs.run(k).settings["methods"]) == 2 for k in range(len(runs)))
    assert 10 < stiff < 120


@pytest.mark.parametrize("taken", ["integral", "mean", "rms", "max"])
@pytest.mark.parametrize("samples", [5, 21, 60, 201])
def test_what_is_taken_of_a_run_does_not_depend_on_the_rows_beside_it(taken, samples):
    """Sums of rows that lie one behind the other in memory may be taken in another order than that of a single row."""
    (output,) = parsed([f"{taken}(x)"], [], 1.0)
    x, when = np.random.default_rng(samples).normal(size=(9, samples)), samples_only(np.linspace(0.0, 1.0, samples))
    together = taken_of(output, x, when)
    for k in range(9):
        assert taken_of(output, x[k : k + 1], when)[0] == together[k]
        assert taken_of(output, x[k:], when)[0] == together[k]
