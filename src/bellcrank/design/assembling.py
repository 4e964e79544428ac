"""The start of a design: its loops are closed from a nearby start by a few steps of Newton's method on compiled closures.

What the model file says of the start is held; all other coordinates make the smallest change, lengths scaled:

    G dq = -Phi        q <- q + dq        and once        G dv = -(G v + Phi_t)
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..assembly.start import written
from ..formulations import QUANTITIES, Program
from ..machine.kernel import Frame, Kernel
from ..model.manifold import unit_quaternions
from ..plan import Plan
from ..plan.closures import row_scales

if TYPE_CHECKING:
    from .design import Design

Array = NDArray[np.float64]

CLOSED = 1e-12  # rad, or typical lengths
MOST_STEPS = 8
LONGEST = 0.5  # rad, or typical lengths: a start that is farther away is not near


class Bound:
    """A program on the arrays of a design, for one state."""

    def __init__(self, plan: Plan, program: Program, names: tuple[str, ...]):
        kernel = Kernel(plan, program, 1)
        frame = Frame(kernel)
        self.arrays: dict[str, Array] = {}
        for name in (name for name in names if name in frame.arrays):  # copies: a frame has the plan's own
            self.arrays[name] = frame.arrays[name] = frame.arrays[name].copy()
            frame.set(name, self.arrays[name].ctypes.data)
        self._call = kernel.single(frame)
        self._time = [np.zeros(1)] if "t" in kernel.program.inputs else []
        self._size = kernel.widths[kernel.output]

    @property
    def possible(self) -> bool:
        return self._call is not None

    def set(self, arrays: dict[str, Array]) -> None:
        for name, array in self.arrays.items():
            array[...] = arrays[name]

    def __call__(self, *given: Array) -> Array | None:
        """The assembled start; None where the result is not finite."""
        out = np.empty(self._size)
        assert self._call is not None
        return out if self._call(*given, *self._time, out) else None


class NearStarts:
    """Starts of designs, each found from a near one."""

    def __init__(self, design: Design):
        from ..dynamics.planning import planned

        model = self.model = design.base
        self.planned = planned(model, "multipliers", design=design)
        self.plan = self.planned.plan
        names = tuple(self.plan.varied)
        self._closure, self._jacobian = (Bound(self.plan, QUANTITIES[name], names) for name in ("closure", "closure_jacobian"))
        self._rates = Bound(self.plan, QUANTITIES["rates"], names)
        self.possible = self._closure.possible
        self.scales = row_scales(model, self.plan.length) / self.plan.length
        self.units = np.array([1.0 if unit.startswith("rad") else self.plan.length for unit in _units(model)])
        held_q, held_v = written(model)
        self.held_q = np.array([name in held_q for name in model.q_names], dtype=bool)
        self.free = np.array([name not in held_q for name in model.v_names], dtype=bool)
        self.free_v = np.array([name not in held_v for name in model.v_names], dtype=bool)
        self._rest = np.zeros(model.nv)
        self._alone = Lock()  # the arrays that the programs are bound to are those of one design at a time

    def find(self, arrays: dict[str, Array], q: Array) -> tuple[Array, Array] | None:
        """q and v of a design with these arrays; None where the way from q is not short, or the loops do not close."""
        with self._alone:
            for bound in (self._closure, self._jacobian, self._rates):
                bound.set(arrays)
            return self._find(arrays, q)

    def _find(self, arrays: dict[str, Array], q: Array) -> tuple[Array, Array] | None:
        there = np.where(self.held_q, arrays.get("given_q", self.model.given_q), q)
        if np.abs(there - q).max(initial=0.0) > LONGEST * max(1.0, self.plan.length):
            return None
        q = there
        for _ in range(MOST_STEPS):
            rows, G = self._closure(q, self._rest), self._jacobian(q, self._rest)
            if rows is None or G is None:
                return None
            errors = rows[::2] * self.scales
            if np.abs(errors).max(initial=0.0) <= CLOSED:
                return self._moving(G, q, arrays.get("given_v", self.model.given_v))
            step = self._smallest(G, errors, self.free)
            if not np.abs(step / self.units).max(initial=0.0) <= LONGEST:
                return None
            change = self._rates(q, step)
            if change is None:
                return None
            q = unit_quaternions(self.model, q + change)
        return None

    def _moving(self, G: Array, q: Array, v: Array) -> tuple[Array, Array] | None:
        rows = self._closure(q, np.ascontiguousarray(v))
        if rows is None:
            return None
        v = v + self._smallest(G, rows[1::2] * self.scales, self.free_v)
        rows = self._closure(q, v)
        if rows is None or np.abs(rows[1::2] * self.scales).max(initial=0.0) > 1e3 * CLOSED * (1.0 + np.abs(v).max()):
            return None
        return q, v

    def _smallest(self, G: Array, errors: Array, free: NDArray[np.bool_]) -> Array:
        rows = G.reshape(len(errors), -1) * self.scales[:, None] * self.units
        found: Any = np.linalg.lstsq(rows[:, free], -errors, rcond=self.plan.tolerance)[0]
        step = np.zeros(len(free))
        step[free] = found
        return step * self.units


def _units(model: Any) -> list[str]:
    return [unit for _, joint in model.moving_joints for unit in joint.v_units]
