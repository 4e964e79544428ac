"""When a formula over measures is largest in a run: to first order its largest value changes as the value at that time does.

That holds where the formula is level, and so the time must be found well, however far apart the samples of a run are. Around
the largest sample a piece of the run is taken again, without derivatives, through Chebyshev's points; where the polynomial
through them has converged its slope is solved for zero, else the piece is narrowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.polynomial.chebyshev import chebpts2
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import warn
from ..integrate import METHODS
from ..model.manifold import unit_quaternions
from ..model.parameters.expressions import derived
from ..run.compiled import Limits, in_machine_code
from ..run.joining import State
from ..run.loops.midpoint import closes_by_itself
from ..run.loops.row_choice import KeptRows
from ..run.loops.treatment import Loops
from ..run.system import Outcome
from .output_names import Output
from .regular import quietly

if TYPE_CHECKING:
    from ..results import Run

Array = NDArray[np.float64]

POINTS = 17
CONVERGED = 1e-7  # of the polynomial: its last coefficients, as parts of the largest but the mean
NARROWINGS = 4
STEEP = 0.1  # of the slope in the first piece: in the last one, that of a smooth function is nearly level


@dataclass(frozen=True)
class Peaks:
    """The peaks of a run that is known at samples; ``start``: its first state, with what acts on it."""

    dynamics: Dynamics
    run: Run
    start: State
    limits: Limits
    loops: Loops

    def time_of(self, output: Output) -> float:
        """The time at which max(...) or min(...) is taken, to about the accuracy of the run."""
        times = self.run.values("time")
        values = self._values(output, times, self.run.values("q"), self.run.values("v"), self.run.values("a"))
        k = int(np.argmax(np.where(np.isnan(values), -np.inf, values)))
        a, b = float(times[max(k - 1, 0)]), float(times[min(k + 1, len(times) - 1)])
        slopes = []
        for _ in range(NARROWINGS):
            nodes = 0.5 * (a + b) + 0.5 * (b - a) * chebpts2(POINTS)
            nodes[0], nodes[-1] = a, b
            values = self._between(output, max(k - 1, 0), nodes)
            if len(values) < POINTS or not np.isfinite(values).all():
                return float(times[k])
            curve, best = Chebyshev.fit(nodes, values, POINTS - 1, domain=[a, b]), int(np.argmax(values))
            slopes.append(float(np.ptp(values)) / (b - a))
            if np.abs(curve.coef[-3:]).max() <= CONVERGED * np.abs(curve.coef[1:]).max():
                return _highest(curve, float(nodes[best]))
            a, b = float(nodes[max(best - 1, 0)]), float(nodes[min(best + 1, POINTS - 1)])
        found = float(nodes[best])
        if slopes[-1] > STEEP * slopes[0] and times[0] < found < times[-1]:
            warn(
                f"output {output.name!r} is taken at t = {found:.6g} s, where {output.of!r} has a corner or jumps: what a "
                "design changes of that moment is missing in its derivative. bc.check_gradients compares with differences."
            )
        return found

    def _values(self, output: Output, t: Array, q: Array, v: Array, a: Array | None = None) -> Array:
        """Values of the formula, with its sign changed where the smallest one is wanted."""
        program, dyn = derived(output.of), self.dynamics
        given: dict[str, Any] = {"t": t, "inputs": self.start["u"], "names": list(program.names)}
        tau = np.broadcast_to(self.start["tau"], v.shape)
        columns = dyn.measures(q, v, tau, a=a, **given)
        with quietly():
            values = [float(program.run(dict(zip(program.names, row, strict=True)))) for row in columns]
        return np.array(values) * (-1.0 if output.taken == "min" else 1.0)

    def _between(self, output: Output, k: int, nodes: Array) -> Array:
        """Values at times from sample k on."""
        dyn, times = self.dynamics, self.run.values("time")
        q, v, first = self.run.values("q")[k], self.run.values("v")[k], float(times[k])
        a = dyn.acceleration(q, v, self.start["tau"], t=first, inputs=self.start["u"])
        state = self.start | {"q": q, "v": v, "t": np.array(first), "a": a}
        method = [name for since, name in self.run.settings["methods"] if since <= first][-1]
        projected = bool(dyn.model.closures) and self.loops.project and not closes_by_itself(method, dyn.model)

        def steps(by: Dynamics, start: State, until: Array, how: Loops) -> Outcome:
            found = in_machine_code(by, METHODS[method], start, until, self.limits, None, None, how)
            return _closed(by, found) if projected else found

        asked = nodes if nodes[0] == first else np.append(first, nodes)
        kept = KeptRows(dyn, steps, self.loops if projected else self.loops._replace(project=False))
        found = (kept if projected else kept.unchanged)(state, asked)
        return self._values(output, found.times, found.q, found.v)[len(asked) - len(nodes) :]


def _closed(dyn: Dynamics, outcome: Outcome) -> Outcome:
    """Samples between steps, moved onto the closures."""
    q, v = dyn.projected(outcome.q, outcome.v, t=outcome.times, steps=2)
    return outcome._replace(q=unit_quaternions(dyn.model, q), v=v)


def _highest(curve: Chebyshev, near: float) -> float:
    """The place where the polynomial is level and highest, or one of its ends."""
    a, b = (float(x) for x in curve.domain)
    roots = np.asarray(curve.deriv().roots(), dtype=complex)
    level = [float(x.real) for x in roots if abs(x.imag) <= 1e-9 * (b - a) and a < x.real < b]
    return max([near, *level], key=lambda t: float(curve(t)))
