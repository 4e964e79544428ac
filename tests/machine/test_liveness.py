"""What need not be in memory: cells that nobody needs, and cells that can share a place."""

import pytest

import bellcrank as bc
from bellcrank.kernels.emitter import Emitter
from bellcrank.kernels.liveness import PASS, TOLD, Memory, learned
from bellcrank.machine.kernel import for_plan
from bellcrank.machine.module import _written
from bellcrank.model import generators

A, B, C = ((("node", 0), "kept", k) for k in range(3))


def written(*lines):
    """An emitter with lines; those given as (text, cell) store or load that cell."""
    e = Emitter()
    for line in lines:
        text, cell = line if isinstance(line, tuple) else (line, None)
        e.do(text)
        if cell is not None:
            e.mark(cell)
    return e.lines


def test_a_cell_that_only_feeds_a_dead_one_is_dead():
    lines = written(
        ("store double %x, ptr %p", A),
        ("store double %x, ptr %p", B),
        ("%a = load double, ptr %p", A),
        ("%b = load double, ptr %p", B),
        "%c = fadd double %a, %a",
        ("store double %c, ptr %p", C),
        ("%d = load double, ptr %p", C),
        "store double %b, ptr %out",
    )
    assert learned(lines).dead == {A, C}


def test_a_cell_that_feeds_a_branch_or_a_loop_is_alive():
    e = Emitter()
    e.do("store double %x, ptr %p")
    e.mark(A)
    e.do("%a = load double, ptr %p")
    e.mark(A)
    around = e.phi("double")
    around.add("%a", "entry")
    e.do(f"%far = fcmp olt double {around.ref}, 0.0")
    e.do("br i1 %far, label %here, label %there")
    assert not learned(e.lines).dead


def test_cells_share_a_place_when_one_is_done_with_before_the_other_starts():
    lines = written(
        ("store double %x, ptr %p", A),
        ("store double %x, ptr %p", B),
        ("%a = load double, ptr %p", A),
        ("store double %a, ptr %p", C),
        ("%b = load double, ptr %p", B),
        ("%c = load double, ptr %p", C),
        "store double %b, ptr %out",
        "store double %c, ptr %out",
    )
    slots = learned(lines).slots
    assert slots[A] == slots[C] != slots[B]


@pytest.mark.parametrize("apart", [False, True])
def test_what_is_told_shares_a_place_only_over_whole_passes(apart):
    """A node may read what another one told in this pass, after we have told something else."""
    first, second = (TOLD, "spin", 0), (TOLD, "motion", 0)
    lines = written(
        PASS,
        ("store double %x, ptr %p", first),
        ("%a = load double, ptr %p", first),
        "store double %a, ptr %out",
        *([PASS] if apart else []),
        ("store double %x, ptr %p", second),
        ("%b = load double, ptr %p", second),
        "store double %b, ptr %out",
    )
    memory = learned(lines)
    assert memory.told == (1 if apart else 2)


def test_nothing_out_of_plane_is_told_by_nodes_of_a_planar_ladder():
    """An inertia in the plane has 6 numbers, a wrench 3; a spin and a motion find room where these were."""
    dynamics = bc.compile(generators.ladder(3))
    emitter, _ = _written(dynamics.plan, for_plan(dynamics.program, dynamics.plan), 1, Memory())
    assert learned(emitter.lines).told == 9


def test_the_second_writing_keeps_what_was_planned_and_nothing_else():
    """The excavator has a number that is cheap to make from one that turns out to be dead: it is not kept in its place."""
    dynamics = bc.compile(bc.load("excavator"), quick=True)
    program = for_plan(dynamics.program, dynamics.plan)
    emitter, walk = _written(dynamics.plan, program, 1, Memory())
    memory = learned(emitter.lines, walk.channels.passes)
    emitter, _ = _written(dynamics.plan, program, 1, memory)
    kept = {line.cell for line in emitter.lines if hasattr(line, "cell") and line.cell[0][0] == "node"}
    assert kept == {cell for cell in memory.slots if cell[0] != TOLD}
