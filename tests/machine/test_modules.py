"""The text of a module depends on the structure of the mechanism, and not on its size or its numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from bellcrank.dynamics.node_ranks import plan_nodes
from bellcrank.formulations import FORMULATIONS, QUANTITIES
from bellcrank.kernels.llvm.emitter import Emitter
from bellcrank.kernels.llvm.pool import Table
from bellcrank.machine.module import write_module
from bellcrank.model.generators import chain, pin_joint_chain
from bellcrank.plan import make_plan

PROGRAMS = FORMULATIONS | {f"quantity: {name}": program for name, program in QUANTITIES.items()}


def planned(model):
    """With the nodes that programs by blocks walk over."""
    plan = make_plan(model)
    return replace(plan, nodes=plan_nodes(plan, model.given_q, 0.0))


@cache
def planned_chain(n):
    return planned(chain(n))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("lanes", [1, 4])
def test_a_chain_of_500_needs_the_code_of_a_chain_of_10(name, lanes):
    short, long = (write_module(planned_chain(n), PROGRAMS[name], lanes) for n in (10, 500))
    assert len(short.text.splitlines()) == len(long.text.splitlines())
    assert short.facts == long.facts


def test_numbers_are_not_in_the_code():
    model = pin_joint_chain(6)
    other = replace(model, mass=model.mass * 1.5, gravity=model.gravity * 2)
    texts = {write_module(make_plan(m), FORMULATIONS["articulated_body"], 1).text for m in (model, other)}
    assert len(texts) == 1


def test_a_table_must_have_an_entry():
    with pytest.raises(ValueError, match="at least one entry"):
        Table(Emitter(1), "%t", 0)


def test_a_table_is_read_once_for_an_index():
    e = Emitter(4)
    table, x = Table(e, "%t", "%length"), e.symbol("%x")
    assert table.gather(x) is table.gather(x) and table.gather(2) is table.gather(2.0)
