"""What need not be in memory: cells that nobody needs, and cells that can share a place."""

import pytest

import bellcrank as bc
from bellcrank.kernels.llvm.emitter import Emitter
from bellcrank.kernels.llvm.flow import each, switch, total, when
from bellcrank.kernels.llvm.graph import flat
from bellcrank.kernels.llvm.liveness import PASS, SENT, CellPlan, learned
from bellcrank.machine.arrays import for_plan
from bellcrank.machine.module import recorded
from bellcrank.model import generators

A, B, C = ((("node", 0), "kept", k) for k in range(3))


def written(*steps):
    """A graph of steps: what each makes (or None), what it is made of, and the cell that it stores or loads, if any."""
    e = Emitter()
    for step in steps:
        if step == PASS:
            e.do(PASS)
            continue
        name, used, *cell = step
        kind = " ".join(["$"] * len(used))
        e.do(kind, *used) if name is None else e.emit(kind, *used, ref=name)
        if cell:
            e.mark(*cell)
    return e.region


def test_a_cell_that_only_feeds_a_dead_one_is_dead():
    region = written(
        (None, ["%x"], A),
        (None, ["%x"], B),
        ("%a", ["%p"], A),
        ("%b", ["%p"], B),
        ("%c", ["%a", "%a"]),
        (None, ["%c"], C),
        ("%d", ["%p"], C),
        (None, ["%b", "%out"]),
    )
    assert learned(region).dead == {A, C}


@pytest.mark.parametrize("feeds", ["a branch", "a loop", "the end of a loop", "a case", "nothing"])
def test_a_cell_that_feeds_a_branch_or_a_loop_is_alive(feeds):
    e = Emitter()
    e.do("store $", "%x")
    e.mark(A)
    a = e.emit("load $", "%p")
    e.mark(A)
    if feeds == "a branch":
        when(e, e.emit("icmp $", a), lambda: None)
    elif feeds == "the end of a loop":
        each(e, 0, a, lambda k: None)
    elif feeds == "a loop":
        e.do("store $", total(e, 0, 3, a, lambda k, x: x))
    elif feeds == "a case":
        e.do("store $", switch(e, "%code", [lambda: [a], lambda: ["0.0"]])[0])
    assert (A in learned(e.region).dead) == (feeds == "nothing")


def test_cells_share_a_place_when_one_is_done_with_before_the_other_starts():
    region = written(
        (None, ["%x"], A),
        (None, ["%x"], B),
        ("%a", ["%p"], A),
        (None, ["%a"], C),
        ("%b", ["%p"], B),
        ("%c", ["%p"], C),
        (None, ["%b", "%out"]),
        (None, ["%c", "%out"]),
    )
    slots = learned(region).slots
    assert slots[A] == slots[C] != slots[B]


@pytest.mark.parametrize("apart", [False, True])
def test_what_is_told_shares_a_place_only_over_whole_passes(apart):
    """A node may read what another one sent in this pass, after we have sent something else."""
    first, second = (SENT, "spin", 0), (SENT, "motion", 0)
    region = written(
        PASS,
        (None, ["%x"], first),
        ("%a", ["%p"], first),
        (None, ["%a", "%out"]),
        *([PASS] if apart else []),
        (None, ["%x"], second),
        ("%b", ["%p"], second),
        (None, ["%b", "%out"]),
    )
    memory = learned(region)
    assert memory.sent == (1 if apart else 2)


def test_nothing_out_of_plane_is_told_by_nodes_of_a_planar_ladder():
    """An inertia in the plane has 6 numbers, a wrench 3; a spin and a motion find room where these were."""
    dynamics = bc.compile(generators.ladder(3))
    emitter, _ = recorded(dynamics.plan, for_plan(dynamics.program, dynamics.plan), 1, CellPlan())
    assert learned(emitter.region).sent == 9


def test_the_second_writing_keeps_what_was_planned_and_nothing_else():
    """The excavator has a number that is cheap to make from one that turns out to be dead: it is not kept in its place."""
    dynamics = bc.compile(bc.load("excavator"), optimisation=0)
    program = for_plan(dynamics.program, dynamics.plan)
    emitter, walk = recorded(dynamics.plan, program, 1, CellPlan())
    memory = learned(emitter.region, walk.node_messages.passes)
    emitter, _ = recorded(dynamics.plan, program, 1, memory)
    cells = [operation.cell for _, _, operation in flat(emitter.region) if operation is not None and operation.cell is not None]
    kept = {cell for cell in cells if cell[0][0] == "node"}
    assert kept == {cell for cell in memory.slots if cell[0] != SENT}
