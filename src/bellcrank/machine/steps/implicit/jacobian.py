"""The Jacobian of the equations of motion, inside a step: columns by the tangents of a kernel (dual numbers).

    d(dq/dt, dv/dt) = J (d, dv),      dq = E d     (model.manifold: displacements d along the directions of v)

A step calls ``jacobian`` and nothing else; the kernel "tangent" takes a state and a direction in each lane. For one state it
has WIDE lanes all the same: so many directions at a time. Of q and v the two blocks of the acceleration, da/dd and da/dv, are
left by their columns in ``by_position`` and ``by_velocity``; of q and p the whole matrix in ``by_position``, laid out as a
state is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....kernels.llvm.flow import each
from ....numbers import Number
from ..memory import WIDE

if TYPE_CHECKING:
    from ....kernels.llvm.emitter import Int
    from ..stepper import Stepper


def jacobian(stepper: Stepper, state: str, t: Number) -> None:
    """At a state and a time; the state is kept in ``linearised``."""
    s, w = stepper, stepper.words
    s.copy(state, w["linearised"])
    s.set_clock(t)
    s.ask(w["linearised"])
    directions = _Directions(s)
    directions.along_positions()
    directions.along_speeds()
    s.add_count("jacobians")


class _Directions:
    """Directions of one state at a time (in lanes), or four."""

    def __init__(self, stepper: Stepper):
        self.s, self.e, self.w = stepper, stepper.e, stepper.words
        self.per = 1 if stepper.lanes > 1 else WIDE
        s, w, speed = stepper, self.w, "p" if stepper.momenta else "v"
        at = w["linearised"]
        given = {"q": at, speed: self.e.pointer(at, w["v_start"]), "tau": w["tau"], "u": w["u"], "t": w["clock"]}
        if self.per > 1:
            sizes = {"q": w["nq"], speed: w["nv"], "tau": w["nv"], "u": w["inputs"], "t": 1}
            for name, size in sizes.items():
                self._spread(given[name], w[f"spread_{'v' if name == speed else name}"], size)
                given[name] = w[f"spread_{'v' if name == speed else name}"]
        self.arrays = given | {"dq": w["seed_q"], f"d{speed}": w["seed_v"], "dtau": w["seed_tau"], "pdot": w["needless"]}
        self.outputs = [("dv", 0), ("dpdot", w["v_start"])] if s.momenta else [("da", 0)]
        for name, size in (("seed_q", w["nq"]), ("seed_v", w["nv"])):
            self._clear(w[name], size)

    def _spread(self, source: str, to: str, count: Int) -> None:
        """The same in all lanes."""
        each(self.e, 0, count, lambda i: self.e.store(self.s.number(source, i), to, i))

    def _clear(self, base: str, count: Int) -> None:
        each(self.e, 0, count, lambda i: self.e.store(0.0, base, i))

    def _put(self, x: Number, base: str, i: Int, lane: int) -> None:
        """An entry of a direction."""
        if self.per == 1:
            self.e.store(x, base, i)
            return
        place = self.e.pointer(base, self.e.integer("add", self.e.integer("mul", i, WIDE), lane))
        self.e.do(f"store double {self.s.first(x)}, ptr {place}, align 8")

    def _get(self, base: str, i: Int, lane: int) -> Number:
        e = self.e
        if self.per == 1:
            return e.symbol(e.load(base, i))
        return e.symbol(e.splat(e.load_double(base, e.integer("add", e.integer("mul", i, WIDE), lane))))

    def _in_groups(self, act: Callable[[list[str]], None]) -> None:
        """act(degrees of freedom of a group); the last group repeats the last one."""
        e, nv = self.e, self.w["nv"]
        last = e.integer("sub", nv, 1)
        groups = e.emit(f"udiv i64 {e.integer('add', nv, self.per - 1)}, {self.per}")

        def group(g: str) -> None:
            places = []
            for lane in range(self.per):
                j = e.integer("add", e.integer("mul", g, self.per), lane)
                places.append(e.emit(f"select i1 {e.emit(f'icmp slt i64 {j}, {last}')}, i64 {j}, i64 {last}"))
            act(places)

        each(e, 0, groups, group)

    def along_positions(self) -> None:
        """dq = E e_j."""
        w = self.w

        def group(places: list[str]) -> None:
            for lane, j in enumerate(places):
                if self.s.plain_rates:
                    self._put(1.0, w["seed_q"], j, lane)
                else:
                    self._column_of_rates(j, lane)
            self._take(w["by_position"], places, 0)
            if self.s.plain_rates:
                for lane, j in enumerate(places):
                    self._put(0.0, w["seed_q"], j, lane)

        self._in_groups(group)
        self._clear(w["seed_q"], w["nq"])

    def _column_of_rates(self, j: str, lane: int) -> None:
        """E e_j into a lane of seed_q."""
        s, e, w = self.s, self.e, self.w
        each(e, 0, w["nv"], lambda i: s.put_number(0.0, w["unit"], i))
        s.put_number(1.0, w["unit"], j)
        s.call("rates", {"q": w["linearised"], "v": w["unit"], "t": w["clock"], "qdot": w["aside"]})
        each(e, 0, w["nq"], lambda i: self._put(s.number(w["aside"], i), w["seed_q"], i, lane))

    def along_speeds(self) -> None:
        w, first = self.w, self.w["v_start"] if self.s.momenta else 0

        def group(places: list[str]) -> None:
            for lane, j in enumerate(places):
                self._put(1.0, w["seed_v"], j, lane)
            self._take(w["by_position" if self.s.momenta else "by_velocity"], places, first)
            for lane, j in enumerate(places):
                self._put(0.0, w["seed_v"], j, lane)

        self._in_groups(group)

    def _take(self, matrix: str, places: list[str], first: Int) -> None:
        """Evaluate the tangents of a group: columns of a matrix, which are its rows in memory."""
        s, e, w = self.s, self.e, self.w
        s.call("tangent", self.arrays)
        for lane, j in enumerate(places):
            start = e.integer("mul", e.integer("add", first, j), w["stride"])
            for name, at in self.outputs:

                def one(i: str, lane: int = lane, start: Int = start, name: str = name, at: Int = at) -> None:
                    s.put_number(
                        self._get(w[f"buffer:{name}"], i, lane), matrix, e.integer("add", e.integer("add", start, at), i)
                    )

                each(e, 0, w["nv"], one)
