"""A run with its tangents: the state and its derivatives at given times, by the compiled loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.derivatives.by_design import AtState
from ..dynamics.differentiation import Changes, derivatives
from ..dynamics.dynamics import Dynamics
from ..dynamics.quantities.measures import measuring
from ..errors import Interrupted, SimulationError
from ..formulations import QUANTITIES
from ..integrate import METHODS
from ..machine.steps.cuts.corners import just_after, just_before
from ..machine.steps.programs import projections
from ..machine.steps.trajectory import Tangents
from ..machine.tangents.data import design_tangents
from ..model import Model
from ..model.manifold import turning_joints, unit_quaternions
from ..plan import Plan
from ..run.arguments import AUTO
from ..run.compiled import Limits, in_machine_code
from ..run.joining import State, from_last, joined, on_grid, still_to_come
from ..run.loops.row_choice import KeptRows, Stretches
from ..run.loops.treatment import Loops
from ..run.stiff.stiffness import Stiffness, remedy
from ..run.system import Outcome
from .jumps.timed import run_through, timed_jumps

if TYPE_CHECKING:
    from ..design import Design

Array = NDArray[np.float64]


def ended_early(model: Model, problem: str) -> SimulationError:
    """The error of a run that ended early and whose derivatives are wanted."""
    kind = Interrupted if problem.startswith("interrupted") else SimulationError
    return kind(f"model {model.name!r} {problem} Derivatives end there too.", None)


@dataclass(frozen=True)
class ScaledDesign:
    """Parameters in units of their own size, so that tangents are as large as the state: what error control compares."""

    design: Design
    size: Array  # (parameters,)
    _data: dict[int, tuple[Plan, dict[str, Array]]] = field(default_factory=dict)

    @classmethod
    def of(cls, design: Design) -> ScaledDesign:
        return cls(design, np.where(design.start == 0, 1.0, np.abs(design.start)))

    @property
    def count(self) -> int:
        return len(self.size)

    def data(self, plan: Plan) -> dict[str, Array]:
        """Tangents of the data of a plan, as kernels take them."""
        known = self._data.get(id(plan))
        if known is None:
            found = self.design.tangents(self.design.start, plan)
            found = design_tangents(plan, {name: x * self.size for name, x in found.items()}, self.count)
            known = self._data[id(plan)] = plan, found
        return known[1]

    def changes(self, plan: Plan, **along: Array) -> Changes:
        return Changes(self.count, along, self.data(plan))


@dataclass(frozen=True)
class History:
    """Samples of a run and their derivatives by the parameters, in units of the parameters."""

    outcome: Outcome
    stretches: Stretches
    start: State
    sizes: Array

    @property
    def times(self) -> Array:
        return self.outcome.times

    @property
    def dq(self) -> Array:
        assert self.outcome.dq is not None
        return np.asarray(self.outcome.dq / self.sizes)

    @property
    def dv(self) -> Array:
        assert self.outcome.dv is not None
        return np.asarray(self.outcome.dv / self.sizes)

    def measured(self, names: Sequence[str]) -> tuple[Array, Array, tuple[str, ...]]:
        """Measures at all samples: values (T, columns), derivatives (T, columns, parameters), and units."""
        parts: list[tuple[Array, Array]] = []
        units: tuple[str, ...] = ()
        for dyn, here in self.parts():
            code = measuring(dyn, names)
            units = code.units
            parts.append(self._at(dyn, here).measured(code))
        values, along = (np.concatenate(part) for part in zip(*parts, strict=True))
        return values, along, units

    def parts(self) -> Iterator[tuple[Dynamics, slice]]:
        """The Dynamics with which samples were computed, and which samples these are."""
        ends = [first for first, _ in self.stretches[1:]] + [len(self.times)]
        for (first, dyn), last in zip(self.stretches, ends, strict=True):
            if last > first:
                yield dyn, slice(first, last)

    def values(self, names: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
        """Values of measures at all samples, (T, columns), and their units."""
        parts, u = list(self.parts()), self.start["u"]
        found = [dyn.measures(**self._rows(here), t=self.times[here], inputs=u, names=list(names)) for dyn, here in parts]
        return np.concatenate(found), measuring(parts[0][0], names).units

    def rates(self, names: Sequence[str]) -> Array:
        """The rates of measures, (T, columns)."""
        return np.concatenate([self._rates(dyn, here, names) for dyn, here in self.parts()])

    def sides(self, names: Sequence[str], k: int) -> tuple[Array, Array]:
        """Measures just before and just after the time of a sample, (columns,)."""
        dyn = next(dyn for first, dyn in reversed(self.stretches) if first <= k)
        given: dict[str, Any] = {"inputs": self.start["u"], "names": list(names)}
        state = self.outcome.q[k], self.outcome.v[k], self.start["tau"]
        before, after = (dyn.measures(*state, t=at(self.times[k]), **given) for at in (just_before, just_after))
        return before, after

    def rate_of_state(self, of: str, k: int) -> float:
        """Rate of a coordinate or a velocity, by its name, at a sample."""
        dyn = next(dyn for first, dyn in reversed(self.stretches) if first <= k)
        model, q, v = dyn.model, self.outcome.q[k], self.outcome.v[k]
        if of in model.q_names:
            return float(dyn.rates(q, v)[model.q_names.index(of)])
        velocity = velocity_named(model, of)
        assert velocity is not None
        return float(self.acceleration(k)[velocity])

    def acceleration(self, k: int) -> Array:
        """The acceleration at a sample, (nv,)."""
        dyn = next(dyn for first, dyn in reversed(self.stretches) if first <= k)
        state = self.outcome.q[k], self.outcome.v[k], self.start["tau"]
        return np.asarray(dyn.acceleration(*state, t=float(self.times[k]), inputs=self.start["u"]))

    def along_state(self, of: str, k: int) -> Array:
        """Derivatives of the same, (parameters,)."""
        model = self.stretches[0][1].model
        if of in model.q_names:
            return np.asarray(self.dq[k, model.q_names.index(of)])
        velocity = velocity_named(model, of)
        assert velocity is not None
        return np.asarray(self.dv[k, velocity])

    def _rows(self, here: slice) -> dict[str, Array]:
        q, v = self.outcome.q[here], self.outcome.v[here]
        return {"q": q, "v": v, "tau": np.broadcast_to(self.start["tau"], v.shape).copy()}

    def _at(self, dyn: Dynamics, here: slice) -> AtState:
        along = {"q": self.dq[here], "v": self.dv[here]}
        return AtState(dyn, self._rows(here), along, None, self.times[here], self.start["u"], True)

    def _rates(self, dyn: Dynamics, here: slice, names: Sequence[str]) -> Array:
        """The rates of measures: their derivatives along the motion."""
        code = measuring(dyn, names)
        if code.pushed:  # jerks of reactions are not asked for
            found = np.full((here.stop - here.start, len(names)), np.nan)
            known = [k for k, name in enumerate(names) if not measuring(dyn, [name]).pushed]
            if known:
                found[:, known] = self._rates(dyn, here, [names[k] for k in known])
            return found
        rows, t, u = self._rows(here), self.times[here], self.start["u"]
        a = dyn.evaluate(dyn.program, rows, t, u)
        motion = {"q": dyn.rates(rows["q"], rows["v"])[..., None], "v": a[..., None], "t": np.ones((1, 1, 1))}
        given = dict(rows)
        if code.moving:
            given["a"] = a
            motion["a"] = derivatives(dyn, dyn.program, rows, Changes(1, motion), t, u)["a"].along
        along = derivatives(code.evaluation, code.program, given, Changes(1, motion), t, u)["measure"].along
        return np.asarray(along[:, code.columns, 0])


def integrate(
    dynamics: Dynamics,
    scaled: ScaledDesign,
    start: State,
    times: Array,
    method: str,
    limits: Limits,
    loops: Loops,
    control: bool,
    progress: Callable[[float], None] | None = None,
) -> History:
    """Integrates from a start, which has dq and dv in scaled parameters, through the times."""

    steps = _Steps(scaled, limits, control, progress, Stiffness(dynamics.model.name, method, remedy(), switches=method == AUTO))
    steps.method = "dopri5" if method == AUTO else method

    found = timed_jumps(scaled.design, float(times[0]), float(times[-1]), moved=True)
    jumps = [jump._replace(along=jump.along * scaled.size) for jump in found]

    def run(by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
        outcome = run_through(jumps, steps, by, first, until, how)
        return on_closures(by, scaled, outcome) if by.model.closures and how.project else outcome

    kept = KeptRows(dynamics, run, loops)
    whole = kept if dynamics.model.closures and loops.project else kept.unchanged
    outcome = whole(start, times)
    return History(outcome, kept.stretches(outcome.times), start, scaled.size)


@dataclass
class _Steps:
    """The steps of a run: by one method, or, where none was chosen, by radau as soon as the run shows itself stiff."""

    scaled: ScaledDesign
    limits: Limits
    control: bool
    progress: Callable[[float], None] | None
    stiffness: Stiffness
    method: str = "dopri5"

    def __call__(self, by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
        scheme = METHODS[self.method]
        stiffness = None if scheme.implicit else self.stiffness
        tangents = Tangents(self.scaled.count, self.scaled.data(by.plan), self.control)
        outcome = in_machine_code(by, scheme, first, until, self.limits, None, self.progress, how, stiffness, tangents=tangents)
        if stiffness is None or stiffness.left_at is None:
            return outcome
        self.method = "radau"
        outcome = on_grid(outcome, until)
        later = still_to_come(outcome, until)
        if outcome.problem is not None or not len(later):
            return outcome
        rest = self(by, from_last(by, first, outcome), np.append(outcome.times[-1], later), how)
        return joined(outcome, rest, np.isin(outcome.times, until))


def on_closures(dynamics: Dynamics, scaled: ScaledDesign, outcome: Outcome) -> Outcome:
    """Samples between steps, and their tangents, moved onto the closures; the first one was there before."""
    if len(outcome.times) == 1 or outcome.dq is None or outcome.dv is None:
        return outcome
    model, t = dynamics.model, outcome.times[1:]
    q, v = dynamics.projected(outcome.q[1:], outcome.v[1:], t=t, steps=2)
    q = unit_quaternions(model, q)
    dq, dv, programs = outcome.dq[1:].copy(), outcome.dv[1:].copy(), projections("minimum_norm", dynamics.plan)
    rows = {"q": q, "v": v}
    changes = scaled.changes(dynamics.plan, q=dq, v=dv)
    dx = derivatives(dynamics, programs["positions"], rows, changes, t)["dx"].along
    still = {"q": np.zeros_like(dq), "v": dx}
    at_rest = {"q": q, "v": np.zeros_like(v)}
    dq = _unit(model, q, dq + derivatives(dynamics, QUANTITIES["rates"], at_rest, Changes(scaled.count, still))["qdot"].along)
    changes = Changes(scaled.count, {"q": dq, "v": dv}, changes.tangents)
    dv = dv + derivatives(dynamics, programs["velocities"], rows, changes, t)["dv"].along
    first = outcome.until(1)
    assert first.dq is not None and first.dv is not None
    return outcome._replace(
        q=np.vstack([first.q, q]),
        v=np.vstack([first.v, v]),
        dq=np.concatenate([first.dq, dq]),
        dv=np.concatenate([first.dv, dv]),
    )


def _unit(model: object, q: Array, dq: Array) -> Array:
    """Tangents of unit quaternions are at right angles to them."""
    for at in turning_joints(model):  # type: ignore[arg-type]
        x, dx = q[:, at.quaternion], dq[:, at.quaternion]
        dq[:, at.quaternion] = dx - x[:, :, None] * np.einsum("ti,tip->tp", x, dx)[:, None, :]
    return dq


def is_state(model: Model, of: str) -> bool:
    return of in model.q_names or velocity_named(model, of) is not None


def velocity_named(model: Model, of: str) -> int | None:
    names = {f"{name}.v" if "." not in name else name: k for k, name in enumerate(model.v_names)}
    names |= {f"{name}.v": k for k, name in enumerate(model.v_names)}
    return names.get(of)
