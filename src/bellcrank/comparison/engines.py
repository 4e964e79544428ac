"""The interface of an engine that can be compared: it gives accelerations, and moves a model through time."""

from __future__ import annotations

import dataclasses
import timeit
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..dynamics import Dynamics, compile
from ..dynamics.differentiation import Changes, derivatives
from ..errors import BellcrankError
from ..formulations import QUANTITIES
from ..model import Model
from ..model.manifold import turning_joints
from ..run import simulate

Array = NDArray[np.float64]
BATCH = 1024
WITH_REFERENCE = ("reference_point", "canonical_momenta", "multipliers")  # families whose names end with one, after a colon
STEP = 1e-3  # s, of engines without an integrator that controls its error


@dataclasses.dataclass(frozen=True)
class Trajectory:
    """A run: samples of q and v at equal intervals, the first at the start, in our coordinates."""

    q: Array
    v: Array


class Engine(Protocol):
    """An engine holds one model without its force elements: those come as efforts tau."""

    name: str
    note: str

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array: ...

    def call(self, q: Array, v: Array, tau: Array) -> Callable[[], Any]:
        """One evaluation, everything else prepared, to be timed."""
        ...

    def move(self, duration: float) -> Trajectory: ...


class OwnFormulation:
    """One of our formulations."""

    note = ""

    def __init__(self, model: Model, name: str) -> None:
        self.name = name
        family, _, option = name.partition(":")
        self.options: dict[str, Any] = {"formulation": family}
        if option:
            self.options["reference" if family in WITH_REFERENCE else "variant"] = option
        self.model, self.dynamics = model, compile(model, **self.options)

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        if self.dynamics.canonical and self.model.closures and not has_motions(self.model):
            return self._from_momenta(q, v, tau)
        return self.dynamics.acceleration(q, v, tau)

    def _from_momenta(self, q: Array, v: Array, tau: Array) -> Array:
        """The rates of v(q, p) along Hamilton's equations: dv/dq dq/dt + dv/dp dp/dt, exactly."""
        p = self.dynamics.momenta(q, v)
        along = dict(zip("qp", self.dynamics.canonical_rates(q, p, tau), strict=True))
        changes = Changes(1, {name: x[None, :, None] for name, x in along.items()})
        rows = {"q": q[None], "p": p[None]}
        return derivatives(self.dynamics, QUANTITIES["closed_velocities"], rows, changes)["v"].along[0, :, 0]

    def call(self, q: Array, v: Array, tau: Array) -> Callable[[], Any]:
        return lambda: self.dynamics.acceleration(q, v, tau)

    def batch(self, q: Array, v: Array, tau: Array) -> Callable[[], Any]:
        many = [np.tile(x, (BATCH, 1)) for x in (q, v, tau)]
        return lambda: self.dynamics.acceleration(*many)

    def move(self, duration: float) -> Trajectory:
        run = simulate(self.model, duration, step=duration / 100, **self.options)
        return Trajectory(run.values("q"), run.values("v"))


def has_motions(model: Model) -> bool:
    """Whether motions are prescribed, of joints or of closures."""
    return bool(model.driven.any()) or any(closure.motion is not None for closure in model.closures)


def runge_kutta(engine: Engine, dynamics: Dynamics, q: Array, v: Array, duration: float) -> Trajectory:
    """Classical steps of fourth order, for engines that have accelerations only."""
    steps = max(1, round(duration / STEP))
    h, none = duration / steps, np.zeros(len(v))
    samples = [(q, v)]

    def slope(q: Array, v: Array) -> tuple[Array, Array]:
        return dynamics.rates(q, v), engine.acceleration(q, v, none)

    for _ in range(steps):
        k1 = slope(q, v)
        k2 = slope(q + h / 2 * k1[0], v + h / 2 * k1[1])
        k3 = slope(q + h / 2 * k2[0], v + h / 2 * k2[1])
        k4 = slope(q + h * k3[0], v + h * k3[1])
        q, v = (x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip((q, v), k1, k2, k3, k4, strict=True))
        q = normalised(dynamics.model, q)
        samples.append((q, v))
    return Trajectory(np.array([x for x, _ in samples]), np.array([y for _, y in samples]))


def normalised(model: Model, q: Array) -> Array:
    q = np.array(q)
    for at in turning_joints(model):
        q[..., at.quaternion] /= np.linalg.norm(q[..., at.quaternion], axis=-1, keepdims=True)
    return q


def formulations(model: Model) -> tuple[list[OwnFormulation], dict[str, str]]:
    """All formulations that take this model, the default first; and for each of the others the reason why it does not."""
    from ..formulations import CLOSED, FORMULATIONS

    default = OwnFormulation(model, compile(model).formulation)
    found, refused = [default], {}
    for name in (*CLOSED, "canonical_momenta") if model.closures else FORMULATIONS:
        try:
            found += [OwnFormulation(model, name)] if name != default.name else []
        except BellcrankError as error:
            refused[name] = str(error)
    return found, refused


def seconds(call: Callable[[], Any], budget: float) -> float:
    """The least time of a call, in many repetitions within the budget."""
    timer, count = timeit.Timer(call), 1
    taken = timer.timeit(count)
    while taken < budget / 10:
        count *= 2
        taken = timer.timeit(count)
    return min([taken, *timer.repeat(4, count)]) / count
