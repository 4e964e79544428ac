"""Models with other numbers: built anew, or, if the same parameters have been changed before, from a recording of the build."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...numbers.variable import Replay, Variable, values_of, varied
from ..building.build import build
from ..model import Model
from .parameters import changed, is_number
from .recording import Recording, record
from .written import Written

COUNTED = ("nq", "nv", "q_index", "v_index", "q_names", "v_names", "driven", "closing_names", "closure_index", "state_places")
"""What a model counts and names once, whatever its numbers are."""
MOST_SHARED = 64  # sets of parameters that are remembered


def changed_model(model: Model, written: Written, changes: Mapping[str, float]) -> Model:
    """The model with other numbers; raises ModelError for what is not a parameter, and for numbers that cannot be."""
    new = Written(written.base, {**written.changes, **changes}, written.shared)
    maker = _maker(model, written, changes)
    found = None if maker is None else maker.model([float(changes[name]) for name in maker.names], new)
    if found is None:
        found = build(changed(written.spec, changes))
        object.__setattr__(found, "written", new)
    return found


def _maker(model: Model, written: Written, changes: Mapping[str, float]) -> Remaking | None:
    """A maker of models with other values of the same parameters; None the first time, when recording does not pay."""
    if not all(map(is_number, changes.values())):
        return None
    others = frozenset((name, x) for name, x in written.changes.items() if name not in changes)
    key = frozenset(changes), others
    known = written.shared.get(key)
    if known is None:
        while len(written.shared) >= MOST_SHARED:
            written.shared.pop(next(iter(written.shared)), None)
        written.shared[key] = "seen"
        return None
    if known == "seen":
        known = written.shared[key] = Remaking(record(written.spec, tuple(changes)), model)
    return known


class Remaking:
    """Models of other values of a recording's parameters, by computing the numbers that depend on them and nothing else."""

    def __init__(self, recording: Recording, model: Model) -> None:
        self.names, self._model, self._base = recording.names, model, _fields(model)
        gathered: list[Variable] = []
        over = recording.model
        self.variables: list[tuple[str, Variable]] = []  # and the field of the model that they are in
        self._makers: dict[str, Make] = {}
        for name in (name for name in self._base if name in vars(over)):
            make = _maker_of(getattr(over, name), gathered)
            if make is not None:
                self._makers[name] = make
                self.variables += [(name, x) for x in gathered[len(self.variables) :]]
        self._replay = Replay(recording.tape, [*gathered, recording.tape.holds()])

    def model(self, p: Sequence[float], written: Written) -> Model | None:
        """The model; None where an assumption of the recording does not hold: then only building it can show."""
        with np.errstate(all="ignore"):
            try:
                values = [float(x) for x in self._replay(p)]
            except (ZeroDivisionError, OverflowError):
                return None
        if values.pop() != 1.0 or not all(map(math.isfinite, values)):
            return None
        return self.of(values, written)

    def of(self, values: Sequence[float], written: Written) -> Model:
        """The model from the values of all variables."""
        model: Model = object.__new__(Model)
        found = self._base | {name: make(values) for name, make in self._makers.items()} | {"written": written}
        for name, value in found.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(model, name, value)
        vars(model).update({name: x for name, x in vars(self._model).items() if name in COUNTED})
        return model


def _fields(model: Model) -> dict[str, Any]:
    return {field.name: getattr(model, field.name) for field in dataclasses.fields(model) if field.name != "written"}


Make = Callable[[Sequence[float]], Any]


def _maker_of(item: Any, gathered: list[Variable]) -> Make | None:
    """A function that makes an item from the values of the variables in it, which are gathered; None without any."""
    if isinstance(item, Variable):
        gathered.append(item)
        k = len(gathered) - 1
        return lambda values: values[k]
    if isinstance(item, np.ndarray):
        return _array_maker(item, gathered)
    if isinstance(item, tuple) and not hasattr(item, "_fields"):
        return _tuple_maker(item, gathered)
    if isinstance(item, dict):
        return _parts_maker(item, gathered, lambda parts: item | parts)
    if dataclasses.is_dataclass(item):
        own = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
        return _parts_maker(own, gathered, lambda parts: _with(item, parts))
    return None


def _array_maker(array: Any, gathered: list[Variable]) -> Make | None:
    mask = varied(array)
    if not mask.any():
        return None
    start, count, template = len(gathered), int(mask.sum()), values_of(array)
    gathered.extend(array[mask])

    def make(values: Sequence[float]) -> Any:
        made = template.copy()
        made[mask] = values[start : start + count]
        return made

    return make


def _tuple_maker(items: tuple[Any, ...], gathered: list[Variable]) -> Make | None:
    return _parts_maker(dict(enumerate(items)), gathered, lambda parts: tuple(parts.get(k, x) for k, x in enumerate(items)))


def _parts_maker(items: Mapping[Any, Any], gathered: list[Variable], whole: Callable[[dict[Any, Any]], Any]) -> Make | None:
    found = {key: _maker_of(x, gathered) for key, x in items.items()}
    makers = {key: make for key, make in found.items() if make is not None}
    return (lambda values: whole({key: make(values) for key, make in makers.items()})) if makers else None


def _with(item: Any, parts: Mapping[str, Any]) -> Any:
    """A frozen dataclass with other parts, which have been judged already."""
    made = object.__new__(type(item))
    for field in dataclasses.fields(item):
        object.__setattr__(made, field.name, parts.get(field.name, getattr(item, field.name)))
    return made
