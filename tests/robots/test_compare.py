"""One model in several engines, and one table."""

from __future__ import annotations

import pytest

import bellcrank as bc
from bellcrank.comparison import measuring
from bellcrank.comparison.engines import OwnFormulation
from bellcrank.errors import Interrupted
from bellcrank.model.builder import polynomial
from bellcrank.model.generators import random_state, random_tree

from .engines import loaded
from .test_loops import GEARS, OPEN

FAST = {"states": 3, "duration": 0.05, "budget": 0.001}


def engines(found):
    return {row.engine: row for row in found.rows}


def test_all_formulations_and_engines_agree_on_a_tree():
    pytest.importorskip("mujoco")
    pytest.importorskip("pinocchio")
    rows = engines(bc.compare(random_tree(4, 6, free_root=True), **FAST))
    assert {
        "articulated_body",
        "canonical_momenta:joint",
        "mass_matrix",
        "reference_point:origin",
        "MuJoCo",
        "Pinocchio",
    } <= set(rows)
    assert all(row.agreement < 1e-10 and row.energy < 1e-6 and row.time > 0 for row in rows.values())
    assert rows["articulated_body"].agreement == 0 and rows["articulated_body"].batch > 0


def test_forces_of_the_model_are_part_of_the_comparison():
    pytest.importorskip("mujoco")
    m = bc.Mechanism("sprung", inputs=("u",))
    m.rod("arm", (0, 0, 0), (1, 0, 0), mass=1, radius=0.1)
    m.joint("hinge", "revolute", "ground", "arm", (0, 0, 0), axis="y")
    m.spring("coil", "hinge", 50.0, rest=1.0)
    rows = engines(bc.compare(m.build(), **FAST))
    assert all(row.agreement < 1e-12 for row in rows.values() if row.agreement is not None)


def test_closed_loops_are_compared_where_they_close():
    pytest.importorskip("mujoco")
    pytest.importorskip("pinocchio")
    rows = engines(bc.compare(loaded(OPEN), **FAST))  # by design, and closed before it is compared
    assert rows["multipliers:joint"].closure < 1e-9 and rows["multipliers:origin"].agreement < 1e-9
    assert rows["Pinocchio"].agreement < 1e-9 and rows["Pinocchio"].closure < 1e-9
    assert rows["MuJoCo"].agreement < 1e-3 and rows["MuJoCo"].closure < 1e-5 and "softly" in rows["MuJoCo"].note


def test_loops_that_hinges_close_are_compared_in_all_formulations_and_in_pinocchio():
    """A hinge is two points of its axis there."""
    pytest.importorskip("pinocchio")
    rows = engines(bc.compare(bc.load("four_bar"), **FAST))
    assert {"coordinate_reduction", "multipliers:joint", "canonical_momenta"} <= set(rows)
    assert rows["Pinocchio"].agreement < 1e-9 and rows["canonical_momenta"].closure < 1e-9
    assert 0 < rows["canonical_momenta"].agreement < 1e-12  # by Hamilton's equations, not by the same accelerations


def test_loops_of_prescribed_length_are_closed_at_their_own_times_and_a_run_that_stops_is_told():
    """A bar that a rod pushes at 10 m/s until both are in line, after (2 - sqrt 2)/10 s."""
    m = bc.Mechanism("pulled")
    m.rod("bar", (0, 0, 0), (1, 0, 0), mass=1, radius=0.1)
    m.joint("hinge", "revolute", "ground", "bar", (0, 0, 0), axis="y")
    m.distance("rod", ("ground", (0, 0, 1)), ("bar", (1, 0, 0)), motion=polynomial(2**0.5, 10.0))
    model = m.build()
    rows = engines(bc.compare(model, peers=False, **FAST | {"duration": 0.02}))
    assert all(row.closure < 1e-12 and row.agreement < 1e-12 for row in rows.values())
    stopped = engines(bc.compare(model, peers=False, **FAST | {"duration": 0.1}))["multipliers:joint"]
    assert stopped.agreement < 1e-12 and stopped.closure is None and "stopped at t = 0.0585" in stopped.note


def test_an_engine_that_cannot_hold_the_model_says_why():
    rows = engines(bc.compare(loaded(GEARS), **FAST))
    assert 'no counterpart for "pair"' in rows["Pinocchio"].note
    driven = engines(bc.compare(bc.load("rheonomic_pendulum"), **FAST))
    assert "prescribed motion" in driven["MuJoCo"].note and "prescribed motions" in driven["Pinocchio"].note
    assert driven["articulated_body"].energy is None


def test_an_engine_that_is_not_installed_says_so(monkeypatch):
    import sys

    for name in ("mujoco", "pinocchio"):
        monkeypatch.setitem(sys.modules, name, None)
    rows = engines(bc.compare(bc.load("pendulum"), **FAST))
    assert rows["MuJoCo"].note == rows["Pinocchio"].note == "not installed"


def test_peers_may_be_left_out():
    assert not {"MuJoCo", "Pinocchio"} & set(engines(bc.compare(bc.load("pendulum"), peers=False, **FAST)))


def test_the_table_is_text_and_plain_data():
    found = bc.compare(bc.load("pendulum"), peers=False, **FAST)
    assert "articulated_body" in str(found) and "us in batch" in str(found)
    assert found.as_dict()["rows"][0]["engine"] == "articulated_body"


def test_what_makes_no_sense_is_an_error():
    with pytest.raises(bc.StateError, match="states is 0"):
        bc.compare(bc.load("pendulum"), states=0)
    m = bc.Mechanism("block")
    m.body("a", 1.0, (0, 0, 0), (1, 1, 1))
    m.joint("j", "fixed", "ground", "a", (0, 0, 0))
    with pytest.raises(bc.StateError, match="nothing to compare"):
        bc.compare(m.build())


def test_a_formulation_that_refuses_the_model_says_why(monkeypatch):
    from bellcrank.formulations import FORMULATIONS

    monkeypatch.setitem(FORMULATIONS, "magic:wand", FORMULATIONS["mass_matrix"])
    monkeypatch.setattr(
        OwnFormulation, "move", lambda self, duration: measuring.Trajectory(*(x[None] for x in random_state(self.model)))
    )
    monkeypatch.setattr("bellcrank.comparison.engines.compile", refusing(bc.compile))
    rows = engines(bc.compare(bc.load("pendulum"), peers=False, **FAST))
    assert rows["magic:wand"].note == "there is no wand" and rows["magic:wand"].agreement is None


def refusing(compile):
    def compiled(model, formulation="auto", **options):
        if formulation == "magic":
            raise bc.StateError(f"there is no {options['variant']}")
        return compile(model, formulation, **options)

    return compiled


def test_a_run_that_ends_early_is_told(monkeypatch):
    def move(self, duration):
        raise bc.SimulationError("it fell apart")

    monkeypatch.setattr(OwnFormulation, "move", move)
    assert all(row.note == "it fell apart" for row in bc.compare(bc.load("pendulum"), peers=False, **FAST).rows)


def test_an_interrupt_in_a_run_ends_the_whole_comparison(monkeypatch):
    def pressed(*_):
        raise Interrupted("interrupted at t = 0.1 s")

    monkeypatch.setattr(measuring, "_conserved", pressed)
    with pytest.raises(KeyboardInterrupt):
        bc.compare(bc.load("pendulum"), **FAST)
