"""The forward pass through a recorded kernel, which leaves on a tape what the backward pass needs.

Each time that a region is gone through it takes a frame at the end of the tape and puts into it what it makes. A region with
others inside says, behind their frames, where its own is. A frame that does not fit goes to the bottom, and is noted: the
tape is then of no use, and too short.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..llvm.emitter import Emitter
from ..llvm.graph import Branch, Loop, Operation, Region, While, cosine_of
from .reverse import TOP
from .scopes import ADDRESS, BITS, LOAD_INTEGER, Scope, Scopes, is_routine, routine_call

FULL = "%full"  # a cell of the stack: whether the tape was too short
_PUT = "store ptr $, ptr $, align 8"


class Forward:
    """Copies a kernel's regions, with what keeps numbers in between. ``scopes``: those of the backward pass, written before."""

    def __init__(self, e: Emitter, scopes: Scopes):
        self.e, self.scopes = e, scopes
        self.calls: list[Operation] = []  # of routines that are transposed

    def write(self, region: Region) -> Region:
        return self._copy(region, self.scopes.of[id(region)])

    def _copy(self, region: Region, scope: Scope, first: Sequence[object] = ()) -> Region:
        """``first``: parts that come before, whose numbers are kept with those of this region."""
        found = Region(list(self._frame(scope)) if scope.kept else [])
        for part in first:
            self._keep(found, scope, part)
        for part in region.parts:
            found.parts.append(self._part(part, scope, found))
            self._keep(found, scope, part)
        if scope.kept and scope.nested:
            found.parts += self._link(scope)
        return found

    def _part(self, part: object, scope: Scope, found: Region) -> object:
        if isinstance(part, Loop):
            body = self._copy(part.body, self.scopes.of[id(part.body)], first=[part])
            return Loop(part.k, part.start, part.stop, part.carried, part.first, body, part.once, part.after)
        if isinstance(part, Branch):
            regions = [self._copy(region, self.scopes.of[id(region)]) for region in part.regions]
            return Branch(part.on, part.bit, regions, part.results, part.values, part.likely)
        if isinstance(part, While):
            return self._while(part, scope, found)
        if is_routine(part) and self.scopes.touches(part):
            self.calls.append(part)
            return Operation(None, *routine_call(part, "forward", [TOP, FULL, "%bottom", "%limit"]))
        return part

    def _while(self, part: While, scope: Scope, found: Region) -> While:
        """Counts how often it is gone through, if that is asked for."""
        body = self._copy(part.body, self.scopes.of[id(part.body)], first=part.condition.parts)
        counter = scope.counted[id(part)]
        if counter in scope.kept:
            place, times, more = self.e.name(), self.e.name(), self.e.name()
            found.parts.append(Operation(place, ADDRESS, (scope.pointer, str(scope.kept[counter]))))
            found.parts.append(Operation(None, "store i64 0, ptr $, align 8", (place,)))
            body.parts.append(Operation(times, LOAD_INTEGER, (place,)))
            body.parts.append(Operation(more, "add i64 $, 1", (times,)))
            body.parts.append(Operation(None, "store i64 $, ptr $, align 8", (more, place)))
        return While(part.condition, part.test, body)

    def _keep(self, found: Region, scope: Scope, part: object) -> None:
        """Numbers that a part has made, where they are asked for."""
        for name in _makes(part):
            if name in scope.kept and name not in scope.counted.values():
                address = self.e.name()
                found.parts.append(Operation(address, ADDRESS, (scope.pointer, str(scope.kept[name]))))
                type_ = self._type(part)
                found.parts.append(Operation(None, f"store {type_} $, ptr $, align 8", (name, address)))

    def _type(self, part: object) -> str:
        if not isinstance(part, Operation):
            return "double"
        if part.kind in BITS or part.kind.startswith("icmp"):
            return "i1"
        return "i64" if part.kind == LOAD_INTEGER else "double"

    def _frame(self, scope: Scope) -> list[Operation]:
        """The address of a frame: the end of the tape, or the bottom of it where no memory is left."""
        name = self.e.name
        top, end, over, noted, note, rest = name(), name(), name(), name(), name(), name()
        return [
            Operation(top, "load ptr, ptr $, align 8", (TOP,)),
            Operation(end, ADDRESS, (top, scope.size)),
            Operation(over, "icmp uge ptr $, %limit", (end,)),
            Operation(scope.pointer, "select i1 $, ptr %bottom, ptr $", (over, top)),
            Operation(noted, "load i1, ptr $, align 8", (FULL,)),
            Operation(note, "or i1 $, $", (noted, over)),
            Operation(None, "store i1 $, ptr $, align 8", (note, FULL)),
            Operation(rest, ADDRESS, (scope.pointer, scope.size)),
            Operation(None, _PUT, (rest, TOP)),
        ]

    def _link(self, scope: Scope) -> list[Operation]:
        top, end = self.e.name(), self.e.name()
        return [
            Operation(top, "load ptr, ptr $, align 8", (TOP,)),
            Operation(None, _PUT, (scope.pointer, top)),
            Operation(end, ADDRESS, (top, "1")),
            Operation(None, _PUT, (end, TOP)),
        ]


def _makes(part: object) -> list[str]:
    if isinstance(part, Operation):
        if part.ref is None:
            return []
        return [part.ref, cosine_of(part.ref)] if part.kind == "sincos" else [part.ref]
    if isinstance(part, Loop):
        return part.carried
    return part.results if isinstance(part, Branch) else []
