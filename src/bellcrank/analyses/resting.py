"""Static equilibrium: positions in which a mechanism stays at rest, and whether it comes back to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import DynamicsError, StateError
from ..extremes import in_our_errors
from ..kernels.threads import interruptible
from ..model import Model
from ..results.derived import drive_efforts
from ..results.labels import Labels
from ..wording import argument, counted
from .motions.kinematics import with_still_closures
from .own_states import rest_with_states
from .report import listed, table, tidy
from .search import RestingPlace, Seek, search
from .state import compiled, conditions, position
from .stiffness import Conditions, directions
from .ties import Ties

if TYPE_CHECKING:
    from rich.console import Group

Array = NDArray[np.float64]

MOST = 200  # steps of a search
SADDLES = 10  # unstable equilibria that a search for a stable one leaves
OFF = 0.05  # rad, or of the typical length: the step off such a one


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A position of rest.

    q            (nq,)    the position
    residual     (nv,)    efforts that are still unbalanced there
    stable       bool     it comes back after any small disturbance, or (neutral) at least does not run away
    neutral      names    of directions in which nothing resists: any neighbour is an equilibrium as well
    unstable     names    of directions in which it runs away
    stiffness    (nv,)    squares of the undamped natural frequencies, rad2/s2, ascending; negative: runs away
    reactions    (n + closures, 6)   wrench of the parent on the child at each joint, then of what closes loops (of least norm
                 where they are not unique), world axes: force, then moment
    efforts      names    force or effort of each force element, and of each drive
    measures     names    measures of the model
    states       names    user-defined states, whose rates are zero there
    iterations   int      Newton steps that it took
    tau, inputs, t        what was given
    """

    model: Model
    q: Array
    residual: Array
    stable: bool
    neutral: tuple[str, ...]
    unstable: tuple[str, ...]
    stiffness: Array
    reactions: Array
    efforts: dict[str, float]
    iterations: int
    tau: Array
    inputs: Array
    t: float
    measures: dict[str, float]
    states: dict[str, float] = field(default_factory=dict)

    @property
    def v(self) -> Array:
        """(nv,)  at rest: zero, but for user-defined states."""
        v = np.zeros(self.model.nv)
        v[list(self.model.state_places)] = list(self.states.values())
        return v

    def measure(self, *names: str) -> Array:
        """Any measures (columns,): of the model by name, those of every model by path, "hinge.fx", or formulas, "=..."."""
        dyn = compiled(with_still_closures(self.model, self.t))
        given: dict[str, Any] = {"t": self.t, "inputs": self.inputs, "a": np.zeros(self.model.nv)}
        return dyn.measures(self.q, self.v, self.tau, names=names or None, **given)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {
            "model": self.model.name,
            "q": dict(zip(self.model.q_names, self.q.tolist(), strict=True)),
            "residual": dict(zip(self.model.v_names, self.residual.tolist(), strict=True)),
            "stable": self.stable,
            "neutral": list(self.neutral),
            "unstable": list(self.unstable),
            "stiffness": self.stiffness.tolist(),
            "reactions": dict(zip(self.joints, self.reactions.tolist(), strict=True)),
            "efforts": self.efforts,
            "measures": self.measures,
            "states": self.states,
            "iterations": self.iterations,
            "t": self.t,
        }

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the rows of ``reactions``."""
        return (*self.model.joint_names[: self.model.body_count], *(closure.name for closure in self.model.closures))

    @property
    def verdict(self) -> str:
        """A sentence: stable, neutral or unstable, and along which directions."""
        if self.unstable:
            return f"unstable along {listed(self.unstable)}"
        return f"neutral along {listed(self.neutral)}, stable otherwise" if self.neutral else "stable"

    def rows(self) -> list[tuple[str, ...]]:
        """Coordinate, its value, its unit."""
        labels = Labels.of(self.model)
        numbers = [tidy(x) for x in self.q]
        rows: list[tuple[str, ...]] = list(zip(labels.coordinates, numbers, labels.coordinate_units, strict=True))
        units = dict(zip(labels.dofs, labels.dof_units, strict=True))
        return rows + [(name, tidy(x), units[name]) for name, x in self.states.items()]

    def __rich__(self) -> Group:
        title = f"{self.model.name}: equilibrium, {self.verdict}"
        units = self.model.measure_units
        measured = [(name, tidy(x), unit) for (name, x), unit in zip(self.measures.items(), units, strict=True)]
        return table(title, ("coordinate", "value", "unit"), [*self.rows(), *measured], right=(1,))

    def __str__(self) -> str:
        width = max([len(name) for name, *_ in self.rows()], default=0)
        rows = [f"  {name:<{width}}  {value:>16} {unit}" for name, value, unit in self.rows()]
        return "\n".join([f"{self.model.name}: equilibrium, {self.verdict}", *rows])


@in_our_errors(DynamicsError)
def equilibrium(
    model: Model,
    *,
    q0: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    t: float = 0.0,
    seek: Seek = "stable",
    max_iterations: int = MOST,
) -> Equilibrium:
    """A position of rest: a = 0 at v = 0. Closed loops stay closed.

    q0       where the search begins; the model's start if not given
    tau      constant joint efforts besides the model's forces
    t        the time of tables and prescribed motions. Driven joints move as they do then: for constant rates this is
             relative equilibrium, with centrifugal forces. Driven closures, such as rams, have the lengths of that time
    seek     "stable" reduces the energy, as strong friction would, and leaves equilibria that are unstable
             after a small disturbance; "nearest" finds the nearest equilibrium of any kind, also of an inverted pendulum

    Raises DynamicsError, with the unbalanced efforts by name, if there is none or it is not found, and, with the directions
    in which it runs away, if those that were found are not stable and a stable one is sought.
    """
    if model.state_places:
        return _with_states(model, q0, tau, inputs, t, seek, max_iterations)
    dyn, given, found = _sought(model, q0, tau, inputs, t, seek, max_iterations)
    result = _result(dyn, found, given) if seek == "nearest" else _stable(dyn, found, given, max_iterations)
    return replace(result, model=model)


def resting_place(
    model: Model, *, tau: ArrayLike | None = None, inputs: ArrayLike | None = None, t: float = 0.0
) -> Equilibrium:
    """The equilibrium downhill from the model's start, stable or not: that of modes, which show how it runs away."""
    if model.state_places:
        return _with_states(model, None, tau, inputs, t, "nearest", MOST)
    dyn, given, found = _sought(model, None, tau, inputs, t, "stable", MOST)
    return replace(_result(dyn, found, given), model=model)


def _with_states(model: Model, q0: Any, tau: Any, inputs: Any, t: float, seek: Seek, max_iterations: int) -> Equilibrium:
    """Equilibrium with user-defined states, whose rates are zero too; stable where no root of the linear equations grows."""
    given = conditions(compiled(model), tau, inputs, t)
    dyn = compiled(with_still_closures(model, given.t))
    found = rest_with_states(dyn, position(dyn, q0, "q0"), given, max_iterations)
    if found.unstable and seek == "stable":
        raise DynamicsError(
            f"model {model.name!r} found an equilibrium that is unstable along {listed(found.unstable)}: begin elsewhere "
            f"({argument('q0')}), or accept it with {argument('seek', 'nearest')}."
        )
    states = dict(zip(model.state_names, found.v[list(model.state_places)].tolist(), strict=True))
    return Equilibrium(
        model=model,
        q=found.q,
        residual=found.residual,
        stable=not found.unstable,
        neutral=(),
        unstable=found.unstable,
        stiffness=np.zeros(0),
        reactions=_reactions(dyn, found.q, found.v, given),
        efforts=_efforts(dyn, found.q, found.v, given),
        iterations=found.iterations,
        tau=given.tau,
        inputs=given.inputs,
        t=given.t,
        measures=_measures(dyn, found.q, found.v, given),
        states=states,
    )


def _sought(
    model: Model, q0: Any, tau: Any, inputs: Any, t: float, seek: Seek, max_iterations: int
) -> tuple[Dynamics, Conditions, RestingPlace]:
    if seek not in ("stable", "nearest"):
        raise StateError(f"seek must be 'stable' or 'nearest'; it is {seek!r}")
    if max_iterations < 1:
        raise StateError(f"max_iterations must be 1 at least; it is {max_iterations}")
    given = conditions(compiled(model), tau, inputs, t)
    dyn = compiled(with_still_closures(model, given.t))
    ties = Ties(dyn, given.t)
    begin = None if q0 is None and ties.any else position(dyn, q0, "q0")
    start = ties.start(begin)
    dyn.acceleration(start, np.zeros(model.nv), given.tau, t=given.t, inputs=given.inputs)  # complains of what has no mass
    found = search(dyn, start, given, seek, max_iterations)
    if found.problem is not None:
        raise DynamicsError(_complaint(model, found))
    return dyn, given, found


def _stable(dyn: Dynamics, found: RestingPlace, given: Conditions, max_iterations: int) -> Equilibrium:
    """A stable equilibrium, searched from an unstable one, beginning a little way along its most unstable direction."""
    result = _result(dyn, found, given)
    for _ in range(SADDLES):
        if result.stable:
            return result
        lower = _lower(dyn, found, given, max_iterations)
        if lower is None:
            break
        iterations = found.iterations + lower.iterations
        found = lower._replace(iterations=iterations)
        result = _result(dyn, found, given)
    if result.stable:
        return result
    where = ", ".join(f"{name!r} = {value} {unit}" for name, value, unit in result.rows()[:6])
    raise DynamicsError(
        f"model {dyn.model.name!r} has no stable equilibrium near its start: that at {where}"
        f"{' ...' if len(result.rows()) > 6 else ''} is {result.verdict}, and no stable one was found from there. "
        f"Begin elsewhere ({argument('q0')}), or accept it with {argument('seek', 'nearest')}."
    )


def _lower(dyn: Dynamics, found: RestingPlace, given: Conditions, max_iterations: int) -> RestingPlace | None:
    """The equilibrium downhill from a small step off an unstable one, to either side; None where there is none."""
    around, ties = found.around, Ties(dyn, given.t)
    if not len(around.squares) or around.neutral[np.argmin(around.squares)] or around.squares.min() >= 0:
        return None  # it flutters: no direction leads downhill
    away = around.shapes[:, int(np.argmin(around.squares))] / found.measured.displacement
    step = OFF * found.measured.displacement * away / np.abs(away).max()
    for sign in (1.0, -1.0):
        beside = ties.moved(found.q, sign * step)
        lower = None if beside is None else search(dyn, beside, given, "stable", max_iterations)
        if lower is not None and lower.problem is None:
            return lower
    return None


def _result(dyn: Dynamics, found: RestingPlace, given: Conditions) -> Equilibrium:
    model, q, around, still = dyn.model, found.q, found.around, np.zeros(dyn.model.nv)
    neutral, away = around.neutral, (~around.neutral) & (around.squares < 0)
    weights = found.measured.displacement
    squares, unstable = around.squares, directions(model, around.shapes[:, away], weights)
    bent = np.abs(around.B - around.B.T).max(initial=0.0)
    if bent > 1e-6 * np.abs(around.B).max(initial=0.0):  # forces without a potential
        squares, unstable = _without_potential(model, found)
    return Equilibrium(
        model=model,
        q=q,
        residual=found.residual,
        stable=not unstable,
        neutral=directions(model, around.shapes[:, neutral], weights),
        unstable=unstable,
        stiffness=squares,
        reactions=_reactions(dyn, q, still, given),
        efforts=_efforts(dyn, q, still, given),
        iterations=found.iterations,
        tau=given.tau,
        inputs=given.inputs,
        t=given.t,
        measures=_measures(dyn, q, still, given),
    )


def _measures(dyn: Dynamics, q: Array, v: Array, given: Conditions) -> dict[str, float]:
    """The measures at rest, where nothing accelerates."""
    values = dyn.measures(q, v, given.tau, t=given.t, inputs=given.inputs, a=np.zeros_like(v))
    return dict(zip(dyn.model.measure_names, values.tolist(), strict=True))


def _efforts(dyn: Dynamics, q: Array, v: Array, given: Conditions) -> dict[str, float]:
    """Efforts of the force elements, then of the drives."""
    model, labels = dyn.model, Labels.of(dyn.model)
    forces = dyn.elements(q, v, t=given.t, inputs=given.inputs)[2] if model.elements else np.zeros(0)
    drives = drive_efforts(dyn, q, v, np.zeros_like(v), t=given.t, inputs=given.inputs, tau=given.tau)
    names = (*labels.elements, *labels.drives)
    return {name: float(x) for name, x in zip(names, (*forces[: model.force_count], *drives), strict=True)}


def _reactions(dyn: Dynamics, q: Array, v: Array, given: Conditions) -> Array:
    """Reactions of the joints of the tree, then of what closes loops."""
    tree = dyn.reactions(q, v, np.zeros_like(v), t=given.t, inputs=given.inputs, tau=given.tau)[: dyn.model.body_count]
    if not dyn.model.closures:
        return tree
    return np.vstack([tree, dyn.closure_reactions(q, v, given.tau, t=given.t, inputs=given.inputs)])


def _without_potential(model: Model, found: RestingPlace) -> tuple[Array, tuple[str, ...]]:
    """Squares s^2 of the roots: a negative one diverges, a complex pair flutters (one of its four roots grows)."""
    around = found.around
    squares, y = interruptible(np.linalg.eig, around.B)
    order = np.argsort(squares.real)
    squares, y = squares[order], y[:, order]
    flutters = np.abs(squares.imag) > 1e-6 * np.abs(squares).max(initial=0.0)
    away = flutters | (squares.real < -around.noise)
    shapes = around.N @ np.linalg.solve(around.L.T, y[:, away])
    return squares.real, directions(model, np.abs(shapes), found.measured.displacement)


def _complaint(model: Model, found: RestingPlace) -> str:
    unit = {"rad/s": "N m", "m/s": "N"}
    units = [unit[u] for u in Labels.of(model).dof_units]
    share = np.abs(found.residual) / np.maximum(found.measured.effort, 1e-300)
    worst = [k for k in np.argsort(-share)[:5] if share[k] > 1e-3 * share.max()]
    names = "; ".join(f"{model.v_names[k]!r} {found.residual[k]:.4g} {units[k]}" for k in worst)
    fall = np.abs(found.fall) / found.measured.displacement
    loose = [name for name, x in zip(model.v_names, fall, strict=True) if x > 0.3 * fall.max()]
    reason = {
        "falling": f"nothing holds {listed(loose)}: give a spring, a support, or drive the joint",
        "stuck": f"no further step reduces the unbalanced efforts. Begin elsewhere ({argument('q0')}), or look for stops "
        "and tables with sharp corners",
        "slow": f"there may be none nearby. Begin elsewhere ({argument('q0')}), allow more steps "
        f"({argument('max_iterations')}), or accept any kind ({argument('seek', 'nearest')})",
    }[str(found.problem)]
    return f"model {model.name!r} found no equilibrium in {counted(found.iterations, 'step')}; {reason}. Unbalanced: {names}."
