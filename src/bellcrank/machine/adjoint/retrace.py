"""The backward pass of a run, seen from the host: the memory that back() works on."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...integrate import RungeKutta
from ...kernels.adjoint.transpose import MARGIN
from ...plan import Plan
from ..arrays import width
from ..calls.memory import aligned, bound_arrays
from ..kernel import obtain
from ..module import Module, assemble, structure_name, write_kernel
from ..steps.declared import own_buffers
from ..steps.implicit.closed import closed_midpoint_programs
from ..steps.implicit.kept_rows import is_closed_midpoint
from ..steps.layout import VECTOR
from ..steps.programs import programs, takes_momenta
from .closed import ClosedRetrace
from .implicit import ImplicitRetrace, jacobian_programs, write_linear_algebra
from .kernel import active_data, adjoint_arrays, first_tape, write_adjoint
from .log import Log, times_seen
from .memory import ARRAYS, EQUATIONS, NUMBERS, ROWS, TURNING, BackArray, Sizes, made, sizes_of, tableau
from .steps import Retrace
from .turning import TurningRetrace, turning_texts

Array = NDArray[np.float64]


def retraced(plan: Plan, program: Program, method: RungeKutta, metric: str, project: bool) -> dict[str, Program]:
    """The kernels of a step that are differentiated."""
    if is_closed_midpoint(plan, method):
        return {name: p for name, p in closed_midpoint_programs(plan, works=False).items() if name != "openings"}
    called = programs(plan, program, metric, works=False)
    closing = ["positions", *(["of_momenta", "to_momenta"] if takes_momenta(called) else ["velocities"])]
    wanted = ["kernel", "rates", *(closing if project and plan.model.closures else [])]
    return {name: called[name] for name in wanted}


class SurfaceCrossings(Protocol):
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
        sizes = sizes_of(plan, self.called, method, self.plain_rates)
        self.state, self.v_start = sizes.state, sizes.layout.v_start
        self.table, self.c = tableau(method)
        self._numbers = {name: size(sizes) for name, size in NUMBERS.items()}
        self.arrays = self._memory(sizes)
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

    @property
    def _declared(self) -> dict[str, BackArray]:
        more = (EQUATIONS if self.method.implicit else {}), (ROWS if self.closed else {}), (TURNING if self.turns else {})
        return ARRAYS | more[0] | more[1] | more[2]

    def _places(self, arguments: list[str], adjoints: Mapping[str, list[str]]) -> list[str]:
        """What ``bound`` has, in order: numbers, then addresses; of kernels' arrays, of outputs, of adjoints of both."""
        outputs = dict.fromkeys(f"out:{x}" for program in (self.called | self.others).values() for x in program.outputs)
        bars = dict.fromkeys(f"bar:{x}" for names in adjoints.values() for x in names)
        apart = [f"tangent:{name}" for name in own_buffers()] if self.method.implicit else []
        apart += [f"thrown:{x}" for x in active_data(self.plan)] if self.turns else []
        return [*NUMBERS, *self._declared, *arguments, *outputs, *bars, *apart]

    @property
    def stages(self) -> int:
        return len(self.c)

    def _memory(self, sizes: Sizes) -> dict[str, NDArray[Any]]:
        """Arrays of kernels and their adjoints, and what is declared for the backward pass."""
        arrays: dict[str, NDArray[Any]] = bound_arrays(self.plan, self.code, 1)
        used = list(dict.fromkeys(x for names in self.adjoints.values() for x in names))
        self.bars = adjoint_arrays(arrays, used)
        arrays |= {f"bar:{name}": x for name, x in self.bars.items()}
        for program in (self.called | self.others).values():
            for name in program.outputs:
                count = max(self.state, width(self.plan, program, name) * (1 + program.tangents))
                for of in ("out", "bar"):
                    if count > arrays.get(f"{of}:{name}", np.zeros(0)).size:
                        arrays[f"{of}:{name}"] = aligned(count)
        arrays |= {f"bar:{name}": aligned(self.state) for name in ("q", "v", "p")}
        if self.method.implicit:
            bound = bound_arrays(self.plan, self.code, 1)
            arrays |= {f"tangent:{name}": bound[name] for name in own_buffers() if name in bound}
        if self.turns:
            arrays |= {f"thrown:{x}": aligned(bar.size) for x, bar in self.bars.items() if x in active_data(self.plan)}
        return arrays | made(self._declared, sizes) | {"tape": first_tape(self.code)}

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
        passing: SurfaceCrossings | None = None,
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
                states, short = self._unpadded(rows[:, VECTOR:]), piece.short
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
        known = self._numbers | {name: x.__array_interface__["data"][0] for name, x in arrays.items()}  # quicker than ctypes
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
