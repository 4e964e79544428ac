"""What is wrong with the outputs, the cost and the constraints of a study, looked at as the analysis of each case has them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import numpy as np

from ...errors import StateError
from ...model import Model
from ...model.measures.paths import built_in, path_names
from ...model.parameters.expressions import RESERVED, FormulaError
from ...model.spec.problems import Problems
from ..implicit.mode_outputs import asked_of_modes
from ..implicit.outputs import Axis, outputs_of
from ..output_names import Output, parsed
from .spec import Case, Constraint, Study, formula_of, is_formula

TAKEN = "Say what is taken of it: max(...), rms(...), @end."
CURVES = {
    "run": ("a curve over time", TAKEN),
    "drive": ("a curve over the input", TAKEN),
    "modes": ("a number of every mode", 'Name one of them: "mode1.frequency".'),
}


def check_outputs(study: Study, model: Model | None, problems: Problems) -> None:
    for name in study.outputs:
        if not name.isidentifier() or name in RESERVED:
            said = f'an output has the name "{name}". Use letters, digits and _, so that formulas can name it.'
            problems.add(said, study.where("outputs", name))
    for name, constraint in study.constraints.items():
        _check_constraint(study, name, constraint, problems)
    reported: set[str] = set()  # the same thing may be wrong in several cases
    for case in study.cases:
        _InCase(study, model, case, problems, reported).check()


def _check_constraint(study: Study, name: str, constraint: Constraint, problems: Problems) -> None:
    if reason := _wrong_limits(constraint):
        problems.add(f'constraint "{name}": {reason}.', study.where("constraints", name))
    for case in constraint.cases:
        if case not in (known := [one.name for one in study.cases]):
            hint = problems.suggest(case, known)
            problems.add(f'constraint "{name}": there is no case "{case}".{hint}', study.where("constraints", name, "cases"))


def _wrong_limits(constraint: Constraint) -> str:
    low, high, equals = constraint.min, constraint.max, constraint.equals
    if equals is not None and (low is not None or high is not None):
        return "it has equals, and min or max besides. Keep one"
    if equals is None and low is None and high is None:
        return "it has no limit. Give min, max or equals"
    if low is not None and high is not None and not low < high:
        return f"min is {low:g} and max is {high:g}. Give a min below max, or equals"
    return ""


class _InCase:
    """The outputs that a case is asked for; ``whole``: whether each is a curve, or None where it is complained of."""

    def __init__(self, study: Study, model: Model | None, case: Case, problems: Problems, reported: set[str]):
        self.study, self.model, self.case, self.problems, self.reported = study, model, case, problems, reported
        self.curves: dict[str, bool | None] = {}

    def check(self) -> None:
        study, asked = self.study, self.study.asked_of(self.case)
        elsewhere = {name for case in study.cases for name in study.asked_of(case)}
        for name, text in study.outputs.items():
            if name in asked or name not in elsewhere:
                self.curves[name] = self._is_curve(text, "outputs", name)
        if study.fit is not None:
            for text in study.fit.columns:
                if self._is_curve(text, "fit", "columns", text) is False:
                    said = f'"{text}" is one number. Curves are compared at all of their times: name a measure alone.'
                    self._note(said, "fit", "columns", text)
        cost = ("cases", self.case.name, "minimize") if self.case.minimize else ("cost", "minimize")
        wanted = [(study.cost_of(self.case), cost)]
        wanted += [(one.of, ("constraints", name, "of")) for name, one in study.constraints_of(self.case).items()]
        for text, keys in wanted:
            if text:
                self._check_number(text, *keys)

    def _note(self, said: str, *keys: str) -> None:
        if said not in self.reported:
            self.reported.add(said)
            self.problems.add(said, self.study.where(*keys))

    def _check_number(self, text: str, *keys: str) -> None:
        """A cost or a constraint: an output that is a number, or a formula over such."""
        if not is_formula(text):
            self._must_be_number(text, self.curves[text] if text in self.curves else self._is_curve(text, *keys), *keys)
            return
        try:
            names = formula_of(text).names
        except FormulaError as error:
            self._note(f'the formula "{text}": {error}.', *keys)
            return
        for name in names:
            if name in self.study.outputs:
                self._must_be_number(name, self.curves.get(name), *keys)
            else:
                hint = self.problems.suggest(name, self.study.outputs)
                self._note(f'the formula "{text}" names "{name}", which is not an output.{hint}', *keys)

    def _must_be_number(self, text: str, curve: bool | None, *keys: str) -> None:
        if curve:
            over, remedy = CURVES[self.case.analysis]
            self._note(f'"{text}" is {over}. {remedy}', *keys)

    def _is_curve(self, text: str, *keys: str) -> bool | None:
        """Whether an output is taken everywhere; complains of what the analysis or the model does not have."""
        try:
            if self.case.analysis == "modes":
                return asked_of_modes(text)[1] is None
            output = self._parsed(text)
        except StateError as error:
            self._note(f"{str(error).rstrip('.')}.", *keys)
            return None
        unknown = list(_unknown(self.model, output.measures)) if self.model is not None else []
        for hint in unknown:
            self._note(f'output "{text}": {hint}', *keys)
        return None if unknown else output.taken == "series" and self.case.analysis != "equilibrium"

    def _parsed(self, text: str) -> Output:
        study, case = self.study, self.case
        if case.analysis == "run":
            end = case.duration or study.duration or (self.model.duration if self.model is not None else None)
            return parsed([text], list(study.events), float("inf") if end is None else end)[0]
        if case.analysis == "equilibrium":
            return outputs_of(Axis("", np.zeros(0), ""), [text])[0]
        return outputs_of(Axis(case.coordinate or "input", np.array(case.values or (0.0, 1.0)), ""), [text])[0]


def _unknown(model: Model, names: Iterable[str]) -> Iterable[str]:
    for name in names:
        if name not in model.measure_names and built_in(model, name) is None:
            close = difflib.get_close_matches(name, [*model.measure_names, *path_names(model)], n=1)
            hint = f' Did you mean "{close[0]}"?' if close else " model.measure_names and docs/measures.md list them."
            yield f'there is no measure "{name}" in model "{model.name}".{hint}'
