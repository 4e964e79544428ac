"""A run gone through backward, seen from the host: the memory that back() works on."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...integrate import RungeKutta
from ...kernels.adjoint.transpose import MARGIN
from ...model.manifold import turning_joints
from ...plan import Plan
from ..arrays import width
from ..kernel import aligned, bound_arrays, obtain
from ..module import Module, assemble, structure_name, write_kernel
from ..steps.implicit.closed import closed_midpoint_programs
from ..steps.implicit.kept_rows import count_of_rows, is_closed_midpoint
from ..steps.memory import WIDE, Layout, own_buffers
from ..steps.programs import DIRECTIONS, programs, takes_momenta
from .closed import EQUATIONS_OF_ROWS, STATES, TABLES, ClosedRetrace
from .closed import WORDS as WORDS_OF_ROWS
from .implicit import ImplicitRetrace, implicit_words, jacobian_programs, write_linear_algebra
from .kernel import active_data, adjoint_arrays, first_tape, write_adjoint
from .log import Log, times_seen
from .steps import SETTLED, Retrace, words
from .turning import WORDS, TurningRetrace, turning_texts

Array = NDArray[np.float64]


def retraced(plan: Plan, program: Program, method: RungeKutta, metric: str, project: bool) -> dict[str, Program]:
    """The kernels of a step that are differentiated."""
    if is_closed_midpoint(plan, method):
        return {name: p for name, p in closed_midpoint_programs(plan, works=False).items() if name != "openings"}
    called = programs(plan, program, metric, works=False)
    closing = ["positions", *(["of_momenta", "to_momenta"] if takes_momenta(called) else ["velocities"])]
    wanted = ["kernel", "rates", *(closing if project and plan.model.closures else [])]
    return {name: called[name] for name in wanted}


class Passing(Protocol):
    """Steps across a surface where the equations of motion jump, and derivatives with them."""

    def found(self, times: Array, states: Array, short: NDArray[np.bool_]) -> list[int]:
        """Which of some steps, by the times that the equations see at their ends (steps, 2), and the states there, one more
        than steps."""

    def back(self, times: Array, states: Array, bar: Array) -> Array:
        """The adjoint of the state behind such a step, from both ends of it, before its jump."""


class Retraced:
    """The adjoint of the steps of a run: ``back`` from the adjoints of its samples to those of its start and of the data."""

    def __init__(self, plan: Plan, program: Program, method: RungeKutta, metric: str, project: bool):
        self.plan, self.method = plan, method
        self.called = retraced(plan, program, method, metric, project)
        self.closed, self.settles = is_closed_midpoint(plan, method), "to_momenta" in self.called
        self.plain_rates = all(joint.quaternion is None and joint.mechanical for joint in plan.model.joints)
        self.turns = method.turns and (self.closed or not self.plain_rates)
        self.others = jacobian_programs(plan, program, self.plain_rates) if method.implicit and not self.turns else {}
        self.unit = project or not plan.model.closures
        key = ("retrace", program.name, method.name, metric, project, structure_name(plan))
        self.code = obtain(key, self._write)
        self.adjoints: dict[str, list[str]] = self.code.facts.adjoints
        layout = Layout(plan, self.called, method, 1, 0)
        self.state, self.v_start = layout.w_start, layout.v_start
        self.table, self.c = _tableau(method)
        self._numbers = self._known_numbers(layout)
        self.arrays = self._memory() | (self._memory_of_turning(layout) if self.turns else {})
        self.arrays |= self._memory_of_rows() if self.closed else {}
        self._back = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            self.code.library.address("back")
        )

    def _write(self) -> Module:
        written = {
            name: write_adjoint(self.plan, p, [x for x in ("q", "v", "p") if x in p.inputs], name)
            for name, p in self.called.items()
        }
        others = {name: write_kernel(self.plan, program, 1, name) for name, program in self.others.items()}
        kernels = {name: text.kernel for name, text in written.items()} | others
        arguments = {name: kernel.arguments for name, kernel in kernels.items()}
        adjoints = {name: text.adjoints for name, text in written.items()}
        module = assemble(list(kernels.values()), [])
        module = assemble(list(kernels.values()), self._functions(arguments, adjoints, module.arguments))
        module.facts.adjoints = adjoints
        module.facts.largest_frame = max(text.largest_frame for text in written.values())
        return module

    def _functions(
        self, arguments: Mapping[str, list[str]], adjoints: Mapping[str, list[str]], taken: list[str]
    ) -> list[tuple[str, dict[str, str]]]:
        places, known = self._places(taken, adjoints), self.called | self.others
        retrace = self._kind(known, arguments, adjoints, places, self.plain_rates, self.method, self.unit)
        if isinstance(retrace, TurningRetrace):
            retrace.thrown_away = {x: retrace.words[f"thrown:{x}"] for x in active_data(self.plan)}
        more = write_linear_algebra() if self.method.implicit else []
        return [*more, *(turning_texts() if self.turns else []), retrace.write()]

    @property
    def _kind(self) -> type[Retrace]:
        if self.closed:
            return ClosedRetrace
        return TurningRetrace if self.turns else ImplicitRetrace if self.method.implicit else Retrace

    def _places(self, arguments: list[str], adjoints: Mapping[str, list[str]]) -> list[str]:
        outputs = dict.fromkeys(x for program in (self.called | self.others).values() for x in program.outputs)
        found = words(arguments, list(outputs), list(dict.fromkeys(x for names in adjoints.values() for x in names)))
        found += implicit_words() if self.method.implicit else []
        found += WORDS_OF_ROWS if self.closed else []
        return found + ([*WORDS, *(f"thrown:{x}" for x in active_data(self.plan))] if self.turns else [])

    @property
    def stages(self) -> int:
        return len(self.c)

    def _known_numbers(self, layout: Layout) -> dict[str, int]:
        model = self.plan.model
        found = {"n": self.plan.n, "nv": model.nv, "nq": model.nq, "state": self.state, "v_start": self.v_start}
        found |= {"log_row": layout.log_row, "plain_stages": len(self.method.b), "all_stages": self.stages}
        return found | {"quaternion_count": len(layout.quaternions)} | self._sizes_of_equations()

    def _sizes_of_equations(self) -> dict[str, int]:
        """Of the linear equations for the adjoints of all slopes of a part."""
        model, halved = self.plan.model, self.plain_rates and not takes_momenta(self.called)
        unknowns = model.nv if halved else model.nq + model.nv
        packed = len(self.method.c) * unknowns
        rows = count_of_rows(self.plan) if self.closed else 0
        order, chunks, of_rows = packed + rows, -(-(packed + rows) // WIDE), -(-rows // WIDE)
        found = {"order": order, "stride": WIDE * chunks, "row_chunks": chunks, "unknowns": unknowns, "packed": packed}
        return found | {"kept_count": rows, "rows_stride": WIDE * of_rows, "rows_chunks": of_rows}

    def _memory_of_equations(self) -> dict[str, NDArray[Any]]:
        """What ImplicitRetrace works on."""
        model, sizes = self.plan.model, self._sizes_of_equations()
        found: dict[str, NDArray[Any]] = {name: aligned(sizes["order"] * sizes["stride"]) for name in ("matrix", "below")}
        found |= {name: aligned(sizes["stride"]) for name in ("diagonal", "right")}
        found |= {"pivots": np.zeros(sizes["stride"], dtype=np.int64)}
        found |= {"stage_bars": aligned(self.stages * self.state), "part_states": aligned(len(self.method.parts) * self.state)}
        found |= {"seed_q": aligned(model.nq * DIRECTIONS), "seed_v": aligned(model.nv * DIRECTIONS)}
        bound = bound_arrays(self.plan, self.code, 1)
        found |= {f"tangent:{name}": bound[name] for name in own_buffers() if name in bound}
        return found | {"v_tangents": aligned(model.nv * DIRECTIONS)}

    def _memory_of_turning(self, layout: Layout) -> dict[str, NDArray[Any]]:
        """What TurningRetrace works on besides."""
        found: dict[str, NDArray[Any]] = {"turning": layout.turning, "step": aligned(len(self.method.parts))}
        found |= {name: aligned(self.state) for name in ("Y_bar", "y_bar", "unit", "column", "unused_state")}
        return found | {f"thrown:{name}": aligned(x.size) for name, x in self.bars.items() if name in active_data(self.plan)}

    def _memory_of_rows(self) -> dict[str, NDArray[Any]]:
        """What ClosedRetrace works on besides."""
        sizes, parts, nv = self._sizes_of_equations(), len(self.method.parts), self.plan.model.nv
        rows, stride = sizes["kept_count"], sizes["rows_stride"]
        found: dict[str, NDArray[Any]] = {name: aligned(max(1, parts * rows * nv)) for name in TABLES}
        found |= {name: aligned(parts * self.state) for name in STATES} | {"kept_places": np.zeros(rows + 1, dtype=np.int64)}
        found |= {name: aligned(max(1, rows) * stride) for name in EQUATIONS_OF_ROWS}
        found |= {"rows_pivots": np.zeros(stride, dtype=np.int64)}
        found |= {name: aligned(self.state) for name in ("no_momenta", "at_rest", "new_bar")}
        return found | {name: aligned(parts) for name in ("starts_clock", "ends_clock")}

    def _memory(self) -> dict[str, NDArray[Any]]:
        plan, size, stages, model = self.plan, self.state, self.stages, self.plan.model
        arrays: dict[str, NDArray[Any]] = bound_arrays(plan, self.code, 1)
        used = list(dict.fromkeys(x for names in self.adjoints.values() for x in names))
        self.bars = adjoint_arrays(arrays, used)
        arrays |= {f"bar:{name}": x for name, x in self.bars.items()}
        for program in (self.called | self.others).values():
            for name in program.outputs:
                count = max(size, width(plan, program, name) * (1 + program.tangents))
                for of in ("out", "bar"):
                    if count > arrays.get(f"{of}:{name}", np.zeros(0)).size:
                        arrays[f"{of}:{name}"] = aligned(count)
        arrays |= {f"bar:{name}": aligned(size) for name in ("q", "v", "p")}
        arrays |= {name: aligned(size) for name in ("lam", "bar", "moved", "seed", "unused", "v_bar", *SETTLED)}
        stages *= len(self.method.parts)
        arrays |= {name: aligned(stages * size) for name in ("Y", "k", "k_bar", "velocities")}
        arrays |= self._memory_of_equations() if self.method.implicit else {}
        arrays |= {"A": self.table.ravel().copy(), "c": self.c, "b": self._weights(), "clocks": aligned(stages)}
        arrays |= {"ends": np.zeros(5 * stages + 1, dtype=np.int64), "tape": first_tape(self.code)}
        places = [at.quaternion.start for at in turning_joints(model)]
        arrays |= {"quaternions": np.array([*places, 0], dtype=np.int64)}
        return arrays | {"tau": aligned(max(1, model.nv)), "u": aligned(max(1, model.input_width))}

    def _weights(self) -> Array:
        b = np.zeros(self.stages)
        b[: len(self.method.b)] = self.method.b
        return b

    def dense_weights(self, log: Array, step: NDArray[np.intp], times: Array) -> Array:
        """h w_i of samples at times inside their steps, (samples, stages)."""
        found = np.zeros((len(times), self.stages))
        if self.method.adaptive:
            t, h = log[step, 0], log[step, 1]
            x = (times - t) / h
            dense = np.array(self.method.dense)[: self.stages]  # (stages, degree)
            found[:, : len(dense)] = h[:, None] * ((x[:, None] ** np.arange(1, dense.shape[1] + 1)) @ dense.T)
        return found

    def back(
        self,
        log: Log,
        given: Mapping[str, Array],
        times: Array,
        seeds: Array,
        end: Array,
        passing: Passing | None = None,
    ) -> Array:
        """Adjoint of the first state, (nq + nv,); those of the data are added to ``bars``.

        ``times``: of the samples, in order, with their adjoints ``seeds``, (samples, nq + nv); ``end``: adjoint of the last
        state by what comes after it, (nq + nv,).
        """
        self.arrays["lam"][: self.state] = self._padded(end[None])[0]
        for name in ("tau", "u"):
            self.arrays[name][: len(given[name])] = given[name]
        left = len(times)  # samples of the pieces that are still to come
        for piece, rows in zip(reversed(log.pieces), log.backward(), strict=True):
            if len(rows) > 1:
                first = int(np.searchsorted(times[:left], rows[0, 0], side="right"))
                states, short = self._unpadded(rows[:, WIDE:]), piece.short
                ends = times_seen(rows)
                jumps = [] if passing is None or short is None else passing.found(ends, states, short)
                more = self._inside(rows, times[first:left], seeds[first:left])
                last = len(rows) - 1
                for n in reversed(jumps):
                    self._back_through(more, last, n + 1)
                    assert passing is not None
                    bar = passing.back(ends[n : n + 1], states[n : n + 2], self._unpadded(self.arrays["lam"][None])[0])
                    self.arrays["lam"][: self.state] = self._padded(bar[None])[0]
                    last = n + 1
                self._back_through(more, last, 0)
                left = first
        return self._unpadded(self.arrays["lam"][None])[0]

    def _inside(self, rows: Array, times: Array, seeds: Array) -> dict[str, NDArray[Any]]:
        """What back() reads of steps that have a row each, and one for the state after the last, and of samples in them."""
        steps = len(rows) - 1
        inside = np.minimum(np.searchsorted(rows[1:, 0], times, side="left"), steps - 1)
        samples = np.searchsorted(inside, np.arange(steps + 1), side="left").astype(np.int64)
        more: dict[str, NDArray[Any]] = {"log": rows, "samples": samples, "seeds": self._padded(seeds)}
        more["weights"] = self.dense_weights(rows, inside, times)
        return more

    def _back_through(self, more: Mapping[str, NDArray[Any]], last: int, first: int) -> None:
        """Steps last-1 .. first."""
        while last > first:
            bound = self._bound(more)  # alive as long as machine code reads it
            last = self._back(bound.ctypes.data, last, first)
            if last > first:
                self.arrays["tape"] = np.empty(2 * self.arrays["tape"].size)

    def _unpadded(self, rows: Array) -> Array:
        nq, nv = self.plan.model.nq, self.plan.model.nv
        return np.concatenate([rows[:, :nq], rows[:, self.v_start : self.v_start + nv]], axis=1)

    def _padded(self, rows: Array) -> Array:
        nq, nv = self.plan.model.nq, self.plan.model.nv
        found = np.zeros((max(1, len(rows)), self.state))
        found[: len(rows), :nq] = rows[:, :nq]
        found[: len(rows), self.v_start : self.v_start + nv] = rows[:, nq:]
        return found

    def _bound(self, more: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
        arrays = self.arrays | dict(more)
        known = self._numbers | {name: x.ctypes.data for name, x in arrays.items()}
        tape = arrays["tape"]
        known["limit"] = tape.ctypes.data + 8 * (tape.size - MARGIN)
        places = self._places(self.code.arguments, self.adjoints)
        return np.array([known.get(name, 0) for name in places], dtype=np.int64)

    def data_bars(self) -> dict[str, Array]:
        """Adjoints of the data of the design so far, and zeros in their place."""
        found = {name: self.bars[name].copy() for name in active_data(self.plan) if name in self.bars}
        for name in found:
            self.bars[name][:] = 0.0
        return found


def _tableau(method: RungeKutta) -> tuple[Array, Array]:
    """All stages as rows of a square matrix, and their times: that at the end, and those of dense output, come last."""
    rows = [*zip(method.c, method.A, strict=True)]
    if method.adaptive and not method.implicit:
        rows += [(1.0, method.b), *method.extra]
    A = np.zeros((len(rows), len(rows)))
    for i, (_, row) in enumerate(rows):
        A[i, : len(row)] = row
    return A, np.array([c for c, _ in rows])
