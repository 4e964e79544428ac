"""A report as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..wording import counted
from .loops.mobility import loop_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from .report import JointRow, Report

LOOPS = 12  # loops that are drawn
SHOWN = 40  # rows of a table


def show(report: Report, console: Console) -> None:
    """Tables of the parts, then what is unusual."""
    duration = "" if report.duration is None else f", {report.duration:g} s"
    size = f"{counted(len(report.bodies), 'body', 'bodies')}, {report.mass:.6g} kg, {report.dof} dof{duration}"
    console.print(f"{report.model}: {size}")
    console.print(_table("body", "carried by", "mass (kg)", rows=[(b.name, b.joint, f"{b.mass:.6g}") for b in report.bodies]))
    joints = [(j.name, j.kind, j.parent, j.child, _freedom(j)) for j in report.joints]
    console.print(_table("joint", "type", "parent", "child", "dof", rows=joints))
    if report.elements:
        console.print(_table("force element", "type", "where", rows=[(e.name, e.kind, e.where) for e in report.elements]))
    if report.states:
        states = [(s.name, s.rate, f"{s.initial:g} {s.unit}".rstrip()) for s in report.states]
        console.print(_table("state", "rate", "at the start", rows=states))
    if report.measures:
        console.print(_table("measure", "type", rows=[(m.name, m.kind) for m in report.measures]))
    for line in _lines(report):
        console.print(line, soft_wrap=True)


def _freedom(joint: JointRow) -> str:
    dof = "driven" if joint.driven else str(joint.dof)
    return f"{dof}, closes a loop" if joint.closes else dof


def _lines(report: Report) -> list[str]:
    lines = [f"inputs: {', '.join(report.inputs)}"] if report.inputs else []
    if report.loops is not None:
        drawn = report.loops.drawings
        lines += [*drawn[:LOOPS], *([f"and {len(drawn) - LOOPS} more loops"] if len(drawn) > LOOPS else [])]
        lines += loop_words(report.loops)
    lines += [] if report.imported is None else [f"imported from {report.imported}"]
    lines += [f"not simulated: {line}" for line in report.not_simulated]
    lines += [f"as imported: {line}" for line in report.changed]
    if report.fastest_frequency is not None:
        lines.append(f"fastest vibration at the start: about {report.fastest_frequency:.3g} Hz")
    if report.fastest_decay is not None:
        lines.append(f"fastest decay at the start: about {report.fastest_decay:.3g} 1/s")
    singular = report.loops is not None and report.loops.singularities
    return lines + ([f"unusual: {remark}" for remark in report.remarks] or [f"nothing {'else ' if singular else ''}unusual"])


def _table(*headings: str, rows: Sequence[tuple[str, ...]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    left = len(rows) - SHOWN
    table = Table()
    for heading in headings:
        table.add_column(heading, justify="right" if "(" in heading else "left")
    for row in rows[:SHOWN]:
        table.add_row(*[Text(item) for item in row])
    if left > 0:
        table.add_row(f"and {left} more")
    return table
