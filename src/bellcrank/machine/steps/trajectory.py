"""A run in machine code, seen from the host: the memory that advance() works on, and what it says."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...forces import FORCES
from ...formulations import Program
from ...integrate import RungeKutta
from ...model.manifold import unit_quaternions
from ...plan import Plan
from ...plan.loads import ELEMENT_ROW
from ...plan.turns import turn_weights
from ..adjoint.log import Log, LoggedAdaptive, LoggedClosed, LoggedFixed, LoggedImplicit, LoggedRadau
from ..kernel import obtain
from ..module import Module, structure_name
from ..tangents.data import chunk_of, in_chunks
from ..tangents.steps import with_tangents
from .adaptive import AdaptiveStepper
from .cuts.known import stop_limits
from .declared import REALS
from .fixed import FixedStepper
from .implicit.closed import ClosedMidpointStepper, closed_midpoint_programs
from .implicit.fixed import ImplicitStepper
from .implicit.kept_rows import is_closed_midpoint
from .implicit.radau import RadauStepper
from .layout import VECTOR, Layout
from .memory import Memory
from .programs import MINIMUM_NORM, programs, takes_momenta
from .stepper import Stepper, write_with_kernels

Array = NDArray[np.float64]


def write_stepper(
    plan: Plan, program: Program, method: RungeKutta, metric: str = MINIMUM_NORM, tangents: int = 0, logged: bool = False
) -> Module:
    """The stepper of a method, for one state, perhaps with so many tangents at a time, or ``logged``."""
    called = called_by(plan, program, method, metric, tangents, logged)
    return write_with_kernels(plan, called, method, stepper_of(plan, method, logged))


def stepper_of(plan: Plan, method: RungeKutta, logged: bool = False) -> type[Stepper]:
    adaptive: type[Stepper]
    adaptive, fixed = (RadauStepper, ImplicitStepper) if method.implicit else (AdaptiveStepper, FixedStepper)
    if logged:
        adaptive, fixed = (LoggedRadau, LoggedImplicit) if method.implicit else (LoggedAdaptive, LoggedFixed)
    if is_closed_midpoint(plan, method):
        fixed = LoggedClosed if logged else ClosedMidpointStepper
    return adaptive if method.adaptive else fixed


def called_by(
    plan: Plan, program: Program, method: RungeKutta, metric: str, tangents: int, logged: bool = False
) -> dict[str, Program]:
    works = not (tangents or logged)
    if is_closed_midpoint(plan, method):
        called = closed_midpoint_programs(plan, works=works)
    else:
        called = programs(plan, program, metric, works=works, implicit=method.implicit)
    return with_tangents(called, tangents) if tangents else called


class Tangents(NamedTuple):
    """What a trajectory is differentiated by: how many parameters, and how the data change with them (machine.tangents)."""

    parameters: int
    data: Mapping[str, Array]
    control: bool = False  # their errors too


class Trajectory(Memory):
    """One state on its way through time; ``advance`` goes on until the end, a failure or the given number of steps."""

    number: Any = np.float64
    neighbours = VECTOR

    def __init__(
        self,
        plan: Plan,
        program: Program,
        method: RungeKutta,
        times: Array,
        corners: Array,
        metric: str = MINIMUM_NORM,
        tangents: Tangents | None = None,
        log: Log | None = None,
    ):
        at_once = 0 if tangents is None else chunk_of(tangents.parameters)
        logged = log is not None
        parameters, data = (0, {}) if tangents is None else tangents[:2]
        called = called_by(plan, program, method, metric, at_once, logged)
        sizes = (len(times), len(corners), parameters, 0 if log is None else log.capacity)
        layout = Layout(plan, called, method, 1, *sizes, number=self.number, neighbours=self.neighbours)
        super().__init__(layout, self._code(program, layout, metric), times, corners, data)
        self.plan, self.method, self.log = plan, method, log
        self.set_number("control_all", int(tangents is not None and tangents.control))
        self._set_limits(data)
        self.tried = 0  # steps of the last call, accepted or not

    def _code(self, program: Program, layout: Layout, metric: str) -> Any:
        plan, method, at_once, logged = layout.plan, layout.method, layout.tangents, layout.log > 0
        key = ("stepper", program.name, method.name, metric, at_once, logged, structure_name(plan))
        return obtain(key, lambda: write_stepper(plan, program, method, metric, at_once, logged))

    def _set_limits(self, data: Mapping[str, Array]) -> None:
        """Sets how the limits at which steps are cut change with the parameters: (surfaces, chunks, tangents of a chunk)."""
        changes, (places, limits) = data.get("d_element_data"), self.layout.surfaces
        if changes is None or not len(places):
            return
        shape = (len(places), self.layout.tangent_chunks, self.layout.tangents)
        found = self.arrays["surface_tangents"][: int(np.prod(shape))].reshape(shape)
        for k, name, place in stop_limits(self.plan.model):
            own = (places == place) & (limits == self.plan.model.elements[k].values[name])
            found[own] = changes[0, :, k * ELEMENT_ROW + FORCES["joint_stop"].values.index(name)]

    def ask(self, control: Callable[[], None]) -> None:
        """Call a function before every evaluation: of the state in ``asked``, at the time in ``clock``, into ``tau`` and ``u``.

        What it raises ends the run, and is raised by ``advance``: machine code calls it by PyObject_CallNoArgs, whose answer
        is None, or 0 with an exception set; Python's lock is kept all the while.
        """
        self._control = control  # alive as long as its address is known
        call = ctypes.cast(ctypes.pythonapi.PyObject_CallNoArgs, ctypes.c_void_p).value
        assert call is not None
        self.set_number("control", call)
        self.set_number("controller", id(control))
        self._advance = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(self.code.library.address("advance"))

    def advance(self, budget: int) -> None:
        steps, rejected = self.lane("steps"), self.lane("rejected")
        before = steps[0] + rejected[0]
        if self.log is not None:
            self.log.begin(self, budget)
        self.take_steps(budget)
        if self.log is not None:
            self.log.take_over()
        self.tried = int((steps[0] + rejected[0] - before).real)

    def limit_turns(self) -> None:
        """Steps in which coordinates of loops move further than one may are divided."""
        self.put("reach", turn_weights(self.plan.model, float(self.plan.length)))

    def real(self, name: str) -> float:
        return float(self.arrays["reals"][REALS[name]].real)

    def set_real(self, name: str, value: float) -> None:
        self.arrays["reals"][REALS[name]] = value

    @property
    def status(self) -> int:
        return int(self.real("status"))

    @property
    def sampled(self) -> int:
        """How many samples have been taken."""
        return int(self.arrays["sampled"][0])

    # a step that waits for the host to look at it -----------------------------------------------------------------

    @property
    def paused(self) -> bool:
        """Whether a good step waits (``watched`` runs only); the next advance releases it."""
        return self.count("paused") == 1

    @property
    def paused_length(self) -> float:
        """Length of the paused step, in seconds."""
        return self.real("h" if self.method.adaptive else "piece")

    def paused_step(self) -> Callable[[Array], tuple[Array, Array]]:
        """Rows of q and v (or p) anywhere in the paused step: a function of places from 0 (its start) to 1."""
        model, y, coefficients = self.plan.model, self._of_state(self.arrays["y"]), self._paused_polynomial()
        powers = np.arange(1, len(coefficients) + 1)

        def inside(x: Array) -> tuple[Array, Array]:
            states = y + (x[:, None] ** powers) @ coefficients
            return unit_quaternions(model, states[:, : model.nq]), states[:, model.nq :]

        return inside

    def _paused_polynomial(self) -> Array:
        """Coefficients of x, x^2, ...: of dense output, or of Hermite's cubic (FixedStepper.pause)."""
        h = self.paused_length
        if self.method.adaptive:
            return np.asarray(h * np.array(self.method.dense).T @ self._of_state(self.stages))
        y, new, first, last = (self._of_state(self.arrays[name]) for name in ("y", "new", "origin", "aside"))
        way, first, last = new - y, h * first, h * last
        return np.array([first, 3 * way - 2 * first - last, first + last - 2 * way])

    def end_inside(self, time: float) -> None:
        """End the run inside the paused step: its samples until then are still taken, and the end is the last of them.

        A method of fixed step takes a shorter one instead of the paused one.
        """
        if not self.method.adaptive:
            self._end_at(time)
            return
        count = int(np.searchsorted(self.times, time))
        self.times[count], self.arrays["times"][count + 1 :] = time, np.inf
        self.set_count("samples", count + 1)
        self.set_count("watched", 0)
        self.set_real("until", time)
        while self.status == 0 and self.sampled <= count:  # releases the step, takes its samples
            self.advance(1)
        if self.status == 0:
            self.set_real("t", time)

    def _end_at(self, time: float) -> None:
        for name in ("watched", "paused"):
            self.set_count(name, 0)
        self.set_real("piece", time - self.real("t"))
        cuts = self.count("cuts")
        while self.status == 0 and self.real("t") < time:
            if self.real("piece") <= 0.0:  # what is left after a cut
                self.set_real("piece", time - self.real("t"))
            self.advance(1)
        if self.status == 0:
            self.set_real("t", time)
        self.set_count("samples", self.sampled)
        self.set_count("cuts", cuts)  # the last step is shorter, and nothing comes after it

    # what it says -------------------------------------------------------------------------------------------------

    def _of_state(self, rows: Array) -> Array:
        """q and v (or p), of a state or of rows of states."""
        model, v = self.plan.model, self.layout.v_start
        return np.concatenate([rows[..., : model.nq], rows[..., v : v + model.nv]], axis=-1)

    def _works(self, rows: Array) -> Array:
        return rows[..., self.layout.w_start :][..., : sum(self.layout.works) + 1].copy()

    def samples(self) -> tuple[Array, Array, Array, Array]:
        """Times, q (quaternions between steps are made unit), v (or p) and works of the samples so far.

        The works are those of the force elements, of the drives, of driven closures and of the given efforts.
        """
        rows = self.arrays["out"].reshape(-1, self.layout.state)[: self.sampled]
        q, v = np.split(self._of_state(rows), [self.plan.model.nq], axis=1)
        return self.times[: self.sampled], unit_quaternions(self.plan.model, q), v, self._works(rows)

    def anchors(self) -> Array:
        """Anchors of friction that holds, at the samples so far and, in the last row, at the last accepted step."""
        rows = np.vstack(
            [self.arrays["out"].reshape(-1, self.layout.state)[: self.sampled], self.arrays["y"][: self.layout.state]]
        )
        return rows[:, self.layout.anchor_start :][:, : len(self.layout.anchors.places)].copy()

    # tangents ---------------------------------------------------------------------------------------------------------

    def set_tangents(self, state: tuple[Array, Array], slopes: tuple[Array, Array]) -> None:
        """Sets the tangents of the first state, and of its slopes: (nq, parameters) and (nv, parameters) each."""
        start = self.layout.t_start
        self.arrays["y"][start : self.layout.state] = in_chunks(np.concatenate(state)[None]).ravel()
        self.stages[: self.method.stages, start:] = in_chunks(np.concatenate(slopes)[None]).ravel()

    def tangents_of(self, rows: Array) -> tuple[Array, Array]:
        """dq and dv (or dp) of a state, or of rows of states: (..., nq, parameters) and (..., nv, parameters)."""
        layout, model = self.layout, self.plan.model
        shape = (*rows.shape[:-1], layout.tangent_chunks, model.nq + model.nv, layout.tangents)
        blocks = np.moveaxis(rows[..., layout.t_start :].reshape(shape), -3, -2)
        whole = blocks.reshape(*shape[:-3], shape[-2], shape[-3] * shape[-1])[..., : layout.parameters]
        return whole[..., : model.nq, :], whole[..., model.nq :, :]

    def sampled_tangents(self) -> tuple[Array, Array]:
        return self.tangents_of(self.arrays["out"].reshape(-1, self.layout.state)[: self.sampled])

    def errors_of_tangents(self) -> Array:
        """For each parameter, the errors of all steps so far in parts of what the tolerance allows in one."""
        return np.array(self.arrays["tangent_errors"][: self.layout.parameters])

    def state(self) -> tuple[Array, Array, Array]:
        """q, v (or p) and works at the last accepted step."""
        q, v = np.split(self._of_state(self.arrays["y"]), [self.plan.model.nq])
        return q, v, self._works(self.arrays["y"])

    def fastest_state(self) -> tuple[float, Array, Array] | None:
        """Time, q and v (or p) of the step so far whose end has the largest speeds."""
        if not self.real("speed") > 0.0:
            return None
        q, speeds = np.split(self._of_state(self.arrays["fastest"]), [self.plan.model.nq])
        return self.real("fastest_time"), q, speeds

    @property
    def stiff(self) -> bool:
        """Whether steps have become short for stability alone (machine.steps.stiffness)."""
        return bool(np.isfinite(self.real("stiff_time")))

    def look_again(self) -> None:
        """Forget that the run is stiff: it will be noticed again."""
        for name, value in (("stiff_time", np.inf), ("suspicions", 0.0), ("calm", 0.0)):
            self.set_real(name, value)

    def fastest(self) -> str:
        """Name of the velocity whose rate the last two stages of a step, both at its end, disagree about most."""
        model, last = self.plan.model, self.method.stages - 1
        rates = self._of_state(self.stages[last - 1 : last + 1])[:, model.nq :]
        return str(model.v_names[int(np.argmax(np.abs(rates[1] - rates[0])))])

    def worst(self) -> str:
        """Name of the coordinate that spoiled the last step: the first that is not finite, or has the largest error."""
        model = self.plan.model
        speed = "p" if takes_momenta(self.layout.called) else "v"
        names = [*(f"q of {name}" for name in model.q_names), *(f"{speed} of {name}" for name in model.v_names)]
        stages = self._of_state(self.stages[: self.method.stages])
        bad = np.flatnonzero(~np.isfinite(stages).all(axis=0) | ~np.isfinite(self._of_state(self.arrays["new"])))
        if len(bad):
            return names[bad[0]]
        weights = np.array(self.method.error or self.method.b)
        return names[int(np.argmax(np.abs(weights @ stages[: len(weights)])))]
