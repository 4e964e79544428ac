"""Loops over the measures: before the forces those that force elements read, at the end all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...kernels.executor import Integer
from ...numbers import Number
from ...plan.measuring import MeasureSignature
from .formulas import Formula
from .kinds import KINDS, MeasureContext

if TYPE_CHECKING:
    from ..walk import Walk


def measure_early(walk: Walk) -> None:
    """Finds the measures that force elements read; states have been left."""
    plan = walk.plan.loads.measures
    if plan.early:
        _each(walk, plan.early_signatures, 0, walk.e.count("early_measures"))


def measure_kinks(walk: Walk) -> None:
    """Finds where the formulas that force elements read are not smooth."""
    plan = walk.plan.loads.measures
    if not plan.openings:
        return
    e, table = walk.e, walk.array("measure_table")

    def case(signature: MeasureSignature, i: Integer) -> list[Number]:
        for k, x in enumerate(Formula(MeasureContext(walk, signature, i)).kinks() if signature.expression else ()):
            walk.array("opening")[table[i, "opening"] + k] = x
        return []

    def one(i: Integer) -> None:
        e.switch(table[i, "code"], [lambda s=s: case(s, i) for s in plan.early_signatures])

    e.each(0, e.count("early_measures"), one)


def measure_late(walk: Walk) -> None:
    """Finds all other measures, from the outputs of their passes. Where no forces act, nothing was measured before."""
    plan, e = walk.plan.loads.measures, walk.e
    if not walk.forces:
        measure_early(walk)
    if plan.late_signatures:
        _each(walk, plan.late_signatures, e.count("early_measures"), e.count("measures"))


def _each(walk: Walk, signatures: Sequence[MeasureSignature], first: Integer, last: Integer) -> None:
    e, table, measured = walk.e, walk.array("measure_table"), walk.array("measured")

    def case(signature: MeasureSignature, i: Integer) -> list[Number]:
        for k, x in enumerate(KINDS[signature.kind](MeasureContext(walk, signature, i))):
            measured[table[i, "column"] + k] = x
        return []

    def one(i: Integer) -> None:
        e.switch(table[i, "code"], [lambda s=s: case(s, i) for s in signatures])

    e.each(first, last, one)


def output_measures(walk: Walk) -> None:
    walk.e.each(0, walk.e.count("measured"), lambda k: walk.output("measure", k, walk.array("measured")[k]))
