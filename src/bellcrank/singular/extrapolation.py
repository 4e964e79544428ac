"""RATTLE extrapolated: an interval through a singular position, as accurate as the tolerances of a run ask for.

RATTLE is symmetric, so that its error over an interval has an expansion in even powers of the step h. States from runs with
steps h, h/2, h/3, ... combine to orders 2, 4, 6, ... (Hairer, Norsett & Wanner, Solving ODEs I, II.9):

    T_j,1 = y(h/j)        T_j,k+1 = T_j,k + (T_j,k - T_j-1,k) / ((j/(j-k))^2 - 1)

All runs have some places in time in common, the nodes, where everything is extrapolated; between them a polynomial leads
through the nearest ones. The interval is chosen such that its end is regular: in a singular position the closures do not tell
one direction of an extrapolated state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from .outcome import Passed, Report
from .rattle import integrate_rattle
from .settling import Settling

Array = NDArray[np.float64]
State = dict[str, Array]
Regular = Callable[[Array, float, Report], bool]  # of q, t, and the report of the steps that led there

NODES = 6  # intervals between nodes, at least
LEVELS = 6  # the shortest steps are a sixth of the longest
FLOOR = 1e-10  # tolerances below this ask for more than rounding leaves of a state beside a singular position
LONGER, OFTEN = 1.5, 6  # an interval is made longer, so often, while its end is nearly singular
HALVINGS = 6


class Tolerance(NamedTuple):
    """An error of atol + rtol |y| of q and v is allowed, and of atol + rtol (|y| + energy) of works."""

    rtol: float
    atol: float
    energy: float

    def over(self, error: Array, y: Array, works: int) -> float:
        """The largest root mean square of an error over its tolerance, of rows of states."""
        size = np.append(np.zeros(y.shape[1] - works), np.full(works, self.energy))
        allowed = max(self.atol, FLOOR) + max(self.rtol, FLOOR) * (np.abs(y) + size)
        return float(np.sqrt(np.mean((error / allowed) ** 2, axis=1)).max())


class Interval:
    """States (q, v, works) from the first to the last of its nodes. ``error``: estimated, over the tolerance."""

    def __init__(self, settling: Settling, passed: Passed, y: Array, error: float, steps: int, allowed: float):
        self.nodes, self.report, self.problem = passed.times, passed.report, passed.problem
        self.error, self.counts = error, passed.counts | {"steps": steps}
        self._y, self._settling, self._allowed = y, settling, allowed

    @property
    def end(self) -> float:
        return float(self.nodes[-1])

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """q, v and works, on the closures as far as these know them."""
        first = int(np.clip(np.searchsorted(self.nodes, t) - (NODES + 1) // 2, 0, max(0, len(self.nodes) - NODES - 1)))
        near = slice(first, first + NODES + 1)
        model = self._settling.model
        q, v, works = np.split(_lagrange(self.nodes[near], t) @ self._y[near], [model.nq, model.nq + model.nv])
        return *self._settling(q, v, t, self._allowed), works


def _lagrange(nodes: Array, t: float) -> Array:
    """Weights, at t, of values at the nodes in the polynomial through them."""
    factors = (t - nodes) / (nodes[:, None] - nodes + np.eye(len(nodes)))
    np.fill_diagonal(factors, 1.0)
    return np.asarray(factors.prod(axis=1))


class Extrapolation:
    """Intervals of RATTLE from a start on; ``regular`` says where one may end."""

    def __init__(self, dynamics: Dynamics, start: State, tolerance: Tolerance, max_step: float | None, regular: Regular):
        self.dynamics, self.start, self.tolerance = dynamics, start, tolerance
        self.max_step, self.regular = max_step, regular
        self.spacing = np.inf  # of the nodes, at most
        self.settling = Settling(dynamics, start)

    def __call__(self, length: float, end: float) -> Interval:
        """Over about ``length``, to a place that is regular but not beyond ``end``; halved until its errors are small.

        If halving does not help, as where a force changes abruptly, the shortest with the error that it has, if its end is
        regular, or else the whole.
        """
        t = float(self.start["t"])
        self.spacing = min(length / NODES, self.max_step or np.inf)
        nodes, pilot = self._to_a_regular_place(min(length, end - t), end)
        found = whole = self._over(nodes, pilot)
        for _ in range(HALVINGS):
            if found.error <= 1.0 or _interrupted(found.problem):
                return found
            nodes = self._nodes(0.5 * (nodes[-1] - t), end)
            found = self._over(nodes, self._run(nodes))
        regular = found.problem is None and self.regular(found.at(found.end)[0], found.end, found.report)
        return found if found.error <= 1.0 or regular or whole.problem is not None else whole

    def _nodes(self, length: float, end: float) -> Array:
        t = float(self.start["t"])
        count = max(NODES, int(np.ceil(length / self.spacing * (1 - 1e-9))))
        return np.append(t + length * np.arange(count) / count, min(t + length, end))

    def _run(self, nodes: Array, level: int = 1) -> Passed:
        return integrate_rattle(self.dynamics, self.start, nodes, float(nodes[1] - nodes[0]) / level)

    def _to_a_regular_place(self, length: float, end: float) -> tuple[Array, Passed]:
        """Nodes, and the run with the longest steps; over a longer interval if its end would be singular, if that helps."""
        first = None
        for k in range(OFTEN):
            nodes = self._nodes(min(length * LONGER**k, end - float(self.start["t"])), end)
            pilot = self._run(nodes)
            first = first or (nodes, pilot)
            if pilot.problem is not None:
                break
            if nodes[-1] >= end or self.regular(pilot.q[-1], float(nodes[-1]), pilot.report):
                return nodes, pilot
        assert first is not None
        return first

    def _over(self, nodes: Array, pilot: Passed) -> Interval:
        """The interval by ever shorter steps until two orders agree, or the best of them; steps that fail are left out."""
        levels: list[int] = []
        row: list[Array] = []
        best, steps = (np.inf, pilot, _states(pilot)), 0
        for level in range(1, LEVELS + 1):
            passed = pilot if level == 1 else self._run(nodes, level)
            steps += passed.counts["steps"]
            if _interrupted(passed.problem):
                best = (np.inf, passed, _states(passed))
                break
            if passed.problem is not None:
                continue
            row = _next_row(row, levels, level, _states(passed))
            levels.append(level)
            if best[1].problem is not None:
                best = (np.inf, passed, row[-1])
            if len(row) > 1:
                error = self.tolerance.over(row[-1] - row[-2], row[-1], passed.works.shape[1])
                best = min(best, (error, passed, row[-1]), key=lambda found: found[0])
            if best[0] <= 1.0:
                break
        error, passed, y = best
        return Interval(self.settling, passed, y, error, steps, max(self.tolerance.rtol, self.tolerance.atol, FLOOR))


def _next_row(before: list[Array], levels: list[int], level: int, y: Array) -> list[Array]:
    """T_j,1, T_j,2, ... from those of the level before."""
    row = [y]
    for k, older in enumerate(before):
        row.append(row[k] + (row[k] - older) / ((level / levels[-1 - k]) ** 2 - 1))
    return row


def _states(passed: Passed) -> Array:
    return np.hstack([passed.q, passed.v, passed.works])


def _interrupted(problem: str | None) -> bool:
    return problem is not None and problem.startswith("interrupted")
