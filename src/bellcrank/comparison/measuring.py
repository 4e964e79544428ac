"""Accelerations at random states, energy and closure over a run, time per evaluation: one row an engine."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dynamics import Dynamics, compile
from ..errors import BellcrankError, DynamicsError, StateError, interrupts_pass
from ..extremes import in_our_errors
from ..model import Model
from ..model.generators import random_state
from ..model.manifold import displaced
from ..wording import counted, printed
from .engines import BATCH, Array, OwnFormulation, Trajectory, formulations, has_motions, normalised, seconds

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

FAR = 0.2  # rad or m: how far random states of closed loops are looked for from the start
CLOSED = 1e-10
LONGEST = 1.0  # s of a run, unless asked otherwise


@dataclass(frozen=True)
class Row:
    """One engine; None where there is no figure.

    agreement    largest difference from the first row's accelerations, over the largest of them
    energy       largest change of the energy over a run, over the largest kinetic energy
    closure      largest error of the equations that close loops, over a run (m or rad)
    time, batch  of an evaluation from Python: one state, and one of many (s)
    """

    engine: str
    agreement: float | None = None
    energy: float | None = None
    closure: float | None = None
    time: float | None = None
    batch: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """The results, the default formulation first."""

    model: str
    coordinates: int
    states: int
    duration: float
    rows: tuple[Row, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {**dataclasses.asdict(self), "rows": [dataclasses.asdict(row) for row in self.rows]}

    def __str__(self) -> str:
        return printed(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table
        from rich.text import Text

        size = f"{counted(self.coordinates, 'coordinate')}, {counted(self.states, 'state')}, {self.duration:g} s"
        table = Table(title=f"{self.model}: {size}", title_justify="left")
        table.add_column("engine", no_wrap=True)
        for heading in ("differs", "energy", "closure", "us", "us in batch"):
            table.add_column(heading, justify="right", no_wrap=True)
        for row in self.rows:
            figures = [_figure(x) for x in (row.agreement, row.energy, row.closure)]
            times = ["" if x is None else f"{x * 1e6:.3g}" for x in (row.time, row.batch)]
            table.add_row(row.engine, *figures, *times)
        yield table
        yield from (Text(f"{row.engine}: {row.note}") for row in self.rows if row.note)


def _figure(x: float | None) -> str:
    return "" if x is None else f"{x:.1e}" if x else "0"


@in_our_errors(DynamicsError)
def compare(
    model: Model, *, states: int = 20, duration: float | None = None, seed: int = 0, peers: bool = True, budget: float = 0.1
) -> Comparison:
    """Compare all formulations that apply to a model, and MuJoCo and Pinocchio if installed and ``peers`` is true.

    states    random states at which accelerations are compared, the model's forces included
    duration  s of the runs, of the mechanism under gravity alone; the model's, at most 1 s, unless given
    budget    s for each measurement of time
    """
    if states < 1:
        raise StateError(f"states is {states}: give one at least")
    if model.nv == 0:
        raise StateError(f"{model.name!r} has nothing that moves by itself: there is nothing to compare")
    length = min(model.duration or LONGEST, LONGEST) if duration is None else duration
    full, bare = compile(model), _bare(model)
    own, refused = formulations(bare)
    samples = [_with_forces(full, own[0].dynamics, *state) for state in random_states(own[0].dynamics, states, seed)]
    expected = [own[0].acceleration(*sample) for sample in samples]
    rows = [_row(engine, own[0].dynamics, samples, expected, length, budget) for engine in own]
    rows += [Row(name, note=reason) for name, reason in refused.items()]
    for name in ("MuJoCo", "Pinocchio") if peers else ():
        engine = _peer(name, bare, own[0].dynamics)
        rows.append(engine if isinstance(engine, Row) else _row(engine, own[0].dynamics, samples, expected, length, budget))
    return Comparison(model.name, model.nv, states, length, tuple(rows))


def _bare(model: Model) -> Model:
    """The mechanism without forces but gravity, and without limits, which MuJoCo would simulate; it starts assembled."""
    bare = dataclasses.replace(model, elements=(), measures=(), inputs=(), limits=())
    if not model.closures:
        return bare
    return dataclasses.replace(bare, given_q=bare.initial_q, given_v=bare.initial_v)


def _peer(name: str, model: Model, dynamics: Dynamics) -> Any:
    """The engine, or a row that says why there is none."""
    try:
        if name == "MuJoCo":
            from .in_mujoco import InMuJoCo

            return InMuJoCo(model)
        from .in_pinocchio import InPinocchio

        return InPinocchio(model, dynamics)
    except ImportError:
        return Row(name, note="not installed")
    except BellcrankError as error:
        return Row(name, note=str(error).splitlines()[0] + "".join(f" {line.strip()}" for line in str(error).splitlines()[1:2]))
    except ValueError as error:
        return Row(name, note=f"refuses the model: {' '.join(str(error).split())}")


def random_states(dynamics: Dynamics, count: int, seed: int) -> list[tuple[Array, Array]]:
    """States of order one; of closed loops, states near the start that close."""
    model = dynamics.model
    if not model.closures:
        return [random_state(model, seed + k) for k in range(count)]
    rng = np.random.default_rng(seed)
    found: list[tuple[Array, Array]] = []
    for _ in range(20 * count):
        q = displaced(model, model.initial_q, rng.uniform(-FAR, FAR, model.nv))
        q, _ = dynamics.projected(q, np.zeros(model.nv), steps=20)
        q, v = dynamics.projected(normalised(model, q), rng.uniform(-1, 1, model.nv))
        q = normalised(model, q)
        position, _ = dynamics.closure(q, v)
        if np.abs(position).max() < CLOSED:
            found.append((q, v))
        if len(found) == count:
            return found
    raise StateError(f"{model.name!r}: no states were found near its start in which its loops close")


def _with_forces(full: Dynamics, bare: Dynamics, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """The state, and the efforts of the model's own forces there: what inverse dynamics needs less because of them."""
    still = np.zeros(len(v))
    if not full.model.elements:
        return q, v, still
    return q, v, bare.inverse_dynamics(q, v, still) - full.inverse_dynamics(q, v, still)


def _row(
    engine: Any,
    dynamics: Dynamics,
    samples: list[tuple[Array, Array, Array]],
    expected: list[Array],
    length: float,
    budget: float,
) -> Row:
    try:
        far = [_far(engine.acceleration(*sample), a) for sample, a in zip(samples, expected, strict=True)]
    except BellcrankError as error:
        return Row(engine.name, note=str(error))
    try:
        with interrupts_pass():
            (energy, closure), note = _conserved(engine, dynamics, length), engine.note
    except BellcrankError as error:  # without its forces a mechanism may fall into a singular position
        energy, closure, note = None, None, str(error)
    batch = seconds(engine.batch(*samples[0]), budget) / BATCH if isinstance(engine, OwnFormulation) else None
    time = seconds(engine.call(*samples[0]), budget)
    return Row(engine.name, max(far), energy, closure, time, batch, note)


def _far(a: Array, expected: Array) -> float:
    largest = float(np.abs(expected).max())
    return float(np.abs(a - expected).max()) / (largest or 1.0)


def _conserved(engine: Any, dynamics: Dynamics, length: float) -> tuple[float | None, float | None]:
    """Changes of the energy, and errors of the closures; None where motions are prescribed, which do work, or without loops."""
    model = dynamics.model
    motion: Trajectory = engine.move(length)
    times = np.linspace(0.0, length, len(motion.q))
    closure = float(np.abs(dynamics.closure(motion.q, motion.v, t=times)[0]).max()) if model.closures else None
    if has_motions(model):
        return None, closure
    kinetic, potential = dynamics.energy(motion.q, motion.v)
    total = np.asarray(kinetic) + np.asarray(potential)
    return float(np.abs(total - total[0]).max() / (np.max(kinetic) or 1.0)), closure
