"""From formulas, names of points and body frames to numbers.

Every number of a Spec has a path (``lower_arm.mass``, ``tip.x``, ``parameters.L1``). What a formula names is found by path and
computed first; a value that depends on itself is an error that names the whole ring. Nothing here recurses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ...numbers.variable import as_number
from ..parameters.expressions import Formula, FormulaError, Live
from ..spec.assemblies import expand
from ..spec.fields import XYZ, Between, Construction, InBody, Listing, Place, Scalar, Triple, Visitor, map_fields
from ..spec.items import GROUND, PARAMETERS, Where
from ..spec.problems import Problems
from ..spec.shapes import DERIVED, ORIGIN, Vector
from ..spec.spec import LISTS, BodySpec, ParameterSpec, PointSpec, Spec
from .tree import spanning_tree


def without_formulas(spec: Spec) -> Spec:
    """A spec that can be built, with numbers only and without assemblies."""
    return resolve(expand(spec, Problems()), Problems())


ONLY = "only forces, motors, actuators, rates of states and measures may"
MOVING = f"changes during a run, and this number does not: {ONLY} depend on it."


def resolve(spec: Spec, problems: Problems) -> Spec:
    """The spec with numbers only; what cannot be known becomes a placeholder, and a problem names its owner."""
    values = Values(spec, problems)
    changed: dict[str, Any] = {}
    for field in LISTS:
        items = getattr(spec, field)
        new = tuple(values.resolved(item) for item in items)
        if any(a is not b for a, b in zip(items, new, strict=True)):
            changed[field] = new
    top: Spec = values.resolved(spec)
    return dataclasses.replace(top, **changed) if changed else top


class Slot(NamedTuple):
    """The way in which a value follows from others."""

    needs: tuple[str, ...]
    compute: Callable[[Sequence[float]], float]


class Values:
    """The numbers of a spec by path; None for one that cannot be known, which has been complained of."""

    def __init__(self, spec: Spec, problems: Problems) -> None:
        self.spec, self.problems = spec, problems
        self.known: dict[str, float | None] = {}
        self.parameters = {item.name for item in spec.parameters}
        self.points = {item.name: item for item in spec.points}
        self._listed: dict[str, Listing] = {}
        self._failed: set[str] = set()  # constructions that cannot be made, and places in them that do not exist

    @cached_property
    def items(self) -> dict[str, Any]:
        """Everything that has values, by the beginning of its paths."""
        return {item.path: item for field in reversed(LISTS) for item in getattr(self.spec, field)}

    def resolved(self, item: Any) -> Any:
        return map_fields(item, getattr(item, "path", ""), _Resolving(self, item))

    # --- finding

    def owner(self, path: str) -> Any:
        """The item that a path leads to; the spec itself for gravity and the like."""
        beginning = path
        while beginning:
            if beginning in self.items:
                return self.items[beginning]
            beginning = beginning.rpartition(".")[0]
        return self.spec

    def listing(self, item: Any) -> Listing:
        path = getattr(item, "path", "")
        if path not in self._listed:
            self._listed[path] = Listing()
            map_fields(item, path, self._listed[path])
        return self._listed[path]

    def slot(self, path: str) -> Slot | None:
        """How the value of a path is found, or None where there is no such value."""
        item = self.owner(path)
        listing = self.listing(item)
        beginning, _, component = path.rpartition(".")
        if component in XYZ and beginning in listing.places:
            return self._of_place(listing, path)
        if path in listing.found:
            return self._of_scalar(listing.found[path])
        if component in XYZ and beginning in listing.ways:
            ends = (f"{beginning}.from.{component}", f"{beginning}.to.{component}")
            return Slot(ends, lambda found: found[1] - found[0])
        if isinstance(item, BodySpec) and path.rpartition(".")[::2] in [(item.path, what) for what in DERIVED]:
            return self._derived(item, listing, path.rpartition(".")[2])
        return None

    def _of_scalar(self, value: Scalar) -> Slot:
        if not isinstance(value, Formula):
            return Slot((), lambda _: as_number(value))
        formula, needs = value, tuple(map(self.canonical, value.names))
        return Slot(needs, lambda found: formula.evaluate(dict(zip(formula.names, found, strict=True))))

    def _of_place(self, listing: Listing, path: str) -> Slot | None:
        beginning, _, component = path.rpartition(".")
        place = listing.places[beginning]
        if isinstance(place, str):
            return Slot((f"{place}.{component}",), lambda found: found[0])
        if isinstance(place, Construction):
            return self._constructed(listing, beginning, place, XYZ.index(component))
        own = self._of_scalar(listing.found[path])
        origin = self.origin(place.body) if isinstance(place, InBody) else None
        if origin is None:
            return own
        return Slot((f"{origin}.point.{component}", *own.needs), lambda found: found[0] + own.compute(found[1:]))

    def _constructed(self, listing: Listing, path: str, place: Construction, component: int) -> Slot:
        """One component of a place that is made from others, over whatever numbers these are."""
        vectors = [name for name in (*listing.places, *listing.ways) if name.startswith(f"{path}.")]
        numbers = [name for name in listing.found if name.startswith(f"{path}.")]
        needs = tuple(dict.fromkeys([*(f"{name}.{c}" for name in vectors for c in XYZ), *numbers]))
        lost = [name for name in vectors if name in listing.places and not self._can_be(name, listing.places[name])]
        if lost:
            return Slot((), _refused_already)

        def compute(found: Sequence[float]) -> float:
            at = map_fields(place, path, _Filling(dict(zip(needs, found, strict=True))))
            reason = place.wrong(at)
            if reason:
                raise FormulaError(reason)
            made: float = at.position()[component] + 0.0
            return float(made) if isinstance(made, float) else made

        return Slot(needs, compute)

    def origin(self, body: str) -> str | None:
        """The joint at a body's origin; None for ground, or where the tree is not one."""
        return self._inboard.get(body)

    @cached_property
    def _inboard(self) -> dict[str, str]:
        every = [item.name for item in (*self.spec.bodies, *self.spec.joints)]
        well_named = len(set(every)) == len(every) and all(joint.parent and joint.child for joint in self.spec.joints)
        tree = spanning_tree(self.spec, Problems()) if well_named else None
        return {body: self.spec.joints[j].name for body, j in zip(tree.carried, tree.joints, strict=True)} if tree else {}

    def _derived(self, item: BodySpec, listing: Listing, what: str) -> Slot | None:
        """A length follows from the ends alone, a volume from all but the mass, the mass from a density."""
        if not hasattr(type(item.shape), what) and not (what == "mass" and hasattr(item.shape, "total")):
            return None
        own = [f"{place}.{c}" for place in listing.places for c in XYZ]
        if what != "length":
            aside = {f"{item.path}.mass", *([f"{item.path}.density"] if what == "volume" else [])}
            own += [f"{way}.{c}" for way in listing.ways for c in XYZ]
            own += [path for path in listing.found if path not in aside and path not in own]
        needs = tuple(path for path in own if not path.startswith(f"{item.path}.mesh."))

        def compute(found: Sequence[float]) -> float:
            shape = map_fields(item.shape, item.path, _Filling(dict(zip(needs, found, strict=True))))
            wrong = [] if what == "length" else shape.measures()
            if wrong:
                raise FormulaError(f'"{item.name}" has no {what}: {wrong[0]}')
            return as_number(shape.total() if what == "mass" else getattr(shape, what))

        return Slot(needs, compute)

    def canonical(self, name: str) -> str:
        """The path that a name in a formula means: a parameter first."""
        return f"{PARAMETERS}.{name}" if name in self.parameters else name

    # --- computing

    def value(self, path: str) -> float | None:
        """The value of a path; complains once of what prevents it."""
        if path in self.known:
            return self.known[path]
        stack, entered = [path], {path: None}
        slots: dict[str, Slot | None] = {}
        while stack:
            here = stack[-1]
            if here in self.known:
                stack.pop()
                entered.pop(here, None)
                continue
            if here not in slots:
                slots[here] = self.slot(here)
            slot = slots[here]
            missing = [need for need in slot.needs if need not in self.known] if slot else []
            if not missing:
                self.known[here] = self._compute(here, slot)
            elif missing[0] in entered:
                self._ring([*entered][[*entered].index(missing[0]) :])
            else:
                stack.append(missing[0])
                entered[missing[0]] = None
        return self.known[path]

    def _compute(self, path: str, slot: Slot | None) -> float | None:
        item = self.owner(path)
        if slot is None or (isinstance(item, PointSpec | ParameterSpec) and self.problems.blames(item.name)):
            return None  # whoever asked for it complains, or it has been complained of
        found = [self.known[need] for need in slot.needs]
        if None in found:
            self._complain_of_unknown(path, slot)
            return None
        try:
            return slot.compute([x for x in found if x is not None])
        except FormulaError as error:
            beginning = path.rpartition(".")[0]
            made = isinstance(self.listing(item).places.get(beginning), Construction)
            if str(error) and beginning not in self._failed:
                self.complain(beginning if made else path, self._of_tables(str(error)))
            self.problems.blame(getattr(item, "name", None))
            if made:  # its other components fail for the same reason
                self._failed.add(beginning)
        return None

    def _ring(self, ring: list[str]) -> None:
        text = " -> ".join([*ring, ring[0]] if len(ring) < 12 else [*ring[:10], "...", ring[0]])
        self.complain(ring[0], f"it depends on itself ({text}). Give one of them as a number")
        for path in ring:
            item, beginning = self.owner(path), path.rpartition(".")[0]
            made = isinstance(
                self.listing(item).places.get(beginning), Construction
            )  # and so the ring has its other components
            self.known |= dict.fromkeys([path, *(f"{beginning}.{c}" for c in XYZ if made)])
            self.problems.blame(item.name)

    def _complain_of_unknown(self, path: str, slot: Slot) -> None:
        item = self.owner(path)
        unknown = [need for need in slot.needs if self.known[need] is None and self.slot(need) is None]
        for need in unknown if not self.problems.blames(f"[{PARAMETERS}]") else []:
            reason = MOVING if self._moves(need) else f"is not known.{self._hint(need)}"
            self.complain(path, f'"{need}" {reason}', stop="")
        self.problems.blame(item.name)

    def _of_tables(self, reason: str) -> str:
        named = [table.name for table in self.spec.tables if f'no function "{table.name}"' in reason]
        return f'"{named[0]}" is a table, and this number does not change: {ONLY} use tables' if named else reason

    def _moves(self, name: str) -> bool:
        """Whether it is the time, an input, or something of a joint or measure that changes during a run."""
        joints = {joint.path for joint in self.spec.joints}
        owner, _, part = name.rpartition(".")
        changing = {"t", "time", *self.spec.inputs, *(measure.name for measure in self.spec.measures)}
        return name in changing or name in joints or (owner in joints and part in ("q", "v", "a"))

    def _hint(self, name: str) -> str:
        item = self.owner(name)
        if item is not self.spec:
            known = self.listing(item)
            derived = [f"{item.path}.{x}" for x in DERIVED] if isinstance(item, BodySpec) else []
            return self.problems.suggest(name, sorted({*known.found, *derived}))
        if "." in name:
            return self.problems.suggest(name.partition(".")[0], self.items)
        return self.problems.suggest(name, self.parameters) or " Give it in [parameters]."

    def complain(self, path: str, text: str, stop: str = ".") -> None:
        item = self.owner(path)
        label, where = place_of(item, path)
        listed = self.listing(item).found.get(path)
        written = f' is "{listed}"' if isinstance(listed, Formula) else ""
        self.problems.add(f"{label}{written}: {text}{stop}", where, getattr(item, "name", None))

    def _can_be(self, path: str, value: Place) -> bool:
        """Whether the point or body that a place names exists; complains once if not."""
        item = self.owner(path)
        unknown = isinstance(value, str) and value not in self.points
        lost = isinstance(value, InBody) and value.body != GROUND and self.origin(value.body) is None
        if (unknown or lost) and path not in self._failed:
            self._failed.add(path)
            if lost:
                assert isinstance(value, InBody)
                self._complain_of_frame(path, value.body, item)
            elif not self.problems.blames("[points]"):
                label, where = place_of(item, path.removesuffix(".point") if isinstance(item, PointSpec) else path)
                hint = self.problems.suggest(str(value), self.points)
                self.problems.add(f'{label} names the point "{value}", which is not in [points].{hint}', where, item.name)
            self.problems.blame(item.name)
        return not (unknown or lost)

    def place(self, path: str, value: Place, item: Any) -> Vector:
        """A place in the world."""
        if not self._can_be(path, value):
            return ORIGIN
        if isinstance(value, str) and not isinstance(item, PointSpec):
            path = value
        x, y, z = (self.value(f"{path}.{c}") for c in XYZ)
        if x is None or y is None or z is None:
            self.problems.blame(item.name)
            return ORIGIN
        return x, y, z

    def no_way(self, path: str, item: Any) -> None:
        """Complains of an axis through two places that are one."""
        if not self.problems.blames(getattr(item, "name", "")):
            self.complain(path, "it goes from a point to the same point, and has no direction. Give two different points")

    def _complain_of_frame(self, path: str, body: str, item: Any) -> None:
        bodies = {b.name for b in self.spec.bodies}
        if body not in bodies:
            label, where = place_of(item, path)
            hint = self.problems.suggest(body, {GROUND, *bodies})
            self.problems.add(f'{label} is in the frame of "{body}", which is not a body.{hint}', where, item.name)
        else:  # the tree is not one, which is complained of later
            self.problems.blame(item.name)


def place_of(item: Any, path: str) -> tuple[str, Where]:
    """A path as it stands in a file, ``bodies.arm.rod.from.x``, and its line."""
    own = getattr(item, "path", "")
    rest = path[len(own) :].lstrip(".")
    if isinstance(item, BodySpec) and item.shape.shape and not rest.startswith("mesh"):
        rest = f"{item.shape.shape}.{rest}"
    beginning = path if isinstance(item, Spec) else f"{item.section}.{item.name}" if own == item.name else own
    label = beginning if isinstance(item, Spec) or not rest else f"{beginning}.{rest}"
    keys = [key for key in rest.split(".") if key] if not isinstance(item, Spec) else path.split(".")
    return label, item.where.at(*keys)


def _refused_already(_: Sequence[float]) -> float:
    """Stands for a value whose problem has been reported already."""
    raise FormulaError("")


class _Resolving(Visitor):
    """Formulas and places become numbers."""

    literals = False

    def __init__(self, values: Values, item: Any) -> None:
        self.values, self.item = values, item

    def scalar(self, path: str, value: Scalar) -> Scalar:
        if not isinstance(value, Formula):
            return value
        found = self.values.value(path)
        if found is None:
            self.values.problems.blame(getattr(self.item, "name", None))
        return 0.0 if found is None else found

    def live(self, path: str, value: Scalar) -> Any:
        """A formula over what changes during a run stays one, with the numbers in it beside it."""
        if not isinstance(value, Formula):
            return value
        means = {name: self.values.canonical(name) for name in value.names}
        fixed = {name: meant for name, meant in means.items() if self.values.slot(meant) is not None}
        if len(fixed) == len(means) and not value.calls:
            return self.scalar(path, value)
        numbers = {name: self.values.value(meant) for name, meant in fixed.items()}
        if None in numbers.values():
            self.values.problems.blame(getattr(self.item, "name", None))
        return Live(value, tuple((name, 0.0 if x is None else x) for name, x in numbers.items()))

    def live_triple(self, path: str, value: Triple, turns: str) -> Any:
        return tuple(self.live(f"{path}.{axis}", x) for axis, x in zip(XYZ, value, strict=True))

    def place(self, path: str, value: Place) -> Place:
        if isinstance(value, tuple) and not any(isinstance(x, Formula) for x in value):
            return value
        return self.values.place(path, value, self.item)

    def direction(self, path: str, value: Any, turns: str) -> Any:
        if not isinstance(value, Between):
            return super().direction(path, value, turns)
        start = self.values.place(f"{path}.from", value.start, self.item)
        end = self.values.place(f"{path}.to", value.end, self.item)
        if start == end:
            self.values.no_way(path, self.item)
        return tuple(b - a + 0.0 for a, b in zip(start, end, strict=True))


class _Filling(Visitor):
    """Every number from a table of what is known; zero for what does not matter."""

    def __init__(self, known: Mapping[str, float]) -> None:
        self.known = known

    def scalar(self, path: str, value: Scalar) -> Scalar:
        return self.known.get(path, 0.0)

    def place(self, path: str, value: Place) -> Triple:
        return self.known[f"{path}.x"], self.known[f"{path}.y"], self.known[f"{path}.z"]

    def direction(self, path: str, value: Any, turns: str) -> Any:
        return self.place(path, ORIGIN)


def sources(spec: Spec) -> Iterator[tuple[str, frozenset[str]]]:
    """For every formula of a spec, by path: the numbers that it depends on in the end."""
    values = Values(spec, Problems())
    reached: dict[str, frozenset[str]] = {}
    for item in (spec, *(item for field in LISTS for item in getattr(spec, field))):
        for path, value in values.listing(item).found.items():
            if isinstance(value, Formula):
                yield path, sources_of(values, path, reached)


def sources_of(values: Values, path: str, reached: dict[str, frozenset[str]] | None = None) -> frozenset[str]:
    """The numbers that a value depends on in the end: itself, for one that depends on nothing."""
    reached = {} if reached is None else reached
    stack = [path]
    while stack:
        here = stack[-1]
        slot = values.slot(here)
        missing = [need for need in slot.needs if need not in reached] if slot else []
        if here in reached:
            stack.pop()
        elif missing and len(stack) < 10_000:
            stack.extend(missing)
        else:
            needs = slot.needs if slot else ()
            reached[here] = frozenset().union(*(reached.get(n, frozenset()) for n in needs)) if needs else frozenset([here])
    return reached[path]
