"""A study as data: a model, what may change in it, what is asked of it. Files and Python make the same Study.

Annotations say the kinds of the fields, as those of a model's items do, so that one reader and one schema serve both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...model.parameters.expressions import Formula, FormulaError
from ...model.spec.fields import Choice, Flag, Names, Number, Text
from ...model.spec.items import NOWHERE, Where
from .variations import Variation

if TYPE_CHECKING:
    from ...model import Model


@dataclass(frozen=True)
class RunOptions:
    """Options of ``simulate``; None leaves them as they are there. ``tolerance`` stands for both rtol and atol."""

    method: Annotated[str | None, Text("how the motion is integrated")] = None
    formulation: Annotated[str | None, Text("the equations of motion that are used")] = None
    tolerance: Annotated[float | None, Number("rtol and atol", sign="more than zero")] = None
    rtol: Annotated[float | None, Number("relative tolerance", sign="more than zero")] = None
    atol: Annotated[float | None, Number("absolute tolerance", sign="more than zero")] = None
    step: Annotated[float | None, Number("interval of the samples", unit="s", sign="more than zero")] = None
    max_step: Annotated[float | None, Number("longest step", unit="s", sign="more than zero")] = None
    max_steps: Annotated[float | None, Number("how many steps a run may take", sign="more than zero")] = None
    projection: Annotated[str | None, Choice("onto closed loops", options=("minimum_norm", "mass", "none"))] = None
    rank_tolerance: Annotated[float | None, Number("what counts as redundant", sign="more than zero")] = None
    on_singular: Annotated[str | None, Choice("at singular positions", options=("stop", "pass", "warn"))] = None
    control: Annotated[str | None, Choice("whose errors choose the steps", options=("state", "all"))] = None
    inputs: Mapping[str, float] = field(default_factory=dict)
    q: Mapping[str, float] = field(default_factory=dict)
    v: Mapping[str, float] = field(default_factory=dict)

    def given(self) -> dict[str, Any]:
        """Keyword arguments of ``simulate``; ``control`` is for ``sensitivity`` alone."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        found = {name: dict(x) if isinstance(x, Mapping) else x for name, x in found.items() if x is not None and x != {}}
        tolerance = found.pop("tolerance", None)
        if tolerance is not None:
            found = {"rtol": tolerance, "atol": tolerance} | found
        if "max_steps" in found:
            found["max_steps"] = int(found["max_steps"])
        return found


@dataclass(frozen=True)
class Watched:
    """``[events.NAME]``: a measure that crosses a value."""

    of: Annotated[str, Text("the measure that is watched", remedy='Name a measure: of = "tip.y".')]
    value: Annotated[float, Number("the value that it crosses")] = 0.0
    direction: Annotated[str, Choice("which way", options=("up", "down", "both"))] = "both"
    then: Annotated[str, Choice("what happens then", options=("mark", "stop"))] = "mark"


CASES_OF = ("run", "drive", "equilibrium", "modes")


@dataclass(frozen=True)
class Case:
    """``[cases.NAME]``: the same design under other numbers (``set``), inputs or starts; costs are added up by weight.

    analysis   what outputs are of: a run, an input ``coordinate`` driven through ``values``, a position of rest, or its modes
    minimize   the cost of this case, instead of that of [cost]
    """

    name: str = ""
    analysis: Annotated[str, Choice("what is computed", options=CASES_OF)] = "run"
    coordinate: Annotated[str | None, Text("of a drive: the input")] = None
    speed: Annotated[float, Number("of a drive: how fast the input moves")] = 1.0
    acceleration: Annotated[float, Number("of a drive: of the input")] = 0.0
    hold: Annotated[tuple[str, ...], Names("of a drive: coordinates that stay where they are")] = ()
    minimize: Annotated[str | None, Text("what this case adds to the cost, instead of [cost]")] = None
    weight: Annotated[float, Number("of this case in the cost", sign="zero or more")] = 1.0
    duration: Annotated[float | None, Number("instead of the study's", unit="s", sign="more than zero")] = None
    data: Annotated[str | None, Text("the measured curves of this case, instead of those of [fit]")] = None
    values: tuple[float, ...] = ()  # of the input
    set: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, float] = field(default_factory=dict)
    q: Mapping[str, float] = field(default_factory=dict)
    v: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """``[cost]``: an output, or a formula over outputs, that is to be as small as possible."""

    minimize: Annotated[str, Text("what is minimised", remedy='Give minimize = "=formula over outputs".')]
    scale: Annotated[float | None, Number("the size of the cost that is 1 to the optimiser", sign="more than zero")] = None


@dataclass(frozen=True)
class Constraint:
    """``[constraints.NAME]``: an output or a formula over outputs between bounds, or equal to a number."""

    of: Annotated[str, Text("an output, or a formula over outputs", remedy='Give of = "an output or =formula".')]
    min: Annotated[float | None, Number("the smallest value allowed")] = None
    max: Annotated[float | None, Number("the largest value allowed")] = None
    equals: Annotated[float | None, Number("the value wanted")] = None
    scale: Annotated[float | None, Number("the size that is 1 to the optimiser", sign="more than zero")] = None
    cases: Annotated[tuple[str, ...], Names("the cases in which it holds")] = ()  # all of them unless given


@dataclass(frozen=True)
class Fit:
    """``[fit]``: measured curves in a CSV file, and which output each of its columns shows.

    columns     output (a measure or a formula over measures) -> column of the file
    deviation   standard deviation of the measurement, of all columns or by column; where none is given it is estimated from
                what is left over, and curves are weighted by their ranges
    """

    data: Annotated[str | None, Text("a CSV file beside the study")] = None
    time: Annotated[str, Text("the column of times")] = "time"
    columns: Mapping[str, str] = field(default_factory=dict)
    deviation: Mapping[str, float] = field(default_factory=dict)


DESIGNS = ("grid", "list", "random", "latin_hypercube", "sobol", "saltelli")


@dataclass(frozen=True)
class Sweep:
    """``[sweep]``: many runs over the parameters."""

    design: Annotated[str | None, Choice("how designs are chosen: grid of lists, else sobol", options=DESIGNS)] = None
    runs: Annotated[float | None, Number("how many", sign="more than zero")] = None
    seed: Annotated[float, Number("of the random numbers", sign="zero or more")] = 0.0


METHODS = ("auto", "L-BFGS-B", "SLSQP", "trust-constr", "least_squares")


@dataclass(frozen=True)
class Search:
    """``[optimize]``: how the best design is looked for."""

    method: Annotated[str, Choice("the optimiser of scipy", options=METHODS)] = "auto"
    starts: Annotated[float, Number("how many designs to start from", sign="more than zero")] = 1.0
    seed: Annotated[float, Number("of the random starts", sign="zero or more")] = 0.0
    iterations: Annotated[float, Number("at most, of each start", sign="more than zero")] = 200.0
    tolerance: Annotated[float, Number("the optimiser's own", sign="more than zero")] = 1e-8
    parallel: Annotated[bool, Flag("starts are shared among the processors")] = True


def is_formula(text: str) -> bool:
    return text.lstrip().startswith("=")


def formula_of(text: str) -> Formula:
    """The formula of "=ride + 0.1*work"; raises FormulaError."""
    return Formula(text.lstrip()[1:].strip())


def names_in(text: str) -> tuple[str, ...]:
    """Outputs that a formula names; none where it is none."""
    try:
        return tuple(formula_of(text).names)
    except FormulaError:
        return ()


@dataclass(frozen=True)
class Study:
    """A model, what may change in it and what is asked: read by ``load_study``, or made in Python.

    model        path, name of the gallery, or a Model
    parameters   path -> bounds, a distribution or a list of values
    outputs      name -> a measure and a function of it over time
    cases        loads, inputs and starts under which each design is evaluated
    """

    model: str | Model
    parameters: Mapping[str, Variation]
    name: str = "study"
    duration: float | None = None
    run: RunOptions = RunOptions()
    events: Mapping[str, Watched] = field(default_factory=dict)
    cases: tuple[Case, ...] = (Case(),)
    outputs: Mapping[str, str] = field(default_factory=dict)
    cost: Cost | None = None
    constraints: Mapping[str, Constraint] = field(default_factory=dict)
    fit: Fit | None = None
    sweep: Sweep | None = None
    search: Search = Search()
    folder: Path | None = None
    places: Mapping[tuple[str, ...], Where] = field(default_factory=dict, compare=False, repr=False)

    @property
    def runs(self) -> bool:
        """Whether any of its cases is a run."""
        return any(case.analysis == "run" for case in self.cases)

    def cost_of(self, case: Case) -> str:
        """The formula that a case adds to the cost; "" if none."""
        return case.minimize or ("" if self.cost is None else self.cost.minimize)

    def constraints_of(self, case: Case) -> dict[str, Constraint]:
        return {name: one for name, one in self.constraints.items() if not one.cases or case.name in one.cases}

    def asked_of(self, case: Case) -> list[str]:
        """The outputs that a case needs, by their names or as they are written."""
        texts = [self.cost_of(case), *(constraint.of for constraint in self.constraints_of(case).values())]
        found = [name for text in texts if text for name in (names_in(text) if is_formula(text) else (text,))]
        return list(dict.fromkeys(found))

    def where(self, *keys: str) -> Where:
        """The place in the file of a key, or of the nearest table around it."""
        for n in range(len(keys), 0, -1):
            if keys[:n] in self.places:
                return self.places[keys[:n]]
        return NOWHERE

    def load_model(self) -> Model:
        """The model: given, a file beside the study, or one of the gallery."""
        from ...io import load
        from ...model import Model

        if isinstance(self.model, Model):
            return self.model
        beside = None if self.folder is None else self.folder / self.model
        return load(beside if beside is not None and beside.is_file() else self.model)
