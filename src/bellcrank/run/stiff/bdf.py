"""Runs of stiff models by scipy's BDF, with exact Jacobians; radau is in machine code (machine.steps.implicit).

The state is y = (q, v, works). With E, E+ and the derivatives of the acceleration (manifold.py, Dynamics.jacobians),

         [ d(E v)/dq     E      0 ]
    J =  [ da/dd E+     da/dv   0 ]
         [ 0             0      0 ]

Works are quadratures: they depend on nothing but what was integrated before, so they need no rows of J.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...errors import StateError
from ...kernels.threads import look_for_stop
from ...machine.steps.adaptive import DIVIDED
from ...plan.turns import FINE
from ...wording import argument
from ..checks.horizon import EndNotInSight, Horizon
from ..events import Watcher
from ..loops.treatment import NO_LOOPS, Loops
from ..loops.watch import SingularityWatch, watch_from
from ..system import Fastest, FirstOrder, Outcome, Passage, energy_scale
from .ends import StepEnds

Array = NDArray[np.float64]

STIFF_METHODS = ("bdf",)
_COUNTED = ("nfev", "njev", "nlu")
FINEST = 100 * float(np.finfo(float).eps)  # of scipy's solvers


def integrate_stiff(
    dynamics: Dynamics,
    method: str,
    start: dict[str, Array],
    times: Array,
    rtol: float,
    atol: float,
    max_step: float | None = None,
    progress: Callable[[float], None] | None = None,
    loops: Loops = NO_LOOPS,
    watcher: Watcher | None = None,
    horizon: Horizon | None = None,
) -> Outcome:
    """A run from ``start`` (q, v, tau, u) at times[0] to times[-1], with samples at all times between.

    "bdf" has orders 1 to 5 and interpolates to its own order.
    """
    _check(method, rtol)
    system = FirstOrder(dynamics, start, loops)
    watch = watch_from(dynamics, loops, float(times[0]), start["q"])
    passages: list[Passage] = []
    y = np.concatenate([start["q"], start["v"], np.zeros(system.works)])
    of_works = atol + 1e3 * rtol * energy_scale(dynamics, start)  # looser: J has no rows for them
    tolerances = np.where(np.arange(len(y)) < system.state, atol, of_works)
    solver_from = _solvers(system, float(times[-1]), rtol=rtol, atol=tolerances, max_step=max_step or np.inf)
    solver = solver_from(float(times[0]), y)
    kept, peak, anchored = [y], Fastest(dynamics), [system.anchors()]
    steps, problem = 0, None
    ends = StepEnds(system, times, rtol, atol)
    counted = np.zeros(3, dtype=int)  # evaluations, Jacobians and factorizations of solvers before this one
    try:
        while problem is None and len(kept) < len(times) and not (ends.final and solver.t >= ends.cut):
            solver.t_bound, solver.status = ends.next(solver.t), "running"
            before, saved = (solver.t, solver.y.copy()), _saved(solver)
            if watch is not None:
                solver.max_step = min(max_step or np.inf, _longest(system, watch, solver.t, solver.y))
            problem = _step(solver, system, method)
            if problem is None and ends.shorten(before, solver, watcher):
                vars(solver).update(saved)
                continue
            if problem is None and watch is not None:
                _close(solver, system)
                nq = dynamics.model.nq
                met = watch.look(solver.t, solver.y[:nq])
                if met is not None and not loops.go_on:  # the step is taken back, and divided unless it is fine
                    turn, h = watch.turn(before[1][:nq], solver.y[:nq]), solver.t - before[0]
                    if turn > FINE:
                        counted += _counts(solver)
                        solver = solver_from(*before, first_step=DIVIDED * h)
                        watch.forget()
                        continue
                    solver.t, solver.y = before
                    problem = met._replace(time=solver.t).problem()
                passages += [] if met is None else [met]
            if problem is None:
                steps += 1
                peak.note(solver.t, solver.y)
                kept += _reached(solver, times[len(kept) :])
                anchored += [system.anchors()] * (len(kept) - len(anchored))
                system.draw_anchors(solver.y)
                if ends.reached(solver.t):  # what follows is another piece of the motion
                    counted += _counts(solver)
                    solver = solver_from(solver.t, solver.y)
                _report(horizon, progress, float(solver.t), steps, times)
    except KeyboardInterrupt:
        problem = f"interrupted at t = {solver.t:.6g} s"
    except EndNotInSight as why:
        problem = str(why)
    if watcher is not None and problem is not None:
        watcher.forget_after(solver.t)
    reached = times[: len(kept)]
    if (problem is not None or ends.final) and solver.t > reached[-1]:
        reached, kept, anchored = np.append(reached, solver.t), [*kept, solver.y.copy()], [*anchored, system.anchors()]
    counts = {"steps": steps, **_named(counted + _counts(solver))}
    found = Outcome(reached, *system.parts(np.array(kept)), counts, problem, tuple(passages))
    return found._replace(peak=peak.kinetic(), anchors=_held(system, anchored))


def _named(counted: NDArray[np.int_]) -> dict[str, int]:
    return dict(zip(("evaluations", "jacobians", "factorizations"), counted.tolist(), strict=True))


def _held(system: FirstOrder, anchored: list[Array]) -> Array | None:
    return np.array(anchored) if system.model.stictions else None


def _report(horizon: Horizon | None, progress: Callable[[float], None] | None, t: float, steps: int, times: Array) -> None:
    """Reports how far the run is."""
    look_for_stop()
    if horizon is not None:
        horizon.look(t, steps)
    if progress is not None:
        progress(float((t - times[0]) / (times[-1] - times[0])))


def _check(method: str, rtol: float) -> None:
    if method not in STIFF_METHODS:
        raise StateError(f"there is no stiff method {method!r}: use one of {', '.join(STIFF_METHODS)}")
    if rtol < FINEST:
        raise StateError(f"{method} cannot keep {argument('rtol')} {rtol:g}: give {FINEST:.2g} at least")


def _solvers(system: FirstOrder, end: float, **options: Any) -> Callable[..., Any]:
    """A solver of scipy's from a time and a state on."""
    from scipy.integrate import BDF

    def solver_from(t: float, y: Array, **more: float) -> Any:
        return BDF(system.slope, t, y, end, jac=system.jacobian, **options, **more)

    return solver_from


def _saved(solver: Any) -> dict[str, Any]:
    """All of a solver before a step, except its counts, so that the step can be taken again with another end."""
    return {name: x for name, x in vars(solver).items() if name not in _COUNTED} | {"D": solver.D.copy()}


def _counts(solver: Any) -> NDArray[np.int_]:
    return np.array([getattr(solver, name) for name in _COUNTED])


def _longest(system: FirstOrder, watch: SingularityWatch, t: float, y: Array) -> float:
    """A step in which the coordinates of loops do not move further than they may."""
    nq, slope = system.model.nq, system.slope(t, y)
    if not np.isfinite(slope).all():
        return np.inf  # and the solver says the rest
    return watch.longest_step(slope[:nq], system.dynamics.rates(y[:nq], slope[nq : system.state]))


def _close(solver: Any, system: FirstOrder) -> None:
    """Move the solver's state onto the closures: by less than its tolerance, so that its history stays good."""
    solver.y = system.closed(solver.t, solver.y)
    solver.D[0] = solver.y  # its table of differences starts with the state


def _step(solver: Any, system: FirstOrder, method: str) -> str | None:
    """One step; what went wrong, when, and at which coordinate."""
    where = f"stopped at t = {solver.t:.9g} s: {system.worst(solver.t, solver.y)}"
    with np.errstate(all="ignore"):
        try:
            solver.step()
        except (ValueError, np.linalg.LinAlgError):  # a matrix that is not finite, or cannot be factored
            return f"{where} has derivatives that are not finite. What was computed until then is kept."
    if solver.status != "failed":
        return None
    return (
        f"{where} changes too fast, {method} would need a step below {10 * np.spacing(solver.t):.2g} s. "
        f"Look for massless parts or forces without bound there, or loosen {argument('rtol')} and {argument('atol')}. "
        "What was computed until then is kept."
    )


def _reached(solver: Any, ahead: Array) -> list[Array]:
    """States at the samples that the last step came to or passed."""
    passed = ahead[ahead <= solver.t]
    if not len(passed):
        return []
    between = solver.dense_output()
    return [between(t) if t < solver.t else solver.y.copy() for t in passed]
