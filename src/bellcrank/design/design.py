"""A design: values of chosen parameters of a model, and everything that follows from them.

Formulas, shapes, the building of the model and the choice of frames are run once on numbers that remember what is done to them
(``numbers.variable``). What they recorded is compiled: the arrays of a new design take microseconds, and their derivatives are
those of dual numbers. What a parameter can change never folds into machine code and never changes its structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AssemblyError, ModelError, StateError
from ..extremes import require_model
from ..model import Model, build
from ..model.parameters.changing import Remaking
from ..model.parameters.parameters import changed, is_number
from ..model.parameters.recording import Recording, record
from ..model.parameters.unit_table import units_of
from ..model.parameters.written import Written
from ..model.spec.problems import names as listed
from ..numbers.variable import varied
from .assembling import NearStarts
from .lane_starts import LaneStarts
from .moving import moved_plan
from .plan_arrays import PlanArrays
from .recorded_map import RecordedMap

if TYPE_CHECKING:
    from ..dynamics.dynamics import Dynamics
    from ..plan import Plan

Array = NDArray[np.float64]


class Design:
    """Parameters of a model by their paths (``model.parameters`` lists them), and the map from their values to all arrays.

    base     the model that it starts from
    names    paths of the parameters, in the order of p
    start    their values in the model, (np,)
    units    of the parameters; "" where the file does not say
    remarks  what is unusual: parameters that change nothing, and formulas that have a kink exactly where the design starts

    ``p`` is an array (np,), in the order of the names; (B, np) gives one result for each row. A mapping from names to numbers
    is also accepted, and leaves the other parameters at their initial values.
    """

    def __init__(self, model: Model, names: Sequence[str]):
        require_model(model, "Design")
        listing = isinstance(names, Iterable) and not isinstance(names, str | Mapping)
        if not listing or not all(isinstance(name, str) for name in names):
            example = repr(names) if isinstance(names, str) and names else '"arm.mass", "spring.stiffness"'
            raise ModelError(f"{names!r} is not a list of parameters. Give their paths: [{example}]")
        names = list(names)
        if model.written is None:
            raise ModelError(f'"{model.name}" was made from arrays and has no parameters. Build it by a Mechanism, or a file.')
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice or not names:
            raise ModelError(f"the design names {listed(twice)} twice." if twice else "the design names no parameter.")
        self.base, self.names, self._written = model, tuple(names), model.written
        self.recording: Recording = record(model.written.spec, self.names)
        self.start: Array = np.array([x.value for x in self.recording.tape.parameters])
        self.start.setflags(write=False)
        known = units_of(model.written.spec)
        self.units = tuple(known.get(name, "") for name in self.names)
        self._plans: dict[int, tuple[Plan, PlanArrays]] = {}
        self.origin: Design | None = None  # of one that was moved: that which it came from
        self.planned: dict[Any, Any] = {}  # plans for it, by what they were made for
        self._compiled: dict[str, Dynamics] = {}

    def __repr__(self) -> str:
        return f"Design({self.base.name!r}, {list(self.names)!r})"

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: without what is found again when it is asked for."""
        found = ("usual_plan", "lane_starts", "_remaking", "near_starts", "remarks", "_simulated")
        kept: dict[str, dict[Any, Any]] = {"_plans": {}, "planned": {}, "_compiled": {}}
        return {name: value for name, value in vars(self).items() if name not in found} | kept

    # --- what follows from p

    def arrays(self, p: ArrayLike | Mapping[str, float], plan: Plan | None = None) -> dict[str, Array]:
        """Arrays of a plan that depend on the parameters, by the names that they have in kernels, and what depends on them of

            given_q, given_v  the start, as it is written
            rotation          (n, 3, 3) axes of the frames in which the plan computes, in the bodies' own

        ``plan`` is that of a Dynamics, compiled for this design; that of ``bc.compile(model, design=design)`` unless given.
        Raises ModelError with what is wrong with the design; of many designs, the rows of such a one are not a number.
        """
        values = self.values(p)
        found, holds = self._of(plan).evaluate(values)
        if values.ndim == 1:
            if not holds:
                self._doubted(values, all(np.isfinite(array).all() for array in found.values()))
            return found
        for k in np.flatnonzero(~holds):
            if self._problem(values[k], all(np.isfinite(array[k]).all() for array in found.values())):
                for array in found.values():
                    array[k] = np.nan
        return found

    def rows(self, p: ArrayLike, plan: Plan) -> tuple[Array, tuple[str | None, ...]]:
        """The rows (B, entries) that a Dynamics takes for designs (B, np) (``at_designs``), and what is wrong with each design.

        The entries of all arrays of the plan that depend on the parameters, one array after the other; those of a design that
        is not a mechanism are not a number.
        """
        values = np.atleast_2d(self.values(p))
        found, holds = self._of(plan).rows(values)
        problems: list[str | None] = [None] * len(values)
        for k in np.flatnonzero(~holds):
            problems[k] = self._problem(values[k], bool(np.isfinite(found[k]).all()))
            if problems[k]:
                found[k] = np.nan
        return found, tuple(problems)

    def written_starts(self, p: Array, rows: Array, plan: Plan) -> tuple[Array, Array]:
        """q and v of the starts of designs p as they are written, (B, nq) and (B, nv); ``rows``: those of this plan."""
        known, base = self._of(plan), {"given_q": self.base.given_q, "given_v": self.base.given_v}
        q, v = (
            known.entry_rows(name, rows) if name in known.entries else np.tile(x, (len(rows), 1)) for name, x in base.items()
        )
        return q, v

    @cached_property
    def lane_starts(self) -> LaneStarts:
        """Starts of many designs, their loops closed in lanes."""
        return LaneStarts(self)

    def _problem(self, p: Array, finite: bool) -> str | None:
        try:
            self._doubted(p, finite)
        except ModelError as problem:
            return str(problem)
        return None

    def tangents(self, p: ArrayLike | Mapping[str, float], plan: Plan | None = None) -> dict[str, Array]:
        """Derivatives of these arrays by each parameter, which is the last axis: exact, by dual numbers."""
        values = self.values(p)
        if not np.isfinite(values).all():
            raise StateError("p is not finite: there are no derivatives at such a design")
        return self._of(plan).tangents(values)

    def model(self, p: ArrayLike | Mapping[str, float]) -> Model:
        """The model with these parameters; raises ModelError with what is wrong with it."""
        values = self.values(p)
        if values.ndim != 1:
            raise StateError(f"a model is of one design: give p as ({len(self.names)},)")
        changes = self._changes(values)
        found = self._remaking.model(values.tolist(), self._changed(changes))
        if found is None:
            found = self._judge(values)
        return found

    def moved(self, p: ArrayLike | Mapping[str, float]) -> Design:
        """The same design with other initial values: nothing is recorded, planned or compiled again.

        Raises ModelError with what is wrong with these values.
        """
        origin, values = self.origin or self, np.array(self.values(p))
        values.setflags(write=False)
        moved: Design = object.__new__(type(self))
        found = ("usual_plan", "lane_starts", "near_starts", "remarks")
        vars(moved).update({name: value for name, value in vars(origin).items() if name not in found})
        moved.base, moved.start, moved.origin, moved._compiled = origin.model(values), values, origin, {}
        if moved.base.closures and not origin.base.kinematic:
            origin.start_near(moved.base, values)
        return moved

    def start_near(self, model: Model, p: Array) -> None:
        """Gives the model of a design its start, where that is close to the one where the design starts."""
        starts = self.near_starts
        if not starts.possible:
            return
        arrays = self.arrays(p, starts.plan)
        found = starts.find(arrays, self.base.initial_q)
        if found is not None:
            known = replace(self.base.assembled_start, model=model, q=found[0], v=found[1], notes=())
            moved, changed = found[0] - model.given_q, found[1] - model.given_v
            object.__setattr__(model, "assembled_start", replace(known, moved=moved, changed=changed))

    def dynamics(self, formulation: str = "auto", rank_tolerance: float | None = None) -> Dynamics:
        """The model at the initial values, compiled for this design and for few states; made once."""
        from ..dynamics.dynamics import Dynamics

        key = repr((formulation, rank_tolerance))
        if key not in self._compiled:
            options: dict[str, Any] = {"rank_tolerance": rank_tolerance, "design": self, "optimisation": 0}
            self._compiled[key] = Dynamics(self.base, formulation, **options)
        return self._compiled[key]

    def moved_plan(self, plan: Plan) -> Plan:
        """A plan of the design that this one came from, with the values of this one."""
        return moved_plan(plan, self.base, self.arrays(self.start, plan))

    def assembled(self, p: ArrayLike | Mapping[str, float], near: ArrayLike | None = None) -> tuple[Array, Array]:
        """q and v of the start of a design, its loops closed: what the model file says of the start is held.

        ``near``: coordinates close by, such as those of a design that differs little; those of the model's own start unless
        given. From there it takes a few compiled steps; where that is no short way, all that ``bc.assemble`` does. Raises
        ModelError, or AssemblyError where the loops cannot be closed.
        """
        values = self.values(p)
        if values.ndim != 1:
            raise StateError(f"a start is of one design: give p as ({len(self.names)},)")
        if not self.base.closures:
            arrays = self.arrays(values)
            return arrays.get("given_q", self.base.given_q), arrays.get("given_v", self.base.given_v)
        starts = self.near_starts
        arrays = self.arrays(values, starts.plan)
        q = self.base.initial_q if near is None else np.asarray(near, dtype=np.float64)
        if q.shape != (self.base.nq,):
            raise StateError(f"near has shape {q.shape}: give coordinates, ({self.base.nq},)")
        found = starts.find(arrays, q) if starts.possible else None
        if found is None:
            model = self.model(values)
            found = model.initial_q, model.initial_v
        return found

    @cached_property
    def near_starts(self) -> NearStarts:
        """Starts of designs whose loops are closed from a near one."""
        return NearStarts(self)

    def check(self, p: ArrayLike | Mapping[str, float]) -> tuple[str, ...]:
        """The problems of a design: impossible bodies, negative lengths, loops that cannot be closed; () if there are none."""
        try:
            self.model(p).initial_q  # noqa: B018, it closes the loops
        except (ModelError, AssemblyError) as error:
            return (str(error),)
        return ()

    def of_model(self, base: Model, recorded: Model) -> Design:
        """The same parameters, of a model that differs in what no parameter changes the structure of; ``recorded``: the same
        over variables of this design."""
        other = copy(self)
        for name in ("usual_plan", "lane_starts", "_remaking", "near_starts", "remarks", "_simulated"):
            vars(other).pop(name, None)
        other.base, other.recording, other.origin = base, replace(self.recording, model=recorded), None
        other._plans, other.planned, other._compiled = {}, {}, {}
        return other

    def plan_arrays(self, plan: Plan) -> PlanArrays:
        """The map to the arrays of a plan that was made for this design."""
        return self._of(plan)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        outputs, idle, compared = (self.origin or self)._simulated
        looked_at = self.origin is None or equal_about(compared, self.start)
        sharp = [self.names[k] for k in self.recording.tape.kinks(outputs, self.start.tolist())] if looked_at else []
        found = [f'"{name}" changes nothing that is simulated: every derivative by it is zero.' for name in idle]
        if sharp:
            found.append(
                f"where the design starts, a formula over {listed(sharp)} compares two equal numbers (min, max, abs or if): it "
                "has a kink or a jump there, and its derivative is that of one side."
            )
        return tuple(found)

    @cached_property
    def _simulated(self) -> tuple[list[Any], list[str], RecordedMap]:
        """Numbers that matter to a run, parameters that change none of them, and pairs of numbers that they compare."""
        tape = self.recording.tape
        outputs = [x for name, x in self._remaking.variables if name not in UNSIMULATED]
        idle = [name for name, used in zip(self.names, tape.depends_on(outputs), strict=True) if not used]
        return outputs, idle, RecordedMap(tape, [x for pair in tape.compared(outputs) for x in pair])

    # --- inside

    def values(self, p: ArrayLike | Mapping[str, float]) -> Array:
        """p as an array of floats, (np,) or (B, np); raises StateError for anything else."""
        if type(p) is np.ndarray and p.shape == self.start.shape and p.dtype is DOUBLE and p.flags.c_contiguous:
            return p
        if isinstance(p, Mapping):
            return self._of_mapping(p)
        try:
            found: Array = np.empty(np.shape(p))  # of this very dtype: that of an array from a pickle is another object
            found[...] = p
        except (TypeError, ValueError):
            found = np.zeros(0)
        if found.ndim not in (1, 2) or found.shape[-1] != len(self.names):
            n = len(self.names)
            raise StateError(f"p has shape {np.shape(p)}; this design has {n} parameters: give ({n},), or (B, {n}).")
        return found

    def _of_mapping(self, p: Mapping[str, float]) -> Array:
        unknown = [name for name in p if name not in self.names]
        if unknown or not all(map(is_number, p.values())):
            what = f"{listed(unknown)} is not among" if unknown else "a number is not finite among those of"
            raise StateError(f"{what} the parameters of this design: {listed(self.names)}.")
        return np.array([float(p.get(name, x)) for name, x in zip(self.names, self.start, strict=True)])

    def _changes(self, p: Array) -> dict[str, float]:
        return dict(zip(self.names, p.tolist(), strict=True))

    def _changed(self, changes: Mapping[str, float]) -> Written:
        return Written(self._written.base, {**self._written.changes, **changes}, self._written.shared)

    def _judge(self, p: Array) -> Model:
        """The model of a design that a recorded comparison, or a number that is not finite, makes doubtful."""
        changes = self._changes(p)
        model = build(changed(self._written.spec, changes))
        object.__setattr__(model, "written", self._changed(changes))
        return model

    def _doubted(self, p: Array, finite: bool) -> None:
        """Raises ModelError with what is wrong with a design for which an assumption of the recording does not hold."""
        self._judge(p)
        if not finite:
            raise ModelError(
                "the numbers of this design are not finite: an axis has turned round, to the opposite of where the design "
                "starts. Make a design of a model that is nearer to it: bc.Design(design.model(p), design.names)."
            )

    @cached_property
    def _remaking(self) -> Remaking:
        return Remaking(self.recording, self.base)

    def _of(self, plan: Plan | None) -> PlanArrays:
        chosen = self.usual_plan if plan is None else plan
        known = self._plans.get(id(chosen.recorded))
        if known is None:
            over = self.recording.model
            if any(x.graph is not self.recording.tape for array in chosen.recorded.values() for x in array[varied(array)]):
                raise StateError("the plan was made for another design: compile with design=, and give the plan of that")
            more = {"given_q": over.given_q, "given_v": over.given_v}
            arrays = {name: array for name, array in {**chosen.recorded, **more}.items() if varied(array).any()}
            known = self._plans[id(chosen.recorded)] = chosen, PlanArrays(self.recording.tape, arrays)
        return known[1]

    @cached_property
    def usual_plan(self) -> Plan:
        """The plan of ``bc.compile(model, design=design)``."""
        from ..dynamics.planning import planned

        return planned(self.base, design=self).plan


def equal_about(pairs: RecordedMap, p: Array) -> bool:
    """Whether a design may have made the two numbers of one of the pairs equal, but for rounding."""
    found, finite = pairs.values(p)
    a, b = found[::2], found[1::2]
    return not finite or bool((np.abs(a - b) <= ROUNDING * (np.abs(a) + np.abs(b))).any())


ROUNDING = 1e-9
DOUBLE = np.dtype(np.float64)
UNSIMULATED = ("duration", "step", "limits", "name")
